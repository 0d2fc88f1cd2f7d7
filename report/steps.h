/* How many there are over time, from intervals: waiting jobs and their nodes, running jobs and their nodes. */
#ifndef EPOP_REPORT_STEPS_H
#define EPOP_REPORT_STEPS_H

#include <stdbool.h>
#include <stddef.h>

/* From this time to that of the next one. */
struct step {
    double time, jobs, nodes;
};

struct steps {
    struct step *items;
    size_t count, room;
    bool failed;                  /* no memory */
    double thinned;               /* seconds that each is the mean of; 0: they are exact */
    double most_jobs, most_nodes; /* at any time */
};

/* Another interval, in any order. */
void steps_add(struct steps *steps, double begin, double end, double nodes);
/* After the last one: the sums over time, by time, each time once. */
void steps_sum(struct steps *steps);
/* If there are more than `most`: so many means over equal spans from `begin` to `end`. */
void steps_thin(struct steps *steps, double begin, double end, size_t most);
void steps_free(struct steps *steps);

#endif
