/* The tables of the journal, and their version. */
#ifndef SCHEDULER_JOURNAL_LAYOUT_H
#define SCHEDULER_JOURNAL_LAYOUT_H

#include "scheduler/journal/store.h"

/* Makes the tables where the file is new. -1: another version, or damaged. */
int layout_make(struct journal *journal, struct error *error);
/* For who reads alone. */
int layout_check(struct journal *journal, struct error *error);

#endif
