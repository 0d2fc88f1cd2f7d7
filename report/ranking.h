/* The jobs of a run by how they fared: the largest bounded slowdown first, then those that have none. */
#ifndef EPOP_REPORT_RANKING_H
#define EPOP_REPORT_RANKING_H

#include <stddef.h>

#include "report/schedule.h"

struct ranking {
    const struct schedule_job **jobs; /* all of the run's */
    size_t count, known;              /* known: so many have a slowdown */
};

/* 0, or -1: no memory. */
int ranking_make(struct ranking *ranking, const struct schedule_run *run);
void ranking_free(struct ranking *ranking);

#endif
