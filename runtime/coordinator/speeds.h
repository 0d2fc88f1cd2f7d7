/*
 * How fast each element was at each size: sums of what rank 0's process counted (runtime/member/tally.h), which tells
 * it where the ranks come together, and when it is asked for its position. No clock in here.
 */
#ifndef EPOP_COORDINATOR_SPEEDS_H
#define EPOP_COORDINATOR_SPEEDS_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "runtime/wire/messages.h"

struct speed {
    int pc, size;
    int64_t iterations;
    double seconds;
};

/* All zero: nothing was seen. */
struct speeds {
    struct speed *seen; /* owned; by pc, then by size */
    int count, room;
};

void speeds_destroy(struct speeds *speeds);

/* Out of memory it is lost. */
void speeds_add(struct speeds *speeds, const struct speed *more);

/* The "tally" of a message, if it has one. */
void speeds_take(struct speeds *speeds, const struct shape_tally *tally);

/* Of one element, by schema/control.schema.json: the smallest size first, to which the speedup is relative. */
cJSON *speeds_json(const struct speeds *speeds, int pc);

#endif
