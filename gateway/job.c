/*
 * The job, by the wire: see job.h. Every request begins with a status, so that an answer is what the job says now. What
 * has happened is told by comparing one status with the one before, when the job tells of something, and every second
 * while a tool is there: of sets that are defined between two resizes no event tells.
 */
#include "gateway/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/query.h"
#include "gateway/request.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/wire/link.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/messages.h"

#define ATTACH_SECONDS 10.0
#define STATUS_SECONDS 10.0
#define ROUND_SECONDS  1.0
#define NAMED_MOST     64 /* allocation requests with names that are remembered */

static struct {
    struct event_base *base;
    struct wire_link *link;
    struct event *round;
    bool *over, tried, attached, fresh; /* fresh: there was a look before, to compare with */
    struct asked *early, **last;        /* what was asked before it was tried to attach */
    bool looking, again;
    char nspace[sizeof(pmix_nspace_t)], host[256];
    cJSON *job, *psets; /* as they were last looked at */
    cJSON *named;       /* view.requests */
} gateway = {.last = &gateway.early};

/* Status and sets, for whom they are asked. */
struct look {
    void (*then)(struct look *look, pmix_status_t status);
    struct asked *asked;
    cJSON *job, *psets;
};

static struct view view_of(const struct look *look)
{
    return (struct view){.nspace = gateway.nspace,
                         .host = gateway.host,
                         .job = look->job,
                         .psets = look->psets,
                         .requests = gateway.named};
}

static void look_end(struct look *look)
{
    cJSON_Delete(look->job);
    cJSON_Delete(look->psets);
    free(look);
}

static void on_sets(void *context, cJSON *answer, const struct error *why)
{
    struct look *look = context;
    (void)why;
    look->psets = cJSON_DetachItemFromObjectCaseSensitive(answer, "psets");
    cJSON_Delete(answer);
    look->then(look, PMIX_SUCCESS);
}

static void on_status(void *context, cJSON *answer, const struct error *why)
{
    struct look *look = context;
    pmix_status_t status = request_status(answer, why);
    cJSON *request = json_message(REQUEST(psets));
    cJSON_AddStringToObject(request, "about", "all");
    look->job = cJSON_DetachItemFromObjectCaseSensitive(answer, "job");
    if (status != PMIX_SUCCESS || !look->job)
        look->then(look, status == PMIX_SUCCESS ? PMIX_ERROR : status);
    else if (wire_link_ask(gateway.link, request, STATUS_SECONDS, on_sets, look))
        look->then(look, PMIX_ERR_NOMEM);
    cJSON_Delete(request);
    cJSON_Delete(answer);
}

/* -1: there is no memory. */
static int look(void (*then)(struct look *look, pmix_status_t status), struct asked *asked)
{
    struct look *it = calloc(1, sizeof *it);
    cJSON *request = json_message(REQUEST(status));
    int result = -1;
    if (it) {
        it->then = then;
        it->asked = asked;
        result = wire_link_ask(gateway.link, request, STATUS_SECONDS, on_status, it);
    }
    cJSON_Delete(request);
    if (result)
        free(it);
    return result;
}

/* ---- What happens --------------------------------------------------------------------- */

enum { INFOS = 6 };

/* Not for tools that come later. */
static pmix_info_t *event_infos(size_t *count)
{
    pmix_info_t *info;
    bool yes = true;
    PMIX_INFO_CREATE(info, INFOS);
    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    *count = 1;
    return info;
}

static void tell(pmix_status_t code, int process, pmix_info_t *info, size_t count)
{
    const struct view view = {.nspace = gateway.nspace};
    pmix_proc_t source;
    view_proc(&view, process, &source);
    if (process < 0)
        source.rank = PMIX_RANK_WILDCARD;
    server_notify(code, &source, info, count);
}

