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

#include <stdint.h>

#include "runtime/base/error.h"

/* The job's side, on a connected socket, within some seconds. ERROR_REFUSED: the other one is not whom we take for an
 * adviser (root, SlurmUser, this user, or the uid in $EPOP_ADVISER_UID), or does not take us. */
int handshake(int fd, int64_t job, struct error *error);

#endif
