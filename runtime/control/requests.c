/* The requests of epopctl that wait for their answer. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/control/control_internal.h"

struct control_request {
    char client[CONTROL_NSPACE_MAX];
    pmix_info_cbfunc_t done;
    void *cbdata;
    int told; /* its client has gone, and the coordinator knows */
    struct control_request *next;
};

static struct {
    pthread_mutex_t lock;
    control_request_t *first;
} requests = {.lock = PTHREAD_MUTEX_INITIALIZER};

control_request_t *control_requests_add(const char *client, pmix_info_cbfunc_t done, void *cbdata)
{
    control_request_t *request = calloc(1, sizeof *request);

    if (request == NULL)
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
static int take(control_request_t *request)
{
    int found = 0;

    pthread_mutex_lock(&requests.lock);
    for (control_request_t **at = &requests.first; *at != NULL; at = &(*at)->next)
        if (*at == request) {
            *at = request->next;
            found = 1;
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

/* An epopctl that has gone gets its answer too: PMIx drops it, and frees what it holds for the request. */
static void deliver(control_request_t *request, const cJSON *answer)
{
    pmix_info_t *info;

    PMIX_INFO_CREATE(info, 1);
    if (info != NULL && control_info_load(info, CONTROL_KEY_ANSWER, answer) == 0)
        request->done(PMIX_SUCCESS, info, 1, request->cbdata, free_info, info);
    else
        request->done(PMIX_ERR_NOMEM, NULL, 0, request->cbdata, NULL, NULL);
    free(request);
}

void control_answer(control_request_t *handle, const cJSON *answer)
{
    if (control_server_enter() != 0)
        return; /* answered by control_requests_end */
    if (take(handle))
        deliver(handle, answer);
    control_server_leave();
}

/* The first open request that nobody was told to be abandoned; of `client`, or of anyone. */
static control_request_t *next_untold(const char *client)
{
    pthread_mutex_lock(&requests.lock);
    control_request_t *request = requests.first;
    while (request != NULL && (request->told || strcmp(request->client, client) != 0))
        request = request->next;
    if (request != NULL)
        request->told = 1;
    pthread_mutex_unlock(&requests.lock);
    return request;
}

void control_requests_abandon(const char *client, void (*tell)(void *context, control_request_t *handle), void *context)
{
    for (control_request_t *request; tell != NULL && (request = next_untold(client)) != NULL;)
        tell(context, request);
}

static control_request_t *first_open(void)
{
    pthread_mutex_lock(&requests.lock);
    control_request_t *request = requests.first;
    pthread_mutex_unlock(&requests.lock);
    return request;
}

void control_requests_end(void)
{
    cJSON *answer = cJSON_CreateObject();

    cJSON_AddFalseToObject(answer, "ok");
    cJSON_AddStringToObject(answer, "code", "ended");
    cJSON_AddStringToObject(answer, "reason", "the job has ended");
    for (control_request_t *request; (request = first_open()) != NULL;)
        if (take(request))
            deliver(request, answer);
    cJSON_Delete(answer);
}
