/* The adviser's state, and its conversation with jobs: connections, requests, answers. */
#ifndef SCHEDULER_SLURM_ASKING_H
#define SCHEDULER_SLURM_ASKING_H

#include <event2/event.h>

#include "runtime/wire/socket.h"
#include "scheduler/core/policy.h"
#include "scheduler/daemon/daemon.h"
#include "scheduler/journal/journal.h"
#include "scheduler/slurm/advised.h"
#include "scheduler/slurm/peer.h"
#include "scheduler/slurm/reading.h"
#include "scheduler/slurm/record.h"
#include "scheduler/slurm/view.h"

/* ---- The state ---------------------------------------------------------------------------------- */

#define ADVISER_APART 0.02 /* seconds between decisions, at least */

struct adviser {
    struct event_base *base;
    bool over; /* it ends now */
    struct policy policy;
    struct advised_table table;
    struct peer_owner owner;
    struct reading reading;
    struct wire_listener *peers;
    struct slurm_view *view; /* NULL: Slurm has not answered yet */
    double view_asked;       /* monotonic: what it says held then */
    bool away;
    double changed; /* monotonic: when a job's nodes changed last; a view from before then is not decided on */
    bool stale;     /* something has happened since the last decision */
    struct event *again, *looks, *news, *terminated, *interrupted;
    int64_t last_id;
    struct daemon_listener listener;
    struct journal *journal; /* of what happened to jobs, for `why` and reports, and of what was measured of programs */
    struct slurm_record record;
    char policy_complaint[200]; /* said once */
};

/* A line to stderr, which is the daemon's log, to those who watch, and to the journal. */
void asking_tell(struct adviser *adviser, const struct journal_event *event);
/* The same of no job. */
void asking_say(struct adviser *adviser, const char *text);

/* Something has happened: decide again soon. */
void asking_wake(struct adviser *adviser);

/* ---- Jobs --------------------------------------------------------------------------------------- */

/* For struct peer_owner; the context is the adviser. */
int asking_check(void *adviser, int64_t job, uid_t uid, struct error *error);
void asking_welcome(void *adviser, struct peer *peer);
void asking_line(void *adviser, struct peer *peer, const cJSON *line);
void asking_gone(void *adviser, struct peer *peer);

/* Those that were not asked for long are asked how they are; those that do not answer are given up. */
void asking_look(struct adviser *adviser);

/* What was measured of it is kept for the next job of its program. */
void asking_keep_history(struct adviser *adviser, const struct advised *job);

/* `nodes` becomes the request's. */
void asking_resize(struct adviser *adviser, struct advised *job, enum ask_kind kind, struct hostlist *nodes, int from,
                   int to, const char *reason);

#endif
