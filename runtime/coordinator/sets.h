/*
 * What is asked about process sets, by processes of the job and by tools (epopctl psets): which there are, what they
 * are, operations, dictionaries, and communicators that are to be made of them. About resource changes: sets_changes.h.
 */
#ifndef EPOP_COORDINATOR_SETS_H
#define EPOP_COORDINATOR_SETS_H

#include <stdbool.h>

#include "runtime/wire/messages.h"

struct coordinator;

/* A process asks. */
void sets_ask(struct coordinator *c, int process, const struct report_ask *report);

/* A tool does. */
void sets_request(struct coordinator *c, void *handle, const struct request_psets *request);

/* What waits is looked at again. */
void sets_advance(struct coordinator *c);

#endif
