/* The job cannot go on. */
#ifndef EPOP_COORDINATOR_FATAL_H
#define EPOP_COORDINATOR_FATAL_H

struct coordinator;

/* Ends every process; text: one line, or NULL if it has been said. Does not return in a job. */
void fatal(struct coordinator *c, const char *text);
void fatal_memory(struct coordinator *c);

/* The same because a process or a host has died: the program has done nothing wrong, and may be started again
 * (runtime/control/supervisor.h), unless the job was told to stop. */
void fatal_fault(struct coordinator *c, const char *text);

#endif
