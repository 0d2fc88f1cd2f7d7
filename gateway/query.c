/* Queries: see query.h. Each key is a row of the table at the end. */
#include "gateway/query.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"

bool view_counts(const cJSON *process)
{
    return json_int(process, "rank", -1) >= 0;
}

void view_proc(const struct view *view, int number, pmix_proc_t *proc)
{
    PMIX_LOAD_PROCID(proc, view->nspace, (pmix_rank_t)number);
}

const cJSON *query_set(const cJSON *sets, const char *name)
{
    const cJSON *set;
    cJSON_ArrayForEach(set, sets)
    {
        const char *its = json_text(set, "name");
        if (its && !strcmp(its, name))
            return set;
    }
    return NULL;
}

static bool among(const cJSON *numbers, int number)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, numbers) if (item->valueint == number) return true;
    return false;
}

bool query_set_has(const cJSON *set, int number)
{
    return among(cJSON_GetObjectItemCaseSensitive(set, "processes"), number);
}

/* The view is about it. */
static bool shows(const struct view *view, const cJSON *process)
{
    return view_counts(process) && (!view->members || among(view->members, json_int(process, "process", -1)));
}

static const cJSON *processes(const struct view *view)
{
    return cJSON_GetObjectItemCaseSensitive(view->job, "processes");
}

bool query_contains(const cJSON *texts, const char *text)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, texts) if (!strcmp(item->valuestring, text)) return true;
    return false;
}

cJSON *view_hosts(const struct view *view)
{
    cJSON *hosts = cJSON_CreateArray();
    const cJSON *process;
    cJSON_ArrayForEach(process, processes(view))
    {
        const char *host = json_text(process, "host");
        if (host && shows(view, process) && !query_contains(hosts, host))
            cJSON_AddItemToArray(hosts, cJSON_CreateString(host));
    }
    return hosts;
}

/* ---- What qualifies a query ------------------------------------------------------- */

static const char *text_of(const pmix_query_t *query, const char *key)
{
    for (size_t i = 0; i < query->nqual; i++)
        if (PMIX_CHECK_KEY(&query->qualifiers[i], key) && query->qualifiers[i].value.type == PMIX_STRING)
            return query->qualifiers[i].value.data.string;
    return NULL;
}

/* It may be about a process set, or about another job, of which nothing is known here. */
static bool narrow(struct view *view, const pmix_query_t *query)
{
    const char *nspace = text_of(query, PMIX_NSPACE);
    for (size_t i = 0; !nspace && i < query->nqual; i++) {
        const pmix_value_t *value = &query->qualifiers[i].value;
        if (PMIX_CHECK_KEY(&query->qualifiers[i], PMIX_PROCID) && value->type == PMIX_PROC && value->data.proc)
            nspace = value->data.proc->nspace;
    }
    if (!nspace || !nspace[0] || !strcmp(nspace, view->nspace))
        return true;
    view->members = cJSON_GetObjectItemCaseSensitive(query_set(view->psets, nspace), "processes");
    return view->members;
}

/* ---- Answers ---------------------------------------------------------------------- */

/* Each of them gives its value to an info that has its key already, or says why not. */

static pmix_status_t give_text(pmix_info_t *info, const char *key, const char *text)
{
    PMIX_INFO_LOAD(info, key, text, PMIX_STRING);
    return PMIX_SUCCESS;
}

static pmix_status_t give_number(pmix_info_t *info, const char *key, double number)
{
    uint32_t value = (uint32_t)number;
    PMIX_INFO_LOAD(info, key, &value, PMIX_UINT32);
    return PMIX_SUCCESS;
}

void query_give_array(pmix_info_t *info, const char *key, pmix_data_array_t *array)
{
    PMIX_LOAD_KEY(info->key, key);
    info->value.type = PMIX_DATA_ARRAY;
    info->value.data.darray = array;
}

static pmix_status_t job_size(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    (void)query;
    return give_number(info, key,
                       view->members ? cJSON_GetArraySize(view->members) : json_number(view->job, "size", 0));
}

