/* From PMIx's requests to those of the job: see request.h. */
#include "gateway/request.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/base/proctree.h"
#include "runtime/wire/messages.h"

static const pmix_value_t *value_of(const struct asked *asked, const char *key)
{
    for (size_t i = 0; i < asked->info_count; i++)
        if (PMIX_CHECK_KEY(&asked->info[i], key))
            return &asked->info[i].value;
    return NULL;
}

static const char *text_of(const struct asked *asked, const char *key)
{
    const pmix_value_t *value = value_of(asked, key);
    return value && value->type == PMIX_STRING ? value->data.string : NULL;
}

/* Tools give numbers in several sizes. Negative: it is none, or not there. */
static double number_of(const struct asked *asked, const char *key)
{
    const pmix_value_t *value = value_of(asked, key);
    switch (value ? value->type : PMIX_UNDEF) {
    case PMIX_UINT64:
        return (double)value->data.uint64;
    case PMIX_SIZE:
        return (double)value->data.size;
    case PMIX_UINT32:
        return value->data.uint32;
    case PMIX_UINT16:
        return value->data.uint16;
    case PMIX_INT:
        return value->data.integer;
    case PMIX_INT32:
        return value->data.int32;
    default:
        return -1;
    }
}

static bool is_set(const struct asked *asked, const char *key)
{
    const pmix_value_t *value = value_of(asked, key);
    return value && (value->type != PMIX_BOOL || value->data.flag);
}

double request_patience(const struct asked *asked)
{
    double seconds = number_of(asked, PMIX_TIMEOUT);
    return seconds > 0 ? seconds : 0;
}

const char *request_name(const struct asked *asked)
{
    return asked->kind == ASKED_ALLOCATION ? text_of(asked, PMIX_ALLOC_REQ_ID) : NULL;
}

/* ---- Allocation ------------------------------------------------------------------- */

/* The hosts without that of rank 0, which stays; the last ones, of which the highest ranks are, come last. */
static bool name_hosts(const struct view *view, int count, char *list, size_t size)
{
    cJSON *hosts = view_hosts(view);
    int all = cJSON_GetArraySize(hosts);
    size_t used = 0;
    bool enough = count > 0 && count < all;
    for (int i = all - count; enough && i < all && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%s", used ? "," : "",
                                 cJSON_GetArrayItem(hosts, i)->valuestring);
    cJSON_Delete(hosts);
    return enough && used < size;
}

/* So many ranks as that many hosts have now. */
static double ranks_of(const struct view *view, double nodes)
{
    cJSON *hosts = view_hosts(view);
    int count = cJSON_GetArraySize(hosts), size = json_int(view->job, "size", 1);
    cJSON_Delete(hosts);
    return nodes * (count ? (size + count - 1) / count : 1);
}

/* A list with commas, no regular expression of PMIx's. */
static bool is_list(const char *hosts)
{
    return hosts[0] && !strpbrk(hosts, "[]: \t\n");
}

static pmix_status_t by_names(const struct asked *asked, bool extend, const char *hosts, cJSON *request)
{
    double cpus = number_of(asked, PMIX_ALLOC_NUM_CPUS);
    int count = 1;
    if (!is_list(hosts))
        return PMIX_ERR_NOT_SUPPORTED;
    for (const char *at = hosts; (at = strchr(at, ',')); at++)
        count++;
    cJSON_AddStringToObject(request, extend ? "add_hosts" : "release_hosts", hosts);
    if (extend)
        cJSON_AddNumberToObject(request, "delta", cpus > 0 ? cpus : count);
    return PMIX_SUCCESS;
}

static pmix_status_t by_number(const struct view *view, const struct asked *asked, bool extend, cJSON *request)
{
    double nodes = number_of(asked, PMIX_ALLOC_NUM_NODES), cpus = number_of(asked, PMIX_ALLOC_NUM_CPUS);
    char hosts[4096];
    if ((nodes <= 0 && cpus <= 0) || nodes > 1e6 || cpus > 1e6)
        return PMIX_ERR_BAD_PARAM;
    if (cpus > 0 || extend)
        cJSON_AddNumberToObject(request, "delta", (extend ? 1 : -1) * (cpus > 0 ? cpus : ranks_of(view, nodes)));
    else if (name_hosts(view, (int)nodes, hosts, sizeof hosts))
        cJSON_AddStringToObject(request, "release_hosts", hosts);
    else
        return PMIX_ERR_NOT_AVAILABLE;
    return PMIX_SUCCESS;
}

