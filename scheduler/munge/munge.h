/*
 * Who is at the other end: credentials of munge, which carry a text, and the uid of whoever made them by the word of
 * the two hosts' munged. libmunge is loaded at the first use, by the module lib/epop/munge.so: nothing else depends
 * on it.
 */
#ifndef SCHEDULER_MUNGE_MUNGE_H
#define SCHEDULER_MUNGE_MUNGE_H

#include <sys/types.h>

#include "runtime/base/error.h"

/* Of this process, for `reader` alone to read, and for one minute. The credential is the caller's to free. */
int munge_make(const char *text, uid_t reader, char **credential, struct error *error);

/* One that is fresh and was not read before. The text is the caller's to free. */
int munge_check(const char *credential, char **text, uid_t *uid, struct error *error);

/* What the module exports as `munge_module`. `socket`: of munged; NULL: its usual place. They return NULL, or what is
 * wrong. */
struct munge_module {
    const char *(*make)(const char *socket, const char *text, uid_t reader, char **credential);
    const char *(*check)(const char *socket, const char *credential, char **text, uid_t *uid);
};

#endif
