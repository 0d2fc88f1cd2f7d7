/* The metrics of several runs side by side. */
#ifndef SCHEDULER_EPOPSIM_TABLE_H
#define SCHEDULER_EPOPSIM_TABLE_H

#include <stdio.h>

#include "scheduler/epopsim/trials.h"

/* For people: in brackets, each figure's ratio to the first run's. */
void table_print(FILE *file, const struct trials *trials);
/* Every metric, unrounded. */
void table_tsv(FILE *file, const struct trials *trials);

#endif
