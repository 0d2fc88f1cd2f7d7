/* The first probes after a commit: what each process does in MPI up to them is watched, summed up and told. */
#include "runtime/adapt/first_probe.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "epop/mpi_adapt.h"
#include "interpose/interpose.h"
#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "runtime/job/job.h"
#include "runtime/member/stretch.h"
#include "runtime/world/world.h"

/* ---- Who is in a communicator ------------------------------------------------------------------- */

/* By ranks of the world, which what a process does is counted by. One thread at a time. */

/* This process's part in a collective call. The keys of all who are to make it add up to 0. */
struct team_part {
    bool all;     /* it is over the whole world */
    uint64_t key; /* 0: nobody else is to make it, or one from outside the world */
};

#define KEPT 16

struct team {
    MPI_Comm comm;
    int *peers; /* to whom its ranks are messages' receivers, by rank in the world; MPI_UNDEFINED: none of it */
    int count;
    bool whole; /* all are of the world */
    struct team_part part;
};

static struct {
    MPI_Group world;
    int rank, size;
    struct team kept[KEPT]; /* by their communicators, the last ones */
    int next;
} teams;

/* Keys that do not add up to 0 by chance. */
static uint64_t mix_bits(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static uint64_t process_key(int rank)
{
    return mix_bits((uint64_t)rank + 1);
}

static void team_begin(MPI_Comm comm)
{
    MPI_Comm_group(comm, &teams.world);
    MPI_Comm_rank(comm, &teams.rank);
    MPI_Comm_size(comm, &teams.size);
    for (int i = 0; i < KEPT; i++)
        teams.kept[i].comm = MPI_COMM_NULL;
    teams.next = 0;
}

static void team_drop(struct team *t)
{
    free(t->peers);
    *t = (struct team){.comm = MPI_COMM_NULL};
}

static void team_end(void)
{
    for (int i = 0; i < KEPT; i++)
        team_drop(&teams.kept[i]);
    MPI_Group_free(&teams.world);
}

/* It is freed, and MPI may give its handle to another. */
static void team_forget(const MPI_Comm *comm)
{
    for (int i = 0; comm && i < KEPT; i++)
        if (*comm != MPI_COMM_NULL && teams.kept[i].comm == *comm)
            team_drop(&teams.kept[i]);
}

/* Their ranks in the world; NULL: out of memory. */
static int *translate(MPI_Group group, int *count)
{
    MPI_Group_size(group, count);
    int *own = malloc((size_t)(*count + 1) * sizeof *own), *ranks = malloc((size_t)(*count + 1) * sizeof *ranks);
    for (int i = 0; own && ranks && i < *count; i++)
        own[i] = i;
    if (own && ranks) {
        MPI_Group_translate_ranks(group, *count, own, teams.world, ranks);
    } else {
        free(ranks);
        ranks = NULL;
    }
    free(own);
    return ranks;
}

/* The first of them counts for all others. */
static struct team_part part_of(const int *ranks, int count)
{
    uint64_t sum = 0;
    int first = teams.size;
    for (int i = 0; i < count; i++) {
        if (ranks[i] == MPI_UNDEFINED)
            return (struct team_part){0};
        sum += mix_bits(process_key(ranks[i]));
        if (ranks[i] < first)
            first = ranks[i];
    }
    if (count < 2)
        return (struct team_part){.all = count == teams.size};
    uint64_t key = mix_bits(sum + (uint64_t)count);
    return (struct team_part){.all = count == teams.size,
                              .key = teams.rank == first ? -(uint64_t)(count - 1) * key : key};
}

static struct team_part team_of_group(MPI_Group group)
{
    int count;
    int *ranks = translate(group, &count);
    struct team_part part = ranks ? part_of(ranks, count) : (struct team_part){0};
    free(ranks);
    return part;
}

static struct team_part team_of_window(MPI_Win window)
{
    MPI_Group group;
    if (window == MPI_WIN_NULL || MPI_Win_get_group(window, &group))
        return (struct team_part){0};
    struct team_part part = team_of_group(group);
    MPI_Group_free(&group);
    return part;
}

/* With an intercommunicator both groups meet, and the other one receives. */
static void team_fill(struct team *t, MPI_Comm comm)
{
    MPI_Group own, other, both;
    int inter;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_group(comm, &own);
    if (inter) {
        MPI_Comm_remote_group(comm, &other);
        MPI_Group_union(own, other, &both);
        t->part = team_of_group(both);
        t->peers = translate(other, &t->count);
        MPI_Group_free(&both);
        MPI_Group_free(&other);
    } else {
        t->part = team_of_group(own);
        t->peers = translate(own, &t->count);
    }
    MPI_Group_free(&own);
    t->whole = t->peers;
    for (int i = 0; t->whole && i < t->count; i++)
        t->whole = t->peers[i] != MPI_UNDEFINED;
    t->comm = comm;
}

static const struct team *look_up(MPI_Comm comm)
{
    static const struct team none;
    if (comm == MPI_COMM_NULL)
        return &none;
    for (int i = 0; i < KEPT; i++)
        if (teams.kept[i].comm == comm)
            return &teams.kept[i];
    struct team *t = &teams.kept[teams.next++ % KEPT];
    team_drop(t);
    team_fill(t, comm);
    return t;
}

/* The key of who receives what is sent to that rank of the communicator; 0: none of the world. */
static uint64_t team_receiver(MPI_Comm comm, int rank)
{
    const struct team *t = look_up(comm);
    bool known = t->peers && rank >= 0 && rank < t->count && t->peers[rank] != MPI_UNDEFINED;
    return known ? process_key(t->peers[rank]) : 0;
}

/* That of this process. */
static uint64_t team_own_key(void)
{
    return process_key(teams.rank);
}

/* Are all it talks to in the world? */
static bool team_is_of_world(MPI_Comm comm)
{
    return look_up(comm)->whole;
}

static struct team_part team_of_comm(MPI_Comm comm)
{
    return look_up(comm)->part;
}

/* ---- Which functions of MPI are which ----------------------------------------------------------- */

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
static void stem_of_name(const char *name, char text[64])
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
    stem_of_name(name, base);
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (!strcasecmp(base, messages[i].name))
            return messages[i].call;
    if (!is_collective(base, persistent))
        return (struct call){.kind = OTHER};
    bool prepares = strcmp(base, persistent);
    return (struct call){COLLECTIVE, -1, -1, place(parameters, 'c'), prepares ? place(parameters, 'R') : -1};
}

