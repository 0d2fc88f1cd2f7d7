/* Which clock ticks are read from, and how long a tick is. */
#include "runtime/base/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECOND 1000000000

bool ticks_are_cycles;
static int64_t first_ticks;
static struct timespec first_time;

static bool kernel_counts_cycles(void)
{
    char source[32] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (!file)
        return false;
    bool known = fgets(source, sizeof source, file) && !strcmp(source, "tsc\n");
    fclose(file);
    return known;
}

/* Both clocks at one moment: of some attempts the quickest, as the thread may be interrupted between the two. */
static void look_at_both(struct timespec *time, int64_t *count)
{
    int64_t least = INT64_MAX;
    for (int attempt = 0; attempt < 5; attempt++) {
        struct timespec now;
        int64_t before = ticks();
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t took = ticks() - before;
        if (took >= least)
            continue;
        least = took;
        *time = now;
        *count = before + took / 2;
    }
}

void ticks_start(void)
{
    if (first_ticks)
        return; /* other threads may read already */
#if defined __x86_64__
    ticks_are_cycles = kernel_counts_cycles();
#endif
    look_at_both(&first_time, &first_ticks);
}

static int64_t ns_since_start(const struct timespec *now)
{
    return (int64_t)(now->tv_sec - first_time.tv_sec) * SECOND + now->tv_nsec - first_time.tv_nsec;
}

double ticks_seconds(void)
{
    if (!ticks_are_cycles)
        return 1e-9;
    int64_t ns, count;
    do {
        struct timespec now;
        look_at_both(&now, &count);
        ns = ns_since_start(&now);
    } while (ns < SECOND / 1000); /* too little to compare */
    return (double)ns * 1e-9 / (double)(count - first_ticks);
}

/* ---- A clock by ticks --------------------------------------------------------------------------------------- */

/* Where more may have been told than the true clock has, it goes on from there, slower, so that they meet at the next
 * look. */
int64_t tick_clock_look(struct tick_clock *clock)
{
    struct timespec now;
    int64_t count;
    look_at_both(&now, &count);
    int64_t age = count - first_ticks, ns = (int64_t)now.tv_sec * SECOND + now.tv_nsec;
    uint64_t since = (uint64_t)(count - clock->ticks);
    int64_t told = tick_clock_later(clock, since < clock->until ? since : clock->until);
    double tick = age > 0 ? (double)ns_since_start(&now) / (double)age : 0, ahead = (double)(told - ns);
    double span = fmin((double)age * tick / 16, SECOND / 1000.0);
    clock->ticks = count;
    clock->ns = ahead > 0 ? told : ns;
    clock->until = tick > 0 ? (uint64_t)(span / tick) : 0;
    clock->rate = (uint64_t)(tick * (ahead <= 0 ? 1 : fmax(1 - ahead / span, 0)) * 4294967296.0);
    return clock->ns;
}
