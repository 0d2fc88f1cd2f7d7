/* Whole input files in memory: plain or compressed by gzip, or the standard input. */
#ifndef SCHEDULER_WORKLOAD_INPUT_H
#define SCHEDULER_WORKLOAD_INPUT_H

#include <stddef.h>

#include "runtime/base/error.h"

struct input {
    const char *name; /* for messages; not owned */
    char *text;       /* with a 0 behind it; owned */
    size_t size;
};

/* path: "-" is the standard input. -1: nothing is to be freed. */
int input_read(struct input *input, const char *path, struct error *error);
/* Where the text stops being UTF-8; NULL: it is. */
const char *input_no_utf8(const struct input *input);
void input_free(struct input *input);

#endif
