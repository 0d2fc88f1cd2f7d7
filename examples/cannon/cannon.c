/*
 * The program: load, multiply (elastic, one panel per iteration), measure, again if asked, verify, write. Each phase
 * stands in a file of its own; this one holds them together, and the data's beginning and end.
 */
#include "cannon.h"

#include <cblas.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/agree.h"

enum { PC_INIT, PC_MODE, PC_LOAD, PC_MULTIPLY, PC_MEASURE, PC_AGAIN, PC_VERIFY, PC_WRITE, PC_SAVE, PC_END, PC_COUNT };

double cannon_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int cannon_agree(int error, const char *text)
{
    return agree_on_error(epop_world(), error, "cannon", text);
}

static int is_rank_0(void)
{
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    return rank == 0;
}

void cannon_say(const cannon_t *c, const char *format, ...)
{
    if (c->options.json || !is_rank_0())
        return;
    va_list arguments;
    va_start(arguments, format);
    printf("cannon: ");
    vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
}

void cannon_describe(void *data, epop_description_t *d)
{
    cannon_t *c = data;
    const epop_dist2d_t layouts[] = {cannon_layout_a(c), cannon_layout_b(c), cannon_layout_c(c)};
    epop_describe_values(d, "state", &c->shared, sizeof c->shared);
    epop_describe_replicated(d, "run seconds", &c->run_seconds, MPI_DOUBLE, CANNON_REPEATS_MAX, 0);
    epop_describe_matrix(d, "A", &c->stored[CANNON_A], MPI_DOUBLE, &layouts[0], EPOP_CONSTANT);
    epop_describe_matrix(d, "B", &c->stored[CANNON_B], MPI_DOUBLE, &layouts[1], EPOP_CONSTANT);
    epop_describe_matrix(d, "C", &c->product, MPI_DOUBLE, &layouts[2], 0);
}

/* What is not described. */
static void cannon_release(void *data)
{
    cannon_t *c = data;
    cannon_pipeline_close(c);
    cannon_grid_close(c);
    cannon_sources_close(c);
    free(c);
}

/* The ranks are the parallelism: with a thread per core in each of them, they would fight for the cores. */
static void use_one_thread(void)
{
    if (!getenv("OPENBLAS_NUM_THREADS") && !getenv("OMP_NUM_THREADS"))
        openblas_set_num_threads(1);
}

/* The width of a panel decides how the matrices lie: the next multiplication may have another one. */
static int offer_tunables(cannon_t *c)
{
    static const int slices[] = {64, 128, 256, 512, 1024}, widths[] = {64, 128, 256, 512, 1024};
    int panels[6], count = 0;
    c->slice = 256;
    c->width = c->options.width < CANNON_WIDTH_MAX ? (int)c->options.width : CANNON_WIDTH_MAX;
    for (int i = 0; i < 5; i++) {
        if (c->width > (i ? widths[i - 1] : 0) && c->width < widths[i])
            panels[count++] = c->width;
        panels[count++] = widths[i];
    }
    if (c->width > widths[4])
        panels[count++] = c->width;
    int error = epop_tunable_list("slice", &c->slice, slices, 5);
    return error ? error
                 : epop_tunable_add(&(epop_tunable_t){
                       .name = "panel", .value = &c->width, .values = panels, .count = count, .per_visit = 1});
}

static int set_up(cannon_t *c, int argc, char **argv, char *text, size_t text_size)
{
    if (epop_status() == EPOP_NEW)
        c->run_seconds = calloc(CANNON_REPEATS_MAX, sizeof(double));
    if (epop_status() == EPOP_NEW && !c->run_seconds) {
        snprintf(text, text_size, "out of memory");
        return EPOP_ERR_MEMORY;
    }
    if (cannon_options_parse(&c->options, argc, argv, text, text_size) != 0)
        return EPOP_ERR_ARGUMENT;
    if (!c->options.help && cannon_sources_open(c, text, text_size) != 0)
        return EPOP_ERR_ARGUMENT;
    c->shared = (cannon_shared_t){
        .m = c->a_source.rows, .k = c->a_source.cols, .n = c->b_source.cols, .width = c->options.width};
    return c->options.help || c->options.save ? EPOP_OK : offer_tunables(c);
}

