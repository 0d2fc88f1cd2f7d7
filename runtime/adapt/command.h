/* This executable: what joining processes are started as. */
#ifndef EPOP_ADAPT_COMMAND_H
#define EPOP_ADAPT_COMMAND_H

#include <stddef.h>

/* The command line as it was given, NULL at the end; kept for the process's life. NULL: it cannot be read. */
char **command_line(void);

/* The file that runs, or "" if that is not known; text is where it is put. */
const char *command_path(char *text, size_t size);

/* The file's name without directories; part of path. */
const char *command_name(const char *path);

#endif
