#include "driver/tune/contest.h"

#include <math.h>
#include <string.h>

/* The fastest of many is so by chance more often than one of two, and is looked at again and again. */
#define LUCK 1.5

/* What is known of chance before anything was measured, as if so many values had been seen to scatter by so much: from
 * two or three values alone nothing could be concluded. */
#define USUAL_FREEDOM 2
#define USUAL_SCATTER 0.02

/* The 95 % quantile of Student's distribution, one-sided; beyond the table good to 2 %. */
static double quantile(int freedom)
{
    static const double table[] = {0, 6.31, 2.92, 2.35, 2.13, 2.02};
    return freedom < 6 ? table[freedom] : 1.645 + 1.9 / freedom;
}

static void begin_round(struct contest *c)
{
    c->left = c->place = 0;
    for (int i = 0; i < c->count; i++)
        if (c->in[i])
            c->order[c->left++] = i;
    memset(c->runs, 0, sizeof c->runs);
    memset(c->apart, 0, sizeof c->apart);
    memset(c->costs[c->rounds], 0, sizeof c->costs[c->rounds]);
}

/* As many of them as there are runs, evenly spread, and the incumbent. */
static void leave_some_out(struct contest *c, double runs)
{
    int kept = runs < 2 ? 2 : (int)runs;
    for (int i = 0; i < c->count; i++)
        c->in[i] = i == c->incumbent || contest_spreads_to(i, kept, c->count);
}

void contest_begin(struct contest *c, int count, int incumbent, double bound, double runs)
{
    *c = (struct contest){.count = count, .incumbent = incumbent, .bound = bound, .winner = incumbent};
    c->back = runs >= 2 * count;
    for (int i = 0; i < count; i++)
        c->in[i] = true;
    if (runs < count)
        leave_some_out(c, runs);
    begin_round(c);
    c->over = c->left < 2;
    c->sure = c->over;
}

int contest_next(const struct contest *c)
{
    if (c->over)
        return -1;
    return c->order[c->place < c->left ? c->place : 2 * c->left - 1 - c->place];
}

/* ---- What was seen ------------------------------------------------------------------------------ */

static double mean_of(const struct contest *c, int candidate)
{
    double sum = 0;
    for (int r = 0; r < c->rounds; r++)
        sum += c->costs[r][candidate];
    return sum / c->rounds;
}

static double mean_of_round(const struct contest *c, int round)
{
    double sum = 0;
    for (int i = 0; i < c->left; i++)
        sum += c->costs[round][c->order[i]];
    return sum / c->left;
}

static int fastest(const struct contest *c)
{
    int best = c->order[0];
    for (int i = 1; i < c->left; i++)
        if (mean_of(c, c->order[i]) < mean_of(c, best))
            best = c->order[i];
    return best;
}

/* By how much runs of a candidate differ within a round. A drift makes there less back a line over the places. */
static void note_chance(struct contest *c)
{
    double n = c->left, middle = (n - 1) / 2, mean = 0, slope = 0, width = 0;
    if (!c->back || c->left < 3)
        return;
    for (int i = 0; i < c->left; i++)
        mean += c->apart[c->order[i]] / n;
    for (int i = 0; i < c->left; i++) {
        slope += (i - middle) * (c->apart[c->order[i]] - mean);
        width += (i - middle) * (i - middle);
    }
    for (int i = 0; i < c->left; i++) {
        double rest = c->apart[c->order[i]] - mean - slope / width * (i - middle);
        c->chance += rest * rest;
    }
    c->freedom += c->left - 2;
}

/* What is left of the costs when the candidate's mean and the round's are taken away. */
static double squares_over_rounds(const struct contest *c)
{
    double sum = 0, all = 0;
    for (int r = 0; r < c->rounds; r++)
        all += mean_of_round(c, r) / c->rounds;
    for (int i = 0; i < c->left; i++)
        for (int r = 0; r < c->rounds; r++) {
            double rest = c->costs[r][c->order[i]] - mean_of(c, c->order[i]) - mean_of_round(c, r) + all;
            sum += rest * rest;
        }
    return sum;
}

/* The width of doubt: of the difference of two means of n values, of which the sum of squares of chance is known. */
static double width_of_doubt(double squares, int freedom, int n)
{
    double variance = (squares + USUAL_FREEDOM * USUAL_SCATTER * USUAL_SCATTER) / (freedom + USUAL_FREEDOM);
    return LUCK * quantile(freedom + USUAL_FREEDOM) * sqrt(2 * variance / n);
}

