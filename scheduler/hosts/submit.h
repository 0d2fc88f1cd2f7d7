/* Jobs come. */
#ifndef SCHEDULER_HOSTS_SUBMIT_H
#define SCHEDULER_HOSTS_SUBMIT_H

#include "scheduler/hosts/state.h"

/* ERROR_REFUSED: it can never run here; the line says what it lacks. */
int hosts_submit(struct hosts *hosts, const struct submission *submission, int64_t *number, struct error *error);

/* A job of the journal, that waits or not, is one of ours and of the core's. */
struct hosts_job *hosts_submit_known(struct hosts *hosts, const struct journal_job *job, struct error *error);

#endif
