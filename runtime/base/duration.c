/* Lengths of time: see duration.h. */
#include "runtime/base/duration.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int duration_read(const char *text, double *seconds)
{
    static const struct {
        const char *word;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
    char *end;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number) || number < 0)
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].word)) {
            *seconds = number * units[i].seconds;
            return 0;
        }
    return -1;
}
