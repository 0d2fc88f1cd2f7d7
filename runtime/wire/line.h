/*
 * A connection of the wire: a stream socket that carries one JSON object a line, each way. It never blocks: what the
 * other end does not take now is kept and sent later.
 */
#ifndef EPOP_WIRE_LINE_H
#define EPOP_WIRE_LINE_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/wire/loop.h"

struct wire_line;

#define WIRE_NOT_READ "it does not read what it is sent" /* why one is gone who does not */

/* Called by the thread that runs the base. Any of them may close the line. */
struct wire_line_ops {
    /* An object has come; it is freed after the call. */
    void (*message)(void *context, const cJSON *message);
    /* A line that is no JSON object; NULL: the line ends then. */
    void (*nonsense)(void *context, const char *text);
    /* Nothing more will come, for the reason given: the other end has closed it, it broke, a line was too long, or too
     * much waits for an end that does not read. Once. What is sent still goes out where it can; the line is still to
     * be closed. */
    void (*gone)(void *context, const char *why);
    /* So many bytes have come of a line whose end has not; NULL: nobody asks. */
    void (*part)(void *context, size_t bytes);
    /* All that waited for the other end is sent; NULL: nobody asks. */
    void (*sent)(void *context);
    /* The line as it has come, before anybody reads it. True: that was all. NULL: nobody asks. */
    bool (*text)(void *context, const char *text, size_t length);
};

struct wire_limits {
    size_t line;   /* bytes of a line that comes */
    size_t unsent; /* bytes that may wait for an end that does not read; 0: as many as there are */
};

/* Takes the descriptor over, which becomes non-blocking and closed on exec; children that the program forks lose it.
 * NULL: no memory; the descriptor is closed. */
struct wire_line *wire_line_new(struct event_base *base, int fd, const struct wire_limits *limits,
                                const struct wire_line_ops *ops, void *context);

/* For another owner, or another role of the same connection. */
void wire_line_hand(struct wire_line *line, const struct wire_limits *limits, enum wire_priority priority,
                    const struct wire_line_ops *ops, void *context);

/* Sends one object. Any thread, as long as the line is not closed; never blocks. -1: it is gone, or no memory. */
int wire_line_send(struct wire_line *line, const cJSON *message);
/* The same for text that has its line's end. */
int wire_line_send_text(struct wire_line *line, const char *text, size_t length);
/* The text of an object with its line's end, for many lines, and nothing behind it; the caller frees it. NULL: no
 * memory. */
char *wire_line_text(const cJSON *message, size_t *length);
/* The same with an "id" before all that it has. */
char *wire_line_text_numbered(const cJSON *message, double id, size_t *length);

/* Reads no further, or goes on. The loop's thread. */
void wire_line_hold(struct wire_line *line, bool hold);

/* Is everything sent? Any thread. */
bool wire_line_is_sent(struct wire_line *line);

/* Closed by itself when everything is sent, after so many seconds at most; nothing is called for it any more. */
void wire_line_finish(struct wire_line *line, double seconds);
/* At once. Copies that forked children have are shut down, too. */
void wire_line_close(struct wire_line *line);

int wire_line_fd(const struct wire_line *line);

#endif
