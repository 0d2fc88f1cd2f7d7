/* The Slurm job that this process runs in: see slurm.h. */
#include "runtime/base/slurm.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

static int number(const char *text)
{
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    return text && !*end && value > 0 && value <= INT_MAX ? (int)value : 0;
}

int slurm_job(void)
{
    int step = number(getenv(SLURM_STEP_JOB));
    return step ? step : number(getenv("SLURM_JOB_ID"));
}
