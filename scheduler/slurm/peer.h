/*
 * The adviser's connections with the attendants of jobs. First both show who they are, by munge: the adviser its uid to
 * the job, the job its number, and its uid, which must own that job by Slurm's word. Then JSON lines go both ways.
 *
 *   job      {"attend":1,"job":17,"uid":1000,"nonce":"..."}
 *   adviser  {"adviser":1,"nonce":"...","credential":"..."}   of "epop-adviser NONCE-OF-JOB ADDRESS PORT", for that uid
 *   job      {"credential":"..."}                             of "epop-attend NONCE-OF-ADVISER 17", for the adviser's
 *   adviser  {"welcome":true}, or at any point {"refused":"reason"}
 *
 * ADDRESS and PORT are the adviser's end of this connection: what stands between the two could pass the words on, but
 * has another address. schema/adviser.schema.json has these lines.
 */
#ifndef SCHEDULER_SLURM_PEER_H
#define SCHEDULER_SLURM_PEER_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "runtime/base/error.h"
#include "runtime/wire/line.h"

/* ---- The port and its file ---------------------------------------------------------------------- */

/* Where jobs find the adviser: a port, and a file that names it. */
struct peer_port {
    int fd;            /* who listens there takes it over */
    char address[320]; /* HOST:PORT, as the file has it */
    char file[4096];
};

/* port 0: that of the last time, which the file `memory` has, if it is free; else any. file NULL: /etc/epop/adviser as
 * root, else `adviser` in the user's shared run directory. -1: a line says why not. */
int peer_port_open(struct peer_port *listening, int port, const char *file, const char *memory, struct error *error);
/* The file goes, unless another adviser has written it meanwhile. */
void peer_port_close(struct peer_port *listening);

/* ---- Connections -------------------------------------------------------------------------------- */

#define PEER_NONCE 33

struct peer;

/* Who listens to peers. */
struct peer_owner {
    struct event_base *base;
    /* Does that job belong to that uid? 0, or -1 with the reason. */
    int (*check)(void *context, int64_t job, uid_t uid, struct error *error);
    void (*welcome)(void *context, struct peer *peer);
    void (*line)(void *context, struct peer *peer, const cJSON *line);
    void (*gone)(void *context, struct peer *peer); /* of one that was welcome; it is freed then */
    void *context;
};

enum peer_state { PEER_NEW, PEER_GREETED, PEER_WELCOME };

struct peer {
    const struct peer_owner *owner;
    struct wire_line *line;
    struct event *late; /* until it is welcome */
    enum peer_state state;
    struct sockaddr_storage from;
    int64_t job;
    uid_t uid;
    char nonce[PEER_NONCE]; /* ours */
    TAILQ_ENTRY(peer) at;   /* among those who are not welcome yet */
};

/* Takes over the descriptor. Anybody may connect: of too many who are not welcome yet the oldest of the same address
 * goes, or the oldest. */
void peer_open(const struct peer_owner *owner, int fd);
/* Tells nobody; also while its line is read. */
void peer_close(struct peer *peer);

/* `line` is freed. One that does not read what it is told is lost. */
void peer_send(struct peer *peer, cJSON *line);

#endif
