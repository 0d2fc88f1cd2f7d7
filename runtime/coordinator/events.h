/*
 * What arrives at the coordinator, from any thread. What processes and backends tell comes before what tools ask, so
 * that many requests do not delay the job; each of the two is in order: that a request was abandoned comes after the
 * request.
 */
#ifndef EPOP_COORDINATOR_EVENTS_H
#define EPOP_COORDINATOR_EVENTS_H

#include <cjson/cJSON.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

struct coordinator;

struct event {
    enum {
        EVENT_MESSAGE,
        EVENT_REQUEST,
        EVENT_ABANDONED,
        EVENT_LOST,
        EVENT_BACKEND,
        EVENT_CLOSED,
        EVENT_RELEASES
    } type;
    int process;    /* EVENT_BACKEND: a status */
    int *processes; /* EVENT_MESSAGE, of more than one; else NULL */
    int count;      /* EVENT_MESSAGE: of so many */
    void *handle;
    cJSON *json; /* NULL, where there should be one: out of memory */
    struct event *next;
};

/* For when there is no memory: so many losses and requests still get through. */
#define EVENTS_RESERVE 64

/* So many of the job's own are taken before a request that waits has its turn. */
#define EVENTS_IN_A_ROW 64

struct events {
    pthread_mutex_t lock; /* of the lists */
    sem_t wake;
    struct event_queue {
        struct event *first, *last;
    } own, requests;
    int in_a_row; /* of the own ones, while requests wait */
    struct event reserve[EVENTS_RESERVE], *spare;
    _Atomic bool missed;      /* not even the reserve had one left */
    _Atomic int terminations; /* SIGTERM */
    _Atomic bool interrupted; /* SIGINT */
};

void events_init(struct events *events);
void events_destroy(struct events *events);

/* Takes the event's json. Any thread. */
void events_post(struct events *events, struct event event);
/* From a backend: has the coordinator call the backend's `event`. Any thread. */
void events_post_backend(struct coordinator *c, void *handle, int status);

/* A signal has come. Async-signal-safe. */
void events_terminate(struct events *events);
void events_interrupt(struct events *events);

/* The next one, for events_free; NULL: there is none. */
struct event *events_take(struct events *events);
void events_free(struct events *events, struct event *event);

/* Waits for something to arrive, or for a signal, but not longer than `seconds`. */
void events_wait(struct events *events, double seconds);

#endif
