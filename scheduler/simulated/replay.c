/* Recorded runs: see replay.h. */
#include "scheduler/simulated/replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool same_time(double a, double b)
{
    return fabs(a - b) <= 1e-6 + 1e-12 * fabs(a);
}

static bool same(const struct decision_record *a, const struct decision_record *b)
{
    const struct decision *x = &a->decision, *y = &b->decision;
    return same_time(a->time, b->time) && x->kind == y->kind && x->job == y->job && x->from == y->from &&
           x->to == y->to && x->count == y->count && (x->kind != DECISION_RESERVE || same_time(x->time, y->time)) &&
           (!x->count || !memcmp(x->nodes, y->nodes, (size_t)x->count * sizeof *x->nodes));
}

static void describe(char *text, size_t size, const struct decision_record *record)
{
    const struct decision *decision = &record->decision;
    int used = snprintf(text, size, "at %.10g ", record->time);
    text += used, size -= (size_t)used;
    if (decision->kind == DECISION_RESIZE)
        snprintf(text, size, "resize of job %" PRId64 " from %d to %d nodes", decision->job, decision->from,
                 decision->to);
    else if (decision->kind == DECISION_START)
        snprintf(text, size, "start of job %" PRId64 " on %d nodes from node %d on", decision->job, decision->to,
                 decision->count ? decision->nodes[0] : 0);
    else
        snprintf(text, size, "reservation of %d nodes at %.10g for job %" PRId64, decision->to, decision->time,
                 decision->job);
}

int replay_compare(struct run *run, struct error *error)
{
    const struct schedule *recorded = run->simulation->replay;
    const struct decision_record *is = &run->schedule->decisions[run->schedule->decision_count - 1];
    size_t at = run->compared;
    char text[200], other[200] = "nothing more";
    if (!recorded)
        return 0;
    if (at < recorded->decision_count && same(is, &recorded->decisions[at])) {
        run->compared++;
        return 0;
    }
    describe(text, sizeof text, is);
    if (at < recorded->decision_count)
        describe(other, sizeof other, &recorded->decisions[at]);
    return error_set(error, ERROR_FAILED, "the replay differs in decision %zu: %s; recorded is %s%s", at + 1, text,
                     other, strncmp(text, other, sizeof text) ? "" : " (on other nodes)");
}

int replay_end(const struct run *run, struct error *error)
{
    const struct schedule *recorded = run->simulation->replay;
    char text[200];
    if (!recorded || run->compared == recorded->decision_count)
        return 0;
    describe(text, sizeof text, &recorded->decisions[run->compared]);
    return error_set(error, ERROR_FAILED, "the replay ends after %zu decisions; recorded is then %s", run->compared,
                     text);
}
