/*
 * What jobs tell of their recent past and of their rest, as policies have it; and what is kept of it, by element or
 * loop and by size. All sites keep it so: the core does for those that have one core, the adviser for itself.
 */
#ifndef SCHEDULER_CORE_SAMPLE_H
#define SCHEDULER_CORE_SAMPLE_H

#include <cjson/cJSON.h>
#include <epop/policy.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- What is kept ------------------------------------------------------------------------------- */

/*
 * The seconds of an iteration are a mean that fades, with a half-life of SAMPLE_HALF seconds of computing, so that it
 * is of the recent past. A stay at a size begins anew: other sizes keep what was measured there last. When iterations
 * of a stay take SAMPLE_CHANGE times as long as they did at its beginning, or as short, the program is no longer the
 * one that was measured at other sizes: that is forgotten.
 */
#define SAMPLE_HALF   10.0
#define SAMPLE_CHANGE 1.5

/* What is said of that to users. */
#define SAMPLES_CHANGED                                                                                                \
    "its iterations take %.2g times as long as before: what was measured at other sizes is forgotten"

struct samples {
    epop_policy_sample_t *items; /* as policies see them */
    int count;
    struct sample_past *pasts; /* of each */
    size_t room, past_room;
    int size; /* at which the job computes */
};

/* The job computes at that size now. */
void samples_at(struct samples *samples, int size);

/* It has balanced: a stay at its size begins anew. */
void samples_balanced(struct samples *samples);

/* Room for one more; -1: no memory. */
int samples_reserve(struct samples *samples);

/* Adds what was measured since the last time: `iterations` so many, of `seconds` each; an MTCT below 0 is not known.
 * There must be room. How many times as long as before iterations take, if that made the rest be forgotten; else 0. */
double samples_add(struct samples *samples, const epop_policy_sample_t *more);

/* Adds what was measured in an earlier job of the same program, as of sizes that this one has had before. Where it is
 * measured now and takes SAMPLE_CHANGE times as long, or as short, the earlier one was another program. There must be
 * room. */
void samples_remember(struct samples *samples, const epop_policy_sample_t *earlier);

/* What a job does in most of its time, by its samples. -1: there are none. */
int samples_main_phase(const struct samples *samples);

void samples_free(struct samples *samples);

/* ---- What jobs tell ----------------------------------------------------------------------------- */

/* What was measured in each element and loop since it was asked last, by the answer to `measure`. `nodes` are ranks.
 * With weak scaling iterations are those of one rank, so that what is kept of sizes can be compared. */
void samples_read(const cJSON *measure, void (*each)(void *context, const epop_policy_sample_t *sample), void *context);

/* Speeds since the job began, by its status: for who has measured nothing yet. */
void samples_read_speeds(const cJSON *status, void (*each)(void *context, const epop_policy_sample_t *sample),
                         void *context);

/* Seconds that a job still needs, by the progress of its present element; of elements behind it nothing is known. -1:
 * it says nothing. False: what it said before counts on, as it is in a finalizer, or at a branch. */
bool left_read(double *left, const cJSON *status);

/* How many ranks its process sets ask for together: from `least` to `most`, rather `preferred` (0: no wish). */
struct hints {
    int least, most, preferred;
};

/* Of any number, if its sets ask for none. */
struct hints hints_read(const cJSON *status);

bool hints_same(const struct hints *one, const struct hints *other);

/* What is said of them to users, "its process sets ask for 4 to 12 ranks, rather 8". False: they ask for none. */
#define HINTS_TEXT 100
bool hints_text(const struct hints *hints, char text[HINTS_TEXT]);

/* Whether its present phase has weak scaling, and as many iterations at every size. False: it is in no phase now. */
bool weak_read(bool *weak, const cJSON *status);

#endif
