/* The table of attached tools: members by number, and epopctls. */
#include "runtime/control/peers.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "runtime/control/control.h"
#include "runtime/control/token.h"

struct peer {
    char nspace[CONTROL_NSPACE_MAX];
    int process; /* -1: an epopctl */
    bool heard;  /* has said anything: one that has not may have failed to attach, and PMIx tells nobody */
    bool ready;  /* a member: has said hello */
    bool watching;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct peer *peers;
    size_t count, room;
    size_t heard;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Under the lock. */
static struct peer *find(const char *nspace)
{
    for (size_t i = 0; i < table.count; i++)
        if (!strcmp(table.peers[i].nspace, nspace))
            return &table.peers[i];
    return NULL;
}

/* Under the lock: the peer speaks. */
static struct peer *hear(const char *nspace)
{
    struct peer *peer = find(nspace);
    if (peer && !peer->heard) {
        peer->heard = true;
        table.heard++;
    }
    return peer;
}

void control_peers_add(const char *nspace, int process)
{
    pthread_mutex_lock(&table.lock);
    if (!array_reserve(&table.peers, &table.room, table.count + 1, sizeof *table.peers)) {
        struct peer *peer = &table.peers[table.count++];
        *peer = (struct peer){.process = process};
        strncpy(peer->nspace, nspace, sizeof peer->nspace - 1);
    } /* else the peer stays unknown, and its hello is refused */
    pthread_mutex_unlock(&table.lock);
}

int control_peers_ready(const char *nspace)
{
    int result = -1;
    pthread_mutex_lock(&table.lock);
    struct peer *peer = hear(nspace);
    if (peer && peer->process > 0) {
        result = peer->process;
        for (size_t i = 0; i < table.count; i++)
            if (table.peers[i].process == peer->process && table.peers[i].ready)
                result = -1;
        peer->ready |= result > 0;
    }
    pthread_mutex_unlock(&table.lock);
    return result;
}

int control_peers_remove(const char *nspace, int *process, bool *ready)
{
    int result = -1;
    pthread_mutex_lock(&table.lock);
    struct peer *peer = find(nspace);
    if (peer) {
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
    const struct peer *peer = hear(nspace);
    if (peer)
        *process = peer->process;
    pthread_mutex_unlock(&table.lock);
    return !peer ? -1 : 0;
}

int control_peers_watch(const char *nspace)
{
    pthread_mutex_lock(&table.lock);
    struct peer *peer = find(nspace);
    if (peer)
        peer->watching = true;
    pthread_mutex_unlock(&table.lock);
    return !peer ? -1 : 0;
}

static bool is_meant(const struct peer *peer, enum control_audience audience, int process)
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

size_t control_peers_list(enum control_audience audience, int process, pmix_proc_t **procs)
{
    size_t count = 0;
    pthread_mutex_lock(&table.lock);
    *procs = table.count == 0 ? NULL : calloc(table.count, sizeof **procs);
    for (size_t i = 0; *procs && i < table.count; i++)
        if (is_meant(&table.peers[i], audience, process)) {
            PMIX_LOAD_PROCID(&(*procs)[count], table.peers[i].nspace, 0);
            count++;
        }
    pthread_mutex_unlock(&table.lock);
    return count;
}

void control_peers_drain(int timeout_ms)
{
    struct timespec deadline = clock_in(CLOCK_MONOTONIC, timeout_ms / 1e3);
    int result = 0;
    pthread_mutex_lock(&table.lock);
    while (table.heard > 0 && result != ETIMEDOUT)
        result = pthread_cond_clockwait(&table.changed, &table.lock, CLOCK_MONOTONIC, &deadline);
    pthread_mutex_unlock(&table.lock);
}

void control_peers_forget(void)
{
    pthread_mutex_lock(&table.lock);
    free(table.peers);
    table.peers = NULL;
    table.count = table.room = table.heard = 0;
    pthread_mutex_unlock(&table.lock);
}
