/*
 * Questions of processes, and requests of tools, about process sets, that wait for their answers; and questions that
 * several processes have to ask together before any of them is answered.
 */
#ifndef EPOP_COORDINATOR_INQUIRIES_H
#define EPOP_COORDINATOR_INQUIRIES_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/error.h"
#include "runtime/base/timers.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct pset;

struct inquiry {
    int process;             /* that asks; -1: a tool */
    void *handle;            /* of the tool's request */
    struct message message;  /* that was asked; owned */
    struct report_ask asked; /* what it says; of a tool as if a process had */
    double limit;            /* until when it waits, monotonic; 0: without a limit */
    bool met;                /* all that were to ask have */
    int meeting;             /* a number that they share; 0: none */
    int verdict;             /* what was found for all of them, by whoever was looked at first; 0: nothing so far */
    bool answered;           /* before it was looked at */
    bool said;               /* that it waits long */
    bool decided;            /* of a re-initialization: */
    int adaptation;          /* that it is; 0: none; -1: it is refused */
    char refusal[200];
    struct inquiry *next;
};

struct inquiries {
    struct inquiry *first; /* in the order of their coming; owned */
    struct timer due;      /* the first limit */
    int meetings;          /* numbers given out */
};

/* Keeps it: a process's, a tool's. 0, or -1: out of memory. */
int inquiries_add(struct coordinator *c, int process, const struct report_ask *asked);
int inquiries_add_request(struct coordinator *c, void *handle, const struct request_psets *asked);

/* A question of a process that is none about process sets, or that is refused before it is one: its answer (taken). */
void inquiries_tell(struct coordinator *c, int process, int id, cJSON *answer);

/* Looks at all that wait: what `answer` gives is sent (taken); NULL: it goes on waiting. */
typedef cJSON *inquiry_answer(struct coordinator *c, struct inquiry *inquiry);
void inquiries_look(struct coordinator *c, inquiry_answer *answer);

/* Gives that answer (taken) now, before what is looked at is answered. */
void inquiry_answer_first(struct coordinator *c, struct inquiry *inquiry, cJSON *answer);

/* It is looked at again after so many seconds, if nothing happens. */
void inquiry_look_again(struct inquiry *inquiry, double seconds);

/* Is its time over? */
bool inquiry_is_late(const struct inquiry *inquiry);

/*
 * Have all members of the set asked the same: has their question the same "key"? Then all of them have met, with a
 * meeting of their own. -1 with text where one of them will not, as it is gone or has ended the program. Those that are
 * spared (NULL: nobody) are not waited for.
 */
typedef bool inquiry_spared(const struct coordinator *c, int process);
int inquiry_meets(struct coordinator *c, struct inquiry *inquiry, const struct pset *set, inquiry_spared *spared,
                  struct error *why);

/* Can nobody say anything any more? Each process has ended, or waits for the answer to a question of that sort. */
bool inquiries_all_wait(struct coordinator *c, const char *about);

/* What was found counts for all that have met with it. */
void inquiry_decide(struct coordinator *c, struct inquiry *inquiry, int verdict);

/* Answers: {"ok": true}; and {"ok": false, "reason": ...}. */
cJSON *inquiry_yes(void);
cJSON *inquiry_no(const char *reason);

#endif
