/* Which clock ticks are read from, and how long a tick is. */
#include "runtime/base/ticks.h"

#include <stdio.h>
#include <string.h>

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

double ticks_seconds(void)
{
    if (!ticks_are_cycles)
        return 1e-9;
    double seconds;
    int64_t count;
    do {
        struct timespec now;
        look_at_both(&now, &count);
        seconds = (double)(now.tv_sec - first_time.tv_sec) + (double)(now.tv_nsec - first_time.tv_nsec) * 1e-9;
    } while (seconds < 1e-3); /* too little to compare */
    return seconds / (double)(count - first_ticks);
}
