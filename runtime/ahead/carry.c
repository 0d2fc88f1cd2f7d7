/*
 * Carrying: one loop over all sockets, none of which blocks. There are no frames: both ends know the streams of the
 * cargo, so that these simply follow each other. Their elements are taken in chunks, sent and received where they lie
 * if they lie together, else through a buffer. Between rounds a process waits until all has come that comes to it in
 * the present one, and sends nothing more meanwhile: the streams of the next one depend on that.
 */
#include "runtime/ahead/carry.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "runtime/ahead/pace.h"
#include "runtime/base/binding.h"
#include "runtime/base/clock.h"
#include "runtime/base/random.h"
#include "runtime/wire/link.h"

/* ---- Places ------------------------------------------------------------------------------------- */

/* What a process says first that comes to another. */
struct place_hello {
    char magic[8];
    char secret[PLACE_SECRET];
    uint64_t cargo; /* hash of what it brings: the same on all */
    uint32_t adaptation, from;
};

static const char magic[8] = {'e', 'p', 'o', 'p', 'd', 'a', 't', 'a'};

/* The way to the control plane is one that the other processes have as well, so what leads there has the address. A
 * datagram socket finds it without a word to anybody. A job whose control plane is on no network is on one host. */
static int place_own_address(const char *uri, struct sockaddr_in *own)
{
    struct wire_target target;
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(9)};
    socklen_t size = sizeof *own;
    if (wire_target_of(uri, &target))
        return -1;
    server.sin_addr.s_addr = target.networked ? target.address.sin_addr.s_addr : htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    bool found = !connect(fd, (struct sockaddr *)&server, sizeof server) && !getsockname(fd, (void *)own, &size);
    close(fd);
    own->sin_port = 0;
    return found ? 0 : -1;
}

int place_open(struct place *place, const char *uri)
{
    socklen_t size = sizeof place->address;
    *place = (struct place){.fd = -1};
    if (place_own_address(uri, &place->address) || random_hex(place->secret, PLACE_SECRET / 2))
        return -1;
    place->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (place->fd >= 0 && !bind(place->fd, (struct sockaddr *)&place->address, sizeof place->address) &&
        !listen(place->fd, SOMAXCONN) && !getsockname(place->fd, (void *)&place->address, &size))
        return 0;
    place_close(place);
    return -1;
}

void place_close(struct place *place)
{
    if (place->fd >= 0)
        close(place->fd);
    place->fd = -1;
}

cJSON *place_to_json(const struct place *place)
{
    char address[INET_ADDRSTRLEN] = "";
    cJSON *json = cJSON_CreateObject();
    inet_ntop(AF_INET, &place->address.sin_addr, address, sizeof address);
    cJSON_AddStringToObject(json, "address", address);
    cJSON_AddNumberToObject(json, "port", ntohs(place->address.sin_port));
    cJSON_AddStringToObject(json, "secret", place->secret);
    return json;
}

int place_of(struct place *place, const struct shape_ahead_place *said)
{
    *place = (struct place){.fd = -1, .address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)said->port)}};
    snprintf(place->secret, sizeof place->secret, "%s", said->secret);
    return inet_pton(AF_INET, said->address, &place->address.sin_addr) == 1 ? 0 : -1;
}

