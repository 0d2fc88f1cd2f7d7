/* EPOP's own lines on the standard error, each in one write. */
#include "runtime/base/say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "epop: "

enum { AHEAD = sizeof PREFIX - 1, USUAL = 1024 };

void say_bytes(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 1000);
        else if (written < 0 && errno != EINTR)
            return; /* nobody reads it any more */
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
}

/* The room is for the prefix, `length` bytes of text, and the end of the line with its NUL, for which "\n" takes the
 * place. */
static void write_line(char *room, size_t length)
{
    memcpy(room, PREFIX, AHEAD);
    room[AHEAD + length] = '\n';
    fflush(stderr); /* what the program has printed before, where it gave that a buffer */
    say_bytes(STDERR_FILENO, room, AHEAD + length + 1);
}

void say_line(const char *format, ...)
{
    char usual[AHEAD + USUAL], *longer = NULL;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(usual + AHEAD, USUAL, format, arguments);
    if (length >= USUAL && (longer = malloc(AHEAD + (size_t)length + 1)))
        vsnprintf(longer + AHEAD, (size_t)length + 1, format, again);
    if (length >= USUAL && !longer)
        length = USUAL - 1; /* the rest of it is lost, with the memory */
    if (length >= 0)
        write_line(longer ? longer : usual, (size_t)length);
    free(longer);
    va_end(again);
    va_end(arguments);
}
