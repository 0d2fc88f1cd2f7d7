/* Who talks to the attendant: connections with JSON lines. Usually one; two while a daemon that died is replaced. */
#ifndef SCHEDULER_ATTEND_PEERS_H
#define SCHEDULER_ATTEND_PEERS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "scheduler/epoprm/lines.h"
#include "scheduler/epoprm/loop.h"

struct peer {
    struct peer *next;
    struct peers *peers;
    struct watched watched;
    struct lines lines;
};

struct peers {
    struct loop *loop;
    struct peer *first;
    void (*line)(void *context, struct peer *peer, const cJSON *line); /* NULL: it was no JSON object */
    void (*gone)(void *context);                                       /* one of them; may be NULL */
    void *context;
};

/* Takes the descriptor. NULL: no memory, and it is closed. */
struct peer *peers_add(struct peers *peers, int fd);
/* `line` is freed. One that does not take what it is told is given up. */
void peer_say(struct peer *peer, cJSON *line);
/* The same text to all. */
void peers_say(struct peers *peers, const char *text);
/* Has all been sent that was said? */
bool peers_flushed(const struct peers *peers);

#endif
