/* The commands of epoprm, their arguments, and the exit codes that all of them have. */
#ifndef SCHEDULER_EPOPRM_COMMAND_H
#define SCHEDULER_EPOPRM_COMMAND_H

#include <stdbool.h>

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

/* What stands behind the command's name. 0, or -1 after one line on stderr. */
int rm_parse(const struct rm_command *command, int argc, char **argv, struct rm_arguments *arguments);

/* ---- What each does: the file of its name ---- */

int rm_start(const struct rm_arguments *arguments);
int rm_submit(const struct rm_arguments *arguments);
int rm_queue(const struct rm_arguments *arguments);
int rm_nodes(const struct rm_arguments *arguments);
int rm_why(const struct rm_arguments *arguments);
int rm_cancel(const struct rm_arguments *arguments);
int rm_drain(const struct rm_arguments *arguments);
int rm_watch(const struct rm_arguments *arguments);
int rm_report(const struct rm_arguments *arguments);
int rm_stop(const struct rm_arguments *arguments);

#endif
