/* A connection that carries JSON objects: see line.h. */
#include "runtime/wire/line.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/base/child.h"

enum { READ_AT_ONCE = 65536, PIECES = 16 };

struct wire_line {
    struct event_base *base;
    struct wire_limits limits;
    const struct wire_line_ops *ops;
    void *context;
    int fd;
    /* The loop's thread alone. */
    struct event *read;    /* also woken by hand: there is something to look at */
    struct event *hung_up; /* while it is not read from */
    struct event *late;    /* of finish */
    struct evbuffer *in;
    int busy;                            /* its functions are being called: it is freed behind them */
    bool held, deaf, finishing, closing; /* deaf: nothing is read any more */
    /* Any thread, with the lock. */
    pthread_mutex_t lock;
    struct event *write;
    struct evbuffer *out;
    const char *broken; /* why nothing can be sent any more */
};

/* ---- Sending -------------------------------------------------------------------------------- */

static const char cut_off[] = "the connection is broken";

/* With the lock held, like the next ones. The loop's thread tells the owner. */
static void break_off(struct wire_line *line, const char *why)
{
    line->broken = why;
    evbuffer_drain(line->out, evbuffer_get_length(line->out));
    event_active(line->read, EV_TIMEOUT, 0);
}

/* Bytes that the socket took; 0: none now, or it is broken. */
static size_t send_pieces(struct wire_line *line, struct iovec *pieces, size_t count)
{
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};
    ssize_t sent = sendmsg(line->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
        break_off(line, cut_off);
    return sent > 0 ? (size_t)sent : 0;
}

static void send_kept(struct wire_line *line)
{
    struct evbuffer_iovec pieces[PIECES];
    int count = evbuffer_peek(line->out, -1, NULL, pieces, PIECES);
    evbuffer_drain(line->out, send_pieces(line, pieces, (size_t)(count < PIECES ? count : PIECES)));
    if (evbuffer_get_length(line->out))
        event_add(line->write, NULL);
}

static int keep(struct wire_line *line, const char *text, size_t length)
{
    size_t waiting = evbuffer_get_length(line->out);
    if (line->limits.unsent && waiting + length > line->limits.unsent)
        break_off(line, WIRE_NOT_READ);
    else if (evbuffer_add(line->out, text, length))
        break_off(line, "no memory");
    else
        event_add(line->write, NULL);
    return line->broken ? -1 : 0;
}

int wire_line_send_text(struct wire_line *line, const char *text, size_t length)
{
    size_t sent = 0;
    pthread_mutex_lock(&line->lock);
    if (!line->broken && !evbuffer_get_length(line->out))
        sent = send_pieces(line, &(struct iovec){(char *)text, length}, 1);
    int failed = line->broken ? -1 : sent < length ? keep(line, text + sent, length - sent) : 0;
    pthread_mutex_unlock(&line->lock);
    return failed;
}

char *wire_line_text(const cJSON *message, size_t *length)
{
    char *text = message ? cJSON_PrintUnformatted(message) : NULL;
    *length = text ? strlen(text) : 0;
    if (text)
        text[(*length)++] = '\n'; /* in the place of its end, which nobody looks for */
    return text;
}

char *wire_line_text_numbered(const cJSON *message, double id, size_t *length)
{
    size_t rest;
    char *text = wire_line_text(message, &rest), *numbered = NULL;
    int size = text ? asprintf(&numbered, "{\"id\":%.17g%s%.*s", id, rest > 3 ? "," : "", (int)rest - 1, text + 1) : -1;
    cJSON_free(text);
    *length = size < 0 ? 0 : (size_t)size;
    return size < 0 ? NULL : numbered;
}

int wire_line_send(struct wire_line *line, const cJSON *message)
{
    size_t length;
    char *text = wire_line_text(message, &length);
    int failed = text ? wire_line_send_text(line, text, length) : -1;
    cJSON_free(text);
    return failed;
}

