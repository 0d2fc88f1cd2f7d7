/*
 * The command line of epop: its own options, those of the chosen drivers, then the program and the
 * arguments that belong to it.
 */
#ifndef DRIVER_OPTIONS_H
#define DRIVER_OPTIONS_H

#include <stdbool.h>

#include "driver/epop/drivers.h"
#include "driver/epop/recover.h"
#include "driver/tune/tuned.h"
#include "runtime/job/job.h"
#include "terminal/options.h"

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
    const char *program;     /* as given */
    int argc;                /* the program's own: argv[0] is the program, argv[argc] is NULL */
    char **argv;             /* part of the process's argv */
    const char *output;      /* of the driver profile; NULL: none is named */
    struct tuned *tuned;     /* NULL: none */
    bool capabilities, json; /* say what the MPI library can do, and run nothing */
    bool help, version;      /* likewise about epop itself */
    struct recover_options recover;
    struct job_options job; /* what a job wants to know, with the whole command line for a relaunch */
};

/*
 * Parses the command line and opens the drivers that it names (`run` if none). Returns OPTIONS_GO_ON, or the
 * status to exit with at once: EXIT_DONE after --help or --version, EXIT_USAGE with a line on stderr. The caller
 * closes *drivers in every case.
 */
int options_parse(int argc, char **argv, struct options *options, struct drivers *drivers);

#endif
