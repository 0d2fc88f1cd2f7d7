/* Numbers and lengths of time: see duration.h. */
#include "runtime/base/duration.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
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
