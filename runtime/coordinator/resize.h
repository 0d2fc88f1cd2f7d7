/* Requests for another size, from epopctl and from the program: checked, rounded or refused with the reason. */
#ifndef EPOP_COORDINATOR_RESIZE_H
#define EPOP_COORDINATOR_RESIZE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/error.h"
#include "runtime/coordinator/record.h"

struct adaptation;
struct coordinator;

struct resize_requests {
    cJSON *deferred; /* the program's, out of a world that is being made; owned; NULL: none */
    int asks;        /* where epoprm rules the size: what the program asked for last; 0: nothing */
};

/* One resize request on its way through the checks. */
struct resize {
    int wanted;  /* the size asked for */
    int granted; /* rounded to what the program accepts */
    int named;   /* ranks that are told to leave by name */
    char *leaves;
};

/* The checks and the start of a resize. 0; 1: nothing to do; -1 with the reason in why. */
int resize_start(struct coordinator *c, const cJSON *request, enum requester by, struct error *why);

void resize_request(struct coordinator *c, void *handle, const cJSON *request);
void resize_program(struct coordinator *c, int process, const cJSON *request);
/* What the program asked for out of the world that is there now. */
void resize_deferred(struct coordinator *c);

/* Is the answer to come when it has happened; and when the processes that left have ended? */
bool resize_waits(const cJSON *request);
bool resize_waits_for_end(const cJSON *request);
/* Is it a list of hosts, or missing? */
bool resize_hosts_valid(const cJSON *request, const char *key, struct error *why);

/* May that rank leave? Then it is marked. */
bool resize_mark(struct coordinator *c, struct resize *r, int rank, struct error *why);
/* The adaptation that takes the marked ranks out, which is pending then; NULL with the reason. */
struct adaptation *resize_release(struct coordinator *c, struct resize *r, struct error *why);

#endif
