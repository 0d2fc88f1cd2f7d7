/* Lists of nodes: see hostlist.h. */
#include "scheduler/slurm/hostlist.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

enum { NAMES_MAX = 65536, NAME_MAX_LENGTH = 256 };

struct building {
    struct hostlist *list;
    size_t room;
    const char *wrong;
};

static void add(struct building *building, const char *name)
{
    struct hostlist *list = building->list;
    size_t count = (size_t)list->count;
    if (list->count == NAMES_MAX)
        building->wrong = "names too many nodes";
    else if (array_reserve(&list->names, &building->room, count + 1, sizeof *list->names) ||
             !(list->names[count] = strdup(name)))
        building->wrong = "is too long for the memory";
    else
        list->count++;
}

static void expand(struct building *building, const char *before, const char *text, const char *end);

/* One number of brackets, as wide as it is written, and what follows them. */
static void add_number(struct building *building, const char *before, long number, int width, const char *after,
                       const char *end)
{
    char name[NAME_MAX_LENGTH];
    int length = snprintf(name, sizeof name, "%s%0*ld", before, width, number);
    if (length >= (int)sizeof name)
        building->wrong = "has a name that is too long";
    else
        expand(building, name, after, end);
}

/* "1-3" or "07"; what comes behind it, or NULL. */
static const char *add_range(struct building *building, const char *before, const char *range, const char *after,
                             const char *end)
{
    char *stop;
    long first = isdigit((unsigned char)*range) ? strtol(range, &stop, 10) : -1, last = first;
    if (first < 0)
        return NULL;
    int width = (int)(stop - range);
    if (*stop == '-' && isdigit((unsigned char)stop[1]))
        last = strtol(stop + 1, &stop, 10);
    if (last < first || last - first >= NAMES_MAX)
        return NULL;
    for (long number = first; number <= last && !building->wrong; number++)
        add_number(building, before, number, width, after, end);
    return stop;
}

static void add_brackets(struct building *building, const char *before, const char *open, const char *end)
{
    const char *close = memchr(open, ']', (size_t)(end - open)), *at = open;
    while (at && close && !building->wrong && *at != ']') {
        at = add_range(building, before, at + 1, close + 1, end);
        if (at && *at != ',' && *at != ']')
            at = NULL;
    }
    if (!at || !close)
        building->wrong = "is no list of nodes";
}

/* What is between `text` and `end` stands behind `before`. */
static void expand(struct building *building, const char *before, const char *text, const char *end)
{
    char name[NAME_MAX_LENGTH];
    const char *open = memchr(text, '[', (size_t)(end - text));
    int length = snprintf(name, sizeof name, "%s%.*s", before, (int)((open ? open : end) - text), text);
    if (length >= (int)sizeof name)
        building->wrong = "has a name that is too long";
    else if (open)
        add_brackets(building, name, open, end);
    else if (*name)
        add(building, name);
}

/* The comma behind the first name, outside of brackets, or the end. */
static const char *name_end(const char *text)
{
    int depth = 0;
    for (; *text && (depth || *text != ','); text++)
        depth += (*text == '[') - (*text == ']');
    return text;
}

int hostlist_expand(const char *text, struct hostlist *list, struct error *error)
{
    struct building building = {.list = list};
    *list = (struct hostlist){0};
    for (const char *at = text, *end; *at && !building.wrong; at = *end ? end + 1 : end) {
        end = name_end(at);
        expand(&building, "", at, end);
    }
    if (!building.wrong)
        return 0;
    hostlist_free(list);
    return error_set(error, ERROR_FAILED, "'%.200s' %s", text, building.wrong);
}

void hostlist_free(struct hostlist *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct hostlist){0};
}
