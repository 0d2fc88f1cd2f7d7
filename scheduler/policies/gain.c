/*
 * The policy `gain`: a node goes where it brings most. Jobs that wait come first, and running ones make room for them
 * where that costs less than it saves; idle nodes make running jobs larger where that pays for the resize.
 */
#include "scheduler/policies/gain_grow.h"
#include "scheduler/policies/gain_options.h"
#include "scheduler/policies/gain_queue.h"
#include "scheduler/policies/gain_round.h"
#include "scheduler/policies/gain_wishes.h"
#include "scheduler/policies/policies.h"

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    struct gain_round round;
    if (gain_round_begin(&round, settings, state, plan))
        return;
    gain_wishes_power(&round);
    gain_wishes_phases(&round);
    gain_wishes_asked(&round);
    gain_queue_serve(&round);
    gain_grow(&round);
    gain_round_write(&round);
    gain_round_end(&round);
}

const epop_policy_t policy_gain = {
    .abi_version = EPOP_POLICY_ABI_VERSION,
    .struct_size = sizeof policy_gain,
    .name = "gain",
    .summary = "a node goes where it brings most: first to jobs that wait, then to running ones",
    .options = gain_option_list,
    .open = gain_options_open,
    .option = gain_options_set,
    .decide = decide,
    .close = gain_options_close,
};
