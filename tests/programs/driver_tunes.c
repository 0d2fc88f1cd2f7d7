/*
 * A driver of one's own that tunes: it lists the program's tunables, sets the first to 16 before the iteration 5, and
 * tries to set it to what it does not allow. On each rank.
 */
#include <stdio.h>

#include <epop/driver.h>
#include <epop/tune.h>

static void tune(void *state, const epop_position_t *position)
{
    const epop_tunable_t *tunable = epop_tunable_at(0);
    (void)state;
    if (position->iteration != 5 || !tunable)
        return;
    int allowed = epop_tunable_set(0, 16), refused = epop_tunable_set(0, 4711);
    printf("%s from %d to %d: %d, and %d; now %d; %s\n", tunable->name, tunable->from, tunable->to, allowed, refused,
           *tunable->value, epop_tunable_at(1) ? "there are more" : "it is the only one");
}

const epop_driver_t *epop_get_driver(void)
{
    static const epop_driver_t driver = {
        .abi_version = EPOP_DRIVER_ABI_VERSION, .struct_size = sizeof driver, .name = "tunes", .iteration_begin = tune};
    return &driver;
}
