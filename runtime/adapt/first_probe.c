/* The first probes after a commit: see first_probe.h. */
#include "runtime/adapt/first_probe.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "epop/mpi_adapt.h"
#include "interpose/instead.h"
#include "runtime/adapt/witness.h"
#include "runtime/job/job.h"
#include "runtime/member/stretch.h"
#include "runtime/world/world.h"

#define VARIABLE "EPOP_FIRST_PROBE"

_Static_assert((int)EPOP_MPI_FIRST_PROBE_FIND == FIRST_PROBE_FIND &&
                   (int)EPOP_MPI_FIRST_PROBE_COUNTS == FIRST_PROBE_COUNTS &&
                   (int)EPOP_MPI_FIRST_PROBE_REPEATS == FIRST_PROBE_REPEATS,
               "what the first probe is goes by the same number");

bool first_probe_open;

static enum first_probe said;
static struct stretch_report report; /* of the last commit */

const char *first_probe_read(void)
{
    static char text[200];
    const char *value = getenv(VARIABLE);
    int what = value ? first_probe_of(value) : FIRST_PROBE_FIND;
    witness_init();
    if (what >= 0)
        said = (enum first_probe)what;
    else
        snprintf(text, sizeof text, VARIABLE " is '%.80s'; it can be find, counts or repeats", value);
    return what < 0 ? text : NULL;
}

int epop__instead_mpi_first_probe(epop_mpi_first_probe_t what)
{
    if (what < EPOP_MPI_FIRST_PROBE_FIND || what > EPOP_MPI_FIRST_PROBE_REPEATS)
        return MPI_ERR_ARG;
    said = (enum first_probe)what;
    return MPI_SUCCESS;
}

int epop_mpi_first_probe(epop_mpi_first_probe_t what)
{
    return epop__instead_mpi_first_probe(what);
}

void first_probe_begin(bool joins)
{
    report = (struct stretch_report){.adaptation = world.plan->adaptation, .joins = joins};
    first_probe_open = true;
    if (said == FIRST_PROBE_FIND)
        witness_begin(world.comm);
}

void first_probe_tell(void)
{
    report.probe++;
    report.what = said;
    if (said == FIRST_PROBE_FIND)
        report.stretch = witness_read();
    first_probe_open = report.joins && said == FIRST_PROBE_FIND && report.probe == 1;
    if (!first_probe_open)
        witness_end();
    epop__job_stretch(&report);
}
