/*
 * What an attendant does for those who are connected with it: a daemon, beside the job's command (attend run), or an
 * adviser (attend link). It alone talks with the job's control plane; daemons come and go.
 *
 * It is asked by ids: each is sent to the job once, however often it is asked, and its answer is kept until it is
 * forgotten. A job that is to end is asked to stop in a common iteration, then stopped by force, then by signals to its
 * command. Each step has its time, and the next one comes when it did not help.
 */
#ifndef SCHEDULER_ATTEND_SERVICE_H
#define SCHEDULER_ATTEND_SERVICE_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/wire/line.h"
#include "scheduler/attend/plane.h"

struct peer;
struct question;

struct asked {
    struct event_base *base;
    struct question *first;
    void (*answered)(void *context, int64_t id, const cJSON *answer); /* once for each */
    void *context;
};

enum ending_step { ENDING_NOT, ENDING_STOP, ENDING_FORCE, ENDING_TERMINATE, ENDING_KILL, ENDING_OVER };

struct ending {
    struct plane *plane;
    enum ending_step step;
    struct event *next;
    double grace;
    /* The command's processes; NULL: there is no command, and no signals. */
    void (*terminate)(void *context);
    void (*kill)(void *context);
    void *context;
};

/* Numbers of requests to the job's control plane that are asked here: from this one down. */
enum { SERVICE_OWN = -2 };

struct service {
    struct event_base *base;
    struct peer *peers; /* who talks to it: usually one; two while a daemon that died is replaced */
    struct asked asked;
    struct plane plane;
    struct ending ending;
    cJSON *ended;                /* as ended.json; NULL: it runs */
    bool told;                   /* somebody that it has ended: it goes when that is sent */
    bool over;                   /* it goes now */
    void (*gone)(void *context); /* one who talked to it; NULL: nobody asks */
    void *context;
    void (*answered)(void *context, int64_t number, const cJSON *answer); /* such a request; NULL: there are none */
    void *answered_context;
};

/* batch or id: how the job's address file is known. */
int service_open(struct service *service, const char *batch, const char *id, struct error *error);
/* Until it is over. -1: the loop failed. */
int service_run(struct service *service, struct error *error);

/* Somebody who talks to it from now on, and is greeted: the line, or the descriptor, is the service's. */
void service_add_line(struct service *service, struct wire_line *line);
void service_add_fd(struct service *service, int fd);

/* The job is to end: seconds until force is used. Again: only if that is sooner. */
void service_end(struct service *service, double grace);
/* It has ended, and all are told so; `ended` is the service's from here on. */
void service_ended(struct service *service, cJSON *ended);
/* It goes at once. */
void service_leave(struct service *service);

#endif
