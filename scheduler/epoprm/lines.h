/* Bytes that come and go on a connection which never blocks: whole lines out of what came, and what is to be sent. */
#ifndef SCHEDULER_EPOPRM_LINES_H
#define SCHEDULER_EPOPRM_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines {
    char *in, *out;
    size_t in_begin, in_used, in_room, out_used, out_room; /* what came is in [in_begin, in_used) */
    size_t in_most, out_most; /* a line that is longer, or more that is not taken: the connection is given up */
};

void lines_free(struct lines *lines);

enum lines_end { LINES_OPEN, LINES_CLOSED, LINES_TOO_LONG };

/* Takes what there is. */
enum lines_end lines_receive(struct lines *lines, int fd);
/* The next whole line without its end, in a buffer of ours until the next call; NULL: there is none. */
char *lines_next(struct lines *lines);

/* Appends text and a line's end; -1: too much waits already, or no memory. */
int lines_put(struct lines *lines, const char *text);
/* Sends what the other side takes now. -1: it is gone. */
int lines_send(struct lines *lines, int fd);

#endif
