/* The file that a driver writes its result to: there is the old one, or the whole new one, never a part. */
#ifndef DRIVER_OUTPUT_H
#define DRIVER_OUTPUT_H

#include <stddef.h>

#include "runtime/base/error.h"

/* Can the file be written? Before anything runs. 0, or -1 with one line of text. */
int output_check(const char *path, struct error *error);

/* Writes the text, and the end of a line. What is no ordinary file (a pipe, /dev/stdout) is written to as it is. 0, or
 * -1 with text. */
int output_write(const char *path, const char *text, struct error *error);

#endif
