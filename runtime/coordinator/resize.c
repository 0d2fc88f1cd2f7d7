/* Requests for another size: see resize.h. */
#include "runtime/coordinator/resize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/batch.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/hosts.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/publish.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/reply.h"
#include "runtime/coordinator/slurm_jobs.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/waiters.h"

/* The rule to round by now: that of the elastic phase rank 0 is in, else the program's. */
static const epop_sizes_t *present_rule(struct coordinator *c)
{
    const epop_program_t *program = c->config.program;
    int pc = c->position.at.pc;
    bool elastic = pc >= 0 && pc < program->size && program->elements[pc].type == EPOP_EP;
    return elastic ? epop_sizes_at(program, pc) : &program->sizes;
}

bool resize_mark(struct coordinator *c, struct resize *r, int rank, struct error *why)
{
    if (rank < 0 || rank >= c->processes.size || (rank == 0 && !adaptation_replaces_all(c))) {
        error_set(why, ERROR_FAILED, rank ? "there is no rank %d" : "rank %d cannot leave: it hosts the job's control",
                  rank);
        return false;
    }
    r->named += !r->leaves[rank];
    r->leaves[rank] = 1;
    return true;
}

static bool mark_leavers(struct coordinator *c, struct resize *r, const cJSON *request, struct error *why)
{
    const cJSON *rank;
    cJSON_ArrayForEach(rank, cJSON_GetObjectItemCaseSensitive(request, "release_ranks"))
    {
        if (!resize_mark(c, r, rank->valueint, why))
            return false;
    }
    const char *hosts = json_text(request, "release_hosts");
    bool found = !hosts;
    for (int i = 0; hosts && i < c->processes.size; i++)
        if (hosts_has(hosts, process_of_rank(c, i)->host)) {
            found = true;
            if (!resize_mark(c, r, i, why))
                return false;
        }
    if (!found)
        error_set(why, ERROR_FAILED, "no rank runs on %.100s", hosts);
    return found;
}

static bool choose_size(struct coordinator *c, struct resize *r, const cJSON *request, struct error *why)
{
    int asked = json_int(request, "size", 0);
    if (cJSON_HasObjectItem(request, "delta"))
        asked = c->processes.size + json_int(request, "delta", 0);
    else if (!cJSON_HasObjectItem(request, "size") || (!asked && r->named))
        asked = c->processes.size - r->named;
    r->wanted = asked;
    if (asked < 1) {
        error_set(why, ERROR_FAILED, "%d ranks make no world; the smallest is 1", asked);
        return false;
    }
    if (asked > c->config.maximum) {
        bool lends = c->config.maximum == c->config.processes;
        error_set(why, ERROR_FAILED,
                  lends ? "%d ranks are more than the %d processes of this launch"
                        : "%d ranks are more than the %d that --max allows",
                  asked, c->config.maximum);
        return false;
    }
    r->granted = epop_sizes_round_down(present_rule(c), asked);
    if (!r->granted) {
        error_set(why, ERROR_FAILED, "the program accepts neither %d ranks nor any smaller number", asked);
        return false;
    }
    if (r->granted == c->processes.size && !r->named && asked != c->processes.size) {
        error_set(why, ERROR_FAILED,
                  "the program does not accept %d ranks; the next smaller size, %d, is the present one", asked,
                  r->granted);
        return false;
    }
    return true;
}

/* Turns the sizes into who leaves and how many join: named ranks first, then the highest. */
static void choose_members(struct coordinator *c, const struct resize *r, struct adaptation *a)
{
    int surplus = c->processes.size - r->named - r->granted;
    memcpy(a->leaves, r->leaves, (size_t)c->processes.size);
    a->joining = surplus < 0 ? -surplus : 0;
    for (int rank = c->processes.size - 1; rank > 0 && surplus > 0; rank--)
        if (!a->leaves[rank]) {
            a->leaves[rank] = 1;
            surplus--;
        }
}

static cJSON *already(struct coordinator *c)
{
    char note[64];
    cJSON *reply = reply_accepted("done");
    cJSON_AddNumberToObject(reply, "size", c->processes.size);
    cJSON_AddNumberToObject(reply, "requested", c->processes.size);
    cJSON_AddNumberToObject(reply, "from", c->processes.size);
    snprintf(note, sizeof note, "the job has %d rank%s already", c->processes.size, c->processes.size == 1 ? "" : "s");
    cJSON_AddStringToObject(reply, "note", note);
    return reply;
}

bool resize_hosts_valid(const cJSON *request, const char *key, struct error *why)
{
    const char *hosts = json_text(request, key);
    if (!hosts || hosts_valid(hosts))
        return true;
    error_set(why, ERROR_FAILED, "'%.100s' is no list of hosts, which are names with commas between them", hosts);
    return false;
}

int resize_start(struct coordinator *c, const cJSON *request, enum requester by, struct error *why)
{
    int result = -1;
    struct adaptation *a = NULL;
    struct resize r = {.leaves = calloc((size_t)c->processes.size, 1)};
    if (c->stop.asked || c->ending.finished) {
        error_set(why, ERROR_FAILED, "the job is ending");
    } else if (adaptation_pending(c)) {
        error_set(why, ERROR_FAILED, "adaptation %d (%d -> %d) is pending; try again when it is through, or cancel it",
                  adaptation_pending(c)->id, adaptation_pending(c)->from, adaptation_pending(c)->to);
    } else if (!r.leaves) {
        error_memory(why);
    } else if (resize_hosts_valid(request, "add_hosts", why) && resize_hosts_valid(request, "release_hosts", why) &&
               slurm_jobs_take(c, request, why) && mark_leavers(c, &r, request, why) &&
               choose_size(c, &r, request, why)) {
        if (r.granted == c->processes.size && !r.named)
            result = 1;
        else if (!(a = adaptation_new(c, by, r.granted, r.wanted)))
            error_memory(why);
    }
    if (a) {
        choose_members(c, &r, a);
        result = adaptation_prepare(c, a, json_text(request, "add_hosts"), why);
    }
    free(r.leaves);
    return result;
}

