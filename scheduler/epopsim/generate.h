/* `epopsim generate`: a workload drawn from a published model, as a trace. */
#ifndef SCHEDULER_EPOPSIM_GENERATE_H
#define SCHEDULER_EPOPSIM_GENERATE_H

/* argv[0] is the command. The exit status. */
int generate_main(int argc, char **argv);

#endif