/* Joining ranks fail alone, before they have joined anything; new ones agree, so that the user reads one line. */
static int cannon_init(int *argc, char ***argv, void **data)
{
    char text[CANNON_TEXT] = "out of memory";
    cannon_t *c = calloc(1, sizeof(*c));
    int error = EPOP_ERR_MEMORY;
    if (c) {
        c->grid.comm = MPI_COMM_NULL;
        c->residual = -1;
        use_one_thread();
        error = set_up(c, *argc, *argv, text, sizeof(text));
    }
    if (epop_status() == EPOP_JOINING && error)
        fprintf(stderr, "cannon: a joining rank: %s\n", text);
    else if (epop_status() != EPOP_JOINING)
        error = cannon_agree(error, text);
    *data = c;
    return error;
}

static int choose_mode(int pc, void *data)
{
    const cannon_t *c = data;
    if (c->options.save)
        return PC_SAVE;
    if (!c->options.help)
        return pc + 1;
    if (is_rank_0())
        cannon_usage();
    return PC_END;
}

/* A repeated multiplication starts from the matrices' source, whatever the resizes of the last one left. */
static int choose_again(int pc, void *data)
{
    cannon_t *c = data;
    if (c->shared.runs >= c->options.repeats)
        return pc + 1;
    cannon_grid_close(c);
    cannon_blocks_free(c);
    return PC_LOAD;
}

static int cannon_end(void *data)
{
    cannon_t *c = data;
    int finished = c->shared.runs == c->options.repeats;
    if (finished && c->options.json && is_rank_0())
        cannon_print_json(c);
    if (c->grid.comm != MPI_COMM_NULL && !finished && is_rank_0())
        fprintf(stderr, "cannon: stopped before the product was complete; nothing was written\n");
    return EPOP_OK;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_alloc(PC_COUNT);
    if (!program)
        return NULL;
    epop_element_t *e = program->elements;
    e[PC_INIT] = (epop_element_t){.type = EPOP_INIT, .name = "init", .init = cannon_init};
    e[PC_MODE] = (epop_element_t){.type = EPOP_BRANCH, .name = "mode", .branch_condition = choose_mode};
    e[PC_LOAD] = (epop_element_t){.type = EPOP_RP, .name = "load", .phase_exec = cannon_load_exec};
    e[PC_MULTIPLY] = (epop_element_t){.type = EPOP_EP,
                                      .name = "multiply",
                                      .phase_exec = cannon_multiply_exec,
                                      .phase_adapt = cannon_multiply_adapt,
                                      .loop_condition = cannon_multiply_loop,
                                      .progress = cannon_multiply_progress};
    e[PC_MEASURE] = (epop_element_t){.type = EPOP_RP, .name = "measure", .phase_exec = cannon_measure_exec};
    e[PC_AGAIN] = (epop_element_t){.type = EPOP_BRANCH, .name = "again", .branch_condition = choose_again};
    e[PC_VERIFY] = (epop_element_t){.type = EPOP_RP, .name = "verify", .phase_exec = cannon_verify_exec};
    e[PC_WRITE] = (epop_element_t){.type = EPOP_RP, .name = "write", .phase_exec = cannon_write_exec};
    e[PC_SAVE] = (epop_element_t){.type = EPOP_RP, .name = "save", .phase_exec = cannon_save_exec};
    e[PC_END] = (epop_element_t){.type = EPOP_RP, .name = "end", .phase_exec = cannon_end};
    program->name = "cannon";
    program->sizes.kind = EPOP_SIZE_SQUARE;
    program->finalizer = PC_END;
    epop_describe(program, cannon_describe);
    epop_rebuild(program, cannon_rebuild);
    epop_release(program, cannon_release);
    return program;
}
