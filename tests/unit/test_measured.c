/* The sums of processes put together, since they were told last. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/measure.h"

#define TEST(function) cmocka_unit_test_teardown(function, forget)

static struct measured_told told[2];
static struct measured measured;

static int forget(void **state)
{
    (void)state;
    for (size_t p = 0; p < 2; p++)
        measured_forget(&told[p]);
    measured_free(&measured);
    return 0;
}

static int present; /* the size of the world */

/* A process says so, in a world of that size. */
static void say(int process, const char *text, int size)
{
    present = size;
    cJSON *json = json_message(REPORT(gauge)), *elements = cJSON_Parse(text), *element;
    struct message message;
    struct error why;
    cJSON_ArrayForEach(element, elements)
    {
        if (!cJSON_HasObjectItem(element, "life"))
            cJSON_AddNumberToObject(element, "life", 0);
        if (!cJSON_HasObjectItem(element, "mtct"))
            cJSON_AddNumberToObject(cJSON_AddObjectToObject(element, "mtct"), "values", 0);
    }
    cJSON_AddNumberToObject(json, "round", 1);
    assert_true(cJSON_AddItemToObject(json, "elements", elements));
    if (!message_decode(&message, KIND_REPORT, json, &why))
        fail_msg("%s", why.text);
    const struct report_gauge *report = message.is;
    for (int i = 0; i < report->elements.count; i++)
        assert_int_equal(measured_add(&measured, &told[process], &report->elements.items[i],
                                      report->elements.items[i].pc, size, process),
                         0);
    message_free(&message);
    cJSON_Delete(json);
}

static const char *name(const void *context, int pc)
{
    (void)context;
    return pc == 1 ? "one" : "another";
}

/* The answer as text; what is told from then on is another one. */
static void expect(const char *expected)
{
    cJSON *json = measured_json(&measured, present, name, NULL), *wanted = cJSON_Parse(expected);
    char *text = cJSON_PrintUnformatted(json);
    assert_non_null(wanted);
    if (!cJSON_Compare(json, wanted, 1))
        fail_msg("%s\nis not\n%s", text, expected);
    cJSON_free(text);
    cJSON_Delete(json);
    cJSON_Delete(wanted);
    measured_free(&measured);
}

#define NO_MTCT         "\"mtct\":{\"values\":0}"
#define OF_RANK_0(load) ",\"loads\":[[0," load "]],\"imbalance\":1"
#define IDLE            ",\"loads\":[[0,0]]"

static void two_ranks(void **state)
{
    (void)state;
    say(0, "[{\"pc\":1,\"size\":2,\"iterations\":10,\"loop\":2,\"mpi\":0.5}]", 2);
    say(1, "[{\"pc\":1,\"size\":2,\"iterations\":6,\"loop\":2,\"mpi\":1}]", 2);
    expect("[{\"pc\":1,\"name\":\"one\",\"size\":2,\"ranks\":2,\"iterations\":10,\"rate\":4,\"loop_seconds\":4,"
           "\"mpi_seconds\":1.5," NO_MTCT ",\"loads\":[[0,1.5],[1,1]],\"imbalance\":1.2}]");
}

static void since_the_last_time(void **state)
{
    (void)state;
    say(0, "[{\"pc\":1,\"size\":2,\"iterations\":10,\"loop\":2,\"mpi\":0.5}]", 2);
    measured_free(&measured);
    say(0, "[{\"pc\":1,\"size\":2,\"iterations\":14,\"loop\":4,\"mpi\":0.75}]", 2);
    expect("[{\"pc\":1,\"name\":\"one\",\"size\":2,\"ranks\":1,\"iterations\":4,\"rate\":2,\"loop_seconds\":2,"
           "\"mpi_seconds\":0.25," NO_MTCT OF_RANK_0("1.75") "}]");
    say(0, "[{\"pc\":1,\"size\":2,\"iterations\":14,\"loop\":4,\"mpi\":0.75}]", 2); /* a rank that hangs */
    expect("[{\"pc\":1,\"name\":\"one\",\"size\":2,\"ranks\":1,\"iterations\":0,\"loop_seconds\":0,"
           "\"mpi_seconds\":0," NO_MTCT IDLE "}]");
}

static void a_process_that_began_anew(void **state)
{
    (void)state;
    say(0, "[{\"pc\":1,\"size\":2,\"iterations\":10,\"loop\":2,\"mpi\":0.5}]", 2);
    measured_free(&measured);
    say(0, "[{\"pc\":1,\"size\":2,\"life\":7,\"iterations\":4,\"loop\":1,\"mpi\":0.5}]", 2);
    expect("[{\"pc\":1,\"name\":\"one\",\"size\":2,\"ranks\":1,\"iterations\":4,\"rate\":4,\"loop_seconds\":1,"
           "\"mpi_seconds\":0.5," NO_MTCT OF_RANK_0("0.5") "}]");
    say(0, "[{\"pc\":1,\"size\":2,\"life\":9,\"iterations\":6,\"loop\":0.5,\"mpi\":0.25}]",
        2); /* more of them, in less time */
    expect("[{\"pc\":1,\"name\":\"one\",\"size\":2,\"ranks\":1,\"iterations\":6,\"rate\":12,\"loop_seconds\":0.5,"
           "\"mpi_seconds\":0.25," NO_MTCT OF_RANK_0("0.25") "}]");
}

