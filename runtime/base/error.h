/*
 * What went wrong: a code for programs, and one line of text for people: what, where, what to do about it. A function
 * that can fail takes one as its last parameter, and returns -1 when it has set it.
 */
#ifndef EPOP_BASE_ERROR_H
#define EPOP_BASE_ERROR_H

enum error_code {
    ERROR_NONE,
    ERROR_FAILED,
    ERROR_REFUSED, /* what is asked for cannot be had */
    ERROR_TIMEOUT, /* no answer in time */
    ERROR_MEMORY,
};

#define ERROR_TEXT_MAX 4608 /* a path, and what is the matter with it */

struct error {
    enum error_code code;
    char text[ERROR_TEXT_MAX];
};

/* Always -1, for `return error_set(...)`. A text that is too long is cut off. The arguments may contain error->text. */
int error_set(struct error *error, enum error_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for want of memory. */
int error_memory(struct error *error);

#endif
