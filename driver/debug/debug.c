/* The debug driver: checks that a program keeps to the contract, and stops it where the user asks. */
#include <stdio.h>
#include <string.h>

#include "driver/common/builtin.h"
#include "driver/debug/debug.h"
#include "driver/debug/handles.h"
#include "driver/debug/observe.h"
#include "epop/elastic.h"
#include "runtime/job/job.h"

static struct debug debug;

static int debug_open(void **state)
{
    debug = (struct debug){.place.block = EPOP_BLOCK_INIT};
    *state = &debug;
    return 0;
}

static int debug_option(void *state, const char *name, const char *value)
{
    struct debug *d = state;
    if (!strcmp(name, "warn")) {
        d->rolls.warns = true;
        return 0;
    }
    if (d->rolls.count == ROLLCALL_BREAKS_MAX) {
        error_set(&d->error, ERROR_FAILED, "at most %d can be given", ROLLCALL_BREAKS_MAX);
        return EPOP_ERR_ARGUMENT;
    }
    d->specs[d->rolls.count++] = value;
    return 0;
}

static const char *debug_explain(void *state)
{
    const struct debug *d = state;
    return d->error.text[0] ? d->error.text : NULL;
}

static int debug_loaded(void *state, const epop_program_t *program, int process)
{
    struct debug *d = state;
    (void)process;
    for (int i = 0; i < d->rolls.count; i++)
        if (epop__breakpoint_parse(program, d->specs[i], &d->rolls.breaks[i], &d->error))
            return EPOP_ERR_ARGUMENT;
    epop__job_call_rolls(&d->rolls);
    observe_start(d);
    redist_start(d);
    described_start(d);
    return 0;
}

static void debug_element_enter(void *state, const epop_position_t *position)
{
    struct debug *d = state;
    if (position->pc == 0)
        d->joining = epop_status() == EPOP_JOINING;
    else
        rolls_enter(d, position);
    described_begin(position);
}

static void debug_element_leave(void *state, const epop_position_t *position)
{
    described_look(state, position);
}

static void debug_hold_begin(void *state, const epop_position_t *position)
{
    described_look(state, position);
}

static void debug_block_enter(void *state, const epop_position_t *position, epop_block_t block, void *data)
{
    struct debug *d = state;
    debug_enters(d, position, block);
    d->data = data;
    if (block == EPOP_BLOCK_INIT)
        observe_reset();
    program_before(d);
}

static void debug_block_leave(void *state, const epop_position_t *position, epop_block_t block, void *data)
{
    struct debug *d = state;
    (void)position, (void)block;
    program_after(d, data);
    handles_check_growth(d);
}

static void debug_decided(void *state, const epop_position_t *position, int answer)
{
    rolls_decided(state, position, answer);
}

static void debug_adaptation_end(void *state, const epop_position_t *position)
{
    struct debug *d = state;
    d->joining = false;
    if (epop_status() == EPOP_LEAVING)
        handles_check_leaving(d);
    else
        described_begin(position);
}

static void debug_iteration_begin(void *state, const epop_position_t *position)
{
    rolls_begin(state, position);
}

static void debug_finished(void *state, const epop_position_t *position)
{
    rolls_finished(state, position);
    handles_check_end();
}

static void debug_close(void *state)
{
    (void)state;
    observe_stop();
    redist_stop();
    described_stop();
}

static const epop_driver_option_t options[] = {
    {"break", "PHASE[:ITERATION][@RANK]", "stop there for a debugger; may be given several times"},
    {"warn", NULL, "tell of a breach of the contract, and go on"},
    {NULL, NULL, NULL},
};

const epop_driver_t driver_debug = {
    .abi_version = EPOP_DRIVER_ABI_VERSION,
    .struct_size = sizeof(epop_driver_t),
    .name = "debug",
    .summary = "checks the contract between program and EPOP; stops for a debugger",
    .options = options,
    .open = debug_open,
    .option = debug_option,
    .loaded = debug_loaded,
    .element_enter = debug_element_enter,
    .element_leave = debug_element_leave,
    .iteration_begin = debug_iteration_begin,
    .adaptation_end = debug_adaptation_end,
    .finished = debug_finished,
    .close = debug_close,
    .hold_begin = debug_hold_begin,
    .block_enter = debug_block_enter,
    .block_leave = debug_block_leave,
    .decided = debug_decided,
    .explain = debug_explain,
};
