/* Those who wait for one adaptation: the handles of their requests. */
#ifndef EPOP_COORDINATOR_WAITERS_H
#define EPOP_COORDINATOR_WAITERS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

struct coordinator;

struct waiter {
    void *handle;
    bool vacated; /* until the processes that leave have ended */
    struct waiter *next;
};

/* 0, or -1: out of memory. */
int waiters_add(struct waiter **list, void *handle, bool vacated);

/* Those who wait for the processes' end are taken out of the list. */
struct waiter *waiters_for_end(struct waiter **list);

/* All of them, with this; takes the reply. The list is empty then. */
void waiters_answer(struct coordinator *c, struct waiter **list, cJSON *reply);

/* One of them has gone. */
void waiters_abandoned(struct coordinator *c, struct waiter **list, const void *handle);

#endif
