/*
 * A checkpoint of which this process has a copy, which a thread of the store writes while the program goes on. There is
 * at most one. The coordinator hears when it is on disk, and says how it ends.
 */
#ifndef EPOP_JOB_STORING_H
#define EPOP_JOB_STORING_H

#include "runtime/checkpoint/take.h"
#include "runtime/wire/messages.h"

#define STORING_LIMIT 1800 /* seconds that a process, or the end of the job, waits for the disk */

/* One is about to be made: what checkpoint_take wants. It stays ours. On the program's thread, as the next. */
struct checkpoint_behind *storing_begin(const struct store_table *store, int number);
/* It could not be. */
void storing_called_off(void);

/* ORDER(keep); on the control thread. */
void storing_keep(void *context, const struct order_keep *order);

/* Waits for the end of one that there is, so many seconds at most. Before the process says that it ends. */
void storing_end(double seconds);

#endif
