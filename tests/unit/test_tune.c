/*
 * The tuning driver's search: contests between settings whose costs are known on paper, with chance and drift from a
 * generator, and what the register of tunables takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <epop/tune.h>

#include "driver/tune/budget.h"
#include "driver/tune/contest.h"
#include "driver/tune/search.h"
#include "epop_api/tune.h"

#define SEEDS 200

static uint64_t seed;

/* Evenly between -1 and 1. */
static double chance(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / (double)(1ull << 52) - 1;
}

/* ---- One contest -------------------------------------------------------------------------------- */

struct costs {
    const double *of; /* each candidate */
    double noise;     /* as 0.05: so much more or less */
    double drift;     /* of each run, of the first one's cost */
    int unable;       /* a candidate that cannot be run; -1: none */
};

/* Runs it to its end; the number of runs. */
static int hold(struct contest *c, const struct costs *costs)
{
    int runs = 0;
    for (int one; (one = contest_next(c)) >= 0; runs++) {
        double cost = costs->of[one] * (1 + costs->noise * chance()) * (1 + costs->drift * runs);
        contest_take(c, one == costs->unable ? 0 : cost);
    }
    return runs;
}

/* How often it wins. */
static int wins(int winner, const double *of, int count, int incumbent, double noise, double drift)
{
    int won = 0;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct contest c;
        uint64_t kept = seed;
        contest_begin(&c, count, incumbent, 0.02, INFINITY);
        hold(&c, &(struct costs){of, noise, drift, -1});
        won += c.winner == winner;
        seed = kept;
    }
    return won;
}

static const double slopes[] = {1.4, 1.15, 1, 1.1, 1.6};
static const double equals[] = {1, 1, 1, 1, 1, 1};

static void finds_the_fastest(void **state)
{
    (void)state;
    assert_int_equal(wins(2, slopes, 5, 4, 0, 0), SEEDS);
    assert_int_equal(wins(2, slopes, 5, 0, 0.03, 0), SEEDS);
    assert_int_equal(wins(2, slopes, 5, 2, 0.03, 0), SEEDS);
}

/* Costs that fall, or rise, all the time favour none. */
static void drift_favours_none(void **state)
{
    (void)state;
    assert_int_equal(wins(2, slopes, 5, 0, 0, -0.005), SEEDS);
    assert_int_equal(wins(2, slopes, 5, 4, 0, 0.02), SEEDS);
    assert_int_equal(wins(5, equals, 6, 5, 0, -0.005), SEEDS);
    assert_int_equal(wins(0, equals, 6, 0, 0, 0.02), SEEDS);
}

/* Nothing is to be gained: what is there stays. */
static void keeps_what_is_as_fast(void **state)
{
    (void)state;
    assert_int_equal(wins(3, equals, 6, 3, 0, 0), SEEDS);
    assert_in_range(wins(3, equals, 6, 3, 0.05, 0), SEEDS * 9 / 10, SEEDS);
    assert_in_range(wins(3, equals, 6, 3, 0.3, 0), SEEDS * 9 / 10, SEEDS);
    static const double nearly[] = {0.99, 1};
    assert_int_equal(wins(1, nearly, 2, 1, 0, 0), SEEDS);
}

static void is_sure_where_it_can_be(void **state)
{
    struct contest c;
    (void)state;
    seed = 7;
    contest_begin(&c, 5, 0, 0.02, INFINITY);
    hold(&c, &(struct costs){slopes, 0.01, 0, -1});
    assert_true(c.sure);
    assert_int_equal(c.winner, 2);
    assert_true(fabs(contest_gain(&c) - 1.4) < 0.05);
    contest_begin(&c, 6, 0, 0.02, INFINITY);
    int runs = hold(&c, &(struct costs){equals, 0.9, 0, -1});
    assert_false(c.sure); /* and it saw that soon */
    assert_in_range(runs, 12, 40);
}

