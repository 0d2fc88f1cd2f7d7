/* What a checkpoint has besides data. Knows no MPI. */
#ifndef EPOP_CHECKPOINT_HEAD_H
#define EPOP_CHECKPOINT_HEAD_H

#include <stddef.h>

#include "runtime/base/error.h"
#include "runtime/member/plan.h"

#define CHECKPOINT_FORMAT 1 /* of the file; another one is refused */

#define CHECKPOINT_NUMBER_MOST 999999999 /* of a checkpoint; of all that is counted by int */

/* Strings are owned by who made it (checkpoint_head_free). */
struct checkpoint_head {
    int format;
    char *program;      /* epop_program_t.name */
    char *structure;    /* epop_program_to_json, or "" of an executable */
    char *arguments;    /* the program's arguments as a JSON array of strings */
    struct position at; /* the iteration that comes next */
    int size;           /* ranks that wrote it */
    int number;         /* of the checkpoint in the job, from 1; goes on over restarts */
    int restarts;       /* how often the job was restarted before */
    double time;        /* seconds since 1970 */
    char *values;       /* describe_values_pack */
    size_t value_bytes;
};

/* Is each of its numbers one that can be? 0, or -1 with the first that cannot, in which the file is not named. */
int checkpoint_head_check(const struct checkpoint_head *head, struct error *error);

/* Frees what is in it, and leaves it empty. */
void checkpoint_head_free(struct checkpoint_head *head);

#endif
