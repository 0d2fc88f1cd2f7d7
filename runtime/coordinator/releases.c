/* Releases of hosts and ranks that wait for their turn. */
#include "runtime/coordinator/releases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/departures.h"
#include "runtime/coordinator/events.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/resize.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

/* ---- The queue ----------------------------------------------------------------------------------- */

#define AGAIN 0.5 /* seconds until hosts that could not leave are tried again: another phase may let them */

struct release {
    void *handle;          /* NULL: it has been answered, or nobody waits */
    bool waits, vacated;   /* until it has happened; until the processes have ended */
    char *hosts;           /* owned; NULL: none */
    int *processes, count; /* of the ranks that were named: they may have other numbers by now; owned */
    struct release *next;
};

static void release_free(struct release *r)
{
    free(r->hosts);
    free(r->processes);
    free(r);
}

/* ---- A growth onto a host that goes -------------------------------------------------------------- */

/* Is there one host in both lists? */
static bool lists_meet(const char *added, const char *list)
{
    char name[HOST_MAX];
    while (hostlist_next(&added, name, NULL))
        if (hostlist_has(list, name))
            return true;
    return false;
}

/* Joiners that nobody has heard of yet may be anywhere where they were wanted. */
static bool joins_on(const struct coordinator *c, const struct adaptation *a, const char *list)
{
    bool unknown = false;
    for (int j = 0; j < a->joining; j++) {
        const struct process *p = process_at(c, a->joiners[j]);
        unknown |= !p->attached;
        if (p->attached && hostlist_has(list, p->host))
            return true;
    }
    return unknown && a->hosts && lists_meet(a->hosts, list);
}

/* Where it can still be called off. */
static bool call_off(struct coordinator *c, const char *list, const char *why)
{
    const struct adaptation *a = adaptation_pending(c);
    char reason[300];
    bool open = a && (a->state == ADAPTATION_PREPARING || a->state == ADAPTATION_PREPARED) && !preconnect_goes_on(c);
    if (!open || adaptation_is_for_phase(c) || !a->joining || !joins_on(c, a, list))
        return false;
    snprintf(reason, sizeof reason, "%.150s, where processes were to join, %s", list, why);
    adaptation_drop(c, ADAPTATION_CANCELLED, "failed", reason);
    return true;
}

/* ---- Requests ------------------------------------------------------------------------------------ */

static bool only_releases(const struct request_resize *request)
{
    bool releases = request->release_hosts || request->release_ranks.items;
    return releases && request->size == RESIZE_NOT_SAID && request->delta == RESIZE_NOT_SAID && !request->add_hosts;
}

static bool knows_hosts(const struct coordinator *c, const char *list)
{
    const struct adaptation *a = adaptation_pending(c);
    bool known = a && joins_on(c, a, list);
    for (int r = 0; !known && r < c->processes.size; r++)
        known = hostlist_has(list, process_of_rank(c, r)->host);
    return known;
}

static bool holds_rank_0(const struct coordinator *c, const struct release *r)
{
    if (c->ways.replaces)
        return false;
    for (int i = 0; i < r->count; i++)
        if (r->processes[i] == c->processes.world[0])
            return true;
    return r->hosts && hostlist_has(r->hosts, process_of_rank(c, 0)->host);
}

/* The processes of the ranks that it names. */
static bool take_ranks(const struct coordinator *c, struct release *r, const struct request_resize *request,
                       struct error *why)
{
    const struct ints *ranks = &request->release_ranks;
    r->processes = calloc((size_t)ranks->count + 1, sizeof *r->processes);
    for (int i = 0; i < ranks->count; i++) {
        int rank = ranks->items[i];
        if (!r->processes || rank < 0 || rank >= c->processes.size) {
            error_set(why, ERROR_FAILED, "there is no rank %d", rank);
            return false;
        }
        r->processes[r->count++] = c->processes.world[rank];
    }
    return true;
}

