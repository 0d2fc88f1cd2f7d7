/* The clocks of this process, and reading lengths of time. */
#include "runtime/base/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

int64_t monotonic_ns(void)
{
    return nanoseconds(CLOCK_MONOTONIC);
}

double monotonic_seconds(void)
{
    return (double)monotonic_ns() * 1e-9;
}

double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct timespec clock_in(clockid_t clock, double seconds)
{
    const double longest = 1e9; /* 30 years: beyond that the sum would not fit */
    double wait = seconds < 0 ? 0 : seconds < longest ? seconds : longest;
    int64_t at = nanoseconds(clock) + (int64_t)(wait * SECOND);
    return (struct timespec){.tv_sec = at / SECOND, .tv_nsec = at % SECOND};
}

/* ---- As people write them ----------------------------------------------------------------------- */

double decimal_read(const char *text, char **end)
{
    const char *number = text + (*text == '-' || *text == '+');
    bool hexadecimal = number[0] == '0' && (number[1] == 'x' || number[1] == 'X');
    if (strspn(number, "0123456789.") && !hexadecimal)
        return strtod(text, end);
    *end = (char *)text;
    return 0;
}

int duration_read(const char *text, double *seconds)
{
    static const struct {
        const char *word;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    double number = decimal_read(text, &end);
    if (end == text || !isfinite(number) || number < 0)
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].word)) {
            *seconds = number * units[i].seconds;
            return 0;
        }
    return -1;
}
