/* Events as they happen, for those who watch the job and for those who keep its history. By schema/control.schema.json.
 */
#ifndef EPOP_COORDINATOR_PUBLISH_H
#define EPOP_COORDINATOR_PUBLISH_H

#include <cjson/cJSON.h>

struct adaptation;
struct change;
struct coordinator;

/* a: what it is about; reason: a line. Either may be NULL. */
void publish_event(struct coordinator *c, const char *event, const struct adaptation *a, const char *reason);
/* Nothing of the job is on that host any more. */
void publish_vacated(struct coordinator *c, const char *host);

/* A resource change has come to another state, for the reason given (NULL: none). */
void publish_change(struct coordinator *c, const struct change *change, const char *reason);

/* A checkpoint is complete, which it takes by its JSON; or (NULL) there is none, for the reason given. */
void publish_checkpoint(struct coordinator *c, cJSON *checkpoint, const char *reason);

#endif
