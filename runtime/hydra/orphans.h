/*
 * A process that is killed cannot end what it left running, and Hydra waits for that. So from the first fork() on a
 * helper program (driver/helpers/orphans.c) waits for the end of this process, and does it in its place.
 */
#ifndef EPOP_ORPHANS_H
#define EPOP_ORPHANS_H

#include <stddef.h>

/* `describe` makes the helper's argument, when it is started. Before the program runs; once. */
void orphans_begin(void (*describe)(char *text, size_t size));

/* This process ends well: the helper goes home. Local. */
void orphans_end(void);

#endif
