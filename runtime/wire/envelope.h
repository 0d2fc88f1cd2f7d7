/*
 * What one connection carries for many processes: a line around another, with the processes that it is of, or for.
 *
 *     {"op":"of","processes":[[65,63]],"says":{"op":"count","round":3,"count":17}}
 */
#ifndef EPOP_WIRE_ENVELOPE_H
#define EPOP_WIRE_ENVELOPE_H

#include <cjson/cJSON.h>
#include <stddef.h>

#define ENVELOPE_PROCESSES "processes" /* one, or [first, how many], each */

/* The line around `text`, an object without its line's end; `member` is the name that it gets. Ascending processes take
 * little room. The caller frees it. NULL: no memory. */
char *envelope_text(const char *op, const int *processes, size_t count, const char *member, const char *text,
                    size_t length, size_t *size);

/* The processes of such a line; the caller frees them. NULL, and 0: none, or no memory. */
int *envelope_processes(const cJSON *envelope, size_t *count);

#endif
