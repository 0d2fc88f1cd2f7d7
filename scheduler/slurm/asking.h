/* Requests to jobs, and their answers. */
#ifndef SCHEDULER_SLURM_ASKING_H
#define SCHEDULER_SLURM_ASKING_H

#include "scheduler/slurm/state.h"

/* For struct peer_owner; the context is the adviser. */
int asking_check(void *adviser, int64_t job, uid_t uid, struct error *error);
void asking_welcome(void *adviser, struct peer *peer);
void asking_line(void *adviser, struct peer *peer, const cJSON *line);
void asking_gone(void *adviser, struct peer *peer);

/* Those that were not asked for long are asked how they are; those that do not answer are given up. */
void asking_look(struct adviser *adviser);

/* `nodes` becomes the request's. */
void asking_resize(struct adviser *adviser, struct advised *job, enum ask_kind kind, struct hostlist *nodes, int from,
                   int to, const char *reason);

#endif
