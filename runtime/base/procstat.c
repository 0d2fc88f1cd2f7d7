/* What /proc/PID/stat says of a process: see procstat.h. */
#include "runtime/base/procstat.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the fields, counted from 1 as in proc(5). */
enum { STATE = 3, START = 22 };

/* Where the field stands, counted behind the name, which may hold anything; NULL: there are not so many. */
static const char *field(const char *name_end, int number)
{
    const char *at = name_end;
    for (int i = STATE - 1; at && i < number; i++)
        if ((at = strchr(at, ' ')))
            at++;
    return at;
}

static size_t read_text(long pid, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    return length;
}

int procstat_read(long pid, struct procstat *stat)
{
    char text[1024];
    read_text(pid, text, sizeof text);
    char *name = strchr(text, '('), *name_end = strrchr(text, ')'), *last = strrchr(text, ' ');
    if (!name || !name_end || !last || sscanf(name_end, ") %c %ld", &stat->state, &stat->parent) != 2)
        return -1;
    const char *start = field(name_end, START);
    stat->start = start ? strtoull(start, NULL, 10) : 0;
    stat->status = atoi(last);
    *name_end = 0;
    snprintf(stat->name, sizeof stat->name, "%.60s", name + 1);
    return 0;
}

long procstat_child(long parent, bool (*is)(void *context, long pid, const struct procstat *stat), void *context)
{
    char path[64];
    long child, found = 0;
    struct procstat stat;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", parent, parent);
    FILE *file = fopen(path, "re");
    while (file && !found && fscanf(file, "%ld", &child) == 1)
        if (!procstat_read(child, &stat) && is(context, child, &stat))
            found = child;
    if (file)
        fclose(file);
    return found;
}