static int tuned_socket(int fd)
{
    int one = 1;
    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

/* Sockets that do not block, or -1: one on its way to that place; one that has come, if one has. Local. */
static int place_go(const struct place *place)
{
    int fd = tuned_socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0)
        return -1;
    if (!connect(fd, (const struct sockaddr *)&place->address, sizeof place->address) || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

/* The way there did not open in that time: -1, with text that says what to look for. */
static int place_unreachable(const struct place *place, int seconds, struct error *error)
{
    char address[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &place->address.sin_addr, address, sizeof address);
    return error_set(error, ERROR_TIMEOUT, "no connection to %s, port %d, within %d s; is there a firewall?", address,
                     ntohs(place->address.sin_port), seconds);
}

static int place_accept(const struct place *place)
{
    return tuned_socket(accept4(place->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

static struct place_hello place_hello(const struct place *place, int adaptation, int from, uint64_t cargo)
{
    struct place_hello hello = {.cargo = cargo, .adaptation = (uint32_t)adaptation, .from = (uint32_t)from};
    memcpy(hello.magic, magic, sizeof magic);
    memcpy(hello.secret, place->secret, sizeof hello.secret);
    return hello;
}

/* Does it mean this place, and that adaptation? */
static int place_knows(const struct place *place, int adaptation, const struct place_hello *hello)
{
    return !memcmp(hello->magic, magic, sizeof magic) && !memcmp(hello->secret, place->secret, sizeof hello->secret) &&
           hello->adaptation == (uint32_t)adaptation;
}

/* ---- Carrying ----------------------------------------------------------------------------------- */

#define CHUNK      (256 << 10) /* bytes */
#define SILENCE_MS 30000
#define CONNECT_MS 3000
#define STRANGERS  8 /* connections that have not said who they are, besides as many as there are processes */

/* One socket. Its bytes: the hello, the values where there are some, and what the cargo says. */
struct flow {
    int fd, peer;
    bool sends;
    bool stranger; /* it does not know the secret, and is to go */
    struct place_hello hello;
    uint64_t value_bytes; /* goes in front of the values */
    int64_t since;        /* it was opened, CLOCK_MONOTONIC, ns */
    int stream;           /* of the cargo, the present one */
    bool open;            /* it is begun */
    bool waits;           /* for the next round */
    redist_stream walk;   /* over the stream */
    redist_stream chunk;  /* of what is in the buffer, to be unpacked */
    int64_t copied;       /* elements of a copy */
    char *at, *buffer;    /* next byte; the buffer, made when it is needed */
    int64_t have;         /* bytes from there on */
    int64_t packed;       /* elements in the buffer that are to be unpacked */
    enum { HELLO, LENGTH, VALUES, CARGO, OVER } stage;
};

struct carrying {
    struct carriage *c;
    struct flow *flows;
    struct pollfd *polls;
    int count;     /* of flows */
    int most;      /* of them */
    int awaited;   /* those that are still to come here */
    int come;      /* all that come */
    int due;       /* of them, those with something of the present round */
    int64_t heard; /* when something has moved, CLOCK_MONOTONIC, ns; strangers do not count */
    struct pace pace;
    int64_t all, passed; /* bytes of the data that go, come or are copied; of them, those that have */
    bool loaded;         /* the cargo is known, and routed */
    int own_stream;      /* what stays on this rank: copied by and by */
    redist_stream own;
    bool own_begun;
};

/* ---- Carrying: stages of a connection ----------------------------------------------------------- */

static bool is_unknown(const struct flow *f)
{
    return !f->sends && f->stage == HELLO;
}

static bool brings_values(const struct carrying *s, const struct flow *f)
{
    int to = f->sends ? f->peer : s->c->me, from = f->sends ? s->c->me : f->peer;
    return from == 0 && to >= s->c->window->old_size;
}

static void set_bytes(struct flow *f, void *at, size_t bytes)
{
    f->at = at;
    f->have = (int64_t)bytes;
}

static int64_t chunk_elements(const redist_element *element, int64_t left)
{
    int64_t most = element->size < CHUNK ? CHUNK / element->size : 1;
    return left < most ? left : most;
}

static int make_buffer(struct flow *f, int64_t bytes)
{
    if (!f->buffer)
        f->buffer = malloc(bytes > CHUNK ? (size_t)bytes : CHUNK);
    return f->buffer ? 0 : -1;
}

static const struct route_stream *stream_of(const struct carrying *s, const struct flow *f)
{
    return &s->c->cargo->streams[f->stream];
}

/* Where a copy begins on this side: what is not of rank 0 alone has its place by rank. */
static int64_t copy_place(const struct route_stream *stream, const struct flow *f)
{
    bool by_rank = stream->which == COPIES_APART || (stream->which == COPIES_OF_EACH && !f->sends);
    return by_rank ? f->peer * stream->copies : 0;
}

/* The next elements of a copy: they lie together. */
static void take_copy(struct flow *f, const struct route_stream *stream)
{
    const redist_element *element = &stream->element;
    int64_t count = chunk_elements(element, stream->copies - f->copied);
    int64_t at = copy_place(stream, f) + f->copied;
    char *block = f->sends ? (char *)stream->before : stream->after;
    set_bytes(f, block + at * element->size, (size_t)(count * element->size));
    f->copied += count;
}

/* The next elements of the plan. */
static int take_elements(struct flow *f, const struct route_stream *stream)
{
    const redist_element *element = &stream->element;
    int64_t count = chunk_elements(element, f->walk.left), position = 0, bytes = count * element->size;
    redist_side side = f->sends ? REDIST_BEFORE : REDIST_AFTER;
    redist_piece piece;
    f->chunk = f->walk;
    int64_t at = redist_stream_skip(&f->walk, count, side);
    if (at >= 0) {
        set_bytes(f, (f->sends ? (char *)stream->before : (char *)stream->after) + at * element->extent, (size_t)bytes);
        return 0;
    }
    if (make_buffer(f, bytes))
        return -1;
    set_bytes(f, f->buffer, (size_t)bytes);
    f->packed = f->sends ? 0 : count;
    while (f->sends && count > 0 && redist_stream_take(&f->chunk, count, &piece)) {
        count -= piece.length * piece.times;
        redist_pack(element, &piece, stream->before, f->buffer, bytes, &position);
    }
    return 0;
}

/* What has come into the buffer, to where it belongs. */
static void unpack_buffer(struct flow *f, const struct route_stream *stream)
{
    int64_t position = 0, bytes = f->packed * stream->element.size;
    redist_piece piece;
    while (f->packed > 0 && redist_stream_take(&f->chunk, f->packed, &piece)) {
        f->packed -= piece.length * piece.times;
        redist_unpack(&stream->element, &piece, f->buffer, bytes, &position, stream->after);
    }
}

static void open_stream(const struct carrying *s, struct flow *f)
{
    const struct route_stream *stream = stream_of(s, f);
    f->open = true;
    f->copied = 0;
    if (!stream->copies)
        f->walk = redist_stream_start(stream->plan, stream->rows, f->sends ? s->c->me : f->peer,
                                      f->sends ? f->peer : s->c->me);
}

static int64_t left_of_stream(const struct carrying *s, const struct flow *f)
{
    const struct route_stream *stream = stream_of(s, f);
    int from = f->sends ? s->c->me : f->peer, to = f->sends ? f->peer : s->c->me;
    return stream->copies ? route_elements(stream, s->c->window, from, to) - f->copied : f->walk.left;
}

/* Behind the last stream that is known. */
static void end_round(struct carrying *s, struct flow *f)
{
    f->waits = s->c->cargo->round < ROUTE_DATA;
    if (!f->waits)
        f->stage = OVER;
    else if (!f->sends)
        s->due--;
}

/* The next bytes of the cargo. */
static int next_chunk(struct carrying *s, struct flow *f)
{
    const struct cargo *cargo = s->c->cargo;
    while (f->stream < cargo->stream_count) {
        if (!f->open)
            open_stream(s, f);
        if (left_of_stream(s, f) > 0)
            break;
        f->open = false;
        f->stream++;
    }
    if (f->stream >= cargo->stream_count) {
        end_round(s, f);
        return 0;
    }
    const struct route_stream *stream = stream_of(s, f);
    if (!stream->copies)
        return take_elements(f, stream);
    take_copy(f, stream);
    return 0;
}

/* After the hello and the values: the cargo, as soon as it is known. */
static int begin_cargo(struct carrying *s, struct flow *f)
{
    f->stage = CARGO;
    f->stream = 0;
    return next_chunk(s, f);
}

static int check_hash(const struct carrying *s, const struct flow *f, struct error *error)
{
    if (f->hello.cargo == s->c->cargo->hash)
        return 0;
    return error_set(error, ERROR_FAILED, "the ranks do not describe the same constant data");
}

/* Whoever finds the port may connect. It is no reason to do without: the others come all the same. */
static bool knows_secret(const struct carrying *s, const struct flow *f)
{
    return place_knows(&s->c->place, s->c->adaptation, &f->hello) && f->hello.from < (uint32_t)s->c->size;
}

static int welcome_flow(struct carrying *s, struct flow *f, struct error *error)
{
    f->peer = (int)f->hello.from;
    s->awaited--;
    return s->loaded ? check_hash(s, f, error) : 0;
}

static int go_on_after_hello(struct carrying *s, struct flow *f)
{
    if (brings_values(s, f)) {
        f->value_bytes = s->c->value_bytes;
        f->stage = LENGTH;
        set_bytes(f, &f->value_bytes, sizeof f->value_bytes);
        return 0;
    }
    f->stage = CARGO;
    return s->loaded ? begin_cargo(s, f) : 0;
}

static int make_values(struct carrying *s, struct flow *f)
{
    if (!f->sends) {
        s->c->value_bytes = f->value_bytes;
        s->c->values = malloc(f->value_bytes ? f->value_bytes : 1);
    }
    f->stage = VALUES;
    set_bytes(f, s->c->values, s->c->value_bytes);
    return s->c->values ? 0 : -1;
}

static int load_cargo(struct carrying *s, struct error *error);

/* All bytes of the stage have gone, or come. 0, or -1 with text. */
static int advance_flow(struct carrying *s, struct flow *f, struct error *error)
{
    int result = 0;
    while (!result && f->have == 0 && f->stage != OVER && !f->waits) {
        if (f->stage == HELLO && !f->sends && !knows_secret(s, f)) {
            f->stranger = true;
            return 0;
        }
        if (f->stage == HELLO && !f->sends && welcome_flow(s, f, error))
            return -1;
        if (f->stage == HELLO)
            result = go_on_after_hello(s, f);
        else if (f->stage == LENGTH)
            result = make_values(s, f);
        else if (f->stage == VALUES && !s->loaded && load_cargo(s, error))
            return -1;
        else if (f->stage == VALUES)
            result = begin_cargo(s, f);
        else if (!s->loaded)
            return 0;
        else if (f->packed)
            unpack_buffer(f, stream_of(s, f));
        else
            result = next_chunk(s, f);
    }
    return result ? error_memory(error) : 0;
}

/* ---- Carrying: connections ---------------------------------------------------------------------- */

static struct flow *add_flow(struct carrying *s, int fd, bool sends)
{
    int i = 0;
    while (i < s->count && s->flows[i].fd >= 0)
        i++;
    struct flow *f = &s->flows[i];
    s->count += i == s->count;
    *f = (struct flow){.fd = fd, .peer = -1, .sends = sends, .since = monotonic_ns(), .stage = HELLO};
    set_bytes(f, &f->hello, sizeof f->hello);
    return f;
}

static int go_to_peer(struct carrying *s, int peer, struct error *error)
{
    int fd = place_go(&s->c->places[peer]);
    if (fd < 0)
        return error_set(error, ERROR_FAILED, "process %d of the window cannot be reached", peer);
    struct flow *f = add_flow(s, fd, true);
    f->peer = peer;
    f->hello = place_hello(&s->c->places[peer], s->c->adaptation, s->c->me, s->c->cargo->hash);
    return 0;
}

static bool has_something_for(const struct carrying *s, int from, int to)
{
    bool values = from == 0 && to >= s->c->window->old_size;
    return from != to && (values || cargo_goes(s->c->cargo, from, to));
}

/* The cargo is known: who comes, and who is to be gone to. */
static int load_cargo(struct carrying *s, struct error *error)
{
    struct carriage *c = s->c;
    if (!c->cargo && c->fill(c->context, error))
        return -1;
    if (cargo_route(c->cargo, c->window, c->me, error))
        return -1;
    s->loaded = true;
    for (int rank = 0; rank < c->size; rank++)
        s->come += has_something_for(s, rank, c->me);
    s->due = s->come;
    s->awaited += s->come;
    for (int i = 0; i < c->size; i++) {
        int peer = (c->me + i) % c->size; /* not all to the same one at first */
        if (has_something_for(s, c->me, peer) && go_to_peer(s, peer, error))
            return -1;
    }
    for (int i = 0; i < s->count; i++) {
        struct flow *f = &s->flows[i];
        bool came = f->fd >= 0 && !f->sends && f->stage != HELLO;
        if (came && check_hash(s, f, error))
            return -1;
        if (came && f->stage == CARGO && begin_cargo(s, f))
            return error_memory(error);
    }
    s->heard = monotonic_ns(); /* the program's thread may have been long in coming */
    return 0;
}

/* Its place is free: flows do not move, as they point into themselves. */
static void drop_flow(struct flow *f)
{
    close(f->fd);
    *f = (struct flow){.fd = -1, .stage = OVER};
}

static void drop_strangers(struct carrying *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->flows[i].stranger)
            drop_flow(&s->flows[i]);
}

/* Where there is no room any more somebody goes who has said nothing yet: who is awaited has said all within moments,
 * and is never one of so many. Flows that are to be opened from here have room of their own. */
static void accept_flow(struct carrying *s)
{
    int fd = place_accept(&s->c->place), come = 0;
    struct flow *silent = NULL;
    if (fd < 0)
        return;
    for (int i = 0; i < s->count; i++) {
        struct flow *f = &s->flows[i];
        come += f->fd >= 0 && !f->sends;
        silent = is_unknown(f) && !silent ? f : silent;
    }
    if (come >= s->c->size + STRANGERS && silent)
        drop_flow(silent);
    add_flow(s, fd, false);
}

/* ---- Carrying: the loop ------------------------------------------------------------------------- */

/* One chunk at most. */
static int pass_chunk(struct carrying *s, struct flow *f, struct error *error)
{
    ssize_t done =
        f->sends ? send(f->fd, f->at, (size_t)f->have, MSG_NOSIGNAL) : recv(f->fd, f->at, (size_t)f->have, 0);
    if (done < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (done <= 0 && is_unknown(f)) {
        f->stranger = true;
        return 0;
    }
    if (done <= 0)
        return error_set(error, ERROR_FAILED, "the connection to another process is gone");
    f->at += done;
    f->have -= done;
    s->heard = is_unknown(f) ? s->heard : monotonic_ns();
    if (f->stage == CARGO)
        s->passed += s->all > 0 ? done : 0;
    if (!f->sends && f->stage == CARGO)
        s->c->received += done;
    return f->have ? 0 : advance_flow(s, f, error);
}

/* Has it something that this rank keeps, in another place? */
static bool is_kept(const struct carrying *s, const struct route_stream *stream)
{
    return stream->after && !stream->copies && s->c->window->old_rank >= 0;
}

/* A part of what this rank keeps, which an old one alone does. False: there is no more. */
static bool copy_own_part(struct carrying *s)
{
    struct cargo *cargo = s->c->cargo;
    redist_piece piece;
    for (; s->own_stream < cargo->stream_count; s->own_stream++, s->own_begun = false) {
        const struct route_stream *stream = &cargo->streams[s->own_stream];
        if (!is_kept(s, stream))
            continue;
        if (!s->own_begun)
            s->own = redist_stream_start(stream->plan, stream->rows, s->c->me, s->c->me);
        s->own_begun = true;
        int64_t count = chunk_elements(&stream->element, s->own.left);
        if (count == 0)
            continue;
        s->passed += count * stream->element.size;
        while (count > 0 && redist_stream_take(&s->own, count, &piece)) {
            count -= piece.length * piece.times;
            redist_copy(&stream->element, &piece, stream->before, stream->after);
        }
        return true;
    }
    return false;
}

/* What this rank sends, gets and copies of a stream. */
static int64_t count_stream(const struct carrying *s, const struct route_stream *stream)
{
    const struct carriage *c = s->c;
    int64_t elements = is_kept(s, stream) ? route_elements(stream, c->window, c->me, c->me) : 0;
    for (int rank = 0; rank < c->size; rank++)
        if (rank != c->me)
            elements += route_elements(stream, c->window, c->me, rank) + route_elements(stream, c->window, rank, c->me);
    return elements * stream->element.size;
}

/* Likewise in the last round. */
static int64_t count_data(const struct carrying *s)
{
    const struct cargo *cargo = s->c->cargo;
    int64_t bytes = 0;
    for (int i = cargo->data; i < cargo->stream_count; i++)
        bytes += count_stream(s, &cargo->streams[i]);
    return bytes;
}

/* The next one begins, for those that have waited for it. */
static int begin_round(struct carrying *s, struct error *error)
{
    if (cargo_next(s->c->cargo, error))
        return -1;
    s->due = s->come;
    s->own_stream = s->c->cargo->data;
    s->all = s->c->cargo->round == ROUTE_DATA ? count_data(s) : 0;
    for (int i = 0; i < s->count; i++) {
        bool waited = s->flows[i].waits;
        s->flows[i].waits = false;
        if (waited && next_chunk(s, &s->flows[i]))
            return error_memory(error);
    }
    s->heard = monotonic_ns();
    return 0;
}

/* As many rounds as all has come of. */
static int begin_rounds(struct carrying *s, struct error *error)
{
    while (s->loaded && s->c->cargo->round < ROUTE_DATA && s->due == 0)
        if (begin_round(s, error))
            return -1;
    return 0;
}

static bool carrying_is_over(const struct carrying *s)
{
    if (!s->loaded || s->awaited > 0 || s->c->cargo->round < ROUTE_DATA)
        return false;
    for (int i = 0; i < s->count; i++)
        if (s->flows[i].stage != OVER && !is_unknown(&s->flows[i]))
            return false;
    return true;
}

/* The first two are the word that it is off, and whoever comes. */
static int fill_polls(struct carrying *s)
{
    s->polls[0] = (struct pollfd){.fd = s->c->wake, .events = POLLIN};
    s->polls[1] = (struct pollfd){.fd = s->c->place.fd, .events = POLLIN};
    for (int i = 0; i < s->count; i++) {
        const struct flow *f = &s->flows[i];
        s->polls[2 + i] = (struct pollfd){.fd = f->have > 0 ? f->fd : -1, .events = f->sends ? POLLOUT : POLLIN};
    }
    return 2 + s->count;
}

static bool is_connecting(const struct flow *f)
{
    return f->fd >= 0 && f->sends && f->stage == HELLO && f->have == sizeof f->hello;
}

/* The first flow that has been connecting for too long, or NULL; until when something has to come, or to connect. */
static const struct flow *find_late(const struct carrying *s, int64_t now, int64_t *until)
{
    *until = s->heard + SILENCE_MS * INT64_C(1000000);
    for (int i = 0; i < s->count; i++) {
        int64_t limit = s->flows[i].since + CONNECT_MS * INT64_C(1000000);
        if (!is_connecting(&s->flows[i]))
            continue;
        if (limit <= now)
            return &s->flows[i];
        *until = limit < *until ? limit : *until;
    }
    return NULL;
}

/* Nobody has to wait for what does not come: -1 with text. Else the milliseconds that may pass without news. */
static int check_time(const struct carrying *s, struct error *error)
{
    int64_t now = monotonic_ns(), until;
    const struct flow *late = find_late(s, now, &until);
    if (late)
        return place_unreachable(&s->c->places[late->peer], CONNECT_MS / 1000, error);
    if (until <= now)
        return error_set(error, ERROR_FAILED, "nothing has come for %d s", SILENCE_MS / 1000);
    return (int)((until - now) / 1000000) + 1;
}

/* Of the processes of the window, those of this host: they are reached at its address. */
static int threads_here(const struct carriage *c)
{
    int count = 0;
    for (int i = 0; i < c->size; i++)
        count += c->places[i].address.sin_addr.s_addr == c->places[c->me].address.sin_addr.s_addr;
    return count;
}

static int cores_here(void)
{
    cpu_set_t possible;
    binding_possible(&possible);
    return CPU_COUNT(&possible);
}

static double part_done(const struct carrying *s)
{
    return s->all > 0 ? (double)s->passed / (double)s->all : 0;
}

/* Between slices of work, as the pace asks for it. Ends when it is off. */
static void rest_a_while(struct carrying *s)
{
    int64_t left = s->c->urgent ? 0 : pace_rest(&s->pace, part_done(s));
    struct timespec time = {.tv_nsec = left < 1000000000 ? left : 999999999};
    if (left > 0)
        ppoll(s->polls, 1, &time, NULL);
}

/* What the sockets are ready for. */
static int pass_chunks(struct carrying *s, int count, struct error *error)
{
    for (int i = 2; i < count; i++)
        if (s->polls[i].revents && s->flows[i - 2].have > 0 && pass_chunk(s, &s->flows[i - 2], error))
            return -1;
    drop_strangers(s);
    if (s->polls[1].revents)
        accept_flow(s);
    return begin_rounds(s, error);
}

static int run_carrying(struct carrying *s, struct error *error)
{
    bool copies = false;
    int wait = 0;
    s->heard = monotonic_ns();
    pace_begin(&s->pace, pace_share(threads_here(s->c), cores_here()), s->c->until);
    if (begin_rounds(s, error))
        return -1;
    while (copies || !carrying_is_over(s)) {
        int count = fill_polls(s);
        poll(s->polls, (nfds_t)count, copies ? 0 : wait);
        if (s->c->off)
            return error_set(error, ERROR_FAILED, "it is off");
        if (pass_chunks(s, count, error))
            return -1;
        copies = s->loaded && s->c->cargo->round == ROUTE_DATA && copy_own_part(s);
        s->heard = copies ? monotonic_ns() : s->heard;
        wait = check_time(s, error); /* after what came, also while this process was stopped */
        if (wait < 0)
            return -1;
        rest_a_while(s);
    }
    return 0;
}

/* A copy that a child of the program has must not keep it open. */
static void end_carrying(struct carrying *s, bool failed)
{
    for (int i = 0; i < s->count; i++) {
        if (s->flows[i].fd < 0)
            continue;
        shutdown(s->flows[i].fd, failed ? SHUT_RDWR : SHUT_WR);
        close(s->flows[i].fd);
        free(s->flows[i].buffer);
    }
    free(s->flows);
    free(s->polls);
}

int carry(struct carriage *c, struct error *error)
{
    struct carrying s = {.c = c};
    s.most = 2 * c->size + STRANGERS;
    s.flows = calloc((size_t)s.most, sizeof *s.flows);
    s.polls = calloc((size_t)s.most + 2, sizeof *s.polls);
    int result = s.flows && s.polls ? 0 : error_memory(error);
    if (!result && c->cargo)
        result = load_cargo(&s, error);
    if (!result)
        result = run_carrying(&s, error);
    end_carrying(&s, result != 0);
    return result;
}
