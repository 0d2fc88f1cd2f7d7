/* A policy with its options set: found by its name, loaded from a shared object, or a program that is started. */
#ifndef SCHEDULER_CORE_POLICY_H
#define SCHEDULER_CORE_POLICY_H

#include <epop/policy.h>
#include <stdbool.h>

#include "runtime/base/error.h"

struct policy {
    epop_policy_t table;
    void *settings;
    void *handle;        /* of the shared object; NULL: it is none */
    struct piped *piped; /* of the program; NULL: it is none */
    const char *spec;    /* as it was given; owned */
};

/* As messages call it: as it was given. */
const char *policy_called(const struct policy *policy);

/*
 * spec: NAME, PATH.so, or the path of a program (scheduler/core/piped.h), and options as in "ers,upper=0.2,balance=no".
 * `builtin` ends with NULL. 0, or -1 with a line that names the policy and what is wrong: not found, another ABI
 * version (says both), no decide, unknown option, value.
 */
int policy_open(struct policy *policy, const char *spec, const epop_policy_t *const *builtin, struct error *error);
void policy_close(struct policy *policy);

/* Does it want to see what EASY backfilling would do? */
bool policy_follows_easy(const struct policy *policy);

/* Fills the plan. */
void policy_decide(const struct policy *policy, const epop_policy_state_t *state, epop_plan_t *plan);

/* ---- Guarding the host -------------------------------------------------------------------------- */

/*
 * A policy that crashes, exits or never returns ends its host with a line that names the policy, and status 1, rather
 * than silently or not at all: if the host asks for that.
 */

/* What a policy may take for a decision if nobody says otherwise: seconds of processor time, and by the clock, as it
 * may wait for something that never comes. */
#define POLICY_GUARD_BUSY  10
#define POLICY_GUARD_ALONE 60

/* On the thread that calls policies. Signals outside of a policy act as before. */
void policy_guard_install(double busy, double alone);

#endif
