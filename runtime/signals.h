/*
 * SIGTERM: the first one asks the job to stop at the next probe, the second ends the process at once. A launcher
 * hands it to every process; the one with the coordinator acts on it.
 */
#ifndef EPOP_SIGNALS_H
#define EPOP_SIGNALS_H

struct coordinator;

/* NULL: this process has no coordinator. Then the first signal is left to the process that has. */
void signals_install(struct coordinator *coordinator);

#endif
