/* The recorder: the thread in process 0 that has the records collected and written. */
#ifndef EPOP_RECORDER_H
#define EPOP_RECORDER_H

#include "runtime/records/records.h"

/* Is it in this process? Async-signal-safe, as the next two. */
bool recorder_runs(void);
/* Has it collect and write, once, marked with the reason. */
void recorder_fail(const char *reason);
/* Waits until that is done, 2 s at most. */
void recorder_wait(void);

/* A process has answered the question of that round. */
void recorder_answered(int round);

/* ---- What it needs of records.c ---- */

const struct records_user *records_user(void);
/* Has this process's records by now handed over. False: they are being handed over, without an end. */
bool records_give_present(int which);

#endif