static void takes_as_many_runs_as_there_are(void **state)
{
    struct contest c;
    (void)state;
    contest_begin(&c, 5, 4, 0.02, 6); /* all once */
    for (int i = 0; i < 5; i++) {
        assert_int_equal(contest_next(&c), i);
        contest_take(&c, slopes[i]);
    }
    contest_end(&c);
    assert_int_equal(c.winner, 2);
    assert_false(c.sure);
    contest_begin(&c, 5, 4, 0.02, 2);
    assert_in_range(c.left, 2, 3);
    contest_begin(&c, 5, 4, 0.02, 100); /* in the middle of the first round */
    contest_take(&c, 2);
    contest_take(&c, 1.9);
    contest_end(&c);
    assert_int_equal(c.winner, 4); /* which did not run: there is nothing to compare with */
}

static void leaves_out_what_cannot_be_run(void **state)
{
    struct contest c;
    (void)state;
    contest_begin(&c, 5, 0, 0.02, INFINITY);
    hold(&c, &(struct costs){slopes, 0, 0, 2});
    assert_int_equal(c.winner, 3);
    contest_begin(&c, 5, 0, 0.02, INFINITY);
    hold(&c, &(struct costs){slopes, 0, 0, 0}); /* the incumbent */
    assert_true(c.over);
    contest_begin(&c, 1, 0, 0.02, INFINITY);
    assert_int_equal(contest_next(&c), -1);
}

/* ---- The whole search --------------------------------------------------------------------------- */

/* Blocks of 8 to 128, 1 to 8 ranks, and a layout that counts from the next visit on. */
static const struct knob knobs[] = {
    {.values = {8, 16, 32, 64, 128}, .count = 5, .usual = 4},
    {.values = {1, 2, 4, 8}, .count = 4, .usual = 1, .ranks = true},
    {.values = {0, 1, 2}, .count = 3, .usual = 0, .per_visit = true},
    {.values = {7}, .count = 1},
};
enum { KNOBS = sizeof knobs / sizeof *knobs };

/* The fewer ranks, the wider the best block. */
static double cost_of(const struct setting *at)
{
    int ranks = knobs[1].values[at->at[1]];
    double width = log2(knobs[0].values[at->at[0]]), best = ranks < 4 ? 5 : 4;
    double speedup = 1 / (0.2 + 0.8 / ranks) - (ranks == 8); /* 8 are slower than 4 */
    return (1 + 0.1 * fabs(width - best)) / speedup * (at->at[2] == 2 ? 0.8 : 1);
}

static int search_all(struct search *s, bool ranks_vanish)
{
    int visits = 0;
    for (int runs = 0; !s->over && runs < 1000; runs++) {
        if (search_wants_room(s)) {
            search_room(s, INFINITY);
            if (ranks_vanish && s->stages[s->stage].ranks) {
                search_keep_ranks(s);
                continue;
            }
        }
        struct setting setting = search_next(s);
        visits += search_waits_for_visit(s);
        search_take(s, cost_of(&setting) * (1 + 0.01 * chance()));
    }
    assert_true(s->over);
    return visits;
}

static void finds_all_knobs(void **state)
{
    struct search s;
    (void)state;
    seed = 3;
    search_begin(&s, knobs, KNOBS, 0.02);
    assert_true(search_all(&s, false) > 0);
    assert_int_equal(knobs[0].values[s.best.at[0]], 16);
    assert_int_equal(knobs[1].values[s.best.at[1]], 4);
    assert_int_equal(s.best.at[2], 2);
    assert_true(s.sure);
    assert_true(fabs(search_cost_at(&s, 0) / search_cost_at(&s, 1) - 1 / 0.6) < 0.05);
    assert_true(s.gain > 1.2 * 1.25 && s.gain < 1.5 * 1.25);
}

static void ranks_of_others_stay(void **state)
{
    struct search s;
    (void)state;
    seed = 5;
    search_begin(&s, knobs, KNOBS, 0.02);
    search_all(&s, true);
    assert_int_equal(s.best.at[1], knobs[1].usual);
    assert_int_equal(knobs[0].values[s.best.at[0]], 32);
    assert_int_equal(s.best.at[2], 2);
}

