/* The debug driver: checks that a program keeps to the contract, and stops it where the user asks. */
#include <string.h>

#include "driver/common/builtin.h"
#include "driver/debug/contract.h"
#include "driver/debug/handles.h"
#include "driver/debug/memory.h"
#include "driver/debug/observe.h"
#include "epop/elastic.h"
#include "runtime/base/hash.h"
#include "runtime/describe/audit.h"
#include "runtime/job/job.h"
#include "runtime/redist/audit.h"

static struct debug debug;

/* ---- What no block may change ------------------------------------------------------------------- */

/*
 * The array of elements, and the data pointer. Only INIT sets that, by the address that it is given; a program that
 * keeps the address could do so later, but the ranks that join, and those that look at the data between blocks, would
 * not know.
 */

/* Over the elements, and how many they are. */
static uint64_t hash_of_elements(const epop_program_t *program)
{
    return hash_bytes(HASH_BEGIN ^ (uint64_t)program->size, program->elements,
                      (size_t)program->size * sizeof *program->elements);
}

static void note_elements(struct debug *d)
{
    if (d->place.block == EPOP_BLOCK_INIT)
        d->structure = hash_of_elements(d->place.position.program);
}

static void check_program(struct debug *d, void *data)
{
    if (d->place.block != EPOP_BLOCK_INIT && data != d->data)
        contract_breach(&d->place.position, "%s replaced the data pointer (%p instead of %p); only INIT may set it",
                        contract_block_text(d->place.block), data, d->data);
    if (hash_of_elements(d->place.position.program) != d->structure) {
        contract_breach(&d->place.position, "%s changed the program's array of elements",
                        contract_block_text(d->place.block));
        d->structure = hash_of_elements(d->place.position.program);
    }
}

/* ---- What moves in a window: the same calls on every rank, and nothing lost on the way ---------- */

static void claim_redistribution(const char *words)
{
    contract_claim_in_window(&debug, words);
}

static void say_breach(const char *text)
{
    contract_breach(&debug.place.position, "%s", text);
}

static const struct redist_watch redist_hooks = {.called = claim_redistribution, .wrong = say_breach};

/* ---- Described data: all of it arrives, and what is constant stays as it is --------------------- */

/* A phase begins to iterate in this world. */
static void note_described(const epop_position_t *position)
{
    if (position->program->elements[position->pc].type == EPOP_EP)
        epop__describe_note();
}

/* It stands still, or ends. */
static void check_described(struct debug *d, const epop_position_t *position)
{
    if (d->joining || position->program->elements[position->pc].type != EPOP_EP)
        return;
    contract_moves(d, position);
    epop__describe_compare();
}

/* ---- Hooks -------------------------------------------------------------------------------------- */

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
    epop__watch_redist(&redist_hooks);
    epop__watch_described(say_breach);
    return 0;
}

static void debug_element_enter(void *state, const epop_position_t *position)
{
    struct debug *d = state;
    if (position->pc == 0)
        d->joining = epop_status() == EPOP_JOINING;
    else
        contract_claim_element(d, position);
    note_described(position);
}

static void debug_element_leave(void *state, const epop_position_t *position)
{
    check_described(state, position);
}

static void debug_hold_begin(void *state, const epop_position_t *position)
{
    check_described(state, position);
}

static void debug_block_enter(void *state, const epop_position_t *position, epop_block_t block, void *data)
{
    struct debug *d = state;
    contract_enters(d, position, block);
    d->data = data;
    if (block == EPOP_BLOCK_INIT) {
        observe_reset();
        memory_init_begins(d->joining);
    }
    note_elements(d);
}

static void debug_block_leave(void *state, const epop_position_t *position, epop_block_t block, void *data)
{
    struct debug *d = state;
    (void)position;
    if (block == EPOP_BLOCK_INIT)
        memory_init_ends();
    check_program(d, data);
    handles_check_growth(d);
}

static void debug_decided(void *state, const epop_position_t *position, int answer)
{
    contract_claim_answer(state, position, answer);
}

static void debug_adaptation_end(void *state, const epop_position_t *position)
{
    struct debug *d = state;
    d->joining = false;
    if (epop_status() == EPOP_LEAVING)
        handles_check_leaving(d);
    else
        note_described(position);
}

static void debug_iteration_begin(void *state, const epop_position_t *position)
{
    contract_claim_block(state, position);
}

static void debug_finished(void *state, const epop_position_t *position)
{
    contract_claim_end(state, position);
    handles_check_end();
}

static void debug_close(void *state)
{
    (void)state;
    observe_stop();
    epop__watch_redist(NULL);
    epop__watch_described(NULL);
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
