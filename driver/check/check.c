/*
 * The check driver: prints the structure of a program that was loaded and found valid, as a table, as JSON
 * or as a graph for graphviz. Runs no block, and needs neither MPI nor a launcher; but with --data it has INIT run, and
 * prints what the program describes, too.
 */
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/common/builtin.h"
#include "epop_api/program.h"
#include "runtime/describe/program.h"

/* data: what it describes, as epop__describe_table has it; NULL: nothing, or it is not asked for. */
struct format {
    const char *name;
    int (*print)(const epop_program_t *program, const cJSON *data);
};

static const char *element_name(const epop_element_t *element)
{
    return element->name ? element->name : epop_element_type_name(element->type);
}

/* ---- text ---- */

#define COLUMNS 6 /* of both tables, at most */

struct row {
    char cells[COLUMNS][96];
};

static void list_blocks(const epop_program_t *program, int pc, char *text, size_t size)
{
    const epop_element_t *element = &program->elements[pc];
    bool is_init = pc == 0 && epop__program_init(program);
    snprintf(text, size, "%s%s%s%s%s%s", is_init ? "init " : "", element->phase_exec && !is_init ? "exec " : "",
             element->phase_adapt ? "adapt " : "", element->loop_condition ? "loop " : "",
             element->branch_condition ? "branch " : "", element->progress ? "progress " : "");
    if (text[0])
        text[strlen(text) - 1] = 0;
}

static void describe_sizes(const epop_program_t *program, int pc, char *text, size_t size)
{
    epop_scaling scaling = epop_scaling_at(program, pc);
    epop_sizes_text(epop_sizes_at(program, pc), text, (int)size);
    size_t used = strlen(text);
    if (scaling != EPOP_SCALING_STRONG)
        snprintf(text + used, size - used, ", %s scaling", epop_scaling_name(scaling));
}

static void fill_row(struct row *row, const epop_program_t *program, int pc)
{
    const epop_element_t *element = &program->elements[pc];
    const epop_sizes_t *sizes = epop_sizes_at(program, pc);
    int is_phase = element->type == EPOP_EP || element->type == EPOP_RP;
    memset(row, 0, sizeof *row);
    snprintf(row->cells[0], sizeof row->cells[0], "%d", pc);
    snprintf(row->cells[1], sizeof row->cells[1], "%s", epop_element_type_name(element->type));
    snprintf(row->cells[2], sizeof row->cells[2], "%s", element_name(element));
    list_blocks(program, pc, row->cells[3], sizeof row->cells[3]);
    if (is_phase)
        describe_sizes(program, pc, row->cells[4], sizeof row->cells[4]);
    if (is_phase && sizes->preferred)
        snprintf(row->cells[5], sizeof row->cells[5], "%d", sizes->preferred);
}

static void measure(const struct row *rows, int count, int widths[COLUMNS])
{
    for (int column = 0; column < COLUMNS; column++) {
        widths[column] = 0;
        for (int i = 0; i < count; i++) {
            int width = (int)strlen(rows[i].cells[column]);
            if (width > widths[column])
                widths[column] = width;
        }
    }
}

static void print_row(const struct row *row, const int widths[COLUMNS])
{
    char line[COLUMNS * (sizeof row->cells[0] + 2) + 1] = "";
    for (int column = 0; column < COLUMNS; column++) {
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%-*s  ", widths[column], row->cells[column]);
    }
    size_t end = strlen(line);
    while (end > 0 && line[end - 1] == ' ')
        line[--end] = 0;
    puts(line);
}

/* A program of version 1 ends before its own blocks, and one of version 2 before pack. */
static void print_own_blocks(const epop_program_t *program)
{
    bool packs = program->abi_version >= 3 && program->pack;
    if (packs || (program->abi_version >= 2 && (program->describe || program->rebuild || program->release)))
        printf("blocks of the program:%s%s%s%s\n", program->describe ? " describe" : "", packs ? " pack" : "",
               program->rebuild ? " rebuild" : "", program->release ? " release" : "");
}

static void print_table(const struct row *rows, int count)
{
    int widths[COLUMNS];
    measure(rows, count, widths);
    for (int i = 0; i < count; i++)
        print_row(&rows[i], widths);
}

static void fill_data_row(struct row *row, const cJSON *entry)
{
    static const char *const members[] = {"name", "kind"}, *const numbers[] = {"bytes", "most"};
    memset(row, 0, sizeof *row);
    for (int i = 0; i < 2; i++) {
        snprintf(row->cells[i], sizeof row->cells[i], "%s",
                 cJSON_GetStringValue(cJSON_GetObjectItem(entry, members[i])));
        snprintf(row->cells[2 + i], sizeof row->cells[2 + i], "%.0f",
                 cJSON_GetNumberValue(cJSON_GetObjectItem(entry, numbers[i])));
    }
    snprintf(row->cells[4], sizeof row->cells[4], "%s",
             cJSON_IsTrue(cJSON_GetObjectItem(entry, "constant"))  ? "constant"
             : cJSON_IsTrue(cJSON_GetObjectItem(entry, "scratch")) ? "scratch"
                                                                   : "");
}

static int print_data(const cJSON *data)
{
    static const struct row heading = {{"data", "kind", "bytes", "most on a rank", "flags"}};
    int count = 1;
    struct row *rows = malloc((size_t)(1 + cJSON_GetArraySize(data)) * sizeof *rows);
    const cJSON *entry;
    if (!rows)
        return EPOP_ERR_MEMORY;
    rows[0] = heading;
    cJSON_ArrayForEach(entry, data) fill_data_row(&rows[count++], entry);
    print_table(rows, count);
    free(rows);
    return 0;
}

