/* The address of a socket whose path may be longer than a socket's address can hold. */
#ifndef SCHEDULER_EPOPRM_ADDRESS_H
#define SCHEDULER_EPOPRM_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

#include "runtime/base/error.h"

/* By way of its directory, which stays open as *directory: the caller's to close when it is bound or connected. */
int address_make(struct sockaddr_un *address, int *directory, const char *path, struct error *error);

#endif
