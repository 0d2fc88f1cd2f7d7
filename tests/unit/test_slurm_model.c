/* From Slurm's view, and what a job says of itself, to the core: who holds which nodes, who waits, who may be resized.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/slurm/model.h"
#include "scheduler/slurm/reading.h"

#define F    READING_FIELD
#define ROW  F "m" F
#define TAIL F "" F "main" F "9" F "10:00" F "100" F "110" F

static const char nodes[] = "n1" F "allocated" F "4" F "main" F "1" F "up\n"
                            "n2" F "allocated" F "4" F "main" F "1" F "up\n"
                            "n3" F "allocated" F "4" F "main" F "1" F "up\n"
                            "n4" F "idle" F "4" F "main" F "1" F "up\n"
                            "n5" F "down" F "4" F "main" F "1" F "up\n";
/* A malleable job with a companion, another user's job of a companion's name, and two that wait, one of them held. */
static const char jobs[] =
    ROW "7" F "1000" F "RUNNING" F "1" F "n1" TAIL "None" F "epop:min=1,max=4" F "solve\n" ROW "8" F "1000" F
        "RUNNING" F "1" F "n2" TAIL "None" F "" F "epop-7\n" ROW "9" F "1001" F "RUNNING" F "1" F "n3" TAIL "None" F
        "" F "epop-7\n" ROW "10" F "1001" F "PENDING" F "2" F "" TAIL "Resources" F "" F "next\n" ROW "11" F "1001" F
        "PENDING" F "1" F "" TAIL "Dependency" F "" F "later\n";
static const char status[] =
    "{\"backend\":\"join\",\"size\":4,\"state\":\"running\",\"element\":{\"pc\":1,\"type\":\"EP\"},"
    "\"next\":{\"pc\":2,\"type\":\"EP\",\"seconds\":50},"
    "\"sizes\":{\"preferred\":6,\"accepted\":[2,4,6],\"listed\":8},\"elements\":[{\"pc\":1,"
    "\"sizes\":null,\"speeds\":[{\"size\":4,\"iterations\":10,\"rate\":2}]}],\"adaptations\":[],\"processes\":[{"
    "\"rank\":0,\"host\":\"n1\"},{\"rank\":1,"
    "\"host\":\"n1\"},{\"rank\":2,\"host\":\"n2.site\"},{\"rank\":3,\"host\":\"n2.site\"},{\"rank\":-1,\"host\":\"n4\"}"
    "]}";

static struct slurm_view view;
static struct advised_table table;
static struct machines machines;
static struct model model;
static struct error error;
static struct peer peer;

static void read_text(const char *text, int jobs_too)
{
    char *copy = strdup(text);
    assert_int_equal(jobs_too ? reading_parse_jobs(copy, "m", &view_sink, &view, &error)
                              : reading_parse_nodes(copy, &view_sink, &view, &error),
                     0);
    free(copy);
}

static int set_up(void **state)
{
    (void)state;
    cJSON *said = cJSON_Parse(status);
    read_text(nodes, 0);
    read_text(jobs, 1);
    assert_int_equal(view_finish(&view, &error), 0);
    assert_int_equal(machines_find(&view, &machines), 0);
    struct advised *job = advised_get(&table, 7);
    assert_int_equal(told_status(&job->told, said), 0);
    cJSON_Delete(said);
    job->peer = &peer;
    job->attached = true;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    model_free(&model);
    machines_free(&machines);
    table.first->peer = NULL;
    advised_free(&table);
    view_free(&view);
    return 0;
}

static const epop_policy_state_t *build(void)
{
    static struct model_input input;
    input = (struct model_input){&view, &table, &machines, 200, 1000};
    assert_int_equal(model_build(&model, &input, 0, &error), 0);
    return core_state(model.core, 200);
}

