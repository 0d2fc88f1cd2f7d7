/*
 * A connection of a job's attendant. First both show who they are, by munge: the adviser its uid to the job, the job
 * its number, and its uid, which must own that job by Slurm's word. Then JSON lines go both ways.
 *
 *   job      {"attend":1,"job":17,"uid":1000,"nonce":"..."}
 *   adviser  {"adviser":1,"nonce":"...","credential":"..."}   of "epop-adviser NONCE-OF-JOB ADDRESS PORT" for that uid
 *   job      {"credential":"..."}                             of "epop-attend NONCE-OF-ADVISER 17" for the adviser's
 * uid adviser  {"welcome":true}, or at any point {"refused":"reason"}
 *
 * ADDRESS and PORT are the adviser's end of this connection: what stands between the two could pass the words on, but
 * has another address. schema/adviser.schema.json
 */
#ifndef SCHEDULER_SLURM_PEER_H
#define SCHEDULER_SLURM_PEER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/base/error.h"
#include "scheduler/epoprm/loop.h"

#define PEER_NONCE 33

struct peer;

/* Who listens to peers. */
struct peer_owner {
    struct loop *loop;
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
    struct watched watched;
    struct timer late; /* until it is welcome */
    enum peer_state state;
    int64_t job;
    uid_t uid;
    char nonce[PEER_NONCE]; /* ours */
    char *in, *out;
    size_t in_length, in_room, out_length, out_room;
    bool closing; /* when all is out */
};

/* Takes over the descriptor. NULL: no memory, or too many wait to be welcome; the descriptor is closed then. */
struct peer *peer_open(const struct peer_owner *owner, int fd);
/* Tells nobody. */
void peer_close(struct peer *peer);
/* Nothing goes on on it; it closes itself when it is looked at next, so this may be called while its line is read. */
void peer_shut(struct peer *peer);

/* `line` is freed. One that does not read what it is told is lost. */
void peer_send(struct peer *peer, cJSON *line);

#endif
