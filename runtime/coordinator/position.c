/* Where rank 0 is. */
#include "runtime/coordinator/position.h"

#include "runtime/base/json.h"
#include "runtime/coordinator/debugging.h"
#include "runtime/coordinator/events.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

static void position_give_up(struct coordinator *c);

#define ANSWER_TIMEOUT   2   /* seconds; a process that is stopped does not answer */
#define PROGRESS_TIMEOUT 0.2 /* seconds; an iteration may take longer */

static void ask(struct coordinator *c)
{
    c->position.awaited = true;
    timers_set(&c->timers, &c->position.limit, ANSWER_TIMEOUT);
    processes_send(c, c->processes.world[0], json_message(ORDER(position)));
}

/* In a pause, or stopped for a debugger, nobody would answer. */
static void ask_progress(struct coordinator *c)
{
    if (c->position.progress_awaited || c->pause.on || halts_are_on(c) || process_of_rank(c, 0)->ended)
        return;
    c->position.progress_awaited = true;
    processes_send(c, c->processes.world[0], json_message(ORDER(progress)));
}

void position_wait(struct coordinator *c, struct event *event, bool progress)
{
    bool first = !c->position.waiting.first;
    event->next = NULL;
    *(first ? &c->position.waiting.first : &c->position.waiting.last->next) = event;
    c->position.waiting.last = event;
    if (first)
        ask(c);
    if (progress)
        ask_progress(c);
}

/* All that is waited for is there, or needs no longer wait than this. */
static void look(struct coordinator *c)
{
    if (!c->position.awaited && !c->position.progress_awaited)
        position_give_up(c);
    else if (!c->position.awaited && timers_left(&c->timers, &c->position.limit) > PROGRESS_TIMEOUT)
        timers_set(&c->timers, &c->position.limit, PROGRESS_TIMEOUT);
}

void position_came(struct coordinator *c, int process, const struct report_position *report)
{
    if (process != c->processes.world[0])
        return;
    c->position.at = POSITION_OF(report);
    c->position.awaited = false;
    look(c);
}

void position_progress_came(struct coordinator *c)
{
    c->position.progress_awaited = false;
    look(c);
}

/* Where somebody waits: rank 0 is another process now. */
static void position_ask_again(struct coordinator *c)
{
    if (c->position.waiting.first)
        ask(c);
}

/* Those that wait go on with what is known. */
static void position_give_up(struct coordinator *c)
{
    struct event *event = c->position.waiting.first, *next;
    c->position.waiting.first = NULL;
    c->position.awaited = c->position.progress_awaited = false;
    timers_cancel(&c->timers, &c->position.limit);
    for (; event; event = next) {
        next = event->next;
        c->position.go_on(c, event);
    }
}

static void timeout(void *context)
{
    position_give_up(context);
}

void position_init(struct coordinator *c, void (*go_on)(struct coordinator *c, struct event *event))
{
    c->position.at.pc = -1;
    c->position.go_on = go_on;
    timer_init(&c->position.limit, timeout, c, NULL);
}

static void position_end(struct coordinator *c, const char *reason)
{
    (void)reason;
    position_give_up(c);
}

const struct part position_part = {.new_world = position_ask_again, .end = position_end};
