/* Passing on what launchers and joining processes print, without what Hydra itself says. */
#include "runtime/hydra/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "runtime/base/say.h"

#define ROOM 4096

/* One of the two outputs, on its way. */
struct stream {
    int from, to;
    struct relay *keeps; /* the last line; NULL: nobody does */
    char text[ROOM];     /* of a line that is not complete, what was not passed on: it may be Hydra's */
    size_t length;
    bool passing;      /* the line has begun to be passed on */
    bool in_banner;    /* between the two rulers */
    bool in_box;       /* likewise, of PRRTE, which explains itself at length there */
    bool after_banner; /* the line before was the second one */
    bool troubled;     /* mpiexec has said what went wrong in itself */
    char held[2][96];  /* an empty line and a ruler, which a banner may follow */
};

/* ---- What is Hydra's -------------------------------------------------------------------- */

#define PREFIX "[mpiexec@"
#define BANNER "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"

static const char *const hydras[] = {
    PREFIX,
    "[proxy:",
    "Ctrl-C caught... cleaning up processes\n",
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING",
    "This typically refers to a problem with your application.",
    "Please see the FAQ page for debugging suggestions",
    "srun: cluster configuration lacks support for cpu binding\n", /* asked for none, where there is none */
    "srun: error: eio_message_socket_accept: slurm_receive_msg[",  /* the leash looks whether it listens */
};

/* Said by Hydra's signal handler after PREFIX "HOST]", in the midst of whatever line it is writing. */
static const char *const notices[] = {
    "] Sending Ctrl-C to processes as requested\n",
    "] Press Ctrl-C again to force abort\n",
};

static bool begins(const char *text, size_t length, const char *with)
{
    size_t shorter = length < strlen(with) ? length : strlen(with);
    return !memcmp(text, with, shorter);
}

static bool ends(const char *text, size_t length, const char *with)
{
    size_t own = strlen(with);
    return length >= own && !memcmp(text + length - own, with, own);
}

/* Where the last PREFIX, or what may become one, is in a text, or its length. */
static size_t last_prefix(const char *text, size_t length)
{
    for (size_t at = length; at-- > 0;)
        if (begins(text + at, length - at, PREFIX))
            return at;
    return length;
}

/* How much of a line comes before the notice that it ends with; without one, its length. */
static size_t before_notice(const char *line, size_t length)
{
    bool is = false;
    for (size_t i = 0; i < sizeof notices / sizeof *notices; i++)
        is |= ends(line, length, notices[i]);
    return is ? last_prefix(line, length) : length;
}

/* How much of an incomplete line is not Hydra's, and does not become so by what follows. */
static size_t passes(const struct stream *s)
{
    size_t length = last_prefix(s->text, s->length);
    bool may_be = s->in_banner || (!s->passing && s->text[0] == '=');
    for (size_t i = 0; i < sizeof hydras / sizeof *hydras; i++)
        may_be |= !s->passing && begins(s->text, length, hydras[i]);
    return may_be ? 0 : length;
}

static bool is_hydras(const char *line, size_t length)
{
    bool is = false;
    for (size_t i = 0; i < sizeof hydras / sizeof *hydras; i++)
        is |= length >= strlen(hydras[i]) && begins(line, length, hydras[i]);
    return is;
}

/* Hydra writes its rulers in two parts, as long as these and their end. */
enum { RULER_HALF = 51, RULER_REST = 34, RULER = RULER_HALF + RULER_REST - 1 };

/* A line of many '=', with its end. */
static bool is_ruler(const char *line, size_t length)
{
    return length >= RULER_HALF && length < sizeof((struct stream *)0)->held[0] && strspn(line, "=") == length - 1;
}

/* PRRTE's ruler. */
static bool is_edge(const char *line, size_t length)
{
    return length > RULER_HALF && strspn(line, "-") == length - 1;
}

/* A signal between write and the end of Hydra's fflush has the same part written twice. */
static bool is_first_part_again(const struct stream *s, size_t length)
{
    return strlen(s->held[1]) == RULER_HALF && length == RULER;
}

static bool is_rest_again(const struct stream *s, const char *line, size_t length)
{
    return (s->after_banner || strlen(s->held[1]) == RULER) && length == RULER_REST && strspn(line, "=") == length - 1;
}

/* ---- Passing on --------------------------------------------------------------------------- */

static void put(const struct stream *s, const char *text, size_t length)
{
    if (s->to >= 0)
        say_bytes(s->to, text, length);
}

static void put_held(struct stream *s)
{
    for (int i = 0; i < 2; i++) {
        put(s, s->held[i], strlen(s->held[i]));
        s->held[i][0] = 0;
    }
}

static void keep(struct relay *relay, const char *line, size_t length)
{
    pthread_mutex_lock(&relay->lock);
    snprintf(relay->said, sizeof relay->said, "%.*s", (int)length - 1, line);
    pthread_mutex_unlock(&relay->lock);
}

