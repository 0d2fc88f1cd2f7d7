/* A text is gone through from range to range; none is ever kept as a list. */
#include "report/ranges.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

static const char *number_at(const char *text, int *number)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || errno || value > INT_MAX)
        return NULL;
    *number = (int)value;
    return end;
}

const char *ranges_next(const char *text, int *first, int *last)
{
    text = number_at(text + (*text == ','), first);
    *last = *first;
    if (text && *text == '-')
        text = number_at(text + 1, last);
    return text && (!*text || *text == ',') && *first <= *last ? text : NULL;
}

bool ranges_count(const char *text, int limit, int *nodes, int *ranges)
{
    int first = 0, last = -1;
    *nodes = *ranges = 0;
    if (*text == ',')
        return false;
    while (*text) {
        int before = last;
        text = ranges_next(text, &first, &last);
        if (!text || first <= before || last >= limit)
            return false;
        *nodes += last - first + 1;
        ++*ranges;
    }
    return *nodes > 0;
}
