/*
 * What EPOP itself says on the standard error: each line whole, whatever other ranks and threads print beside it. Since
 * glibc 2.37 fprintf to it writes a line in pieces of 128 bytes, between which Hydra puts what another rank has said.
 */
#ifndef EPOP_BASE_SAY_H
#define EPOP_BASE_SAY_H

/* "epop: ", the text by printf's rules, and the end of the line, in one write. Any thread. */
void say_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
