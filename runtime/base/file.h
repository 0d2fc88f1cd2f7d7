/* A whole small file at once. */
#ifndef EPOP_BASE_FILE_H
#define EPOP_BASE_FILE_H

#include <stddef.h>

#include "runtime/base/error.h"

/* What is in a regular file of at most `most` bytes, with a zero behind it, from malloc(). NULL: with text. Never waits
 * for another process, as a pipe would make it. */
char *file_read(const char *path, size_t most, struct error *error);

#endif
