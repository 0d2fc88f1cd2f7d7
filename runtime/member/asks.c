/* Asking the coordinator: questions that wait for their answers. */
#include "runtime/member/asks.h"

#include <stdlib.h>

#include "runtime/base/json.h"
#include "runtime/member/member.h"
#include "runtime/wire/messages.h"

struct ask {
    int id;
    cJSON *answer;
    void (*arrived)(void *context, const cJSON *answer); /* NULL: a thread waits */
    void *context;
    struct ask *next;
};

static struct ask *ask_new(struct asks *asks)
{
    struct ask *ask = calloc(1, sizeof *ask);
    if (!ask)
        return NULL;
    ask->id = ++asks->count;
    ask->next = asks->first;
    asks->first = ask;
    return ask;
}

static void ask_remove(struct asks *asks, struct ask *ask)
{
    struct ask **at = &asks->first;
    while (*at != ask)
        at = &(*at)->next;
    *at = ask->next;
    free(ask);
}

void asks_take(struct asks *asks, const struct order_told *answer)
{
    struct ask *ask = asks->first;
    while (ask && ask->id != answer->id)
        ask = ask->next;
    if (!ask)
        return;
    if (!ask->arrived) {
        ask->answer = cJSON_Duplicate(answer->said, 1);
        return;
    }
    ask->arrived(ask->context, answer->said);
    ask_remove(asks, ask);
}

void asks_destroy(struct asks *asks)
{
    while (asks->first) {
        cJSON_Delete(asks->first->answer);
        ask_remove(asks, asks->first);
    }
}

/* Takes the message. NULL: it could not be sent. */
static struct ask *begin(struct member *member, cJSON *message, void (*arrived)(void *, const cJSON *), void *context)
{
    pthread_mutex_lock(&member->lock);
    struct ask *ask = ask_new(&member->asks);
    if (ask) {
        ask->arrived = arrived;
        ask->context = context;
        cJSON_AddNumberToObject(message, "id", ask->id);
    }
    pthread_mutex_unlock(&member->lock);
    if (ask && member->tell(member->context, message)) {
        pthread_mutex_lock(&member->lock);
        ask_remove(&member->asks, ask);
        pthread_mutex_unlock(&member->lock);
        ask = NULL;
    }
    cJSON_Delete(message);
    return ask;
}

cJSON *member_ask(struct member *member, cJSON *message, const bool *quit)
{
    int waits = 0;
    struct ask *ask = begin(member, message, NULL, NULL);
    if (!ask)
        return NULL;
    pthread_mutex_lock(&member->lock);
    while (!ask->answer && !member->finish && !(quit && *quit))
        member_wait_poking(member, &waits);
    cJSON *answer = ask->answer;
    ask_remove(&member->asks, ask);
    pthread_mutex_unlock(&member->lock);
    return answer;
}

int member_ask_beside(struct member *member, cJSON *message, void (*arrived)(void *context, const cJSON *answer),
                      void *context)
{
    return begin(member, message, arrived, context) ? 0 : -1;
}
