/* The coordinator's state, shared by the files of this folder and by the backends' coordinator side. */
#ifndef EPOP_COORDINATOR_STATE_H
#define EPOP_COORDINATOR_STATE_H

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>

#include "runtime/coordinator/coordinator.h"
#include "runtime/coordinator/estimate.h"

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

struct process {
    enum process_state state;
    int rank;   /* in the world, -1 outside */
    int launch; /* the adaptation that it was started for; 0: the job's start */
    char host[64];
    int pid;
    bool here;       /* its hello has come */
    bool identified; /* and said what it runs */
    bool bound;      /* to these cores of its host */
    cpu_set_t cores;
    /* agreement */
    bool answered, ended, arrived;
    uint64_t count; /* of its answer or arrival */
    struct position at;
    int needs;
    double held; /* since when it stands still there, monotonic */
    /* preparing */
    bool met, ready;
    bool dispensable; /* died while it stood by: its launch's status says nothing */
    /* roll calls */
    cJSON *claims; /* not passed yet, in order; owned; NULL: none so far */
    bool halts;    /* it is stopped while others go on */
    bool kept;     /* and its claim has passed, of which it is told when it goes on */
    /* where it is */
    cJSON *place;                       /* its last answer to where it is; owned; NULL: none */
    int surveyed, placed;               /* the survey that it was asked in, that this is the answer to */
    int64_t seen_visit, seen_iteration; /* of the watchdog's last look */
};

enum adaptation_state {
    ADAPTATION_PREPARING,
    ADAPTATION_PREPARED, /* waits for an agreement */
    ADAPTATION_WINDOW,
    ADAPTATION_COMMITTED,
    ADAPTATION_FAILED,
    ADAPTATION_CANCELLED,
};

/* How far the processes are connected ahead of the window: see linking.c. */
enum linking {
    LINKING_NONE,
    LINKING_CONNECTS, /* the processes were told to connect: a joiner that dies makes it fail */
    LINKING_MERGES,   /* the communicators are being made: a joiner that dies ends the job */
    LINKING_DONE
};

struct adaptation {
    int id, from, to;
    enum adaptation_state state;
    const char *by; /* "epopctl", "program", "phase"; static */
    int *joiners;   /* process numbers */
    int joining;
    int parked;     /* the first so many of them stand by; the others have to be started */
    bool started;   /* the joiners were told to start */
    cJSON *meeting; /* where joiners of several launches come together; owned; NULL: not known */
    char *leaves;   /* per old rank */
    struct position at;
    char element[64];
    char reason[200];
    double requested, prepared, agreed, committed; /* epoch seconds, 0: not yet */
    double stall;                                  /* as in struct epop_adaptation */
    double deadline;                               /* of preparing, monotonic */
    double margin;                                 /* what was left of it when the job was paused */
    enum linking linking;
    char *port;              /* where the joiners accept; owned; NULL: none */
    int unconnected;         /* processes whose connect has not been reported yet */
    int kills;               /* times that the joiners were ended for not answering */
    int connected, failures; /* old ranks that could connect, and that could not */
    double connect_deadline; /* monotonic */
    int pinged;              /* the round in which the joiners were asked for a sign of life */
    double ping_deadline;    /* monotonic */
    int outstanding;         /* processes that are not through the window, or parked, yet */
    void *handle;            /* who waits for it; NULL: nobody */
    int requested_size;
};

enum agreement_state { AGREEMENT_NONE, AGREEMENT_FREEZING, AGREEMENT_TARGET, AGREEMENT_GATE };

/* A break, and the visit of its element in which the ranks stopped there last. */
struct stop_place {
    struct breakpoint where;
    int64_t met; /* 0: none yet */
};

struct stops {
    struct stop_place places[ROLLCALL_BREAKS_MAX];
    int count;
    bool stepping; /* the ranks stop at the next iteration */
    enum { NOT_STOPPED, STOPPED_ALL, STOPPED_SOME } how;
    struct position at; /* of the last stop */
    bool announced;
    char by[96];  /* the break's text, or "step" */
    double since; /* monotonic */
    void *waiter; /* who waits for the next stop; NULL: nobody */
};

#define HISTORY 64

#define ASKERS 16

/* All processes are asked where they are, for those who asked, and for the watchdog. */
struct survey {
    int round;
    bool open; /* answers are awaited */
    double deadline;
    void *askers[ASKERS];
    int asker_count;
};

struct watchdog {
    double look;  /* when to look again, monotonic */
    double moved; /* when something was last seen to move, monotonic; 0: never */
    int world_id; /* then */
    bool stalled; /* and that was said */
};

struct coordinator {
    struct coordinator_config config;
    char *job, *path;
    char identity[200]; /* of process 0 */

    pthread_t thread;
    pthread_mutex_t lock; /* of the queue */
    sem_t wake;
    struct event *first, *last;
    _Atomic int terminations; /* SIGTERM */
    _Atomic bool interrupted; /* SIGINT */

