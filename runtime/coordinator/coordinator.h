/*
 * The coordinator: the one place that decides about a job's size. It runs as a thread of rank 0's process, takes
 * requests (epopctl, the program, signals), has joining processes prepared, brings all ranks to one probe, and
 * decides there. It never calls MPI, and nobody waits for it but those who hold at a target.
 */
#ifndef EPOP_COORDINATOR_H
#define EPOP_COORDINATOR_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "epop/driver.h"
#include "runtime/bar/text.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/member/claim.h"
#include "runtime/member/plan.h"

struct coordinator;
struct backend;

/* How the coordinator reaches the world. Called on its thread; none but `ended` may block. */
struct coordinator_ops {
    void (*send)(void *context, int process, const cJSON *message);
    /* The same to several; NULL: one by one. */
    void (*send_all)(void *context, const int *processes, int count, const cJSON *message);
    void (*publish)(void *context, const cJSON *event);
    void (*answer)(void *context, void *handle, const cJSON *answer);
    /* The job cannot go on: print the text (NULL: none) and end every process. Does not return in a job. */
    void (*fatal)(void *context, const char *text);
    /* What comes next, that the job cannot go on, is due to a process or host that died; NULL: nobody asks. Its rank,
     * or -1. */
    void (*fault)(void *context, int rank);
    /* Where the ranks run (processes_hosts), as soon as that is known, and after each commit; NULL: nobody asks. */
    void (*hosts)(void *context, const char *hosts);
    /* A companion's last process is gone without a word, and the job goes on; NULL: nobody asks. */
    void (*lost_companion)(void *context, int slurm_job);
    /* Show the user how far the program is; NULL: nobody looks. */
    void (*show)(void *context, const struct bar_state *state);
    /* Print the text. failing: the job will not go on. */
    void (*say)(void *context, const char *text, bool failing);
    /* How many probes rank 0 has passed, and the seconds that one takes it; 0: not known. NULL: it never is. */
    double (*pace)(void *context, uint64_t *count);
    /* Something was requested, has come further, or was refused (then adaptation is NULL); NULL: nobody listens. */
    void (*note)(void *context, const epop_adaptation_t *adaptation, const char *reason);
    /* A checkpoint is complete; NULL: nobody listens. */
    void (*note_checkpoint)(void *context, const epop_checkpoint_t *checkpoint);
    /* The program has ended everywhere, and no process has been told so yet; stopped_by: who stopped it, or NULL. The
     * status of all processes; NULL: 0. */
    int (*ended)(void *context, const char *stopped_by);
    /* Can a checkpoint of that level be made? If not: why. NULL: any can. */
    bool (*saves)(void *context, enum save_level level, struct error *why);
    /* Removes that file of an earlier one. NULL: they stay. */
    void (*forget)(void *context, const char *path);
};

struct coordinator_config {
    const char *job;               /* its id */
    const char *path;              /* of the program */
    char *const *arguments;        /* its own name, and what follows; ends with NULL; copied. NULL: not known */
    const epop_program_t *program; /* stays valid until coordinator_destroy */
    const struct backend *backend;
    int size, processes;    /* ranks at the start; processes of the launch */
    int maximum;            /* most ranks that there can be */
    double prepare_timeout; /* seconds for joining processes to get ready */
    double connect_timeout; /* seconds for all ranks to be connected in a window */
    double ahead_limit;     /* seconds for which constant data that moves ahead may put off the window */
    double freeze_timeout;  /* seconds for every rank's control thread to answer */
    double min_interval;    /* seconds between two adaptations */
    double balance;         /* the imbalance from which on the job balances itself; 0: never */
    double watchdog;        /* seconds without an iteration after which this is said; 0: never */
    bool watchdog_abort;    /* and the job ended */
    /* All is measured, and written to that file when it ends; "-": shown; "": neither. NULL: when somebody asks. */
    const char *measure_to;
    double finish_timeout;      /* seconds for standby processes to come to the end */
    bool sessions;              /* programs have sessions alone: the ranks adapt by agents, when a change is accepted */
    bool executable;            /* joining processes may be at another probe than they count */
    const struct speed *speeds; /* of earlier runs; copied */
    int speed_count;
    bool ahead; /* the program says what is constant, and that may move ahead */
    struct checkpoint_config checkpoint;
    const struct rollcall_options *rollcall; /* NULL: none are held */
    const struct coordinator_ops *ops;
    void *context;
};

/* Starts the thread. NULL when out of memory or threads. The strings are copied. */
struct coordinator *coordinator_start(const struct coordinator_config *config);

/* Any thread; they queue and return at once. */
void coordinator_message(struct coordinator *coordinator, int process, const cJSON *message);
/* The same of each of several. */
void coordinator_messages(struct coordinator *coordinator, const int *processes, int count, const cJSON *message);
void coordinator_request(struct coordinator *coordinator, void *handle, const cJSON *request);
void coordinator_abandoned(struct coordinator *coordinator, void *handle);
void coordinator_lost(struct coordinator *coordinator, int process);
/* Its connection is closed, whether it said so before or not; behind coordinator_lost. */
void coordinator_closed(struct coordinator *coordinator, int process);
/* Async-signal-safe. The first time as a stop request, the second time fatal. */
void coordinator_terminate(struct coordinator *coordinator);
/* Async-signal-safe. Fatal. */
void coordinator_interrupt(struct coordinator *coordinator);

/* Waits until the program has ended on every rank and every other process has gone. False if some do not by themselves:
 * stuck then says which. */
bool coordinator_wait(struct coordinator *coordinator, char *stuck, size_t size);

/* Of its backend. Static. */
const char *coordinator_backend_name(const struct coordinator *coordinator);
const char *coordinator_job(const struct coordinator *coordinator); /* its id */

/* Frees it, once nothing can reach it any more: after the control plane is down. */
void coordinator_destroy(struct coordinator *coordinator);

#endif
