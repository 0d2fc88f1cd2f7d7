/* What arrives at the coordinator is handed to those whose business it is, and losses are judged: see arrivals.h. */
#include "runtime/coordinator/arrivals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backends/binding.h"
#include "runtime/coordinator/queue.h"
#include "runtime/coordinator/rollcall.h"
#include "runtime/coordinator/stops.h"
#include "runtime/member/json.h"

/* All processes must run the same: a rank with another program would compute something else, unnoticed. A joiner that
 * was called off already is on its way out. */
static void check_identity(struct coordinator *c, struct process *p, const char *identity)
{
    char text[480];
    p->identified = identity != NULL;
    if (!identity || !c->identity[0] || !strcmp(identity, c->identity))
        return;
    if (p->state == PROCESS_RETURNING && c->config.backend->ends)
        return;
    snprintf(text, sizeof text, "the process with pid %d on %s is not like the others: it has %s, they have %s", p->pid,
             p->host, identity, c->identity);
    if (p->state == PROCESS_JOINING && c->adaptation)
        adaptation_drop(c, ADAPTATION_FAILED, "failed", text);
    else
        c->config.ops->fatal(c->config.context, text);
}

static int process_number(const struct coordinator *c, const struct process *p)
{
    return (int)(p - c->processes);
}

static void on_hello(struct coordinator *c, struct process *p, const cJSON *message)
{
    const char *host = json_text(message, "host"), *identity = json_text(message, "identity");
    const char *cores = json_text(message, "cores");
    snprintf(p->host, sizeof p->host, "%s", host ? host : "?");
    p->pid = json_int(message, "pid", 0);
    p->here = true;
    p->bound = cores != NULL;
    if (cores)
        binding_parse(cores, &p->cores);
    if (p == &c->processes[0])
        snprintf(c->identity, sizeof c->identity, "%s", identity ? identity : "");
    check_identity(c, p, identity);
    if (p->state == PROCESS_RETURNING) /* it came too late to hear that its joining is off */
        send_to(c, process_number(c, p), json_message("cancel"));
    adaptation_start_joiners(c);
}

/* A block failed somewhere. The first text is the one that is printed. */
static void on_failed(struct coordinator *c, const cJSON *message)
{
    const char *text = json_text(message, "text");
    c->config.ops->fatal(c->config.context, text ? text : "a process failed");
}

/* As a block that failed; but a joiner with a launch of its own is missed like any that dies. A process that dumps its
 * memory first is waited for, though not for ever. */
static void on_crashed(struct coordinator *c, int process, const cJSON *message)
{
    const char *text = json_text(message, "text");
    enum process_state state = c->processes[process].state;
    bool joiner = c->config.backend->ends && (state == PROCESS_JOINING || state == PROCESS_RETURNING);
    if (c->dumping >= 0)
        return;
    if (!joiner && !json_true(message, "core")) {
        c->config.ops->fatal(c->config.context, text);
        return;
    }
    c->config.ops->say(c->config.context, text, !joiner);
    if (joiner)
        send_to(c, process, json_message("dump"));
    else
        dump_begin(c, process);
}

static void on_message(struct coordinator *c, int process, const cJSON *message)
{
    const char *op = json_text(message, "op");
    if (!op || process < 0 || process >= c->process_count)
        return;
    if (!strcmp(op, "hello"))
        on_hello(c, &c->processes[process], message);
    else if (!strcmp(op, "count"))
        agreement_count(c, process, message);
    else if (!strcmp(op, "at"))
        agreement_at(c, process, message);
    else if (!strcmp(op, "ended"))
        agreement_ended(c, process);
    else if (!strcmp(op, "meet"))
        adaptation_meet(c, process, message);
    else if (!strcmp(op, "unstarted"))
        adaptation_unstarted(c, message);
    else if (!strcmp(op, "ready"))
        adaptation_ready(c, process, message);
    else if (!strcmp(op, "pong"))
        c->processes[process].answered = true;
    else if (!strcmp(op, "linked"))
        linking_linked(c, message);
    else if (!strcmp(op, "connected"))
        adaptation_connected(c, process, message);
    else if (!strcmp(op, "gone"))
        process_gone(c, process);
    else if (!strcmp(op, "hosts"))
        process_hosts(c, process);
    else if (!strcmp(op, "committed"))
        adaptation_committed(c, message);
    else if (!strcmp(op, "parked"))
        process_parked(c, process, message);
    else if (!strcmp(op, "position"))
        position_came(c, process, message);
    else if (!strcmp(op, "place"))
        survey_came(c, process, message);
    else if (!strcmp(op, "progress"))
        progress_came(c, message);
    else if (!strcmp(op, "here"))
        rollcall_here(c, process, message);
    else if (!strcmp(op, "breach") && json_text(message, "text"))
        rollcall_breach(c, json_text(message, "text"));
    else if (!strcmp(op, "failed"))
        on_failed(c, message);
    else if (!strcmp(op, "crashed"))
        on_crashed(c, process, message);
    else if (!strcmp(op, "request")) {
        handle_program_request(c, process, message);
        send_to(c, process, json_message("heard"));
    }
}