/* How far the difference of two means can be off. Few values can be near each other by chance: the larger of what is
 * known counts. Infinite: one round says nothing of it. */
static double doubt(const struct contest *c)
{
    int freedom = (c->left - 1) * (c->rounds - 1);
    if (freedom < 1)
        return INFINITY;
    double over = width_of_doubt(squares_over_rounds(c), freedom, c->rounds);
    /* of single runs: there less back has twice their variance, and their mean half of it */
    double within = c->freedom ? width_of_doubt(c->chance / 2, c->freedom, 2 * c->rounds) : 0;
    return over > within ? over : within;
}

/* ---- What follows from it ----------------------------------------------------------------------- */

/* No other one can be faster than the fastest by more than the bound. */
static bool is_sure(const struct contest *c, int best, double doubt)
{
    for (int i = 0; i < c->left; i++)
        if (c->order[i] != best && mean_of(c, c->order[i]) - mean_of(c, best) - doubt < -log1p(c->bound))
            return false;
    return true;
}

/* Not even after the last round that there can be, by chance as it was so far. */
static bool is_hopeless(const struct contest *c, int best, double doubt)
{
    return c->rounds >= 3 && !is_sure(c, best, doubt * sqrt((double)c->rounds / CONTEST_ROUNDS));
}

/* Where it is not sure which is the fastest, the incumbent stays unless that is slower beyond doubt. */
static void decide(struct contest *c, bool sure)
{
    int best = fastest(c);
    double chance = doubt(c), least = log1p(c->bound);
    double gain = mean_of(c, c->incumbent) - mean_of(c, best);
    if (!sure && isfinite(chance) && chance > least)
        least = chance;
    c->winner = gain > least ? best : c->incumbent;
    c->over = true;
    c->sure = sure;
}

/* The fastest of those that stay are as many as half of all. */
static void drop_half(struct contest *c)
{
    int keep = (c->left + 1) / 2;
    for (int i = 0; i < c->left; i++) {
        int faster = 0, one = c->order[i];
        for (int k = 0; k < c->left; k++)
            faster += mean_of(c, c->order[k]) < mean_of(c, one);
        c->in[one] = faster < keep || one == c->incumbent;
    }
}

static void finish_round(struct contest *c)
{
    for (int i = 0; i < c->left; i++)
        c->costs[c->rounds][c->order[i]] /= c->runs[c->order[i]];
    c->rounds++;
    note_chance(c);
    bool sure = is_sure(c, fastest(c), doubt(c));
    if (sure || c->rounds == CONTEST_ROUNDS || is_hopeless(c, fastest(c), doubt(c))) {
        decide(c, sure);
        return;
    }
    if (c->left > 2)
        drop_half(c);
    begin_round(c);
}

/* Without the incumbent there is nothing to compare with. */
static void leave_out(struct contest *c, int candidate)
{
    c->in[candidate] = false;
    begin_round(c);
    if (c->left < 2 || candidate == c->incumbent)
        contest_end(c);
}

void contest_take(struct contest *c, double cost)
{
    int one = contest_next(c);
    if (one < 0)
        return;
    if (!(cost > 0)) {
        leave_out(c, one);
        return;
    }
    c->costs[c->rounds][one] += log(cost);
    c->apart[one] += c->place < c->left ? log(cost) : -log(cost);
    c->runs[one]++;
    if (++c->place == (c->back ? 2 : 1) * c->left)
        finish_round(c);
}

/* The first round counts as far as it came: there is nothing else. */
void contest_end(struct contest *c)
{
    int seen = 0;
    bool compares = c->in[c->incumbent] && (c->rounds > 0 || c->runs[c->incumbent]);
    if (c->over)
        return;
    for (int i = 0; i < c->left && c->rounds == 0; i++)
        if (c->runs[c->order[i]])
            c->order[seen++] = c->order[i];
    if (c->rounds == 0) {
        c->left = seen;
        for (int i = 0; i < seen; i++)
            c->costs[0][c->order[i]] /= c->runs[c->order[i]];
        c->rounds = 1;
    }
    c->over = true;
    if (compares)
        decide(c, false);
}

double contest_gain(const struct contest *c)
{
    return c->winner == c->incumbent ? 1 : exp(mean_of(c, c->incumbent) - mean_of(c, c->winner));
}
