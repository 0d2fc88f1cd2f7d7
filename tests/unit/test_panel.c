/* The panel factorization of the Gauss example: P A = L U again, also where pivoting is all that helps. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gauss/panel.h"

#define MAX_ROWS  150
#define MAX_WIDTH 70

static double original[MAX_ROWS * MAX_WIDTH], a[MAX_ROWS * MAX_WIDTH];
static double smallest[MAX_WIDTH]; /* all 0 unless a test says otherwise */
static int pivots[MAX_WIDTH];

static void fill(int ld, int rows, int width, int zero_diagonal)
{
    srand48(rows * 1000 + width);
    for (int j = 0; j < width; j++)
        for (int i = 0; i < rows; i++)
            a[j * ld + i] = zero_diagonal && i <= j ? 0.0 : drand48() - 0.5;
    if (zero_diagonal)
        for (int j = 0; j < width; j++)
            a[j * ld + (j + 1) % rows] = 1.0;
    memcpy(original, a, sizeof a);
}

/* (L U)(i, j) of the factors in a. */
static double product(int ld, int i, int j)
{
    double sum = 0.0;
    for (int k = 0; k <= i && k <= j; k++)
        sum += (k == i ? 1.0 : a[k * ld + i]) * a[j * ld + k];
    return sum;
}

static void check(int ld, int rows, int width)
{
    assert_int_equal(panel_factorize(a, ld, rows, width, pivots, smallest), 0);
    for (int j = 0; j < width; j++) {
        assert_in_range(pivots[j], j, rows - 1);
        panel_swap(original + j * ld, pivots, 0, j);
        for (int i = j + 1; i < rows; i++)
            assert_true(fabs(a[j * ld + i]) <= 1.0 + DBL_EPSILON);
    }
    for (int j = 0; j < width; j++) {
        panel_swap(original + j * ld, pivots, j, width);
        for (int i = 0; i < rows; i++)
            if (fabs(product(ld, i, j) - original[j * ld + i]) > 1e-13 * rows)
                fail_msg("%d x %d: (%d, %d) is %g, not %g", rows, width, i, j, product(ld, i, j), original[j * ld + i]);
    }
}

static void factors_give_the_panel_back(void **state)
{
    (void)state;
    const int shapes[][2] = {{1, 1}, {2, 1}, {2, 2}, {5, 4}, {5, 5}, {9, 7}, {64, 64}, {140, 64}, {150, 70}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int zero_diagonal = 0; zero_diagonal <= (shapes[s][0] > shapes[s][1]); zero_diagonal++) {
            fill(MAX_ROWS, shapes[s][0], shapes[s][1], zero_diagonal);
            check(MAX_ROWS, shapes[s][0], shapes[s][1]);
        }
}

static void a_dependent_column_is_named(void **state)
{
    (void)state;
    for (int bad = 1; bad < 20; bad++) {
        fill(MAX_ROWS, 40, 20, 0);
        for (int i = 0; i < 40; i++)
            a[bad * MAX_ROWS + i] = 0.0;
        assert_int_equal(panel_factorize(a, MAX_ROWS, 40, 20, pivots, smallest), bad + 1);
    }
}

static void a_pivot_must_be_above_its_limit(void **state)
{
    (void)state;
    a[0] = 1.0, a[1] = 2.0, a[MAX_ROWS] = 1.0, a[MAX_ROWS + 1] = 2.5; /* pivots 2 and -0.25 */
    memcpy(original, a, sizeof a);
    smallest[1] = 0.2;
    assert_int_equal(panel_factorize(a, MAX_ROWS, 2, 2, pivots, smallest), 0);
    memcpy(a, original, sizeof a);
    smallest[1] = 0.25;
    assert_int_equal(panel_factorize(a, MAX_ROWS, 2, 2, pivots, smallest), 2);
    smallest[1] = 0.0;
}

static void tiny_pivots_do_not_overflow(void **state)
{
    (void)state;
    a[0] = 4e-320, a[1] = 2e-320;
    assert_int_equal(panel_factorize(a, MAX_ROWS, 2, 1, pivots, smallest), 0);
    assert_true(fabs(a[1] - 0.5) < 1e-3);
}

static void inverse_times_triangle_is_one(void **state)
{
    (void)state;
    static double inverse[MAX_WIDTH * MAX_WIDTH];
    const int width = 37;
    fill(MAX_ROWS, width, width, 0);
    panel_inverse(a, MAX_ROWS, width, inverse);
    for (int i = 0; i < width; i++)
        for (int j = 0; j < width; j++) {
            double sum = inverse[j * width + i];
            for (int k = 0; k < i; k++)
                sum += a[k * MAX_ROWS + i] * inverse[j * width + k];
            assert_true(fabs(sum - (i == j)) < 1e-12);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_give_the_panel_back),     cmocka_unit_test(a_dependent_column_is_named),
        cmocka_unit_test(a_pivot_must_be_above_its_limit), cmocka_unit_test(tiny_pivots_do_not_overflow),
        cmocka_unit_test(inverse_times_triangle_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
