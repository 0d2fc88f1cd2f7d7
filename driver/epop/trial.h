/*
 * One thing that an MPI library may or may not be able to do: each is tried in a launch of its own, by an epop that
 * --capabilities starts with TRIAL_ARGUMENT.
 */
#ifndef DRIVER_TRIAL_H
#define DRIVER_TRIAL_H

#define TRIAL_ARGUMENT "--try-capability"

/* Tries argv[0], with argv[1] if that is needed: what probe_mpi.h has, and "leave" (2 ranks) and "backend". Prints
 * one line on rank 0. Returns the exit status. Collective over the launch. */
int trial_main(int argc, char **argv);

#endif
