/*
 * What EPOP itself says on the standard error: each line stays whole, whatever other ranks and threads print at the
 * same time. (Since glibc 2.37 fprintf writes a line in pieces of 128 bytes, and Hydra puts the output of other
 * ranks between them.)
 */
#ifndef EPOP_BASE_SAY_H
#define EPOP_BASE_SAY_H

#include <stddef.h>

/* "epop: ", the text by printf's rules, and the end of the line, in one write. Any thread. */
void say_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* All of these bytes, also where the other end takes them slowly and does not block; as far as anybody reads them. Any
 * thread. */
void say_bytes(int fd, const char *bytes, size_t length);

#endif
