#include "driver/tune/search.h"

#include <math.h>

#define TOGETHER 16 /* so many combinations are tried in one contest */

/* ---- The stages --------------------------------------------------------------------------------- */

static void add_stage(struct search *s, const struct search_stage *stage)
{
    if (s->stage_count < SEARCH_STAGES)
        s->stages[s->stage_count++] = *stage;
}

static void add_knob(const struct search *s, struct search_stage *stage, int knob)
{
    stage->has[knob] = true;
    stage->ranks |= s->knobs[knob].ranks;
    stage->per_visit |= s->knobs[knob].per_visit;
}

/* Knobs of one sort. */
enum sort { SORT_PLAIN, SORT_RANKS, SORT_VISIT };

static bool is_of(const struct search *s, int knob, enum sort sort)
{
    const struct knob *k = &s->knobs[knob];
    return k->count > 1 && sort == (k->ranks ? SORT_RANKS : k->per_visit ? SORT_VISIT : SORT_PLAIN);
}

static bool fit_together(const struct search *s, enum sort sort)
{
    int product = 1;
    for (int k = 0; k < s->knob_count && product <= TOGETHER; k++)
        if (is_of(s, k, sort))
            product *= s->knobs[k].count;
    return product <= TOGETHER;
}

/* In one contest, or each in one of its own. */
static void add_stages(struct search *s, enum sort sort, bool again)
{
    struct search_stage all = {.again = again};
    bool together = fit_together(s, sort), any = false;
    for (int k = 0; k < s->knob_count; k++) {
        struct search_stage one = {.again = again};
        if (!is_of(s, k, sort))
            continue;
        any = true;
        add_knob(s, together ? &all : &one, k);
        if (!together)
            add_stage(s, &one);
    }
    if (together && any)
        add_stage(s, &all);
}

int search_knob_of_ranks(const struct search *s)
{
    for (int k = 0; k < s->knob_count; k++)
        if (is_of(s, k, SORT_RANKS))
            return k;
    return -1;
}

void search_begin(struct search *s, const struct knob *knobs, int count, double bound)
{
    *s = (struct search){.knobs = knobs, .knob_count = count, .bound = bound, .gain = 1};
    for (int k = 0; k < count; k++)
        s->best.at[k] = knobs[k].usual;
    add_stages(s, SORT_PLAIN, false);
    add_stages(s, SORT_RANKS, false);
    add_stages(s, SORT_PLAIN, true);
    add_stages(s, SORT_VISIT, false);
    s->over = s->sure = s->stage_count == 0;
}

/* ---- Settings and candidates -------------------------------------------------------------------- */

int search_candidates(const struct search *s)
{
    int product = 1;
    for (int k = 0; k < s->knob_count; k++)
        if (s->stages[s->stage].has[k])
            product *= s->knobs[k].count;
    return product;
}

int search_candidate(const struct search *s)
{
    return contest_next(&s->contest);
}

static int candidate_of(const struct search *s, const struct setting *setting)
{
    int candidate = 0;
    for (int k = 0; k < s->knob_count; k++)
        if (s->stages[s->stage].has[k])
            candidate = candidate * s->knobs[k].count + setting->at[k];
    return candidate;
}

static struct setting setting_of(const struct search *s, int candidate)
{
    struct setting setting = s->best;
    for (int k = s->knob_count - 1; k >= 0; k--)
        if (s->stages[s->stage].has[k]) {
            setting.at[k] = candidate % s->knobs[k].count;
            candidate /= s->knobs[k].count;
        }
    return setting;
}

/* ---- From one contest to the next --------------------------------------------------------------- */

/* Another number of ranks than at first? */
static bool has_moved(const struct search *s)
{
    int ranks = search_knob_of_ranks(s);
    return ranks >= 0 && s->best.at[ranks] != s->knobs[ranks].usual;
}

static bool is_of_use(const struct search *s)
{
    const struct search_stage *stage = &s->stages[s->stage];
    return (!stage->ranks || !s->ranks_kept) && (!stage->again || has_moved(s)) && search_candidates(s) <= CONTEST_MOST;
}

static void next_stage(struct search *s)
{
    s->begun = false;
    do
        s->stage++;
    while (s->stage < s->stage_count && !is_of_use(s));
    s->over = s->stage == s->stage_count;
}

static void adopt(struct search *s)
{
    if (!s->stages[s->stage].ranks)
        s->gain *= contest_gain(&s->contest);
    s->sure = s->contest.sure && (s->sure || s->stage == 0);
    s->best = setting_of(s, s->contest.winner);
}

bool search_wants_room(const struct search *s)
{
    return !s->over && !s->begun;
}

void search_room(struct search *s, double runs)
{
    contest_begin(&s->contest, search_candidates(s), candidate_of(s, &s->best), s->bound, runs);
    s->begun = true;
}

int search_contests_left(const struct search *s)
{
    return s->stage_count - s->stage;
}

struct setting search_next(const struct search *s)
{
    return s->over || !s->begun ? s->best : setting_of(s, contest_next(&s->contest));
}

struct setting search_so_far(const struct search *s)
{
    struct search copy = *s;
    search_end(&copy);
    return copy.best;
}

bool search_waits_for_visit(const struct search *s)
{
    return !s->over && s->stages[s->stage].per_visit;
}

/* The best of the rest, as known at that time. */
static void note_ranks(struct search *s, double cost)
{
    int ranks = search_knob_of_ranks(s);
    if (ranks < 0 || !s->stages[s->stage].ranks || !(cost > 0))
        return;
    int at = search_next(s).at[ranks];
    s->at_ranks[at].log_cost += log(cost);
    s->at_ranks[at].runs++;
}

void search_take(struct search *s, double cost)
{
    if (s->over || !s->begun)
        return;
    s->runs++;
    note_ranks(s, cost);
    contest_take(&s->contest, cost);
    if (contest_next(&s->contest) >= 0)
        return;
    adopt(s);
    next_stage(s);
}

void search_keep_ranks(struct search *s)
{
    s->ranks_kept = true;
    s->begun = false;
    if (!s->over && !is_of_use(s))
        next_stage(s);
}

void search_end(struct search *s)
{
    if (!s->over && s->begun) {
        contest_end(&s->contest);
        adopt(s);
    }
    s->sure &= s->over;
    s->over = true;
}

double search_cost_at(const struct search *s, int index)
{
    return s->at_ranks[index].runs ? exp(s->at_ranks[index].log_cost / s->at_ranks[index].runs) : 0;
}
