/* The fit of Amdahl's law: known laws are found again, and what it says of itself is true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/amdahl.h"

#define COUNT(points) (sizeof(points) / sizeof *(points))

static void assert_near(double value, double expected)
{
    double difference = value - expected;
    if (!(difference < 1e-9 && difference > -1e-9))
        fail_msg("%.12g is not %.12g", value, expected);
}

static void a_law_is_found_again(void **state)
{
    (void)state;
    static const struct amdahl_point points[] = {{1, 2.5}, {2, 1.5}, {4, 1.0}, {8, 0.75}, {16, 0.625}};
    struct amdahl fit;
    amdahl_fit(points, COUNT(points), &fit);
    assert_int_equal(fit.kind, AMDAHL_FITTED);
    assert_near(fit.serial, 0.5);
    assert_near(fit.parallel, 2);
    assert_near(fit.fraction, 0.2);
    assert_near(fit.deviation, 0);
    assert_near(amdahl_time(&fit, 32), 0.5625);
}

/* By hand: x = 1, 1/2, 1/4 and y = 4, 3, 2 give p = 18/7, and s = 3 - p * 7/12. */
static void least_squares(void **state)
{
    (void)state;
    static const struct amdahl_point points[] = {{1, 4}, {2, 3}, {4, 2}};
    struct amdahl fit;
    amdahl_fit(points, COUNT(points), &fit);
    assert_near(fit.parallel, 18.0 / 7);
    assert_near(fit.serial, 3 - 18.0 / 7 * 7 / 12);
    /* No other line is nearer: the residuals are orthogonal to 1 and to x. */
    double sum = 0, moment = 0, largest = 0;
    for (size_t i = 0; i < COUNT(points); i++) {
        double residual = amdahl_time(&fit, points[i].size) - points[i].time;
        double relative = (residual < 0 ? -residual : residual) / points[i].time;
        sum += residual;
        moment += residual / points[i].size;
        largest = relative > largest ? relative : largest;
    }
    assert_near(sum, 0);
    assert_near(moment, 0);
    assert_near(fit.deviation, largest);
}

static void two_sizes_are_met_exactly(void **state)
{
    (void)state;
    static const struct amdahl_point points[] = {{2, 0.03}, {6, 0.02}};
    struct amdahl fit;
    amdahl_fit(points, COUNT(points), &fit);
    assert_int_equal(fit.kind, AMDAHL_EXACT);
    assert_near(amdahl_time(&fit, 2), 0.03);
    assert_near(amdahl_time(&fit, 6), 0.02);
    assert_near(fit.deviation, 0);
}

static void ideal_scaling_has_no_serial_part(void **state)
{
    (void)state;
    static const struct amdahl_point points[] = {{1, 0.3}, {3, 0.1}, {10, 0.03}};
    struct amdahl fit;
    amdahl_fit(points, COUNT(points), &fit);
    assert_near(fit.fraction, 0);
    assert_near(fit.parallel, 0.3);
    assert_true(fit.serial >= 0);
}

static void faster_than_ideal(void **state)
{
    (void)state;
    static const struct amdahl_point points[] = {{1, 8}, {2, 3}, {4, 1}};
    struct amdahl fit;
    amdahl_fit(points, COUNT(points), &fit);
    assert_int_equal(fit.kind, AMDAHL_SUPERLINEAR);
    assert_near(fit.serial, 0);
    assert_near(fit.parallel, (8 + 1.5 + 0.25) / (1 + 0.25 + 0.0625));
    assert_near(fit.fraction, 0);
    assert_true(fit.deviation > 0.5);
}

static void slower_with_more_ranks(void **state)
{
    (void)state;
    static const struct amdahl_point points[] = {{1, 1}, {2, 2}, {4, 3}};
    struct amdahl fit;
    amdahl_fit(points, COUNT(points), &fit);
    assert_int_equal(fit.kind, AMDAHL_FLAT);
    assert_near(fit.serial, 2);
    assert_near(fit.parallel, 0);
    assert_near(fit.fraction, 1);
    assert_near(fit.deviation, 1);
}

static void no_fit_of_one_size(void **state)
{
    (void)state;
    static const struct amdahl_point point = {4, 1};
    struct amdahl fit;
    for (size_t count = 0; count < 2; count++) {
        amdahl_fit(&point, count, &fit);
        assert_int_equal(fit.kind, AMDAHL_NONE);
    }
}

static void expect_verdict(const struct amdahl_point *points, size_t count, const char *part)
{
    struct amdahl fit;
    char text[160];
    amdahl_fit(points, count, &fit);
    amdahl_verdict(&fit, count, text, sizeof text);
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, text);
    assert_true(strlen(text) < sizeof text - 1);
}

static void verdicts(void **state)
{
    (void)state;
    static const struct amdahl_point good[] = {{1, 2.5}, {2, 1.51}, {4, 1.0}, {8, 0.75}};
    static const struct amdahl_point exact[] = {{1, 1.0}, {2, 0.6}, {3, 0.2 + 0.8 / 3}, {5, 0.36}};
    static const struct amdahl_point bad[] = {{1, 10}, {2, 9}, {4, 3}, {8, 5}};
    static const struct amdahl_point slower[] = {{1, 1}, {2, 2}};
    static const struct amdahl_point faster[] = {{1, 8}, {2, 3}};
    static const struct amdahl_point ideal[] = {{1, 8}, {2, 3.99}};
    expect_verdict(good, 0, "nothing to fit");
    expect_verdict(good, 1, "one world size only");
    expect_verdict(good, 2, "two say nothing");
    expect_verdict(good, 3, "at 3 world sizes, which are few");
    expect_verdict(good, 4, "the fit is within 0.5");
    expect_verdict(exact, 4, "the fit is within 0.1 % of");
    expect_verdict(bad, 4, "the law does not hold");
    expect_verdict(slower, 2, "no faster with more ranks");
    expect_verdict(ideal, 2, "no serial part is seen");
    expect_verdict(faster, 2, "faster than in proportion");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_law_is_found_again),      cmocka_unit_test(least_squares),
        cmocka_unit_test(two_sizes_are_met_exactly), cmocka_unit_test(ideal_scaling_has_no_serial_part),
        cmocka_unit_test(faster_than_ideal),         cmocka_unit_test(slower_with_more_ranks),
        cmocka_unit_test(no_fit_of_one_size),        cmocka_unit_test(verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
