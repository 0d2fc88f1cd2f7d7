/*
 * A checkpoint that is written while the ranks go on: each of them has made a copy, of which a thread in its process
 * says when it is on disk, whether that process has a rank still or not. When all are, the process that was rank 0
 * gives the file its name, and only then it is complete.
 */
#ifndef EPOP_COORDINATOR_BEHIND_H
#define EPOP_COORDINATOR_BEHIND_H

#include <stdbool.h>

#include "runtime/wire/messages.h"

struct coordinator;

void behind_init(struct coordinator *c);

/* The ranks are about to be told to save so: from here on each of them may say that its part is on disk. */
void behind_await(struct coordinator *c);
/* All ranks have copied, and go on. */
void behind_begin(struct coordinator *c);
bool behind_is_on(const struct coordinator *c);

/* From a process. */
void behind_stored(struct coordinator *c, int process, const struct report_stored *report);
void behind_kept(struct coordinator *c, int process, const struct report_kept *report);
/* Its connection is closed, and the job goes on. */
void behind_lost(struct coordinator *c, int process);

/* The program has ended everywhere: is there a file to wait for? Not for ever. */
bool behind_holds_end(struct coordinator *c);
/* Does the end of the program wait for one? */
bool behind_is_awaited(const struct coordinator *c);

#endif
