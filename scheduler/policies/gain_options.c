/* Options of `gain`: numbers within limits, by a table. */
#include "scheduler/policies/gain_options.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const epop_policy_option_t gain_option_list[] = {
    {"factor", "2", "a job grows when that saves this many times what it costs"},
    {"margin", "1.1", "others shrink for a start when that saves this many times what they lose"},
    {"stay", "10", "seconds that a job is left at a size, at least"},
    {"stay-costs", "5", "and this many times what a resize costs it"},
    {"slack", "0.1", "share of the promised wait by which shrinking jobs may delay the first of the queue"},
    {"ahead", "5", "seconds before a phase in which nodes are given back for it"},
    {"efficiency", "0.7", "taken at the nodes that were asked for, where nothing was measured"},
    {"marginal", "0.05", "speedup that each further node of a growth has to bring"},
    {"fairness", "0.25", "how much the nodes that a user holds count against its jobs, from 0 to 1"},
    {NULL, NULL, NULL},
};

/* As the list: where each stands, and its limits. */
static const struct {
    size_t at;
    double min, max;
} slots[] = {
    {offsetof(struct gain_options, factor), 1, 1e6},      {offsetof(struct gain_options, margin), 1, 1e6},
    {offsetof(struct gain_options, stay), 1, 1e9},        {offsetof(struct gain_options, stay_costs), 0, 1e6},
    {offsetof(struct gain_options, slack), 0, 10},        {offsetof(struct gain_options, ahead), 0, 1e9},
    {offsetof(struct gain_options, efficiency), 0.01, 1}, {offsetof(struct gain_options, marginal), 0, 1},
    {offsetof(struct gain_options, fairness), 0, 1},
};

int gain_options_set(void *settings, const char *name, const char *value)
{
    for (size_t i = 0; gain_option_list[i].name; i++) {
        if (strcmp(gain_option_list[i].name, name))
            continue;
        char *end;
        double number = strtod(value, &end);
        if (end == value || *end || value[strspn(value, "0123456789.eE+-")] || !isfinite(number) ||
            number < slots[i].min || number > slots[i].max)
            return -1;
        *(double *)((char *)settings + slots[i].at) = number;
        return 0;
    }
    return -1;
}

int gain_options_open(void **settings)
{
    struct gain_options *options = calloc(1, sizeof *options);
    if (!options)
        return -1;
    for (size_t i = 0; gain_option_list[i].name; i++)
        gain_options_set(options, gain_option_list[i].name, gain_option_list[i].value);
    *settings = options;
    return 0;
}

void gain_options_close(void *settings)
{
    free(settings);
}
