/*
 * Where rank 0 is. Its process is asked when a request needs to know it, for the status or for the size rule of the
 * phase, and the request waits for the answer. A control thread answers at once, whatever the program does.
 */
#include "runtime/coordinator/queue.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

#define ANSWER_TIMEOUT 2 /* seconds; a process that is stopped does not answer */

static void ask(struct coordinator *c)
{
    c->position_deadline = monotonic_seconds() + ANSWER_TIMEOUT;
    send_to(c, c->world[0], json_message("position"));
}

void position_wait(struct coordinator *c, struct event *event)
{
    bool first = !c->waiting;
    event->next = NULL;
    *(first ? &c->waiting : &c->last_waiting->next) = event;
    c->last_waiting = event;
    if (first)
        ask(c);
}

void position_came(struct coordinator *c, int process, const cJSON *message)
{
    if (process != c->world[0])
        return;
    c->position = position_from_json(message);
    position_give_up(c);
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
    for (; event; event = next) {
        next = event->next;
        carry_out(c, event);
    }
}
