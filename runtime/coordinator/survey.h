/*
 * Where every process is. Their control threads answer, also when the program's hang; one that does not, since it is
 * stopped or its host is gone, is listed without an answer when the time is over.
 */
#ifndef EPOP_COORDINATOR_SURVEY_H
#define EPOP_COORDINATOR_SURVEY_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/timers.h"
#include "runtime/wire/messages.h"

struct coordinator;

#define SURVEY_ASKERS    16
#define SURVEY_LISTENERS 2

struct survey {
    int round;
    bool open; /* answers are awaited */
    struct timer limit;
    void *askers[SURVEY_ASKERS];
    int asker_count;
    void (*listeners[SURVEY_LISTENERS])(struct coordinator *c); /* who is told of the end of each */
    int listener_count;
};

void survey_init(struct coordinator *c);
/* Called at the end of each, whoever asked. */
void survey_tell(struct coordinator *c, void (*surveyed)(struct coordinator *c));
/* All processes are asked, unless they are already. */
void survey_begin(struct coordinator *c);
void survey_came(struct coordinator *c, int process, const struct report_located *report);
void survey_give_up(struct coordinator *c);
/* The request where. */
void survey_request(struct coordinator *c, void *handle);
void survey_abandoned(struct coordinator *c, const void *handle);
/* By schema/control.schema.json. */
cJSON *survey_json(struct coordinator *c);

#endif
