/* The calls of lib/epop/companion: see companions.h. */
#include "runtime/job/companions.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/helper.h"
#include "runtime/base/slurm.h"
#include "runtime/base/spawn.h"
#include "runtime/base/thread.h"

int companions_read(const char *option, struct companions_range *range, struct error *error)
{
    const char *text = option ? option : getenv("EPOP_ELASTIC");
    char more;
    *range = (struct companions_range){0};
    if (!text || !text[0])
        return 0;
    if (sscanf(text, "%d-%d%c", &range->min, &range->max, &more) == 2 && range->min >= 1 && range->max >= range->min)
        return 0;
    return error_set(error, ERROR_FAILED, "%s wants the fewest and the most nodes, as 1-4; not '%.40s'",
                     option ? "--elastic" : "EPOP_ELASTIC", text);
}

static void *wait_for_end(void *argument)
{
    waitpid((pid_t)(long)argument, NULL, 0);
    return NULL;
}

/* In a session of its own, so that what ends the job does not end it half-way. */
static void call(char *const *words)
{
    char helper[PATH_MAX];
    pid_t pid;
    char *argv[8] = {helper};
    for (int i = 0; words[i]; i++)
        argv[i + 1] = words[i];
    const struct spawn what = {
        .argv = argv, .in = SPAWN_NOTHING, .out = SPAWN_NOTHING, .err = STDERR_FILENO, .session = true};
    if (helper_find("companion", helper, sizeof helper) || spawn_program(&what, &pid) ||
        thread_start(NULL, wait_for_end, (void *)(long)pid))
        fprintf(stderr, "epop: note: lib/epop/companion cannot be started; the job goes on as it is\n");
}

void companions_begin(const struct companions_range *range, bool queue, const char *job, int ranks)
{
    const char *nodes = getenv("SLURM_JOB_NUM_NODES"), *more = getenv("EPOP_COMPANIONS");
    int own = nodes && atoi(nodes) > 0 ? atoi(nodes) : 1;
    char bounds[32], count[16], each[16];
    if (!range->max)
        return;
    if (!slurm_job()) {
        fprintf(stderr, "epop: note: there is nothing to be had by --elastic here: this job is not in Slurm\n");
        return;
    }
    snprintf(bounds, sizeof bounds, "%d-%d", range->min, range->max);
    call((char *[]){"range", (char *)job, bounds, NULL});
    if (!(queue || (more && more[0])) || range->max <= own)
        return;
    snprintf(count, sizeof count, "%d", range->max - own);
    snprintf(each, sizeof each, "%d", ranks > own ? ranks / own : 1);
    call((char *[]){"queue", (char *)job, count, each, NULL});
}

void companions_end(void)
{
    if (slurm_job())
        call((char *[]){"drop", NULL});
}
