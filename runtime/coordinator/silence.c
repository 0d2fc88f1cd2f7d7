/* Processes that do not answer: see silence.h. */
#include "runtime/coordinator/silence.h"

#include <stdio.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/pause.h"
#include "runtime/coordinator/preconnect.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/settle.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stop.h"
#include "runtime/wire/messages.h"

#define QUESTIONS 20 /* in the time that an answer may take */
#define HURRY     14 /* as many will do where the job is to end */

static int questions(const struct coordinator *c)
{
    return c->stop.asked ? HURRY : QUESTIONS;
}

double silence_limit(const struct coordinator *c)
{
    return c->config.freeze_timeout * questions(c) / QUESTIONS;
}

static bool in_window(const struct process *p)
{
    return !p->through && (p->rank >= 0 || p->state == PROCESS_JOINING || p->state == PROCESS_LEAVING);
}

static bool is_awaited(const struct coordinator *c, const struct process *p)
{
    if (!p->attached || p->state == PROCESS_GONE || p->state == PROCESS_LOST || c->ending.finished)
        return false;
    if (adaptation_is(c, ADAPTATION_WINDOW))
        return in_window(p);
    if (preconnect_goes_on(c))
        return p->rank >= 0 || p->state == PROCESS_JOINING;
    if (p->rank < 0 || p->ended)
        return false;
    if (agreement_waits(c))
        return settle_awaits(c, p);
    return c->agreement.state == AGREEMENT_TARGET ? !p->arrived : c->stop.sent;
}

void silence_heard(struct process *p)
{
    p->unanswered = 0;
}

static bool is_asked(const struct process *p)
{
    return p->unanswered == 1;
}

/* Those who owe no answer yet. False if nobody is waited for. */
static bool ask(struct coordinator *c)
{
    bool any = false;
    for (int i = 0; i < c->processes.count; i++) {
        struct process *p = process_at(c, i);
        bool awaited = is_awaited(c, p);
        any |= awaited;
        p->unanswered = awaited ? p->unanswered + 1 : 0;
    }
    processes_send_where(c, is_asked, json_message(ORDER(alive)));
    return any;
}

bool silence_describe(const struct coordinator *c, char *text, size_t size)
{
    int silent = 0;
    while (silent < c->processes.count && process_at(c, silent)->unanswered <= questions(c))
        silent++;
    if (silent == c->processes.count)
        return false;
    const struct process *p = process_at(c, silent);
    char name[32] = "a joining process";
    if (p->rank >= 0)
        snprintf(name, sizeof name, "rank %d", p->rank);
    snprintf(text, size, "%s (pid %d on %s) did not answer within %g s", name, p->pid, p->host, silence_limit(c));
    return true;
}

/* It cannot be called off any more: who waits for it hears that, and the ranks go on when that process does. */
static void tell(struct coordinator *c, const char *text)
{
    char line[320];
    const struct adaptation *a = adaptation_pending(c);
    adaptation_tell_requester(c, text);
    if (pause_is_wanted(c))
        pause_end(c, "timeout", text);
    if (c->silence.said)
        return;
    c->silence.said = true;
    snprintf(line, sizeof line, "%s; adaptation %d (%d -> %d) waits for it, and epopctl stop ends the job", text, a->id,
             a->from, a->to);
    c->config.ops->say(c->config.context, line, false);
}

static void give_up(struct coordinator *c, const char *text)
{
    bool window = adaptation_is(c, ADAPTATION_WINDOW), connects = preconnect_goes_on(c);
    if (window && adaptation_without_leavers(c))
        return;
    if (c->stop.asked)
        stop_cannot_be(c, text);
    else if (window || (connects && adaptation_pending(c)->joining))
        tell(c, text);
    else if (connects)
        adaptation_drop(c, ADAPTATION_FAILED, "timeout", text);
    else
        agreement_give_up(c, text);
}

static void look(void *context)
{
    struct coordinator *c = context;
    char text[200];
    if (ask(c))
        timers_set(&c->timers, &c->silence.question, c->config.freeze_timeout / QUESTIONS);
    if (silence_describe(c, text, sizeof text))
        give_up(c, text);
    else
        c->silence.said = false;
}

void silence_advance(struct coordinator *c)
{
    bool any = false;
    for (int i = 0; !c->silence.question.set && !any && i < c->processes.count; i++)
        any = is_awaited(c, process_at(c, i));
    if (any)
        timers_set(&c->timers, &c->silence.question, c->config.freeze_timeout / QUESTIONS);
}

void silence_init(struct coordinator *c)
{
    timer_init(&c->silence.question, look, c, &c->limits);
}
