/* Why a plug-in stays in memory after it is closed, as far as its file tells, and what helps. */
#ifndef DRIVER_STAYS_H
#define DRIVER_STAYS_H

#include <stddef.h>

/* A line without an end: "it defines GNU-unique symbols (...): ...". Of a file that can be read. Local. */
void stays_why(const char *path, char *text, size_t size);

#endif
