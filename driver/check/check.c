/*
 * The check driver: prints the structure of a program that was loaded and found valid, as a table, as JSON
 * or as a graph for graphviz. Runs no block, and needs neither MPI nor a launcher.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/common/builtin.h"
#include "epop_api/program.h"

struct format {
    const char *name;
    int (*print)(const epop_program_t *program);
};

static const char *element_name(const epop_element_t *element)
{
    return element->name ? element->name : epop_element_type_name(element->type);
}

/* ---- text ---- */

#define COLUMNS 6

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
        epop_sizes_text(sizes, row->cells[4], sizeof row->cells[4]);
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

static int print_text(const epop_program_t *program)
{
    static const struct row heading = {{"pc", "type", "name", "blocks", "sizes", "preferred"}};
    int count = program->size + 1, widths[COLUMNS];
    struct row *rows = malloc((size_t)count * sizeof *rows);
    if (!rows)
        return EPOP_ERR_MEMORY;
    rows[0] = heading;
    for (int pc = 0; pc < program->size; pc++)
        fill_row(&rows[pc + 1], program, pc);
    measure(rows, count, widths);
    printf("program '%s': valid, %d element%s\n", program->name, program->size, program->size == 1 ? "" : "s");
    for (int i = 0; i < count; i++)
        print_row(&rows[i], widths);
    if (program->finalizer > 0)
        printf("finalizer: pc %d (%s)\n", program->finalizer, element_name(&program->elements[program->finalizer]));
    print_own_blocks(program);
    free(rows);
    return 0;
}

/* ---- json ---- */

static int print_json(const epop_program_t *program)
{
    char *text = epop_program_to_json(program);
    if (!text)
        return EPOP_ERR_MEMORY;
    puts(text);
    free(text);
    return 0;
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

static int print_dot(const epop_program_t *program)
{
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
};

static int check_open(void **state)
{
    struct check *check = malloc(sizeof *check);
    if (!check)
        return EPOP_ERR_MEMORY;
    check->format = &formats[0];
    *state = check;
    return 0;
}

static int check_option(void *state, const char *name, const char *value)
{
    struct check *check = state;
    (void)name; /* there is only --format */
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!strcmp(formats[i].name, value)) {
            check->format = &formats[i];
            return 0;
        }
    }
    return EPOP_ERR_ARGUMENT;
}

/* One process prints for all of a launch. */
static int check_loaded(void *state, const epop_program_t *program, int rank)
{
    const struct check *check = state;
    int result = rank <= 0 ? check->format->print(program) : 0;
    return result == 0 ? EPOP_DRIVER_DONE : result;
}

static const epop_driver_option_t check_options[] = {
    {"format", "text|json|dot", "how the structure is printed (text)"},
    {NULL, NULL, NULL},
};

const epop_driver_t driver_check = {
    .abi_version = EPOP_DRIVER_ABI_VERSION,
    .struct_size = sizeof(epop_driver_t),
    .name = "check",
    .summary = "validates the program and prints its structure, without running it",
    .flags = EPOP_DRIVER_NO_WALK,
    .options = check_options,
    .open = check_open,
    .option = check_option,
    .loaded = check_loaded,
    .close = free,
};
