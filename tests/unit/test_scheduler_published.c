/* The published policies on hand-made states of the core: at which size jobs start, who gives nodes, and who gets them.
 */
#include "tests/unit/scheduler_decided.h"

/* 16 nodes, all idle. */
static void begin(const char *name)
{
    error = (struct error){0};
    machine(16, 0, 0);
    use(name);
}

static void committed(double now, int64_t id)
{
    told(core_committed(core, now, id, 0.25, 0.25, &error), &error);
}

/* Decides until nothing is left to do. */
static void settle(double now)
{
    for (decide(now); decisions.count > 0; decide(now)) {
        int64_t jobs[16];
        int count = 0;
        for (int i = 0; i < decisions.count; i++)
            if (decisions.items[i].kind == DECISION_RESIZE)
                jobs[count++] = decisions.items[i].job;
        if (!count && decisions.items[0].kind == DECISION_RESERVE)
            return;
        for (int i = 0; i < count; i++)
            committed(now, jobs[i]);
    }
}

static void test_where_jobs_start(void **state)
{
    static const struct {
        const char *name;
        int nodes;
    } cases[] = {{"min", 2}, {"average", 2}, {"pref", 8}, {"keeppref", 8}, {"dmr", 8}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].name);
        submit(core, 0, malleable(1, 8, 2, 16, 100));
        decide(0);
        assert_decided(DECISION_START, 1, cases[i].nodes, "its turn: 16 idle");
        decide(0);
        assert_decided(DECISION_RESIZE, 1, 16, "wants 8, at most 16");
    }
}

/* One after the other, or both to the same share of their range. */
static void test_who_gets_idle_nodes(void **state)
{
    static const struct {
        const char *name;
        int one, other;
    } cases[] = {{"min", 4, 12}, {"average", 7, 9}, {"pref", 8, 8}, {"keeppref", 8, 8}, {"dmr", 8, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].name);
        submit(core, 0, malleable(1, 8, 1, 11, 100));
        submit(core, 0, malleable(2, 4, 4, 12, 100));
        settle(0);
        assert_int_equal(core_job(core, 1)->nodes, cases[i].one);
        assert_int_equal(core_job(core, 2)->nodes, cases[i].other);
    }
}

/* Two jobs that prefer 4 nodes have 8 each, and could do with 2, when a rigid one comes. */
static void test_who_gives_nodes(void **state)
{
    static const struct {
        const char *name;
        int needed, one, other;
    } cases[] = {{"min", 6, 2, 8},  {"min", 12, 2, 2},  {"min", 13, 8, 8},     {"average", 6, 5, 5},
                 {"pref", 6, 4, 6}, {"pref", 10, 2, 4}, {"keeppref", 6, 4, 6}, {"keeppref", 9, 8, 8},
                 {"dmr", 4, 4, 8},  {"dmr", 6, 2, 8},   {"dmr", 7, 8, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].name);
        submit(core, 0, malleable(1, 4, 2, 8, 100));
        submit(core, 0, malleable(2, 4, 2, 8, 100));
        settle(0);
        submit(core, 1, rigid(3, cases[i].needed, 100));
        decide(1);
        for (int64_t job = 1; job <= 2; job++) {
            int to = job == 1 ? cases[i].one : cases[i].other;
            if (to < 8)
                assert_decided(DECISION_RESIZE, job, to, "makes room for job 3");
            else
                assert_null(decision_on(job));
        }
    }
}

/* Who was promised what others give back starts on it, and nobody else does. */
static void test_nodes_that_come(void **state)
{
    (void)state;
    begin("pref");
    submit(core, 0, malleable(1, 16, 2, 16, 100));
    settle(0);
    submit(core, 1, rigid(2, 16, 100));
    submit(core, 1, rigid(3, 4, 50));
    submit(core, 1, rigid(4, 1, 500));
    decide(1);
    assert_decided(DECISION_RESERVE, 2, 16, "first in the queue");
    assert_decided(DECISION_RESERVE, 3, 4, "4 nodes are given back for it");
    assert_decided(DECISION_RESIZE, 1, 12, "makes room for job 3");
    assert_null(decision_on(4)); /* it would delay the first one */
    decide(2);
    assert_null(decision_on(3));
    assert_null(decision_on(4));
    committed(3, 1);
    decide(3);
    assert_decided(DECISION_START, 3, 4, "backfilled: 4 idle");
}

static void test_what_a_program_asks_for(void **state)
{
    struct core_job job = malleable(1, 8, 2, 16, 100);
    (void)state;
    job.kind = EPOP_EVOLVING;
    begin("min");
    submit(core, 0, job);
    decide(0);
    assert_decided(DECISION_START, 1, 8, "");
    told(core_asked(core, 1, 12, &error), &error);
    decide(1);
    assert_decided(DECISION_RESIZE, 1, 12, "the program asks for 12");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_where_jobs_start, tear_down),
        cmocka_unit_test_teardown(test_who_gets_idle_nodes, tear_down),
        cmocka_unit_test_teardown(test_who_gives_nodes, tear_down),
        cmocka_unit_test_teardown(test_nodes_that_come, tear_down),
        cmocka_unit_test_teardown(test_what_a_program_asks_for, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