/* Of another size there is only what grew; in the program's order. */
static void sizes_apart(void **state)
{
    static const char both[] = "[{\"pc\":2,\"size\":4,\"iterations\":1,\"loop\":1,\"mpi\":0},"
                               "{\"pc\":1,\"size\":4,\"iterations\":2,\"loop\":1,\"mpi\":0},"
                               "{\"pc\":1,\"size\":2,\"iterations\":8,\"loop\":2,\"mpi\":1}]";
    (void)state;
    say(0, both, 4);
    expect(
        "[{\"pc\":1,\"name\":\"one\",\"size\":2,\"ranks\":1,\"iterations\":8,\"rate\":4,\"loop_seconds\":2,"
        "\"mpi_seconds\":1," NO_MTCT "},"
        "{\"pc\":1,\"name\":\"one\",\"size\":4,\"ranks\":1,\"iterations\":2,\"rate\":2,\"loop_seconds\":1,"
        "\"mpi_seconds\":0," NO_MTCT OF_RANK_0(
            "1") "},"
                 "{\"pc\":2,\"name\":\"another\",\"size\":4,\"ranks\":1,\"iterations\":1,\"rate\":1,\"loop_seconds\":1,"
                 "\"mpi_seconds\":0," NO_MTCT OF_RANK_0("1") "}]");
    say(0, both, 4);
    expect("[{\"pc\":1,\"name\":\"one\",\"size\":4,\"ranks\":1,\"iterations\":0,\"loop_seconds\":0,\"mpi_seconds\":"
           "0," NO_MTCT IDLE
           "},{\"pc\":2,\"name\":\"another\",\"size\":4,\"ranks\":1,\"iterations\":0,\"loop_seconds\":0,"
           "\"mpi_seconds\":0," NO_MTCT IDLE "}]");
}

static void the_mtct_of_two_ranks(void **state)
{
    (void)state;
    say(0,
        "[{\"pc\":1,\"size\":2,\"iterations\":1,\"loop\":1,\"mpi\":1,\"mtct\":{\"values\":3,\"weight\":1,\"mean\":1,"
        "\"variance\":0,\"min\":1,\"max\":1,\"trend\":1}}]",
        2);
    say(1,
        "[{\"pc\":1,\"size\":2,\"iterations\":1,\"loop\":1,\"mpi\":0,\"mtct\":{\"values\":1,\"weight\":3,\"mean\":0,"
        "\"variance\":0,\"min\":0,\"max\":0,\"trend\":0}}]",
        2);
    expect("[{\"pc\":1,\"name\":\"one\",\"size\":2,\"ranks\":2,\"iterations\":1,\"rate\":1,\"loop_seconds\":2,"
           "\"mpi_seconds\":1,\"mtct\":{\"values\":4,\"mean\":0.25,\"variance\":0.1875,\"min\":0,\"max\":1,"
           "\"trend\":0.25},\"loads\":[[0,0],[1,1]],\"imbalance\":2}]");
}

static void nobody_has_measured(void **state)
{
    (void)state;
    say(0, "[]", 2);
    expect("[]");
}

/* A process says so of a loop that has that number in the job. */
static void say_loop(int rank, int number, int64_t iterations, double loop)
{
    const struct shape_spread spread = {.values = 0};
    const struct shape_gauge_element sums = {
        .pc = 1000000, .size = 4, .iterations = iterations, .loop = loop, .mpi = loop / 2, .mtct = &spread};
    struct measured_told fresh = {0};
    assert_int_equal(measured_add(&measured, &fresh, &sums, number, 4, rank), 0);
    measured_forget(&fresh);
}

/* Of several ranks, which are known; two of one rank that cannot be told apart are one rank's. */
static void loops_of_ranks(void **state)
{
    (void)state;
    say_loop(0, 1, 10, 1);
    say_loop(2, 1, 12, 2);
    say_loop(2, 1, 1, 1);
    say_loop(1, 2, 11, 4);
    say_loop(3, 2, 11, 4);
    assert_int_equal(measured.count, 2);
    assert_int_equal(measured.elements[0].ranks, 2);
    assert_int_equal(measured_join(&measured, 0, 1), 0);
    assert_int_equal(measured.count, 1);
    const struct measured_element *all = &measured.elements[0];
    const double loads[] = {0.5, 2, 1.5, 2};
    assert_int_equal(all->ranks, 4);
    for (int rank = 0; rank < 4; rank++)
        assert_true(all->who[rank].rank == rank && all->who[rank].load == loads[rank]);
    assert_true(all->sums.iterations == 12 && all->all_iterations == 45 && all->sums.loop == 12 && all->sums.mpi == 6);
    assert_true(measured_imbalance(all) == 4.0 / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_ranks),      TEST(since_the_last_time),   TEST(a_process_that_began_anew),
        TEST(sizes_apart),    TEST(the_mtct_of_two_ranks), TEST(nobody_has_measured),
        TEST(loops_of_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
