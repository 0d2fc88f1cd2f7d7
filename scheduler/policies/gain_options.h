/* The options of the policy `gain`, and their defaults. */
#ifndef SCHEDULER_POLICIES_GAIN_OPTIONS_H
#define SCHEDULER_POLICIES_GAIN_OPTIONS_H

#include <epop/policy.h>

struct gain_options {
    double factor;     /* what a growth saves has to be this many times what it costs */
    double margin;     /* and what a start saves by others' shrinking, this many times what they lose */
    double stay;       /* seconds that a job is left at a size, at least */
    double stay_costs; /* and this many times what a resize costs it */
    double slack;      /* of the wait that is promised to the first job of the queue, for what may delay it */
    double ahead;      /* seconds before a phase in which nodes are given back for it */
    double efficiency; /* taken at `wanted` nodes where nothing was measured */
    double marginal;   /* speedup that each further node has to bring */
    double fairness;   /* 0: users are not looked at; 1: who holds twice the share counts half */
};

extern const epop_policy_option_t gain_option_list[];

int gain_options_open(void **settings);
void gain_options_close(void *settings);

/* Policies' `option`. */
int gain_options_set(void *settings, const char *name, const char *value);

#endif