bool wire_line_is_sent(struct wire_line *line)
{
    pthread_mutex_lock(&line->lock);
    bool sent = !evbuffer_get_length(line->out);
    pthread_mutex_unlock(&line->lock);
    return sent;
}

/* Freed when nobody uses it any more: here, and in no other place. */
static void release(struct wire_line *line)
{
    if (--line->busy || !line->closing)
        return;
    struct event *events[] = {line->read, line->hung_up, line->late, line->write};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            event_free(events[i]);
    evbuffer_free(line->in);
    evbuffer_free(line->out);
    pthread_mutex_destroy(&line->lock);
    free(line);
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
    struct wire_line *line = context;
    (void)fd, (void)what;
    pthread_mutex_lock(&line->lock);
    if (evbuffer_get_length(line->out))
        send_kept(line);
    bool sent = !evbuffer_get_length(line->out);
    pthread_mutex_unlock(&line->lock);
    line->busy++;
    if (sent && line->finishing)
        wire_line_close(line);
    else if (sent && !line->deaf && line->ops->sent)
        line->ops->sent(line->context);
    release(line);
}

/* ---- Receiving ------------------------------------------------------------------------------- */

static void go_deaf(struct wire_line *line, const char *why)
{
    if (line->deaf)
        return;
    line->deaf = true;
    event_del(line->read);
    event_del(line->hung_up);
    if (!line->finishing)
        line->ops->gone(line->context, why);
    else
        wire_line_close(line);
}

/* One piece for each time that there is something: who sends without end does not keep the others waiting. NULL, or why
 * no more will come. whole: the end of a line is in it; more: something came, and there may be more. */
