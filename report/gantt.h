/* Which stays are drawn one by one, and a picture of the others: how much of the nodes they held where and when. */
#ifndef EPOP_REPORT_GANTT_H
#define EPOP_REPORT_GANTT_H

#include <stddef.h>

#include "report/schedule.h"

#define GANTT_COLUMNS 400
#define GANTT_LEVELS  4
#define GANTT_PIECES  6

struct gantt_stay {
    const struct schedule_job *job;
    const struct schedule_stay *stay;
};

struct gantt {
    struct gantt_stay *shown; /* by begin */
    size_t count, left_out;
    int rows;       /* of the picture; 0: nothing was left out, there is none */
    double *shares; /* rows x GANTT_COLUMNS: of the node seconds there, 0 to 1 */
};

/* At most so many stays are shown, those with the most node seconds, with GANTT_PIECES ranges of nodes each in the
 * mean; and none that is narrower than half a pixel, unless all can be shown. 0, or -1: no memory. */
int gantt_choose(struct gantt *gantt, const struct schedule *schedule, const struct schedule_run *run, size_t most,
                 int most_rows);
void gantt_free(struct gantt *gantt);
/* 0: nothing, to GANTT_LEVELS: all of it. */
int gantt_level(const struct gantt *gantt, int row, int column);

#endif
