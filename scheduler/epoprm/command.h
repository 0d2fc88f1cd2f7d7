/*
 * The commands of epoprm: their arguments, the exit codes that all of them have, and what they share: lines on stderr,
 * texts, and where the daemon of this user has its state.
 */
#ifndef SCHEDULER_EPOPRM_COMMAND_H
#define SCHEDULER_EPOPRM_COMMAND_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

struct journal;

/* As epopctl's. */
enum { RM_DONE = 0, RM_REFUSED = 1, RM_USAGE = 2, RM_NO_JOB = 3, RM_TIMEOUT = 4 };

struct rm_arguments {
    char **words; /* that are no options; for submit the program and its arguments; end with NULL */
    int count;
    bool json, help;
    bool all;                                                             /* queue */
    bool undo;                                                            /* drain */
    bool foreground;                                                      /* start */
    bool once;                                                            /* submit */
    bool jobs, leave;                                                     /* stop */
    const char *hosts, *local, *site, *policy, *launcher, *launcher_exec; /* start */
    const char *port, *address_file, *reader;                             /* start --site slurm */
    const char *ranks, *nodes, *time, *name;                              /* submit */
    const char *output;                                                   /* submit, report */
    const char *format;                                                   /* report */
};

/* Which options a command takes. */
enum {
    RM_TAKES_JSON = 1,
    RM_TAKES_ALL = 2,
    RM_TAKES_UNDO = 4,
    RM_TAKES_START = 8,
    RM_TAKES_SUBMIT = 16,
    RM_TAKES_STOP = 32,
    RM_TAKES_OUTPUT = 64,
    RM_TAKES_FORMAT = 128,
};

struct rm_command {
    const char *name, *synopsis, *summary, *details;
    int takes;
    int least, most; /* words; most: -1: any number, and options end at the first */
    int (*run)(const struct rm_arguments *arguments);
};

/* ---- What each does ------------------------------------------------------------------------------ */

/* start.c */
int rm_start(const struct rm_arguments *arguments);
int rm_stop(const struct rm_arguments *arguments);

/* submit.c */
int rm_submit(const struct rm_arguments *arguments);
int rm_cancel(const struct rm_arguments *arguments);
int rm_drain(const struct rm_arguments *arguments);

/* show.c */
int rm_queue(const struct rm_arguments *arguments);
int rm_nodes(const struct rm_arguments *arguments);
int rm_why(const struct rm_arguments *arguments);
int rm_watch(const struct rm_arguments *arguments);

/* report.c */
int rm_report(const struct rm_arguments *arguments);

/* ---- What they share ----------------------------------------------------------------------------- */

/* One line on stderr, "epoprm: ...". */
void rm_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A job's number: 0, or -1 after a line. */
int rm_job_number(const char *text, int64_t *number);

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
