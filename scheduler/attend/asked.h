/*
 * What the attendant was asked: each id is sent to the job once, however often it is asked, and its answer is kept
 * until it is forgotten.
 */
#ifndef SCHEDULER_ATTEND_ASKED_H
#define SCHEDULER_ATTEND_ASKED_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

struct question {
    struct question *next;
    struct asked *asked;
    int64_t id;
    double seconds;
    cJSON *answer; /* NULL: it waits */
    struct event *late;
    bool forgotten; /* before it was answered */
};

struct asked {
    struct event_base *base;
    struct question *first;
    void (*answered)(void *context, int64_t id, const cJSON *answer); /* once for each */
    void *context;
};

/* NULL: it was not asked, or is forgotten. */
struct question *asked_find(const struct asked *asked, int64_t id);
/* A new one, which is answered with `timeout` after so many seconds. NULL: no memory. */
struct question *asked_add(struct asked *asked, int64_t id, double seconds);
/* One that is not there, or answered already, stays as it is. The answer is the table's from here on. */
void asked_answer(struct asked *asked, int64_t id, cJSON *answer);
/* {"ok":false,"code":code,"reason":reason} to all that wait. */
void asked_refuse_all(struct asked *asked, const char *code, const char *reason);
void asked_forget(struct asked *asked, int64_t id);
/* [{"id":1,"answer":{...}}, ...], in the order of asking. */
cJSON *asked_json(const struct asked *asked);

cJSON *asked_refusal(const char *code, const char *reason);

#endif
