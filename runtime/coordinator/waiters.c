/* Those who wait for an adaptation: see waiters.h. */
#include "runtime/coordinator/waiters.h"

#include <stdlib.h>

#include "runtime/coordinator/reply.h"

int waiters_add(struct waiter **list, void *handle, bool vacated)
{
    struct waiter *w = malloc(sizeof *w);
    if (!w)
        return -1;
    *w = (struct waiter){handle, vacated, *list};
    *list = w;
    return 0;
}

struct waiter *waiters_for_end(struct waiter **list)
{
    struct waiter *taken = NULL;
    while (*list) {
        struct waiter *w = *list;
        if (!w->vacated) {
            list = &w->next;
            continue;
        }
        *list = w->next;
        w->next = taken;
        taken = w;
    }
    return taken;
}

void waiters_answer(struct coordinator *c, struct waiter **list, cJSON *reply)
{
    while (*list) {
        struct waiter *w = *list;
        *list = w->next;
        reply_send(c, &w->handle, cJSON_Duplicate(reply, 1));
        free(w);
    }
    cJSON_Delete(reply);
}

void waiters_abandoned(struct coordinator *c, struct waiter **list, const void *handle)
{
    while (*list && (*list)->handle != handle)
        list = &(*list)->next;
    if (!*list)
        return;
    struct waiter *gone = *list;
    *list = gone->next;
    reply_send(c, &gone->handle, reply_refusal("failed", "the requester has gone"));
    free(gone);
}