static void test_who_has_what(void **state)
{
    const epop_policy_state_t *seen = build();
    (void)state;
    assert_int_equal(seen->idle, 1);
    assert_int_equal(seen->down, 1);
    assert_int_equal(seen->running_count, 2);
    assert_int_equal(seen->waiting_count, 1);
    assert_int_equal(seen->waiting[0]->id, 10);
    assert_int_equal(core_job(model.core, 9)->kind, EPOP_RIGID);
    const epop_policy_job_t *job = core_job(model.core, 7);
    assert_int_equal(job->kind, EPOP_MALLEABLE);
    assert_int_equal(job->nodes, 2);
    assert_int_equal(job->range.min, 1);
    assert_int_equal(job->range.max, 3); /* 8 ranks are not accepted, and one node is idle */
    assert_true(job->left > 49 && job->left < 51);
    assert_int_equal(job->samples[0].nodes, 2);
}

/* The largest size that there is room for, or what the program prefers of these. */
static void test_what_is_wanted(void **state)
{
    static const struct {
        int preferred, wanted;
    } rows[] = {{0, 3}, {6, 3}, {100, 3}, {5, 2}, {4, 2}, {2, 1}, {1, 1}};
    (void)state;
    assert_int_equal(table.first->told.preferred, 6);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        table.first->told.preferred = rows[i].preferred;
        build();
        assert_int_equal(core_job(model.core, 7)->wanted, rows[i].wanted);
        model_free(&model);
    }
}

/* Of a program that says nothing of its phases, samples are those of the loop that it is in. */
static void test_one_in_a_loop(void **state)
{
    (void)state;
    static const char *const said[] = {
        "{\"loop\":2,\"elements\":[],\"loops\":[{\"number\":2,\"size\":4,\"iterations\":5,\"rate\":2,\"mtct\":{"
        "\"values\":1,\"mean\":0.5}},"
        "{\"number\":1,\"size\":4,\"iterations\":9,\"rate\":100,\"mtct\":{\"values\":0}}]}",
        "{\"loop\":1,\"elements\":[],\"loops\":[{\"number\":2,\"size\":4,\"iterations\":1,\"rate\":4,\"mtct\":{"
        "\"values\":1,\"mean\":0.5}}]}"};
    static const double seconds[] = {0.5, 0.01}, iterations[] = {5, 9}, mtct[] = {0.5, -1};
    for (int i = 0; i < 2; i++) {
        cJSON *measure = cJSON_Parse(said[i]);
        assert_int_equal(told_measure(&table.first->told, measure), 0);
        cJSON_Delete(measure);
        build();
        const epop_policy_job_t *job = core_job(model.core, 7);
        int found = 0;
        for (int s = 0; s < job->sample_count; s++)
            if (job->samples[s].phase == job->phase) {
                assert_true(job->samples[s].seconds == seconds[i] && job->samples[s].iterations == iterations[i]);
                assert_true(job->samples[s].mtct == mtct[i]);
                found++;
            }
        assert_int_equal(found, 1);
        model_free(&model);
    }
}

/* Its rule lets it have 2, 4, 6, and 8 or more ranks; its sets 4 to 6, rather 4. */
static void test_one_whose_process_sets_ask_for_a_size(void **state)
{
    (void)state;
    cJSON *said = cJSON_Parse(status);
    cJSON_AddItemToObject(said, "hints", cJSON_Parse("{\"min\":4,\"max\":6,\"preferred\":4}"));
    assert_int_equal(told_status(&table.first->told, said), 0);
    assert_false(told_accepts(&table.first->told, 2) || told_accepts(&table.first->told, 8));
    build();
    const epop_policy_job_t *job = core_job(model.core, 7);
    assert_true(job->range.min == 2 && job->range.max == 3 && job->wanted == 2);
    cJSON_Delete(said);
}

/* Its time left is the same at each size, and its samples are of as much work. */
static void test_one_with_weak_scaling(void **state)
{
    (void)state;
    cJSON *said = cJSON_Parse(status), *element = cJSON_GetArrayItem(cJSON_GetObjectItem(said, "elements"), 0);
    cJSON_AddStringToObject(element, "type", "EP");
    build();
    assert_false(core_job(model.core, 7)->weak);
    model_free(&model);
    cJSON_AddStringToObject(element, "scaling", "weak");
    samples_free(&table.first->told.samples);
    assert_int_equal(told_status(&table.first->told, said), 0);
    build();
    const epop_policy_job_t *job = core_job(model.core, 7);
    assert_true(job->weak && job->left == 50 && job->sample_count == 1 && job->samples[0].seconds == 0.125);
    cJSON_Delete(said);
}

