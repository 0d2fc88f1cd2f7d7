/*
 * The commands of epoprm, what they get from the command line, and what they share: texts, and where the daemon of this
 * user has its state.
 */
#ifndef SCHEDULER_EPOPRM_COMMAND_H
#define SCHEDULER_EPOPRM_COMMAND_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "terminal/commands.h"

struct journal;

struct options {
    char **words; /* that are no options; for submit the program and its arguments; end with NULL */
    int count;
    bool json;
    bool all;                                                             /* queue */
    bool undo;                                                            /* drain */
    bool foreground;                                                      /* start */
    bool once;                                                            /* submit */
    bool hold;                                                            /* submit, requeue */
    bool jobs, leave;                                                     /* stop */
    const char *hosts, *local, *site, *policy, *launcher, *launcher_exec; /* start */
    const char *watts, *power_cap, *energy, *topology, *speeds;           /* start */
    const char *spread_cost, *shares, *half_life;                         /* start */
    const char *suspend, *resume, *suspend_after, *preempt_after;         /* start */
    const char *port, *address_file, *reader;                             /* start --site slurm */
    const char *ranks, *nodes, *sizes, *time, *name, *after;              /* submit */
    bool drop_late;                                                       /* submit */
    const char *priority, *account, *deadline;                            /* submit, change */
    const char *output;                                                   /* submit, report */
    const char *format;                                                   /* report */
};

/* ---- What each does ------------------------------------------------------------------------------ */

/* start.c */
int rm_start(const struct options *arguments);
int rm_stop(const struct options *arguments);

/* submit.c */
int rm_submit(const struct options *arguments);
int rm_cancel(const struct options *arguments);
int rm_hold(const struct options *arguments);
int rm_release(const struct options *arguments);
int rm_requeue(const struct options *arguments);
int rm_change(const struct options *arguments);
int rm_drain(const struct options *arguments);

/* show.c */
int rm_queue(const struct options *arguments);
int rm_nodes(const struct options *arguments);
int rm_why(const struct options *arguments);
int rm_watch(const struct options *arguments);

/* report.c */
int rm_report(const struct options *arguments);

/* ---- What they share ----------------------------------------------------------------------------- */

/* A job's number: 0, or -1 after a line. */
int rm_job_number(const char *text, int64_t *number);

/* "90", "90s", "10m", "2h", "1d" in seconds; negative: it is no time. */
double rm_seconds(const char *text);

/* A time of day, which comes today or tomorrow, a date or both, or a time from now on: "18:30", "2026-12-24T18:30",
 * "+90m", "now+2hours". Seconds since 1970; negative: it is none. */
double rm_time(const char *text, double now);

/* What an event says: "4 -> 2 nodes (n3,n4): somebody waits". */
void rm_event_text(const cJSON *event, char *text, size_t size);

/* "12:30:05", with the day where it is not today. */
void rm_clock(double time, char text[32]);

/* A file of the tree that this program is in, as "bin/epop-report". The caller's to free; NULL: it is not there. */
char *rm_beside(const char *name);

enum { RM_PATH_MAX = 4096 };

/* Where the daemon of this user has its state: $EPOPRM_DIR, or epop/epoprm in the directory of such things. -1: there
 * is no home for it, or the path is too long. */
int rm_directory(char path[RM_PATH_MAX], struct error *error);
/* Makes it, with what is above it; refused where others may write to it. */
int rm_make_directory(const char *path, struct error *error);
/* The path of a file in it. */
int rm_file(char path[RM_PATH_MAX], const char *name, struct error *error);
/* The journal in it, for reading. ERROR_REFUSED: there is none. */
int rm_journal(struct journal **journal, struct error *error);

#endif
