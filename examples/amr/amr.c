/*
 * A disc in a vortex on a mesh that follows it, as an elastic program: one iteration is one time step. The mesh wants
 * many blocks while the disc is wound up, and few when it is unwound, and so the program asks for ranks, and gives them
 * back. docs/examples/amr.md says how it works; solver.c computes.
 *     mpiexec.mpich -n 8 epop --start 1 amr.so --blocks 100
 */
#include <epop/epop.h>

#include <stdlib.h>

#include "amr/output.h"
#include "amr/solver.h"
#include "common/agree.h"

#define FAILED 1 /* what the blocks return after a message */

typedef struct amr {
    solver_t solver;
    struct {
        int64_t ranks, asked; /* those that there are, and those that are wanted */
        int64_t resizes, balances;
    } p; /* the same on every rank */
} amr_t;

static void release(void *data)
{
    amr_t *amr = data;
    solver_free(&amr->solver);
    free(amr);
}

static int init(int *argc, char ***argv, void **data)
{
    char text[512];
    amr_t *amr = calloc(1, sizeof *amr);
    if (!amr)
        return EPOP_ERR_MEMORY;
    *data = amr;
    amr->solver.type = MPI_DATATYPE_NULL;
    if (options_parse(&amr->solver.options, *argc, *argv, text, sizeof text))
        return agree_on_error(epop_world(), FAILED, "amr", text); /* all have the same arguments */
    int error = amr->solver.options.help ? EPOP_OK : solver_create(&amr->solver);
    if (!error && !amr->solver.options.help && epop_status() == EPOP_NEW)
        error = solver_start(&amr->solver); /* others get it by the description */
    amr->p.ranks = amr->p.asked = amr->solver.borders.size;
    return error;
}

static int choose_mode(int pc, void *data)
{
    const amr_t *amr = data;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    if (amr->solver.options.help && rank == 0)
        options_usage();
    return amr->solver.options.help ? EPOP_END : pc + 1;
}

/* ---- Ranks --------------------------------------------------------------- */

/* A rank is to have from five eighths of as many blocks as it may have to all of them. If it has not, there are to be
 * so many ranks that it has seven eighths, so that a mesh that changes a little does not ask for anything. */
static int64_t ranks_wanted(const options_t *options, int64_t blocks, int64_t ranks)
{
    int64_t wanted = (8 * blocks + 7 * options->blocks - 1) / (7 * options->blocks);
    if (blocks <= ranks * options->blocks && 8 * blocks >= 5 * ranks * options->blocks)
        return ranks;
    return wanted < options->most ? wanted : options->most;
}

/* A wish is told as long as it is open, and once more when it is withdrawn. Whether it was granted shows in the number
 * of ranks. */
static int ask(amr_t *amr)
{
    const solver_t *s = &amr->solver;
    int64_t ranks = s->borders.size, before = amr->p.asked;
    int rank, error = EPOP_OK;
    MPI_Comm_rank(epop_world(), &rank);
    amr->p.asked = ranks_wanted(&s->options, s->mesh.curve.count, ranks);
    if (rank == 0 && (amr->p.asked != ranks || before != ranks))
        error = epop_request_resize((int)amr->p.asked);
    return error == EPOP_ERR_STATE ? EPOP_OK : error; /* this job cannot resize */
}

/* ---- The elastic phase --------------------------------------------------- */

static int advance(void *data)
{
    amr_t *amr = data;
    int changed = amr->solver.step % amr->solver.options.every == 0;
    int error = solver_step(&amr->solver);
    if (!error && changed && amr->solver.options.blocks)
        error = ask(amr);
    return error ? error : output_step(&amr->solver, amr->p.asked);
}

static int more(void *data)
{
    const solver_t *s = &((amr_t *)data)->solver;
    return s->step < s->options.steps;
}

/* Where the leaves are and whose they are goes before the blocks, which follow it. */
static void describe(void *data, epop_description_t *d)
{
    amr_t *amr = data;
    solver_t *s = &amr->solver;
    epop_describe_values(d, "step", &s->step, sizeof s->step);
    epop_describe_values(d, "deals", &s->deals, sizeof s->deals);
    epop_describe_values(d, "mass", &s->mass, sizeof s->mass);
    epop_describe_values(d, "ranks", &amr->p, sizeof amr->p);
    epop_describe_partition(d, "curve", &s->mesh.curve);
    epop_describe_replicated(d, "leaves", &s->mesh.leaves, MPI_INT64_T, s->mesh.curve.count, 0);
    epop_describe_items(d, "blocks", &s->blocks, &s->count, s->type, solver_owner, &s->mesh, 0);
}

static int rebuild(void *data)
{
    amr_t *amr = data;
    int error = solver_connect(&amr->solver);
    if (epop_status() != EPOP_RESTARTING)
        ++*(amr->solver.borders.size == amr->p.ranks ? &amr->p.balances : &amr->p.resizes);
    amr->p.ranks = amr->solver.borders.size;
    return error;
}

static void progress(void *data, epop_progress_t *progress)
{
    const solver_t *s = &((amr_t *)data)->solver;
    *progress = (epop_progress_t){.iteration = s->step, .bound = s->options.steps};
}

static int report(void *data)
{
    const amr_t *amr = data;
    output_report(&amr->solver, amr->p.resizes, amr->p.balances);
    return EPOP_OK;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("amr");
    if (!program)
        return NULL;
    epop_add_init(program, "make the mesh", init);
    epop_add_branch(program, "mode", choose_mode); /* --help: to the end */
    int pc = epop_add_elastic(program, "advance", advance, epop_adapt_described, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_set_progress(program, pc, progress);
    epop_may_change(program, "--steps");
    epop_describe(program, describe);
    epop_rebuild(program, rebuild);
    epop_release(program, release);
    return program;
}
