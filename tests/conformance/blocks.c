/* The conformance suite's program, by EPOP's blocks. */
#include <epop/epop.h>

#include "ring.h"

static int init(int *argc, char ***argv, void **data)
{
    struct ring *ring = calloc(1, sizeof *ring);
    ring_file = *argc > 1 ? strdup((*argv)[1]) : "end";
    *data = ring;
    if (epop_status() == EPOP_JOINING)
        ring_joins();
    else
        ring_begin(ring, epop_world());
    return 0;
}

static int step(void *data)
{
    return ring_step(data, epop_world()) ? 0 : (((struct ring *)data)->step = -((struct ring *)data)->step, 0);
}

static int more(void *data)
{
    return ((struct ring *)data)->step >= 0;
}

static int adapt(void *data)
{
    epop_window_t window;
    if (epop_adapt_begin(&window))
        return EPOP_ERR_STATE;
    if (window.status != EPOP_JOINING)
        ring_gather(data, window.before);
    MPI_Bcast(data, (int)sizeof(struct ring), MPI_BYTE, 0, window.all);
    if (window.after != MPI_COMM_NULL) {
        ring_keep(data, window.after);
        ring_changed(window.after);
    }
    return epop_adapt_commit();
}

static int fini(void *data)
{
    ring_end(epop_world());
    free(data);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("blocks");
    epop_add_init(program, "init", init);
    epop_add_elastic(program, "step", step, adapt, more);
    epop_add_rigid(program, "end", fini, NULL);
    return program;
}
