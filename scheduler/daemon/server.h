/*
 * The socket of a daemon of epoprm: JSON lines of its commands in, answers and events out (schema/epoprm.schema.json).
 * It is on the daemon's loop; a client that is slow, silent or talks nonsense loses its own connection and delays
 * nobody. Only processes of the same user are heard. Who comes when all places are taken waits in front of the door.
 */
#ifndef SCHEDULER_DAEMON_SERVER_H
#define SCHEDULER_DAEMON_SERVER_H

#include <event2/event.h>

#include "runtime/base/error.h"
#include "scheduler/daemon/daemon.h"

struct server;

/* Listens at `path`; a socket that is left there from a daemon before is replaced: who calls this holds the directory's
 * lock. NULL in *server on failure. Base, table and context must outlive it. */
int server_open(struct server **server, const char *path, struct event_base *base, const struct daemon_table *table,
                void *context, struct error *error);
/* What clients have not taken by now is lost to them; the socket goes. May be NULL. */
void server_close(struct server *server);

/* For struct daemon_listener: `server` is a struct server. */
void server_tell(void *server, const struct journal_event *event);

#endif
