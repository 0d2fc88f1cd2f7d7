/*
 * A keeper: a process between the launcher and this one, which waits for its end and says how it ended. Hydra ends all
 * processes of a launch on a host when one of them is killed, exits with an error, or MPI in it gives up; behind a
 * keeper one that is expendable may. What MPI says to the launcher goes by the keeper.
 */
#ifndef EPOP_KEEPER_H
#define EPOP_KEEPER_H

#include <stdbool.h>

/* This process becomes a keeper and does not return; what it keeps is its executable, started once more with the
 * arguments `argv`, in which this returns at once. Before MPI. Where there is no memory for that: returns in this
 * process, without a keeper. */
void keeper_start(char **argv);

/* From here on, does the job do without this process if it is killed? At first it does not. Any thread; does nothing
 * without a keeper. */
void keeper_expendable(bool expendable);

/* Ends this process, wherever its other threads are. Only where it is expendable, or nobody else is in its launch. Any
 * thread. Does not return. */
void keeper_end(void) __attribute__((noreturn));

#endif
