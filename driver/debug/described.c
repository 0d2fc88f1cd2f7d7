/* Described data: all of it arrives, and what is constant stays as it is while a phase iterates. */
#include "driver/debug/debug.h"
#include "runtime/describe/audit.h"

static const struct debug *debug;

static void wrong(const char *text)
{
    breach(&debug->place.position, "%s", text);
}

void described_start(const struct debug *state)
{
    debug = state;
    epop__watch_described(wrong);
}

void described_stop(void)
{
    epop__watch_described(NULL);
}

void described_begin(const epop_position_t *position)
{
    if (position->program->elements[position->pc].type == EPOP_EP)
        epop__describe_note();
}

void described_look(struct debug *state, const epop_position_t *position)
{
    if (state->joining || position->program->elements[position->pc].type != EPOP_EP)
        return;
    debug_moves(state, position);
    epop__describe_compare();
}
