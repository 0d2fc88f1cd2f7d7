/* The loops in a sequence of calls: the dissertation's example, and random programs beside an obvious solution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/loops/loops.h"

#define TEST(function) cmocka_unit_test_setup_teardown(function, new_loops, free_loops)

static struct loops *loops;

static int new_loops(void **state)
{
    (void)state;
    loops = loops_new();
    return loops ? 0 : -1;
}

static int free_loops(void **state)
{
    (void)state;
    free(loops);
    return 0;
}

/* A call each second, of which MPI has half a second. */
static struct loops_ended call(int site)
{
    static int64_t now;
    now += 2;
    return loops_follow(loops, (struct loops_site){.call = (uintptr_t)site}, now, now / 2);
}

static void call_all(const char *sites)
{
    for (; *sites; sites++)
        call(*sites);
}

/* The number of a site; it must be known. */
static int node(int site)
{
    for (int n = 0; n < loops->node_count; n++)
        if (loops->nodes[n].site.call == (uintptr_t)site)
            return n;
    fail_msg("site %d is not known", site);
    return LOOPS_NONE;
}

static void assert_loop(int head, int tail)
{
    assert_true(loops->nodes[node(head)].is_head);
    assert_int_equal(loops->nodes[node(head)].tail, node(tail));
}

/* ---- Dissertation, listings 10.1 and 10.2 ------------------------------------------------------------------ */

static const int sequence[] = {2, 0, 6, 3, 1, 6, 3, 1, 6, 3, 1, 9, 7, 9, 7, 3, 1, 6, 3, 1, 6, 3, 1, 9, 7, 9, 7};
#define STEPS (sizeof sequence / sizeof *sequence)

/* What listing 10.1 says of each step: whose loop it is in, and how it came there. */
static void test_listing_10_1(void **state)
{
    (void)state;
    static const int heads[STEPS] = {-1, -1, -1, -1, -1, 6, 6, 6, 6, 6, 6, -1, -1, 9,
                                     9,  6,  6,  6,  6,  6, 6, 6, 6, 9, 9, 9,  9};
    for (size_t i = 0; i < STEPS; i++) {
        enum loops_event expected = i == 5 || i == 13 ? LOOPS_FOUND
                                    : i == 15         ? LOOPS_BODY_REENTRY
                                    : i == 23         ? LOOPS_HEAD_REENTRY
                                    : heads[i] == -1  ? LOOPS_OUTSIDE
                                                      : LOOPS_INSIDE;
        call(sequence[i]);
        int head = loops_head(loops, loops->at);
        assert_int_equal(head == LOOPS_NONE ? -1 : (int)loops->nodes[head].site.call, heads[i]);
        assert_int_equal(loops_event(loops), expected);
    }
}

/* Site, head of a loop, in a body, re-entries, revisits, tail, head; -1: the field is empty. */
static const int listing_10_2[][7] = {
    {2, 0, 0, 0, 0, -1, -1}, {0, 0, 0, 0, 0, -1, -1}, {6, 1, 0, 0, 4, 1, -1}, {3, 0, 1, 1, 5, 7, 6},
    {1, 0, 1, 0, 5, -1, 6},  {9, 1, 0, 0, 3, 7, -1},  {7, 0, 1, 0, 3, -1, 9},
};

static int site_of(int number)
{
    return number == LOOPS_NONE ? -1 : (int)loops->nodes[number].site.call;
}

static void test_listing_10_2(void **state)
{
    (void)state;
    for (size_t i = 0; i < STEPS; i++)
        call(sequence[i]);
    assert_int_equal(loops->node_count, 7);
    for (int n = 0; n < 7; n++) {
        const struct loops_node *is = &loops->nodes[n];
        const int row[7] = {(int)is->site.call,  is->is_head,       is->head != LOOPS_NONE, (int)is->reentries,
                            (int)is->visits - 1, site_of(is->tail), site_of(is->head)};
        assert_memory_equal(row, listing_10_2[n], sizeof row);
    }
}

/* ---- Shapes of loops --------------------------------------------------------------------------------------- */

static void test_a_loop_in_a_loop(void **state)
{
    (void)state;
    call_all("iabcbcbcdabcbcd");
    assert_loop('a', 'd');
    assert_loop('b', 'c');
    assert_int_equal(loops->nodes[node('b')].head, node('a'));
    assert_int_equal(loops->nodes[node('c')].head, node('b'));
    assert_int_equal(loops->nodes[node('d')].head, node('a'));
    assert_int_equal(loops->nodes[node('i')].head, LOOPS_NONE);
}

