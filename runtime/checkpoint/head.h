/* What a checkpoint has besides data. Knows no MPI. */
#ifndef EPOP_CHECKPOINT_HEAD_H
#define EPOP_CHECKPOINT_HEAD_H

#include <stddef.h>

#include "runtime/member/plan.h"

#define CHECKPOINT_FORMAT 1 /* of the file; another one is refused */

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

/* Frees what is in it, and leaves it empty. */
void checkpoint_head_free(struct checkpoint_head *head);

#endif
