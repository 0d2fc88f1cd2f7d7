/*
 * Checkpoints of the job: what it was told of them (options, environment), making one, and going on from one. What
 * process 0 finds at the start all others of the launch get.
 */
#ifndef EPOP_JOB_CHECKPOINTS_H
#define EPOP_JOB_CHECKPOINTS_H

#include <stdbool.h>

#include "runtime/base/error.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/job/job.h"
#include "runtime/member/plan.h"
#include "runtime/member/save.h"

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

/* Fills the data of the program that has run its INIT. Does not come back where that fails: the job ends with status 2.
 * Collective over the world. */
void checkpoints_load(void);

#endif
