/*
 * SIGTERM: in a process of the first launch, the first one asks the job to stop at the next probe, the second ends it
 * at once. SIGINT ends it at once. What comes within a second of such a request is the same one: Slurm signals all
 * processes of a job, and mpiexec passes on what it got. A launcher hands them to every process; the one with the
 * coordinator acts on them, so that the launcher hears of one end with one status: under Hydra a job whose processes
 * the signal just killed may end with status 0.
 */
#ifndef EPOP_SIGNALS_H
#define EPOP_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct coordinator;

/* Requests by one signal. */
struct asked {
    _Atomic int64_t last; /* monotonic ns; 0: never */
    volatile sig_atomic_t count;
};

/* A signal has come: is it another request? In its handler, on any thread. */
bool signals_ask(struct asked *asked);

/* NULL: this process has no coordinator. Then the first signal is left to the process that has. A signal that the
 * program handles itself, or ignores, stays the program's. */
void signals_install(struct coordinator *coordinator);

/* A process that is about to join: SIGINT still ends it, for that is how it is given up. SIGTERM means that its host
 * goes, and does nothing more than to have that told. */
void signals_install_joining(void);

/* How it is told, on a thread of its own; what has come before is told now. NULL: no more. */
void signals_leave_by(void (*tell)(void));

/* The job has ended, and the process may run on. */
void signals_remove(void);

#endif
