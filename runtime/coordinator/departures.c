/* Processes that left, until they have ended. */
#include "runtime/coordinator/departures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/proctree.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define LIMIT 10.0 /* seconds that somebody waits */
#define LOOK  0.02 /* seconds between two looks */
#define LATE  0.5  /* likewise, when nobody waits any more */

struct departure {
    int *processes, count; /* owned */
    struct waiter *waiters;
    cJSON *reply;
    double until; /* monotonic */
    struct departure *next;
};

/* ---- Has it ended? ------------------------------------------------------------------------------- */

/* Of one on another host only the connection is seen. */
static bool has_ended(const struct process *p)
{
    if (p->state != PROCESS_GONE && p->state != PROCESS_LOST)
        return false;
    return !p->attached || (p->closed && !proctree_runs(&p->here));
}

/* It stands by, or has joined again since, or has the control plane: nobody waits for that. */
static bool stays(const struct process *p)
{
    bool goes = p->state == PROCESS_LEAVING || p->state == PROCESS_RETURNING || p->state == PROCESS_GONE;
    return p->state == PROCESS_HOSTING || !(goes || p->dismissed);
}

/* A launch ends with the last of its processes. */
static bool launch_has_ended(const struct coordinator *c, int launch)
{
    if (!launch || !c->config.backend->launched)
        return true;
    for (int p = 0; p < c->processes.count; p++)
        if (process_at(c, p)->launch == launch && !has_ended(process_at(c, p)))
            return true;
    return !c->config.backend->launched(launch);
}

static bool is_over(const struct coordinator *c, const struct departure *d)
{
    for (int i = 0; i < d->count; i++) {
        const struct process *p = process_at(c, d->processes[i]);
        if (!stays(p) && !(has_ended(p) && launch_has_ended(c, p->launch)))
            return false;
    }
    return true;
}

/* ---- Saying so ----------------------------------------------------------------------------------- */

static bool host_is_used(const struct coordinator *c, const char *host)
{
    for (int p = 0; p < c->processes.count; p++)
        if (!strcmp(process_at(c, p)->host, host) && !has_ended(process_at(c, p)))
            return true;
    return false;
}

static bool is_first_of_host(const struct coordinator *c, const struct departure *d, int i)
{
    for (int other = 0; other < i; other++)
        if (!strcmp(process_at(c, d->processes[other])->host, process_at(c, d->processes[i])->host))
            return false;
    return true;
}

static void publish_hosts(struct coordinator *c, const struct departure *d)
{
    for (int i = 0; i < d->count; i++) {
        const struct process *p = process_at(c, d->processes[i]);
        if (p->attached && is_first_of_host(c, d, i) && !host_is_used(c, p->host))
            publish_vacated(c, p->host);
    }
}

static void answer(struct coordinator *c, struct departure *d, bool vacated)
{
    if (d->waiters)
        cJSON_AddBoolToObject(d->reply, "vacated", vacated);
    waiters_answer(c, &d->waiters, d->reply);
    d->reply = NULL;
}

static void end(struct departure **link)
{
    struct departure *d = *link;
    *link = d->next;
    free(d->processes);
    free(d);
}

static void look(void *context)
{
    struct coordinator *c = context;
    double now = monotonic_seconds(), next = 0;
    for (struct departure **link = &c->departures.first; *link;) {
        struct departure *d = *link;
        bool over = is_over(c, d);
        if (over)
            publish_hosts(c, d);
        if (d->reply && (over || now >= d->until))
            answer(c, d, over);
        if (over) {
            end(link);
            continue;
        }
        double wait = d->reply ? LOOK : LATE;
        next = !next || wait < next ? wait : next;
        link = &d->next;
    }
    if (next)
        timers_set(&c->timers, &c->departures.look, next);
}

void departures_begin(struct coordinator *c, int *processes, int count, struct waiter *waiters, cJSON *reply)
{
    struct departure *d = processes ? malloc(sizeof *d) : NULL;
    struct departure now = {processes, processes ? count : 0, waiters, reply, monotonic_seconds() + LIMIT, NULL};
    bool ends = backend_ends(c->config.backend); /* in the pool they come back */
    for (int i = 0; waiters && ends && i < now.count; i++)
        departures_dismiss(c, processes[i]);
    if (!d || !count) {
        answer(c, &now, !count);
        free(processes);
        free(d);
        return;
    }
    *d = now;
    d->next = c->departures.first;
    c->departures.first = d;
    look(c);
}

/* ---- What it hears of ---------------------------------------------------------------------------- */

static void end_parked(struct coordinator *c, int process)
{
    if (c->config.backend->leavers == LEAVERS_DO_BOTH && process)
        processes_send(c, process, json_message(ORDER(join_end)));
}

void departures_dismiss(struct coordinator *c, int process)
{
    struct process *p = process_at(c, process);
    bool first = !p->dismissed;
    p->dismissed = true;
    if (first && p->state == PROCESS_STANDBY)
        end_parked(c, process);
}

void departures_parked(struct coordinator *c, int process)
{
    if (process_at(c, process)->dismissed)
        end_parked(c, process);
}

void departures_closed(struct coordinator *c, int process)
{
    process_at(c, process)->closed = true;
}

/* ---- Who has not gone at the job's end ----------------------------------------------------------- */

/* This process waits for the others. */
static bool is_missed(const struct coordinator *c, int process)
{
    const struct process *p = process_at(c, process);
    return process && p->attached && !p->closed && p->state != PROCESS_GONE && p->state != PROCESS_LOST;
}

int departures_missed(const struct coordinator *c, bool ranks)
{
    int missed = 0;
    for (int p = 0; p < c->processes.count; p++)
        missed += is_missed(c, p) && (!ranks || process_at(c, p)->rank >= 0);
    return missed;
}

static const char *what_it_is(const struct process *p, char *text, size_t size)
{
    if (p->state == PROCESS_RETURNING)
        return "a process that is still in INIT of a resize that was called off";
    if (p->rank < 0)
        return p->state == PROCESS_LEAVING ? "a process that left" : "a process that stands by";
    snprintf(text, size, "rank %d", p->rank);
    return text;
}

void departures_describe_missed(const struct coordinator *c, char *text, size_t size)
{
    char rank[32], more[32] = "";
    int first = 0, missed = departures_missed(c, false);
    text[0] = 0;
    while (first < c->processes.count && !is_missed(c, first))
        first++;
    if (!missed)
        return;
    if (missed > 1)
        snprintf(more, sizeof more, " and %d more", missed - 1);
    const struct process *p = process_at(c, first);
    snprintf(text, size, "%s (pid %d on %s)%s", what_it_is(p, rank, sizeof rank), p->pid, p->host, more);
}

/* ---- Its end ------------------------------------------------------------------------------------- */

static void departures_abandoned(struct coordinator *c, const void *handle)
{
    for (struct departure *d = c->departures.first; d; d = d->next)
        waiters_abandoned(c, &d->waiters, handle);
}

/* The job is at its end: nobody waits any more. */
static void departures_give_up(struct coordinator *c, const char *reason)
{
    (void)reason;
    while (c->departures.first) {
        if (c->departures.first->reply)
            answer(c, c->departures.first, false);
        end(&c->departures.first);
    }
    timers_cancel(&c->timers, &c->departures.look);
}

static void departures_init(struct coordinator *c)
{
    timer_init(&c->departures.look, look, c, NULL);
}

const struct part departures_part = {
    .init = departures_init, .abandoned = departures_abandoned, .end = departures_give_up};
