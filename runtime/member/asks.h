/*
 * What a process asks the coordinator, and its answers: about process sets and their changes. Any thread may ask, and
 * several may wait at once.
 */
#ifndef EPOP_MEMBER_ASKS_H
#define EPOP_MEMBER_ASKS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/wire/messages.h"

struct ask;
struct member;

struct asks {
    int count;         /* so far: the last one's number */
    struct ask *first; /* those that are not through; owned */
};

/* Asks (takes the message, without its number), and waits for the answer as long as that takes; *quit, with
 * member_wake, ends it before. The answer, which is the caller's, or NULL: the job ends, or the wait was ended. */
cJSON *member_ask(struct member *member, cJSON *message, const bool *quit);

/* Asks, and goes on: `arrived` is called with the answer, once, on the control thread, with the member's lock; it must
 * not block. 0, or -1: it could not be sent, and nothing will come. */
int member_ask_beside(struct member *member, cJSON *message, void (*arrived)(void *context, const cJSON *answer),
                      void *context);

/* For member.c, with its lock: an answer has come; the member ends. */
void asks_take(struct asks *asks, const struct order_told *answer);
void asks_destroy(struct asks *asks);

#endif
