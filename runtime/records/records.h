/*
 * Records: how what drivers found in every process comes together in process 0, and is written there, whatever becomes
 * of the job. A driver sees it as the hooks record, write and checkpoint of epop/driver.h.
 *
 * Each process hands over its records when it leaves the program and when the program ends. In process 0 a thread of
 * its own, the recorder, writes at the end. On a failure, and for checkpoints, it first asks all processes for what
 * they have by now; their control threads answer, as the program's may hang. It waits a second for them at most.
 */
#ifndef EPOP_RECORDS_RECORDS_H
#define EPOP_RECORDS_RECORDS_H

#include <stdbool.h>

#include "epop/driver.h"
#include "epop/visibility.h"
#include "runtime/wire/messages.h"

#define EPOP_PRIVATE EPOP_API /* exported for the epop executable; no part of the public interface */

#define RECORDS_MAX 8 /* drivers that record */

/* The drivers that record, `which` from 0. The hooks as in epop/driver.h. */
struct records_user {
    int count, quiet;
    char *(*record)(int which, int last);
    int (*write)(int which, const epop_job_t *job);
    double (*checkpoint)(int which);
};

struct records_job {
    const char *id, *path, *backend;
    int size;
};

/* ---- In every process --------------------------------------------------------------------------- */

/* Before the job starts. The structure stays the caller's, and is kept. Without it all else here does nothing. */
EPOP_PRIVATE void epop__records_use(const struct records_user *user);

/* This process leaves the program, or the program has ended: its last records. Before the coordinator hears of it. */
EPOP_PRIVATE void epop__records_hand_over(void);

/*
 * Something failed, and this process, or the whole job, is about to be ended: has everything written, marked with the
 * reason, and returns after 2 s at most. Any thread. In process 0 also in a signal handler; there and where nobody
 * records it costs nothing but the wait.
 */
EPOP_PRIVATE void epop__records_fail(const char *reason);

/* ---- In process 0 ------------------------------------------------------------------------------- */

/* The job starts; copies what is in *job. */
EPOP_PRIVATE void epop__records_begin(const struct records_job *job);

/* The program has ended everywhere: writes, and waits until that is done. stopped_by: who ended it early, or NULL. 0,
 * or -1: a driver could not write its result. */
EPOP_PRIVATE int epop__records_finish(const char *stopped_by);

/* ---- For the control plane ---------------------------------------------------------------------- */

/* Messages of a process, on the control thread of process 0: a part of its records; that it has sent all; that the job
 * fails. Where nobody records they are ignored, as are those below. */
void records_take_part(int process, const struct report_record *report);
void records_take_answer(int process, const struct report_recorded *report);
void records_take_failure(int process, const struct report_write *report);
/* Messages of process 0, likewise in another process: which records it wants; that they are written. */
void records_give(const struct order_record *order);
void records_are_written(void);
/* What becomes of an adaptation (NULL: a request was refused for that reason). */
void records_note(const epop_adaptation_t *adaptation, const char *reason);
void records_note_checkpoint(const epop_checkpoint_t *checkpoint);

#endif
