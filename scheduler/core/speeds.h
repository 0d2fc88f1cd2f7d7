/* Nodes that are faster or slower than others, as options say it: "n3=0.5,n[4-6]=2"; those that are not named have 1.
 */
#ifndef SCHEDULER_CORE_SPEEDS_H
#define SCHEDULER_CORE_SPEEDS_H

#include "runtime/base/error.h"

/* names: of the nodes, by number; several may have one name. NULL: n0, n1, ... *speeds: of each, the caller's to free.
 * -1: the line begins with "--speeds: ". */
int speeds_read(double **speeds, const char *text, const char *const *names, int count, struct error *error);

#endif
