/*
 * The request measure. The first one has all ranks begin to measure; each asks them for their sums, which their control
 * threads answer, also while the program's hang. One that does not is named when the time is over. When nobody has
 * asked for a while, they stop.
 */
#ifndef EPOP_COORDINATOR_MEASURE_H
#define EPOP_COORDINATOR_MEASURE_H

#include <stdbool.h>

#include "runtime/base/timers.h"
#include "runtime/coordinator/measured.h"
#include "runtime/wire/messages.h"

struct coordinator;

#define MEASURE_ASKERS                                                                                                 \
    16 /* whose last answers are kept; of more, the one that has not asked for longest is forgotten */
#define MEASURE_WAITING 16 /* requests at a time */
#define MEASURE_NAME    64

struct measure_asker {
    char name[MEASURE_NAME];
    double asked;               /* when it was answered last, seconds since 1970; 0: nobody's place */
    struct measured_told *told; /* by process number */
    size_t count, room;
};

struct measure {
    bool on;
    double began; /* seconds since 1970 */
    double until; /* as long as somebody has asked for, monotonic */
    int round;
    int awaited; /* a rank that had not answered at the last look */
    bool open;   /* answers are awaited */
    struct timer limit, idle;
    struct {
        void *handle;
        char asker[MEASURE_NAME];
    } waiting[MEASURE_WAITING];
    int waiting_count;
    struct measure_asker askers[MEASURE_ASKERS];
};

void measure_init(struct coordinator *c);
void measure_destroy(struct coordinator *c);
void measure_request(struct coordinator *c, void *handle, const struct request_measure *request);
void measure_abandoned(struct coordinator *c, const void *handle);
void measure_came(struct coordinator *c, int process, const struct report_gauge *report);
/* There is another world: its new ranks measure, too, if the others do, and answer what is asked just now. */
void measure_follow(struct coordinator *c);
/* Its hello has come. */
void measure_attached(struct coordinator *c, int process);
/* Answers with what has come by now. */
void measure_give_up(struct coordinator *c);

#endif
