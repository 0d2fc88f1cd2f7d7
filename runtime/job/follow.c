/* The program's thread follows its calls; the control thread reads what was found out of each loop. */
#include "runtime/job/follow.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "interpose/interpose.h"
#include "runtime/base/ticks.h"
#include "runtime/job/state.h"
#include "runtime/job/stopwatch.h"
#include "runtime/loops/follower.h"
#include "runtime/world/world.h"

#define COMPARISONS 10 /* in the time of a value of MTCT, at most */
#define DRAWN_EVERY 5  /* such times */

/* How it calls MPI, as it was some time ago: the program's thread never waits for who reads it. */
static struct {
    pthread_mutex_t lock;
    struct loops *copy; /* NULL: there is none yet */
    int64_t made;       /* for the program's thread alone: when, in ticks */
} drawn = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct follower follower;

/* For the program's thread alone. */
static int round_followed;
static bool follows_all; /* also before the first probe: there is none */
static unsigned breaks_followed;

/* ---- The program's thread ---------------------------------------------------------------------------------- */

static void draw(int64_t now)
{
    if (pthread_mutex_trylock(&drawn.lock))
        return;
    if (!drawn.copy)
        drawn.copy = malloc(sizeof *drawn.copy);
    if (drawn.copy)
        loops_copy(drawn.copy, follower.loops);
    drawn.made = now;
    pthread_mutex_unlock(&drawn.lock);
}

/* What was under way when the meter stopped counting is not a lap. Nobody knows what was called before it was on. */
static void keep_up(const struct meter *meter)
{
    if (meter->round != round_followed)
        follower_begin_anew(&follower);
    else if (meter->breaks != breaks_followed)
        follower_break(&follower);
    breaks_followed = meter->breaks;
    round_followed = meter->round;
}

static void called(enum interpose_function function, int64_t now, int64_t in_mpi)
{
    struct meter *meter = &job.meter;
    if (follows_all && meter_is_on(meter) && (!meter_counts(meter) || !meter_is_round(meter)))
        epop__meter_begin(meter, 0, world.size);
    if (!meter_counts(meter))
        return;
    keep_up(meter);
    struct loops_ended ended = follower_called(&follower, function, now, in_mpi, meter->group / COMPARISONS);
    if (ended.lap == LOOPS_NONE)
        return;
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
    if (!follower.loops)
        return;
    follower_compare(&follower);
    draw(ticks());
}

/* ---- The control thread ------------------------------------------------------------------------------------ */

bool follow_describe(cJSON *json, int number)
{
    int lap = number - METER_LOOPS, outer = follower_outer(&follower, lap);
    if (!follower_describe(&follower, lap, json))
        return false;
    if (outer != LOOPS_NONE)
        cJSON_AddNumberToObject(json, "outer", METER_LOOPS + outer);
    return true;
}

/* ---- How it calls MPI -------------------------------------------------------------------------------------- */

static cJSON *call_json(const struct loops_node *node, double tick)
{
    cJSON *json = cJSON_CreateObject();
    follower_add_site(json, "site", node->site);
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
