/*
 * What a process is to the job while it is an executable's: the calls of the elastic MPI and those of sessions share
 * it.
 */
#ifndef EPOP_ADAPT_PART_H
#define EPOP_ADAPT_PART_H

#include <mpi.h>
#include <stdbool.h>

enum part {
    PART_OUTSIDE, /* of any job */
    PART_UNDER_EPOP,
    PART_JOINER, /* not connected with the running processes yet */
    PART_MEMBER, /* of the world */
    PART_LEFT,
    PART_FINALIZED
};
enum part part_now(void);
void part_become(enum part part);

/* The job is of a program that has sessions alone. */
bool part_has_sessions(void);

/*
 * Brings the job up, and MPI if it is not; with sessions for a program that has these alone, and whose end, by exit or
 * a return from main, is told to `ended` (NULL without). MPI's error code. Collective over the processes that start
 * together.
 */
int part_begin(int *argc, char ***argv, bool sessions, void (*ended)(int status));

/* As MPI_Finalize: in a process that left while the others go on, or in all at the end. */
int part_finalize(void);
/* The program has ended everywhere, which this process has heard. Local. */
void part_end(void);
/* Of launchers of joining processes that did not end well; 0: all did. */
int part_others_status(void);

/* The process has left the world, and goes on by itself, without the job: true; or stands by, as it cannot end. */
bool part_depart(void);

/* For those who say where this process is: size 0: it has not joined yet, -1: it has left. */
void part_locate(int rank, int size);

/* The rank that was said so. Any thread. */
int part_rank(void);

/* An error of that class, as the error handler of the world has it, with a line for people. Returns the class. */
int part_wrong(const char *function, int class, const char *why);

#endif
