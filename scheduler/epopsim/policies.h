/* The policies that the command line names. */
#ifndef SCHEDULER_EPOPSIM_POLICIES_H
#define SCHEDULER_EPOPSIM_POLICIES_H

#include <stddef.h>
#include <stdio.h>

#include "runtime/base/error.h"

/* Appends the policies of "easy,ers,upper=0.2,./mine.so": what has no '=' begins one. Each is the caller's to free. */
int policy_words(const char *text, char ***words, size_t *count, size_t *room, struct error *error);

/* All that are built in. */
int policy_words_default(char ***words, size_t *count, size_t *room, struct error *error);

/* With their options. */
void policies_list(FILE *file);

#endif
