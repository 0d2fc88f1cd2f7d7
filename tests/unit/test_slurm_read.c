/* What Slurm's commands print, read back: recorded outputs, and those that users could make up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/slurm/reading.h"
#include "scheduler/slurm/view.h"

#define F    READING_FIELD
#define MARK "8f2c"
#define ROW  F MARK F

static void check_list(const char *text, const char *expected)
{
    struct hostlist list;
    struct error error;
    char joined[512] = "";
    assert_int_equal(hostlist_expand(text, &list, &error), 0);
    for (int i = 0; i < list.count; i++) {
        strcat(joined, i ? " " : "");
        strcat(joined, list.names[i]);
    }
    assert_string_equal(joined, expected);
    hostlist_free(&list);
}

static void test_lists_of_nodes(void **state)
{
    (void)state;
    check_list("", "");
    check_list("login", "login");
    check_list("n[1-3,07],login", "n1 n2 n3 n07 login");
    check_list("r[1-2]n[08-10]x", "r1n08x r1n09x r1n10x r2n08x r2n09x r2n10x");
    check_list("a,b[2]", "a b2");
}

static void test_lists_that_are_none(void **state)
{
    static const char *const wrong[] = {"n[", "n[1", "n[1-", "n[3-1]", "n[a]", "n[1-2", "n[0-99999999]", "n[1;2]"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct hostlist list;
        struct error error;
        assert_int_equal(hostlist_expand(wrong[i], &list, &error), -1);
        assert_int_equal(list.count, 0);
    }
}

static const char sinfo[] = "n1" F "mixed" F "4" F "main" F "10" F "up\n"
                            "n1" F "mixed" F "4" F "elastic" F "1" F "up\n"
                            "n2" F "idle" F "4" F "main" F "10" F "up\n"
                            "n2" F "idle" F "4" F "elastic" F "1" F "up\n"
                            "n3" F "idle*" F "4" F "main" F "10" F "up\n"
                            "n4" F "planned" F "4" F "main" F "10" F "up\n"
                            "n5" F "draining" F "4" F "main" F "10" F "up\n"
                            "n6" F "drained" F "4" F "main" F "10" F "up\n"
                            "gpu1" F "idle~" F "8" F "gpu" F "1" F "down\n";

static const char squeue[] =
    ROW "17" F "1000" F "RUNNING" F "2" F "n[1,5]" F "" F "main" F "4294901759" F "1-02:00:00" F "1700000000" F
        "1700000010" F "None" F "epop:min=1,max=4" F "solve\n" ROW "20" F "1000" F "PENDING" F "2" F "" F "n[1-3]" F
        "main" F "100" F "10:00" F "1700000020" F "N/A" F "Resources" F "(null)" F "second\n" ROW "19" F "1001" F
        "PENDING" F "1" F "" F "" F "elastic" F "4000" F "UNLIMITED" F "1700000020" F "N/A" F "Priority" F "" F
        "third\n" ROW "21" F "1001" F "PENDING" F "1" F "" F "" F "main,gpu" F "200" F "30" F "1700000021" F "N/A" F
        "Dependency" F "" F "first\n" ROW "18" F "1002" F "COMPLETING" F "1" F "n2" F "" F "main" F "7" F "1:00:00" F
        "1700000000" F "1700000000" F "None" F "" F "bad\n" F "99" F "0" F "RUNNING\nname\n" ROW "16" F "1002" F
        "CANCELLED" F "1" F "n2" F "" F "main" F "7" F "1:00:00" F "1700000000" F "1700000000" F "None" F "" F "over\n";

static void read_view(struct slurm_view *view, const char *jobs, const char *nodes)
{
    struct error error = {0};
    char *text = strdup(nodes);
    *view = (struct slurm_view){0};
    assert_int_equal(reading_parse_nodes(text, &view_sink, view, &error), 0);
    free(text);
    text = strdup(jobs);
    assert_int_equal(reading_parse_jobs(text, MARK, &view_sink, view, &error), 0);
    free(text);
    assert_int_equal(view_finish(view, &error), 0);
}

static void test_jobs(void **state)
{
    struct slurm_view view;
    (void)state;
    read_view(&view, squeue, sinfo);
    static const int64_t order[] = {21, 20, 19, 17, 18}; /* the tier, the priority, then the number */
    assert_int_equal(view.job_count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(view.jobs[i].id, order[i]);
    const struct slurm_job *job = view_job(&view, 17);
    assert_int_equal(job->uid, 1000);
    assert_int_equal(job->state, SLURM_JOB_RUNS);
    assert_int_equal(job->hosts.count, 2);
    assert_true(job->limit > 93599 && job->limit < 93601);
    assert_true(job->started > 1700000009 && job->started < 1700000011);
    assert_string_equal(job->comment, "epop:min=1,max=4");
    assert_false(job->waits);
    assert_int_equal(view_job(&view, 20)->nodes, 3); /* it names three */
    assert_true(view_job(&view, 20)->waits);
    assert_string_equal(view_job(&view, 20)->comment, "");
    assert_true(isinf(view_job(&view, 19)->limit));
    assert_false(view_job(&view, 21)->waits); /* it depends on another */
    assert_string_equal(view_job(&view, 21)->partition, "main");
    view_free(&view);
}

