/*
 * What a process is to the job while it is an executable's: the calls of the elastic MPI and those of sessions share
 * it.
 */
#ifndef EPOP_ADAPT_PART_H
#define EPOP_ADAPT_PART_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/describe/describe.h"
#include "runtime/job/elastic.h"

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

/* $EPOP_WATCH, set for a program that is measured from its start: what was measured is written to the file of that name
 * when it ends; shown, if it is "-"; neither, if it is empty. NULL: it is not. */
const char *part_watch(void);

/* What the program has: elastic calls; sessions alone; neither, so that it stays at its size. */
enum part_program { PART_OF_MPI, PART_OF_SESSIONS, PART_OF_WATCHED };

/*
 * Brings the job up, and MPI if it is not. The end of a program with sessions, by exit or a return from main, is told
 * to `ended` (NULL without). MPI's error code. Collective over the processes that start together.
 */
int part_begin(int *argc, char ***argv, enum part_program of, void (*ended)(int status));

/* As MPI_Finalize: in a process that left while the others go on, or in all at the end. */
int part_finalize(void);
/* The program has ended everywhere, which this process has heard. Local. */
void part_end(void);
/* Of launchers of joining processes that did not end well; 0: all did. */
int part_others_status(void);

/* In a probe that holds, the `count`th: what is asked of this process besides is done until it is to go on, to stop or
 * to adapt, which is returned. */
enum action part_hold(const struct elastic *e, int64_t count);

/* What the program says of its progress, for whoever wants to know it at a probe; it is preset with the probes. */
void part_set_progress(int64_t iteration, int64_t bound);
epop_progress_t part_progress(int64_t count);

/* The process has left the world, and goes on by itself, without the job; or stands by, as it cannot end. */
void part_depart(void);

/* For those who say where this process is: size 0: it has not joined yet, -1: it has left. */
void part_locate(int rank, int size);

/* The rank that was said so. Any thread. */
int part_rank(void);

/* The executable interprets a script of that name, which is copied. False: out of memory. Before part_begin. */
bool part_interpret(const char *name);
/* Does it? */
bool part_is_script(void);

/* The executable accepts these numbers of ranks (epop_api/sizes.h), whatever EPOP_SIZES says. NULL, or what is wrong
 * with the rule. Before part_begin. */
const char *part_accept(const char *rule);

/* What joining processes are started as: the file that runs, or "" if that is not known; text is where it is put. */
const char *part_program_path(char *text, size_t size);

/* The file's name without directories; part of path. */
const char *part_program_name(const char *path);

/* An error of that class, as the error handler of the world has it, with a line for people. Returns the class. */
int part_wrong(const char *function, int class, const char *why);

/* ---- Its data, and going on from a checkpoint: on the program's thread alone ---------------------- */

/* The probes that were before the first one: 0 in a job that begins anew. */
int64_t part_probes_before(void);

/* Registers the block; and fills the data in, if it is not there. joins: it comes in the window. Collective over the
 * world where it fills. */
void part_describe(const struct elastic *e, void (*block)(void *data, epop_description_t *d), void *data, bool joins);
/* Is the data missing? */
bool part_awaits_data(void);

/* Has no probe told of a fault that this process was started again after? */
bool part_fault_is_news(void);
/* In each probe, behind what else is in *info (NULL: nobody asks): in the first one of such a process how often it was
 * started again. Where nothing else is in it, *info is made, and the caller's. */
void part_tell_fault(MPI_Info *info);

#endif
