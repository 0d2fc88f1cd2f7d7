/* What a status says for schedulers: speeds by size, costs of past adaptations, size rules as lists. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/status.h"

static void assert_number(const cJSON *list, int index, const char *key, double expected)
{
    double found = json_number(cJSON_GetArrayItem(list, index), key, NAN);
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%s of number %d is %g, not %g", key, index, found, expected);
}

/* ---- Speeds ---------------------------------------------------------------------- */

static void add(struct speeds *speeds, int pc, int size, int64_t iterations, double seconds)
{
    speeds_add(speeds, &(struct speed){pc, size, iterations, seconds});
}

static void speeds_are_by_element_and_size(void **state)
{
    struct speeds speeds = {0};
    (void)state;
    add(&speeds, 2, 1, 7, 7);
    add(&speeds, 1, 4, 30, 1);
    add(&speeds, 1, 2, 20, 1);
    add(&speeds, 1, 4, 90, 1);
    cJSON *list = speeds_json(&speeds, 1, EPOP_SCALING_STRONG);
    assert_int_equal(cJSON_GetArraySize(list), 2);
    assert_number(list, 0, "size", 2);
    assert_number(list, 0, "speedup", 1);
    assert_number(list, 1, "size", 4);
    assert_number(list, 1, "iterations", 120);
    assert_number(list, 1, "seconds", 2);
    assert_number(list, 1, "rate", 60);
    assert_number(list, 1, "speedup", 3);
    cJSON_Delete(list);
    speeds_destroy(&speeds);
}

/* An iteration of 4 ranks is twice the work of one of 2. */
static void speeds_with_weak_scaling(void **state)
{
    struct speeds speeds = {0};
    (void)state;
    add(&speeds, 1, 2, 20, 1);
    add(&speeds, 1, 4, 18, 1);
    for (epop_scaling scaling = EPOP_SCALING_WEAK; scaling <= EPOP_SCALING_WEAK_WORK; scaling++) {
        cJSON *list = speeds_json(&speeds, 1, scaling);
        assert_number(list, 1, "rate", 18);
        assert_number(list, 0, "speedup", 1);
        assert_number(list, 1, "speedup", 1.8);
        cJSON_Delete(list);
    }
    speeds_destroy(&speeds);
}

static void speeds_of_many_sizes(void **state)
{
    struct speeds speeds = {0};
    (void)state;
    for (int size = 100; size >= 1; size--)
        add(&speeds, 0, size, size, 1);
    cJSON *list = speeds_json(&speeds, 0, EPOP_SCALING_STRONG);
    assert_int_equal(cJSON_GetArraySize(list), 100);
    for (int i = 0; i < 100; i++)
        assert_number(list, i, "speedup", i + 1);
    cJSON_Delete(list);
    speeds_destroy(&speeds);
}

static void a_speed_in_no_time_is_none(void **state)
{
    struct speeds speeds = {0};
    (void)state;
    add(&speeds, 0, 1, 5, 0);
    add(&speeds, 0, 2, 5, 1);
    cJSON *list = speeds_json(&speeds, 0, EPOP_SCALING_STRONG);
    assert_false(cJSON_HasObjectItem(cJSON_GetArrayItem(list, 0), "rate"));
    assert_number(list, 1, "rate", 5);
    assert_false(cJSON_HasObjectItem(cJSON_GetArrayItem(list, 1), "speedup"));
    cJSON_Delete(list);
    speeds_destroy(&speeds);
}

static void take(struct speeds *speeds, const char *text)
{
    cJSON *json = cJSON_Parse(text);
    struct message message;
    struct error why;
    assert_non_null(json);
    cJSON_AddStringToObject(json, "op", REPORT(position));
    cJSON_AddNumberToObject(json, "pc", 0);
    cJSON_AddNumberToObject(json, "visit", 0);
    cJSON_AddNumberToObject(json, "iteration", 0);
    if (!message_decode(&message, KIND_REPORT, json, &why))
        fail_msg("%s", why.text);
    speeds_take(speeds, ((const struct report_position *)message.is)->tally);
    message_free(&message);
    cJSON_Delete(json);
}