/* Which functions are which; once, before the first call of the others. */
static void witness_init(void)
{
    for (int f = 0; f < INTERPOSE_FUNCTIONS; f++)
        calls[f] = classify(epop__interpose_name((enum interpose_function)f),
                            epop__interpose_parameters((enum interpose_function)f));
}

/* ---- What the program does in MPI --------------------------------------------------------------- */

/* It is summed up (runtime/member/stretch.h): by whom a message is to be received, by how many a collective call is to
 * be made. Any thread of the program may call MPI meanwhile. */

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

static void add_stretch(struct stretch *sum, const struct stretch *more)
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

static void note_prepared(MPI_Request request, const struct stretch *each)
{
    if (array_reserve(&seen.prepared, &seen.room, seen.count + 1, sizeof *seen.prepared))
        return;
    seen.prepared[seen.count++] = (struct persistent){request, *each};
}

/* The latest one of that handle: MPI gives it out again. */
static void add_prepared(MPI_Request request)
{
    for (size_t i = seen.count; i > 0; i--)
        if (seen.prepared[i - 1].request == request) {
            add_stretch(&seen.sum, &seen.prepared[i - 1].each);
            return;
        }
}

static void add_all_prepared(void *const arguments[])
{
    const MPI_Request *requests = *(MPI_Request **)arguments[1];
    for (int i = 0; i < *(int *)arguments[0]; i++)
        add_prepared(requests[i]);
}

static void enter_call(void *context, enum interpose_function function, void *const arguments[])
{
    (void)context;
    const struct call *call = &calls[function];
    if (call->kind == OTHER)
        return;
    pthread_mutex_lock(&seen.lock);
    if (seen.on && call->kind == FREE_COMM) {
        team_forget(*(MPI_Comm **)arguments[0]);
    } else if (seen.on && call->kind == START) {
        add_prepared(**(MPI_Request **)arguments[0]);
    } else if (seen.on && call->kind == START_ALL) {
        add_all_prepared(arguments);
    } else if (seen.on && call->request <= 0) {
        struct stretch what = what_it_does(call, arguments);
        add_stretch(&seen.sum, &what);
    }
    pthread_mutex_unlock(&seen.lock);
}

