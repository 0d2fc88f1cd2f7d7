/*
 * The sums that processes tell of what they measured, put together by element and size of the world: since whoever asks
 * was told last. No clock and no message in here.
 */
#ifndef EPOP_COORDINATOR_MEASURED_H
#define EPOP_COORDINATOR_MEASURED_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/member/spread.h"
#include "runtime/wire/messages.h"

struct measured_sums {
    int pc, size;
    int64_t life; /* those of another one began at zero */
    int64_t iterations;
    double loop, mpi; /* seconds */
};

/* What was told last of one process. All zero: nothing yet. */
struct measured_told {
    struct measured_sums *sums;
    size_t count, room;
};

void measured_forget(struct measured_told *told);

/* Of all processes, since then. */
struct measured_element {
    struct measured_sums sums; /* iterations: the most that any rank did */
    int64_t all_iterations;
    int ranks;
    struct spread mtct;
};
struct measured {
    struct measured_element *elements;
    size_t count, room;
};

/*
 * Adds what a process says that it has come to in one element, and keeps that as told. Of worlds of another
 * size than the present one only what grew. 0, or -1: out of memory.
 */
int measured_add(struct measured *measured, struct measured_told *told, const struct shape_gauge_element *element,
                 int size);

/* An array by schema/control.schema.json. */
cJSON *measured_json(const struct measured *measured, const char *(*name)(const void *context, int pc),
                     const void *context);
void measured_free(struct measured *measured);

#endif