static void ends_at_any_time(void **state)
{
    (void)state;
    for (int after = 0; after < 120; after++) {
        struct search s;
        search_begin(&s, knobs, KNOBS, 0.02);
        for (int runs = 0; !s.over && runs < after; runs++) {
            if (search_wants_room(&s))
                search_room(&s, INFINITY);
            struct setting setting = search_next(&s);
            search_take(&s, cost_of(&setting));
        }
        bool over = s.over;
        search_end(&s);
        struct setting best = search_next(&s);
        assert_true(s.over && (over || !s.sure));
        assert_true(cost_of(&best) <= cost_of(&(struct setting){{4, 1, 0, 0}}) + 1e-9);
    }
}

/* ---- What it may take --------------------------------------------------------------------------- */

static const struct knob layouts[] = {{.values = {1, 2, 3, 4, 5}, .count = 5, .usual = 4, .per_visit = true}};

/* As the driver does between two visits: is the next one a run of the search's next setting? */
static bool tries(struct search *s, const struct budget *b, const double known[5], double now)
{
    if (search_wants_room(s))
        search_room(s, search_candidates(s));
    if (s->over)
        return false;
    int best = search_so_far(s).at[0], next = search_next(s).at[0];
    return next == best || budget_has_visit(b, now, known[search_candidate(s)]);
}

/* So many visits, of which each takes as long as the slopes say. */
static struct budget visit(struct search *s, int visits)
{
    struct budget b = {.within = 0.15};
    double now = 1, known[5] = {0};
    search_begin(s, layouts, 1, 0.02);
    for (int v = 0; v < visits; v++) {
        bool run = tries(s, &b, known, now);
        int best = search_so_far(s).at[0], candidate = run ? search_candidate(s) : -1,
            at = run ? search_next(s).at[0] : best;
        double seconds = slopes[at] * (1 + 0.02 * chance());
        budget_enter(&b, now, at != best);
        now += seconds;
        if (run) {
            known[candidate] = seconds;
            search_take(s, seconds);
        }
        budget_leave(&b, now);
    }
    search_end(s);
    return b;
}

/* A run is a whole visit: also then the search stays within its part, however many visits there are. */
static void visits_stay_within(void **state)
{
    struct search s;
    (void)state;
    for (int visits = 1; visits <= 300; visits++) {
        seed = (uint64_t)visits;
        struct budget b = visit(&s, visits);
        assert_true(budget_share(&b) <= 0.15);
    }
    assert_int_equal(s.best.at[0], 2);
    assert_true(s.runs > 5); /* more than one round */
}

/* In one visit, whose length is known from what was done of it. */
static void iterations_stay_within(void **state)
{
    struct budget b = {.within = 0.15};
    (void)state;
    budget_enter(&b, 10, true);
    assert_true(isinf(budget_left(&b, 11, 0.1)));
    budget_note(&b, 0.1, 1);
    assert_true(isinf(budget_left(&b, 11, -1)));
    assert_true(fabs(budget_left(&b, 11, 0.1) - (0.15 * 10 - 1)) < 1e-9);
    assert_true(budget_has_run(&b, 11, 0.1, 0.4, 0));
    assert_false(budget_has_run(&b, 11, 0.1, 0.49, 0));
    assert_true(budget_has_run(&b, 11, 0.1, 0, 0.24)); /* it may take 0.48 */
    assert_false(budget_has_run(&b, 11, 0.1, 0, 0.26));
    assert_true(budget_has_run(&b, 11, -1, 0, 100));
    budget_rest(&b, 11.5);
    assert_true(fabs(budget_left(&b, 15, 0.5) - (0.15 * 10 - 1.5)) < 1e-9);
    budget_leave(&b, 20);
    assert_true(fabs(budget_share(&b) - 0.15) < 1e-9);
    assert_false(budget_has_visit(&b, 20, 1));
    budget_enter(&b, 25, false);
    budget_leave(&b, 35);
    assert_true(budget_has_visit(&b, 35, 1));
    assert_false(budget_has_visit(&b, 35, 0)); /* it may take 20 */
}

