/* What process 0 keeps of the records: texts by driver and process, and the history of adaptations. Thread-safe. */
#ifndef EPOP_RECORDS_STORE_H
#define EPOP_RECORDS_STORE_H

#include <stdbool.h>

#include "epop/driver.h"

/* Takes the text. last: it is kept; else it is replaced by the next text of that driver and process. */
void store_put(int which, int process, bool last, char *text);

/* One of the parts of a text; they come in order. */
void store_part(int which, int process, bool last, int part, int parts, const char *text);

void store_note(const epop_adaptation_t *adaptation, const char *reason);
void store_note_checkpoint(const epop_checkpoint_t *checkpoint);

/* Fills in the records of a driver, the last ones alone if the program has ended, and the history. What it points to
 * stays valid until store_release. */
void store_fill(int which, epop_job_t *job);
void store_release(epop_job_t *job);

#endif
