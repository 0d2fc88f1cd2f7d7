/* Speeds of nodes, read from an option. */
#include "scheduler/core/speeds.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/batch.h"
#include "runtime/base/clock.h"

static const double slowest = 0.001, fastest = 1000;

/* By its number, as in n7; -1: there is none. */
static int number_of(const char *name, int count)
{
    char *end;
    if (name[0] != 'n' || strspn(name + 1, "0123456789") != strlen(name + 1) || strlen(name) > 9)
        return -1;
    long number = strtol(name + 1, &end, 10);
    return end > name + 1 && number < count ? (int)number : -1;
}

/* Of all that have this name, which are mostly behind `before`. Returns the last of them; -1: there is none. */
static int set_named(double *speeds, double speed, const char *name, const char *const *names, int count, int before)
{
    int last = -1;
    for (int i = 1; i <= count; i++) {
        int number = (before + i) % count;
        bool same = !strcmp(names[number], name);
        if (!same && last >= 0)
            return last;
        if (same)
            speeds[last = number] = speed;
    }
    return last;
}

static int set_numbered(double *speeds, double speed, const char *name, int count)
{
    int number = number_of(name, count);
    if (number >= 0)
        speeds[number] = speed;
    return number;
}

static int set_speeds(double *speeds, double speed, const struct nodelist *list, const char *const *names, int count,
                      struct error *error)
{
    int number = count - 1;
    for (size_t i = 0; i < list->count; i++) {
        number = names ? set_named(speeds, speed, list->names[i], names, count, number)
                       : set_numbered(speeds, speed, list->names[i], count);
        if (number < 0)
            return error_set(error, ERROR_REFUSED, "--speeds: there is no node %.60s", list->names[i]);
    }
    return 0;
}

/* One NODE=SPEED. */
static int take_entry(double *speeds, char *entry, const char *const *names, int count, struct error *error)
{
    struct nodelist list = {0};
    char *equals = strchr(entry, '='), *end = entry;
    double speed = equals ? decimal_read(equals + 1, &end) : 0;
    bool right = equals && end != equals + 1 && !*end && speed >= slowest && speed <= fastest;
    if (right)
        *equals = '\0';
    if (!right || nodelist_add(&list, entry)) {
        nodelist_free(&list);
        return error_set(error, ERROR_REFUSED,
                         "--speeds: \"%.60s\" is not NODE=SPEED, as n3=0.5 or n[4-6]=2, from %g to %g", entry, slowest,
                         fastest);
    }
    int failed = set_speeds(speeds, speed, &list, names, count, error);
    nodelist_free(&list);
    return failed;
}

/* The comma behind it that is in no brackets becomes its end. NULL: there is nothing more. */
static char *next_entry(char **rest)
{
    char *entry = *rest;
    int depth = 0;
    size_t length = 0;
    if (!entry)
        return NULL;
    for (; entry[length] && (depth || entry[length] != ','); length++)
        depth += (entry[length] == '[') - (entry[length] == ']');
    *rest = entry[length] ? entry + length + 1 : NULL;
    entry[length] = '\0';
    return entry;
}

int speeds_read(double **speeds, const char *text, const char *const *names, int count, struct error *error)
{
    char *copy = strdup(text), *rest = copy, *entry;
    int failed = 0;
    *speeds = calloc((size_t)count, sizeof **speeds);
    if (!copy || !*speeds)
        failed = error_memory(error);
    for (int i = 0; *speeds && i < count; i++)
        (*speeds)[i] = 1;
    while (!failed && (entry = next_entry(&rest)))
        failed = take_entry(*speeds, entry, names, count, error);
    free(copy);
    if (!failed)
        return 0;
    free(*speeds);
    *speeds = NULL;
    return -1;
}
