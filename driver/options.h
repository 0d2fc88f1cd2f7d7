/*
 * The command line of epop: its own options, those of the chosen drivers, then the program and the
 * arguments that belong to it.
 */
#ifndef DRIVER_OPTIONS_H
#define DRIVER_OPTIONS_H

#include "driver/drivers.h"

/* Exit statuses of epop. */
enum {
    EXIT_DONE = 0,   /* the program ended well */
    EXIT_FAILED = 1, /* the job failed while it ran */
    EXIT_USAGE = 2   /* wrong usage, or a program or driver that cannot be loaded */
};

/* What options_parse returns when there is a program to run. */
#define OPTIONS_GO_ON (-1)

/* All strings point into the process's arguments. */
struct options {
    const char *program;    /* as given */
    int argc;               /* the program's own: argv[0] is the program, argv[argc] is NULL */
    char **argv;            /* part of the process's argv */
    int start;              /* ranks that start; 0: all of the launch */
    const char *backend;    /* "auto" unless given */
    const char *leave;      /* likewise */
    int capabilities, json; /* say what the MPI library can do, and run nothing */
    int spawn_baseline;     /* how the backend spawn spawns */
    int spawn_single;
    int spawn_async;
    int no_ahead;           /* MPI without threads */
    int maximum;            /* most ranks, where processes can be started */
    double prepare_timeout; /* seconds that joining ranks may take to get ready */
    double min_interval;    /* least distance between two adaptations in seconds */
    double finish_timeout;  /* seconds that the end of the job may take */
    double watchdog;        /* seconds without an iteration before it says so; 0: never */
    int watchdog_abort;     /* and ends the job then */
    int quiet, verbose;
    char **full_argv; /* the whole command line, for a relaunch */
};

/*
 * Parses the command line and opens the drivers that it names (`run` if none). Returns OPTIONS_GO_ON, or the
 * status to exit with at once: EXIT_DONE after --help or --version, EXIT_USAGE with a line on stderr. The caller
 * closes *drivers in every case.
 */
int options_parse(int argc, char **argv, struct options *options, struct drivers *drivers);

#endif
