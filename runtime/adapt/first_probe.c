/* The first probes after a commit: see first_probe.h. */
#include "runtime/adapt/first_probe.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "epop/mpi_adapt.h"
#include "runtime/adapt/witness.h"
#include "runtime/job/job.h"
#include "runtime/member/stretch.h"
#include "runtime/world/world.h"

_Static_assert((int)EPOP_MPI_FIRST_PROBE_FIND == FIRST_PROBE_FIND &&
                   (int)EPOP_MPI_FIRST_PROBE_COUNTS == FIRST_PROBE_COUNTS &&
                   (int)EPOP_MPI_FIRST_PROBE_REPEATS == FIRST_PROBE_REPEATS,
               "what the first probe is goes by the same number");

bool first_probe_open;

static enum first_probe said;
static enum first_probe taken;  /* what was said at the last commit */
static struct stretch_log seen; /* since then */
static int told;                /* notes of it */

const char *first_probe_read(void)
{
    static char text[200];
    const char *value = getenv("EPOP_FIRST_PROBE");
    int what = value ? first_probe_of(value) : FIRST_PROBE_FIND;
    witness_init();
    if (what >= 0)
        said = (enum first_probe)what;
    else
        snprintf(text, sizeof text, "EPOP_FIRST_PROBE is '%.80s'; it can be find, counts or repeats", value);
    return what < 0 ? text : NULL;
}

int epop_mpi_first_probe(epop_mpi_first_probe_t what)
{
    if (what < EPOP_MPI_FIRST_PROBE_FIND || what > EPOP_MPI_FIRST_PROBE_REPEATS)
        return MPI_ERR_ARG;
    said = (enum first_probe)what;
    return MPI_SUCCESS;
}

void first_probe_begin(bool joins)
{
    seen = (struct stretch_log){.adaptation = world.plan->adaptation, .joins = joins};
    told = 0;
    first_probe_open = true;
    taken = said;
    if (taken == FIRST_PROBE_FIND)
        witness_begin(world.comm);
}

static void close_log(void)
{
    first_probe_open = false;
    witness_end();
}

static void tell(void)
{
    epop__job_stretch(&seen, told);
    told = seen.count;
}

/* At 1, 3, 7 and so on, and joining processes, which may repeat one, at the one behind. */
static bool is_due(void)
{
    int64_t number = seen.probe + !seen.joins;
    return seen.full || (number > 1 && !(number & (number - 1)));
}

void first_probe_tell(void)
{
    if (epop__job_settled() == seen.adaptation) {
        close_log();
        return;
    }
    if (said != FIRST_PROBE_FIND)
        taken = said;
    if (taken != FIRST_PROBE_FIND) {
        seen.what = taken;
        seen.probe++;
        close_log();
        tell();
        return;
    }
    struct stretch now = witness_read();
    stretch_note(&seen, &now);
    if (!is_due())
        return;
    tell();
    if (seen.full)
        close_log();
}
