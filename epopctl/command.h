/* The commands of epopctl, their arguments, and the exit codes that all of them have. */
#ifndef EPOP_CTL_COMMAND_H
#define EPOP_CTL_COMMAND_H

#include <stdbool.h>

/* Exit codes, the same for every command. */
enum { CTL_DONE = 0, CTL_REFUSED = 1, CTL_USAGE = 2, CTL_NO_JOB = 3, CTL_TIMEOUT = 4 };

struct ctl_arguments {
    const char *job;           /* NULL: the only one there is */
    const char *size;          /* resize: N, +N or -N */
    const char *hosts;         /* resize: where joining ranks come from */
    const char *slurm_job;     /* resize: that these hosts are in: JOB, or HOST=JOB,... */
    const char *release;       /* resize: hosts to give up */
    const char *release_ranks; /* resize: ranks to give up */
    const char *pset;          /* resize: the process set whose size it is */
    const char *breakpoint;    /* break: PHASE[:ITERATION][@RANK] */
    bool remove;               /* break: that one goes */
    const char *text;          /* note: the line */
    const char *asker;         /* measure: since this one was answered last */
    const char *keep;          /* measure: seconds, as given */
    bool wait, json, help, once;
    bool companions;     /* resize: +N one-node Slurm jobs are queued */
    bool vacated;        /* resize: wait until the processes that leave have ended */
    bool force;          /* stop: at once, and not at the next iteration */
    const char *timeout; /* seconds, as given; NULL: the usual time */
    int timeout_ms;
};

/* Which options a command takes. */
enum {
    CTL_TAKES_JSON = 1,
    CTL_TAKES_WAIT = 2,
    CTL_TAKES_TIMEOUT = 4,
    CTL_TAKES_RESIZE = 8,
    CTL_TAKES_JOB = 16,
    CTL_TAKES_BREAKPOINT = 32,
    CTL_TAKES_ONCE = 64,
    CTL_TAKES_MEASURE = 128,
    CTL_TAKES_FORCE = 256,
    CTL_TAKES_TEXT = 512
};

struct ctl_command {
    const char *name, *synopsis;
    const char *summary; /* NULL: it is that of the request of this name (runtime/wire/messages.def) */
    const char *details;
    int takes;
    int (*run)(const struct ctl_arguments *arguments);
};

/* The commands; ends with a NULL name. In main.c. */
extern const struct ctl_command ctl_commands[];

/* What stands behind the command's name. 0, or -1 after one line on stderr. */
int ctl_parse(const struct ctl_command *command, int argc, char **argv, struct ctl_arguments *arguments);

/* ---- What each does: the file of its name, or request.c, or stops.c ---- */

int ctl_list(const struct ctl_arguments *arguments);
int ctl_status(const struct ctl_arguments *arguments);
int ctl_top(const struct ctl_arguments *arguments);
int ctl_where(const struct ctl_arguments *arguments);
int ctl_measure(const struct ctl_arguments *arguments);
int ctl_psets(const struct ctl_arguments *arguments);
int ctl_resize(const struct ctl_arguments *arguments);
int ctl_queue_companions(const struct ctl_arguments *arguments); /* resize --companions */
int ctl_pause(const struct ctl_arguments *arguments);
int ctl_resume(const struct ctl_arguments *arguments);
int ctl_stop(const struct ctl_arguments *arguments);
int ctl_force(const struct ctl_arguments *arguments); /* stop --force */
int ctl_checkpoint(const struct ctl_arguments *arguments);
int ctl_cancel(const struct ctl_arguments *arguments);
int ctl_note(const struct ctl_arguments *arguments);
int ctl_watch(const struct ctl_arguments *arguments);
int ctl_break(const struct ctl_arguments *arguments);
int ctl_step(const struct ctl_arguments *arguments);
int ctl_continue(const struct ctl_arguments *arguments);

#endif
