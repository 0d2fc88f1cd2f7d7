/* The first lines of a connection to a job, as both ends know them (docs/control.md, Attaching). */
#ifndef EPOP_WIRE_ATTACH_H
#define EPOP_WIRE_ATTACH_H

#include <stdio.h>

#define WIRE_CHALLENGE "challenge" /* the server's first word over TCP */
#define WIRE_ATTACH    "attach"
#define WIRE_ATTACHED  "attached"
#define WIRE_REFUSED   "refused"
#define WIRE_BYE       "bye" /* of either end, before it goes */

/* What a proof covers besides the challenges. */
static inline void attach_about(char *text, size_t size, const char *role, int process)
{
    snprintf(text, size, "attach %.20s %d", role ? role : "", process);
}

#endif
