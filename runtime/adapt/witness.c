/* Watching a program's calls of MPI: see witness.h. */
#include "runtime/adapt/witness.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "interpose/interpose.h"
#include "runtime/adapt/team.h"
#include "runtime/base/array.h"
#include "runtime/base/clock.h"

/* ---- Which functions are which --------------------------------------------------------------- */

enum kind { OTHER, MESSAGES, MATCHED, COLLECTIVE, OF_GROUP, OF_WINDOW, OF_WORLD, START, START_ALL, FREE_COMM };

/* What it takes, by the place of its parameters; -1: nothing of that kind. */
struct call {
    enum kind kind;
    signed char to, from, comm;
    signed char request; /* what it only prepares */
};

static struct call calls[INTERPOSE_FUNCTIONS];

static const struct {
    const char *name;
    struct call call;
} messages[] = {
    {"send", {MESSAGES, 3, -1, 5, -1}},
    {"bsend", {MESSAGES, 3, -1, 5, -1}},
    {"ssend", {MESSAGES, 3, -1, 5, -1}},
    {"rsend", {MESSAGES, 3, -1, 5, -1}},
    {"isend", {MESSAGES, 3, -1, 5, -1}},
    {"ibsend", {MESSAGES, 3, -1, 5, -1}},
    {"issend", {MESSAGES, 3, -1, 5, -1}},
    {"irsend", {MESSAGES, 3, -1, 5, -1}},
    {"recv", {MESSAGES, -1, 3, 5, -1}},
    {"irecv", {MESSAGES, -1, 3, 5, -1}},
    {"sendrecv", {MESSAGES, 3, 8, 10, -1}},
    {"sendrecv_replace", {MESSAGES, 3, 5, 7, -1}},
    {"isendrecv", {MESSAGES, 3, 8, 10, -1}},
    {"isendrecv_replace", {MESSAGES, 3, 5, 7, -1}},
    {"send_init", {MESSAGES, 3, -1, 5, 6}},
    {"bsend_init", {MESSAGES, 3, -1, 5, 6}},
    {"ssend_init", {MESSAGES, 3, -1, 5, 6}},
    {"rsend_init", {MESSAGES, 3, -1, 5, 6}},
    {"recv_init", {MESSAGES, -1, 3, 5, 6}},
    {"psend_init", {MESSAGES, 4, -1, 6, 8}},
    {"precv_init", {MESSAGES, -1, 4, 6, 8}},
    {"mrecv", {MATCHED, -1, -1, -1, -1}},
    {"imrecv", {MATCHED, -1, -1, -1, -1}},
    {"start", {START, -1, -1, -1, -1}},
    {"startall", {START_ALL, -1, -1, -1, -1}},
    {"comm_create_group", {OF_GROUP, 1, -1, -1, -1}},
    {"win_fence", {OF_WINDOW, 1, -1, -1, -1}},
    {"halo_exchange", {OF_WORLD, -1, -1, -1, -1}},
    {"halo_start", {OF_WORLD, -1, -1, -1, -1}},
    {"items_exchange", {OF_WORLD, -1, -1, -1, -1}},
    {"partition_divide", {OF_WORLD, -1, -1, -1, -1}},
    {"comm_free", {FREE_COMM, -1, -1, -1, -1}},
    {"comm_disconnect", {FREE_COMM, -1, -1, -1, -1}},
};

static const char *const collectives[] = {"barrier",
                                          "bcast",
                                          "gather",
                                          "gatherv",
                                          "scatter",
                                          "scatterv",
                                          "allgather",
                                          "allgatherv",
                                          "alltoall",
                                          "alltoallv",
                                          "alltoallw",
                                          "reduce",
                                          "allreduce",
                                          "reduce_scatter",
                                          "reduce_scatter_block",
                                          "scan",
                                          "exscan",
                                          "neighbor_allgather",
                                          "neighbor_allgatherv",
                                          "neighbor_alltoall",
                                          "neighbor_alltoallv",
                                          "neighbor_alltoallw",
                                          "comm_dup",
                                          "comm_idup",
                                          "comm_dup_with_info",
                                          "comm_idup_with_info",
                                          "comm_split",
                                          "comm_split_type",
                                          "comm_create",
                                          "cart_create",
                                          "cart_sub",
                                          "graph_create",
                                          "dist_graph_create",
                                          "dist_graph_create_adjacent",
                                          "intercomm_create",
                                          "intercomm_merge",
                                          "win_create",
                                          "win_allocate",
                                          "win_allocate_shared",
                                          "win_create_dynamic",
                                          "file_open"};

/* "MPI_Send_c" is "Send". */
static void stem(const char *name, char text[64])
{
    const char *begin = strchr(name, '_');
    snprintf(text, 64, "%s", begin ? begin + 1 : name);
    size_t length = strlen(text);
    if (length > 2 && !strcmp(text + length - 2, "_c"))
        text[length - 2] = 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), other = strlen(end);
    return length >= other && !strcasecmp(text + length - other, end);
}

static bool is_collective(const char *name, char persistent[64])
{
    snprintf(persistent, 64, "%s", name);
    if (ends_with(persistent, "_init"))
        persistent[strlen(persistent) - strlen("_init")] = 0;
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (!strcasecmp(persistent, collectives[i]) ||
            (strchr("iI", persistent[0]) && !strcasecmp(persistent + 1, collectives[i])))
            return true;
    return false;
}

static signed char place(const char *parameters, char letter)
{
    const char *found = strchr(parameters, letter);
    return found ? (signed char)(found - parameters) : -1;
}