static cJSON *allocation(const struct view *view, const struct asked *asked, pmix_status_t *status)
{
    bool extend = asked->directive == PMIX_ALLOC_EXTEND;
    const char *hosts = text_of(asked, PMIX_ALLOC_NODE_LIST);
    cJSON *request;
    *status = PMIX_ERR_NOT_SUPPORTED;
    if (!extend && asked->directive != PMIX_ALLOC_RELEASE)
        return NULL;
    request = json_message(REQUEST(resize));
    cJSON_AddBoolToObject(request, "wait", true);
    *status = hosts ? by_names(asked, extend, hosts, request) : by_number(view, asked, extend, request);
    if (*status == PMIX_SUCCESS)
        return request;
    cJSON_Delete(request);
    return NULL;
}

/* ---- Control ---------------------------------------------------------------------- */

static bool is_job(const struct view *view, const pmix_proc_t *target)
{
    return !target->nspace[0] || !strcmp(target->nspace, view->nspace);
}

static bool names(const struct view *view, const pmix_proc_t *target, int number)
{
    if (is_job(view, target))
        return target->rank == PMIX_RANK_WILDCARD || target->rank == (pmix_rank_t)number;
    return target->rank == PMIX_RANK_WILDCARD && query_set_has(query_set(view->psets, target->nspace), number);
}

/* Is it for this process? Nobody is named: all. */
static bool is_for(const struct view *view, const struct asked *asked, int number)
{
    for (size_t i = 0; i < asked->target_count; i++)
        if (names(view, &asked->targets[i], number))
            return true;
    return !asked->target_count;
}

static bool for_another(const struct view *view, const struct asked *asked)
{
    for (size_t i = 0; i < asked->target_count; i++)
        if (!is_job(view, &asked->targets[i]) && !query_set(view->psets, asked->targets[i].nspace))
            return true;
    return false;
}

static bool for_all(const struct view *view, const struct asked *asked)
{
    for (size_t i = 0; i < asked->target_count; i++)
        if (asked->targets[i].rank != PMIX_RANK_WILDCARD || !is_job(view, &asked->targets[i]))
            return false;
    return true;
}

/* One of the processes meant is elsewhere, or none is there. */
static bool out_of_reach(const struct view *view, const struct asked *asked)
{
    const cJSON *process;
    int found = 0;
    cJSON_ArrayForEach(process, cJSON_GetObjectItemCaseSensitive(view->job, "processes"))
    {
        const char *host = json_text(process, "host");
        if (!view_counts(process) || !is_for(view, asked, json_int(process, "process", -1)))
            continue;
        if (!host || strcmp(host, view->host) || json_int(process, "pid", 0) <= 0)
            return true;
        found++;
    }
    return !found;
}

/* The job has just said its number. */
static int signal_one(const cJSON *process, int number)
{
    struct proc_id id = proctree_id(json_int(process, "pid", 0));
    return proctree_signal(&id, number);
}

/* No request of the job does that. */
static pmix_status_t send_signal(const struct view *view, const struct asked *asked)
{
    double number = number_of(asked, PMIX_JOB_CTRL_SIGNAL);
    const cJSON *process;
    pmix_status_t status = PMIX_SUCCESS;
    if (number <= 0 || number >= NSIG)
        return PMIX_ERR_BAD_PARAM;
    if (out_of_reach(view, asked))
        return PMIX_ERR_NOT_SUPPORTED;
    cJSON_ArrayForEach(process, cJSON_GetObjectItemCaseSensitive(view->job, "processes"))
    {
        if (view_counts(process) && is_for(view, asked, json_int(process, "process", -1)) &&
            signal_one(process, (int)number))
            status = PMIX_ERR_NOT_FOUND;
    }
    return status;
}

static cJSON *stop_now(void)
{
    cJSON *request = json_message(REQUEST(stop));
    cJSON_AddBoolToObject(request, "force", true);
    cJSON_AddStringToObject(request, "asker", "a PMIx tool");
    return request;
}

static cJSON *save(void)
{
    cJSON *request = json_message(REQUEST(checkpoint));
    cJSON_AddBoolToObject(request, "wait", true);
    return request;
}