static void messages_with_and_without_a_tally(void **state)
{
    struct speeds speeds = {0};
    (void)state;
    take(&speeds, "{}");
    take(&speeds, "{\"tally\":{\"size\":3,\"elements\":[]}}");
    take(&speeds, "{\"tally\":{\"size\":0,\"elements\":[{\"pc\":1,\"iterations\":1,\"seconds\":1}]}}");
    assert_int_equal(speeds.count, 0);
    take(&speeds, "{\"tally\":{\"size\":3,\"elements\":[{\"pc\":1,\"iterations\":8,\"seconds\":2}]}}");
    assert_int_equal(speeds.count, 1);
    assert_int_equal(speeds.seen[0].size, 3);
    assert_int_equal(speeds.seen[0].iterations, 8);
    speeds_destroy(&speeds);
}

/* ---- Costs ----------------------------------------------------------------------- */

static void costs_are_means_by_change(void **state)
{
    const struct adaptation history[] = {
        {.from = 1,
         .to = 4,
         .state = ADAPTATION_COMMITTED,
         .requested = 10,
         .committed = 11,
         .stall = 0.1,
         .bytes = 100},
        {.from = 4,
         .to = 1,
         .state = ADAPTATION_COMMITTED,
         .requested = 20,
         .committed = 20.5,
         .stall = 0.5,
         .bytes = 7},
        {.from = 1, .to = 4, .state = ADAPTATION_FAILED, .requested = 30},
        {.from = 1,
         .to = 4,
         .state = ADAPTATION_COMMITTED,
         .requested = 40,
         .committed = 43,
         .stall = 0.3,
         .bytes = 300},
        {0},
    };
    (void)state;
    cJSON *list = costs_json(history, 5);
    assert_int_equal(cJSON_GetArraySize(list), 2);
    assert_number(list, 0, "from", 1);
    assert_number(list, 0, "to", 4);
    assert_number(list, 0, "times", 2);
    assert_number(list, 0, "seconds", 2);
    assert_number(list, 0, "stall", 0.2);
    assert_number(list, 0, "bytes", 200);
    assert_number(list, 1, "times", 1);
    assert_number(list, 1, "seconds", 0.5);
    cJSON_Delete(list);
}

/* ---- Rules ----------------------------------------------------------------------- */

static int odd_and_small(int size)
{
    return size % 2 && size < 6;
}

static void assert_accepted(const epop_sizes_t *sizes, int most, int count, const int *expected)
{
    cJSON *json = rules_json(sizes, most);
    const cJSON *accepted = cJSON_GetObjectItem(json, "accepted");
    assert_int_equal(cJSON_GetArraySize(accepted), count);
    for (int i = 0; i < count; i++)
        assert_int_equal(cJSON_GetArrayItem(accepted, i)->valueint, expected[i]);
    cJSON_Delete(json);
}

static void rules_are_lists(void **state)
{
    (void)state;
    const epop_sizes_t any = {0}, multiple = {.kind = EPOP_SIZE_MULTIPLE, .factor = 3, .max = 8};
    const epop_sizes_t function = {.kind = EPOP_SIZE_FUNCTION, .accepts = odd_and_small};
    assert_accepted(&any, 3, 3, (const int[]){1, 2, 3});
    assert_accepted(&multiple, 20, 2, (const int[]){3, 6});
    assert_accepted(&function, 20, 3, (const int[]){1, 3, 5});
    assert_accepted(&function, 4, 2, (const int[]){1, 3});
}

static void a_list_has_an_end(void **state)
{
    const epop_sizes_t power = {.kind = EPOP_SIZE_POWER_OF_TWO};
    (void)state;
    cJSON *json = rules_json(&power, 100000);
    assert_int_equal(json_int(json, "listed", 0), RULES_LARGEST);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "accepted")), 11);
    assert_string_equal(json_text(json, "text"), "powers of two");
    cJSON_Delete(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speeds_are_by_element_and_size),
        cmocka_unit_test(speeds_with_weak_scaling),
        cmocka_unit_test(speeds_of_many_sizes),
        cmocka_unit_test(a_speed_in_no_time_is_none),
        cmocka_unit_test(messages_with_and_without_a_tally),
        cmocka_unit_test(costs_are_means_by_change),
        cmocka_unit_test(rules_are_lists),
        cmocka_unit_test(a_list_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
