/* Re-initialization. */
#include "runtime/coordinator/reinit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/resize.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

cJSON *reinit_malleable(struct coordinator *c, struct inquiry *inquiry)
{
    (void)inquiry;
    c->changes.holds = true;
    return inquiry_yes();
}

static bool is_open(const struct coordinator *c)
{
    const struct change *now = &c->changes.now;
    return now->state == CHANGE_ANNOUNCED || now->state == CHANGE_PENDING;
}

/* ---- Re-initializing ----------------------------------------------------------------------------- */

static cJSON *with_adaptation(int adaptation)
{
    cJSON *answer = inquiry_yes();
    cJSON_AddNumberToObject(answer, "adaptation", adaptation);
    return answer;
}

/* The ranks that leave, of all that have asked together, who are no more than the ranks. Their number; -1 with text:
 * they do not say the same. */
static int find_leavers(struct coordinator *c, const struct inquiry *inquiry, int *ranks, struct error *why)
{
    int leaving = 0, said = inquiry->asked.nleave;
    for (const struct inquiry *i = c->inquiries.first; i; i = i->next) {
        if (!i->met || i->meeting != inquiry->meeting || !i->asked.key)
            continue;
        int rank = process_at(c, i->process)->rank;
        if (i->asked.nleave != said)
            return error_set(why, ERROR_FAILED, "rank %d says that %d processes leave, rank %d that %d do", rank,
                             i->asked.nleave, process_at(c, inquiry->process)->rank, said);
        if (!i->asked.leave)
            continue;
        if (!rank)
            return error_set(why, ERROR_FAILED, "rank 0 cannot leave: it hosts the job's control");
        ranks[leaving++] = rank;
    }
    if (leaving != said)
        return error_set(why, ERROR_FAILED, "%d processes leave, but nleave is %d", leaving, said);
    return leaving;
}

/* The program decides: what is pending fits, gets the leavers, or makes room. -1 with text; else the adaptation. */
static int agree(struct coordinator *c, const struct ints *ranks, struct error *why)
{
    struct adaptation *a = adaptation_pending(c);
    if (a && a->joining && !adaptation_is_of(c, ranks) && adaptation_leave(c, ranks, why))
        return -1;
    if (a && !a->joining && !adaptation_is_of(c, ranks)) {
        adaptation_drop(c, ADAPTATION_CANCELLED, "failed", "the program chose otherwise as to which processes leave");
        a = NULL;
    }
    if (a)
        return a->id;
    if (!ranks->count)
        return 0;
    const struct request_resize request = {.size = RESIZE_NOT_SAID, .delta = -ranks->count, .release_ranks = *ranks};
    return resize_start(c, &request, BY_PROGRAM, why) ? -1 : c->changes.now.adaptation;
}

/* What came of it is the same answer to all: kept with their questions. */
static void decide(struct coordinator *c, struct inquiry *inquiry)
{
    struct error why = {0};
    int *ranks = calloc((size_t)c->processes.size, sizeof *ranks);
    int leaving = ranks ? find_leavers(c, inquiry, ranks, &why) : error_memory(&why);
    int adaptation = leaving < 0 ? -1 : agree(c, &(struct ints){ranks, leaving}, &why);
    free(ranks);
    if (adaptation > 0) {
        changes_go(c);
        adaptation_accepted(c);
    }
    for (struct inquiry *i = c->inquiries.first; i; i = i->next) {
        if (!i->met || i->meeting != inquiry->meeting)
            continue;
        i->decided = true;
        i->adaptation = adaptation;
        snprintf(i->refusal, sizeof i->refusal, "%.190s", why.text);
    }
}

cJSON *reinit_begin(struct coordinator *c, struct inquiry *inquiry)
{
    struct error why;
    const struct pset *world = psets_find(&c->changes.sets, PSETS_WORLD);
    if (!c->config.sessions)
        return inquiry_no("this program adapts by its blocks or by MPI_Probe_adapt, not by re-initialization");
    int met = inquiry_meets(c, inquiry, world, NULL, &why);
    if (met <= 0)
        return met ? inquiry_no(why.text) : NULL;
    if (is_open(c) && c->changes.now.added && !adaptation_is_ready(c) && !inquiry->decided)
        return NULL; /* what was spawned is on its way */
    if (!inquiry->decided)
        decide(c, inquiry);
    return inquiry->adaptation < 0 ? inquiry_no(inquiry->refusal) : with_adaptation(inquiry->adaptation);
}

/* ---- Spawning ------------------------------------------------------------------------------------ */

cJSON *reinit_spawn(struct coordinator *c, struct inquiry *inquiry)
{
    struct error why;
    int count = inquiry->asked.add;
    if (!c->config.sessions)
        return inquiry_no("this program adapts by its blocks or by MPI_Probe_adapt, not by MPIX_Spawn_async");
    if (adaptation_pending(c))
        return inquiry_no("there is a spawn or another change under way; only one is supported at a time");
    const struct request_resize request = {
        .size = RESIZE_NOT_SAID, .delta = count, .add_hosts = inquiry->asked.add_hosts};
    c->changes.wish = (struct change){.held = true};
    int failed = count < 1 ? error_set(&why, ERROR_FAILED, "%d processes cannot be spawned", count)
                           : resize_start(c, &request, BY_PROGRAM, &why);
    c->changes.wish = (struct change){0};
    if (failed)
        return inquiry_no(why.text);
    c->changes.spawns = inquiry->asked.number;
    return inquiry_yes();
}

/* Of the last spawn, or of processes that somebody else wants to join. */
static const char *status_of(const struct coordinator *c, const struct inquiry *inquiry)
{
    const struct change *now = &c->changes.now;
    if (c->changes.spawns < inquiry->asked.number)
        return "requested"; /* the root has not come to it */
    if (!now->added)
        return "none";
    if (now->state == CHANGE_ABORTED)
        return "failed";
    if (!is_open(c))
        return "none";
    return adaptation_is_ready(c) ? "complete" : "running";
}

cJSON *reinit_spawned(struct coordinator *c, struct inquiry *inquiry)
{
    const struct change *now = &c->changes.now;
    const struct adaptation *a = adaptation_pending(c);
    cJSON *answer = inquiry_yes();
    cJSON_AddStringToObject(answer, "status", status_of(c, inquiry));
    if (now->state == CHANGE_ABORTED)
        cJSON_AddStringToObject(answer, "reason", c->changes.reason);
    if (!a || !is_open(c))
        return answer;
    cJSON_AddNumberToObject(answer, "spawned", now->added ? now->added->count : 0);
    cJSON_AddNumberToObject(answer, "size", a->to);
    cJSON_AddNumberToObject(answer, "nleave", now->taken ? now->taken->count : 0);
    cJSON_AddBoolToObject(answer, "leave", now->taken && pset_has(now->taken, inquiry->process));
    cJSON_AddStringToObject(answer, "by", a->by == BY_PROGRAM ? "program" : "system");
    return answer;
}
