/* Node numbers as text: see node_text.h. */
#include "scheduler/simulated/node_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/array.h"

enum { NUMBER_MAX = 1 << 24 }; /* no machine has more nodes */

char *node_text(const int *nodes, int count)
{
    char *text = malloc((size_t)count * 12 + 1), *end = text;
    if (!text)
        return NULL;
    *end = 0;
    for (int i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && nodes[last + 1] == nodes[last] + 1;)
            last++;
        end += sprintf(end, last > i ? "%s%d-%d" : "%s%d", i ? "," : "", nodes[i], nodes[last]);
    }
    return text;
}

static int read_number(const char **text, long *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return -1;
    *number = strtol(*text, &end, 10);
    *text = end;
    return *number < NUMBER_MAX ? 0 : -1;
}

/* One number, or two with a hyphen. */
static int read_range(const char **text, long *first, long *last)
{
    if (read_number(text, first))
        return -1;
    *last = *first;
    if (**text != '-')
        return 0;
    ++*text;
    return read_number(text, last) || *last < *first ? -1 : 0;
}

static int append(int **nodes, size_t *room, int *count, long first, long last)
{
    if (array_reserve(nodes, room, (size_t)(*count + last - first + 1), sizeof **nodes))
        return -2;
    while (first <= last)
        (*nodes)[(*count)++] = (int)first++;
    return 0;
}

int node_numbers(const char *text, int **nodes)
{
    size_t room = 0;
    int count = 0, failed = 0;
    long first, last = -1;
    *nodes = NULL;
    while (*text && !failed) {
        long before = last;
        failed = read_range(&text, &first, &last) || first <= before ? -1 : append(nodes, &room, &count, first, last);
        if (!failed && *text)
            failed = *text++ == ',' && *text ? 0 : -1;
    }
    if (!failed)
        return count;
    free(*nodes);
    *nodes = NULL;
    return failed;
}
