/*
 * After an executable's commit: is the first probe of the joining processes the next one of all, or the one of their
 * commit once more? All processes go on meanwhile, and say what they did in MPI up to their first probes
 * (runtime/member/stretch.h); the count at which sends and receives balance is the right one. No agreement begins
 * before it is settled.
 */
#ifndef EPOP_COORDINATOR_SETTLE_H
#define EPOP_COORDINATOR_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/member/stretch.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct process;

/* ---- Searching ----------------------------------------------------------------------------------- */

/*
 * Looks through what all processes did up to their first probes for the first one that tells whether joining processes
 * are at the same one as the others. No state, no messages.
 */

struct search {
    const struct stretch_log **logs; /* not owned */
    int count;
    struct stretch *room;
};

/* For so many logs. -1: out of memory. */
int search_init(struct search *s, int most);
void search_free(struct search *s);
/* Of a process that has come to its first probe, or, if it joined, to its second. */
void search_add(struct search *s, const struct stretch_log *log);

/* Up to which probe all are known; the joining ones one farther. */
int64_t search_known(const struct search *s);
/* Behind a probe up to which it could be either; 0: from the first one on. Open: it still could, and `what` is what the
 * first one looks like; FIND: staying or joining processes are missing. */
struct verdict search_verdict(const struct search *s, int64_t after);

/* ---- The verdict --------------------------------------------------------------------------------- */

/*
 * Is the first probe of joining processes the next one of all, or that of their commit once more? By what everybody
 * did in MPI up to his first probes. No state, no messages.
 */

struct evidence {
    const struct stretch *staying; /* up to their first probe, say */
    int stayed;
    const struct stretch *first, *second; /* of the joining ones: up to that one, and up to the one behind */
    int joined;
};

struct verdict {
    enum first_probe what;
    bool sure; /* with the other one what is sent would not be what is received */
    bool open; /* nothing speaks against either; later probes may */
};

struct verdict verdict_of(const struct evidence *e);

struct settling {
    bool open;             /* and nothing can be agreed */
    enum first_probe what; /* of the present world's joining processes; FIND: none joined */
    bool sure;
    int64_t wanted; /* probes that all say what they did up to, joining ones one more */
    int64_t judged; /* and up to which it could be either */
    double begun;
};

/* The world has just been made, with so many joining processes. */
void settle_begin(struct coordinator *c, int joining);
/* From a process. */
void settle_stretch(struct coordinator *c, int process, const struct report_stretch *report);
/* Judges again, as a process has ended and says nothing any more. */
void settle_look(struct coordinator *c);
/* Is it still open how joining processes count? */
bool settle_is_open(const struct coordinator *c);
/* Does it still have to say something? */
bool settle_awaits(const struct coordinator *c, const struct process *p);
/* Ranks hold at a target, and all others wait for them in MPI: is the joining processes' count the reason? Then it is
 * put right: once, and where it was not sure. */
bool settle_correct(struct coordinator *c);

#endif