/* A name or comment with the marks of a record in it is still one job's. */
static void test_words_of_users_are_no_jobs(void **state)
{
    struct slurm_view view;
    (void)state;
    read_view(&view, squeue, sinfo);
    assert_null(view_job(&view, 99));
    assert_int_equal(view_job(&view, 18)->state, SLURM_JOB_ENDS);
    view_free(&view);
}

static void test_nodes(void **state)
{
    struct slurm_view view;
    (void)state;
    read_view(&view, "", sinfo);
    static const enum slurm_node_state states[] = {SLURM_NODE_BUSY, SLURM_NODE_IDLE, SLURM_NODE_DOWN, SLURM_NODE_IDLE,
                                                   SLURM_NODE_BUSY, SLURM_NODE_DOWN, SLURM_NODE_DOWN};
    assert_int_equal(view.node_count, 7);
    for (int i = 0; i < 7; i++)
        assert_int_equal(view.nodes[i].state, states[i]);
    assert_true(view.nodes[3].planned);
    assert_false(view.nodes[1].planned);
    assert_int_equal(view_partition(&view, "main")->count, 6);
    assert_int_equal(view_partition(&view, "elastic")->tier, 1);
    assert_false(view_partition(&view, "gpu")->up);
    view_free(&view);
}

static void test_partitions_that_share_nodes_are_one_machine(void **state)
{
    struct slurm_view view;
    struct machines machines;
    (void)state;
    read_view(&view, "", sinfo);
    assert_int_equal(machines_find(&view, &machines), 0);
    assert_int_equal(machines.count, 2);
    assert_int_equal(machines_of_partition(&machines, &view, "main"),
                     machines_of_partition(&machines, &view, "elastic"));
    assert_int_not_equal(machines_of_partition(&machines, &view, "main"),
                         machines_of_partition(&machines, &view, "gpu"));
    assert_int_equal(machines_of_partition(&machines, &view, "none"), -1);
    machines_free(&machines);
    view_free(&view);
}

static void test_lines_that_are_cut_off(void **state)
{
    static const char *const jobs[] = {ROW "17\n", ROW "x" F "1000" F "RUNNING" F "2" F F F F F F F F F F "\n"};
    static const char *const nodes[] = {"n1\n", "n1" F "idle" F "many" F "main" F "1" F "up\n"};
    struct slurm_view view = {0};
    struct error error;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char *text = strdup(jobs[i]);
        assert_int_equal(reading_parse_jobs(text, MARK, &view_sink, &view, &error), -1);
        free(text);
        text = strdup(nodes[i]);
        assert_int_equal(reading_parse_nodes(text, &view_sink, &view, &error), -1);
        free(text);
    }
    view_free(&view);
}

static void test_words(void **state)
{
    int min = 0, max = 0;
    (void)state;
    assert_true(view_range_of_comment("epop:min=1,max=4", &min, &max) && min == 1 && max == 4);
    assert_true(view_range_of_comment("my job epop:min=2,max=16 thanks", &min, &max) && min == 2 && max == 16);
    assert_false(view_range_of_comment("", &min, &max));
    assert_false(view_range_of_comment("epop:min=0,max=4", &min, &max));
    assert_false(view_range_of_comment("epop:min=4,max=1", &min, &max));
    assert_false(view_range_of_comment("xepop:min=1,max=4", &min, &max));
    assert_false(view_range_of_comment("epop:min=1,max=4x", &min, &max));
    assert_int_equal(view_companion_of("epop-17"), 17);
    assert_int_equal(view_companion_of("epop-"), 0);
    assert_int_equal(view_companion_of("epop-17a"), 0);
    assert_int_equal(view_companion_of("epop--1"), 0);
    assert_int_equal(view_companion_of("solve"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_of_nodes),
        cmocka_unit_test(test_lists_that_are_none),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_words_of_users_are_no_jobs),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_partitions_that_share_nodes_are_one_machine),
        cmocka_unit_test(test_lines_that_are_cut_off),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