static int print_text(const epop_program_t *program, const cJSON *data)
{
    static const struct row heading = {{"pc", "type", "name", "blocks", "sizes", "preferred"}};
    struct row *rows = malloc((size_t)(program->size + 1) * sizeof *rows);
    if (!rows)
        return EPOP_ERR_MEMORY;
    rows[0] = heading;
    for (int pc = 0; pc < program->size; pc++)
        fill_row(&rows[pc + 1], program, pc);
    printf("program '%s': valid, %d element%s\n", program->name, program->size, program->size == 1 ? "" : "s");
    print_table(rows, program->size + 1);
    if (program->finalizer > 0)
        printf("finalizer: pc %d (%s)\n", program->finalizer, element_name(&program->elements[program->finalizer]));
    print_own_blocks(program);
    free(rows);
    return data ? print_data(data) : 0;
}

/* ---- json ---- */

static char *text_with_data(const char *structure, const cJSON *data)
{
    cJSON *json = cJSON_Parse(structure);
    cJSON_AddItemToObject(json, "data", cJSON_Duplicate(data, 1));
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    return text;
}

static int print_json(const epop_program_t *program, const cJSON *data)
{
    char *structure = epop_program_to_json(program);
    char *text = structure && data ? text_with_data(structure, data) : structure;
    if (text)
        puts(text);
    if (text != structure)
        cJSON_free(text);
    free(structure);
    return text ? 0 : EPOP_ERR_MEMORY;
}

/* ---- dot ---- */

static void print_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
}

static void print_node(const epop_program_t *program, int pc)
{
    static const char *const shapes[] = {"box", "ellipse", "box", "box", "diamond"};
    const epop_element_t *element = &program->elements[pc];
    printf("    e%d [shape=%s%s, label=\"%d ", pc, shapes[element->type],
           element->type == EPOP_EP ? ", style=rounded" : "", pc);
    printf("%s\\n", epop_element_type_name(element->type));
    print_quoted(element_name(element));
    printf("%s\"];\n", pc > 0 && pc == program->finalizer ? "\\n(finalizer)" : "");
}

/* A branch may go to every element but INIT, or to the end; any other element goes on to the next. */
static void print_edges(const epop_program_t *program, int pc)
{
    const epop_element_t *element = &program->elements[pc];
    if (element->type == EPOP_BRANCH) {
        for (int target = 1; target <= program->size; target++)
            printf("    e%d -> e%d [style=dashed];\n", pc, target);
        return;
    }
    if (element->loop_condition && element->type != EPOP_INIT)
        printf("    e%d -> e%d;\n", pc, pc);
    printf("    e%d -> e%d;\n", pc, pc + 1);
}

static int print_dot(const epop_program_t *program, const cJSON *data)
{
    (void)data;
    printf("digraph \"");
    print_quoted(program->name);
    printf("\" {\n");
    for (int pc = 0; pc < program->size; pc++)
        print_node(program, pc);
    printf("    e%d [shape=doublecircle, label=\"end\"];\n", program->size);
    for (int pc = 0; pc < program->size; pc++)
        print_edges(program, pc);
    printf("}\n");
    return 0;
}

/* ---- the driver ---- */

static const struct format formats[] = {{"text", print_text}, {"json", print_json}, {"dot", print_dot}};

struct check {
    const struct format *format;
    bool data;
};

static int check_open(void **state)
{
    struct check *check = malloc(sizeof *check);
    if (!check)
        return EPOP_ERR_MEMORY;
    *check = (struct check){.format = &formats[0]};
    *state = check;
    return 0;
}

static int check_option(void *state, const char *name, const char *value)
{
    struct check *check = state;
    if (!strcmp(name, "data")) {
        check->data = true;
        return EPOP_DRIVER_INIT;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!strcmp(formats[i].name, value)) {
            check->format = &formats[i];
            return 0;
        }
    }
    return EPOP_ERR_ARGUMENT;
}

/* One process prints for all of a launch; with --data, when that is there. */
static int check_loaded(void *state, const epop_program_t *program, int rank)
{
    const struct check *check = state;
    if (check->data)
        return 0;
    int result = rank <= 0 ? check->format->print(program, NULL) : 0;
    return result == 0 ? EPOP_DRIVER_DONE : result;
}

/* What was described is as it has to be. */
static void check_finished(void *state, const epop_position_t *position)
{
    const struct check *check = state;
    cJSON *data = check->data ? epop__describe_table() : NULL;
    if (check->data && position->rank == 0)
        check->format->print(position->program, data);
    cJSON_Delete(data);
}

static const epop_driver_option_t check_options[] = {
    {"format", "text|json|dot", "how the structure is printed (text)"},
    {"data", NULL, "run INIT, and print what the program describes"},
    {NULL, NULL, NULL},
};

const epop_driver_t driver_check = {
    .abi_version = EPOP_DRIVER_ABI_VERSION,
    .struct_size = sizeof(epop_driver_t),
    .name = "check",
    .summary = "validates the program and prints its structure, without running its phases",
    .flags = EPOP_DRIVER_NO_WALK,
    .options = check_options,
    .open = check_open,
    .option = check_option,
    .loaded = check_loaded,
    .finished = check_finished,
    .close = free,
};
