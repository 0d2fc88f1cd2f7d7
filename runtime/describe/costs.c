/* What the indices of a distribution cost. */
#include "runtime/describe/costs.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

#define PIECES   16      /* for each rank, at most */
#define REACH    8       /* of so many indices, that they wander by one between two balances */
#define TRIED    16      /* distances in either direction at a time */
#define CLEARLY  0.8     /* of what is wrong if they have not */
#define HEAVIEST 1000000 /* a weight */

/* Up to where the next one begins. */
struct piece {
    int64_t first;
    double each;   /* what one of its indices costs */
    double before; /* what all before it cost */
};

struct costs {
    struct costs *next;
    int64_t indices;
    struct piece *pieces; /* from index 0 on, in order, none of them empty */
    size_t count, room;
    char name[];
};

static struct costs *known;

/* ---- By name ------------------------------------------------------------------------------------ */

void costs_forget(void)
{
    while (known) {
        struct costs *costs = known;
        known = costs->next;
        free(costs->pieces);
        free(costs);
    }
}

static struct costs *costs_new(const char *name)
{
    struct costs *costs = calloc(1, sizeof *costs + strlen(name) + 1);
    if (!costs || array_reserve(&costs->pieces, &costs->room, 1, sizeof *costs->pieces)) {
        free(costs);
        return NULL;
    }
    strcpy(costs->name, name);
    costs->next = known;
    return known = costs;
}

struct costs *costs_of(const char *name, int64_t count)
{
    struct costs *costs = known;
    while (costs && strcmp(costs->name, name))
        costs = costs->next;
    if (!costs)
        costs = costs_new(name);
    if (costs && costs->indices != count)
        costs->count = 0;
    if (costs && !costs->count)
        costs->pieces[costs->count++] = (struct piece){.each = 1};
    if (costs)
        costs->indices = count;
    return costs;
}

/* ---- The step function -------------------------------------------------------------------------- */

