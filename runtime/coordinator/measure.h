/*
 * The request "measure". The first one has all ranks begin to measure; each one asks them for their sums, which
 * their control threads answer, also while the program's threads hang. A rank that does not answer is named when the
 * time is over. When nobody has asked for a while the ranks stop measuring.
 */
#ifndef EPOP_COORDINATOR_MEASURE_H
#define EPOP_COORDINATOR_MEASURE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/timers.h"
#include "runtime/member/spread.h"
#include "runtime/wire/messages.h"

struct coordinator;

/* ---- What was measured --------------------------------------------------------------------------- */

/*
 * The sums that processes tell of what they measured, put together by element and size of the world: since whoever
 * asks was told last. No clock and no message in here.
 */

struct measured_sums {
    int pc, size;
    int64_t life; /* those of another one began at zero */
    int64_t iterations;
    double loop, mpi; /* seconds */
};

/* What was told last of one process, of its elements or of its loops. All zero: nothing yet. */
struct measured_told {
    struct measured_sums *sums;
    size_t count, room;
};

void measured_forget(struct measured_told *told);

/* One rank's part of an element. */
struct measured_rank {
    int rank;
    int64_t iterations;
    double load; /* seconds outside MPI */
};

/* Of all processes, since then. */
struct measured_element {
    struct measured_sums sums; /* iterations: the most that any rank did */
    int64_t all_iterations;
    int ranks;
    struct spread mtct;
    struct measured_rank *who; /* the ranks, in their order */
    size_t who_room;
};
struct measured {
    struct measured_element *elements;
    size_t count, room;
};

/*
 * Adds what that rank's process says that it has come to in one element, or loop, to that of the number `pc`, and keeps
 * it as told. Ranks come in their order. Of worlds of another size than the present one only what grew. 0, or -1: out
 * of memory.
 */
int measured_add(struct measured *measured, struct measured_told *told, const struct shape_gauge_element *element,
                 int pc, int size, int rank);

/* The most that a rank has had to compute, over the mean of all that have the element. 0: none has computed. */
double measured_imbalance(const struct measured_element *element);

/* Two loops of different ranks are one: the second goes into the first. 0, or -1: out of memory. */
int measured_join(struct measured *measured, size_t first, size_t second);

/* An array by schema/control.schema.json, at that size of the present world. */
cJSON *measured_json(struct measured *measured, int size, const char *(*name)(const void *context, int pc),
                     const void *context);

/* Adds what is told of sums to an object; at another size than the present one ranks were other ones. */
void measured_add_sums(cJSON *json, const struct measured_element *element, int size);

/* By number, then by size. */
void measured_sort(struct measured *measured);
void measured_free(struct measured *measured);

#define MEASURE_ASKERS                                                                                                 \
    16 /* whose last answers are kept; of more, the one that has not asked for longest is forgotten */
#define MEASURE_WAITING 16 /* requests at a time */
#define MEASURE_NAME    64

/* What was told last of a process. */
struct measured_process {
    struct measured_told elements, loops;
};

struct measure_asker {
    char name[MEASURE_NAME];
    double asked;                  /* when it was answered last, seconds since 1970; 0: nobody's place */
    struct measured_process *told; /* by process number */
    size_t count, room;
};

/* The loops that were told so far: loops.c. */
struct loops_of_job {
    struct loop *list; /* by number, from 1 on */
    size_t count, room;
    struct measure_asker told; /* for its own view of them */
    int size;                  /* at which they were looked at last */
    int counts;                /* the number of the one that counts; 0: none */
};

struct measure {
    bool on;
    double began; /* seconds since 1970 */
    double until; /* as long as somebody has asked for, monotonic */
    int round;
    int awaited; /* a rank that had not answered at the last look */
    bool open;   /* answers are awaited */
    struct timer limit, idle;
    void (*looked)(struct coordinator *c); /* all that were asked have answered, or the time is over: balance.c */
    struct {
        void *handle;
        char asker[MEASURE_NAME];
        int graph; /* of that rank it is wanted; -1: of none */
    } waiting[MEASURE_WAITING];
    int waiting_count;
    struct measure_asker askers[MEASURE_ASKERS];
    struct loops_of_job loops;
    bool unwritten;                                        /* that file */
    enum { FINAL_NOT_YET, FINAL_ASKED, FINAL_DONE } final; /* of config.measure_to: what was measured in all */
};

void measure_request(struct coordinator *c, void *handle, const struct request_measure *request);
/* Asks for what balance.c looks at when it is there; the ranks go on measuring for so many seconds. */
void measure_look(struct coordinator *c, double keep);
/* All elements of all ranks that have answered, since that asker was told last. 0, or -1: out of memory. */
int measure_gather(struct coordinator *c, struct measure_asker *asker, struct measured *all);
void measure_asker_forget(struct measure_asker *asker);
/* For all processes that there are. 0, or -1: out of memory. */
int measure_make_room(const struct coordinator *c, struct measure_asker *asker);

/* What the process has said in this round; NULL: nothing. */
const struct report_gauge *measure_answer_of(const struct coordinator *c, int process);

void measure_came(struct coordinator *c, int process, const struct report_gauge *report);
/* Its hello has come. */
void measure_attached(struct coordinator *c, int process);

#endif
