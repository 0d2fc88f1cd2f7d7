/* Requests for another size. */
#include "runtime/coordinator/resize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/batch.h"
#include "runtime/base/error.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

/* ---- Jobs of Slurm that hosts come with ---------------------------------------------------------- */

static struct slurm_job *slurm_jobs_find(const struct slurm_jobs *jobs, const char *host)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (hostlist_has(jobs->table[i].host, host))
            return &jobs->table[i];
    return NULL;
}

static bool slurm_jobs_note(struct slurm_jobs *jobs, const char *host, int job)
{
    struct slurm_job *known = slurm_jobs_find(jobs, host);
    if (!known && array_reserve(&jobs->table, &jobs->room, jobs->count + 1, sizeof *jobs->table))
        return false;
    if (!known) {
        known = &jobs->table[jobs->count++];
        strcpy(known->host, host);
    }
    known->job = job;
    return true;
}

/* What a request without a job says of a host is that it is in none that was named before. */
static int job_for(const struct request_resize *request, const char *host)
{
    const struct named_ints *each = &request->slurm_jobs;
    for (int i = 0; i < each->count; i++)
        if (hostlist_has(each->items[i].name, host))
            return each->items[i].value;
    return request->slurm_job;
}

static bool are_added(const struct request_resize *request, struct error *why)
{
    const struct named_ints *each = &request->slurm_jobs;
    for (int i = 0; i < each->count; i++)
        if (!hostlist_has(request->add_hosts, each->items[i].name)) {
            error_set(why, ERROR_FAILED, "%.100s is in a Slurm job, but not among the hosts to be added",
                      each->items[i].name);
            return false;
        }
    return true;
}

/* Takes note of what a resize request says of the hosts that it adds: "slurm_job" for all of them, or "slurm_jobs" by
 * host. False with the reason in why: nothing is noted then. */
static bool slurm_jobs_take(struct coordinator *c, const struct request_resize *request, struct error *why)
{
    char host[HOST_MAX];
    if (!are_added(request, why))
        return false;
    for (const char *at = request->add_hosts; at && hostlist_next(&at, host, NULL);)
        if (!slurm_jobs_note(&c->slurm_jobs, host, job_for(request, host))) {
            error_memory(why);
            return false;
        }
    return true;
}

/* A companion goes with what it was made for: where all leave, its number is of no use any more. */
static bool stays(const struct process *process)
{
    return process->state == PROCESS_RUNNING || process->state == PROCESS_STANDBY ||
           process->state == PROCESS_JOINING || process->state == PROCESS_HOSTING;
}

int slurm_jobs_of(const struct coordinator *c, const char *host)
{
    const struct slurm_job *named = slurm_jobs_find(&c->slurm_jobs, host);
    if (named && named->job)
        return named->job;
    for (int p = 0; p < c->processes.count; p++) {
        const struct process *process = process_at(c, p);
        if (stays(process) && process->slurm_job && hostlist_has(host, process->host))
            return process->slurm_job;
    }
    return 0;
}

static void slurm_jobs_destroy(struct slurm_jobs *jobs)
{
    free(jobs->table);
    *jobs = (struct slurm_jobs){0};
}

/* ---- Requests ------------------------------------------------------------------------------------ */

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
    if (rank < 0 || rank >= c->processes.size || (rank == 0 && !c->ways.replaces)) {
        error_set(why, ERROR_FAILED, rank ? "there is no rank %d" : "rank %d cannot leave: it hosts the job's control",
                  rank);
        return false;
    }
    r->named += !r->leaves[rank];
    r->leaves[rank] = 1;
    return true;
}

static bool mark_leavers(struct coordinator *c, struct resize *r, const struct request_resize *request,
                         struct error *why)
{
    for (int i = 0; i < request->release_ranks.count; i++)
        if (!resize_mark(c, r, request->release_ranks.items[i], why))
            return false;
    const char *hosts = request->release_hosts;
    bool found = !hosts;
    for (int i = 0; hosts && i < c->processes.size; i++)
        if (hostlist_has(hosts, process_of_rank(c, i)->host)) {
            found = true;
            if (!resize_mark(c, r, i, why))
                return false;
        }
    if (!found)
        error_set(why, ERROR_FAILED, "no rank runs on %.100s", hosts);
    return found;
}