static cJSON *control(const struct view *view, const struct asked *asked, pmix_status_t *status)
{
    static const struct {
        const char *key, *op;
        cJSON *(*make)(void);
    } orders[] = {{PMIX_JOB_CTRL_KILL, NULL, stop_now},
                  {PMIX_JOB_CTRL_TERMINATE, REQUEST(stop), NULL},
                  {PMIX_JOB_CTRL_PAUSE, REQUEST(pause), NULL},
                  {PMIX_JOB_CTRL_RESUME, REQUEST(resume), NULL},
                  {PMIX_JOB_CTRL_CHECKPOINT, NULL, save}};
    *status = PMIX_ERR_NOT_FOUND;
    if (for_another(view, asked))
        return NULL;
    if (value_of(asked, PMIX_JOB_CTRL_SIGNAL)) {
        *status = send_signal(view, asked);
        return NULL;
    }
    *status = PMIX_ERR_NOT_SUPPORTED;
    for (size_t i = 0; for_all(view, asked) && i < sizeof orders / sizeof *orders; i++)
        if (is_set(asked, orders[i].key)) {
            *status = PMIX_SUCCESS;
            return orders[i].make ? orders[i].make() : json_message(orders[i].op);
        }
    return NULL;
}

cJSON *request_of(const struct view *view, const struct asked *asked, pmix_status_t *status)
{
    return asked->kind == ASKED_ALLOCATION ? allocation(view, asked, status) : control(view, asked, status);
}

/* ---- Answers ------------------------------------------------------------------------ */

pmix_status_t request_status(const cJSON *answer, const struct error *why)
{
    static const struct {
        const char *code;
        pmix_status_t status;
    } codes[] = {{"refused", PMIX_ERR_NOT_AVAILABLE},
                 {"failed", PMIX_ERR_JOB_ALLOC_FAILED},
                 {"timeout", PMIX_ERR_TIMEOUT},
                 {"ended", PMIX_ERR_UNREACH}};
    const char *code = json_text(answer, "code");
    if (!answer)
        return why && why->code == ERROR_TIMEOUT ? PMIX_ERR_TIMEOUT : PMIX_ERR_UNREACH;
    if (json_true(answer, "ok"))
        return PMIX_SUCCESS;
    for (size_t i = 0; code && i < sizeof codes / sizeof *codes; i++)
        if (!strcmp(codes[i].code, code))
            return codes[i].status;
    return PMIX_ERROR;
}

/* "n2,n3" of what came or went; the caller frees it. */
static char *hosts_in(const cJSON *said)
{
    static const char *const lists[] = {"joined", "left"};
    cJSON *hosts = cJSON_CreateArray();
    for (int i = 0; i < 2; i++) {
        const cJSON *place;
        cJSON_ArrayForEach(place, cJSON_GetObjectItemCaseSensitive(said, lists[i]))
        {
            const char *host = json_text(place, "host");
            if (host && !query_contains(hosts, host))
                cJSON_AddItemToArray(hosts, cJSON_CreateString(host));
        }
    }
    char *text = query_joined(hosts);
    cJSON_Delete(hosts);
    return text;
}

static void about_allocation(const struct view *view, const struct asked *asked, const cJSON *said, pmix_info_t *info,
                             size_t *count)
{
    char id[24], *hosts = hosts_in(said);
    uint32_t size = (uint32_t)json_int(said, "size", json_int(view->job, "size", 0));
    snprintf(id, sizeof id, "%d", json_int(said, "adaptation", 0));
    if (json_int(said, "adaptation", 0))
        PMIX_INFO_LOAD(&info[(*count)++], PMIX_ALLOC_ID, id, PMIX_STRING);
    if (request_name(asked))
        PMIX_INFO_LOAD(&info[(*count)++], PMIX_ALLOC_REQ_ID, request_name(asked), PMIX_STRING);
    PMIX_INFO_LOAD(&info[(*count)++], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    if (hosts && hosts[0])
        PMIX_INFO_LOAD(&info[(*count)++], PMIX_ALLOC_NODE_LIST, hosts, PMIX_STRING);
    free(hosts);
}

void request_answer(const struct view *view, const struct asked *asked, const cJSON *said, pmix_info_t **answer,
                    size_t *count)
{
    const char *reason = json_text(said, "reason") ? json_text(said, "reason") : json_text(said, "note");
    *count = 0;
    PMIX_INFO_CREATE(*answer, 5);
    if (asked->kind == ASKED_ALLOCATION && json_true(said, "ok"))
        about_allocation(view, asked, said, *answer, count);
    if (reason)
        PMIX_INFO_LOAD(&(*answer)[(*count)++], PMIX_EVENT_TEXT_MESSAGE, reason, PMIX_STRING);
}
