/*
 * Where rank 0 is. Its process is asked when a request needs to know it, for the status or for the size rule of the
 * phase, and the request waits for the answer. A control thread answers at once, whatever the program does. How far the
 * program is can only be told by its own thread, at the next probe: a status waits a moment for that.
 */
#include <string.h>

#include "runtime/coordinator/arrivals.h"
#include "runtime/coordinator/queue.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

#define ANSWER_TIMEOUT   2   /* seconds; a process that is stopped does not answer */
#define PROGRESS_TIMEOUT 0.2 /* seconds; an iteration may take longer */

static void ask(struct coordinator *c)
{
    c->position_due = true;
    c->position_deadline = monotonic_seconds() + ANSWER_TIMEOUT;
    send_to(c, c->world[0], json_message("position"));
}

/* In a pause, or stopped for a debugger, nobody would answer. */
static void ask_progress(struct coordinator *c)
{
    if (c->progress_due || c->paused || c->stops.how != NOT_STOPPED || c->processes[c->world[0]].ended)
        return;
    c->progress_due = true;
    send_to(c, c->world[0], json_message("progress"));
}

void position_wait(struct coordinator *c, struct event *event)
{
    bool first = !c->waiting;
    event->next = NULL;
    *(first ? &c->waiting : &c->last_waiting->next) = event;
    c->last_waiting = event;
    if (first)
        ask(c);
    if (event->json && !strcmp(json_text(event->json, "op"), "status"))
        ask_progress(c);
}

/* All that is waited for is there, or needs no longer wait than this. */
static void look(struct coordinator *c)
{
    double limit = monotonic_seconds() + PROGRESS_TIMEOUT;
    if (!c->position_due && !c->progress_due)
        position_give_up(c);
    else if (!c->position_due && c->position_deadline > limit)
        c->position_deadline = limit;
}

void position_came(struct coordinator *c, int process, const cJSON *message)
{
    if (process != c->world[0])
        return;
    c->position = position_from_json(message);
    c->position_due = false;
    look(c);
}

void position_progress_came(struct coordinator *c)
{
    c->progress_due = false;
    look(c);
}

void position_ask_again(struct coordinator *c)
{
    if (c->waiting)
        ask(c);
}

void position_give_up(struct coordinator *c)
{
    struct event *event = c->waiting, *next;
    c->waiting = NULL;
    c->position_due = c->progress_due = false;
    for (; event; event = next) {
        next = event->next;
        arrivals_carry_out(c, event);
    }
}
