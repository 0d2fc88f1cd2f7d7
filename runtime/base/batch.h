/*
 * Batch systems, as far as a process sees by itself: the job that it belongs to, and how Slurm writes lists of
 * nodes.
 */
#ifndef EPOP_BASE_BATCH_H
#define EPOP_BASE_BATCH_H

#include <stdbool.h>
#include <stddef.h>

/* ---- The job ------------------------------------------------------------------------------------ */

/* By the environment of this process. lib/epop/step sets it for the processes that it starts: Hydra gives them the
 * first job's SLURM_JOB_ID. */
#define SLURM_STEP_JOB "EPOP_SLURM_JOB"

/* The number of the Slurm job that this process runs in; 0: in none. */
int slurm_job(void);

#define BATCH_MAX 64

/* The job of any batch system, "epoprm:17" or "slurm:1234": as EPOP_BATCH_JOB says, else by the environment that Slurm
 * makes; NULL: none. What it was at the first call: a
 * program may change its environment later. Valid for good. Any thread after that call. */
const char *batch_job(void);

/* Can options and files name this account in a list? Without blank, comma, '=' and '#', and not "". */
bool batch_account(const char *name);

/* ---- Lists of nodes ----------------------------------------------------------------------------- */

/* As Slurm writes them: "n[1-3,07],gpu4" names n1, n2, n3, n07 and gpu4. */
#define NODELIST_NAME_MAX 64

struct nodelist {
    char (*names)[NODELIST_NAME_MAX]; /* in the order of the text */
    size_t count, room;
};

/* Adds the nodes of the text to the list, which begins as {0}. 0; or -1: that is no such list, or names more than a
 * million nodes, or memory is short. */
int nodelist_add(struct nodelist *list, const char *text);

void nodelist_free(struct nodelist *list);

/* Numbers of such nodes, as SLURM_JOB_CPUS_PER_NODE has them: of "4(x2),8" that of place 1 is 4, that of place 2 is 8.
 * 0: it says none, or text is NULL. */
int nodelist_number(const char *text, size_t place);

#endif