struct adaptation *resize_release(struct coordinator *c, struct resize *r, struct error *why)
{
    if (!choose_size(c, r, NULL, why))
        return NULL;
    struct adaptation *a = adaptation_new(c, BY_EPOPCTL, r->granted, r->wanted);
    if (!a) {
        error_memory(why);
        return NULL;
    }
    choose_members(c, r, a);
    return adaptation_prepare(c, a, NULL, why) ? NULL : adaptation_pending(c);
}

bool resize_waits_for_end(const cJSON *request)
{
    const char *until = json_text(request, "wait");
    return until && !strcmp(until, "vacated");
}

bool resize_waits(const cJSON *request)
{
    return json_true(request, "wait") || resize_waits_for_end(request);
}

static void refused_event(struct coordinator *c, const char *why)
{
    publish_event(c, "refused", NULL, why);
}

/* Under epoprm nodes are given to one job at a time: nobody else may say on how many this one runs. */
static bool is_ruled(void)
{
    return batch_job() && !strncmp(batch_job(), "epoprm:", 7);
}

static bool may_resize(const cJSON *request, struct error *why)
{
    if (!is_ruled() || json_true(request, "scheduler"))
        return true;
    error_set(why, ERROR_FAILED, "epoprm says on how many nodes it runs (it is job %s there; epoprm why %s)",
              batch_job() + 7, batch_job() + 7);
    return false;
}

/* The size of one process set is a size of the job: the request in these words, or NULL with the reason. */
static cJSON *of_set(struct coordinator *c, const cJSON *request, struct error *why)
{
    struct pset *set = psets_find(&c->changes.sets, json_text(request, "pset"));
    if (!set || set->delta || !set->count || set->stale) {
        error_set(why, ERROR_FAILED, "there is no process set %.200s whose size could change",
                  json_text(request, "pset"));
        return NULL;
    }
    int wanted = json_int(request, "size", set->count) + json_int(request, "delta", 0), more = wanted - set->count;
    cJSON *whole = cJSON_Duplicate(request, 1);
    cJSON_DeleteItemFromObjectCaseSensitive(whole, "size");
    cJSON_DeleteItemFromObjectCaseSensitive(whole, "delta");
    cJSON_AddNumberToObject(whole, "size", c->processes.size + more);
    bool possible = wanted >= 1;
    if (!possible)
        error_set(why, ERROR_FAILED, "%d processes are no process set; the smallest is 1", wanted);
    if (possible && (more >= 0 || !changes_choose_leavers(c, set, -more, whole, why))) {
        c->changes.wish.bound = changes_bound(c, set);
        return whole;
    }
    cJSON_Delete(whole);
    return NULL;
}

static int start_request(struct coordinator *c, const cJSON *request, struct error *why)
{
    if (!json_text(request, "pset"))
        return resize_start(c, request, BY_EPOPCTL, why);
    cJSON *whole = of_set(c, request, why);
    int result = whole ? resize_start(c, whole, BY_EPOPCTL, why) : -1;
    c->changes.wish.bound = NULL;
    cJSON_Delete(whole);
    return result;
}

void resize_request(struct coordinator *c, void *handle, const cJSON *request)
{
    struct error why = {0};
    if (!may_resize(request, &why)) {
        reply_send(c, &handle, reply_refusal("refused", why.text));
        return;
    }
    if (releases_take(c, handle, request))
        return;
    int result = start_request(c, request, &why);
    if (result > 0) {
        reply_send(c, &handle, already(c));
    } else if (result < 0) {
        refused_event(c, why.text);
        reply_send(c, &handle, reply_refusal("refused", why.text));
    } else if (!resize_waits(request) || !adaptation_pending(c)) {
        reply_send(c, &handle, adaptation_reply(adaptation_pending(c), "accepted"));
    } else if (waiters_add(&adaptation_pending(c)->waiters, handle, resize_waits_for_end(request))) {
        fatal_memory(c);
    }
}

/* The wish is the scheduler's to fulfil, which finds it in the status. */
static void ask_scheduler(struct coordinator *c, const cJSON *request)
{
    int ranks = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(request, "release_ranks"));
    int size = json_int(request, "size", c->processes.size - ranks);
    c->requests.asks = epop_sizes_round_down(&c->config.program->sizes, size);
}

/*
 * The same request usually comes from every rank: the first one counts, the others are the same wish, also when
 * they come after it was carried out (their world is then an earlier one). A rank that is through a window may ask
 * before the others have left it: that waits.
 */
void resize_program(struct coordinator *c, int process, const cJSON *request)
{
    struct error why = {0};
    struct adaptation *a = adaptation_pending(c);
    int world = json_int(request, "world", 0);
    if (a && a->state == ADAPTATION_WINDOW && world == a->id) {
        if (!c->requests.deferred)
            c->requests.deferred = cJSON_Duplicate(request, 1);
        return;
    }
    bool same = a && a->by == BY_PROGRAM && a->requested_size == json_int(request, "size", 0);
    if (same || world != c->processes.world_id || process_at(c, process)->rank < 0)
        return;
    if (is_ruled())
        ask_scheduler(c, request);
    else if (resize_start(c, request, BY_PROGRAM, &why) < 0)
        refused_event(c, why.text);
}

void resize_deferred(struct coordinator *c)
{
    cJSON *request = c->requests.deferred;
    c->requests.deferred = NULL;
    if (request)
        resize_program(c, c->processes.world[0], request);
    cJSON_Delete(request);
}