/* The first call of both is the same: each has laps of its own. */
static void test_loops_with_one_head(void **state)
{
    (void)state;
    int64_t sums[LOOPS_LAPS] = {0}, counts[LOOPS_LAPS] = {0};
    for (const char *site = "bcbcbcd"
                            "bcbcd"
                            "bcbcbcbcd"
                            "b";
         *site; site++) {
        struct loops_ended ended = call(*site);
        if (ended.lap != LOOPS_NONE) {
            sums[ended.lap] += ended.loop;
            counts[ended.lap]++;
            assert_int_equal(ended.mpi, ended.loop / 2);
        }
    }
    assert_int_equal(loops->lap_count, 2);
    assert_int_equal(loops->laps[0].tail, node('c'));
    assert_int_equal(counts[0], 2 + 1 + 3);
    assert_int_equal(sums[0], 2 * 2 * 6);
    assert_int_equal(loops->laps[1].tail, node('d'));
    assert_int_equal(counts[1], 3);
    assert_int_equal(sums[1], 2 * (7 + 5 + 9));
}

/* for (;;) { a; for (;;) { b; if (done) break; c; } } */
static void test_a_loop_that_ends_in_its_middle(void **state)
{
    (void)state;
    call_all("abcbcbabcba");
    assert_loop('b', 'c');
    assert_loop('a', 'b');
    assert_int_equal(loops->nodes[node('b')].head, node('a'));
}

/* The same, but the inner loop ends at once in the first turn of the outer one. */
static void test_a_loop_whose_body_was_known_as_that_of_another(void **state)
{
    (void)state;
    call_all("ababcb");
    assert_int_equal(loops_event(loops), LOOPS_BODY_REENTRY);
    call_all("cb");
    assert_int_equal(loops_event(loops), LOOPS_FOUND);
    assert_loop('b', 'c');
    assert_loop('a', 'b');
}

static void test_one_call_alone_can_be_a_loop(void **state)
{
    (void)state;
    call_all("xy");
    assert_int_equal(call('y').loop, 2);
    assert_loop('y', 'y');
    assert_int_equal(loops_head(loops, node('y')), node('y'));
}

/* A place that calls several functions, by a pointer, is several; so is one in a function called from several places.
 */
static void test_what_is_another_site(void **state)
{
    (void)state;
    loops_follow(loops, (struct loops_site){.call = 5, .what = 1}, 0, 0);
    loops_follow(loops, (struct loops_site){.call = 5, .what = 2}, 0, 0);
    loops_follow(loops, (struct loops_site){.call = 5, .what = 2, .caller = 6}, 0, 0);
    assert_int_equal(loops->node_count, 3);
    assert_int_equal(loops->lap_count, 0);
}

/* A lap in which the program was held is not told, the next one is. */
static void test_a_break_in_a_lap(void **state)
{
    (void)state;
    call_all("abab");
    loops_break(loops);
    assert_int_equal(call('a').lap, LOOPS_NONE);
    call('b');
    assert_int_equal(call('a').loop, 4);
}

/* ---- Random programs ----------------------------------------------------------------------------------------- */

/*
 * A program of functions made of calls, loops, branches, early exits and calls of functions, also of themselves. It is
 * run, and its trace is followed in two ways: by the detector, and by the definitions in loops.h written down without
 * any table, which look through the whole trace at each step.
 */

#define TRACE_MOST 300
#define FUNCTIONS  3

enum statement_kind { CALL, LOOP, BRANCH, LEAVE, FUNCTION };

struct statement {
    enum statement_kind kind;
    int number;                      /* of the site, or of the function */
    const struct statement *body[2]; /* NULL: none */
    const struct statement *next;
};

static struct statement statements[200];
static int statement_count, site_count;
static const struct statement *functions[FUNCTIONS];
static unsigned seed;

static int any(int count)
{
    return rand_r(&seed) / 7 % count;
}

static const struct statement *new_body(int depth, bool in_loop);