static void on_abandoned(struct coordinator *c, void *handle)
{
    struct adaptation *a = c->adaptation;
    if (a && a->handle == handle)
        answer(c, &a->handle, refusal("failed", "the requester has gone"));
    survey_abandon(c, handle);
    if (c->pause_handle == handle)
        answer(c, &c->pause_handle, refusal("failed", "the requester has gone"));
    stops_abandoned(c, handle);
}

/* One that stood by. Has it been chosen, and not been woken yet? */
static void parked_is_gone(struct coordinator *c, int process)
{
    struct adaptation *a = c->adaptation;
    c->processes[process].state = PROCESS_GONE;
    c->processes[process].dispensable = true;
    for (int j = 0; a && a->state == ADAPTATION_PREPARING && !a->started && j < a->parked; j++)
        if (a->joiners[j] == process) {
            adaptation_drop(c, ADAPTATION_FAILED, "failed", "a process that stood by, and was to join, is gone");
            return;
        }
}

/* A process is gone without a word. In one launch that is the process manager's business too, but it need not
 * notice (a stopped network, cleanup switched off), and the ranks that are left would hang. */
static void on_lost(struct coordinator *c, int process)
{
    struct process *p = &c->processes[process];
    struct adaptation *a = c->adaptation;
    char text[200];
    bool own_launch = c->config.backend->ends;
    if (process == c->dumping)
        c->config.ops->fatal(c->config.context, NULL);
    if (own_launch && p->state == PROCESS_RETURNING)
        p->state = PROCESS_GONE;
    if (own_launch && p->state == PROCESS_STANDBY)
        parked_is_gone(c, process);
    if (c->finished || p->state == PROCESS_LOST || (own_launch && p->state == PROCESS_GONE))
        return;
    bool in_window = a && a->state == ADAPTATION_WINDOW, merges = a && a->linking == LINKING_MERGES;
    bool can_do_without = !(in_window || merges) || (in_window && a->connected == 0 && c->config.backend->kill);
    if (p->state == PROCESS_JOINING && own_launch && a && can_do_without) {
        snprintf(text, sizeof text, "a joining process (pid %d on %s) is gone", p->pid, p->host);
        p->state = PROCESS_GONE;
        if (in_window)
            adaptation_end_joiners(c); /* the old ranks' connect then fails, and they go on */
        else
            adaptation_drop(c, ADAPTATION_FAILED, "failed", text);
        return;
    }
    p->state = PROCESS_LOST;
    snprintf(text, sizeof text, "process %d (rank %d, pid %d on %s) is gone; the job cannot go on without it", process,
             p->rank, p->pid, p->host);
    c->config.ops->fatal(c->config.context, text);
}

void arrivals_carry_out(struct coordinator *c, struct event *event)
{
    switch (event->type) {
    case EVENT_MESSAGE:
        on_message(c, event->process, event->json);
        break;
    case EVENT_REQUEST:
        handle_request(c, event->handle, event->json);
        break;
    case EVENT_ABANDONED:
        on_abandoned(c, event->handle);
        break;
    case EVENT_LOST:
        on_lost(c, event->process);
        break;
    case EVENT_BACKEND:
        c->config.backend->event(c, event->handle, event->process);
        break;
    }
    cJSON_Delete(event->json);
    free(event);
}

/* Does it depend on where rank 0 is? At the end nobody is asked any more. */
static bool needs_position(const struct coordinator *c, const struct event *event)
{
    const char *op = event->json ? json_text(event->json, "op") : NULL;
    if (!op || c->finished)
        return false;
    return event->type == EVENT_REQUEST ? !strcmp(op, "status") || !strcmp(op, "resize") : !strcmp(op, "request");
}

void arrivals_take(struct coordinator *c, struct event *event)
{
    if (needs_position(c, event))
        position_wait(c, event);
    else
        arrivals_carry_out(c, event);
}
