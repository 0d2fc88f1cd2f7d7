/* The options of the policy `ers`: one table for the help, and one for the numbers. */
#include "scheduler/policies/ers_options.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const epop_policy_option_t ers_options[] = {
    {"upper", "0.1", "MTCT, or its trend, above which a job gives back half of its nodes"},
    {"lower", "0.01", "MTCT and trend below which a job may have up to twice its nodes"},
    {"period", "60", "seconds from one evaluation to the next; jobs are resized only then"},
    {"values", "3", "iterations at its present size before what was measured of a job counts"},
    {"worth", "10", "times the seconds of an adaptation that a job must have left, or a wait be shortened by"},
    {"balance", "yes", "running jobs are brought to a common end when an earlier job waits: yes, no"},
    {"fill", "yes", "idle nodes go to running jobs that stay efficient: yes, no"},
    {"start", "moldable", "a job that does not fit starts on fewer nodes (moldable), or waits (rigid)"},
    {NULL, NULL, NULL},
};

static int set_number(double *number, const char *value, bool zero)
{
    char *end;
    double read = strtod(value, &end);
    if (end == value || *end || value[strspn(value, "0123456789.eE+-")] || !isfinite(read) || read < 0 ||
        (read == 0 && !zero))
        return -1;
    *number = read;
    return 0;
}

static int set_word(bool *truth, const char *value, const char *yes, const char *no)
{
    if (strcmp(value, yes) && strcmp(value, no))
        return -1;
    *truth = !strcmp(value, yes);
    return 0;
}

int ers_settings_set(struct ers_settings *settings, const char *name, const char *value)
{
    if (!strcmp(name, "upper"))
        return set_number(&settings->upper, value, false);
    if (!strcmp(name, "lower"))
        return set_number(&settings->lower, value, true);
    if (!strcmp(name, "period"))
        return set_number(&settings->period, value, false);
    if (!strcmp(name, "values"))
        return set_number(&settings->values, value, true);
    if (!strcmp(name, "worth"))
        return set_number(&settings->worth, value, true);
    if (!strcmp(name, "balance"))
        return set_word(&settings->balance, value, "yes", "no");
    if (!strcmp(name, "fill"))
        return set_word(&settings->fill, value, "yes", "no");
    return strcmp(name, "start") ? -1 : set_word(&settings->moldable, value, "moldable", "rigid");
}

struct ers_settings *ers_settings_new(void)
{
    struct ers_settings *settings = calloc(1, sizeof *settings);
    for (const epop_policy_option_t *option = ers_options; settings && option->name; option++)
        ers_settings_set(settings, option->name, option->value);
    return settings;
}
