/* Questions that wait for their answers. */
#include "runtime/coordinator/inquiries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/psets/psets.h"
#include "runtime/wire/messages.h"

cJSON *inquiry_yes(void)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddTrueToObject(answer, "ok");
    return answer;
}

cJSON *inquiry_no(const char *reason)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddFalseToObject(answer, "ok");
    cJSON_AddStringToObject(answer, "reason", reason);
    return answer;
}

/* At the end of the list. */
static struct inquiry *add(struct coordinator *c, enum message_kind kind, const cJSON *said)
{
    struct inquiry *inquiry = calloc(1, sizeof *inquiry), **at = &c->inquiries.first;
    if (!inquiry || !message_keep(&inquiry->message, kind, said)) {
        free(inquiry);
        return NULL;
    }
    while (*at)
        at = &(*at)->next;
    return *at = inquiry;
}

int inquiries_add(struct coordinator *c, int process, const struct report_ask *asked)
{
    struct inquiry *inquiry = add(c, KIND_REPORT, asked->said);
    if (!inquiry)
        return -1;
    inquiry->process = process;
    inquiry->asked = *(const struct report_ask *)inquiry->message.is;
    inquiry->limit = asked->limit < 0 ? 0 : monotonic_seconds() + asked->limit;
    return 0;
}

int inquiries_add_request(struct coordinator *c, void *handle, const struct request_psets *asked)
{
    struct inquiry *inquiry = add(c, KIND_REQUEST, asked->said);
    if (!inquiry)
        return -1;
    const struct request_psets *kept = inquiry->message.is;
    inquiry->process = -1;
    inquiry->handle = handle;
    inquiry->asked = (struct report_ask){.about = kept->about,
                                         .set = kept->set,
                                         .type = kept->type,
                                         .a = kept->a,
                                         .b = kept->b,
                                         .target = kept->target,
                                         .active = kept->active,
                                         .sched = kept->sched,
                                         .parts = kept->parts,
                                         .data = kept->data};
    return 0;
}

static void free_one(struct inquiry *inquiry)
{
    message_free(&inquiry->message);
    free(inquiry);
}

void inquiries_tell(struct coordinator *c, int process, int id, cJSON *answer)
{
    cJSON *message = json_message(ORDER(told));
    cJSON_AddNumberToObject(message, "id", id);
    for (cJSON *item; (item = cJSON_DetachItemFromArray(answer, 0));)
        cJSON_AddItemToObject(message, item->string, item);
    cJSON_Delete(answer);
    processes_send(c, process, message);
}

static void send(struct coordinator *c, struct inquiry *inquiry, cJSON *answer)
{
    if (inquiry->process >= 0) {
        inquiries_tell(c, inquiry->process, inquiry->asked.id, answer);
        return;
    }
    cJSON_AddStringToObject(answer, "code", json_true(answer, "ok") ? "done" : "refused");
    reply_send(c, &inquiry->handle, answer);
}

static void set_limit(struct coordinator *c)
{
    double first = 0;
    for (const struct inquiry *i = c->inquiries.first; i; i = i->next)
        if (i->limit && (!first || i->limit < first))
            first = i->limit;
    timers_cancel(&c->timers, &c->inquiries.due);
    double left = first - monotonic_seconds();
    if (first)
        timers_set(&c->timers, &c->inquiries.due, left > 0 ? left : 0);
}

/* An answer may change what others wait for. */
static bool look_once(struct coordinator *c, inquiry_answer *answer)
{
    bool some = false;
    for (struct inquiry **at = &c->inquiries.first; *at;) {
        struct inquiry *inquiry = *at;
        cJSON *told = inquiry->answered ? NULL : answer(c, inquiry);
        if (!told && !inquiry->answered) {
            at = &inquiry->next;
            continue;
        }
        *at = inquiry->next;
        if (told)
            send(c, inquiry, told);
        free_one(inquiry);
        some = true;
    }
    return some;
}

void inquiries_look(struct coordinator *c, inquiry_answer *answer)
{
    if (!c->inquiries.first)
        return;
    while (look_once(c, answer))
        ;
    set_limit(c);
}

