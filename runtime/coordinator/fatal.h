/* The job cannot go on. */
#ifndef EPOP_COORDINATOR_FATAL_H
#define EPOP_COORDINATOR_FATAL_H

struct coordinator;

/* Ends every process; text: one line, or NULL if it has been said. Does not return in a job. */
void fatal(struct coordinator *c, const char *text);
void fatal_memory(struct coordinator *c);

#endif
