/* epop --capabilities: what the MPI library of this build can do, found by trying, and the backend that follows. */
#ifndef DRIVER_CAPABILITIES_H
#define DRIVER_CAPABILITIES_H

/* Prints a table, or JSON by schema/capabilities.schema.json. 0, or -1 after a line on stderr. */
int capabilities_print(int as_json);

/* Each thing is tried in a launch of its own, by an epop that has this as its first argument. */
#define TRIAL_ARGUMENT "--try-capability"

/* Tries argv[0], with argv[1] if that is needed: what probe_mpi can, and "leave" (2 ranks) and "backend". Prints
 * one line on rank 0. Returns the exit status. Collective over the launch. */
int capabilities_try(int argc, char **argv);

#endif
