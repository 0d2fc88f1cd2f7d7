/* The first lines of a connection to a job, as both ends know them (docs/reference/control.md, Attaching). */
#ifndef EPOP_WIRE_ATTACH_H
#define EPOP_WIRE_ATTACH_H

#include <stdio.h>

#define WIRE_CHALLENGE "challenge" /* the server's first word over TCP */
#define WIRE_ATTACH    "attach"
#define WIRE_ATTACHED  "attached"
#define WIRE_REFUSED   "refused"
#define WIRE_BYE       "bye" /* of either end, before it goes */

/* Between a relay and the server: a process of its host has come, or is gone without goodbye; what some of them say;
 * what some of them are told (docs/reference/control.md, Relays). */
#define WIRE_BRINGS "brings"
#define WIRE_MISSES "misses"
#define WIRE_OF     "of"
#define WIRE_FOR    "for"

/* A relay that goes says move to those of its host. Each says moved to the server, as the last that it says that way,
 * hears bye as the last that it hears that way, and attaches again. */
#define WIRE_MOVE  "move"
#define WIRE_MOVED "moved"

/* What a proof covers besides the challenges. */
static inline void attach_about(char *text, size_t size, const char *role, int process)
{
    snprintf(text, size, "attach %.20s %d", role ? role : "", process);
}

#endif