/* NULL with the reason. called_off: that its hosts have no ranks is all right. */
static struct release *release_new(struct coordinator *c, const struct request_resize *request, bool called_off,
                                   struct error *why)
{
    const char *hosts = request->release_hosts;
    struct release *r = calloc(1, sizeof *r);
    if (!r) {
        error_memory(why);
        return NULL;
    }
    r->waits = resize_waits(request);
    r->vacated = resize_waits_for_end(request);
    r->hosts = hosts ? strdup(hosts) : NULL;
    bool good = take_ranks(c, r, request, why);
    if (good && hosts && !called_off && !knows_hosts(c, hosts))
        error_set(why, ERROR_FAILED, "no rank runs on %.100s", hosts);
    else if (good && holds_rank_0(c, r))
        error_set(why, ERROR_FAILED, "rank 0 cannot leave: it hosts the job's control");
    if (!why->code)
        return r;
    release_free(r);
    return NULL;
}

static void releases_append(struct coordinator *c, struct release *r)
{
    struct release **end = &c->releases.first;
    while (*end)
        end = &(*end)->next;
    *end = r;
}

static bool is_queued(const struct coordinator *c, const struct release *r)
{
    const struct release *queued = c->releases.first;
    while (queued && queued != r)
        queued = queued->next;
    return queued;
}

/* It follows the pending one, whose number is all that can be said of it. */
static void answer_queued(struct coordinator *c, struct release *r)
{
    char note[120];
    cJSON *reply = reply_accepted("accepted");
    cJSON_AddTrueToObject(reply, "queued");
    cJSON_AddNumberToObject(reply, "size", c->processes.size);
    snprintf(note, sizeof note, "adaptation %d (%d -> %d) is pending; the release follows it",
             adaptation_pending(c)->id, adaptation_pending(c)->from, adaptation_pending(c)->to);
    cJSON_AddStringToObject(reply, "note", note);
    reply_send(c, &r->handle, reply);
}

int releases_count(const struct coordinator *c)
{
    int count = 0;
    for (const struct release *r = c->releases.first; r; r = r->next)
        count++;
    return count;
}

bool releases_take(struct coordinator *c, void *handle, const struct request_resize *request)
{
    struct error why = {0};
    const char *hosts = request->release_hosts;
    if (!only_releases(request) || c->stop.asked || c->ending.finished)
        return false;
    bool called_off = hosts && call_off(c, hosts, "is released");
    if (!called_off && !adaptation_pending(c) && !c->releases.first)
        return false;
    struct release *r = release_new(c, request, called_off, &why);
    if (!r) {
        publish_event(c, "refused", NULL, why.text);
        reply_send(c, &handle, reply_refusal("refused", why.text));
        return true;
    }
    r->handle = handle;
    releases_append(c, r);
    releases_carry_out(c);
    if (is_queued(c, r) && !r->waits && adaptation_pending(c))
        answer_queued(c, r);
    return true;
}

static void releases_abandoned(struct coordinator *c, const void *handle)
{
    for (struct release *r = c->releases.first; r; r = r->next)
        if (r->handle == handle)
            reply_send(c, &r->handle, reply_refusal("failed", "the requester has gone"));
}

void releases_end(struct coordinator *c, const char *code, const char *reason)
{
    while (c->releases.first) {
        struct release *r = c->releases.first;
        c->releases.first = r->next;
        reply_send(c, &r->handle, reply_refusal(code, reason));
        release_free(r);
    }
}

/* ---- SIGTERM ------------------------------------------------------------------------------------- */

static bool is_dismissed_rank(const struct process *p)
{
    return p->dismissed && p->rank > 0 && p->state == PROCESS_RUNNING;
}

/* "rank 3", "ranks 2,3", "" */
static void list_ranks(const struct coordinator *c, const char *host, char *text, size_t size)
{
    int count = 0;
    size_t length = 0;
    text[0] = 0;
    for (int r = 0; r < c->processes.size && length < size - 20; r++)
        if (is_dismissed_rank(process_of_rank(c, r)) && !strcmp(process_of_rank(c, r)->host, host))
            length += (size_t)snprintf(text + length, size - length, "%s%d", count++ ? "," : "", r);
}

