/* What tools query, answered by what the job says of itself. */
#ifndef EPOP_GATEWAY_QUERY_H
#define EPOP_GATEWAY_QUERY_H

#include <cjson/cJSON.h>
#include <pmix.h>

/* What the job says. */
struct view {
    const char *nspace;    /* the job, as PMIx calls it */
    const char *host;      /* this one */
    const cJSON *job;      /* its status */
    const cJSON *psets;    /* its process sets, an array; of no use where there are none */
    const cJSON *members;  /* of the set that it is about, by their numbers; NULL: of the whole job */
    const cJSON *requests; /* by the name that its tool gave it, the answer to an allocation request; true: none yet */
};

/* The processes that are ranks of it, which are what PMIx calls the job's. A process keeps its number for life, and
 * that is its PMIx rank. */
bool view_counts(const cJSON *process);
void view_proc(const struct view *view, int number, pmix_proc_t *proc);
/* The hosts that they are on, in the order of the ranks: an array of texts, the caller's to delete. */
cJSON *view_hosts(const struct view *view);

/* An array of PMIX_PROC with these processes. */
pmix_data_array_t *query_procs(const struct view *view, const cJSON *numbers);
/* The set of that name, which is a namespace, too; NULL: there is none. */
const cJSON *query_set(const cJSON *sets, const char *name);
bool query_set_has(const cJSON *set, int number);
void query_give_array(pmix_info_t *info, const char *key, pmix_data_array_t *array);

/* The answers to all keys; *answer is the caller's (PMIX_INFO_FREE). */
pmix_status_t query_answer(const struct view *view, const pmix_query_t *queries, size_t count, pmix_info_t **answer,
                           size_t *answers);

/* Of a list of texts: whether that one is among them, and all of them with commas between (the caller frees it; NULL:
 * there is no memory). */
bool query_contains(const cJSON *texts, const char *text);
char *query_joined(const cJSON *texts);

#endif
