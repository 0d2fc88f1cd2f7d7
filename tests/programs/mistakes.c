/*
 * A describe block with a mistake, which is to be found before anything moves. Rank 0 prints a line for each iteration.
 *     fault=KIND    twice, flags, null, slash, empty (values of 0 bytes): the form; negative, stack, static, short,
 *                   missing (memory); count, type, order: other ones than rank 0; order and count on ranks from 1
 *                   on; members, sizes, unlisted, memberless: what is said of members
 *                   leak: 1 MiB of INIT that nobody frees
 *     late          the data is made in a rigid phase behind INIT
 *     joining       the mistake is that of joining ranks alone
 *     steps=N       iterations (3), of a millisecond if there are more
 */
#include "scenario.h"

struct data {
    struct shape {
        int64_t n, step, steps;
    } s;
    const char *fault;
    bool late, joining;
    double *u;
    int32_t *k;
};

static double fixed[1000];
static char *volatile leaked;

static bool is_fault(const struct data *d, const char *fault)
{
    return d->fault && !strcmp(d->fault, fault) && (!d->joining || epop_status() == EPOP_JOINING);
}

static bool is_fault_elsewhere(const struct data *d, const char *fault)
{
    return is_fault(d, fault) && (d->joining || rank_in(epop_world()) > 0);
}

static void describe_u(struct data *d, epop_description_t *list)
{
    int64_t n = is_fault(d, "negative") ? -1 : d->s.n + is_fault_elsewhere(d, "count");
    epop_describe_array(list, is_fault(d, "slash") ? "a/b" : "u", &d->u,
                        is_fault_elsewhere(d, "type") ? MPI_FLOAT : MPI_DOUBLE, epop_dist_block(n),
                        is_fault(d, "flags") ? 64 : 0);
}

static void describe(void *data, epop_description_t *list)
{
    struct data *d = data;
    epop_describe_values(list, "shape", &d->s, is_fault(d, "empty") ? 0 : sizeof d->s);
    if (is_fault(d, "members") || is_fault(d, "sizes"))
        epop_describe_members(list, "shape", is_fault(d, "sizes") ? "int64_t n, step" : "int64_t n, step, *steps");
    if (is_fault(d, "unlisted"))
        epop_describe_members(list, "k", "a, b");
    if (is_fault_elsewhere(d, "order"))
        describe_u(d, list);
    epop_describe_array(list, is_fault(d, "twice") ? "shape" : "k", is_fault(d, "null") ? NULL : &d->k, MPI_INT32_T,
                        epop_dist_cyclic(d->s.n), 0);
    if (!is_fault_elsewhere(d, "order"))
        describe_u(d, list);
    if (is_fault(d, "memberless"))
        epop_describe_members(list, "u", "a, b");
}

static int make(void *data)
{
    static double *of_stack;
    struct data *d = data;
    double here[8];
    int size = size_of(epop_world()), rank = rank_in(epop_world());
    d->s.n = 100;
    of_stack = here;
    int64_t u = epop_dist_local_count(epop_dist_block(d->s.n), rank, size);
    d->k = calloc((size_t)d->s.n, sizeof *d->k);
    d->u = is_fault(d, "static")  ? fixed
           : is_fault(d, "stack") ? of_stack
                                  : calloc((size_t)(is_fault(d, "short") ? u / 2 : u), sizeof *d->u);
    if (is_fault(d, "missing"))
        d->u = NULL;
    return d->k ? 0 : EPOP_ERR_MEMORY;
}

static int start(int *argc, char ***argv, void **data)
{
    arguments_t a = {*argc, *argv};
    struct data *d = *data = calloc(1, sizeof *d);
    if (!d)
        return EPOP_ERR_MEMORY;
    d->fault = text_argument(a, "fault", 0);
    d->late = has_argument(a, "late");
    d->joining = has_argument(a, "joining");
    if (is_fault(d, "leak"))
        leaked = malloc(1 << 20);
    d->s = (struct shape){.n = -1, .steps = argument(a, "steps", 3)}; /* no count yet */
    return epop_status() != EPOP_NEW || d->late ? 0 : make(d);
}

static int make_late(void *data)
{
    struct data *d = data;
    return d->late ? make(data) : 0;
}

static int iterate(void *data)
{
    struct data *d = data;
    if (rank_in(epop_world()) == 0)
        printf("step %lld\n", (long long)d->s.step);
    d->s.step++;
    nap(d->s.steps > 3 ? 1000 : 0);
    return 0;
}

static int more(void *data)
{
    struct data *d = data;
    return d->s.step < d->s.steps;
}

static void release(void *data)
{
    struct data *d = data;
    free(d);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("mistakes");
    epop_add_init(program, "start", start);
    epop_add_rigid(program, "make", make_late, NULL);
    epop_add_elastic(program, "work", iterate, epop_adapt_described, more);
    epop_describe(program, describe);
    epop_release(program, release);
    return program;
}
