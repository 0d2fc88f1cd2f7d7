/* The sockets of PMIx, which it keeps to itself: found by their address. */
#ifndef EPOP_CONTROL_SOCKETS_H
#define EPOP_CONTROL_SOCKETS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The socket of this process that is connected to the server of `uri`: Nagle's algorithm off, close-on-exec on; and it
 * is lost when its other end's host does not answer, as below. */
void control_socket_tune(const char *uri);
/* A connection whose other end's host says nothing for $EPOP_HOST_SECONDS (30 by itself) is lost: one that has no power
 * any more cannot say that it has ended. Kernels answer for processes that are stopped. */
void control_socket_needs_host(int fd);
/* Children that the program forks do not get the connections to the server of `uri`, or those of this process's server:
 * a copy would keep that of a dead process alive. */
void control_sockets_only_here(const char *uri);
/* The socket that listens at the address of `uri`, or -1. */
int control_socket_listening(const char *uri);
/* The other end of a connection inside this process, known by the address of this end, or -1. */
int control_socket_of_peer(const struct sockaddr_un *address, socklen_t size);
/* Is there still a connection that was accepted at `uri`? Its listener must be closed by now. */
bool control_sockets_open(const char *uri);
/* Shuts down every connection that was accepted at `uri`. */
void control_sockets_shut(const char *uri);

#endif
