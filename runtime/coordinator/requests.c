/* Requests, from epopctl and from the program: checked, rounded or refused with the reason, then carried out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stops.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

static cJSON *accepted(const char *code)
{
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddStringToObject(reply, "code", code);
    return reply;
}

/* ---- Resize ----------------------------------------------------------------- */

/* One resize request on its way through the checks. */
struct resize {
    int wanted;  /* the size asked for */
    int granted; /* rounded to what the program accepts */
    int named;   /* ranks that are told to leave by name */
    char *leaves;
};

/* The rule to round by now: that of the elastic phase rank 0 is in, else the program's. */
static const epop_sizes_t *present_rule(struct coordinator *c)
{
    const epop_program_t *program = c->config.program;
    int pc = c->position.pc;
    bool elastic = pc >= 0 && pc < program->size && program->elements[pc].type == EPOP_EP;
    return elastic ? epop_sizes_at(program, pc) : &program->sizes;
}

static bool mark_leaver(struct coordinator *c, struct resize *r, int rank, char *why, size_t size)
{
    if (rank < 0 || rank >= c->size || (rank == 0 && !all_are_replaced(c))) {
        snprintf(why, size, rank ? "there is no rank %d" : "rank %d cannot leave: it hosts the job's control", rank);
        return false;
    }
    r->named += !r->leaves[rank];
    r->leaves[rank] = 1;
    return true;
}

static bool mark_leavers(struct coordinator *c, struct resize *r, const cJSON *request, char *why, size_t size)
{
    const cJSON *rank;
    cJSON_ArrayForEach(rank, cJSON_GetObjectItemCaseSensitive(request, "release_ranks"))
    {
        if (!mark_leaver(c, r, rank->valueint, why, size))
            return false;
    }
    const char *hosts = json_text(request, "release_hosts");
    bool found = !hosts;
    for (int i = 0; hosts && i < c->size; i++)
        if (host_listed(hosts, c->processes[c->world[i]].host)) {
            found = true;
            if (!mark_leaver(c, r, i, why, size))
                return false;
        }
    if (!found)
        snprintf(why, size, "no rank runs on %.100s", hosts);
    return found;
}

static bool choose_size(struct coordinator *c, struct resize *r, const cJSON *request, char *why, size_t size)
{
    int asked = json_int(request, "size", 0);
    if (cJSON_HasObjectItem(request, "delta"))
        asked = c->size + json_int(request, "delta", 0);
    else if (!cJSON_HasObjectItem(request, "size") || (!asked && r->named))
        asked = c->size - r->named;
    r->wanted = asked;
    if (asked < 1) {
        snprintf(why, size, "%d ranks make no world; the smallest is 1", asked);
        return false;
    }
    if (asked > c->config.maximum) {
        bool lends = c->config.maximum == c->config.processes;
        snprintf(why, size,
                 lends ? "%d ranks are more than the %d processes of this launch"
                       : "%d ranks are more than the %d that --max allows",
                 asked, c->config.maximum);
        return false;
    }
    r->granted = epop_sizes_round_down(present_rule(c), asked);
    if (!r->granted) {
        snprintf(why, size, "the program accepts neither %d ranks nor any smaller number", asked);
        return false;
    }
    if (r->granted == c->size && !r->named && asked != c->size) {
        snprintf(why, size, "the program does not accept %d ranks; the next smaller size, %d, is the present one",
                 asked, r->granted);
        return false;
    }
    return true;
}

/* Turns the sizes into who leaves and how many join: named ranks first, then the highest. */
static void choose_members(struct coordinator *c, const struct resize *r, struct adaptation *a)
{
    int surplus = c->size - r->named - r->granted;
    memcpy(a->leaves, r->leaves, (size_t)c->size);
    a->joining = surplus < 0 ? -surplus : 0;
    for (int rank = c->size - 1; rank > 0 && surplus > 0; rank--)
        if (!a->leaves[rank]) {
            a->leaves[rank] = 1;
            surplus--;
        }
}

