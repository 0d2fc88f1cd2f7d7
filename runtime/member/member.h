/*
 * A member: one process's side of the agreement. The program's thread probes and holds here; messages of the
 * coordinator arrive on the control thread (member_receive) and lower or raise the ceiling.
 * No MPI here: how messages travel and how MPI is kept moving is handed in.
 */
#ifndef EPOP_MEMBER_MEMBER_H
#define EPOP_MEMBER_MEMBER_H

#include <pthread.h>

#include "epop/program.h"
#include "runtime/base/error.h"
#include "runtime/member/asks.h"
#include "runtime/member/ceiling.h"
#include "runtime/member/claim.h"
#include "runtime/member/muster.h"
#include "runtime/member/plan.h"
#include "runtime/member/stretch.h"
#include "runtime/member/tally.h"
#include "runtime/wire/messages.h"

/* What a probe that held is told to do. */
enum action {
    ACTION_CONTINUE,
    ACTION_ADAPT,      /* member->plan says how */
    ACTION_STOP,       /* end the program */
    ACTION_PROGRESS,   /* report progress, then hold again */
    ACTION_CHECKPOINT, /* save what member->order says, then hold again */
};

/* What the program's thread is to do besides, wherever it holds or waits for its window. */
enum errand {
    ERRAND_NONE,
    ERRAND_LIST, /* say what is constant, and where this process listens */
    ERRAND_FILL  /* a joining process: take the values that have come */
};

struct errand_order {
    enum errand errand;
    int adaptation, size; /* that it is for, and of the new ranks; 0: it is known */
};

/* What a process in standby is told to do. */
enum task { TASK_JOIN, TASK_FINISH };

/* Where the program's thread is, for the other threads to read. */
struct live_position {
    _Atomic int pc; /* -1: in no element */
    _Atomic int64_t visit, iteration;
    _Atomic int rank, size;                  /* size 0: in no world yet, -1: in none any more */
    _Atomic(const epop_program_t *) program; /* NULL: none is loaded */
    struct tally tally;
};

/* Of roll calls: all claims, or those at which a rank may have to be stopped. */
struct aloud {
    bool all;
    int count;
    struct stop_at {
        int pc;
        int64_t iteration; /* -1: of every visit the first that comes by */
        int64_t met;       /* but not in this one; 0: none */
    } places[ROLLCALL_BREAKS_MAX];
};

#define MEMBER_TABLES 4

struct member {
    struct ceiling ceiling;
    _Atomic int settled; /* the adaptation of which it is known what a joining process's first probe was */
    struct live_position live;
    int process;                                      /* this process's number in the job */
    int (*tell)(void *context, const cJSON *message); /* sends to the coordinator; must not block */
    void (*poke)(void *context);   /* keeps MPI moving while the program's thread waits; NULL: none */
    void (*describe)(cJSON *json); /* adds to an answer where this process is; on the control thread; or NULL */
    void (*waits)(cJSON *json);    /* adds how long the program has only waited in MPI; likewise */
    /* Carries it out, on the program's thread, without the lock. `at`: where it holds; NULL: it joins. NULL: there are
     * no errands. */
    void (*run_errand)(void *context, const struct errand_order *order, const struct position *at);
    _Atomic bool nothing_constant; /* as the program's thread has seen: to list that needs no probe */
    void *context;
    struct message_table tables[MEMBER_TABLES]; /* see member_understand */
    int table_count;

    pthread_mutex_t lock;
    pthread_cond_t changed;

    /* the agreement in progress */
    bool frozen, asked, ended;
    uint64_t frozen_at; /* the probe up to which it may go on nevertheless */
    struct errand_order errand;
    uint64_t target;   /* 0: none */
    uint64_t reported; /* the probe for which REPORT(arrived) was sent */
    bool decided;
    enum action decision;
    uint64_t decided_at;     /* the probe to which the decision belongs */
    struct plan *plan;       /* of the last ACTION_ADAPT; owned */
    bool holding;            /* the program's thread is in a hold */
    bool saves;              /* there is an order that the program's thread has not taken */
    struct save_order order; /* of the last ACTION_CHECKPOINT */
    double held;  /* when this process stood still, monotonic seconds: earlier holds of an agreement are counted */
    double stood; /* seconds in holds of the agreement in progress that ended without a decision */

    char *requested; /* what the program asked for last, until the coordinator has heard it; owned; NULL: nothing */

    struct asks asks; /* what was asked of the coordinator (asks.h) */
    int off;          /* the last adaptation that was called off, where process sets are told of it */

    /* roll calls */
    int64_t called, passed; /* claims made, and those that all have made */
    bool stopped;           /* some rank is stopped */
    struct aloud aloud;     /* what has to be told, though the ranks of this host agree on it */
    struct muster *muster;  /* where they do; NULL: nowhere. The program's thread alone gives it back */
    int muster_fd;          /* its descriptor, where this process made it, else -1 */
    bool musters;           /* they compare there: */
    int64_t base;           /* from the claim behind this one on */

    /* standby */
    bool finish, cancelled;
    int status;             /* that the job ends with, once finish is set */
    struct message wake;    /* that asks this process to join: an order_wake, if there is one */
    struct message meeting; /* that all joiners are here: an order_meet, likewise */
};

int member_init(struct member *member, int process);
void member_destroy(struct member *member);

