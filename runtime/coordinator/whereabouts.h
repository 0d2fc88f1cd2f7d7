/* What the processes were in at the last survey, as a line for people: "rank 1 in MPI_Recv for 12 s ('work', iteration
 * 5); ranks 0, 2-4 in ...". Ranks in the same place are told together. */
#ifndef EPOP_COORDINATOR_WHEREABOUTS_H
#define EPOP_COORDINATOR_WHEREABOUTS_H

#include <stdbool.h>
#include <stddef.h>

struct coordinator;
struct process;

/* Of those that are wanted (NULL: of all that survey.h lists). Empty if there are none. */
void whereabouts_describe(struct coordinator *c, bool (*wanted)(const struct coordinator *c, const struct process *p),
                          char *text, size_t size);

#endif
