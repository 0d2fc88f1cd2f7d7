/* A policy that is a program of its own, in any language: it reads a question on each line of its standard input, and
 * writes a line with the answer to standard output. docs/reference/policies.md has the questions. */
#ifndef SCHEDULER_CORE_PIPED_H
#define SCHEDULER_CORE_PIPED_H

#include <epop/policy.h>
#include <sys/types.h>

#include "runtime/base/error.h"

struct piped;

/* Starts the program; NULL with a line. In its PYTHONPATH is the folder of the tree that this executable is in. */
struct piped *piped_start(const char *path, struct error *error);

/* Kills it with the host: its process. 0: none. */
pid_t piped_process(const struct piped *piped);

/* Asks what it is. A table whose settings are `piped` and whose texts belong to it; NULL with a line. */
const epop_policy_t *piped_table(struct piped *piped, const char *path, struct error *error);

/* Its input ends, by which it should end, too; what has not in two seconds is killed. */
void piped_close(struct piped *piped);

#endif