/* Messages that are not the member's own, and who takes them: on the control thread, without a lock. Before the first
 * message can come. The rows stay valid. */
void member_understand(struct member *member, const struct message_row *rows, size_t count, void *context);

/* ---- The control thread ---- */

/* One that no table knows, or that lacks a member, is refused with a line on stderr. */
void member_receive(struct member *member, const cJSON *message);

/* ---- Any thread ---- */

void member_send_on_errand(struct member *member, const struct errand_order *order);

/* What a rank has that is constant: bytes, and a hash of what it says of them, which is the same on all ranks. */
struct constants {
    int64_t bytes;
    uint64_t hash;
};

/* Ahead of the window: what this process has that is constant, and where it listens (taken; NULL: it cannot). at: NULL
 * where it joins, and does not know yet. */
void member_listed(struct member *member, int adaptation, const struct position *at, const struct constants *constants,
                   cJSON *place);

/* It has come, so many bytes of it; or it cannot come, or is of no use any more, for the reason given (else NULL);
 * ERROR_TIMEOUT: as another process cannot be reached. */
void member_ahead(struct member *member, int adaptation, const struct error *failure, int64_t bytes);

/* ---- The program's thread ---- */

/*
 * Called when ceiling_probe says hold, or when the element about to start does not accept the present size:
 * needs is then the size that it asks for, else 0. Waits as long as the agreement takes.
 */
enum action member_hold(struct member *member, const struct position *at, int needs);

/* The program asks for another size. The same again, before the coordinator has heard of it, is not sent: a program
 * may ask in every one of its iterations. Takes the message. 0 or -1. */
int member_request(struct member *member, cJSON *message);

/* Has it heard that the program has ended everywhere? Any thread. */
bool member_is_finished(struct member *member);

/* The program has ended in this process: says so, and waits for the word that it has ended everywhere. */
void member_end(struct member *member);

/* Standby: waits without using CPU for something to do. TASK_JOIN leaves member->wake. */
enum task member_standby(struct member *member);

/* Joining with processes of other launches: says so, and where the others come to it (ports; NULL: it comes to them).
 * Waits until all are here; `meeting`, an order_meet, is the caller's then. False if the adaptation is off. */
bool member_meet(struct member *member, int adaptation, const cJSON *ports, struct message *meeting);

/* What rank 0 describes, for those (taken; NULL: nothing is to be said). */
void member_describes(struct member *member, cJSON *described);

/* A joining process is ready, or is not, for the reason given (else NULL). port: where it accepts, or NULL. */
void member_ready(struct member *member, int adaptation, const char *failure, const char *port);

/* Then waits for the window: true with member->plan, or false if the adaptation is off. */
bool member_await_window(struct member *member);

/* Ahead of the window: this process's connect came back, and it waits for the word that that of all others did. */
void member_linked(struct member *member, int adaptation);

/* The window's communicators are made in this process, or cannot be, for the reason given (else NULL). */
void member_connected(struct member *member, int adaptation, const char *failure);

/* This process is through the window; stood still for `stall` seconds, and was sent so many bytes of data. */
void member_committed(struct member *member, int adaptation, double stall, int64_t bytes);

/* What ACTION_CHECKPOINT wanted is done, or cannot be. */
void member_saved(struct member *member, const struct saved *saved);

/* A copy of that checkpoint is on disk, or cannot be, for the reason given (else NULL); then: it is ended. Any thread.
 */
void member_stored(struct member *member, int number, const char *failure);
void member_kept(struct member *member, int number, const char *failure);

/* This process left the program, or its joining is off, and it can be asked to join again.
 * reusable is false where the program could not be unloaded. */
void member_parked(struct member *member, bool reusable);

/* After a commit of an executable, at its first probes. */
void member_stretch(struct member *member, const struct stretch_log *log, int from);

/* This process left the program, and stays as the host of the control plane. */
void member_hosts(struct member *member);

/* This process left the program, and ends. */
void member_gone(struct member *member);

/* mpi_seconds: spent in MPI so far; negative: nobody measures it. */
void member_report_progress(struct member *member, const epop_progress_t *progress, double mpi_seconds);

/* An agent, which probes in place of the program's thread: waits, without using CPU, until a probe would hold. False:
 * *quit was set (with member_wake), or the program has ended everywhere. */
bool member_idle(struct member *member, const bool *quit);
/* Sets what is waited for under the member's lock, and wakes who waits. Any thread. */
void member_wake(struct member *member, bool *flag);

/*
 * Waits for a change, with the lock held. MPI may need this process for messages that others still wait for, so it is
 * poked now and then: after 0.2 ms, and each time after twice as long up to 5 ms, which costs no measurable CPU. Many
 * ranks that poke more often on few cores take the time from those that are waited for. *waits starts at 0.
 */
void member_wait_poking(struct member *member, int *waits);

/*
 * A roll call: waits until all ranks have claimed the same; if others are late for longer than a second, it goes on,
 * and the claims are compared when they are there: a program in which a rank needs what another sends two iterations
 * later must not come to a standstill. While the ranks are stopped it waits. The ranks of a host compare their claims
 * themselves (muster.h): the coordinator hears of those that are to be told, and of the others only where there are
 * more hosts, from one rank of each. The program's thread.
 */
void member_rollcall(struct member *member, const struct claim *claim);

#endif
