/*
 * What the coordinator says to the outside: answers to requests, to one or to all that wait; events, for those who
 * watch the job or keep its history; the last words of a job that cannot go on; and the names of states and elements
 * in all of them.
 */
#ifndef EPOP_COORDINATOR_REPLIES_H
#define EPOP_COORDINATOR_REPLIES_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/record.h"

struct adaptation;
struct change;
struct coordinator;

cJSON *reply_accepted(const char *code);
cJSON *reply_refusal(const char *code, const char *reason);

/* Takes the reply; *handle becomes NULL. A handle that is NULL: nobody waits. */
void reply_send(struct coordinator *c, void **handle, cJSON *reply);

/* ---- Who waits ----------------------------------------------------------------------------------- */

/* Those who wait for one adaptation: the handles of their requests. */

struct waiter {
    void *handle;
    bool vacated; /* until the processes that leave have ended */
    struct waiter *next;
};

/* 0, or -1: out of memory. */
int waiters_add(struct waiter **list, void *handle, bool vacated);

/* Those who wait for the processes' end are taken out of the list. */
struct waiter *waiters_for_end(struct waiter **list);

/* All of them, with this; takes the reply. The list is empty then. */
void waiters_answer(struct coordinator *c, struct waiter **list, cJSON *reply);

/* One of them has gone. */
void waiters_abandoned(struct coordinator *c, struct waiter **list, const void *handle);

/* ---- What things are called ---------------------------------------------------------------------- */

/* What things are called where people read them: elements of the program, states, who asked. */

/* Empty where there is no such element. */
const char *names_element(const struct coordinator *c, int pc);
/* null, or an object by schema/control.schema.json. */
cJSON *names_element_json(const struct coordinator *c, const struct position *at);
/* Adds how the element scales, with pc -1 the program, where it is not strong. */
void names_add_scaling(cJSON *json, const struct coordinator *c, int pc);
const char *names_process_state(enum process_state state);
const char *names_adaptation_state(enum adaptation_state state);
const char *names_requester(enum requester by);
/* Adds to what is told of an adaptation that it is a balance, if it is, and how uneven the loads were. */
void names_add_balance(cJSON *json, const struct adaptation *a);

/* ---- Events -------------------------------------------------------------------------------------- */

/*
 * Events as they happen, for those who watch the job and for those who keep its history. By
 * schema/control.schema.json.
 */

/* a: what it is about; reason: a line. Either may be NULL. */
void publish_event(struct coordinator *c, const char *event, const struct adaptation *a, const char *reason);
/* Nothing of the job is on that host any more. */
void publish_vacated(struct coordinator *c, const char *host);

/* A resource change has come to another state, for the reason given (NULL: none). */
void publish_change(struct coordinator *c, const struct change *change, const char *reason);

/* A checkpoint is complete, which it takes by its JSON; or (NULL) there is none, for the reason given. */
void publish_checkpoint(struct coordinator *c, cJSON *checkpoint, const char *reason);

/* ---- The last words ------------------------------------------------------------------------------ */

/* The job cannot go on. */

/* Ends every process; text: one line, or NULL if it has been said. Does not return in a job. */
void fatal(struct coordinator *c, const char *text);
void fatal_memory(struct coordinator *c);

/* The same because a process or a host has died: the program has done nothing wrong, and may be started again
 * (runtime/control/supervisor.h), unless the job was told to stop. process: the one that died, or -1. */
void fatal_fault(struct coordinator *c, int process, const char *text);

#endif
