/* The program's thread follows its calls; the control thread reads what was found out of each loop. */
#include "runtime/job/follow.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/base/ticks.h"
#include "runtime/job/state.h"
#include "runtime/job/stopwatch.h"
#include "runtime/loops/loops.h"
#include "runtime/world/world.h"

#define COMPARISONS 10 /* in the time of a value of MTCT, at most */
#define DRAWN_EVERY 5  /* such times */

/* What is told of a loop. Its places stay; the rest may become another when more of its calls are known. */
struct told {
    _Atomic bool is_loop;
    _Atomic uint64_t id, match;
    _Atomic int outer; /* the lap; LOOPS_NONE: none */
    struct loops_site head, tail;
};

static struct told told[LOOPS_LAPS];
static _Atomic int told_count; /* whose places are there */

/* How it calls MPI, as it was some time ago: the program's thread never waits for who reads it. */
static struct {
    pthread_mutex_t lock;
    struct loops *copy; /* NULL: there is none yet */
    int64_t made;       /* for the program's thread alone: when, in ticks */
} drawn = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* For the program's thread alone. */
static struct loops *loops;
static struct loops_known known[LOOPS_NODES];
static int known_count, compared_edges;
static int64_t compared; /* when they were last, in ticks */
static bool changed;     /* since then */
static int round_followed;
static bool follows_all; /* also before the first probe: there is none */
static unsigned breaks_followed;

/* ---- Places ------------------------------------------------------------------------------------------------ */

/* The file that an address is in, and how far from its beginning. "": in none. */
static const char *file_of(uintptr_t address, uintptr_t *offset)
{
    Dl_info info;
    struct link_map *map;
    *offset = address;
    if (!address || !dladdr1((const void *)address, &info, (void **)&map, RTLD_DL_LINKMAP)) /* NOLINT */
        return "";
    *offset = address - map->l_addr;
    return info.dli_fname;
}

/* The same in all processes that run this program, wherever it was loaded to and the file is. */
static uint64_t mix_place(uint64_t hash, uintptr_t address)
{
    uintptr_t offset;
    const char *path = file_of(address, &offset), *slash = strrchr(path, '/');
    for (const char *c = slash ? slash + 1 : path; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return (hash ^ offset) * UINT64_C(0x100000001b3);
}

static uint64_t id_of(struct loops_site site)
{
    uint64_t hash = mix_place(UINT64_C(0xcbf29ce484222325), site.call);
    return mix_place(hash, site.caller) ^ (uint64_t)site.what;
}

/* ---- The program's thread ---------------------------------------------------------------------------------- */

static void learn_nodes(void)
{
    for (; known_count < loops->node_count; known_count++) {
        struct loops_site site = loops->nodes[known_count].site;
        known[known_count] =
            (struct loops_known){.kind = interpose_kind((enum interpose_function)site.what), .id = id_of(site)};
    }
}

static void tell_places(void)
{
    for (int i = atomic_load(&told_count); i < loops->lap_count; i++) {
        told[i].head = loops->nodes[loops->laps[i].head].site;
        told[i].tail = loops->nodes[loops->laps[i].tail].site;
        atomic_store(&told_count, i + 1);
    }
}

static void draw(int64_t now)
{
    if (pthread_mutex_trylock(&drawn.lock))
        return;
    if (!drawn.copy)
        drawn.copy = malloc(sizeof *drawn.copy);
    if (drawn.copy)
        loops_copy(drawn.copy, loops);
    drawn.made = now;
    pthread_mutex_unlock(&drawn.lock);
}

static void compare_loops(void)
{
    static struct loops_likeness like[LOOPS_LAPS];
    compared_edges = loops->edge_count;
    learn_nodes();
    tell_places();
    loops_compare(loops, known, like);
    for (int i = 0; i < loops->lap_count; i++) {
        atomic_store_explicit(&told[i].id, like[i].id, memory_order_relaxed);
        atomic_store_explicit(&told[i].match, like[i].match, memory_order_relaxed);
        atomic_store_explicit(&told[i].outer, like[i].outer, memory_order_relaxed);
        atomic_store_explicit(&told[i].is_loop, loops->edges[loops->laps[i].edge].closes, memory_order_release);
    }
}

/* When a call followed another that it had not followed before; but not again and again while a program begins. */
static bool is_to_compare(int64_t now)
{
    changed |= compared_edges != loops->edge_count || loops->closes;
    if (!changed || now - compared < job.meter.group / COMPARISONS)
        return false;
    compared = now;
    changed = false;
    return true;
}

/* What was under way when the meter stopped counting is not a lap. Nobody knows what was called before it was on. */
static void keep_up(const struct meter *meter)
{
    if (meter->breaks != breaks_followed)
        loops_break(loops);
    if (meter->round != round_followed)
        loops->at = LOOPS_NONE;
    breaks_followed = meter->breaks;
    round_followed = meter->round;
}

static void called(enum interpose_function function, int64_t now, int64_t in_mpi)
{
    struct meter *meter = &job.meter;
    if (follows_all && meter_is_on(meter) && (!meter_counts(meter) || !meter_is_round(meter)))
        epop__meter_begin(meter, 0, world.size);
    if (!meter_counts(meter) || interpose_kind(function) == '.' || (!loops && !(loops = loops_new())))
        return;
    keep_up(meter);
    struct interpose_place place = interpose_place();
    struct loops_site site = {.call = place.call, .caller = place.caller, .what = (int)function};
    struct loops_ended ended = loops_follow(loops, site, now, in_mpi);
    if (ended.lap == LOOPS_NONE)
        return;
    if (is_to_compare(now))
        compare_loops();
    if (now - drawn.made > DRAWN_EVERY * meter->group)
        draw(now);
    meter_lap(meter, METER_LOOPS + ended.lap, ended.loop, ended.mpi);
}

void follow_start(enum follow which)
{
    follows_all = which == FOLLOW_ALL;
    stopwatch_follow(called);
}

void follow_end(void)
{
    stopwatch_follow(NULL);
    if (!loops)
        return;
    compare_loops();
    draw(ticks());
}

/* ---- The control thread ------------------------------------------------------------------------------------ */

static void add_place(cJSON *json, const char *key, uintptr_t address)
{
    char text[4200];
    uintptr_t offset;
    const char *path = file_of(address, &offset);
    snprintf(text, sizeof text, "%s+%#" PRIxPTR, path, offset);
    cJSON_AddStringToObject(json, key, text);
}

static void add_site(cJSON *json, const char *key, struct loops_site site)
{
    cJSON *object = cJSON_AddObjectToObject(json, key);
    add_place(object, "place", site.call);
    if (site.caller)
        add_place(object, "from", site.caller);
    cJSON_AddStringToObject(object, "mpi", epop__interpose_name((enum interpose_function)site.what));
}

static void add_number(cJSON *json, const char *key, uint64_t number)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, number);
    cJSON_AddStringToObject(json, key, text);
}