/* A whole line, with its end; one that begins a banner, or may do so, is kept back. */
static void take_line(struct stream *s, const char *line, size_t length)
{
    bool ruler = is_ruler(line, length);
    s->troubled |= length >= strlen(PREFIX) && begins(line, length, PREFIX);
    if (is_rest_again(s, line, length))
        return;
    s->after_banner = s->in_banner && ruler;
    if (s->in_banner) {
        s->in_banner = !ruler;
    } else if (s->held[1][0] && length > strlen(BANNER) && begins(line, length, BANNER)) {
        s->in_banner = true;
        s->held[0][0] = s->held[1][0] = 0;
    } else if (ruler && (!s->held[1][0] || is_first_part_again(s, length))) {
        memcpy(s->held[1], line, length);
        s->held[1][length] = 0;
    } else if (!is_hydras(line, length)) {
        bool edge = is_edge(line, length);
        s->in_box ^= edge;
        if (s->keeps && length > 1 && !edge && !s->in_box)
            keep(s->keeps, line, length);
        put_held(s);
        if (length == 1)
            strcpy(s->held[0], "\n");
        else
            put(s, line, length);
    }
}

/* Of the incomplete line. */
static void pass_on(struct stream *s, size_t length)
{
    if (!length)
        return;
    put_held(s);
    put(s, s->text, length);
    s->length -= length;
    memmove(s->text, s->text + length, s->length);
    s->passing = true;
}

static void take_end_of_line(struct stream *s)
{
    size_t length = before_notice(s->text, s->length);
    if (length < s->length) {
        s->length = length; /* which goes on after the notice */
        return;
    }
    if (s->passing)
        put(s, s->text, s->length);
    else
        take_line(s, s->text, s->length);
    s->length = 0;
    s->passing = false;
}

/* What is there of the last line is passed on at once if it is not Hydra's, as a prompt would be. */
static void take(struct stream *s, const char *text, size_t length)
{
    while (length) {
        const char *end = memchr(text, '\n', length);
        size_t part = end ? (size_t)(end - text) + 1 : length;
        if (part > ROOM - s->length) /* no line of Hydra's is so long */
            pass_on(s, s->length);
        if (part > ROOM - s->length)
            part = ROOM - s->length;
        memcpy(s->text + s->length, text, part);
        s->length += part;
        if (s->text[s->length - 1] == '\n')
            take_end_of_line(s);
        text += part;
        length -= part;
    }
    pass_on(s, passes(s));
}

/* False at its end. */
static bool read_some(struct stream *s)
{
    char text[ROOM];
    ssize_t got = read(s->from, text, sizeof text);
    if (got > 0)
        take(s, text, (size_t)got);
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/* What mpiexec wrote before it ended; others that still have the pipe are not waited for. */
static void read_rest(struct stream *s)
{
    struct pollfd ready = {.fd = s->from, .events = POLLIN};
    while (s->from >= 0 && poll(&ready, 1, 0) > 0 && read_some(s))
        ;
    put_held(s);
    if (!s->in_banner && !is_hydras(s->text, s->length))
        put(s, s->text, s->length);
}

bool relay_run(struct relay *relay, pid_t pid)
{
    bool troubled = false;
    struct stream *streams = calloc(2, sizeof *streams);
    int end = pidfd_open(pid, 0);
    if (streams && end >= 0) {
        streams[0].from = relay->out[0];
        streams[0].to = relay->hidden ? -1 : STDOUT_FILENO;
        streams[1].from = relay->err[0];
        streams[1].to = relay->hidden ? -1 : STDERR_FILENO;
        streams[1].keeps = relay;
        struct pollfd ready[3] = {{.fd = end, .events = POLLIN},
                                  {.fd = relay->out[0], .events = POLLIN},
                                  {.fd = relay->err[0], .events = POLLIN}};
        while (!ready[0].revents) {
            if (poll(ready, 3, -1) < 0 && errno != EINTR)
                break;
            for (int i = 1; i < 3; i++)
                if (ready[i].revents && !read_some(&streams[i - 1]))
                    ready[i].fd = streams[i - 1].from = -1; /* poll leaves it out */
        }
        read_rest(&streams[0]);
        read_rest(&streams[1]);
        troubled = streams[0].troubled || streams[1].troubled;
    }
    if (end >= 0)
        close(end);
    free(streams);
    relay_close(relay);
    return troubled;
}

bool relay_said(struct relay *relay, const char *name, char *text, size_t size)
{
    size_t length = strlen(name);
    pthread_mutex_lock(&relay->lock);
    bool has = !strncmp(relay->said, name, length) && !strncmp(relay->said + length, ": ", 2);
    snprintf(text, size, "%s", has ? relay->said + length + 2 : "");
    pthread_mutex_unlock(&relay->lock);
    return has;
}

/* ---- The pipes ------------------------------------------------------------------------------ */

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int relay_open(struct relay *relay)
{
    *relay = (struct relay){.out = {-1, -1}, .err = {-1, -1}, .lock = PTHREAD_MUTEX_INITIALIZER};
    if (!pipe2(relay->out, O_CLOEXEC) && !pipe2(relay->err, O_CLOEXEC))
        return 0;
    int error = errno;
    relay_close(relay);
    return error;
}

void relay_started(struct relay *relay)
{
    close_one(&relay->out[1]);
    close_one(&relay->err[1]);
}

void relay_close(struct relay *relay)
{
    relay_started(relay);
    close_one(&relay->out[0]);
    close_one(&relay->err[0]);
}
