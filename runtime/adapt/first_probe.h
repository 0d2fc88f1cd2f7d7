/*
 * Which number has the first probe of a joining process? It takes over the count of the commit, and may meet a loop
 * that begins with a probe, which the others have made. The program says it, or all processes say what they did in MPI
 * up to their first probes, and the coordinator settles it (runtime/coordinator/settle.h).
 */
#ifndef EPOP_ADAPT_FIRST_PROBE_H
#define EPOP_ADAPT_FIRST_PROBE_H

#include <stdbool.h>

/* What the environment says, for a process that starts. NULL, or what is wrong with it, as one line. */
const char *first_probe_read(void);

/* A commit is over in which processes joined; does this one? */
void first_probe_begin(bool joins);

/* Between that and what is asked of this process: its probes have to be told. */
extern bool first_probe_open;
void first_probe_tell(void);

#endif