bool follow_describe(cJSON *json, int number)
{
    int lap = number - METER_LOOPS;
    if (lap < 0 || lap >= atomic_load(&told_count) || !atomic_load_explicit(&told[lap].is_loop, memory_order_acquire))
        return false;
    uint64_t match = atomic_load_explicit(&told[lap].match, memory_order_relaxed);
    int outer = atomic_load_explicit(&told[lap].outer, memory_order_relaxed);
    add_number(json, "id", atomic_load_explicit(&told[lap].id, memory_order_relaxed));
    if (match)
        add_number(json, "match", match);
    if (outer != LOOPS_NONE)
        cJSON_AddNumberToObject(json, "outer", METER_LOOPS + outer);
    add_site(json, "head", told[lap].head);
    add_site(json, "tail", told[lap].tail);
    return true;
}

/* ---- How it calls MPI -------------------------------------------------------------------------------------- */

static cJSON *call_json(const struct loops_node *node, double tick)
{
    cJSON *json = cJSON_CreateObject();
    add_site(json, "site", node->site);
    cJSON_AddNumberToObject(json, "visits", (double)node->visits);
    cJSON_AddNumberToObject(json, "mpi", (double)node->spent * tick);
    if (node->is_head)
        cJSON_AddTrueToObject(json, "begins");
    if (node->head != LOOPS_NONE)
        cJSON_AddNumberToObject(json, "of", node->head);
    if (node->tail != LOOPS_NONE)
        cJSON_AddNumberToObject(json, "tail", node->tail);
    if (node->reentries)
        cJSON_AddNumberToObject(json, "reentries", (double)node->reentries);
    return json;
}

static cJSON *step_json(const struct loops_edge *edge, double tick)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "from", edge->from);
    cJSON_AddNumberToObject(json, "to", edge->to);
    cJSON_AddNumberToObject(json, "count", (double)edge->count);
    cJSON_AddNumberToObject(json, "seconds", (double)edge->took * tick);
    return json;
}

void follow_draw(cJSON *json, double tick)
{
    pthread_mutex_lock(&drawn.lock);
    const struct loops *l = drawn.copy;
    cJSON *graph = l ? cJSON_AddObjectToObject(json, "graph") : NULL;
    cJSON *calls = cJSON_AddArrayToObject(graph, "calls"), *steps = cJSON_AddArrayToObject(graph, "steps");
    for (int i = 0; graph && i < l->node_count; i++)
        cJSON_AddItemToArray(calls, call_json(&l->nodes[i], tick));
    for (int i = 0; graph && i < l->edge_count; i++)
        if (l->edges[i].count)
            cJSON_AddItemToArray(steps, step_json(&l->edges[i], tick));
    if (graph) {
        cJSON_AddNumberToObject(graph, "lost", (double)l->lost);
        cJSON_AddNumberToObject(graph, "unmeasured", (double)l->unmeasured);
    }
    pthread_mutex_unlock(&drawn.lock);
}
