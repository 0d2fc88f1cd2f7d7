/* The structure of a program as JSON, by schema/program.schema.json. */
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdlib.h>

#include <epop/program.h>

#include "epop_api/program.h"
#include "epop_api/sizes.h"

/* Numbers that are 0 mean "none" and are left out. */
static int add_positive(cJSON *object, const char *key, int value)
{
    return value <= 0 || cJSON_AddNumberToObject(object, key, value);
}

/* Moves `item` into the object; 0 when that or making the item took more memory than there is. */
static int add_item(cJSON *object, const char *key, cJSON *item)
{
    if (item && cJSON_AddItemToObject(object, key, item))
        return 1;
    cJSON_Delete(item);
    return 0;
}

static cJSON *sizes_json(const epop_sizes_t *sizes)
{
    cJSON *object = cJSON_CreateObject();
    if (object && cJSON_AddStringToObject(object, "kind", size_kind_name(sizes->kind)) &&
        add_positive(object, "min", sizes->min) && add_positive(object, "max", sizes->max) &&
        add_positive(object, "factor", sizes->kind == EPOP_SIZE_MULTIPLE ? sizes->factor : 0) &&
        add_positive(object, "preferred", sizes->preferred))
        return object;
    cJSON_Delete(object);
    return NULL;
}

struct block {
    const char *name;
    int present;
};

/* The names of those that are there. */
static cJSON *names_json(const struct block *blocks, size_t count)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < count; i++) {
        if (blocks[i].present && !cJSON_AddItemToArray(array, cJSON_CreateString(blocks[i].name))) {
            cJSON_Delete(array);
            array = NULL;
        }
    }
    return array;
}

static cJSON *blocks_json(const epop_program_t *program, int pc)
{
    const epop_element_t *element = &program->elements[pc];
    bool is_init = pc == 0 && epop__program_init(program);
    const struct block blocks[] = {{"init", is_init || element->init},
                                   {"phase_exec", element->phase_exec && !is_init},
                                   {"phase_adapt", element->phase_adapt != NULL},
                                   {"loop_condition", element->loop_condition != NULL},
                                   {"branch_condition", element->branch_condition != NULL}};
    return names_json(blocks, sizeof blocks / sizeof *blocks);
}

static cJSON *program_blocks_json(const epop_program_t *program)
{
    const struct program_blocks own = epop__program_blocks(program);
    const struct block blocks[] = {{"describe", own.describe != NULL},
                                   {"pack", own.pack != NULL},
                                   {"rebuild", own.rebuild != NULL},
                                   {"release", own.release != NULL}};
    return names_json(blocks, sizeof blocks / sizeof *blocks);
}

/* Missing where it is strong. */
static int add_scaling(cJSON *object, const epop_program_t *program, int pc)
{
    epop_scaling scaling = epop_scaling_at(program, pc);
    return scaling == EPOP_SCALING_STRONG || cJSON_AddStringToObject(object, "scaling", epop_scaling_name(scaling));
}

static cJSON *element_json(const epop_program_t *program, int pc)
{
    const epop_element_t *element = &program->elements[pc];
    const char *type = epop_element_type_name(element->type);
    cJSON *object = cJSON_CreateObject();
    if (object && cJSON_AddNumberToObject(object, "pc", pc) && cJSON_AddStringToObject(object, "type", type) &&
        cJSON_AddStringToObject(object, "name", element->name ? element->name : type) &&
        add_item(object, "blocks", blocks_json(program, pc)) &&
        add_item(object, "sizes", element->sizes ? sizes_json(element->sizes) : cJSON_CreateNull()) &&
        cJSON_AddBoolToObject(object, "progress", element->progress != NULL) && add_scaling(object, program, pc))
        return object;
    cJSON_Delete(object);
    return NULL;
}

static cJSON *elements_json(const epop_program_t *program)
{
    cJSON *array = cJSON_CreateArray();
    for (int pc = 0; array && pc < program->size; pc++) {
        if (!cJSON_AddItemToArray(array, element_json(program, pc))) {
            cJSON_Delete(array);
            array = NULL;
        }
    }
    return array;
}

/* Missing where there are none. */
static int add_may_change(cJSON *object, const epop_program_t *program)
{
    const struct program_argument *argument = epop__program_may_change(program);
    cJSON *array = argument ? cJSON_AddArrayToObject(object, "may_change") : NULL;
    bool done = array || !argument;
    for (; done && argument; argument = argument->next)
        done = cJSON_AddItemToArray(array, cJSON_CreateString(argument->name));
    return done;
}

static cJSON *finalizer_json(const epop_program_t *program)
{
    return program->finalizer > 0 ? cJSON_CreateNumber(program->finalizer) : cJSON_CreateNull();
}

char *epop_program_to_json(const epop_program_t *program)
{
    if (!program)
        return NULL;
    char *text = NULL;
    cJSON *object = cJSON_CreateObject();
    if (object && cJSON_AddStringToObject(object, "schema", "epop.program") &&
        cJSON_AddNumberToObject(object, "version", 1) &&
        cJSON_AddNumberToObject(object, "abi_version", program->abi_version) &&
        add_item(object, "name", program->name ? cJSON_CreateString(program->name) : cJSON_CreateNull()) &&
        add_item(object, "finalizer", finalizer_json(program)) &&
        add_item(object, "sizes", sizes_json(&program->sizes)) &&
        add_item(object, "blocks", program_blocks_json(program)) && add_may_change(object, program) &&
        add_item(object, "elements", elements_json(program)))
        text = cJSON_Print(object);
    cJSON_Delete(object);
    return text;
}