static void say_told(struct coordinator *c, const char *host)
{
    char ranks[120], line[260];
    list_ranks(c, host, ranks, sizeof ranks);
    snprintf(line, sizeof line, "note: %.80s was told to end (SIGTERM); %s%s%s", host,
             ranks[0] ? "rank" : "no rank is there",
             strchr(ranks, ',') ? "s "
             : ranks[0]         ? " "
                                : "",
             ranks);
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s",
             !ranks[0]            ? ""
             : strchr(ranks, ',') ? " leave"
                                  : " leaves");
    c->config.ops->say(c->config.context, line, false);
}

void releases_told(struct coordinator *c, int process)
{
    char host[HOST_OWN_MAX];
    snprintf(host, sizeof host, "%s", process_at(c, process)->host);
    if (c->stop.asked || c->ending.finished || process_at(c, process)->dismissed || !process_at(c, process)->launch)
        return;
    for (int p = 0; p < c->processes.count; p++)
        if (process_at(c, p)->launch && process_at(c, p)->attached && !strcmp(process_at(c, p)->host, host))
            departures_dismiss(c, p);
    say_told(c, host);
    call_off(c, host, "was told to end (SIGTERM)");
}

bool releases_must(const struct coordinator *c)
{
    const struct adaptation *a = adaptation_pending(c);
    for (int r = 0; a && r < a->from && r < c->processes.size; r++)
        if (a->leaves[r] && is_dismissed_rank(process_of_rank(c, r)))
            return true;
    return false;
}

/* ---- Carrying out -------------------------------------------------------------------------------- */

static bool concerns(const struct release *r, const struct coordinator *c, int rank)
{
    for (int i = 0; i < r->count; i++)
        if (r->processes[i] == c->processes.world[rank])
            return true;
    return r->hosts && hostlist_has(r->hosts, process_of_rank(c, rank)->host);
}

static bool any_rank_of(const struct coordinator *c, const struct release *r)
{
    for (int rank = 0; rank < c->processes.size; rank++)
        if (concerns(r, c, rank))
            return true;
    return false;
}

static bool any_dismissed(const struct coordinator *c)
{
    for (int rank = 0; rank < c->processes.size; rank++)
        if (is_dismissed_rank(process_of_rank(c, rank)))
            return true;
    return false;
}

/* Or is on its way out, and nobody has heard from it yet. */
static bool was_there(const struct release *r, const struct process *p)
{
    bool unheard = p->state == PROCESS_RETURNING && !p->attached;
    return p->launch && r->hosts && (unheard || hostlist_has(r->hosts, p->host));
}

/* What it named has left meanwhile, or never came in. Who waits for the end of processes gets that of those that were
 * there. */
static void answer_gone(struct coordinator *c, struct release *r)
{
    int count = 0, *left = malloc(sizeof *left * (size_t)c->processes.count);
    struct waiter *waiters = NULL;
    cJSON *reply = reply_accepted("done");
    cJSON_AddNumberToObject(reply, "size", c->processes.size);
    cJSON_AddNumberToObject(reply, "requested", c->processes.size);
    cJSON_AddNumberToObject(reply, "from", c->processes.size);
    cJSON_AddItemToObject(reply, "joined", cJSON_CreateArray());
    cJSON_AddItemToObject(reply, "left", cJSON_CreateArray());
    cJSON_AddStringToObject(reply, "note", "no rank is there any more");
    for (int p = 0; left && p < c->processes.count; p++)
        if (was_there(r, process_at(c, p)))
            left[count++] = p;
    if (!r->vacated || !r->handle) {
        reply_send(c, &r->handle, reply);
        free(left);
    } else if (waiters_add(&waiters, r->handle, true)) {
        fatal_memory(c);
    } else {
        departures_begin(c, left, count, waiters, reply);
    }
}

static void drop_those_gone(struct coordinator *c)
{
    for (struct release **link = &c->releases.first; *link;) {
        struct release *r = *link;
        if (any_rank_of(c, r)) {
            link = &r->next;
            continue;
        }
        *link = r->next;
        answer_gone(c, r);
        release_free(r);
    }
}

