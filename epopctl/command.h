/* The commands of epopctl, what they get from the command line, and the exit codes that all of them have. */
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

/* What each does; the exit code. */
int ctl_list(const struct ctl_arguments *arguments);
int ctl_status(const struct ctl_arguments *arguments);
int ctl_top(const struct ctl_arguments *arguments);
int ctl_where(const struct ctl_arguments *arguments);
int ctl_measure(const struct ctl_arguments *arguments);
int ctl_psets(const struct ctl_arguments *arguments);
int ctl_resize(const struct ctl_arguments *arguments);
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
