/* Constant data ahead of the window: see ahead.h. Nothing of it is MPI's, so that a process that dies here is missed
 * like one that dies before it. */
#include "runtime/coordinator/ahead.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

/* The joiners first: they have nothing else to do. */
static void tell_all(struct coordinator *c, cJSON *message)
{
    const struct adaptation *a = c->ahead.adaptation;
    cJSON_AddNumberToObject(message, "adaptation", a->id);
    processes_send_all(c, a->joiners, a->joining, message);
    processes_send_all(c, c->processes.world, c->processes.size, message);
    cJSON_Delete(message);
}

void ahead_forget(struct coordinator *c)
{
    timers_cancel(&c->timers, &c->ahead.limit);
    cJSON_Delete(c->ahead.places);
    c->ahead = (struct ahead){.state = AHEAD_NONE};
}

/* Its place in the plan; -1: it is not in it. */
static int index_of(const struct coordinator *c, int process)
{
    const struct adaptation *a = c->ahead.adaptation;
    for (int j = 0; j < a->joining; j++)
        if (a->joiners[j] == process)
            return c->processes.size + j;
    return process_at((struct coordinator *)c, process)->rank;
}

/* The ranks come to their window, and wait there for the rest. */
static void be_late(void *context)
{
    struct coordinator *c = context;
    c->ahead.late = true;
    c->ahead.calls->go_on(c);
}

void ahead_start(struct coordinator *c, struct adaptation *a, const struct ahead_calls *calls)
{
    ahead_forget(c);
    c->ahead = (struct ahead){.state = AHEAD_LISTS,
                              .adaptation = a,
                              .calls = calls,
                              .waits = c->processes.size + a->joining,
                              .places = cJSON_CreateArray()};
    timer_init(&c->ahead.limit, be_late, c, &c->preparing);
    for (int i = 0; i < c->ahead.waits; i++)
        cJSON_AddItemToArray(c->ahead.places, cJSON_CreateNull());
    tell_all(c, json_message(ORDER(list)));
}

/* Then all is moved in the window. */
static void do_without(struct coordinator *c)
{
    const struct ahead_calls *calls = c->ahead.calls;
    bool waits = (c->ahead.state == AHEAD_LISTS || c->ahead.state == AHEAD_MOVES) && !c->ahead.late;
    ahead_off(c);
    if (waits)
        calls->go_on(c);
}

static void move(struct coordinator *c)
{
    struct ahead *s = &c->ahead;
    struct plan *plan = s->calls->plan(c);
    if (!plan)
        return;
    cJSON *message = json_message(ORDER(ahead));
    cJSON_AddItemToObject(message, "plan", plan_to_json(plan));
    cJSON_AddItemToObject(message, "places", s->places);
    s->places = NULL;
    s->state = AHEAD_MOVES;
    s->adaptation->ahead = wall_seconds();
    s->waits = plan_total(plan);
    plan_free(plan);
    tell_all(c, message);
    timers_set(&c->timers, &s->limit, c->config.ahead_limit);
}

static void look_at(struct ahead *s, const struct report_listed *report)
{
    struct position at = POSITION_OF(report);
    const char *hash = report->hash;
    if (s->hash[0] && (at.pc != s->at.pc || at.visit != s->at.visit || strcmp(hash ? hash : "", s->hash)))
        s->differ = true;
    s->at = at;
    snprintf(s->hash, sizeof s->hash, "%s", hash ? hash : "?");
    s->something |= report->constants > 0;
}

void ahead_listed(struct coordinator *c, int process, const struct report_listed *report)
{
    struct ahead *s = &c->ahead;
    if (s->state != AHEAD_LISTS || report->adaptation != s->adaptation->id)
        return;
    int index = index_of(c, process);
    if (index < 0 || !cJSON_IsNull(cJSON_GetArrayItem(s->places, index)))
        return;
    if (!report->place) {
        do_without(c);
        return;
    }
    cJSON_ReplaceItemInArray(s->places, index, cJSON_Duplicate(report->place->said, 1));
    if (index < c->processes.size)
        look_at(s, report);
    if (--s->waits)
        return;
    if (!s->something || s->differ)
        do_without(c);
    else
        move(c);
}

/* It will be so in the next resize, too. */
static void do_without_from_now_on(struct coordinator *c, const char *reason)
{
    char text[ERROR_TEXT_MAX];
    if (!c->config.ahead)
        return;
    c->config.ahead = false;
    snprintf(text, sizeof text, "constant data cannot go ahead and moves in the windows from now on: %.4000s", reason);
    c->config.ops->say(c->config.context, text, false);
}

void ahead_came(struct coordinator *c, int process, const struct report_ahead *report)
{
    struct ahead *s = &c->ahead;
    (void)process;
    if (s->state == AHEAD_NONE || report->adaptation != s->adaptation->id)
        return;
    if (report->failure) {
        if (report->unreachable)
            do_without_from_now_on(c, report->failure);
        do_without(c);
        return;
    }
    s->adaptation->ahead_bytes += report->bytes;
    if (s->state != AHEAD_MOVES || --s->waits)
        return;
    timers_cancel(&c->timers, &s->limit);
    s->state = AHEAD_DONE;
    if (!s->late)
        s->calls->go_on(c);
}

void ahead_rank_ended(struct coordinator *c)
{
    if (c->ahead.state == AHEAD_LISTS || c->ahead.state == AHEAD_MOVES)
        do_without(c);
}

bool ahead_take(struct coordinator *c, const struct position *at)
{
    struct ahead *s = &c->ahead;
    bool same = at->pc == s->at.pc && at->visit == s->at.visit;
    bool counts = (s->state == AHEAD_DONE || (s->state == AHEAD_MOVES && s->late)) && same;
    if (s->state != AHEAD_NONE && !counts)
        s->adaptation->ahead_bytes = 0;
    if (counts)
        s->state = AHEAD_IN_WINDOW;
    else
        ahead_forget(c);
    return counts;
}

void ahead_off(struct coordinator *c)
{
    if (c->ahead.state == AHEAD_NONE)
        return;
    c->ahead.adaptation->ahead_bytes = 0;
    tell_all(c, json_message(ORDER(ahead_off)));
    ahead_forget(c);
}