    struct process *processes;
    int process_count; /* numbers given out so far; a number is used once */
    int size;          /* of the present world */
    int *world;        /* process numbers by rank */

    enum agreement_state agreement;
    int round;
    uint64_t target;
    double freeze_deadline;

    struct adaptation *adaptation; /* the pending one, or NULL */
    bool ahead_off;                /* connecting ahead failed in this world, and is not tried again in it */
    bool check_later;              /* the arrivals at a target, when nobody connects any more */
    struct adaptation history[HISTORY];
    int adaptations; /* so far */
    double last_commit;

    bool pausing, paused;
    bool stopping, stop_sent; /* asked for; decided at a probe */
    const char *stopped_by;   /* static */
    bool finished;            /* the program has ended on every rank */
    double end_deadline;      /* for called off processes that did not come, when all ranks have ended; 0: not yet */
    void *pause_handle;
    int world_id;    /* the adaptation that made the present world; 0: the first world */
    cJSON *deferred; /* the program's request out of a world that is being made */

    /* where rank 0 was when it was asked last; pc -1: in no element */
    struct position position;
    struct event *waiting, *last_waiting; /* requests that wait for its answer, in their order */
    double position_deadline;
    bool position_due, progress_due; /* of the answers that they wait for */

    struct survey survey;
    struct watchdog watchdog;

    int dumping;     /* the process that dumps its memory after a crash; -1: none */
    bool dump_begun; /* it has been told to */
    double dump_deadline;

    struct stops stops; /* with the debug driver */
    bool apart;         /* the ranks are known to go different ways, and are not compared any more */
    double grace_end;   /* monotonic; 0: no difference yet */

    struct estimate estimate;
    double paused_since;           /* monotonic */
    double show;                   /* when the progress is shown next, monotonic */
    double mpi_seconds, mpi_clock; /* of rank 0, when its MPI time was last looked at; the clock is its own */
    double mtct;                   /* its share of time in MPI between the last two looks; negative: not known */
    epop_progress_t progress;
    bool progress_known;
    double progress_time; /* when it came, monotonic */
    double started;
};

/* What a backend does on the coordinator's thread; see runtime/backends/backend.h for the other half. */
struct coordinator_backend {
    const char *name;
    /*
     * Chooses adaptation->joining processes, on the hosts named (comma-separated; NULL: any), into
     * adaptation->joiners. Processes that are on their way into standby, or have not attached yet, may be chosen. 0, or
     * -1 with one line of text. Must not block.
     */
    int (*choose)(struct coordinator *coordinator, struct adaptation *adaptation, const char *hosts, char *error,
                  size_t error_size);
    /* Has them start, if all of them can by now (else false, and it is asked again when a process comes in). Each will
     * send "ready". Must not block. */
    bool (*start)(struct coordinator *coordinator, const struct adaptation *adaptation);
    /* The adaptation is off: its joiners go back to where they came from. Must not block. */
    void (*cancel)(struct coordinator *coordinator, const struct adaptation *adaptation);
    /* Processes end for real, and a window may fail to connect. */
    bool ends;
    /* Are the joiners started by the ranks themselves, in the window? Then start is not called. NULL: no. */
    bool (*late)(void);
    /* Do all ranks leave in every adaptation, and new ones take their place? NULL: no. */
    bool (*replaces)(void);
    /* Can processes be connected before the ranks stand still? NULL: no. */
    bool (*ahead)(void);
    /* The rest is for backends that start processes; NULL elsewhere. None may block. */
    /* The joiners do not answer a connect: ends them at once. */
    void (*kill)(struct coordinator *coordinator, const struct adaptation *adaptation);
    /* What the backend posted with coordinator_post_backend has arrived. */
    void (*event)(struct coordinator *coordinator, void *handle, int status);
    /* Looks after what it started; returns the seconds until it wants to look again. */
    double (*tick)(struct coordinator *coordinator);
    /* How many launchers have not ended yet. */
    int (*busy)(void);
};

double wall_seconds(void);

struct event;

static inline bool joiners_come_late(const struct coordinator *c)
{
    return c->config.backend->late && c->config.backend->late();
}

static inline bool all_are_replaced(const struct coordinator *c)
{
    return c->config.backend->replaces && c->config.backend->replaces();
}

/* coordinator.c */
int add_processes(struct coordinator *c, int count); /* the first of `count` new numbers; -1: out of memory */
void send_to(struct coordinator *c, int process, cJSON *message); /* takes the message */
void send_to_world(struct coordinator *c, cJSON *message);        /* takes the message */
void answer(struct coordinator *c, void **handle, cJSON *reply);  /* takes the reply; *handle becomes NULL */
cJSON *refusal(const char *code, const char *reason);

/* queue.c */
void coordinator_post_backend(struct coordinator *c, void *handle, int status); /* any thread */

/* requests.c */
void handle_request(struct coordinator *c, void *handle, const cJSON *request);
void handle_deferred(struct coordinator *c);
void handle_program_request(struct coordinator *c, int process, const cJSON *request);
void request_stop(struct coordinator *c, const char *by);