static const struct statement *new_statement(int depth, bool in_loop)
{
    enum statement_kind kind = depth < 4 && any(2) ? LOOP + any(4) : CALL;
    struct statement *s = &statements[statement_count++];
    *s = (struct statement){.kind = kind == LEAVE && !in_loop ? CALL : kind};
    s->number = s->kind == FUNCTION ? any(FUNCTIONS) : ++site_count;
    for (int i = 0; i < 2 && (s->kind == BRANCH || (s->kind == LOOP && !i)); i++)
        s->body[i] = new_body(depth + 1, in_loop || s->kind == LOOP);
    return s;
}

static const struct statement *new_body(int depth, bool in_loop)
{
    const struct statement *body = NULL;
    for (int i = any(4); i >= 0 && statement_count < 150; i--) {
        struct statement *s = (struct statement *)new_statement(depth, in_loop);
        s->next = body;
        body = s;
    }
    return body;
}

static int trace[TRACE_MOST], trace_length;

static bool run_body(const struct statement *s, int depth);

/* True: the loop around it ends. */
static bool run_statement(const struct statement *s, int depth)
{
    bool ends = false;
    if (s->kind == CALL && trace_length < TRACE_MOST)
        trace[trace_length++] = s->number;
    if (s->kind == LOOP)
        for (int i = any(5); i > 0 && !ends && trace_length < TRACE_MOST; i--)
            ends = run_body(s->body[0], depth);
    if (s->kind == BRANCH)
        return run_body(s->body[any(2)], depth);
    if (s->kind == FUNCTION && depth < 6)
        run_body(functions[s->number], depth + 1);
    return s->kind == LEAVE && !any(3);
}

static bool run_body(const struct statement *s, int depth)
{
    bool ends = false;
    for (; s && !ends; s = s->next)
        ends = run_statement(s, depth);
    return ends;
}

static void run_new_program(unsigned number)
{
    seed = number;
    statement_count = site_count = trace_length = 0;
    for (int i = 0; i < FUNCTIONS; i++)
        functions[i] = new_body(1, false);
    const struct statement *start = new_body(0, false);
    for (int runs = 0; trace_length < TRACE_MOST && runs < 40; runs++)
        run_body(start, 0);
}

/* Sites in the order of their first calls: the number of the one at a place in the trace. */
static int order_of(int at)
{
    int order = 0, first = 0;
    while (trace[first] != trace[at])
        first++;
    for (int i = 0; i < first; i++) {
        bool is_new = true;
        for (int j = 0; j < i; j++)
            is_new &= trace[j] != trace[i];
        order += is_new;
    }
    return order;
}

static int orders[TRACE_MOST];

/* Has a call from one to the other been seen, up to that place in the trace? */
static bool follows[TRACE_MOST][TRACE_MOST];

/* Does the program come from there to the tail without passing the head, as far as is known? */
static bool reaches(int from, int tail, int head)
{
    bool seen[TRACE_MOST] = {false}, more = from != head;
    seen[from] = from != head;
    while (more) {
        more = false;
        for (int n = 0; n < TRACE_MOST; n++)
            for (int m = 0; seen[n] && m < TRACE_MOST; m++)
                if (follows[n][m] && m != head && !seen[m])
                    seen[m] = more = true;
    }
    return tail != head && seen[tail];
}

/* How long the lap took that ends there: since the last arrival at the head by the same edge, or from outside. 0: there
 * was none. */
static int lap_of(int at)
{
    int head = orders[at], tail = orders[at - 1];
    for (int since = at - 1; since >= 0; since--) {
        int from = since ? orders[since - 1] : -1;
        if (orders[since] == head && (!since || from == tail || (from != head && !reaches(from, tail, head))))
            return at - since;
    }
    return 0;
}

/* Pairs of head and tail that were found to be loops, and pairs that were seen to re-enter one. */
static bool is_loop[TRACE_MOST][TRACE_MOST], has_reentered[TRACE_MOST][TRACE_MOST];
static int reentries[TRACE_MOST];

static bool slow_is_head(int n)
{
    bool is = false;
    for (int tail = 0; tail < TRACE_MOST; tail++)
        is |= is_loop[n][tail];
    return is;
}

static int slow_tail(int n)
{
    int last = LOOPS_NONE;
    for (int tail = 0; tail < TRACE_MOST; tail++)
        if (is_loop[n][tail])
            last = tail;
    return last;
}

static int slow_head(int n)
{
    int innermost = LOOPS_NONE;
    for (int head = 0; head < n; head++)
        for (int tail = n; tail < TRACE_MOST; tail++)
            if (is_loop[head][tail])
                innermost = head;
    return innermost;
}