/* How many ranks it wants; request NULL: without those that were named. */
static bool choose_wanted(const struct coordinator *c, struct resize *r, const struct request_resize *request,
                          struct error *why)
{
    bool by_delta = request && request->delta != RESIZE_NOT_SAID;
    int64_t asked = by_delta                                      ? (int64_t)c->processes.size + request->delta
                    : request && request->size != RESIZE_NOT_SAID ? request->size
                                                                  : c->processes.size - r->named;
    bool lends = c->config.maximum == c->config.processes;
    if (asked < 1)
        error_set(why, ERROR_FAILED, "%lld ranks make no world; the smallest is 1", (long long)asked);
    else if (asked > c->config.maximum)
        error_set(why, ERROR_FAILED,
                  lends ? "%lld ranks are more than the %d processes of this launch"
                        : "%lld ranks are more than the %d that --max allows",
                  (long long)asked, c->config.maximum);
    else
        r->wanted = (int)asked;
    return asked >= 1 && asked <= c->config.maximum;
}

static bool choose_size(struct coordinator *c, struct resize *r, const struct request_resize *request,
                        struct error *why)
{
    if (!choose_wanted(c, r, request, why))
        return false;
    int asked = r->wanted;
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

static cJSON *already_so(struct coordinator *c)
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

/* Is it a list of hosts, or missing? Of a tool the decoder has seen to it. */
static bool are_hosts(const char *hosts, struct error *why)
{
    if (!hosts || hostlist_valid(hosts))
        return true;
    error_set(why, ERROR_FAILED, "'%.100s' is no list of hosts, which are names with commas between them", hosts);
    return false;
}

int resize_start(struct coordinator *c, const struct request_resize *request, enum requester by, struct error *why)
{
    int result = -1;
    struct adaptation *a = NULL;
    struct resize r = {.leaves = calloc((size_t)c->processes.size, 1)};
    if (!r.leaves) {
        error_memory(why);
    } else if (adaptation_may_begin(c, why) && are_hosts(request->add_hosts, why) &&
               are_hosts(request->release_hosts, why) && slurm_jobs_take(c, request, why) &&
               mark_leavers(c, &r, request, why) && choose_size(c, &r, request, why) &&
               (by == BY_PROGRAM || changes_may_be(c, r.granted - c->processes.size, why))) {
        if (r.granted == c->processes.size && !r.named)
            result = 1;
        else if (!(a = adaptation_new(c, by, r.granted, r.wanted)))
            error_memory(why);
    }
    if (a) {
        choose_members(c, &r, a);
        result = adaptation_prepare(c, a, request->add_hosts, why);
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

bool resize_waits_for_end(const struct request_resize *request)
{
    return request->wait == 2; /* "vacated" */
}

bool resize_waits(const struct request_resize *request)
{
    return request->wait;
}

/* Under epoprm nodes are given to one job at a time: nobody else may say on how many this one runs. */
static bool is_ruled(void)
{
    return batch_job() && !strncmp(batch_job(), "epoprm:", 7);
}

static bool may_resize(const struct request_resize *request, struct error *why)
{
    if (!is_ruled() || request->scheduler)
        return true;
    error_set(why, ERROR_FAILED, "epoprm says on how many nodes it runs (it is job %s there; epoprm why %s)",
              batch_job() + 7, batch_job() + 7);
    return false;
}

/* The size of one process set is a size of the job: the request in these words, whose ranks are the caller's to free.
 * NULL with the reason. */
static int *of_set(struct coordinator *c, const struct request_resize *request, struct request_resize *whole,
                   struct error *why)
{
    struct pset *set = psets_find(&c->changes.sets, request->pset);
    if (!set || set->delta || !set->count || set->stale) {
        error_set(why, ERROR_FAILED, "there is no process set %.200s whose size could change", request->pset);
        return NULL;
    }
    int64_t wanted = request->size != RESIZE_NOT_SAID    ? request->size
                     : request->delta != RESIZE_NOT_SAID ? (int64_t)set->count + request->delta
                                                         : set->count;
    if (wanted < 1 || wanted > INT_MAX) {
        error_set(why, ERROR_FAILED, "%lld processes are no process set; the smallest is 1", (long long)wanted);
        return NULL;
    }
    int more = (int)wanted - set->count, leaving = more < 0 ? -more : 0;
    int *ranks = changes_choose_leavers(c, set, leaving, why);
    *whole = *request;
    whole->size = RESIZE_NOT_SAID;
    whole->delta = more;
    whole->release_ranks = (struct ints){ranks, leaving};
    if (ranks)
        c->changes.wish.bound = changes_bound(c, set);
    return ranks;
}

/* Adds the ranks there, but for so many of the first. False: none runs there. */
static bool add_behind(const struct coordinator *c, const char *host, int kept, int *ranks, int *count)
{
    int there = 0;
    for (int rank = 0; rank < c->processes.size; rank++)
        if (hostlist_has(host, process_of_rank(c, rank)->host) && ++there > kept)
            ranks[(*count)++] = rank;
    return there;
}

/* What hosts keep in ranks that leave: the request in these words, whose ranks are the caller's to free. NULL with the
 * reason. */
static int *of_hosts(const struct coordinator *c, const struct request_resize *request, struct request_resize *whole,
                     struct error *why)
{
    const struct ints *named = &request->release_ranks;
    const char *at = request->keep_hosts;
    char host[HOST_MAX];
    int kept, count = named->count, *ranks = calloc((size_t)(count + c->processes.size + 1), sizeof *ranks);
    if (!ranks)
        error_memory(why);
    for (int i = 0; ranks && i < count; i++)
        ranks[i] = named->items[i];
    while (!why->code && hostlist_next(&at, host, &kept))
        if (!add_behind(c, host, kept, ranks, &count))
            error_set(why, ERROR_FAILED, "no rank runs on %.100s", host);
    *whole = *request;
    whole->release_ranks = (struct ints){count ? ranks : NULL, count};
    if (!why->code)
        return ranks;
    free(ranks);
    return NULL;
}

static int start_request(struct coordinator *c, const struct request_resize *request, struct error *why)
{
    struct request_resize whole;
    if (!request->pset)
        return resize_start(c, request, BY_EPOPCTL, why);
    int *ranks = of_set(c, request, &whole, why);
    int result = ranks ? resize_start(c, &whole, BY_EPOPCTL, why) : -1;
    c->changes.wish.bound = NULL;
    free(ranks);
    return result;
}

static void carry_out(struct coordinator *c, void *handle, const struct request_resize *request)
{
    struct error why = {0};
    if (releases_take(c, handle, request))
        return;
    int result = start_request(c, request, &why);
    if (result > 0) {
        reply_send(c, &handle, already_so(c));
    } else if (result < 0) {
        adaptation_refuse(c, handle, why.text);
    } else {
        adaptation_answer(c, handle, resize_waits(request), resize_waits_for_end(request));
    }
}

void resize_from_tool(struct coordinator *c, void *handle, const struct request_resize *request)
{
    struct error why = {0};
    struct request_resize whole;
    int *ranks = NULL;
    if (!may_resize(request, &why)) {
        reply_send(c, &handle, reply_refusal("refused", why.text));
    } else if (!request->keep_hosts) {
        carry_out(c, handle, request);
    } else if (!(ranks = of_hosts(c, request, &whole, &why))) {
        adaptation_refuse(c, handle, why.text);
    } else {
        carry_out(c, handle, &whole);
        free(ranks);
    }
}

/* The wish is the scheduler's to fulfil, which finds it in the status. */
static void ask_scheduler(struct coordinator *c, const struct request_resize *request)
{
    int size = request->size != RESIZE_NOT_SAID ? request->size : c->processes.size - request->release_ranks.count;
    c->requests.asks = epop_sizes_round_down(&c->config.program->sizes, size);
}

/* Out of a world that is being made. */
static void resize_defer(struct coordinator *c, const struct report_request *report)
{
    if (!c->requests.deferred.is && !message_keep(&c->requests.deferred, KIND_REPORT, report->said))
        fatal_memory(c);
}

/*
 * The same request usually comes from every rank: the first one counts, the others are the same wish, also when
 * they come after it was carried out (their world is then an earlier one). A rank that is through a window may ask
 * before the others have left it: that waits.
 */
void resize_from_program(struct coordinator *c, int process, const struct report_request *report)
{
    struct error why = {0};
    struct adaptation *a = adaptation_pending(c);
    const struct request_resize request = {.size = report->size ? report->size : RESIZE_NOT_SAID,
                                           .delta = RESIZE_NOT_SAID,
                                           .add_hosts = report->add_hosts,
                                           .release_hosts = report->release_hosts,
                                           .release_ranks = report->release_ranks};
    if (a && a->state == ADAPTATION_WINDOW && report->world == a->id) {
        resize_defer(c, report);
        return;
    }
    bool same = a && a->by == BY_PROGRAM && a->requested_size == report->size;
    if (same || report->world != c->processes.world_id || process_at(c, process)->rank < 0)
        return;
    if (is_ruled())
        ask_scheduler(c, &request);
    else if (resize_start(c, &request, BY_PROGRAM, &why) < 0)
        publish_event(c, "refused", NULL, why.text);
}

/* What the program asked for out of the world that is there now. */
static void resize_deferred(struct coordinator *c)
{
    struct message deferred = c->requests.deferred;
    c->requests.deferred = (struct message){0};
    if (deferred.is)
        resize_from_program(c, c->processes.world[0], deferred.is);
    message_free(&deferred);
}

static void resize_destroy(struct coordinator *c)
{
    message_free(&c->requests.deferred);
    slurm_jobs_destroy(&c->slurm_jobs);
}

const struct part resize_part = {.new_world = resize_deferred, .destroy = resize_destroy};
