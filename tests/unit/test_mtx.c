/* The Matrix Market reader of the Gauss example: what it reads, and what it says about files that it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gauss/mtx.h"

#define MAX_ORDER 4

/* What a file gave. */
typedef struct matrix {
    double a[MAX_ORDER][MAX_ORDER];
    int calls;
} matrix_t;

static void add(void *context, int64_t row, int64_t col, double value)
{
    matrix_t *matrix = context;
    assert_in_range(row, 0, MAX_ORDER - 1);
    assert_in_range(col, 0, MAX_ORDER - 1);
    matrix->a[row][col] += value;
    matrix->calls++;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

/* Opens and reads a file with this text; the first error, or 0. */
static int read_text(const char *text, mtx_t *shape, matrix_t *matrix, char *error, size_t error_size)
{
    char path[] = "/tmp/test_mtx_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_file(path, text);
    mtx_t mtx;
    *matrix = (matrix_t){0};
    int result = mtx_open(&mtx, path, error, error_size);
    if (result == 0) {
        *shape = mtx;
        result = mtx_entries(&mtx, add, matrix, error, error_size);
        mtx_close(&mtx);
    }
    unlink(path);
    return result;
}

static matrix_t read_good(const char *text, int64_t rows, int64_t cols)
{
    char error[256] = "";
    mtx_t shape;
    matrix_t matrix;
    if (read_text(text, &shape, &matrix, error, sizeof error) != 0)
        fail_msg("refused: %s", error);
    assert_int_equal(shape.rows, rows);
    assert_int_equal(shape.cols, cols);
    return matrix;
}

static void expect_refused(const char *text, const char *reason)
{
    char error[256] = "";
    mtx_t shape;
    matrix_t matrix;
    assert_int_equal(read_text(text, &shape, &matrix, error, sizeof error), -1);
    if (!strstr(error, reason))
        fail_msg("'%s' does not say '%s'", error, reason);
    assert_null(strchr(error, '\n'));
}

static void coordinate_general(void **state)
{
    (void)state;
    matrix_t m = read_good("%%MatrixMarket matrix coordinate real general\n% a comment\n\n"
                           "  2 3 3\n1 1 1.5\n% another\n2 3 -2e1\n  1   2  .25  \n",
                           2, 3);
    assert_int_equal(m.calls, 3);
    assert_true(m.a[0][0] == 1.5 && m.a[1][2] == -20.0 && m.a[0][1] == 0.25);
}

static void coordinate_symmetric_is_mirrored(void **state)
{
    (void)state;
    matrix_t m = read_good("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 4\n3 1 5\n3 3 6\n", 3, 3);
    assert_int_equal(m.calls, 4);
    assert_true(m.a[0][0] == 4 && m.a[2][0] == 5 && m.a[0][2] == 5 && m.a[2][2] == 6);
}

static void repeated_entries_come_again(void **state)
{
    (void)state;
    matrix_t m = read_good("%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n1 1 2\n", 1, 1);
    assert_true(m.a[0][0] == 3);
}

static void array_goes_by_columns(void **state)
{
    (void)state;
    matrix_t m = read_good("%%matrixmarket MATRIX Array Real General\n2 3\n1\n2\n3\n4\n5\n6\n", 2, 3);
    assert_true(m.a[0][0] == 1 && m.a[1][0] == 2 && m.a[0][1] == 3 && m.a[1][2] == 6);
}

static void array_symmetric_has_the_lower_triangle(void **state)
{
    (void)state;
    matrix_t m = read_good("%%MatrixMarket matrix array real symmetric\n3 3\n11\n21\n31\n22\n32\n33\n", 3, 3);
    assert_int_equal(m.calls, 9);
    assert_true(m.a[1][0] == 21 && m.a[0][1] == 21 && m.a[2][1] == 32 && m.a[1][2] == 32 && m.a[2][2] == 33);
}

static void last_line_needs_no_newline_and_crlf_is_fine(void **state)
{
    (void)state;
    matrix_t m = read_good("%%MatrixMarket matrix coordinate real general\r\n1 1 1\r\n1 1 7", 1, 1);
    assert_true(m.a[0][0] == 7);
}

static void no_entries_is_a_matrix_of_zeros(void **state)
{
    (void)state;
    matrix_t m = read_good("%%MatrixMarket matrix coordinate real general\n2 2 0\n", 2, 2);
    assert_int_equal(m.calls, 0);
}

#define GENERAL "%%MatrixMarket matrix coordinate real general\n"

static void bad_banners(void **state)
{
    (void)state;
    expect_refused("", "empty file");
    expect_refused("1 2 3\n", "no Matrix Market file");
    expect_refused("%%MatrixMarket matrix coordinate\n", "incomplete banner");
    expect_refused("%%MatrixMarket vector coordinate real general\n1 1\n", "object 'vector'");
    expect_refused("%%MatrixMarket matrix elemental real general\n1 1\n", "format 'elemental'");
    expect_refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", "field 'complex'");
    expect_refused("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "field 'pattern'");
    expect_refused("%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n", "symmetry 'hermitian'");
    expect_refused("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n", "symmetry 'skew-symmetric'");
}

static void bad_sizes(void **state)
{
    (void)state;
    expect_refused(GENERAL, "ends before");
    expect_refused(GENERAL "2 2\n", "rows, columns, entries");
    expect_refused(GENERAL "2 2 x\n", "rows, columns, entries");
    expect_refused(GENERAL "2 2 1 1\n", "rows, columns, entries");
    expect_refused(GENERAL "0 2 0\n", "make no sense");
    expect_refused(GENERAL "-2 2 0\n", "make no sense");
    expect_refused(GENERAL "2 2 -1\n", "make no sense");
    expect_refused(GENERAL "99999999999 2 1\n", "make no sense");
    expect_refused(GENERAL "99999999999999999999 2 1\n", "rows, columns, entries");
    expect_refused("%%MatrixMarket matrix array real symmetric\n2 3\n1\n", "not square");
}

static void bad_entries(void **state)
{
    (void)state;
    expect_refused(GENERAL "2 2 2\n1 1 1\n", ":3: the file ends after 1 of 2 entries");
    expect_refused(GENERAL "2 2 1\n1 1 1\n2 2 1\n", ":4: more than the 1 entries");
    expect_refused(GENERAL "2 2 1\n1 3 1\n", ":3: entry (1, 3) is outside of 2 x 2");
    expect_refused(GENERAL "2 2 1\n0 1 1\n", "entry (0, 1) is outside");
    expect_refused(GENERAL "2 2 1\n-1 1 1\n", "outside");
    expect_refused(GENERAL "2 2 1\n1 1\n", "expected row, column, finite value");
    expect_refused(GENERAL "2 2 1\n1 x 1\n", "expected row, column, value");
    expect_refused(GENERAL "2 2 1\n1 1 1 1\n", "expected row, column, finite value");
    expect_refused(GENERAL "2 2 1\n1 1 nan\n", "finite");
    expect_refused(GENERAL "2 2 1\n1 1 1e999\n", "finite");
    expect_refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "above the diagonal");
    expect_refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "ends after 3 of 4");
    expect_refused("%%MatrixMarket matrix array real general\n1 1\nx\n", "one finite number");
}

static void missing_file(void **state)
{
    (void)state;
    char error[256];
    mtx_t mtx;
    assert_int_equal(mtx_open(&mtx, "/nonexistent/a.mtx", error, sizeof error), -1);
    assert_string_equal(error, "/nonexistent/a.mtx: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinate_general),
        cmocka_unit_test(coordinate_symmetric_is_mirrored),
        cmocka_unit_test(repeated_entries_come_again),
        cmocka_unit_test(array_goes_by_columns),
        cmocka_unit_test(array_symmetric_has_the_lower_triangle),
        cmocka_unit_test(last_line_needs_no_newline_and_crlf_is_fine),
        cmocka_unit_test(no_entries_is_a_matrix_of_zeros),
        cmocka_unit_test(bad_banners),
        cmocka_unit_test(bad_sizes),
        cmocka_unit_test(bad_entries),
        cmocka_unit_test(missing_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
