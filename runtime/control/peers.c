/* The table of attached tools: members by number, and epopctls. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/control/control_internal.h"

typedef struct peer {
    char nspace[CONTROL_NSPACE_MAX];
    int process; /* -1: an epopctl */
    int heard;   /* has said anything: one that has not may have failed to attach, and PMIx tells nobody */
    int ready;   /* a member: has said hello */
    int watching;
} peer_t;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    peer_t *peers;
    size_t count, capacity;
    size_t heard;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Under the lock. */
static peer_t *find(const char *nspace)
{
    for (size_t i = 0; i < table.count; i++)
        if (strcmp(table.peers[i].nspace, nspace) == 0)
            return &table.peers[i];
    return NULL;
}

/* Under the lock: the peer speaks. */
static peer_t *hear(const char *nspace)
{
    peer_t *peer = find(nspace);

    if (peer != NULL && !peer->heard) {
        peer->heard = 1;
        table.heard++;
    }
    return peer;
}

void control_peers_add(const char *nspace, int process)
{
    pthread_mutex_lock(&table.lock);
    if (table.count == table.capacity) {
        size_t capacity = table.capacity == 0 ? 16 : 2 * table.capacity;
        peer_t *peers = realloc(table.peers, capacity * sizeof *peers);
        if (peers == NULL)
            goto unlock; /* the peer stays unknown, and its hello is refused */
        table.peers = peers;
        table.capacity = capacity;
    }
    peer_t *peer = &table.peers[table.count++];
    *peer = (peer_t){.process = process};
    strncpy(peer->nspace, nspace, sizeof peer->nspace - 1);
unlock:
    pthread_mutex_unlock(&table.lock);
}

int control_peers_ready(const char *nspace)
{
    int result = -1;

    pthread_mutex_lock(&table.lock);
    peer_t *peer = hear(nspace);
    if (peer != NULL && peer->process > 0) {
        result = peer->process;
        for (size_t i = 0; i < table.count; i++)
            if (table.peers[i].process == peer->process && table.peers[i].ready)
                result = -1;
        peer->ready |= result > 0;
    }
    pthread_mutex_unlock(&table.lock);
    return result;
}

int control_peers_remove(const char *nspace, int *process, int *ready)
{
    int result = -1;

    pthread_mutex_lock(&table.lock);
    peer_t *peer = find(nspace);
    if (peer != NULL) {
        *process = peer->process;
        *ready = peer->ready;
        table.heard -= (size_t)peer->heard;
        *peer = table.peers[--table.count];
        pthread_cond_broadcast(&table.changed);
        result = 0;
    }
    pthread_mutex_unlock(&table.lock);
    return result;
}

int control_peers_find(const char *nspace, int *process)
{
    pthread_mutex_lock(&table.lock);
    const peer_t *peer = hear(nspace);
    if (peer != NULL)
        *process = peer->process;
    pthread_mutex_unlock(&table.lock);
    return peer == NULL ? -1 : 0;
}

int control_peers_watch(const char *nspace)
{
    pthread_mutex_lock(&table.lock);
    peer_t *peer = find(nspace);
    if (peer != NULL)
        peer->watching = 1;
    pthread_mutex_unlock(&table.lock);
    return peer == NULL ? -1 : 0;
}

static int is_meant(const peer_t *peer, control_audience_t audience, int process)
{
    switch (audience) {
    case CONTROL_MEMBERS:
        return peer->ready && (process == CONTROL_ALL || peer->process == process);
    case CONTROL_WATCHERS:
        return peer->watching;
    case CONTROL_EVERYBODY:
        return peer->process < 0 || peer->ready;
    }
    return 0;
}

size_t control_peers_list(control_audience_t audience, int process, pmix_proc_t **procs)
{
    size_t count = 0;

    pthread_mutex_lock(&table.lock);
    *procs = table.count == 0 ? NULL : calloc(table.count, sizeof **procs);
    for (size_t i = 0; *procs != NULL && i < table.count; i++)
        if (is_meant(&table.peers[i], audience, process)) {
            PMIX_LOAD_PROCID(&(*procs)[count], table.peers[i].nspace, 0);
            count++;
        }
    pthread_mutex_unlock(&table.lock);
    return count;
}

void control_peers_drain(int timeout_ms)
{
    struct timespec deadline;
    int result = 0;

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += timeout_ms / 1000;
    deadline.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_sec++;
        deadline.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&table.lock);
    while (table.heard > 0 && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&table.changed, &table.lock, &deadline);
    pthread_mutex_unlock(&table.lock);
}

void control_peers_forget(void)
{
    pthread_mutex_lock(&table.lock);
    free(table.peers);
    table.peers = NULL;
    table.count = table.capacity = table.heard = 0;
    pthread_mutex_unlock(&table.lock);
}
