/* How jobs share a rate: one number for what each node has moved, and a heap of the transfers by when that ends them.
 */
#include "scheduler/simulated/rates.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/array.h"

/* ---- The heap ----------------------------------------------------------------------------------- */

static bool comes_before(const struct transfer *a, const struct transfer *b)
{
    if (a->ends < b->ends || a->ends > b->ends)
        return a->ends < b->ends;
    return a->job < b->job;
}

/* Into the hole at `at`, or above it. */
static void sift_up(struct rate *rate, size_t at, const struct transfer *transfer)
{
    for (; at && comes_before(transfer, &rate->first[(at - 1) / 2]); at = (at - 1) / 2)
        rate->first[at] = rate->first[(at - 1) / 2];
    rate->first[at] = *transfer;
}

/* The hole goes down to where it has nothing below it. */
static size_t sink_hole(struct rate *rate, size_t at)
{
    for (size_t child = 2 * at + 1; child < rate->count; child = 2 * at + 1) {
        if (child + 1 < rate->count && comes_before(&rate->first[child + 1], &rate->first[child]))
            child++;
        rate->first[at] = rate->first[child];
        at = child;
    }
    return at;
}

static struct transfer take_out(struct rate *rate, size_t at)
{
    struct transfer taken = rate->first[at], last = rate->first[--rate->count];
    if (at < rate->count)
        sift_up(rate, sink_hole(rate, at), &last);
    return taken;
}

/* ---- Who has how much --------------------------------------------------------------------------- */

void rate_init(struct rate *rate, double all, double link)
{
    *rate = (struct rate){.all = all > 0 ? all : INFINITY, .link = link > 0 ? link : INFINITY};
}

void rate_free(struct rate *rate)
{
    free(rate->first);
    *rate = (struct rate){0};
}

bool rate_takes_time(const struct rate *rate)
{
    return isfinite(rate->all) || isfinite(rate->link);
}

/* Up to now nothing has changed. */
static void bring_up(struct rate *rate, double now)
{
    double bytes = rate->level * (now - rate->since);
    rate->through += bytes;
    rate->moved += bytes * (double)rate->nodes;
    rate->since = now;
}

/* Nodes begin or end; without any, the count of bytes begins anew, and so stays exact. */
static void share_out(struct rate *rate, int nodes)
{
    rate->nodes += nodes;
    rate->level = rate->nodes ? fmin(rate->link, rate->all / (double)rate->nodes) : 0;
    rate->through = rate->nodes ? rate->through : 0;
}

int rate_begin(struct rate *rate, double now, size_t job, double bytes, int nodes)
{
    if (array_reserve(&rate->first, &rate->room, rate->count + 1, sizeof *rate->first))
        return -1;
    bring_up(rate, now);
    struct transfer transfer = {.ends = rate->through + bytes / nodes, .job = job, .nodes = nodes};
    rate->asked += bytes;
    sift_up(rate, rate->count++, &transfer);
    share_out(rate, nodes);
    return 0;
}

bool rate_next(const struct rate *rate, double *time)
{
    if (!rate->count)
        return false;
    *time = rate->since + fmax(0, rate->first->ends - rate->through) / rate->level;
    return true;
}

size_t rate_finish(struct rate *rate, double now)
{
    bring_up(rate, now);
    struct transfer over = take_out(rate, 0);
    rate->through = over.ends; /* but for rounding it is */
    share_out(rate, -over.nodes);
    return over.job;
}

double rate_leave(struct rate *rate, double now, size_t job)
{
    size_t at = 0;
    while (rate->first[at].job != job)
        at++;
    bring_up(rate, now);
    struct transfer left = take_out(rate, at);
    double bytes = fmax(0, left.ends - rate->through) * left.nodes;
    rate->asked -= bytes;
    share_out(rate, -left.nodes);
    return bytes;
}

/* ---- Counted anew ------------------------------------------------------------------------------- */

int rate_check(const struct rate *rate, struct error *error)
{
    double rest = 0, share = rate->level * (double)rate->nodes;
    long nodes = 0;
    for (const struct transfer *each = rate->first; each < rate->first + rate->count; each++) {
        nodes += each->nodes;
        rest += fmax(0, each->ends - rate->through) * each->nodes;
    }
    if (nodes != rate->nodes || share > rate->all * (1 + 1e-9) || rate->level > rate->link)
        return error_set(error, ERROR_FAILED,
                         "%ld nodes (%ld counted) share %.10g bytes per second, of %.10g there are", rate->nodes, nodes,
                         share, rate->all);
    if (fabs(rate->moved + rest - rate->asked) > 1e-6 * rate->asked)
        return error_set(error, ERROR_FAILED, "%.10g bytes were moved and %.10g are left, of %.10g to move",
                         rate->moved, rest, rate->asked);
    return 0;
}
