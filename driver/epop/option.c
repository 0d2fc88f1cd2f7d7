/* What each kind of option takes, and what it is set to: see option.h. */
#include "driver/epop/option.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/duration.h"

static int set_count(const struct option_row *row, int *count, const char *value, struct error *error)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end == value || *end || errno || number < 1 || number > INT_MAX)
        return error_set(error, ERROR_FAILED, "--%s wants a number from 1 on, not '%s'", row->name, value);
    *count = (int)number;
    return 0;
}

static int set_ranks(const struct option_row *row, int *ranks, const char *value, struct error *error)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end == value || *end || errno || number < 1 || number > INT_MAX)
        return error_set(error, ERROR_FAILED, "--%s wants a number of ranks from 1 on, not '%s'", row->name, value);
    *ranks = (int)number;
    return 0;
}

static int set_seconds(const struct option_row *row, double *seconds, const char *value, struct error *error)
{
    if (duration_read(value, seconds))
        return error_set(error, ERROR_FAILED, "--%s wants a time, as 30, 30s, 10m or 1h, not '%s'", row->name, value);
    return 0;
}

static int set_choice(const struct option_row *row, bool *second, const char *value, struct error *error)
{
    *second = !strcmp(value, row->words[1]);
    if (*second || !strcmp(value, row->words[0]))
        return 0;
    return error_set(error, ERROR_FAILED, "--%s wants %s or %s, not '%s'", row->name, row->words[0], row->words[1],
                     value);
}

int option_set(const struct option_row *row, void *options, const char *value, struct error *error)
{
    void *target = (char *)options + row->target;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)target = true;
        return 0;
    case OPTION_RANKS:
        return set_ranks(row, target, value, error);
    case OPTION_COUNT:
        return set_count(row, target, value, error);
    case OPTION_SECONDS:
        return set_seconds(row, target, value, error);
    case OPTION_CHOICE:
        return set_choice(row, target, value, error);
    case OPTION_TEXT:
        *(const char **)target = value;
        return 0;
    case OPTION_ACTION:
        break;
    }
    return error_set(error, ERROR_FAILED, "--%s has no value", row->name);
}

bool option_is_set(const struct option_row *row, const void *options)
{
    const void *target = (const char *)options + row->target;
    switch (row->kind) {
    case OPTION_FLAG:
    case OPTION_CHOICE:
        return *(const bool *)target;
    case OPTION_RANKS:
    case OPTION_COUNT:
        return *(const int *)target != 0;
    case OPTION_SECONDS:
        return *(const double *)target > 0;
    case OPTION_TEXT:
        return *(const char *const *)target;
    case OPTION_ACTION:
        break;
    }
    return false;
}
