/* The requests of epopctl that wait for their answer. */
#include "runtime/control/requests.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/control/codec.h"
#include "runtime/control/control.h"
#include "runtime/control/progress.h"
#include "runtime/control/server.h"
#include "runtime/control/token.h"

struct control_request {
    char client[CONTROL_NSPACE_MAX];
    pmix_info_cbfunc_t done;
    void *cbdata;
    pmix_info_t *answer; /* on its way; NULL: there was no memory for it */
    bool abandoned;      /* its client has gone, and the coordinator knows */
    struct control_request *next;
};

static struct {
    pthread_mutex_t lock;
    struct control_request *first;
} requests = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct control_request *control_requests_add(const char *client, pmix_info_cbfunc_t done, void *cbdata)
{
    struct control_request *request = calloc(1, sizeof *request);
    if (!request)
        return NULL;
    strncpy(request->client, client, sizeof request->client - 1);
    request->done = done;
    request->cbdata = cbdata;
    pthread_mutex_lock(&requests.lock);
    request->next = requests.first;
    requests.first = request;
    pthread_mutex_unlock(&requests.lock);
    return request;
}

/* Takes it out of the list; whether it was there: a request is answered once, whoever comes first. */
static bool take(struct control_request *request)
{
    bool found = false;
    pthread_mutex_lock(&requests.lock);
    for (struct control_request **at = &requests.first; *at; at = &(*at)->next)
        if (*at == request) {
            *at = request->next;
            found = true;
            break;
        }
    pthread_mutex_unlock(&requests.lock);
    return found;
}

static void free_info(void *cbdata)
{
    pmix_info_t *info = cbdata;
    PMIX_INFO_FREE(info, 1);
}

/* In PMIx's progress thread. An epopctl that has gone gets its answer too: PMIx drops it, and frees what it holds for
 * the request. */
static void deliver(pmix_status_t status, void *cbdata)
{
    struct control_request *request = cbdata;
    (void)status;
    if (request->answer)
        request->done(PMIX_SUCCESS, request->answer, 1, request->cbdata, free_info, request->answer);
    else
        request->done(PMIX_ERR_NOMEM, NULL, 0, request->cbdata, NULL, NULL);
    free(request);
}

/* Between enter and leave. */
static void answer_taken(struct control_request *request, const cJSON *answer)
{
    PMIX_INFO_CREATE(request->answer, 1);
    if (request->answer && control_info_load(request->answer, CONTROL_KEY_ANSWER, answer)) {
        free_info(request->answer);
        request->answer = NULL;
    }
    control_progress_call(deliver, request);
}

void control_answer(struct control_request *handle, const cJSON *answer)
{
    if (control_server_enter())
        return; /* answered by control_requests_end */
    if (take(handle))
        answer_taken(handle, answer);
    control_server_leave();
}

/* The first open request of this client that is not abandoned yet; it is from here on. */
static struct control_request *next_to_abandon(const char *client)
{
    pthread_mutex_lock(&requests.lock);
    struct control_request *request = requests.first;
    while (request && (request->abandoned || strcmp(request->client, client)))
        request = request->next;
    if (request)
        request->abandoned = true;
    pthread_mutex_unlock(&requests.lock);
    return request;
}

void control_requests_abandon(const char *client, void (*tell)(void *context, struct control_request *handle),
                              void *context)
{
    for (struct control_request *request; tell && (request = next_to_abandon(client));)
        tell(context, request);
}

static struct control_request *first_open(void)
{
    pthread_mutex_lock(&requests.lock);
    struct control_request *request = requests.first;
    pthread_mutex_unlock(&requests.lock);
    return request;
}

void control_requests_end(void)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddFalseToObject(answer, "ok");
    cJSON_AddStringToObject(answer, "code", "ended");
    cJSON_AddStringToObject(answer, "reason", "the job has ended");
    for (struct control_request *request; (request = first_open());)
        if (take(request))
            answer_taken(request, answer);
    cJSON_Delete(answer);
}
