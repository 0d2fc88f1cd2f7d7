/*
 * Ends the job from anywhere: a library, a thread, a callback that must not fail. What that takes elsewhere, keeping
 * the records and telling the other processes, is done by hooks that their owner sets.
 */
#ifndef EPOP_BASE_ENDING_H
#define EPOP_BASE_ENDING_H

#include <stdbool.h>

struct ending_hooks {
    void (*failing)(const char *line); /* the job will not go on, for the reason in one line */
    void (*end)(int status);           /* ends all processes; if it returns this one just exits */
};

/* The hooks stay the caller's. NULL: none. */
void ending_set(const struct ending_hooks *hooks);

/* Writes what this process has printed, and waits a moment for it to be read. Any thread. */
void ending_flush(void);

/* Prints "epop: " and the text, and waits a moment for it to be read. Any thread. */
void ending_say(const char *text);

/* The same of what the job will not survive: it is noted as the reason. */
void ending_say_failing(const char *text);

/* Likewise, past the buffers of stdio: for signal handlers, too. */
void ending_write(const char *text);

/* Prints the text (NULL: none) and ends the job with that status. The first one counts. Any thread. */
void ending_end(const char *text, int status) __attribute__((noreturn));

/* The same with status 1. */
void ending_abort(const char *text) __attribute__((noreturn));

/* Ends this process, as _exit does; what has that name is what programs meet (interpose/layer). Any thread, signal
 * handlers. */
void ending_quit(int status) __attribute__((noreturn));

/* Is the calling thread ending the job? */
bool ending_here(void);

#endif
