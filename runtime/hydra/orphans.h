/*
 * A process that is killed cannot end what it left running, and Hydra waits for that. So from the first fork() on a
 * helper program (driver/helpers/orphans.c) waits for the end of this process, and does it in its place.
 */
#ifndef EPOP_ORPHANS_H
#define EPOP_ORPHANS_H

/* `what` is the helper's argument; it stays the caller's. Before the program runs; once. */
void orphans_begin(const char *what);

/* This process ends well: the helper goes home. Local. */
void orphans_end(void);

#endif
