/* Lines of a connection: see lines.h. */
#include "scheduler/epoprm/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/base/array.h"

enum { READ_SIZE = 65536 };

void lines_free(struct lines *lines)
{
    free(lines->in);
    free(lines->out);
    lines->in = lines->out = NULL;
    lines->in_begin = lines->in_used = lines->in_room = lines->out_used = lines->out_room = 0;
}

/* What was handed out makes room. */
static void make_room(struct lines *lines)
{
    if (lines->in_begin)
        memmove(lines->in, lines->in + lines->in_begin, lines->in_used - lines->in_begin);
    lines->in_used -= lines->in_begin;
    lines->in_begin = 0;
}

/* One read for each time that there is something: who sends without end does not keep the others waiting. */
enum lines_end lines_receive(struct lines *lines, int fd)
{
    make_room(lines);
    if (lines->in_used > lines->in_most)
        return LINES_TOO_LONG;
    if (array_reserve(&lines->in, &lines->in_room, lines->in_used + READ_SIZE, 1))
        return LINES_CLOSED;
    ssize_t got = recv(fd, lines->in + lines->in_used, READ_SIZE, MSG_DONTWAIT);
    if (got > 0)
        lines->in_used += (size_t)got;
    bool nothing_yet = got < 0 && (errno == EAGAIN || errno == EINTR);
    return got > 0 || nothing_yet ? LINES_OPEN : LINES_CLOSED;
}

char *lines_next(struct lines *lines)
{
    char *line = lines->in ? lines->in + lines->in_begin : NULL;
    char *end = line ? memchr(line, '\n', lines->in_used - lines->in_begin) : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    lines->in_begin = (size_t)(end - lines->in) + 1;
    return line;
}

int lines_put(struct lines *lines, const char *text)
{
    size_t length = strlen(text);
    if (lines->out_used + length + 1 > lines->out_most ||
        array_reserve(&lines->out, &lines->out_room, lines->out_used + length + 1, 1))
        return -1;
    memcpy(lines->out + lines->out_used, text, length);
    lines->out[lines->out_used + length] = '\n';
    lines->out_used += length + 1;
    return 0;
}

int lines_send(struct lines *lines, int fd)
{
    if (!lines->out_used)
        return 0;
    ssize_t sent = send(fd, lines->out, lines->out_used, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    lines->out_used -= (size_t)sent;
    memmove(lines->out, lines->out + sent, lines->out_used);
    return 0;
}
