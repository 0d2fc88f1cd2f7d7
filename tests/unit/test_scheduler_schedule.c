/* A schedule's JSON and what is read of it again; node numbers as text. */
#include "simulated_machine.h"

#include <stdlib.h>

#include "scheduler/simulated/schedule_json.h"

static void expect_text(const int *nodes, int count, const char *expected)
{
    char *text = node_text(nodes, count);
    int *back;
    assert_string_equal(text, expected);
    assert_int_equal(node_numbers(text, &back), count);
    for (int i = 0; i < count; i++)
        assert_int_equal(back[i], nodes[i]);
    free(text);
    free(back);
}

static void node_numbers_as_text(void **state)
{
    (void)state;
    static const int nodes[] = {0, 1, 2, 5, 7, 8, 120, 16000000};
    expect_text(nodes, 0, "");
    expect_text(nodes, 1, "0");
    expect_text(nodes, 3, "0-2");
    expect_text(nodes, 8, "0-2,5,7-8,120,16000000");
    expect_text(nodes + 3, 2, "5,7");
}

static void no_node_numbers(void **state)
{
    (void)state;
    static const char *const wrong[] = {"x",   "1,",    ",1", "1-",          "-1",   "3-1",
                                        "1,1", "5,3-4", "1 ", "99999999999", "1-2-3"};
    int *nodes;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (node_numbers(wrong[i], &nodes) != -1)
            fail_msg("'%s' is read", wrong[i]);
}

static void set_up_two(struct machine *machine)
{
    set_up(machine, 4, &policy_easy);
    add_job(machine, 0, 3, 10)->name = (char *)"one";
    add_job(machine, 1, 4, 5);
    add_job(machine, 2, 9, 5);
    machine->policy.spec = "easy,a=b";
}

static cJSON *json_of_two(void)
{
    struct machine machine;
    set_up_two(&machine);
    struct schedule schedule = run(&machine);
    cJSON *json = schedule_json(&schedule);
    assert_non_null(json);
    schedule_free(&schedule);
    return json;
}

static const cJSON *member(const cJSON *json, const char *list, int index, const char *name)
{
    const cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItem(json, list), index);
    return cJSON_GetObjectItem(item, name);
}

static void a_schedule_as_json(void **state)
{
    (void)state;
    cJSON *json = json_of_two();
    assert_string_equal(cJSON_GetObjectItem(json, "policy")->valuestring, "easy");
    assert_string_equal(cJSON_GetObjectItem(json, "policy_options")->valuestring, "a=b");
    assert_near(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "metrics"), "makespan")->valuedouble, 15);
    assert_null(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "metrics"), "decide_seconds"));
    assert_string_equal(member(json, "jobs", 0, "name")->valuestring, "one");
    assert_string_equal(cJSON_GetArrayItem(cJSON_GetArrayItem(member(json, "jobs", 0, "stays"), 0), 2)->valuestring,
                        "0-2");
    assert_near(member(json, "jobs", 1, "wait")->valuedouble, 9);
    assert_string_equal(member(json, "jobs", 2, "outcome")->valuestring, "never");
    assert_null(member(json, "jobs", 2, "start"));
    assert_string_equal(member(json, "decisions", 1, "kind")->valuestring, "reserve");
    assert_near(member(json, "decisions", 1, "at")->valuedouble, 10);
    assert_null(member(json, "decisions", 0, "at"));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "events")), 1);
    cJSON_Delete(json);
}

/* Asked again and again, a policy gives the same reservation: it is there once. */
static void a_reservation_is_told_once(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    add_job(&machine, 0, 1, 10);
    add_job(&machine, 1, 2, 5);
    for (int i = 0; i < 4; i++)
        add_job(&machine, 2 + i, 2, 1);
    struct schedule schedule = run(&machine);
    int told = 0;
    for (size_t i = 0; i < schedule.decision_count; i++)
        told += schedule.decisions[i].decision.kind == DECISION_RESERVE && schedule.decisions[i].decision.job == 2;
    assert_int_equal(told, 1);
    schedule_free(&schedule);
}

static void fails(const cJSON *json, const char *why)
{
    struct schedule schedule;
    struct error error = {0};
    assert_int_equal(schedule_read(&schedule, json, &error), -1);
    if (!strstr(error.text, why))
        fail_msg("'%s' is not in '%s'", why, error.text);
}

static void a_decision_that_lacks_something(void **state)
{
    (void)state;
    static const char *const names[] = {"time", "kind", "job", "from", "to", "nodes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cJSON *json = json_of_two();
        char why[80];
        cJSON_DeleteItemFromObject(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "decisions"), 2), names[i]);
        strcat(strcpy(why, "decision 3 has no "), names[i]);
        fails(json, why);
        cJSON_Delete(json);
    }
}

static void a_run_that_lacks_something(void **state)
{
    (void)state;
    static const char *const names[] = {"policy", "policy_options", "decisions"};
    for (size_t i = 0; i < 3; i++) {
        cJSON *json = json_of_two();
        cJSON_DeleteItemFromObject(json, names[i]);
        fails(json, names[i]);
        cJSON_Delete(json);
    }
    cJSON *json = json_of_two();
    cJSON *decision = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "decisions"), 0);
    cJSON_ReplaceItemInObject(decision, "nodes", cJSON_CreateString("4-1"));
    fails(json, "decision 1 has no nodes");
    cJSON_Delete(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_numbers_as_text),       cmocka_unit_test(no_node_numbers),
        cmocka_unit_test(a_schedule_as_json),         cmocka_unit_test(a_reservation_is_told_once),
        cmocka_unit_test(a_run_that_lacks_something), cmocka_unit_test(a_decision_that_lacks_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
