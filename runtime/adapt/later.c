/* MPI requests for questions: see later.h. MPICH polls them wherever they are tested or waited for. */
#include "runtime/adapt/later.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/adapt/sessions.h"
#include "runtime/base/clock.h"
#include "runtime/member/asks.h"
#include "runtime/member/member.h"
#include "runtime/world/world.h"

struct later {
    void (*arrived)(void *context, const cJSON *answer);
    void (*finished)(void *context);
    bool there, complete; /* under the member's lock; and completed for MPI */
    MPI_Request request;
    char context[];
};

/* On the control thread, with the member's lock. */
static void take(void *context, const cJSON *answer)
{
    struct later *later = context;
    later->arrived(later->context, answer);
    later->there = true;
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* A request may be freed before its answer has come: the answer then goes where it was to go all the same. */
static int release(void *state)
{
    struct later *later = state;
    pthread_mutex_lock(&world.member->lock);
    bool there = later->there;
    pthread_mutex_unlock(&world.member->lock);
    if (there)
        free(later);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

/* Who waits in MPI polls without a pause. */
static bool is_there(struct later *later)
{
    struct timespec until = clock_in(CLOCK_MONOTONIC, 0.0001);
    pthread_mutex_lock(&world.member->lock);
    if (!later->there && !world.member->finish)
        pthread_cond_clockwait(&world.member->changed, &world.member->lock, CLOCK_MONOTONIC, &until);
    bool there = later->there || world.member->finish;
    pthread_mutex_unlock(&world.member->lock);
    return there;
}

static int poll(void *state, MPI_Status *status)
{
    struct later *later = state;
    (void)status;
    if (later->complete || !is_there(later))
        return MPI_SUCCESS;
    later->complete = true;
    if (later->finished && later->there)
        later->finished(later->context);
    return MPI_Grequest_complete(later->request);
}

static int wait(int count, void **states, double timeout, MPI_Status *status)
{
    (void)timeout;
    for (int i = 0; i < count; i++)
        while (!((struct later *)states[i])->complete)
            poll(states[i], status);
    return MPI_SUCCESS;
}

int later_ask(MPI_Session session, const char *function, cJSON *message,
              void (*arrived)(void *context, const cJSON *answer), const void *context, size_t size,
              void (*finished)(void *context), MPI_Request *request)
{
    struct later *later = calloc(1, sizeof *later + size);
    if (!later) {
        cJSON_Delete(message);
        return sessions_wrong(session, function, MPI_ERR_NO_MEM, "out of memory");
    }
    memcpy(later->context, context, size);
    later->arrived = arrived;
    later->finished = finished;
    int error = MPIX_Grequest_start(query, release, cancel, poll, wait, later, &later->request);
    *request = later->request;
    if (!error && member_ask_beside(world.member, message, take, later))
        return sessions_wrong(session, function, MPI_ERR_OTHER, "the job's control does not answer");
    return error;
}