cJSON *resize_reply(const struct adaptation *a, const char *code)
{
    cJSON *reply = accepted(code);
    cJSON_AddNumberToObject(reply, "adaptation", a->id);
    cJSON_AddNumberToObject(reply, "size", a->to);
    cJSON_AddNumberToObject(reply, "requested", a->requested_size);
    cJSON_AddNumberToObject(reply, "from", a->from);
    if (a->to != a->requested_size) {
        char note[96];
        snprintf(note, sizeof note, "rounded down from %d to %d, the next size that the program accepts",
                 a->requested_size, a->to);
        cJSON_AddStringToObject(reply, "note", note);
    }
    return reply;
}

static cJSON *already(struct coordinator *c)
{
    char note[64];
    cJSON *reply = accepted("done");
    cJSON_AddNumberToObject(reply, "size", c->size);
    cJSON_AddNumberToObject(reply, "requested", c->size);
    cJSON_AddNumberToObject(reply, "from", c->size);
    snprintf(note, sizeof note, "the job has %d rank%s already", c->size, c->size == 1 ? "" : "s");
    cJSON_AddStringToObject(reply, "note", note);
    return reply;
}

static bool check_hosts(const cJSON *request, const char *key, char *why, size_t size)
{
    const char *hosts = json_text(request, key);
    if (!hosts || hosts_valid(hosts))
        return true;
    snprintf(why, size, "'%.100s' is no list of hosts, which are names with commas between them", hosts);
    return false;
}

/* The checks and the start of a resize. 0; 1: nothing to do; -1 with the reason in why. */
static int start_resize(struct coordinator *c, const cJSON *request, const char *by, char *why, size_t size)
{
    int result = -1;
    struct adaptation *a = NULL;
    struct resize r = {.leaves = calloc((size_t)c->size, 1)};
    if (c->stopping || c->finished) {
        snprintf(why, size, "the job is ending");
    } else if (c->adaptation) {
        snprintf(why, size, "adaptation %d (%d -> %d) is pending; try again when it is through, or cancel it",
                 c->adaptation->id, c->adaptation->from, c->adaptation->to);
    } else if (!r.leaves) {
        snprintf(why, size, "out of memory");
    } else if (check_hosts(request, "add_hosts", why, size) && check_hosts(request, "release_hosts", why, size) &&
               mark_leavers(c, &r, request, why, size) && choose_size(c, &r, request, why, size)) {
        if (r.granted == c->size && !r.named)
            result = 1;
        else if (!(a = adaptation_new(c, by, r.granted, r.wanted)))
            snprintf(why, size, "out of memory");
    }
    if (a) {
        choose_members(c, &r, a);
        result = adaptation_prepare(c, a, json_text(request, "add_hosts"), why, size);
    }
    free(r.leaves);
    return result;
}

static void refused_event(struct coordinator *c, const char *why)
{
    publish(c, "refused", NULL, why);
}

static void handle_resize(struct coordinator *c, void *handle, const cJSON *request)
{
    char why[200] = "";
    int result = start_resize(c, request, "epopctl", why, sizeof why);
    if (result > 0) {
        answer(c, &handle, already(c));
    } else if (result < 0) {
        refused_event(c, why);
        answer(c, &handle, refusal("refused", why));
    } else if (json_true(request, "wait") && c->adaptation) {
        c->adaptation->handle = handle;
    } else {
        answer(c, &handle, resize_reply(c->adaptation, "accepted"));
    }
}

/*
 * The same request usually comes from every rank: the first one counts, the others are the same wish, also when
 * they come after it was carried out (their world is then an earlier one). A rank that is through a window may ask
 * before the others have left it: that waits.
 */
void handle_program_request(struct coordinator *c, int process, const cJSON *request)
{
    char why[200] = "";
    struct adaptation *a = c->adaptation;
    int world = json_int(request, "world", 0);
    if (a && a->state == ADAPTATION_WINDOW && world == a->id) {
        if (!c->deferred)
            c->deferred = cJSON_Duplicate(request, 1);
        return;
    }
    bool same = a && !strcmp(a->by, "program") && a->requested_size == json_int(request, "size", 0);
    if (same || world != c->world_id || c->processes[process].rank < 0)
        return;
    if (start_resize(c, request, "program", why, sizeof why) < 0)
        refused_event(c, why);
}

