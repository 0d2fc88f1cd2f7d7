/*
 * The loops that ranks found in an executable, put together: a loop of several ranks is one (dissertation of I.
 * Comprés, section 10.2.2). Ranks whose loops have the same collective operations are in the same loop; of loops
 * without any, they are if head and tail are the same, or if they are of different ranks and turn as often, as where
 * one half sends first and the other receives first.
 */
#ifndef EPOP_COORDINATOR_LOOPS_H
#define EPOP_COORDINATOR_LOOPS_H

#include <cjson/cJSON.h>

struct coordinator;
struct loops_of_job;
struct measure_asker;

/* All that were asked have answered: which loop counts now? It is the outermost one of all ranks in which they are. */
void loops_look(struct coordinator *c);

/* Of all ranks that have answered, since that asker was told last: an array by schema/control.schema.json. NULL: out of
 * memory. */
cJSON *loops_json(struct coordinator *c, struct measure_asker *asker);

/* Adds the loop that counts to the job's status, if there is one. */
void loops_add_present(cJSON *status, const struct coordinator *c);

void loops_forget(struct loops_of_job *loops);

#endif
