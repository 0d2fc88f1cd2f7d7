/*
 * A job and the adviser show each other who they are, by munge, before anything else is said:
 *
 *   job      {"attend":1,"job":17,"uid":1000,"nonce":"..."}
 *   adviser  {"adviser":1,"nonce":"...","credential":"..."}   of "epop-adviser NONCE-OF-JOB ADDRESS PORT"
 *   job      {"credential":"..."}                             of "epop-attend NONCE-OF-ADVISER 17"
 *   adviser  {"welcome":true}, or at any point {"refused":"reason"}
 *
 * ADDRESS and PORT are the adviser's end of the connection, so that nobody in between can pass the words on.
 */
#ifndef SCHEDULER_ATTEND_HANDSHAKE_H
#define SCHEDULER_ATTEND_HANDSHAKE_H

#include <event2/event.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/wire/line.h"

/* The job's side, on a socket that is connected or will be: the descriptor is taken over. Once, and not before this
 * returns, `done` gets the line, which is its own then; or NULL and why not, within some seconds. ERROR_REFUSED: the
 * other one is not whom we take for an adviser (root, SlurmUser, this user, or the uid in $EPOP_ADVISER_UID), or does
 * not take us. No why: nobody was reached. -1: no memory, nothing is called. */
int handshake_begin(struct event_base *base, int fd, int64_t job,
                    void (*done)(void *context, struct wire_line *line, const struct error *why), void *context);

#endif
