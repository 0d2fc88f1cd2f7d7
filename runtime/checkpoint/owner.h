/*
 * Does a checkpoint belong to the program that is to go on from it? Its head has the program's name, structure and
 * arguments; the JSON of the structure also says what was described. Knows no MPI. All local.
 */
#ifndef EPOP_CHECKPOINT_OWNER_H
#define EPOP_CHECKPOINT_OWNER_H

#include "epop/program.h"
#include "runtime/base/error.h"
#include "runtime/checkpoint/format.h"

/* The name, structure and arguments of what runs here; freed by checkpoint_head_free. program: NULL for an executable,
 * which is called `name`. 0, or -1: out of memory. */
int owner_make(const epop_program_t *program, const char *name, char *const *argv, struct checkpoint_head *head);

/* Notes a described entry in the head's structure. 0, or -1: out of memory. */
int owner_describe(struct checkpoint_head *head, const char *name, const char *kind);

/* Is `there`, which path names in the text, of what runs here? 0, or -1 with the first difference. */
int owner_compare(const struct checkpoint_head *there, const struct checkpoint_head *here, const char *path,
                  struct error *error);

/* The same for what is described. */
int owner_compare_described(const struct checkpoint_head *there, const struct checkpoint_head *here, const char *path,
                            struct error *error);

#endif
