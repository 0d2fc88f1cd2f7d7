/* Allocation requests and job control, as requests to the job; and what its answers are called in PMIx. */
#ifndef EPOP_GATEWAY_REQUEST_H
#define EPOP_GATEWAY_REQUEST_H

#include "gateway/query.h"
#include "gateway/server.h"

/* The request, the caller's to delete. NULL: it is not for the job to answer, which is said by the status: done with
 * (PMIX_SUCCESS: a signal that was sent), or what is wrong with it. */
cJSON *request_of(const struct view *view, const struct asked *asked, pmix_status_t *status);

/* How long the tool waits for it, in seconds; 0: it does not say. */
double request_patience(const struct asked *asked);

/* The name that a tool has given to its allocation request; NULL: none. */
const char *request_name(const struct asked *asked);

pmix_status_t request_status(const cJSON *answer, const struct error *why);

/* What the job has said to it; the caller's (PMIX_INFO_FREE). */
void request_answer(const struct view *view, const struct asked *asked, const cJSON *said, pmix_info_t **answer,
                    size_t *count);

#endif