static pmix_status_t maximum(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    (void)query;
    return give_number(info, key, json_number(view->job, "maximum", 0));
}

/* The program with what it was started as, in an array of its own. */
static pmix_status_t namespace_info(const struct view *view, const pmix_query_t *query, const char *key,
                                    pmix_info_t *info)
{
    pmix_data_array_t *all, *one;
    const char *path = json_text(view->job, "path");
    PMIX_DATA_ARRAY_CREATE(one, 3, PMIX_INFO);
    pmix_info_t *parts = one->array;
    give_text(&parts[0], PMIX_NSPACE, view->nspace);
    give_text(&parts[1], PMIX_CMD_LINE, path ? path : json_text(view->job, "program"));
    job_size(view, query, PMIX_JOB_SIZE, &parts[2]);
    PMIX_DATA_ARRAY_CREATE(all, 1, PMIX_INFO);
    query_give_array(all->array, PMIX_JOB_INFO_ARRAY, one);
    query_give_array(info, key, all);
    return PMIX_SUCCESS;
}

static pmix_proc_state_t state_of(const cJSON *process)
{
    static const struct {
        const char *name;
        pmix_proc_state_t state;
    } states[] = {{"joining", PMIX_PROC_STATE_LAUNCH_UNDERWAY},
                  {"leaving", PMIX_PROC_STATE_TERMINATE},
                  {"lost", PMIX_PROC_STATE_ABORTED}};
    const char *name = json_text(process, "state");
    for (size_t i = 0; name && i < sizeof states / sizeof *states; i++)
        if (!strcmp(states[i].name, name))
            return states[i].state;
    return PMIX_PROC_STATE_RUNNING;
}

static char *copy(const char *text)
{
    return strdup(text ? text : "");
}

static void describe(const struct view *view, const cJSON *process, pmix_proc_info_t *to)
{
    view_proc(view, json_int(process, "process", 0), &to->proc);
    to->hostname = copy(json_text(process, "host"));
    to->executable_name = copy(json_text(view->job, "path"));
    to->pid = (pid_t)json_int(process, "pid", 0);
    to->state = state_of(process);
}

static bool at(const cJSON *process, const char *host)
{
    const char *its = json_text(process, "host");
    return !host || (its && !strcmp(its, host));
}

static pmix_status_t table(const struct view *view, const char *host, const char *key, pmix_info_t *info)
{
    pmix_data_array_t *array;
    const cJSON *process;
    size_t count = 0, filled = 0;
    cJSON_ArrayForEach(process, processes(view)) count += shows(view, process) && at(process, host);
    if (!count)
        return PMIX_ERR_NOT_FOUND;
    PMIX_DATA_ARRAY_CREATE(array, count, PMIX_PROC_INFO);
    cJSON_ArrayForEach(process, processes(view)) if (shows(view, process) && at(process, host))
        describe(view, process, (pmix_proc_info_t *)array->array + filled++);
    query_give_array(info, key, array);
    return PMIX_SUCCESS;
}

static pmix_status_t all_processes(const struct view *view, const pmix_query_t *query, const char *key,
                                   pmix_info_t *info)
{
    return table(view, text_of(query, PMIX_HOSTNAME), key, info);
}

static pmix_status_t local_processes(const struct view *view, const pmix_query_t *query, const char *key,
                                     pmix_info_t *info)
{
    const char *host = text_of(query, PMIX_HOSTNAME);
    return table(view, host ? host : view->host, key, info);
}

char *query_joined(const cJSON *texts)
{
    size_t size = 1, used = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, texts) size += strlen(item->valuestring) + 1;
    char *line = calloc(1, size);
    cJSON_ArrayForEach(item, texts) if (line) used +=
        (size_t)snprintf(line + used, size - used, "%s%s", used ? "," : "", item->valuestring);
    return line;
}

