/* What a user may set of the policy `ers`. */
#ifndef SCHEDULER_POLICIES_ERS_OPTIONS_H
#define SCHEDULER_POLICIES_ERS_OPTIONS_H

#include <epop/policy.h>
#include <stdbool.h>

struct ers_settings {
    double upper, lower; /* thresholds of MTCT */
    double period;       /* seconds between two evaluations */
    double values;       /* iterations before a sample counts */
    double worth;        /* times the adaptation time that must be left, or won */
    bool balance, fill, moldable;
};

extern const epop_policy_option_t ers_options[];

/* The defaults. NULL: no memory. */
struct ers_settings *ers_settings_new(void);

/* -1: the value makes no sense. */
int ers_settings_set(struct ers_settings *settings, const char *name, const char *value);

#endif
