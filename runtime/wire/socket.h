/* Sockets of the wire: how they are listened at and reached, by a path or by an address, and how they are set. */
#ifndef EPOP_WIRE_SOCKET_H
#define EPOP_WIRE_SOCKET_H

#include <event2/event.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "runtime/base/error.h"

/* ---- Listening -------------------------------------------------------------------------- */

/* A Unix socket at the path, which may be longer than a socket's address holds; an old one there goes. Its owner alone
 * may connect. A descriptor, or -1 with text. */
int wire_listen_path(const char *path, struct error *error);
/* At that address, which gets its port. A descriptor, or -1 with text. */
int wire_listen_address(struct sockaddr *address, socklen_t *size, struct error *error);
/* At a name that only this host's processes reach, and that is free again when its listener has gone; a short one. A
 * descriptor, or -1 with errno; EADDRINUSE: somebody listens there. */
int wire_listen_name(const char *name);

struct wire_listener;

/* Takes those who come, a few at a time, and rests for a while where the process has no descriptor left. The descriptor
 * is taken over. `take` gets connections that are its own from then on: non-blocking, closed on exec. NULL: no memory.
 */
struct wire_listener *wire_listener_new(struct event_base *base, int fd, void (*take)(void *context, int fd),
                                        void *context);
/* Whoever comes waits in front of the door, or is taken again. */
void wire_listener_hold(struct wire_listener *listener, bool hold);
void wire_listener_free(struct wire_listener *listener);

/* ---- Reaching --------------------------------------------------------------------------- */

/* Begins to connect, without waiting. A descriptor, or -1 with errno; EAGAIN: try again soon. */
int wire_connect_path(const char *path);
int wire_connect_name(const char *name); /* ECONNREFUSED: nobody listens there */
int wire_connect_address(const struct sockaddr *address, socklen_t size);

/* This host's name, as the processes of a job tell it each other; $EPOP_HOST_NAME where one machine plays several. */
void wire_host(char *name, size_t size);

/* ---- Of a connection -------------------------------------------------------------------- */

/* $EPOP_HOST_SECONDS, 30 by itself: a host that says nothing for so long is lost. */
int wire_host_seconds(void);

/* No delay; and it is lost when the other end's host says nothing for that long: one that has
 * no power any more cannot say that it has ended. Kernels answer for processes that are stopped. Nothing on Unix
 * sockets. */
void wire_socket_tune(int fd);

/* The user at the other end of a Unix socket, as the kernel knows it. False: it is none, or cannot be known. */
bool wire_socket_user(int fd, uid_t *uid);

#endif