static pmix_status_t give_joined(pmix_info_t *info, const char *key, cJSON *texts)
{
    char *line = query_joined(texts);
    cJSON_Delete(texts);
    if (!line)
        return PMIX_ERR_NOMEM;
    give_text(info, key, line);
    free(line);
    return PMIX_SUCCESS;
}

static pmix_status_t hosts(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    (void)query;
    return give_joined(info, key, view_hosts(view));
}

/* A namespace has a name of some length, and a comma is between two. */
static bool names_namespace(const char *name)
{
    return name && name[0] && strlen(name) <= PMIX_MAX_NSLEN && !strchr(name, ',');
}

static pmix_status_t namespaces(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    cJSON *names = cJSON_CreateArray();
    const cJSON *set;
    (void)query;
    cJSON_AddItemToArray(names, cJSON_CreateString(view->nspace));
    cJSON_ArrayForEach(set, view->psets) if (names_namespace(json_text(set, "name")))
        cJSON_AddItemToArray(names, cJSON_CreateString(json_text(set, "name")));
    return give_joined(info, key, names);
}

static pmix_status_t host_count(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    cJSON *list = view_hosts(view);
    (void)query;
    give_number(info, key, cJSON_GetArraySize(list));
    cJSON_Delete(list);
    return PMIX_SUCCESS;
}

static pmix_status_t set_count(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    size_t count = (size_t)cJSON_GetArraySize(view->psets);
    (void)query;
    PMIX_INFO_LOAD(info, key, &count, PMIX_SIZE);
    return PMIX_SUCCESS;
}

static pmix_status_t set_names(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    cJSON *names = cJSON_CreateArray();
    const cJSON *set;
    (void)query;
    cJSON_ArrayForEach(set, view->psets)
        cJSON_AddItemToArray(names, cJSON_CreateString(json_text(set, "name") ? json_text(set, "name") : ""));
    return give_joined(info, key, names);
}

pmix_data_array_t *query_procs(const struct view *view, const cJSON *numbers)
{
    pmix_data_array_t *array;
    const cJSON *number;
    size_t filled = 0;
    PMIX_DATA_ARRAY_CREATE(array, (size_t)cJSON_GetArraySize(numbers), PMIX_PROC);
    cJSON_ArrayForEach(number, numbers) view_proc(view, number->valueint, (pmix_proc_t *)array->array + filled++);
    return array;
}

static pmix_status_t set_members(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    const char *name = text_of(query, PMIX_PSET_NAME);
    const cJSON *set = name ? query_set(view->psets, name) : NULL;
    if (!set)
        return name ? PMIX_ERR_NOT_FOUND : PMIX_ERR_BAD_PARAM;
    query_give_array(info, key, query_procs(view, cJSON_GetObjectItemCaseSensitive(set, "processes")));
    return PMIX_SUCCESS;
}

/* ---- Allocation --------------------------------------------------------------------- */

static char *about_adaptation(const cJSON *adaptation)
{
    const char *state = json_text(adaptation, "state"), *reason = json_text(adaptation, "reason");
    char *text = NULL;
    if (asprintf(&text, "%s: %d to %d ranks (adaptation %d)%s%s", state ? state : "?", json_int(adaptation, "from", 0),
                 json_int(adaptation, "to", 0), json_int(adaptation, "id", 0), reason ? ": " : "",
                 reason ? reason : "") < 0)
        return NULL;
    return text;
}

/* id < 0: the last one. */
static const cJSON *find_adaptation(const struct view *view, int id)
{
    const cJSON *item, *found = NULL;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(
                                 view->job, "adaptations")) if (id < 0 || json_int(item, "id", 0) == id) found = item;
    return found;
}

/* One that came to no adaptation, or to one that the job does not list any more. */
static char *about_answer(const cJSON *answer)
{
    const char *code = json_text(answer, "code"), *reason = json_text(answer, "reason");
    char *text = NULL;
    if (asprintf(&text, "%s%s%s",
                 cJSON_IsTrue(answer) ? "requested"
                 : code               ? code
                                      : "?",
                 reason ? ": " : "", reason ? reason : "") < 0)
        return NULL;
    return text;
}

