/*
 * Branches that make an if, an else and a loop: finds the root of a function whose terms are spread over the
 * ranks, by Newton steps where these stay within the bracket, else by bisection. The evaluation is elastic.
 *
 *     mpiexec -n 4 epop ./branches.so 100000
 */
#include <epop/epop.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The elements, in this order. */
enum { START, EVALUATE, CHOOSE, NEWTON, NEWTON_DONE, BISECT, BISECT_DONE, REPORT, ELEMENTS };

/* Every rank has the same values in it; that makes every rank branch alike. */
struct search {
    double low, high, x;          /* the bracket, and where the function is evaluated */
    double value[2];              /* of the function and its derivative at x */
    int64_t terms, slice, slices; /* the terms are added up in slices, one per iteration */
    int64_t newton, bisections;   /* steps so far */
};

static int start(int *argc, char ***argv, void **data)
{
    struct search *search = malloc(sizeof *search);
    if (!search)
        return EPOP_ERR_MEMORY;
    int64_t terms = *argc > 1 ? atoll((*argv)[1]) : 10000;
    *search = (struct search){.low = -40, .high = 60, .x = 10, .terms = terms, .slices = 20};
    *data = search;
    return terms > 0 ? 0 : EPOP_ERR_ARGUMENT;
}

/* f(x) is the mean of atan(20 (x - t)) over `terms` points t between 0 and 1; its root is 1/2. */
static int evaluate_slice(void *data)
{
    struct search *search = data;
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    int64_t first = search->terms * search->slice / search->slices;
    int64_t end = search->terms * (search->slice + 1) / search->slices;
    double sum[2] = {0, 0};
    for (int64_t i = first + rank; i < end; i += size) {
        double t = ((double)i + 0.5) / (double)search->terms, y = 20 * (search->x - t);
        sum[0] += atan(y) / (double)search->terms;
        sum[1] += 20 / (1 + y * y) / (double)search->terms;
    }
    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, epop_world());
    search->value[0] += sum[0];
    search->value[1] += sum[1];
    search->slice++;
    return 0;
}

static int more_slices(void *data)
{
    const struct search *search = data;
    return search->slice < search->slices;
}

/* Joining ranks need the values that all others have; that is all the data there is. */
static int adapt(void *data)
{
    epop_window_t window;
    int result = epop_adapt_begin(&window);
    if (result == EPOP_OK)
        result = epop_redist_replicated(&window, data, sizeof(struct search), MPI_BYTE);
    if (result == EPOP_OK && window.status == EPOP_LEAVING)
        free(data);
    return result == EPOP_OK ? epop_adapt_commit() : result;
}

static double newton_target(const struct search *search)
{
    return search->x - search->value[0] / search->value[1];
}

static int choose(int pc, void *data)
{
    struct search *search = data;
    (void)pc;
    if (fabs(search->value[0]) < 1e-12)
        return REPORT;
    if (search->value[0] < 0)
        search->low = search->x;
    else
        search->high = search->x;
    double target = newton_target(search);
    return target > search->low && target < search->high ? NEWTON : BISECT;
}

/* Moves on to another x, where the function is to be evaluated anew. */
static void move_to(struct search *search, double x)
{
    search->x = x;
    search->value[0] = search->value[1] = 0;
    search->slice = 0;
}

static int newton(void *data)
{
    struct search *search = data;
    search->newton++;
    move_to(search, newton_target(search));
    return 0;
}

static int bisect(void *data)
{
    struct search *search = data;
    search->bisections++;
    move_to(search, (search->low + search->high) / 2);
    return 0;
}

static int back(int pc, void *data)
{
    (void)pc, (void)data;
    return EVALUATE;
}

static int report(void *data)
{
    const struct search *search = data;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0)
        printf("root %.10f (%lld Newton steps, %lld bisections)\n", search->x, (long long)search->newton,
               (long long)search->bisections);
    free(data);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_alloc(ELEMENTS);
    if (!program)
        return NULL;
    program->name = "branches";
    epop_element_t *e = program->elements;
    e[START] = (epop_element_t){.type = EPOP_INIT, .name = "start", .init = start};
    e[EVALUATE] = (epop_element_t){.type = EPOP_EP,
                                   .name = "evaluate",
                                   .phase_exec = evaluate_slice,
                                   .phase_adapt = adapt,
                                   .loop_condition = more_slices};
    e[CHOOSE] = (epop_element_t){.type = EPOP_BRANCH, .name = "choose", .branch_condition = choose};
    e[NEWTON] = (epop_element_t){.type = EPOP_RP, .name = "newton", .phase_exec = newton};
    e[NEWTON_DONE] = (epop_element_t){.type = EPOP_BRANCH, .name = "back", .branch_condition = back};
    e[BISECT] = (epop_element_t){.type = EPOP_RP, .name = "bisect", .phase_exec = bisect};
    e[BISECT_DONE] = (epop_element_t){.type = EPOP_BRANCH, .name = "back", .branch_condition = back};
    e[REPORT] = (epop_element_t){.type = EPOP_RP, .name = "report", .phase_exec = report};
    return program;
}