/* In which that index is; the first or the last one where it is beyond them. */
static size_t piece_of(const struct costs *costs, int64_t index)
{
    size_t low = 0, high = costs->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (costs->pieces[middle].first <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t length_of(const struct costs *costs, size_t piece)
{
    int64_t end = piece + 1 < costs->count ? costs->pieces[piece + 1].first : costs->indices;
    return end - costs->pieces[piece].first;
}

static void add_up(struct costs *costs)
{
    double sum = 0;
    for (size_t i = 0; i < costs->count; i++) {
        costs->pieces[i].before = sum;
        sum += costs->pieces[i].each * (double)length_of(costs, i);
    }
}

/* What all before that index cost. Beyond the ends they cost what they do there. */
static double sum_before(const struct costs *costs, int64_t index)
{
    const struct piece *p = &costs->pieces[piece_of(costs, index)];
    return p->before + (double)(index - p->first) * p->each;
}

/* ---- Have they wandered? ------------------------------------------------------------------------ */

/* The blocks, and what part of all costs each of them has. */
struct measured_blocks {
    const int64_t *starts;
    int ranks;
    double *shares, *foretold;
};

/* If all costs are so many indices further on. */
static void foretell(const struct costs *costs, struct measured_blocks *b, int64_t distance)
{
    double first = sum_before(costs, -distance), before = first;
    double all = sum_before(costs, costs->indices - distance) - first;
    for (int rank = 0; rank < b->ranks; rank++) {
        double to = sum_before(costs, b->starts[rank + 1] - distance);
        b->foretold[rank] = fmax(to - before, 0) / all; /* differences of large sums may be less */
        before = to;
    }
}

static double wrong_by(const struct costs *costs, struct measured_blocks *b, int64_t distance)
{
    double wrong = 0;
    foretell(costs, b, distance);
    for (int rank = 0; rank < b->ranks; rank++)
        wrong += fabs(b->shares[rank] - b->foretold[rank]);
    return wrong;
}

/* How many indices further they are: first it is tried in large steps, then in smaller ones around the best so far. */
static int64_t distance_of(const struct costs *costs, struct measured_blocks *b)
{
    int64_t best = 0, step = costs->indices / REACH / TRIED + 1;
    const double stays = wrong_by(costs, b, 0);
    double least = stays;
    for (bool last = false; !last; step = step / TRIED * 2 + 1) {
        const int64_t around = best;
        last = step == 1;
        for (int64_t k = -TRIED; k <= TRIED; k++) {
            double wrong = wrong_by(costs, b, around + k * step);
            if (wrong < least) {
                least = wrong;
                best = around + k * step;
            }
        }
    }
    return least < CLEARLY * stays ? best : 0;
}

/* What is beyond an end is forgotten. */
static void move_by(struct costs *costs, int64_t distance)
{
    size_t kept = 0;
    for (size_t i = 0; i < costs->count; i++) {
        struct piece p = costs->pieces[i];
        int64_t end = i + 1 < costs->count ? costs->pieces[i + 1].first + distance : costs->indices;
        p.first = kept ? p.first + distance : 0;
        if (end > 0 && p.first < costs->indices)
            costs->pieces[kept++] = p;
    }
    costs->count = kept;
    add_up(costs);
}

/* ---- What was measured -------------------------------------------------------------------------- */

/* One that has indices and computed nothing has next to nothing. */
static void take_shares(struct measured_blocks *b, const int *loads)
{
    double sum = 0;
    for (int rank = 0; rank < b->ranks; rank++) {
        bool some = b->starts[rank + 1] > b->starts[rank];
        b->shares[rank] = !some ? 0 : loads[rank] > 0 ? loads[rank] : 1;
        sum += b->shares[rank];
    }
    for (int rank = 0; rank < b->ranks; rank++)
        b->shares[rank] /= sum;
}

static int by_first(const void *one, const void *other)
{
    const struct piece *a = one, *b = other;
    return (a->first > b->first) - (a->first < b->first);
}

/* So that no piece is in two blocks. There is room for them. */
static void split(struct costs *costs, const struct measured_blocks *b)
{
    const size_t before = costs->count;
    struct costs sorted = *costs;
    for (int rank = 1; rank < b->ranks; rank++) {
        struct piece p = costs->pieces[piece_of(&sorted, b->starts[rank])];
        bool new =
            p.first < b->starts[rank] && b->starts[rank] < costs->indices && b->starts[rank] > b->starts[rank - 1];
        p.first = b->starts[rank];
        if (new)
            costs->pieces[costs->count++] = p;
    }
    if (costs->count > before)
        qsort(costs->pieces, costs->count, sizeof *costs->pieces, by_first);
    add_up(costs);
}

/* As far as a block was foretold, the detail in it holds; the rest may be anywhere in it. */
static void fit_block(struct costs *costs, const struct measured_blocks *b, int rank)
{
    const int64_t indices = b->starts[rank + 1] - b->starts[rank];
    const size_t begin = piece_of(costs, b->starts[rank]), end = piece_of(costs, b->starts[rank + 1] - 1) + 1;
    const double share = b->shares[rank], kept = fmin(share / b->foretold[rank], b->foretold[rank] / share);
    double all = 0;
    for (size_t i = begin; i < end; i++)
        all += costs->pieces[i].each * (double)length_of(costs, i);
    for (size_t i = begin; i < end; i++)
        costs->pieces[i].each = share * (kept * costs->pieces[i].each / all + (1 - kept) / (double)indices);
}

/* ---- Not too many pieces ------------------------------------------------------------------------ */

/* Puts together neighbours of which the shorter one costs less than that more, or less, than if they were alike. */
static void merge(struct costs *costs, double difference)
{
    size_t last = 0;
    for (size_t i = 1; i < costs->count; i++) {
        const struct piece p = costs->pieces[i];
        struct piece *into = &costs->pieces[last];
        double here = (double)length_of(costs, i), there = (double)(p.first - into->first);
        if (fabs(p.each - into->each) * fmin(here, there) < difference)
            into->each = (into->each * there + p.each * here) / (there + here);
        else
            costs->pieces[++last] = p;
    }
    costs->count = last + 1;
}

/* All costs together are 1. */
static void thin_out(struct costs *costs, size_t most)
{
    for (double difference = 1e-9; costs->count > most; difference *= 2)
        merge(costs, difference);
    add_up(costs);
}

/* ------------------------------------------------------------------------------------------------- */

int costs_learn(struct costs *costs, const int64_t *starts, const int *loads, int ranks)
{
    if (!costs->indices)
        return 0;
    double *both = malloc(2 * (size_t)ranks * sizeof *both);
    struct measured_blocks b = {.starts = starts, .ranks = ranks};
    if (!both || array_reserve(&costs->pieces, &costs->room, costs->count + (size_t)ranks, sizeof *costs->pieces)) {
        free(both);
        return -1;
    }
    b.shares = both;
    b.foretold = both + ranks;
    take_shares(&b, loads);
    add_up(costs);
    move_by(costs, distance_of(costs, &b));
    foretell(costs, &b, 0);
    split(costs, &b);
    for (int rank = 0; rank < ranks; rank++)
        if (starts[rank + 1] > starts[rank])
            fit_block(costs, &b, rank);
    thin_out(costs, PIECES * (size_t)ranks);
    free(both);
    return 0;
}

void costs_weigh(const struct costs *costs, int64_t first, int64_t rows, int64_t *weights)
{
    double most = 0;
    for (size_t i = 0; i < costs->count; i++)
        most = fmax(most, costs->pieces[i].each);
    size_t piece = piece_of(costs, first);
    for (int64_t i = 0; i < rows; i++) {
        while (piece + 1 < costs->count && costs->pieces[piece + 1].first <= first + i)
            piece++;
        weights[i] = 1 + (int64_t)(HEAVIEST * costs->pieces[piece].each / most);
    }
}
