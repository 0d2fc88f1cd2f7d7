/* The count of joining processes: see settle.h. */
#include "runtime/coordinator/settle.h"

#include <stdlib.h>

#include "runtime/base/json.h"
#include "runtime/control/messages.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/verdict.h"

static bool has_told(const struct coordinator *c, const struct process *p)
{
    return p->told.adaptation == c->processes.world_id;
}

static bool has_joined(const struct coordinator *c, const struct process *p)
{
    return has_told(c, p) && p->told.joins;
}

bool settle_awaits(const struct coordinator *c, const struct process *p)
{
    if (!c->settling.open || p->rank < 0 || p->ended)
        return false;
    bool done = has_told(c, p) && (!p->told.joins || p->told.what != FIRST_PROBE_FIND || p->told.probe == 2);
    return !done;
}

static void shift(struct coordinator *c, int by)
{
    for (int r = 0; r < c->processes.size; r++) {
        if (!has_joined(c, process_of_rank(c, r)))
            continue;
        cJSON *message = json_message(MESSAGE_SETTLED);
        cJSON_AddNumberToObject(message, "shift", by);
        processes_send(c, c->processes.world[r], message);
    }
}

/* What they say of themselves; FIND: nothing. */
static enum first_probe declared(const struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++)
        if (has_joined(c, process_of_rank(c, r)) && process_of_rank(c, r)->told.what != FIRST_PROBE_FIND)
            return process_of_rank(c, r)->told.what;
    return FIRST_PROBE_FIND;
}

/* Those that have ended before they said everything are left out: nothing is agreed any more then. */
static bool collect(struct coordinator *c, struct evidence *e, struct stretch *room)
{
    struct stretch *staying = room, *first = room + c->processes.size, *second = first + c->processes.size;
    *e = (struct evidence){.staying = staying, .first = first, .second = second};
    for (int r = 0; r < c->processes.size; r++) {
        const struct process *p = process_of_rank(c, r);
        if (!has_told(c, p) || (p->told.joins && p->told.probe < 2))
            continue;
        if (p->told.joins) {
            first[e->joined] = p->first;
            second[e->joined++] = p->told.stretch;
        } else {
            staying[e->stayed++] = p->told.stretch;
        }
    }
    return e->stayed && e->joined;
}

static struct verdict find(struct coordinator *c)
{
    struct verdict verdict = {.what = declared(c), .sure = true};
    struct evidence e;
    if (verdict.what != FIRST_PROBE_FIND)
        return verdict;
    struct stretch *room = calloc((size_t)c->processes.size * 3, sizeof *room);
    if (!room)
        fatal_memory(c);
    else if (collect(c, &e, room))
        verdict = verdict_of(&e);
    free(room);
    return verdict;
}

void settle_look(struct coordinator *c)
{
    if (!c->settling.open)
        return;
    for (int r = 0; r < c->processes.size; r++)
        if (settle_awaits(c, process_of_rank(c, r)))
            return;
    struct verdict verdict = find(c);
    c->settling.open = false;
    c->settling.what = verdict.what;
    c->settling.sure = verdict.sure;
    if (verdict.what == FIRST_PROBE_REPEATS)
        shift(c, -1);
}

void settle_begin(struct coordinator *c, int joining)
{
    c->settling = (struct settling){.open = c->config.executable && joining};
    settle_look(c);
}

/* May come before the last process is through the window. */
void settle_stretch(struct coordinator *c, int process, const cJSON *message)
{
    struct process *p = process_at(c, process);
    p->told = stretch_report_from_json(message);
    if (p->told.probe == 1)
        p->first = p->told.stretch;
    settle_look(c);
}

/* Is there one that joined, or one that stayed, which has arrived, or has not? */
static bool is_there(const struct coordinator *c, bool joined, bool arrived)
{
    for (int r = 0; r < c->processes.size; r++) {
        const struct process *p = process_of_rank(c, r);
        if (!p->ended && has_joined(c, p) == joined && p->arrived == arrived)
            return true;
    }
    return false;
}

/* Joining ones that hold too early repeat; where they have run past the target, they count. */
bool settle_correct(struct coordinator *c)
{
    struct settling *s = &c->settling;
    bool counts = s->what == FIRST_PROBE_COUNTS;
    if (s->open || s->sure || s->what == FIRST_PROBE_FIND)
        return false;
    if (!is_there(c, counts, true) || !is_there(c, !counts, false))
        return false;
    s->what = counts ? FIRST_PROBE_REPEATS : FIRST_PROBE_COUNTS;
    s->sure = true;
    shift(c, counts ? -1 : 1);
    return true;
}

bool settle_is_open(const struct coordinator *c)
{
    return c->settling.open;
}
