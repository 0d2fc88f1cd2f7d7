/*
 * Balances: the data is dealt out anew by what each rank has to compute, and nobody comes or goes. It is an adaptation
 * like a resize, whose preparing is that the ranks measure: the loads of a few iterations that all have ended.
 *
 * With --balance the ranks measure all the time, and the job balances itself: when they were too uneven a few times in
 * a row, and have lost more by that since than the last balance cost. When two in a row have not helped none is tried
 * again for the same loads: there is nothing that could be dealt out otherwise.
 */
#ifndef EPOP_COORDINATOR_BALANCE_H
#define EPOP_COORDINATOR_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/timers.h"
#include "runtime/coordinator/measure.h"
#include "runtime/coordinator/record.h"
#include "runtime/wire/messages.h"

struct coordinator;

/* Of one rank, in the iterations that are looked at. */
struct balance_load {
    int64_t iterations;
    double seconds; /* outside MPI */
    double left;    /* over the mean of all, when none was tried again */
};

struct balance {
    struct measure_asker told; /* for its own view of what the ranks have measured */
    bool begun;                /* what they say next adds to the loads; false: it only says from where on */
    int pc;                    /* of the element that these are of */
    double seconds;            /* in it, of all ranks together */
    struct balance_load *loads;
    size_t room;
    int ranks;     /* so many loads; 0: nothing yet */
    bool deferred; /* the program has asked for one out of a world that is being made */
    bool divides;  /* rank 0 describes something that a balance makes anew */
    bool wanted;   /* somebody has asked for one */
    struct timer look;
    double pause; /* seconds to the next look */
    /* of a job that balances itself: */
    int uneven;    /* times in a row that it was above the limit */
    double lost;   /* seconds that the ranks have waited for the busiest one meanwhile */
    int useless;   /* balances in a row that have not helped */
    bool given_up; /* none is tried again until the loads are others */
    double was;    /* the imbalance that the last balance was for, until it is known what came of it; 0: it is */
    double cost;   /* seconds that the ranks stood still for it; 0: there was none */
};

/* Can it help? Where the program moves its data by hand that is known from who asks for one. */
bool balance_can_help(const struct coordinator *c);

/* A request of epopctl; the answer goes to handle. */
void balance_request(struct coordinator *c, void *handle, const struct request_balance *request);

/* What a rank says that the program asks for. */
void balance_from_program(struct coordinator *c, int process, const struct report_request *report);

#endif
