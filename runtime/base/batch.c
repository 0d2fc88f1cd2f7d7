/* The job of a batch system that this process belongs to: see batch.h. */
#include "runtime/base/batch.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/slurm.h"

static char job[BATCH_MAX];

/* It goes into files and tables. */
static int is_word(const char *text)
{
    size_t length = strlen(text);
    for (const char *at = text; *at; at++)
        if (!isgraph((unsigned char)*at))
            return 0;
    return length > 0 && length < BATCH_MAX;
}

static void look(void)
{
    const char *said = getenv("EPOP_BATCH_JOB");
    if (said && is_word(said))
        strcpy(job, said);
    else if (slurm_job())
        snprintf(job, sizeof job, "slurm:%d", slurm_job());
}

const char *batch_job(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look);
    return job[0] ? job : NULL;
}
