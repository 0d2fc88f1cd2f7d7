/*
 * Checkpoints of the job: what it was told of them (options, environment), going on from one, making one, and writing
 * it while the program goes on. What process 0 finds at the start all others of the launch get.
 */
#ifndef EPOP_JOB_CHECKPOINTS_H
#define EPOP_JOB_CHECKPOINTS_H

#include <stdbool.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/job/job.h"
#include "runtime/member/plan.h"
#include "runtime/wire/messages.h"

#define STORING_LIMIT 1800 /* seconds that a process, or the end of the job, waits for the disk */

/* Options, or else the environment. In every process. 0, or -1 with text. Local. */
int checkpoints_read(const struct job_options *options, const epop_program_t *program, struct error *error);

/* In process 0: the directory is there, and what the job goes on from fits. 0, or -1 with text. */
int checkpoints_open(struct error *error);

/* Does it go on from a checkpoint, and where? In all processes of the launch, behind checkpoints_share. */
bool checkpoints_restarting(void);
const struct position *checkpoints_position(void);

/* Process 0 tells the others of the launch. Collective over it. */
void checkpoints_share(void);

/* In process 0, for the coordinator. job: its id. */
void checkpoints_config(const char *job, struct checkpoint_config *config);

/* For the coordinator (struct coordinator_ops). */
bool checkpoints_possible(enum save_level level, struct error *why);
void checkpoints_forget(const char *path);

/* As job.member.order says, and the coordinator hears how it went. Collective over the world. */
void checkpoints_make(const struct position *at);

/*
 * One of which this process has a copy, a thread of the store may write while the program goes on; there is at most
 * one. The coordinator hears when it is on disk, and says how it ends: ORDER(keep), on the control thread.
 */
void checkpoints_keep(void *context, const struct order_keep *order);

/* Waits for the end of one that there is, so many seconds at most. Before the process says that it ends. */
void checkpoints_await_disk(double seconds);

/* Fills the data of the program that has run its INIT. Does not come back where that fails: the job ends with status 2.
 * Collective over the world. */
void checkpoints_load(void);

#endif