static void test_one_that_is_not_connected_is_rigid(void **state)
{
    (void)state;
    table.first->attached = false;
    build();
    assert_int_equal(core_job(model.core, 7)->kind, EPOP_RIGID);
    assert_int_equal(core_job(model.core, 7)->nodes, 2);
}

static void test_one_that_refused_is_left_alone(void **state)
{
    (void)state;
    table.first->no_grow_until = 1001;
    table.first->no_shrink_until = 1001;
    build();
    assert_int_equal(core_job(model.core, 7)->range.min, 2);
    assert_int_equal(core_job(model.core, 7)->range.max, 2);
}

static void test_one_that_grows_holds_the_node_already(void **state)
{
    (void)state;
    struct ask *ask = &table.first->ask;
    *ask = (struct ask){.kind = ASK_GROW, .from = 2, .to = 3};
    assert_int_equal(hostlist_expand("n4", &ask->nodes, &error), 0);
    const epop_policy_state_t *seen = build();
    assert_int_equal(seen->idle, 0);
    assert_int_equal(core_job(model.core, 7)->state, EPOP_POLICY_ADAPTS);
    assert_int_equal(core_job(model.core, 7)->target, 3);
}

static void measure(double imbalance)
{
    char text[300];
    snprintf(text, sizeof text,
             "{\"elements\":[{\"pc\":1,\"size\":4,\"iterations\":5,\"rate\":2,\"mtct\":{\"values\":0},"
             "\"loads\":[],\"imbalance\":%g}],\"loops\":[]}",
             imbalance);
    cJSON *said = cJSON_Parse(text);
    assert_int_equal(told_measure(&table.first->told, said), 0);
    cJSON_Delete(said);
}

static double iterations(void)
{
    const struct samples *samples = &table.first->told.samples;
    return samples->count ? samples->items[0].iterations : 0;
}

/* One that says that a balance may help balances before what is measured of it counts. */
static void test_one_that_is_uneven(void **state)
{
    (void)state;
    struct told *told = &table.first->told;
    cJSON *said = cJSON_Parse(status);
    cJSON_AddTrueToObject(said, "balances");
    assert_int_equal(told_status(told, said), 0);
    double before = iterations();
    measure(2);
    assert_false(balance_due(&told->balance));
    measure(2);
    assert_true(balance_due(&told->balance) && iterations() == before);
    balance_begins(&told->balance);
    table.first->ask.kind = ASK_BALANCE;
    build();
    assert_int_equal(core_job(model.core, 7)->kind, EPOP_RIGID);
    advised_ask_lost(table.first);
    measure(2);
    assert_true(!balance_due(&told->balance) && iterations() == before + 5);
    cJSON_ReplaceItemInObject(said, "size", cJSON_CreateNumber(2)); /* from here on it is tried again */
    assert_int_equal(told_status(told, said), 0);
    assert_true(told->balance.limit == 0);
    cJSON_Delete(said);
}

static void test_a_companion_without_ranks_is_nobodys(void **state)
{
    (void)state;
    cJSON *said = cJSON_Parse(status), *processes = cJSON_GetObjectItem(said, "processes");
    cJSON_DeleteItemFromArray(processes, 3);
    cJSON_DeleteItemFromArray(processes, 2);
    assert_int_equal(told_status(&table.first->told, said), 0);
    cJSON_Delete(said);
    assert_int_equal(build()->down, 2);
    assert_int_equal(core_job(model.core, 7)->nodes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_who_has_what, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_wanted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_in_a_loop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_whose_process_sets_ask_for_a_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_with_weak_scaling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_is_not_connected_is_rigid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_refused_is_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_grows_holds_the_node_already, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_is_uneven, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_companion_without_ranks_is_nobodys, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