void inquiry_answer_first(struct coordinator *c, struct inquiry *inquiry, cJSON *answer)
{
    inquiry->answered = true;
    send(c, inquiry, answer);
}

void inquiry_look_again(struct inquiry *inquiry, double seconds)
{
    inquiry->limit = monotonic_seconds() + seconds;
}

/* The tool has gone. */
static void inquiries_abandoned(struct coordinator *c, const void *handle)
{
    for (struct inquiry **at = &c->inquiries.first; *at; at = &(*at)->next)
        if ((*at)->process < 0 && (*at)->handle == handle) {
            struct inquiry *gone = *at;
            *at = gone->next;
            reply_send(c, &gone->handle, reply_refusal("failed", "it has gone"));
            free_one(gone);
            return;
        }
}

bool inquiry_is_late(const struct inquiry *inquiry)
{
    return inquiry->limit && monotonic_seconds() >= inquiry->limit;
}

/* ---- Together ------------------------------------------------------------------------------------ */

static bool is_same(const struct inquiry *a, const struct inquiry *b)
{
    return a->asked.key && b->asked.key && !strcmp(a->asked.key, b->asked.key);
}

/* Of this process, not met yet; the first one: it asks one after the other. */
static struct inquiry *of(struct coordinator *c, const struct inquiry *like, int process)
{
    for (struct inquiry *i = c->inquiries.first; i; i = i->next)
        if (i->process == process && !i->met && is_same(i, like))
            return i;
    return NULL;
}

static bool will_not_ask(const struct process *p)
{
    return p->ended || p->state == PROCESS_GONE || p->state == PROCESS_LOST || p->state == PROCESS_RETURNING;
}

/* It will ask no more, or has a thread that waits for an answer. */
static bool says_nothing(struct coordinator *c, int process, const char *about)
{
    const struct process *p = process_at(c, process);
    if (will_not_ask(p) || p->state == PROCESS_STANDBY || p->state == PROCESS_SPENT || p->state == PROCESS_HOSTING)
        return true;
    for (const struct inquiry *i = c->inquiries.first; i; i = i->next)
        if (i->process == process && !i->answered && !i->asked.beside && i->asked.wait &&
            !strcmp(i->asked.about, about))
            return true;
    return false;
}

bool inquiries_all_wait(struct coordinator *c, const char *about)
{
    bool all = true;
    for (int i = 0; all && i < c->processes.count; i++)
        all = says_nothing(c, i, about);
    return all;
}

int inquiry_meets(struct coordinator *c, struct inquiry *inquiry, const struct pset *set, inquiry_spared *spared,
                  struct error *why)
{
    if (inquiry->met)
        return 1;
    for (int i = 0; i < set->count; i++) {
        int process = set->members[i];
        if (of(c, inquiry, process) || (spared && spared(c, process)))
            continue;
        if (will_not_ask(process_at(c, process)))
            return error_set(why, ERROR_FAILED, "process %d (pid %d on %s) of %s has left, or has ended the program",
                             process, process_at(c, process)->pid, process_at(c, process)->host, set->name);
        return 0;
    }
    int number = ++c->inquiries.meetings;
    for (int i = 0; i < set->count; i++) {
        struct inquiry *one = of(c, inquiry, set->members[i]);
        if (!one)
            continue; /* it is spared */
        one->met = true;
        one->meeting = number;
    }
    return inquiry->met
               ? 1
               : error_set(why, ERROR_FAILED, "this process is none of %s, whose processes ask together", set->name);
}

void inquiry_decide(struct coordinator *c, struct inquiry *inquiry, int verdict)
{
    inquiry->verdict = verdict;
    for (struct inquiry *i = c->inquiries.first; i; i = i->next)
        if (i->meeting && i->meeting == inquiry->meeting)
            i->verdict = verdict;
}

static void inquiries_init(struct coordinator *c)
{
    timer_init(&c->inquiries.due, NULL, c, NULL);
}

static void inquiries_destroy(struct coordinator *c)
{
    while (c->inquiries.first) {
        struct inquiry *next = c->inquiries.first->next;
        free_one(c->inquiries.first);
        c->inquiries.first = next;
    }
}

const struct part inquiries_part = {
    .init = inquiries_init, .abandoned = inquiries_abandoned, .destroy = inquiries_destroy};
