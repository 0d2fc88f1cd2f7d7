/* The program ahead: see outlook.h. */
#include "runtime/coordinator/outlook.h"

#include <stdbool.h>

#include "runtime/coordinator/names.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/rules.h"
#include "runtime/coordinator/speeds.h"
#include "runtime/coordinator/state.h"

static cJSON *element_json(const struct coordinator *c, int pc)
{
    const epop_element_t *element = &c->config.program->elements[pc];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "pc", pc);
    cJSON_AddStringToObject(json, "type", epop_element_type_name(element->type));
    cJSON_AddStringToObject(json, "name", names_element(c, pc));
    cJSON_AddItemToObject(json, "sizes",
                          element->sizes ? rules_json(element->sizes, c->config.maximum) : cJSON_CreateNull());
    cJSON_AddItemToObject(json, "speeds", speeds_json(&c->speeds, pc));
    return json;
}

cJSON *outlook_elements_json(const struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    for (int pc = 0; pc < c->config.program->size; pc++)
        cJSON_AddItemToArray(list, element_json(c, pc));
    return list;
}

/* What the program said of its progress is of the present visit. */
static bool is_of_now(const struct coordinator *c)
{
    const struct position *told = &c->progress.at, *at = &c->position.at;
    return c->progress.known && told->pc == at->pc && told->visit == at->visit;
}

static void add_distance(const struct coordinator *c, cJSON *json)
{
    const epop_progress_t *last = &c->progress.last;
    double left = progress_left(c);
    if (!is_of_now(c) || last->bound <= 0)
        return;
    cJSON_AddNumberToObject(json, "iterations",
                            last->iteration < last->bound ? (double)(last->bound - last->iteration) : 0);
    if (left >= 0)
        cJSON_AddNumberToObject(json, "seconds", left);
}

cJSON *outlook_next_json(const struct coordinator *c)
{
    const epop_program_t *program = c->config.program;
    int pc = c->position.at.pc, next = pc + 1;
    if (pc < 0 || pc >= program->size || program->elements[pc].type == EPOP_BRANCH)
        return cJSON_CreateNull();
    bool end = next == program->size;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "pc", next);
    cJSON_AddStringToObject(json, "type", end ? "END" : epop_element_type_name(program->elements[next].type));
    cJSON_AddStringToObject(json, "name", end ? "end" : names_element(c, next));
    add_distance(c, json);
    return json;
}