/* The first `count` of them, and the hosts that were told to end. */
static struct adaptation *attempt(struct coordinator *c, int count, bool dismissed, struct error *why)
{
    struct resize resize = {.leaves = calloc((size_t)c->processes.size, 1)};
    const struct release *r = c->releases.first;
    bool good = resize.leaves;
    *why = (struct error){0};
    for (int i = 0; good && i < count; i++, r = r->next)
        for (int rank = 0; good && rank < c->processes.size; rank++)
            if (concerns(r, c, rank))
                good = resize_mark(c, &resize, rank, why);
    for (int rank = 1; good && dismissed && rank < c->processes.size; rank++)
        if (is_dismissed_rank(process_of_rank(c, rank)))
            good = resize_mark(c, &resize, rank, why);
    struct adaptation *a = good ? resize_release(c, &resize, why) : NULL;
    if (!resize.leaves)
        error_memory(why);
    free(resize.leaves);
    if (a)
        a->urgent = dismissed;
    return a;
}

static struct release *take_first(struct coordinator *c)
{
    struct release *r = c->releases.first;
    c->releases.first = r->next;
    return r;
}

/* The first `count` of them are part of it. */
static void begun(struct coordinator *c, struct adaptation *a, int count)
{
    while (count-- > 0) {
        struct release *r = take_first(c);
        if (r->handle && !r->waits)
            reply_send(c, &r->handle, adaptation_reply(a, "accepted"));
        else if (r->handle && waiters_add(&a->waiters, r->handle, r->vacated))
            fatal_memory(c);
        release_free(r);
    }
}

static void refuse_first(struct coordinator *c, const char *why)
{
    struct release *r = take_first(c);
    publish_event(c, "refused", NULL, why);
    reply_send(c, &r->handle, reply_refusal("refused", why));
    release_free(r);
}

static void say_cannot(struct coordinator *c, const char *why)
{
    char line[400];
    if (!c->releases.said) {
        snprintf(line, sizeof line, "note: the ranks of a host that was told to end cannot leave yet: %.300s", why);
        c->config.ops->say(c->config.context, line, false);
    }
    c->releases.said = true;
    timers_set(&c->timers, &c->releases.again, AGAIN);
}

/* All at once; if they cannot be together, one after the other. */
void releases_carry_out(struct coordinator *c)
{
    struct error why;
    struct adaptation *a = NULL;
    int count;
    c->releases.posted = false;
    if (c->stop.asked || c->ending.finished || adaptation_pending(c))
        return;
    drop_those_gone(c);
    bool dismissed = any_dismissed(c);
    count = releases_count(c);
    if (!count && !dismissed)
        return;
    if ((a = attempt(c, count, dismissed, &why))) {
        c->releases.said &= !dismissed;
        begun(c, a, count);
    } else if (count && (count > 1 || dismissed) && (a = attempt(c, 1, false, &why))) {
        begun(c, a, 1);
    } else if (count) {
        refuse_first(c, why.text);
    } else {
        say_cannot(c, why.text);
    }
}

/* If something waits and can be carried out: an event is posted, as it has to be known first where rank 0 is. */
static bool releases_advance(struct coordinator *c)
{
    struct releases *s = &c->releases;
    bool waits = s->posted || c->stop.asked || adaptation_pending(c);
    if (waits || (!s->first && (s->again.set || !any_dismissed(c))))
        return true;
    s->posted = true;
    events_post(&c->events, (struct event){.type = EVENT_RELEASES});
    return true;
}

static void releases_init(struct coordinator *c)
{
    timer_init(&c->releases.again, NULL, c, &c->limits);
}

static void releases_are_off(struct coordinator *c, const char *reason)
{
    releases_end(c, "failed", reason);
}

const struct part releases_part = {
    .init = releases_init, .advance = releases_advance, .abandoned = releases_abandoned, .end = releases_are_off};
