/*
 * The daemon's end of the connection with a job's attendant: JSON lines on its socket. An attendant that is not there
 * yet is tried again; what is said meanwhile is lost, so its user says it after `hello`.
 */
#ifndef SCHEDULER_HOSTS_ATTEND_CLIENT_H
#define SCHEDULER_HOSTS_ATTEND_CLIENT_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/wire/line.h"

struct attend_client {
    struct event_base *base;
    char *path;
    void (*take)(void *context, const cJSON *message); /* each line; may close the client */
    void (*gone)(void *context);                       /* the connection broke; it is tried again until it is closed */
    void *context;
    struct wire_line *line; /* NULL: it is not connected */
    struct event *again;
    double since; /* it is tried */
};

/* take, gone and context are set before. -1: no memory. */
int attend_client_open(struct attend_client *client, struct event_base *base, const char *path);
/* May be called for one that is not open. */
void attend_client_close(struct attend_client *client);

/* Says it if it is connected. The message is freed. */
void attend_client_say(struct attend_client *client, cJSON *message);
/* {"id":id,"do":"ask","request":request,"timeout":seconds}; the request is freed. */
void attend_client_ask(struct attend_client *client, int64_t id, cJSON *request, double seconds);
/* {"do":"forget","ids":[id]} */
void attend_client_forget(struct attend_client *client, int64_t id);

/* Seconds that it was tried without success; 0: it is connected. */
double attend_client_missing(const struct attend_client *client);

#endif
