/* Written while the ranks go on: see behind.h. */
#include "runtime/coordinator/behind.h"

#include <stdio.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

bool behind_is_on(const struct coordinator *c)
{
    return c->checkpoints.behind.on;
}

static void note_failure(struct saving *s, const char *failure)
{
    if (failure && !s->failure[0])
        snprintf(s->failure, sizeof s->failure, "%s", failure);
}

/* The word of one process may come before that of another one, that it has copied its part. */
static struct saving *of_number(struct coordinator *c, int number)
{
    struct checkpoints *k = &c->checkpoints;
    return k->behind.on && k->behind.order.number == number ? &k->behind : &k->now;
}

void behind_await(struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++)
        process_of_rank(c, r)->stores = process_of_rank(c, r)->keeps = c->checkpoints.now.order.number;
}

static bool any_stores(const struct coordinator *c)
{
    bool any = false;
    for (int p = 0; p < c->processes.count; p++)
        any |= process_at(c, p)->stores == c->checkpoints.behind.order.number;
    return any;
}

static bool any_keeps(const struct coordinator *c)
{
    bool any = false;
    for (int p = 0; p < c->processes.count; p++)
        any |= process_at(c, p)->keeps == c->checkpoints.behind.order.number;
    return any;
}

static void send_keep(struct coordinator *c)
{
    const struct saving *s = &c->checkpoints.behind;
    for (int p = 0; p < c->processes.count; p++) {
        if (process_at(c, p)->keeps != s->order.number)
            continue;
        cJSON *message = json_message(ORDER(keep));
        cJSON_AddNumberToObject(message, "number", s->order.number);
        cJSON_AddBoolToObject(message, "complete", !s->failure[0]);
        processes_send(c, p, message);
    }
}

static void finish(struct coordinator *c)
{
    timers_cancel(&c->timers, &c->checkpoints.end);
    checkpoint_done(c, &c->checkpoints.behind);
}

/* Those of one that failed are waited for, too: none then has to wait for its own thread. */
static void all_are_stored(struct coordinator *c)
{
    if (any_keeps(c))
        send_keep(c);
    else
        finish(c);
}

void behind_begin(struct coordinator *c)
{
    struct checkpoints *k = &c->checkpoints;
    k->behind = k->now;
    k->now.on = false;
    k->now.waiters = NULL;
    if (!any_stores(c))
        all_are_stored(c);
}

void behind_stored(struct coordinator *c, int process, const struct report_stored *report)
{
    struct process *p = process_at(c, process);
    int number = report->number;
    if (!number || p->stores != number)
        return;
    p->stores = 0;
    note_failure(of_number(c, number), report->failure);
    if (behind_is_on(c) && !any_stores(c))
        all_are_stored(c);
}

void behind_kept(struct coordinator *c, int process, const struct report_kept *report)
{
    struct process *p = process_at(c, process);
    int number = report->number;
    if (!number || p->keeps != number)
        return;
    p->keeps = 0;
    note_failure(of_number(c, number), report->failure);
    if (behind_is_on(c) && !any_keeps(c))
        finish(c);
}

void behind_lost(struct coordinator *c, int process)
{
    struct process *p = process_at(c, process);
    char text[160];
    bool stored = p->keeps && !p->stores;
    if (!behind_is_on(c) || p->keeps != c->checkpoints.behind.order.number)
        return;
    p->stores = p->keeps = 0;
    snprintf(text, sizeof text, "a process that was writing its part (pid %d on %s) is gone", p->pid, p->host);
    note_failure(&c->checkpoints.behind, text);
    if (!stored && !any_stores(c))
        all_are_stored(c);
    else if (stored && !any_stores(c) && !any_keeps(c))
        finish(c);
}

/* ---- The end ------------------------------------------------------------------------------ */

static void ring_end(void *context)
{
    struct coordinator *c = context;
    struct saving *s = &c->checkpoints.behind;
    char text[160];
    snprintf(text, sizeof text, "it was not on disk %g s after the end of the program",
             c->config.checkpoint.end_timeout);
    note_failure(s, text);
    send_keep(c);
    for (int p = 0; p < c->processes.count; p++)
        process_at(c, p)->stores = process_at(c, p)->keeps = 0;
    checkpoint_done(c, s);
}

void behind_init(struct coordinator *c)
{
    timer_init(&c->checkpoints.end, ring_end, c, NULL);
}

bool behind_holds_end(struct coordinator *c)
{
    if (behind_is_on(c) && !c->checkpoints.end.set)
        timers_set(&c->timers, &c->checkpoints.end, c->config.checkpoint.end_timeout);
    return behind_is_on(c);
}

bool behind_is_awaited(const struct coordinator *c)
{
    return behind_is_on(c) && c->checkpoints.end.set;
}