static void leave_call(void *context, enum interpose_function function, void *const arguments[], int result)
{
    (void)context;
    const struct call *call = &calls[function];
    if (call->kind == OTHER || call->request <= 0 || result != MPI_SUCCESS)
        return;
    pthread_mutex_lock(&seen.lock);
    if (seen.on) {
        struct stretch what = what_it_does(call, arguments);
        note_prepared(**(MPI_Request **)arguments[call->request], &what);
    }
    pthread_mutex_unlock(&seen.lock);
}

static const struct interpose_hooks witness_hooks = {.enter = enter_call, .leave = leave_call};

static void witness_end(void)
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
        epop__interpose_unobserve(&witness_hooks);
}

/* From here on, of a world with this communicator. Local, as all here. */
static void witness_begin(MPI_Comm comm)
{
    witness_end();
    pthread_mutex_lock(&seen.lock);
    seen.on = true;
    seen.sum = (struct stretch){0};
    seen.begun = monotonic_seconds();
    team_begin(comm);
    pthread_mutex_unlock(&seen.lock);
    epop__interpose_observe(&witness_hooks);
}

/* What was done so far. */
static struct stretch witness_read(void)
{
    pthread_mutex_lock(&seen.lock);
    struct stretch sum = seen.sum;
    sum.seconds = monotonic_seconds() - seen.begun;
    pthread_mutex_unlock(&seen.lock);
    return sum;
}

/* ---- The first probes after a commit ------------------------------------------------------------ */

_Static_assert((int)EPOP_MPI_FIRST_PROBE_FIND == FIRST_PROBE_FIND &&
                   (int)EPOP_MPI_FIRST_PROBE_COUNTS == FIRST_PROBE_COUNTS &&
                   (int)EPOP_MPI_FIRST_PROBE_REPEATS == FIRST_PROBE_REPEATS,
               "what the first probe is goes by the same number");

bool first_probe_open;

static enum first_probe said;
static enum first_probe taken;   /* what was said at the last commit */
static struct stretch_log noted; /* since then */
static int told;                 /* notes of it */

const char *first_probe_read(void)
{
    static char text[200];
    const char *value = getenv("EPOP_FIRST_PROBE");
    int what = value ? first_probe_of(value) : FIRST_PROBE_FIND;
    witness_init();
    if (what >= 0)
        said = (enum first_probe)what;
    else
        snprintf(text, sizeof text, "EPOP_FIRST_PROBE is '%.80s'; it can be find, counts or repeats", value);
    return what < 0 ? text : NULL;
}

int epop_mpi_first_probe(epop_mpi_first_probe_t what)
{
    if (what < EPOP_MPI_FIRST_PROBE_FIND || what > EPOP_MPI_FIRST_PROBE_REPEATS)
        return MPI_ERR_ARG;
    said = (enum first_probe)what;
    return MPI_SUCCESS;
}

void first_probe_begin(bool joins)
{
    noted = (struct stretch_log){.adaptation = world.plan->adaptation, .joins = joins};
    told = 0;
    first_probe_open = true;
    taken = said;
    if (taken == FIRST_PROBE_FIND)
        witness_begin(world.comm);
}

static void close_log(void)
{
    first_probe_open = false;
    witness_end();
}

static void tell_log(void)
{
    epop__job_stretch(&noted, told);
    told = noted.count;
}

/* At 1, 3, 7 and so on, and joining processes, which may repeat one, at the one behind. */
static bool is_due(void)
{
    int64_t number = noted.probe + !noted.joins;
    return noted.full || (number > 1 && !(number & (number - 1)));
}

void first_probe_tell(void)
{
    if (epop__job_settled() == noted.adaptation) {
        close_log();
        return;
    }
    if (said != FIRST_PROBE_FIND)
        taken = said;
    if (taken != FIRST_PROBE_FIND) {
        noted.what = taken;
        noted.probe++;
        close_log();
        tell_log();
        return;
    }
    struct stretch now = witness_read();
    stretch_note(&noted, &now);
    if (!is_due())
        return;
    tell_log();
    if (noted.full)
        close_log();
}