static void slow_step(int at)
{
    int from = at ? orders[at - 1] : -1, to = orders[at];
    if (from < to)
        return;
    bool reenters = !slow_is_head(to) && slow_head(to) != LOOPS_NONE && from > slow_tail(slow_head(to));
    if (reenters && !has_reentered[to][from])
        reentries[to]++;
    else
        is_loop[to][from] = true;
    has_reentered[to][from] = true;
}

static void assert_same_marks(void)
{
    for (int n = 0; n < loops->node_count; n++) {
        assert_int_equal(loops->nodes[n].is_head, slow_is_head(n));
        assert_int_equal(loops->nodes[n].head, slow_head(n));
        assert_int_equal(loops->nodes[n].reentries, reentries[n]);
        if (slow_is_head(n))
            assert_int_equal(loops->nodes[n].tail, slow_tail(n));
    }
}

static void assert_same_lap(int at, struct loops_ended ended)
{
    bool back = at > 0 && orders[at] <= orders[at - 1];
    int lap = back ? lap_of(at) : 0;
    assert_int_equal(ended.lap != LOOPS_NONE, lap > 0);
    if (!lap)
        return;
    assert_int_equal(ended.loop, lap);
    assert_int_equal(ended.mpi, -3 * lap);
    assert_int_equal(loops->laps[ended.lap].head, orders[at]);
    assert_int_equal(loops->laps[ended.lap].tail, orders[at - 1]);
}

static void test_random_programs(void **state)
{
    (void)state;
    int laps = 0, again = 0;
    for (unsigned program = 1; program <= 300; program++) {
        run_new_program(program);
        memset(is_loop, 0, sizeof is_loop);
        memset(follows, 0, sizeof follows);
        memset(has_reentered, 0, sizeof has_reentered);
        memset(reentries, 0, sizeof reentries);
        free(loops);
        loops = loops_new();
        for (int at = 0; at < trace_length; at++) {
            orders[at] = order_of(at);
            if (at)
                follows[orders[at - 1]][orders[at]] = true;
            struct loops_ended ended =
                loops_follow(loops, (struct loops_site){.call = (uintptr_t)trace[at]}, at, -3 * at);
            assert_int_equal(loops->at, orders[at]);
            assert_same_lap(at, ended);
            slow_step(at);
            laps += ended.lap != LOOPS_NONE;
        }
        assert_same_marks();
        assert_int_equal(loops->lost + loops->unmeasured, 0);
        for (int n = 0; n < loops->node_count; n++)
            again += reentries[n];
    }
    assert_true(laps > 10000 && again > 100); /* else the programs are too simple to say anything */
}

/* ---- Dissertation, figures 10.3 to 10.5: loops of four ranks, of which the first has one more ------------------ */

/* 6 and 3 are point-to-point, the others collective. */
static const struct loops_known *known(void)
{
    static struct loops_known all[LOOPS_NODES];
    for (int n = 0; n < loops->node_count; n++) {
        int site = (int)loops->nodes[n].site.call;
        all[n] =
            (struct loops_known){.kind = site == 6 || site == 3 ? LOOPS_POINT : LOOPS_COLLECTIVE, .id = (uint64_t)site};
    }
    return all;
}

static void follow_rank(const int *calls, size_t count)
{
    free(loops);
    loops = loops_new();
    for (size_t i = 0; i < count; i++)
        call(calls[i]);
}

static void test_figures_10_3_to_10_5(void **state)
{
    (void)state;
    static const int others[] = {2, 0, 6, 3, 1, 6, 3, 1, 6, 3, 1, 6, 3, 1};
    struct loops_likeness first[3], other;
    follow_rank(sequence, STEPS);
    assert_int_equal(loops->lap_count, 3);
    loops_compare(loops, known(), first);
    assert_false(loops->edges[loops->laps[2].edge].closes); /* from 7 to 3: it re-enters the first */
    assert_int_equal(first[0].outer, LOOPS_NONE);
    assert_int_equal(first[1].outer, 0);
    assert_true(first[1].match && first[1].match != first[0].match);
    follow_rank(others, sizeof others / sizeof *others);
    assert_int_equal(loops->lap_count, 1);
    loops_compare(loops, known(), &other);
    assert_true(other.match == first[0].match && other.id == first[0].id && other.outer == LOOPS_NONE);
}

