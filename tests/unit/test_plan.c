/* The plan of an adaptation: who goes where, and that it survives its way through JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/member/plan.h"

/* As a process reads it that is told to connect; NULL: it is none. Takes the JSON, to which it adds what does not
 * matter here. */
static struct plan *plan_read(cJSON *json)
{
    static const char *const others[] = {"adaptation", "count", "pc", "visit", "iteration"};
    cJSON *order = json_message(ORDER(connect));
    struct message message;
    struct error why;
    for (size_t i = 0; cJSON_IsObject(json) && i < sizeof others / sizeof *others; i++)
        if (!cJSON_HasObjectItem(json, others[i]))
            cJSON_AddNumberToObject(json, others[i], 0);
    cJSON_AddItemToObject(order, "plan", json);
    bool fits = message_decode(&message, KIND_ORDER, order, &why);
    struct plan *plan = fits ? plan_of(((const struct order_connect *)message.is)->plan) : NULL;
    message_free(&message);
    cJSON_Delete(order);
    return plan;
}

static void expect_ranks(const struct plan *plan, const int *processes, const int *new_ranks)
{
    for (int i = 0; i < plan_total(plan); i++) {
        assert_int_equal(plan->processes[i], processes[i]);
        assert_int_equal(plan->new_ranks[i], new_ranks[i]);
    }
}

static void expand(void **state)
{
    (void)state;
    struct plan *plan = plan_make(1, (int[]){0, 3}, (char[]){0, 0}, 2, (int[]){1, 2}, 2);
    assert_int_equal(plan->staying, 2);
    assert_int_equal(plan_new_size(plan), 4);
    expect_ranks(plan, (int[]){0, 3, 1, 2}, (int[]){0, 1, 2, 3});
    plan_free(plan);
}

static void shrink(void **state)
{
    (void)state;
    struct plan *plan = plan_make(2, (int[]){0, 1, 2, 3}, (char[]){0, 1, 0, 1}, 4, NULL, 0);
    assert_int_equal(plan->staying, 2);
    assert_int_equal(plan_new_size(plan), 2);
    expect_ranks(plan, (int[]){0, 1, 2, 3}, (int[]){0, -1, 1, -1});
    plan_free(plan);
}

static void migrate(void **state)
{
    (void)state;
    struct plan *plan = plan_make(3, (int[]){0, 5, 7}, (char[]){0, 1, 0}, 3, (int[]){9, 4}, 2);
    assert_int_equal(plan->staying, 2);
    assert_int_equal(plan_new_size(plan), 4);
    expect_ranks(plan, (int[]){0, 5, 7, 9, 4}, (int[]){0, -1, 1, 2, 3});
    assert_int_equal(plan_index(plan, 9), 3);
    assert_int_equal(plan_index(plan, 5), 1);
    assert_int_equal(plan_index(plan, 6), -1);
    plan_free(plan);
}

/* Whatever the sizes: the new ranks are 0 .. n-1 once each, in the order of all. */
static void any_sizes(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 500; round++) {
        int old[20], joiners[20], expected = 0;
        char leaves[20] = {0};
        int old_size = 1 + (int)(rand_r(&seed) % 20), joining = (int)(rand_r(&seed) % 20);
        for (int i = 0; i < 20; i++) {
            old[i] = i;
            joiners[i] = 100 + i;
            leaves[i] = i && rand_r(&seed) % 2;
        }
        struct plan *plan = plan_make(round, old, leaves, old_size, joiners, joining);
        for (int i = 0; i < plan_total(plan); i++)
            assert_int_equal(plan->new_ranks[i], i < old_size && leaves[i] ? -1 : expected++);
        assert_int_equal(expected, plan_new_size(plan));
        plan_free(plan);
    }
}

static void through_json(void **state)
{
    (void)state;
    struct plan *plan = plan_make(4, (int[]){0, 5, 7}, (char[]){0, 1, 0}, 3, (int[]){9}, 1);
    plan->count = UINT64_C(999999999999999); /* the largest that cJSON keeps */
    plan->at = (struct position){.pc = 2, .visit = 1 << 30, .iteration = INT64_C(1) << 49};
    cJSON *json = plan_to_json(plan);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    json = cJSON_Parse(text);
    struct plan *copy = plan_read(json);
    assert_non_null(copy);
    assert_int_equal(copy->adaptation, 4);
    assert_true(copy->count == plan->count);
    assert_memory_equal(&copy->at.visit, &plan->at.visit, sizeof plan->at.visit);
    assert_true(copy->at.pc == 2 && copy->at.iteration == plan->at.iteration);
    assert_int_equal(copy->old_size, 3);
    assert_int_equal(copy->joining, 1);
    assert_int_equal(copy->staying, 2);
    expect_ranks(copy, plan->processes, plan->new_ranks);
    plan_free(copy);
    plan_free(plan);
    free(text);
}

static void bad_json(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{}",
        "[]",
        "{\"processes\":[0],\"new_ranks\":[0]}",
        "{\"old_size\":0,\"processes\":[],\"new_ranks\":[]}",
        "{\"old_size\":2,\"processes\":[0],\"new_ranks\":[0]}",
        "{\"old_size\":1,\"processes\":[0],\"new_ranks\":[0,1]}",
        "{\"old_size\":1,\"processes\":[0,1],\"new_ranks\":[0]}",
        "{\"old_size\":\"1\",\"processes\":[0],\"new_ranks\":[0]}",
    };
    assert_null(plan_read(NULL));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cJSON *json = cJSON_Parse(bad[i]);
        assert_non_null(json);
        assert_null(plan_read(json));
    }
    cJSON *good = cJSON_Parse("{\"old_size\":1,\"processes\":[0],\"new_ranks\":[0]}");
    struct plan *plan = plan_read(good);
    assert_non_null(plan);
    plan_free(plan);
}

static void nothing_to_free(void **state)
{
    (void)state;
    plan_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expand),          cmocka_unit_test(shrink),   cmocka_unit_test(migrate),
        cmocka_unit_test(any_sizes),       cmocka_unit_test(bad_json), cmocka_unit_test(through_json),
        cmocka_unit_test(nothing_to_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
