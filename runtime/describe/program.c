/* The blocks of the program that this process runs. */
#include "runtime/describe/program.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "epop_api/program.h"
#include "interpose/interpose.h"
#include "runtime/base/say.h"
#include "runtime/describe/look.h"
#include "runtime/world/world.h"

struct describe_program describe_program;

void describe_program_begin(const epop_program_t *program, void *data, bool joining)
{
    struct program_blocks blocks = epop__program_blocks(program);
    describe_program = (struct describe_program){.program = program,
                                                 .describe = blocks.describe,
                                                 .rebuild = blocks.rebuild,
                                                 .release = blocks.release,
                                                 .pack = blocks.pack,
                                                 .data = data,
                                                 .looked = joining,
                                                 .told = joining,
                                                 .told_form = joining,
                                                 .whole = !joining};
}

/* Without the data that its values lead to, the block may not be asked; but then nothing is there to be freed. */
static void free_described(const struct describe_program *p)
{
    epop_description_t d;
    struct error error;
    if (!p->describe || !p->whole)
        return;
    if (describe_run(&d, DESCRIBE_LIST, p->describe, p->data, NULL, 0, &error))
        say_line("the program's data is not freed: %s", error.text);
    else
        describe_release(&d);
    describe_free(&d);
}

void describe_program_release(void)
{
    struct describe_program p = describe_program;
    describe_program = (struct describe_program){.program = NULL};
    if (!p.program)
        return;
    free_described(&p);
    INTERPOSE_ASIDE;
    if (p.release)
        p.release(p.data);
}

int describe_program_look_at_form(struct error *error)
{
    const struct describe_program *p = &describe_program;
    struct error unused;
    return p->describe && p->whole ? describe_look(world.comm, LOOK_FORM, p->describe, p->data, error, &unused) : 0;
}

int describe_program_look_at_data(bool moved, struct error *error, struct error *hint)
{
    struct describe_program *p = &describe_program;
    bool first = p->describe && !p->looked;
    p->looked = true;
    hint->code = ERROR_NONE;
    if (!first || !moved || p->pack)
        return 0;
    return describe_look(world.comm, LOOK_DATA, p->describe, p->data, error, hint);
}

int describe_program_inspect(struct error *error, struct error *hint)
{
    const struct describe_program *p = &describe_program;
    hint->code = ERROR_NONE;
    if (!p->describe)
        return 0;
    int failed = describe_program_pack() != EPOP_OK, any;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, world.comm);
    if (any)
        return error_set(error, ERROR_FAILED, "its pack block returned an error");
    return describe_look(world.comm, LOOK_DATA, p->describe, p->data, error, hint);
}

static cJSON *row_of(const struct described *entry, int64_t bytes, int64_t most)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", entry->name);
    cJSON_AddStringToObject(row, "kind", entry->kind->word);
    cJSON_AddNumberToObject(row, "bytes", (double)bytes);
    cJSON_AddNumberToObject(row, "most", (double)most);
    cJSON_AddBoolToObject(row, "constant", entry->flags & EPOP_CONSTANT);
    cJSON_AddBoolToObject(row, "scratch", entry->flags & EPOP_SCRATCH);
    return row;
}

cJSON *epop__describe_table(void)
{
    const struct describe_program *p = &describe_program;
    epop_description_t d = {0};
    struct error unsaid;
    if (!p->describe || describe_run(&d, DESCRIBE_LIST, p->describe, p->data, NULL, 0, &unsaid)) {
        describe_free(&d);
        return NULL;
    }
    cJSON *rows = cJSON_CreateArray();
    for (int i = 0; i < d.count; i++) {
        const struct described *entry = &d.entries[i];
        int64_t mine = entry->kind->bytes(entry, world.rank, world.size), all, most;
        MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, world.comm);
        MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, world.comm);
        cJSON_AddItemToArray(rows, row_of(entry, all, most));
    }
    describe_free(&d);
    return rows;
}

/* ---- For processes that join -------------------------------------------------------------------- */

#define MOST_VALUES (64 << 10) /* bytes: what is more is compared in the window alone */

/* In hexadecimal digits; NULL: too many, or out of memory. */
static char *values_as_text(const epop_description_t *d)
{
    size_t bytes;
    char *values = describe_values_pack(d, &bytes);
    char *text = values && bytes <= MOST_VALUES ? malloc(2 * bytes + 1) : NULL;
    if (text)
        sodium_bin2hex(text, 2 * bytes + 1, (const unsigned char *)values, bytes);
    free(values);
    return text;
}

static char *values_of_text(const char *text, size_t *bytes)
{
    size_t room = strlen(text) / 2;
    char *values = malloc(room ? room : 1);
    if (!values || !sodium_hex2bin((unsigned char *)values, room, text, strlen(text), NULL, bytes, NULL))
        return values;
    free(values);
    return NULL;
}

/* For those that join, if it is not too much. */
static void add_list(cJSON *told, const epop_description_t *d)
{
    char *values = values_as_text(d);
    if (!values)
        return;
    cJSON_AddItemToObject(told, "list", describe_lines(d));
    cJSON_AddStringToObject(told, "values", values);
    free(values);
}

cJSON *describe_program_tell(bool moved)
{
    struct describe_program *p = &describe_program;
    epop_description_t d = {0};
    struct error unsaid;
    bool news = moved ? !p->told : !p->told_form;
    if (!p->describe || !p->whole || !news || p->pack)
        return NULL;
    p->told |= moved;
    p->told_form = true;
    cJSON *told = cJSON_CreateObject();
    if (!describe_run(&d, DESCRIBE_LIST, p->describe, p->data, NULL, 0, &unsaid)) {
        if (moved)
            add_list(told, &d);
        if (describe_divides(&d))
            cJSON_AddTrueToObject(told, "divides");
    }
    describe_free(&d);
    return told;
}

int describe_program_compare(const cJSON *told, struct error *error)
{
    const struct describe_program *p = &describe_program;
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(told, "values"));
    const cJSON *lines = cJSON_GetObjectItem(told, "list");
    epop_description_t d = {0};
    size_t bytes = 0;
    if (!p->describe || !text || !lines)
        return 0;
    char *values = values_of_text(text, &bytes);
    struct error own;
    int result = values ? describe_run(&d, DESCRIBE_FILL, p->describe, p->data, values, bytes, &own) : 0;
    if (result)
        error_set(error, own.code, "a joining rank: %s", own.text);
    else if (values)
        result = describe_like(&d, lines, error);
    describe_untell(&d);
    describe_free(&d);
    free(values);
    return result;
}

/* ---- The other blocks --------------------------------------------------------------------------- */

int describe_program_pack(void)
{
    if (!describe_program.pack || !describe_program.whole)
        return EPOP_OK;
    INTERPOSE_ASIDE;
    int result = describe_program.pack(describe_program.data);
    if (result != EPOP_OK)
        say_line("the pack block returned %d on rank %d", result, world.rank);
    return result;
}

int describe_program_rebuild(void)
{
    if (!describe_program.rebuild)
        return EPOP_OK;
    world_ahead();
    INTERPOSE_ASIDE;
    int result = describe_program.rebuild(describe_program.data);
    world_back();
    if (result != EPOP_OK)
        say_line("the rebuild block returned %d on rank %d", result, world.rank);
    return result;
}
