/* Running a program: alone, or as a job of MPI processes that join and leave. */
#ifndef DRIVER_RUN_H
#define DRIVER_RUN_H

#include "driver/epop/drivers.h"
#include "driver/epop/load.h"
#include "driver/epop/options.h"

/* A program without MPI: one walk in this process. Returns the exit status. */
int run_serial(const struct options *options, struct drivers *drivers, struct loaded_program *program);

/*
 * This process's part in a job of MPI processes; collective over the launch. program is NULL where loading failed,
 * load_error says why then. Returns the exit status, the same on every process.
 */
int run_job(const struct options *options, struct drivers *drivers, struct loaded_program *program,
            const char *load_error);

#endif