/* One sends first, the other receives first: what they do together is the same. */
static void test_ranks_that_send_and_receive_at_other_places(void **state)
{
    (void)state;
    static const int even[] = {5, 3, 6, 1, 3, 6, 1}, odd[] = {5, 6, 1, 6, 1};
    struct loops_likeness one, other;
    follow_rank(even, 7);
    loops_compare(loops, known(), &one);
    follow_rank(odd, 5);
    loops_compare(loops, known(), &other);
    assert_true(one.match == other.match && one.id != other.id);
}

static void test_a_loop_without_collective_operations(void **state)
{
    (void)state;
    static const int calls[] = {3, 6, 3, 6};
    struct loops_likeness is;
    follow_rank(calls, 4);
    loops_compare(loops, known(), &is);
    assert_true(is.match == 0 && is.id != 0);
}

/* Ranks may begin to be followed at different places of a loop, but for one in it. */
static void test_it_does_not_matter_where_one_begins(void **state)
{
    (void)state;
    static const char *const traces[] = {"xabcbcbcdxabcbcdxabcbcdxabcbcdx", "abcbcdxabcbcdxabcbcdxabcbcdx",
                                         "dxabcbcdxabcbcdxabcbcdxabcbcdx"};
    struct loops_likeness all[3][LOOPS_LAPS];
    for (int t = 0; t < 3; t++) {
        int64_t laps[2] = {0}, time[2] = {0};
        free(loops);
        loops = loops_new();
        for (const char *site = traces[t]; *site; site++) {
            struct loops_ended ended = call(*site);
            if (ended.lap == LOOPS_NONE)
                continue;
            int is_outer = ended.loop > 4;
            laps[is_outer]++;
            time[is_outer] += ended.loop;
        }
        loops_compare(loops, known(), all[t]);
        assert_true(laps[0] >= 4 && time[0] == 4 * laps[0]);
        assert_true(laps[1] >= 2 && time[1] % 2 == 0 && time[1] / laps[1] >= 14);
    }
    for (int t = 0; t < 3; t++) {
        int inner = all[t][0].outer == LOOPS_NONE ? 1 : 0;
        assert_int_equal(all[t][!inner].outer, LOOPS_NONE);
        assert_int_equal(all[t][inner].outer, !inner);
        assert_true(all[t][inner].match == all[0][0].match && all[t][!inner].match == all[0][1].match);
    }
}

/* ---- When there is no room ---------------------------------------------------------------------------------- */

static void test_sites_beyond_the_table_are_counted(void **state)
{
    (void)state;
    for (int site = 1; site <= LOOPS_NODES + 10; site++)
        call(site);
    assert_int_equal(loops->lost, 10);
    assert_int_equal(loops_event(loops), LOOPS_LOST);
    call(1);
    call(2);
    assert_int_equal(loops->lost, 10);
    assert_int_equal(call(1).lap, LOOPS_NONE + 1); /* loops of known ones are found as ever */
}

static void test_more_edges_than_there_is_room_for(void **state)
{
    (void)state;
    seed = 1;
    for (int i = 0; i < 4 * LOOPS_EDGES; i++)
        call((int)(rand_r(&seed) % 500));
    assert_int_equal(loops->edge_count, LOOPS_EDGES);
    assert_int_equal(loops->lap_count, LOOPS_LAPS);
    assert_true(loops->lost > 0);
    assert_true(loops->unmeasured > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_listing_10_1),
        TEST(test_listing_10_2),
        TEST(test_a_loop_in_a_loop),
        TEST(test_loops_with_one_head),
        TEST(test_a_loop_that_ends_in_its_middle),
        TEST(test_a_loop_whose_body_was_known_as_that_of_another),
        TEST(test_one_call_alone_can_be_a_loop),
        TEST(test_what_is_another_site),
        TEST(test_a_break_in_a_lap),
        TEST(test_random_programs),
        TEST(test_figures_10_3_to_10_5),
        TEST(test_ranks_that_send_and_receive_at_other_places),
        TEST(test_a_loop_without_collective_operations),
        TEST(test_it_does_not_matter_where_one_begins),
        TEST(test_sites_beyond_the_table_are_counted),
        TEST(test_more_edges_than_there_is_room_for),
    };
    return cmocka_run_group_tests_name("loops", tests, NULL, NULL);
}
