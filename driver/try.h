/*
 * One thing that an MPI library may or may not be able to do: each is tried in a launch of its own, by an epop that
 * --capabilities starts with TRY_ARGUMENT.
 */
#ifndef DRIVER_TRY_H
#define DRIVER_TRY_H

#define TRY_ARGUMENT "--try-capability"

/* Tries argv[0], with argv[1] if that is needed: what mpich/tries.h has, and "leave" (2 ranks) and "backend". Prints
 * one line on rank 0. Returns the exit status. Collective over the launch. */
int try_main(int argc, char **argv);

#endif