static const char *receive(struct wire_line *line, bool *whole, bool *more)
{
    char room[READ_AT_ONCE]; /* most of what comes is short, and to be kept in as much as it takes */
    size_t most = line->limits.line < sizeof room ? line->limits.line + 1 : sizeof room;
    *whole = false;
    ssize_t got = recv(line->fd, room, most, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return NULL;
    if (got <= 0)
        return got ? strerror(errno) : "the other end has closed the connection";
    *whole = memchr(room, '\n', (size_t)got);
    *more = true;
    return evbuffer_add(line->in, room, (size_t)got) ? "no memory" : NULL;
}

static void hand_out(struct wire_line *line, const char *text, size_t length)
{
    if (line->ops->text && line->ops->text(line->context, text, length))
        return;
    cJSON *message = cJSON_ParseWithLength(text, length);
    if (cJSON_IsObject(message))
        line->ops->message(line->context, message);
    else if (line->ops->nonsense)
        line->ops->nonsense(line->context, text);
    else
        go_deaf(line, "it sends what is no JSON object");
    cJSON_Delete(message);
}

/* Whole lines, as long as somebody wants them. */
static void hand_lines(struct wire_line *line)
{
    size_t length;
    char *text;
    while (!line->held && !line->deaf && !line->closing && !line->finishing &&
           (text = evbuffer_readln(line->in, &length, EVBUFFER_EOL_LF))) {
        if (length > line->limits.line)
            go_deaf(line, "a line of it is too long");
        else
            hand_out(line, text, length);
        free(text);
    }
}

static const char *why_broken(struct wire_line *line)
{
    pthread_mutex_lock(&line->lock);
    const char *why = line->broken;
    pthread_mutex_unlock(&line->lock);
    return why;
}

static void tell_part(struct wire_line *line)
{
    size_t bytes = evbuffer_get_length(line->in);
    if (bytes && !line->held && !line->deaf && !line->finishing && line->ops->part)
        line->ops->part(line->context, bytes);
}

/* Why it is broken, once all that the other end had sent before it went has been read. */
static const char *why_over(struct wire_line *line, bool more)
{
    const char *why = why_broken(line);
    if (why != cut_off || !more)
        return why;
    if (!line->closing)
        event_active(line->read, EV_TIMEOUT, 0);
    return NULL;
}

/* What has come is handed out before the end is told, but for what is too long. */
static void on_readable(evutil_socket_t fd, short what, void *context)
{
    struct wire_line *line = context;
    bool whole = true, more = false, reads = what & EV_READ || (!line->held && why_broken(line) == cut_off);
    const char *why = reads && !line->deaf ? receive(line, &whole, &more) : NULL;
    (void)fd;
    line->busy++;
    if (whole || why)
        hand_lines(line);
    if (!why && !line->held && evbuffer_get_length(line->in) > line->limits.line)
        why = "a line of it is too long";
    if (!why)
        why = why_over(line, more);
    if (why && !line->closing)
        go_deaf(line, why);
    else if (!line->closing)
        tell_part(line);
    release(line);
}

static void on_hung_up(evutil_socket_t fd, short what, void *context)
{
    struct wire_line *line = context;
    (void)fd, (void)what;
    line->busy++;
    go_deaf(line, "the other end has closed the connection");
    release(line);
}

void wire_line_hold(struct wire_line *line, bool hold)
{
    if (line->held == hold || line->deaf)
        return;
    line->held = hold;
    if (hold) {
        event_del(line->read);
        event_add(line->hung_up, NULL);
    } else {
        event_del(line->hung_up);
        event_add(line->read, NULL);
        event_active(line->read, EV_TIMEOUT, 0); /* lines may have come before */
    }
}

/* ---- Its life --------------------------------------------------------------------------------- */

static void set_priority(struct wire_line *line, enum wire_priority priority)
{
    event_priority_set(line->read, priority);
    event_priority_set(line->hung_up, priority);
    event_priority_set(line->write, priority);
}

static int prepare(struct wire_line *line)
{
    line->in = evbuffer_new();
    line->out = evbuffer_new();
    line->read = event_new(line->base, line->fd, EV_READ | EV_PERSIST, on_readable, line);
    line->hung_up = event_new(line->base, line->fd, EV_CLOSED | EV_PERSIST, on_hung_up, line);
    line->write = event_new(line->base, line->fd, EV_WRITE, on_writable, line);
    if (!line->in || !line->out || !line->read || !line->hung_up || !line->write)
        return -1;
    set_priority(line, WIRE_OTHERS);
    return event_add(line->read, NULL);
}

struct wire_line *wire_line_new(struct event_base *base, int fd, const struct wire_limits *limits,
                                const struct wire_line_ops *ops, void *context)
{
    struct wire_line *line = calloc(1, sizeof *line);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (!line) {
        close(fd);
        return NULL;
    }
    *line = (struct wire_line){.base = base, .fd = fd, .limits = *limits, .ops = ops, .context = context};
    pthread_mutex_init(&line->lock, NULL);
    child_closes(fd, true);
    if (!prepare(line))
        return line;
    wire_line_close(line);
    return NULL;
}

void wire_line_hand(struct wire_line *line, const struct wire_limits *limits, enum wire_priority priority,
                    const struct wire_line_ops *ops, void *context)
{
    pthread_mutex_lock(&line->lock);
    line->limits = *limits;
    pthread_mutex_unlock(&line->lock);
    line->ops = ops;
    line->context = context;
    set_priority(line, priority);
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    wire_line_close(context);
}

void wire_line_finish(struct wire_line *line, double seconds)
{
    line->finishing = true;
    if (why_broken(line) || wire_line_is_sent(line) || !(line->late = evtimer_new(line->base, on_late, line)))
        wire_line_close(line);
    else
        wire_timer_set(line->late, seconds);
}

void wire_line_close(struct wire_line *line)
{
    struct event *events[] = {line->read, line->hung_up, line->late, line->write};
    if (line->closing)
        return;
    line->closing = true;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            event_del(events[i]);
    shutdown(line->fd, SHUT_RDWR);
    child_closes(line->fd, false);
    close(line->fd);
    line->busy++;
    release(line);
}

int wire_line_fd(const struct wire_line *line)
{
    return line->fd;
}
