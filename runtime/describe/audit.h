/*
 * What the debug driver learns of described data: whether all of it arrived in a window, whether what is said to be
 * constant is, and whether something is written behind the end of an array. Elements are counted, with a
 * checksum over the global index, as `sum` of a kind gives them. Without the driver nothing here costs anything.
 */
#ifndef EPOP_DESCRIBE_AUDIT_H
#define EPOP_DESCRIBE_AUDIT_H

#include "runtime/describe/describe.h"

/* wrong: something is, in one line of text. NULL: nobody watches. The same on all processes of the job: with it there
 * is a reduction more per entry of a window. */
EPOP_API void epop__watch_described(void (*wrong)(const char *text));

/* Before and after all entries have moved. What the block lists afterwards has to be what it listed before, in other
 * places. Collective over window->all. */
void describe_audit_before(epop_description_t *d, const epop_window_t *window);
void describe_audit_after(const epop_description_t *d, const epop_window_t *window,
                          void (*block)(void *, epop_description_t *), void *data);

/* Remembers what this rank has of the program's constant data, and marks what lies behind the ends of its arrays; and
 * looks whether it still is so. Between blocks, in the same world. Local. */
EPOP_API void epop__describe_note(void);
EPOP_API void epop__describe_compare(void);

#endif
