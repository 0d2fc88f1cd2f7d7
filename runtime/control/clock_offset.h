/*
 * How this process's monotonic clock and that of process 0 differ: process 0 is asked for its time over the control
 * plane, several times, and the quickest answer counts (as NTP does it).
 */
#ifndef EPOP_CLOCK_H
#define EPOP_CLOCK_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct clock_reading {
    int64_t at, offset, uncertainty; /* ns; at `at` here it is at + offset there, give or take the uncertainty */
    bool same_clock;                 /* it is the same clock: offset and uncertainty are 0 */
    bool same_host;
};

/* Asks by sending with tell(context, message); messages of that kind that come back are to be handed to
 * clock_answered. Takes some round trips, and a second at most. 0, or -1: no answer came. One thread at a time. */
int clock_ask(int (*tell)(void *context, const cJSON *message), void *context, struct clock_reading *reading);

/* An answer, which counts if it belongs to the question that is open. On the control thread. */
void clock_answered(const cJSON *message);

/* In process 0: the answer to such a question. The caller deletes it. */
cJSON *clock_answer(const cJSON *message);

#endif
