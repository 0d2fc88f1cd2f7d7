/* All adaptations, refusals and checkpoints of the job, for drivers. The caller sees to it that one thread at a time
 * comes in. */
#ifndef EPOP_RECORDS_HISTORY_H
#define EPOP_RECORDS_HISTORY_H

#include "epop/driver.h"

/* An adaptation has come further; or (NULL) a request was refused. */
void history_note(const epop_adaptation_t *adaptation, const char *reason);
/* One is complete. */
void history_note_checkpoint(const epop_checkpoint_t *checkpoint);

/* Copies; history_release frees them. */
void history_fill(epop_job_t *job);
void history_release(epop_job_t *job);

#endif