static struct call classify(const char *name, const char *parameters)
{
    char base[64], persistent[64];
    stem(name, base);
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (!strcasecmp(base, messages[i].name))
            return messages[i].call;
    if (!is_collective(base, persistent))
        return (struct call){.kind = OTHER};
    bool prepares = strcmp(base, persistent);
    return (struct call){COLLECTIVE, -1, -1, place(parameters, 'c'), prepares ? place(parameters, 'R') : -1};
}

void witness_init(void)
{
    for (int f = 0; f < INTERPOSE_FUNCTIONS; f++)
        calls[f] = classify(epop__interpose_name((enum interpose_function)f),
                            epop__interpose_parameters((enum interpose_function)f));
}

/* ---- What was done ------------------------------------------------------------------------------ */

static struct {
    pthread_mutex_t lock;
    bool on;
    struct stretch sum;
    double begun;
    struct persistent {
        MPI_Request request;
        struct stretch each;
    } * prepared;
    size_t count, room;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add(struct stretch *sum, const struct stretch *more)
{
    sum->world += more->world;
    sum->sent += more->sent;
    sum->received += more->received;
    sum->parts += more->parts;
    sum->balance += more->balance;
}

static void add_messages(struct stretch *sum, const struct call *call, void *const arguments[])
{
    MPI_Comm comm = *(MPI_Comm *)arguments[call->comm];
    uint64_t key;
    if (call->to >= 0 && (key = team_receiver(comm, *(int *)arguments[call->to]))) {
        sum->sent++;
        sum->balance += key;
    }
    if (call->from >= 0 && *(int *)arguments[call->from] != MPI_PROC_NULL && team_is_of_world(comm)) {
        sum->received++;
        sum->balance -= team_own_key();
    }
}

static void add_meeting(struct stretch *sum, struct team_part part)
{
    sum->world += part.all;
    sum->parts += !part.all && part.key;
    sum->balance += part.key;
}

static struct stretch what_it_does(const struct call *call, void *const arguments[])
{
    struct stretch sum = {0};
    if (call->kind == MESSAGES) {
        add_messages(&sum, call, arguments);
    } else if (call->kind == MATCHED) {
        sum.received++;
        sum.balance -= team_own_key();
    } else if (call->kind == COLLECTIVE && call->comm >= 0) {
        add_meeting(&sum, team_of_comm(*(MPI_Comm *)arguments[call->comm]));
    } else if (call->kind == OF_GROUP) {
        add_meeting(&sum, team_of_group(*(MPI_Group *)arguments[call->to]));
    } else if (call->kind == OF_WORLD) {
        sum.world++;
    } else if (call->kind == OF_WINDOW) {
        add_meeting(&sum, team_of_window(*(MPI_Win *)arguments[call->to]));
    }
    return sum;
}

/* ---- Persistent requests ------------------------------------------------------------------------- */

static void prepare(MPI_Request request, const struct stretch *each)
{
    if (array_reserve(&seen.prepared, &seen.room, seen.count + 1, sizeof *seen.prepared))
        return;
    seen.prepared[seen.count++] = (struct persistent){request, *each};
}

/* The latest one of that handle: MPI gives it out again. */
static void start(MPI_Request request)
{
    for (size_t i = seen.count; i > 0; i--)
        if (seen.prepared[i - 1].request == request) {
            add(&seen.sum, &seen.prepared[i - 1].each);
            return;
        }
}

static void start_all(void *const arguments[])
{
    const MPI_Request *requests = *(MPI_Request **)arguments[1];
    for (int i = 0; i < *(int *)arguments[0]; i++)
        start(requests[i]);
}

/* ---- The observer ---------------------------------------------------------------------------------- */

static void enter(void *context, enum interpose_function function, void *const arguments[])
{
    (void)context;
    const struct call *call = &calls[function];
    if (call->kind == OTHER)
        return;
    pthread_mutex_lock(&seen.lock);
    if (seen.on && call->kind == FREE_COMM) {
        team_forget(*(MPI_Comm **)arguments[0]);
    } else if (seen.on && call->kind == START) {
        start(**(MPI_Request **)arguments[0]);
    } else if (seen.on && call->kind == START_ALL) {
        start_all(arguments);
    } else if (seen.on && call->request <= 0) {
        struct stretch what = what_it_does(call, arguments);
        add(&seen.sum, &what);
    }
    pthread_mutex_unlock(&seen.lock);
}

static void leave(void *context, enum interpose_function function, void *const arguments[], int result)
{
    (void)context;
    const struct call *call = &calls[function];
    if (call->kind == OTHER || call->request <= 0 || result != MPI_SUCCESS)
        return;
    pthread_mutex_lock(&seen.lock);
    if (seen.on) {
        struct stretch what = what_it_does(call, arguments);
        prepare(**(MPI_Request **)arguments[call->request], &what);
    }
    pthread_mutex_unlock(&seen.lock);
}

static const struct interpose_hooks hooks = {.enter = enter, .leave = leave};

void witness_begin(MPI_Comm world)
{
    witness_end();
    pthread_mutex_lock(&seen.lock);
    seen.on = true;
    seen.sum = (struct stretch){0};
    seen.begun = monotonic_seconds();
    team_begin(world);
    pthread_mutex_unlock(&seen.lock);
    epop__interpose_observe(&hooks);
}

struct stretch witness_read(void)
{
    pthread_mutex_lock(&seen.lock);
    struct stretch sum = seen.sum;
    sum.seconds = monotonic_seconds() - seen.begun;
    pthread_mutex_unlock(&seen.lock);
    return sum;
}

void witness_end(void)
{
    pthread_mutex_lock(&seen.lock);
    bool was_on = seen.on;
    seen.on = false;
    if (was_on)
        team_end();
    free(seen.prepared);
    seen.prepared = NULL;
    seen.count = seen.room = 0;
    pthread_mutex_unlock(&seen.lock);
    if (was_on)
        epop__interpose_unobserve(&hooks);
}
