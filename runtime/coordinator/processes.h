/*
 * The processes of the job, by their numbers, and which of them are the ranks of the present world; what is sent to
 * them. Also for the backends' coordinator side: what is known of a process is asked for here.
 */
#ifndef EPOP_COORDINATOR_PROCESSES_H
#define EPOP_COORDINATOR_PROCESSES_H

#include <cjson/cJSON.h>
#include <sched.h>
#include <stdbool.h>

#include "runtime/base/proctree.h"

struct coordinator;
struct process;

enum process_state {
    PROCESS_STANDBY,
    PROCESS_JOINING,
    PROCESS_RUNNING,
    PROCESS_LEAVING,
    PROCESS_RETURNING, /* from a joining that was called off, into standby */
    PROCESS_SPENT,     /* left, and cannot join again: the program stays in its memory */
    PROCESS_HOSTING,   /* process 0 without a rank: it has the control plane */
    PROCESS_GONE,      /* ended for real */
    PROCESS_LOST
};

/* The first of `count` new numbers, of processes that an adaptation starts; -1: out of memory. Invalidates pointers to
 * processes. */
int processes_add(struct coordinator *c, int count, int adaptation);

int processes_count(const struct coordinator *c);

/* One of them, by its number. */
enum process_state processes_state(const struct coordinator *c, int process);
bool processes_is_rank(const struct coordinator *c, int process);
/* It stands by, and is not about to end. */
bool processes_is_free(const struct coordinator *c, int process);
/* Its hello has come: where it runs is known. */
bool processes_is_attached(const struct coordinator *c, int process);
const char *processes_host(const struct coordinator *c, int process);
/* None (0) where it runs on another host, as far as that is known. */
struct proc_id processes_here(const struct coordinator *c, int process);
/* The cores of its host that it is bound to; NULL: to none. */
const cpu_set_t *processes_cores(const struct coordinator *c, int process);
/* The adaptation that it was started for; 0: the job's start. */
int processes_launch(const struct coordinator *c, int process);
/* It has ended for real. */
void processes_gone(struct coordinator *c, int process);

/* The present world. */
int processes_of_rank(const struct coordinator *c, int rank);
/* Has one that is waited for, a rank if ranks, said nothing for a second, though it was asked (liveness.h)? */
bool processes_are_silent(const struct coordinator *c, bool ranks);
bool processes_all_attached(const struct coordinator *c);
/* The program has ended on every rank. */
bool processes_all_ended(const struct coordinator *c);
/* Where the ranks run, in their order, as "n1:2,n2:1,n1:1", which the caller frees; NULL: out of memory. */
char *processes_hosts(const struct coordinator *c);

void processes_send(struct coordinator *c, int process, cJSON *message); /* takes the message */
void processes_send_copy(struct coordinator *c, int process, const cJSON *message);
void processes_send_all(struct coordinator *c, const int *processes, int count, const cJSON *message);
void processes_send_world(struct coordinator *c, cJSON *message); /* takes the message */
/* To all processes that are so; takes the message. */
void processes_send_where(struct coordinator *c, bool (*is)(const struct process *p), cJSON *message);

#endif
