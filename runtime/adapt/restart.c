/* An executable that goes on from a checkpoint: see restart.h. */
#include "runtime/adapt/restart.h"

#include <stdio.h>

#include "epop/mpi_adapt.h"
#include "runtime/control/supervisor.h"
#include "runtime/describe/program.h"
#include "runtime/job/job.h"

static int64_t before;
static bool waits, told;

void restart_begin(const struct elastic *e)
{
    before = e->restarts(e->context)->iteration - 1;
    waits = true;
}

int64_t restart_count(void)
{
    return before;
}

void restart_describe(const struct elastic *e, void (*block)(void *data, epop_description_t *d), void *data, bool joins)
{
    struct position unused;
    describe_program.describe = block;
    describe_program.data = data;
    describe_program.whole = !joins && !waits;
    if (waits)
        e->restart(e->context, &unused);
    waits = false;
}

bool restart_waits(void)
{
    return waits;
}

void restart_tell_fault(MPI_Info *info)
{
    char times[16];
    bool tells = !told && info && supervisor_recoveries() && !epop__job_joins();
    told = true;
    if (!tells)
        return;
    snprintf(times, sizeof times, "%d", supervisor_recoveries());
    if (*info == MPI_INFO_NULL)
        MPI_Info_create(info);
    MPI_Info_set(*info, MPI_ADAPT_FAULT, times);
}
