/* The fits of a profile: of which elements, from which figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/fits.h"

#define WORLD(size, iterations, mean)                                                                                  \
    "{\"size\":" #size ",\"iterations\":" #iterations ",\"loop_time\":{\"mean\":" #mean "}}"

/* Element 1: T(n) = 0.5 + 2/n; element 2 ran at one size; element 3 made no iterations; element 0 was never entered. */
static const char profile_text[] =
    "{\"elements\":["
    "{\"pc\":0,\"worlds\":[]},"
    "{\"pc\":1,\"worlds\":[" WORLD(1, 10, 25) "," WORLD(2, 100, 150) "," WORLD(
        4, 2, 2) "]},"
                 "{\"pc\":2,\"worlds\":[" WORLD(4, 5, 1) "]},"
                                                         "{\"pc\":3,\"worlds\":[" WORLD(1, 0, 1) "," WORLD(
                                                             2, 0,
                                                             1) "]}],"
                                                                "\"efficiency\":[{\"size\":2,\"speedup\":1},{\"size\":"
                                                                "4,\"speedup\":1.6},{\"size\":8,\"speedup\":null}]}";

static double number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static void assert_near(double value, double expected)
{
    if (!(value - expected < 1e-9 && expected - value < 1e-9))
        fail_msg("%.12g is not %.12g", value, expected);
}

static int setup(void **state)
{
    cJSON *profile = cJSON_Parse(profile_text);
    *state = fits_of(profile);
    cJSON_Delete(profile);
    return *state == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    cJSON_Delete(*state);
    return 0;
}

static void elements_that_iterated(void **state)
{
    const cJSON *elements = cJSON_GetObjectItemCaseSensitive(*state, "elements");
    assert_int_equal(cJSON_GetArraySize(elements), 2);
    const cJSON *first = cJSON_GetArrayItem(elements, 0);
    assert_near(number(first, "pc"), 1);
    assert_near(number(first, "points"), 3);
    assert_near(number(first, "serial"), 0.5);
    assert_near(number(first, "parallel"), 2);
    assert_near(number(first, "fraction"), 0.2);
}

static void one_size_gives_null(void **state)
{
    const cJSON *second = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(*state, "elements"), 1);
    assert_near(number(second, "pc"), 2);
    assert_near(number(second, "points"), 1);
    static const char *const keys[] = {"serial", "parallel", "fraction", "deviation"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(second, keys[i])));
}

/* Relative times 1 at 2 ranks, 0.625 at 4: s = 0.25, p = 1.5. */
static void the_program_in_times_of_its_smallest_world(void **state)
{
    const cJSON *program = cJSON_GetObjectItemCaseSensitive(*state, "program");
    assert_near(number(program, "points"), 2);
    assert_near(number(program, "serial"), 0.25);
    assert_near(number(program, "parallel"), 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_that_iterated),
        cmocka_unit_test(one_size_gives_null),
        cmocka_unit_test(the_program_in_times_of_its_smallest_world),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