static void tell_of_process(pmix_status_t code, const char *what, int process)
{
    const struct view view = {.nspace = gateway.nspace};
    size_t count;
    pmix_info_t *info = event_infos(&count);
    pmix_proc_t proc;
    view_proc(&view, process, &proc);
    PMIX_INFO_LOAD(&info[count++], PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    PMIX_INFO_LOAD(&info[count++], PMIX_EVENT_TEXT_MESSAGE, what, PMIX_STRING);
    tell(code, process, info, count);
}

static void tell_of_set(pmix_status_t code, const char *name, const cJSON *processes)
{
    const struct view view = {.nspace = gateway.nspace};
    size_t count;
    pmix_info_t *info = event_infos(&count);
    PMIX_INFO_LOAD(&info[count++], PMIX_PSET_NAME, name, PMIX_STRING);
    if (processes)
        query_give_array(&info[count++], PMIX_PSET_MEMBERS, query_procs(&view, processes));
    tell(code, -1, info, count);
}

static void tell_of_commit(const cJSON *event)
{
    struct message message;
    struct error why;
    char id[24];
    size_t count;
    if (!message_decode(&message, KIND_EVENT, event, &why)) {
        message_refuse(&why);
        return;
    }
    const struct event_committed *committed = message.is;
    uint32_t size = (uint32_t)committed->to;
    pmix_info_t *info = event_infos(&count);
    snprintf(id, sizeof id, "%d", committed->adaptation);
    PMIX_INFO_LOAD(&info[count++], PMIX_EVENT_TEXT_MESSAGE, "committed", PMIX_STRING);
    PMIX_INFO_LOAD(&info[count++], PMIX_ALLOC_ID, id, PMIX_STRING);
    PMIX_INFO_LOAD(&info[count++], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    message_free(&message);
    tell(SERVER_EVENT, -1, info, count);
}

static const cJSON *process_in(const cJSON *job, int number)
{
    const cJSON *process;
    cJSON_ArrayForEach(process, cJSON_GetObjectItemCaseSensitive(
                                    job, "processes")) if (json_int(process, "process", -1) == number) return process;
    return NULL;
}

static bool lost(const cJSON *process)
{
    const char *state = json_text(process, "state");
    return state && !strcmp(state, "lost");
}

static void compare_processes(const cJSON *before, const cJSON *now)
{
    const cJSON *process;
    cJSON_ArrayForEach(process, cJSON_GetObjectItemCaseSensitive(before, "processes"))
    {
        int number = json_int(process, "process", -1);
        const cJSON *after = process_in(now, number);
        if (!view_counts(process) || lost(process))
            continue;
        if (lost(after))
            tell_of_process(PMIX_ERR_PROC_TERM_WO_SYNC, "died", number);
        else if (!view_counts(after))
            tell_of_process(PMIX_EVENT_PROC_TERMINATED, "went", number);
    }
    cJSON_ArrayForEach(process,
                       cJSON_GetObjectItemCaseSensitive(
                           now, "processes")) if (view_counts(process) &&
                                                  !view_counts(process_in(before, json_int(process, "process", -1))))
        tell_of_process(SERVER_EVENT, "came", json_int(process, "process", -1));
}

/* One of that name with other processes is another one. */
static void compare_sets(const cJSON *before, const cJSON *now)
{
    const cJSON *set;
    cJSON_ArrayForEach(set, before)
    {
        const char *name = json_text(set, "name");
        if (name && !query_set(now, name))
            tell_of_set(PMIX_PROCESS_SET_DELETE, name, NULL);
    }
    cJSON_ArrayForEach(set, now)
    {
        const char *name = json_text(set, "name");
        const cJSON *members = cJSON_GetObjectItemCaseSensitive(set, "processes");
        const cJSON *old = name ? query_set(before, name) : NULL;
        if (name && !(old && cJSON_Compare(members, cJSON_GetObjectItemCaseSensitive(old, "processes"), 1)))
            tell_of_set(PMIX_PROCESS_SET_DEFINE, name, members);
    }
}

static void look_around(void);

static void seen(struct look *it, pmix_status_t status)
{
    gateway.looking = false;
    if (status == PMIX_SUCCESS) {
        if (gateway.fresh) {
            compare_processes(gateway.job, it->job);
            compare_sets(gateway.psets, it->psets);
        }
        cJSON *job = gateway.job, *psets = gateway.psets;
        gateway.job = it->job;
        gateway.psets = it->psets;
        gateway.fresh = true;
        it->job = job;
        it->psets = psets;
    }
    look_end(it);
    if (gateway.again)
        look_around();
}

/* One at a time. */
static void look_around(void)
{
    gateway.again = gateway.looking;
    if (!gateway.looking)
        gateway.looking = !look(seen, NULL);
}

static void on_round(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    if (server_has_guests())
        look_around();
    wire_timer_set(gateway.round, ROUND_SECONDS);
}

static void on_message(void *context, const cJSON *message)
{
    enum message_id id = message_named(KIND_EVENT, message);
    (void)context;
    if (id == event_committed_id)
        tell_of_commit(message);
    if (id != MESSAGE_NONE)
        look_around();
}

static void finish(void)
{
    *gateway.over = true;
    wire_wake(gateway.base);
}

static void on_ended(void *context, bool was_lost)
{
    size_t count;
    pmix_info_t *info = event_infos(&count);
    pmix_status_t status = was_lost ? PMIX_ERR_JOB_TERM_WO_SYNC : PMIX_SUCCESS;
    (void)context;
    PMIX_INFO_LOAD(&info[count++], PMIX_JOB_TERM_STATUS, &status, PMIX_STATUS);
    tell(PMIX_EVENT_JOB_END, -1, info, count);
    finish();
}

/* ---- What tools ask -------------------------------------------------------------------- */

static void answer(struct asked *asked, pmix_status_t status)
{
    server_answer(asked, status, NULL, 0);
}

/* Under the name that the tool gave it: for a query of how it stands. */
static void remember(const struct asked *asked, cJSON *what)
{
    const char *name = request_name(asked);
    if (!name) {
        cJSON_Delete(what);
        return;
    }
    cJSON_DeleteItemFromObjectCaseSensitive(gateway.named, name);
    if (cJSON_GetArraySize(gateway.named) >= NAMED_MOST)
        cJSON_DeleteItemFromArray(gateway.named, 0);
    cJSON_AddItemToObject(gateway.named, name, what);
}

static void on_answer(void *context, cJSON *said, const struct error *why)
{
    struct asked *asked = context;
    const struct view view = {.nspace = gateway.nspace, .job = gateway.job};
    pmix_info_t *info;
    size_t count;
    if (said)
        remember(asked, cJSON_Duplicate(said, 1));
    request_answer(&view, asked, said, &info, &count);
    server_answer(asked, request_status(said, why), info, count);
    cJSON_Delete(said);
}

static void pass_on(const struct view *view, struct asked *asked)
{
    pmix_status_t status;
    cJSON *request = request_of(view, asked, &status);
    if (!request) {
        answer(asked, status);
        return;
    }
    remember(asked, cJSON_CreateTrue());
    if (wire_link_ask(gateway.link, request, request_patience(asked), on_answer, asked))
        answer(asked, PMIX_ERR_NOMEM);
    cJSON_Delete(request);
}

static void looked(struct look *it, pmix_status_t status)
{
    struct asked *asked = it->asked;
    const struct view view = view_of(it);
    pmix_info_t *info;
    size_t count;
    if (status != PMIX_SUCCESS) {
        answer(asked, status);
    } else if (asked->kind == ASKED_QUERY) {
        status = query_answer(&view, asked->queries, asked->query_count, &info, &count);
        server_answer(asked, status, info, count);
    } else {
        pass_on(&view, asked);
    }
    look_end(it);
}

static void take(struct asked *asked)
{
    if (!gateway.attached)
        answer(asked, PMIX_ERR_UNREACH);
    else if (look(looked, asked))
        answer(asked, PMIX_ERR_NOMEM);
}

/* PMIx lets tools in before the job is known. */
void job_take(struct asked *asked)
{
    if (gateway.tried) {
        take(asked);
        return;
    }
    asked->next = NULL;
    *gateway.last = asked;
    gateway.last = &asked->next;
}

static void take_early(void)
{
    gateway.tried = true;
    for (struct asked *asked = gateway.early, *next; asked; asked = next) {
        next = asked->next;
        take(asked);
    }
}

/* ---- Begin --------------------------------------------------------------------------- */

static void on_watching(void *context, cJSON *said, const struct error *why)
{
    (void)context, (void)why;
    cJSON_Delete(said);
}

static void on_attached(void *context, const struct error *why_not)
{
    cJSON *watch = json_message(REQUEST(watch));
    (void)context;
    gateway.attached = !why_not;
    take_early();
    if (why_not || wire_link_ask(gateway.link, watch, STATUS_SECONDS, on_watching, NULL))
        finish();
    else
        look_around();
    cJSON_Delete(watch);
}

bool job_attached(void)
{
    return gateway.attached;
}

int job_open(struct event_base *base, const struct control_job *job, bool *over, struct error *error)
{
    static const struct wire_link_ops ops = {.attached = on_attached, .message = on_message, .ended = on_ended};
    gateway.base = base;
    gateway.over = over;
    snprintf(gateway.nspace, sizeof gateway.nspace, "%s", job->id);
    snprintf(gateway.host, sizeof gateway.host, "%s", host_own());
    gateway.named = cJSON_CreateObject();
    gateway.round = evtimer_new(base, on_round, NULL);
    if (!gateway.round || !gateway.named)
        return error_memory(error);
    gateway.link = wire_link_open(base, job->uri, job->token, WIRE_TOOL, 0, &ops, NULL, ATTACH_SECONDS, error);
    if (!gateway.link)
        return -1;
    wire_timer_set(gateway.round, ROUND_SECONDS);
    return 0;
}
