/* Which clock, and how long its ticks are: see ticks.h. */
#include "driver/ticks.h"

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

static double seconds_since(const struct timespec *first)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - first->tv_sec) + (double)(now.tv_nsec - first->tv_nsec) * 1e-9;
}

void ticks_start(void)
{
#if defined __x86_64__
    ticks_are_cycles = kernel_counts_cycles();
#endif
    clock_gettime(CLOCK_MONOTONIC, &first_time);
    first_ticks = ticks();
}

double ticks_seconds(void)
{
    if (!ticks_are_cycles)
        return 1e-9;
    while (seconds_since(&first_time) < 1e-3)
        ; /* too little to compare */
    return seconds_since(&first_time) / (double)(ticks() - first_ticks);
}
