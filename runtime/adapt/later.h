/* Questions that the program does not wait for: an MPI request is complete when the answer has come. */
#ifndef EPOP_ADAPT_LATER_H
#define EPOP_ADAPT_LATER_H

#include <cjson/cJSON.h>
#include <mpi.h>
#include <stddef.h>

/*
 * Asks (takes the message). arrived gets the answer, with a copy of context's `size` bytes, on the control thread; it
 * must not block or call MPI. finished (NULL: nothing) is called with that copy in the thread that completes the
 * request, and may. *request is the program's. MPI's error code, by the session's error handler.
 */
int later_ask(MPI_Session session, const char *function, cJSON *message,
              void (*arrived)(void *context, const cJSON *answer), const void *context, size_t size,
              void (*finished)(void *context), MPI_Request *request);

#endif
