/*
 * Ending the job from wherever one is: a library, a thread, a callback that must not fail. What belongs to it, the
 * records that are kept and the other processes that have to be told, is handed in by who has that.
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

/* Prints the text behind "epop: ", and waits a moment for it to be read. Any thread. */
void ending_say(const char *text);

/* The same of what the job will not survive: it is noted as the reason. */
void ending_say_failing(const char *text);

/* The text behind "epop: ", where nothing may be waited for but that: in a signal handler, perhaps. */
void ending_write(const char *text);

/* Prints the text (NULL: none) and ends the job with that status. The first one counts. Any thread. */
void ending_end(const char *text, int status) __attribute__((noreturn));

/* The same with status 1. */
void ending_abort(const char *text) __attribute__((noreturn));

/* Ends this process, as _exit does; what has that name is what programs meet (interpose/layer). Any thread, signal
 * handlers. */
void ending_quit(int status) __attribute__((noreturn));

/* Is the calling thread at it? */
bool ending_here(void);

#endif
