/*
 * A thread takes less by resting in between. It has the priority of the program's threads: with less, it would hardly
 * run at all beside ranks that spin.
 *
 * Does somebody else want the core? Then to give it up takes long, or the kernel has taken it away: one look after each
 * slice of work tells.
 */
#include "runtime/ahead/pace.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"

#define SLICE       1000000 /* ns of work from look to look */
#define WANTED      50000   /* ns: longer than it takes to come back at once */
#define TENTH       10      /* work and rest together, in times of the work */
#define MOST_WORKED 4000000 /* ns that are made up for, of what was done while nobody wanted the core */

static int64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static long thread_preemptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

/* A short slice (from Linux 6.12 on) has it run soon when something has come, and not when the others are through with
 * their own. */
static void ask_for_short_slices(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = sizeof attributes, .runtime = 100000};
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/* More threads than cores have a tenth of these together, as the program's ranks meet: each waits for all that is taken
 * from any of them. */
double pace_share(int threads, int cores)
{
    double crowd = cores > 0 && threads > cores ? (double)threads / cores : 1;
    return TENTH * crowd - 1;
}

double pace_in_time(double rest, int64_t worked, double done, int64_t left)
{
    double due = (double)worked * (1 - done); /* of work, in parts of `done` */
    if (done <= 0 || due <= 0)
        return rest;
    double most = (double)left * done / due - 1;
    return most >= rest ? rest : most > 0 ? most : 0;
}

void pace_begin(struct pace *pace, double rest, int64_t until)
{
    ask_for_short_slices();
    int64_t now = thread_ns();
    *pace = (struct pace){
        .rest = rest, .until = until, .began = now, .looked_at = now, .preemptions = thread_preemptions()};
}

int64_t pace_rest(struct pace *pace, double done)
{
    int64_t now = thread_ns();
    if (now - pace->looked_at < SLICE)
        return 0;
    int64_t begin = monotonic_ns(), worked = pace->worked + now - pace->looked_at;
    sched_yield();
    int64_t end = monotonic_ns(), rest = 0;
    long taken = thread_preemptions();
    if (end - begin > WANTED || taken != pace->preemptions) {
        double times = pace_in_time(pace->rest, now - pace->began, done, pace->until - end);
        rest = (int64_t)(times * (double)worked) - (end - begin);
        worked = 0;
    }
    pace->preemptions = taken;
    pace->looked_at = now;
    pace->worked = worked < MOST_WORKED ? worked : MOST_WORKED;
    return rest > 0 ? rest : 0;
}
