/*
 * The few collective steps of descriptions, over window->all. They give up the processor while they wait, as the
 * redistribution does. EPOP_OK, or EPOP_ERR_MPI.
 */
#ifndef EPOP_DESCRIBE_COLLECTIVE_H
#define EPOP_DESCRIBE_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "epop/elastic.h"

int collective_max(const epop_window_t *window, int64_t *values, int count);
int collective_min(const epop_window_t *window, int64_t *values, int count);
int collective_or(const epop_window_t *window, uint64_t *values, int count);
int collective_sum(const epop_window_t *window, uint64_t *values, int count);
int collective_broadcast(const epop_window_t *window, void *data, size_t bytes, int root);

/* A line on stderr by rank 0 of the window; nobody goes on before it is out. EPOP_ERR_ARGUMENT. */
int collective_refuse(const epop_window_t *window, const char *text);

#endif
