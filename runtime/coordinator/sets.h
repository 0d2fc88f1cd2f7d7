/*
 * What is asked about process sets, by processes of the job and by tools (epopctl psets): which there are, what they
 * are, operations, dictionaries, communicators to be made of them; whether there is a resource change, that there be
 * one, that it is accepted, or is through.
 */
#ifndef EPOP_COORDINATOR_SETS_H
#define EPOP_COORDINATOR_SETS_H

#include <stdbool.h>

#include "runtime/base/error.h"
#include "runtime/coordinator/inquiries.h"
#include "runtime/psets/psets.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct inquiry;

/* A process asks. */
void sets_ask(struct coordinator *c, int process, const struct report_ask *report);

/* A tool does. */
void sets_request(struct coordinator *c, void *handle, const struct request_psets *request);

#endif