/* adaptation.c */
cJSON *resize_reply(const struct adaptation *a, const char *code);
struct adaptation *adaptation_new(struct coordinator *c, const char *by, int to, int requested);
/* Names with commas between them, none of which a launcher would take for an option. */
bool hosts_valid(const char *list);
bool host_listed(const char *list, const char *host);
int adaptation_prepare(struct coordinator *c, struct adaptation *a, const char *hosts, char *error, size_t size);
/* If joiners are waited for, and all are in standby by now. */
void adaptation_start_joiners(struct coordinator *c);
/* A joiner waits for those of other launches. */
void adaptation_meet(struct coordinator *c, int process, const cJSON *message);
void adaptation_prepared(struct coordinator *c);
/* With the point of the program still open. NULL: out of memory, which ends the job. */
struct plan *adaptation_plan(struct coordinator *c);
void adaptation_ready(struct coordinator *c, int process, const cJSON *message);
/* Its joiners could not be started, which a rank that was to do it says. */
void adaptation_unstarted(struct coordinator *c, const cJSON *message);
void adaptation_drop(struct coordinator *c, enum adaptation_state state, const char *code, const char *reason);
void adaptation_window(struct coordinator *c, const struct position *at, uint64_t count);
void adaptation_connected(struct coordinator *c, int process, const cJSON *message);
void adaptation_connect_timeout(struct coordinator *c);
/* While the old ranks connect to them. */
void adaptation_end_joiners(struct coordinator *c);
void adaptation_committed(struct coordinator *c, const cJSON *message);
void process_gone(struct coordinator *c, int process);
void process_hosts(struct coordinator *c, int process);
void process_parked(struct coordinator *c, int process, const cJSON *message);
/* For a phase that was entered at a size it does not accept: it cannot do without, and all ranks wait for it. */
void adaptation_for_phase(struct coordinator *c, int needs);
bool is_for_phase(const struct adaptation *a);

/* linking.c */
/* Everybody is ready: connects ahead of the window if that can be; false if not. */
bool linking_start(struct coordinator *c);
void linking_linked(struct coordinator *c, const cJSON *message);
void linking_connected(struct coordinator *c, const cJSON *message);
void linking_timeout(struct coordinator *c);
/* The adaptation is off. */
void linking_off(struct coordinator *c, const struct adaptation *a);
/* Connections are being made. */
static inline bool linking_goes_on(const struct coordinator *c)
{
    const struct adaptation *a = c->adaptation;
    return a && (a->linking == LINKING_CONNECTS || a->linking == LINKING_MERGES);
}

/* agreement.c */
void agreement_start(struct coordinator *c);
void agreement_count(struct coordinator *c, int process, const cJSON *message);
void agreement_at(struct coordinator *c, int process, const cJSON *message);
/* Once no rank of the world moves any more: all have arrived at the same place, or the contract is broken. */
void agreement_check(struct coordinator *c);
void agreement_ended(struct coordinator *c, int process);
void agreement_cancel(struct coordinator *c);
void agreement_timeout(struct coordinator *c);
void agreement_decide(struct coordinator *c);

/* position.c */
void position_wait(struct coordinator *c, struct event *event); /* takes the event */
void position_came(struct coordinator *c, int process, const cJSON *message);
void position_progress_came(struct coordinator *c);
/* Asks again, where a request waits: rank 0 is another process now. */
void position_ask_again(struct coordinator *c);
/* Has the waiting requests carried out with what is known. */
void position_give_up(struct coordinator *c);

/* survey.c */
void survey_request(struct coordinator *c, void *handle);
void survey_begin(struct coordinator *c);
void survey_came(struct coordinator *c, int process, const cJSON *message);
void survey_abandon(struct coordinator *c, const void *handle);
void survey_give_up(struct coordinator *c);
/* By schema/control.schema.json. */
cJSON *survey_json(struct coordinator *c);

/* watchdog.c */
void watchdog_look(struct coordinator *c);
void watchdog_surveyed(struct coordinator *c);
/* When to look again, seconds from now. */
double watchdog_wait(const struct coordinator *c);

/* dump.c */
void dump_begin(struct coordinator *c, int process);
void dump_look(struct coordinator *c);
double dump_wait(const struct coordinator *c); /* seconds until it wants to look again */

/* progress.c */
void progress_came(struct coordinator *c, const cJSON *message);
void progress_show(struct coordinator *c);
double progress_wait(const struct coordinator *c); /* seconds until it wants to show it again */
/* By schema/control.schema.json. */
cJSON *progress_json(const struct coordinator *c);

/* status.c */
const char *job_state(const struct coordinator *c);
const char *process_text(enum process_state state);
cJSON *status_json(struct coordinator *c);
void publish(struct coordinator *c, const char *event, const struct adaptation *a, const char *reason);
const char *element_name(struct coordinator *c, int pc);

#endif