/* What an allocation request has come to, in words; the caller frees it. NULL: there is none of that name. */
static char *query_allocation(const struct view *view, const char *request, const char *id)
{
    const cJSON *answer = request ? cJSON_GetObjectItemCaseSensitive(view->requests, request) : NULL;
    int number = id ? atoi(id) : answer ? json_int(answer, "adaptation", 0) : -1;
    const cJSON *adaptation = request && !answer ? NULL : find_adaptation(view, number);
    if (adaptation)
        return about_adaptation(adaptation);
    if (answer)
        return about_answer(answer);
    return request || id ? NULL : strdup("none");
}

static pmix_status_t allocation(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    char *text = query_allocation(view, text_of(query, PMIX_ALLOC_REQ_ID), text_of(query, PMIX_ALLOC_ID));
    if (!text)
        return PMIX_ERR_NOT_FOUND;
    give_text(info, key, text);
    free(text);
    return PMIX_SUCCESS;
}

/* ---- All keys ------------------------------------------------------------------------ */

static pmix_status_t keys(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info);

static const struct {
    const char *key;
    pmix_status_t (*answer)(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info);
} answers[] = {
    {PMIX_QUERY_NAMESPACES, namespaces},
    {PMIX_QUERY_NAMESPACE_INFO, namespace_info},
    {PMIX_QUERY_PROC_TABLE, all_processes},
    {PMIX_QUERY_LOCAL_PROC_TABLE, local_processes},
    {PMIX_JOB_SIZE, job_size},
    {PMIX_MAX_PROCS, maximum},
    {PMIX_NUM_NODES, host_count},
    {PMIX_NODE_LIST, hosts},
    {PMIX_NODE_MAP_RAW, hosts},
    {PMIX_ALLOCATED_NODELIST, hosts},
    {PMIX_QUERY_NUM_PSETS, set_count},
    {PMIX_QUERY_PSET_NAMES, set_names},
    {PMIX_QUERY_PSET_MEMBERSHIP, set_members},
    {PMIX_QUERY_ALLOC_STATUS, allocation},
    {PMIX_QUERY_SUPPORTED_KEYS, keys},
};
enum { ANSWERS = sizeof answers / sizeof *answers };

static pmix_status_t keys(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    cJSON *list = cJSON_CreateArray();
    (void)view, (void)query;
    for (int i = 0; i < ANSWERS; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(answers[i].key));
    return give_joined(info, key, list);
}

static pmix_status_t answer_key(const struct view *view, const pmix_query_t *query, const char *key, pmix_info_t *info)
{
    struct view its = *view;
    if (!narrow(&its, query))
        return PMIX_ERR_NOT_FOUND;
    for (int i = 0; i < ANSWERS; i++)
        if (!strcmp(answers[i].key, key))
            return answers[i].answer(&its, query, key, info);
    return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t query_answer(const struct view *view, const pmix_query_t *queries, size_t count, pmix_info_t **answer,
                           size_t *answers_count)
{
    size_t wanted = 0, given = 0;
    pmix_status_t worst = PMIX_SUCCESS;
    *answer = NULL;
    *answers_count = 0;
    for (size_t i = 0; i < count; i++)
        for (char **key = queries[i].keys; key && *key; key++)
            wanted++;
    if (!wanted)
        return PMIX_ERR_BAD_PARAM;
    PMIX_INFO_CREATE(*answer, wanted);
    for (size_t i = 0; i < count; i++)
        for (char **key = queries[i].keys; key && *key; key++) {
            pmix_status_t status = answer_key(view, &queries[i], *key, &(*answer)[given]);
            given += status == PMIX_SUCCESS;
            worst = status == PMIX_SUCCESS ? worst : status;
        }
    *answers_count = given;
    return given == wanted ? PMIX_SUCCESS : given ? PMIX_QUERY_PARTIAL_SUCCESS : worst;
}
