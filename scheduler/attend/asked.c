/* Questions and answers: see asked.h. */
#include "scheduler/attend/asked.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/wire/loop.h"

enum { KEPT_MOST = 1000 }; /* answers: one that never forgets does not fill the memory */

cJSON *asked_refusal(const char *code, const char *reason)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddFalseToObject(answer, "ok");
    cJSON_AddStringToObject(answer, "code", code);
    cJSON_AddStringToObject(answer, "reason", reason);
    return answer;
}

struct question *asked_find(const struct asked *asked, int64_t id)
{
    for (struct question *one = asked->first; one; one = one->next)
        if (one->id == id && !one->forgotten)
            return one;
    return NULL;
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
    struct question *one = context;
    (void)fd, (void)what;
    char reason[80];
    snprintf(reason, sizeof reason, "the job did not answer within %g s", one->seconds);
    asked_answer(one->asked, one->id, asked_refusal("timeout", reason));
}

static void drop(struct asked *asked, struct question *one)
{
    for (struct question **at = &asked->first; *at; at = &(*at)->next)
        if (*at == one) {
            *at = one->next;
            break;
        }
    event_free(one->late);
    cJSON_Delete(one->answer);
    free(one);
}

static void keep_few(struct asked *asked)
{
    int count = 0;
    struct question *oldest = NULL;
    for (struct question *one = asked->first; one; one = one->next) {
        count++;
        if (!oldest && one->answer)
            oldest = one;
    }
    if (count > KEPT_MOST && oldest)
        drop(asked, oldest);
}

struct question *asked_add(struct asked *asked, int64_t id, double seconds)
{
    struct question *one = calloc(1, sizeof *one), **last = &asked->first;
    if (!one || !(one->late = evtimer_new(asked->base, on_late, one))) {
        free(one);
        return NULL;
    }
    keep_few(asked);
    while (*last)
        last = &(*last)->next;
    *last = one;
    one->asked = asked;
    one->id = id;
    one->seconds = seconds;
    wire_timer_set(one->late, seconds);
    return one;
}

static void settle(struct question *one, cJSON *answer)
{
    struct asked *asked = one->asked;
    evtimer_del(one->late);
    one->answer = answer;
    if (one->forgotten)
        drop(asked, one);
    else
        asked->answered(asked->context, one->id, one->answer);
}

/* Of two with this id one is forgotten, and was asked before the other. */
void asked_answer(struct asked *asked, int64_t id, cJSON *answer)
{
    for (struct question *one = asked->first; one; one = one->next)
        if (one->id == id && !one->answer) {
            settle(one, answer);
            return;
        }
    cJSON_Delete(answer);
}

void asked_refuse_all(struct asked *asked, const char *code, const char *reason)
{
    for (struct question *one = asked->first, *next; one; one = next) {
        next = one->next;
        if (!one->answer)
            settle(one, asked_refusal(code, reason));
    }
}

void asked_forget(struct asked *asked, int64_t id)
{
    struct question *one = asked_find(asked, id);
    if (!one)
        return;
    if (one->answer)
        drop(asked, one);
    else
        one->forgotten = true;
}

cJSON *asked_json(const struct asked *asked)
{
    cJSON *list = cJSON_CreateArray();
    for (const struct question *one = asked->first; one; one = one->next) {
        if (one->forgotten)
            continue;
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "id", (double)one->id);
        cJSON_AddItemToObject(json, "answer", one->answer ? cJSON_Duplicate(one->answer, 1) : cJSON_CreateNull());
        cJSON_AddItemToArray(list, json);
    }
    return list;
}
