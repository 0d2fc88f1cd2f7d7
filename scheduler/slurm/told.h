/* What a job has said of itself, in answers to `status` and `measure`, in what policies want to know. Pure. */
#ifndef SCHEDULER_SLURM_TOLD_H
#define SCHEDULER_SLURM_TOLD_H

#include <cjson/cJSON.h>
#include <epop/policy.h>
#include <stdbool.h>
#include <stddef.h>

#define TOLD_SIZES 1024

struct told {
    bool known;   /* a status has come */
    bool joins;   /* it can take processes of other nodes */
    int ranks;    /* at which it computes */
    int slots;    /* ranks for a node: the most that any of its nodes has */
    int pc;       /* of the present element; -1: in none */
    bool elastic; /* it can be resized now */
    int listed;   /* sizes beyond that are not known, and taken to be accepted */
    bool accepts[TOLD_SIZES + 1];
    double left;           /* seconds; negative: not known */
    double resized;        /* when it last changed its size, since 1970; negative: never */
    double latency, stall; /* of its adaptations, mean; negative: none was */
    char **hosts;          /* on which it has ranks, without a domain */
    int host_count;
    epop_policy_sample_t *samples; /* nodes: ranks still */
    int sample_count;
    size_t host_room, sample_room;
};

/* Of the answer's `job`, and `measure`. What makes no sense is left out. -1: no memory. */
int told_status(struct told *told, const cJSON *status);
int told_measure(struct told *told, const cJSON *measure);
void told_free(struct told *told);

bool told_accepts(const struct told *told, int ranks);
bool told_runs_on(const struct told *told, const char *host);

#endif