void handle_deferred(struct coordinator *c)
{
    cJSON *request = c->deferred;
    c->deferred = NULL;
    if (request)
        handle_program_request(c, c->world[0], request);
    cJSON_Delete(request);
}

/* ---- Pause, resume, stop, cancel -------------------------------------------- */

static void handle_pause(struct coordinator *c, void *handle)
{
    if (c->stopping || c->finished) {
        answer(c, &handle, refusal("refused", "the job is ending"));
    } else if (c->paused) {
        answer(c, &handle, accepted("done"));
    } else if (c->pausing) {
        answer(c, &handle, refusal("refused", "a pause is being agreed already"));
    } else {
        c->pausing = true;
        c->pause_handle = handle;
    }
}

/* The ranks go on; time limits that stood still run again. */
static void unpause(struct coordinator *c)
{
    if (c->adaptation)
        c->adaptation->pinged = 0; /* an answer from before the pause says nothing */
    if (c->paused && c->adaptation)
        c->adaptation->deadline = monotonic_seconds() + c->adaptation->margin;
    if (c->paused)
        estimate_skip(&c->estimate, monotonic_seconds() - c->paused_since);
    c->paused = c->pausing = false;
}

static void handle_resume(struct coordinator *c, void *handle)
{
    if (!c->pausing) {
        answer(c, &handle, refusal("refused", "the job is not paused"));
        return;
    }
    unpause(c);
    answer(c, &c->pause_handle, refusal("failed", "resumed before the pause was agreed"));
    publish(c, "resumed", NULL, NULL);
    answer(c, &handle, accepted("done"));
}

void request_stop(struct coordinator *c, const char *by)
{
    if (c->stopping || c->finished)
        return;
    if (c->adaptation && !is_for_phase(c->adaptation) && !linking_goes_on(c))
        adaptation_drop(c, ADAPTATION_CANCELLED, "failed", "the job was told to stop");
    unpause(c);
    answer(c, &c->pause_handle, refusal("failed", "the job was told to stop"));
    stops_refuse_waiting(c, "the job was told to stop");
    c->stops.count = 0;
    c->stops.stepping = false;
    stops_release(c);
    c->stopping = true;
    c->stopped_by = by;
    publish(c, "stopping", NULL, NULL);
}

static void handle_cancel(struct coordinator *c, void *handle)
{
    struct adaptation *a = c->adaptation;
    const char *why = !a                              ? "no resize is pending"
                      : a->state == ADAPTATION_WINDOW ? "it is too late: data is being moved"
                      : linking_goes_on(c)            ? "it is too late: the joining processes are being connected"
                      : is_for_phase(a)               ? "the phase cannot run without it"
                                                      : NULL;
    if (why) {
        answer(c, &handle, refusal("refused", why));
        return;
    }
    adaptation_drop(c, ADAPTATION_CANCELLED, "failed", "withdrawn");
    answer(c, &handle, accepted("done"));
}

static void handle_status(struct coordinator *c, void *handle)
{
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddItemToObject(reply, "job", status_json(c));
    answer(c, &handle, reply);
}

void handle_request(struct coordinator *c, void *handle, const cJSON *request)
{
    const char *op = json_text(request, "op");
    if (op && !strcmp(op, "status"))
        handle_status(c, handle);
    else if (op && !strcmp(op, "where"))
        survey_request(c, handle);
    else if (op && !strcmp(op, "resize"))
        handle_resize(c, handle, request);
    else if (op && !strcmp(op, "pause"))
        handle_pause(c, handle);
    else if (op && !strcmp(op, "resume"))
        handle_resume(c, handle);
    else if (op && !strcmp(op, "stop")) {
        request_stop(c, "epopctl stop");
        answer(c, &handle, accepted("accepted"));
    } else if (op && !strcmp(op, "cancel"))
        handle_cancel(c, handle);
    else if (!op || !stops_request(c, handle, op, request))
        answer(c, &handle, refusal("refused", "unknown request; this job's EPOP does not know it"));
}
