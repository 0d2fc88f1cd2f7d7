/* The commands of epopctl, and what they get from the command line. */
#ifndef EPOP_CTL_COMMAND_H
#define EPOP_CTL_COMMAND_H

#include "terminal/commands.h"

struct options {
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
    const char *from;          /* measure: files that were written when jobs ended, by commas */
    const char *asker;         /* measure: since this one was answered last */
    int rank;                  /* loops: whose; negative: 0 */
    bool dot;                  /* loops: for dot */
    double keep;               /* measure: seconds; negative: as usual */
    bool wait, json, once;
    bool companions; /* resize: +N one-node Slurm jobs are queued */
    bool vacated;    /* resize: wait until the processes that leave have ended */
    bool force;      /* stop: at once, and not at the next iteration */
    double timeout;  /* seconds; negative: the usual time */
    int timeout_ms;
};

/* What each does; the exit code. */
int ctl_list(const struct options *arguments);
int ctl_status(const struct options *arguments);
int ctl_top(const struct options *arguments);
int ctl_where(const struct options *arguments);
int ctl_measure(const struct options *arguments);
int ctl_loops(const struct options *arguments);
int ctl_psets(const struct options *arguments);
int ctl_resize(const struct options *arguments);
int ctl_balance(const struct options *arguments);
int ctl_pause(const struct options *arguments);
int ctl_resume(const struct options *arguments);
int ctl_stop(const struct options *arguments);
int ctl_force(const struct options *arguments); /* stop --force */
int ctl_checkpoint(const struct options *arguments);
int ctl_cancel(const struct options *arguments);
int ctl_note(const struct options *arguments);
int ctl_watch(const struct options *arguments);
int ctl_break(const struct options *arguments);
int ctl_step(const struct options *arguments);
int ctl_continue(const struct options *arguments);

#endif
