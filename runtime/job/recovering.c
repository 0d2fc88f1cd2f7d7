/* Going on after a fault: see recovering.h. */
#include "runtime/job/recovering.h"

#include <mpi.h>
#include <stdlib.h>

#include "runtime/checkpoint/memory.h"
#include "runtime/checkpoint/memory_place.h"
#include "runtime/control/supervisor.h"

static struct checkpoint_head found;

bool recovering_is(void)
{
    return supervisor_recoveries() > 0;
}

const char *recovering_memory(void)
{
    const char *path = supervisor_is_there() ? getenv(MEMORY_PLACE) : NULL;
    return path && path[0] ? path : NULL;
}

void recovering_look(void)
{
    struct error unheard;
    void *file;
    MPI_Comm launch;
    if (!recovering_is() || !recovering_memory())
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &launch);
    if (!store_memory.open(recovering_memory(), launch, &found, &file, &unheard))
        store_memory.close(file);
    MPI_Comm_free(&launch);
}

const struct checkpoint_head *recovering_found(void)
{
    return &found;
}

double recovering_since(void)
{
    const char *text = getenv(SUPERVISOR_SINCE);
    return text ? strtod(text, NULL) : 0;
}
