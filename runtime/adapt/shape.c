/* Where in its loop an executable probes: see shape.h. */
#include "runtime/adapt/shape.h"

#include <mpi.h>
#include <string.h>

#include "interpose/interpose.h"

bool shape_looking;

static struct {
    int first[INTERPOSE_FUNCTIONS], second[INTERPOSE_FUNCTIONS]; /* MPI calls in the stretch before that probe */
    bool seen_first;
} shape;

/* Calls that other processes have a part in; what only waits for some time, as MPI_Test does, is none. */
static bool communicates(const char *name)
{
    static const char *const words[] = {"send", "recv",    "start",   "wait",     "reduce", "bcast", "barrier",
                                        "scan", "_gather", "scatter", "alltoall", "_put",   "fence", "allgather"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i]))
            return true;
    return false;
}

static void enter(void *context, enum interpose_function function, void *const arguments[])
{
    (void)context;
    (void)arguments;
    if (!communicates(epop__interpose_name(function)))
        return;
    (shape.seen_first ? shape.second : shape.first)[function]++;
}

static void leave(void *context, enum interpose_function function, void *const arguments[], int result)
{
    (void)context;
    (void)function;
    (void)arguments;
    (void)result;
}

static const struct interpose_hooks hooks = {.enter = enter, .leave = leave};

void shape_begin(void)
{
    memset(&shape, 0, sizeof shape);
    shape_looking = epop__interpose_observe(&hooks) == 0;
}

/* Is most of what lies between the two probes there before the first one, too? Then that was an iteration. */
static bool iteration_came_first(void)
{
    int common = 0, all = 0;
    for (int f = 0; f < INTERPOSE_FUNCTIONS; f++) {
        common += shape.first[f] < shape.second[f] ? shape.first[f] : shape.second[f];
        all += shape.second[f];
    }
    return 2 * common >= all;
}

bool shape_passes(void)
{
    if (!shape.seen_first) {
        shape.seen_first = true;
        return true;
    }
    shape_looking = false;
    epop__interpose_unobserve(&hooks);
    return !iteration_came_first();
}
