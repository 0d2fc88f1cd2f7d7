/* Writing down what happens: see recording.h. */
#include "scheduler/simulated/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

static int copy_nodes(int **copy, const int *nodes, int count)
{
    *copy = NULL;
    if (!count)
        return 0;
    if (!(*copy = malloc((size_t)count * sizeof **copy)))
        return -1;
    memcpy(*copy, nodes, (size_t)count * sizeof **copy);
    return 0;
}

int record_decision(struct schedule *schedule, double time, const struct decision *decision)
{
    struct decision_record record = {.time = time, .decision = *decision};
    int *nodes;
    if (array_reserve(&schedule->decisions, &schedule->decision_room, schedule->decision_count + 1,
                      sizeof *schedule->decisions) ||
        copy_nodes(&nodes, decision->nodes, decision->count))
        return -1;
    record.decision.nodes = nodes;
    schedule->decisions[schedule->decision_count++] = record;
    return 0;
}

int record_event(struct schedule *schedule, double time, char *text)
{
    if (!text ||
        array_reserve(&schedule->events, &schedule->event_room, schedule->event_count + 1, sizeof *schedule->events)) {
        free(text);
        return -1;
    }
    schedule->events[schedule->event_count++] = (struct event_record){.time = time, .text = text};
    return 0;
}

static struct stay *last(const struct job_record *job)
{
    return job->stay_count && isinf(job->stays[job->stay_count - 1].end) ? &job->stays[job->stay_count - 1] : NULL;
}

const struct stay *record_held(const struct job_record *job)
{
    static const struct stay nothing;
    const struct stay *stay = last(job);
    return stay ? stay : &nothing;
}

/* A stay of no length did not take place. */
void record_none(struct job_record *job, double time)
{
    struct stay *stay = last(job);
    if (!stay)
        return;
    stay->end = time;
    if (stay->begin < time)
        return;
    free(stay->nodes);
    job->stay_count--;
}

/* `nodes` is the record's from now on, also on failure. */
static int begin_stay(struct job_record *job, double time, int *nodes, int count)
{
    size_t room = (size_t)job->stay_room;
    record_none(job, time);
    if (!nodes || array_reserve(&job->stays, &room, (size_t)job->stay_count + 1, sizeof *job->stays)) {
        free(nodes);
        return -1;
    }
    job->stay_room = (int)room;
    job->stays[job->stay_count++] = (struct stay){.begin = time, .end = INFINITY, .nodes = nodes, .count = count};
    return 0;
}

int record_more(struct job_record *job, double time, const int *nodes, int count)
{
    const struct stay *held = record_held(job);
    int all = held->count + count, *merged = malloc((size_t)all * sizeof *merged);
    for (int i = 0, a = 0, b = 0; merged && i < all; i++)
        if (b == count || (a < held->count && held->nodes[a] < nodes[b]))
            merged[i] = held->nodes[a++];
        else
            merged[i] = nodes[b++];
    return begin_stay(job, time, merged, all);
}

int record_fewer(struct job_record *job, double time, const int *nodes, int count)
{
    const struct stay *held = record_held(job);
    int *rest = malloc((size_t)held->count * sizeof *rest), kept = 0;
    for (int i = 0, b = 0; rest && i < held->count; i++)
        if (b < count && held->nodes[i] == nodes[b])
            b++;
        else
            rest[kept++] = held->nodes[i];
    return begin_stay(job, time, rest, kept);
}