static void nothing_to_search(void **state)
{
    struct search s;
    (void)state;
    search_begin(&s, knobs + 3, 1, 0.02);
    assert_true(s.over && s.sure);
    search_begin(&s, NULL, 0, 0.02);
    assert_true(s.over && !search_wants_room(&s));
}

/* ---- The register ------------------------------------------------------------------------------- */

static void registers_tunables(void **state)
{
    int width = 64, depth = 2, other = 1;
    static const int widths[] = {16, 64, 256};
    (void)state;
    epop__tunables_forget();
    assert_int_equal(epop_tunable_list("width", &width, widths, 3), EPOP_OK);
    assert_int_equal(epop_tunable("depth", &depth, 1, 9), EPOP_OK);
    assert_string_equal(epop_tunable_at(0)->name, "width");
    assert_int_equal(epop_tunable_at(0)->values[2], 256);
    assert_null(epop_tunable_at(2));
    assert_null(epop_tunable_at(-1));
    assert_int_equal(epop_tunable_set(0, 256), EPOP_OK);
    assert_int_equal(width, 256);
    assert_int_equal(epop_tunable_set(0, 32), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable_set(1, 10), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable_set(2, 1), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable("depth", &other, 0, 1), EPOP_OK); /* again: it is another integer now */
    assert_int_equal(epop_tunable_set(1, 0), EPOP_OK);
    assert_int_equal(other, 0);
    assert_int_equal(depth, 2);
    epop__tunables_forget();
    assert_null(epop_tunable_at(0));
}

static void refuses_what_is_no_tunable(void **state)
{
    int value = 5;
    static const int falling[] = {5, 4};
    char long_name[80];
    (void)state;
    epop__tunables_forget();
    memset(long_name, 'a', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    assert_int_equal(epop_tunable("x", &value, 6, 9), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable("x", &value, 9, 1), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable("x", NULL, 1, 9), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable("", &value, 1, 9), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable(NULL, &value, 1, 9), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable("a b", &value, 1, 9), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable(long_name, &value, 1, 9), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable_list("x", &value, falling, 2), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable_list("x", &value, falling, 0), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable_list("x", &value, NULL, 0), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_tunable_add(NULL), EPOP_ERR_ARGUMENT);
    assert_null(epop_tunable_at(0));
}

/* A value that a job was told to begin with outlives programs, and is taken where it is allowed. */
static void begins_with_presets(void **state)
{
    int width = 64, narrow = 1;
    (void)state;
    epop__tunables_forget();
    assert_int_equal(epop__tunable_preset("width", 100), EPOP_OK);
    for (int again = 0; again < 2; again++) {
        width = 64;
        assert_int_equal(epop_tunable("width", &width, 1, 128), EPOP_OK);
        assert_int_equal(width, 100);
        epop__tunables_forget();
    }
    assert_int_equal(epop_tunable("width", &narrow, 1, 9), EPOP_OK);
    assert_int_equal(narrow, 1);
    epop__tunables_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_fastest),
        cmocka_unit_test(drift_favours_none),
        cmocka_unit_test(keeps_what_is_as_fast),
        cmocka_unit_test(is_sure_where_it_can_be),
        cmocka_unit_test(takes_as_many_runs_as_there_are),
        cmocka_unit_test(leaves_out_what_cannot_be_run),
        cmocka_unit_test(finds_all_knobs),
        cmocka_unit_test(ranks_of_others_stay),
        cmocka_unit_test(ends_at_any_time),
        cmocka_unit_test(nothing_to_search),
        cmocka_unit_test(visits_stay_within),
        cmocka_unit_test(iterations_stay_within),
        cmocka_unit_test(registers_tunables),
        cmocka_unit_test(refuses_what_is_no_tunable),
        cmocka_unit_test(begins_with_presets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
