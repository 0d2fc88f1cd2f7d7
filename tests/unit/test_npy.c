/* The .npy reader and writer of the examples: headers good and bad, both orders, blocks, large positions. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "examples/common/npy.h"
#include "examples/common/npy_header.h"

static char folder[] = "/tmp/test_npy.XXXXXX";
static char path[sizeof(folder) + 16];
static char error[256];

/* A file with this dictionary and `elements` doubles 0, 1, 2 ... */
static void write_file(int version, const char *dictionary, int elements)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    size_t length = strlen(dictionary);
    fwrite("\x93NUMPY", 1, 6, stream);
    fputc(version, stream);
    fputc(0, stream);
    fputc((int)(length & 255), stream);
    fputc((int)(length >> 8), stream);
    if (version == 2)
        fwrite("\0\0", 1, 2, stream);
    fwrite(dictionary, 1, length, stream);
    for (int i = 0; i < elements; i++) {
        double value = i;
        fwrite(&value, sizeof(value), 1, stream);
    }
    fclose(stream);
}

static void assert_refused(const char *reason)
{
    npy_file_t file;
    assert_int_equal(npy_open(&file, path, NPY_READ, error, sizeof(error)), -1);
    if (!strstr(error, reason))
        fail_msg("'%s' is not in '%s'", reason, error);
    assert_non_null(strstr(error, path));
    assert_null(strchr(error, '\n'));
}

/* Opens the file, reads one block both ways, and compares with element = stride numbers of the order. */
static void assert_block(int fortran, int64_t rows, int64_t cols, npy_block_t block)
{
    npy_file_t file;
    assert_int_equal(npy_open(&file, path, NPY_READ, error, sizeof(error)), 0);
    assert_int_equal(file.shape.rows, rows);
    assert_int_equal(file.shape.cols, cols);
    assert_int_equal(file.shape.fortran_order, fortran);
    for (int column_major = 0; column_major < 2; column_major++) {
        int64_t ld = (column_major ? block.rows : block.cols) + 3;
        double buffer[1024];
        for (int i = 0; i < 1024; i++)
            buffer[i] = -1;
        assert_int_equal(npy_read(&file, &block, buffer, ld, column_major, error, sizeof(error)), 0);
        int64_t touched = 0;
        for (int64_t i = 0; i < block.rows; i++) {
            for (int64_t j = 0; j < block.cols; j++) {
                int64_t row = block.row0 + i, col = block.col0 + j;
                double expected = (double)(fortran ? col * rows + row : row * cols + col);
                assert_true(buffer[column_major ? j * ld + i : i * ld + j] == expected);
            }
        }
        for (int i = 0; i < 1024; i++)
            touched += buffer[i] >= 0;
        assert_int_equal(touched, block.rows * block.cols);
    }
    npy_close(&file);
}

static void test_reads_both_orders(void **state)
{
    (void)state;
    for (int version = 1; version <= 2; version++) {
        write_file(version, "{'descr': '<f8', 'fortran_order': False, 'shape': (12, 17), }  \n", 12 * 17);
        assert_block(0, 12, 17, (npy_block_t){0, 12, 0, 17});
        assert_block(0, 12, 17, (npy_block_t){3, 5, 7, 4});
        assert_block(0, 12, 17, (npy_block_t){11, 1, 16, 1});
        assert_block(0, 12, 17, (npy_block_t){12, 0, 3, 5});
        write_file(version, "{'descr': '<f8', 'fortran_order': True, 'shape': (12, 17), }  \n", 12 * 17);
        assert_block(1, 12, 17, (npy_block_t){0, 12, 0, 17});
        assert_block(1, 12, 17, (npy_block_t){3, 5, 7, 4});
    }
}

static void test_accepts_other_writers(void **state)
{
    (void)state;
    write_file(1, "{\"shape\":(6,),\"fortran_order\":False,\"descr\":\"<f8\"}", 6);
    assert_block(0, 6, 1, (npy_block_t){2, 3, 0, 1});
    write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L)}", 6);
    assert_block(0, 2, 3, (npy_block_t){0, 2, 0, 3});
    write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}", 0);
    assert_block(0, 0, 3, (npy_block_t){0, 0, 0, 3});
}

static void test_strips_of_lines(void **state)
{
    (void)state; /* more lines than one pass of the transposition takes */
    write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (200, 4), }", 800);
    assert_block(0, 200, 4, (npy_block_t){1, 190, 1, 2});
}

static void test_refuses_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary, *reason;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "'<f4'"},
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }", "'>f8'"},
        {"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2, 3), }", "no plain numbers"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3), }", "3 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "0 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 3), }", "no tuple of extents"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3", "not closed"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2, 3), }", "neither True nor False"},
        {"{'descr': '<f8', 'shape': (2, 3), }", "is missing"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'more': 1}", "unknown key 'more'"},
        {"nothing", "no dictionary"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4), }", "truncated"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "too large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 1), }", "no tuple of extents"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_file(1, cases[i].dictionary, 6);
        assert_refused(cases[i].reason);
    }
    write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 6);
    assert_block(0, 2, 3, (npy_block_t){0, 2, 0, 3});
}

static void test_refuses_what_is_no_npy(void **state)
{
    (void)state;
    write_file(3, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 6);
    assert_refused("version 3.0");
    write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 6);
    assert_int_equal(truncate(path, 30), 0);
    assert_refused("ends inside its header");
    assert_int_equal(truncate(path, 3), 0);
    assert_refused("no .npy file");
    unlink(path);
    assert_refused("No such file");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused("no regular file");
    rmdir(path);
}

static void test_refuses_blocks_outside(void **state)
{
    (void)state;
    npy_file_t file;
    double buffer[8];
    write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 6);
    assert_int_equal(npy_open(&file, path, NPY_READ, error, sizeof(error)), 0);
    npy_block_t below = {1, 2, 0, 3}, right = {0, 1, 3, 1}, before = {-1, 1, 0, 1};
    assert_int_equal(npy_read(&file, &below, buffer, 3, 0, error, sizeof(error)), -1);
    assert_int_equal(npy_read(&file, &right, buffer, 3, 0, error, sizeof(error)), -1);
    assert_int_equal(npy_read(&file, &before, buffer, 3, 0, error, sizeof(error)), -1);
    npy_close(&file);
    npy_close(&file);
}

/* Writes the matrix i * 100 + j in four blocks, from buffers of both orders, into a file of either order. */
static void write_in_blocks(int fortran, int column_major)
{
    npy_shape_t shape = {2, 9, 11, fortran};
    assert_int_equal(npy_create(path, &shape, error, sizeof(error)), 0);
    npy_file_t file;
    assert_int_equal(npy_open(&file, path, NPY_READ_WRITE, error, sizeof(error)), 0);
    npy_block_t blocks[] = {{0, 4, 0, 5}, {0, 4, 5, 6}, {4, 5, 0, 5}, {4, 5, 5, 6}};
    for (int b = 0; b < 4; b++) {
        double buffer[100];
        npy_block_t k = blocks[b];
        for (int64_t i = 0; i < k.rows; i++)
            for (int64_t j = 0; j < k.cols; j++)
                buffer[column_major ? j * 9 + i : i * 9 + j] = (double)((k.row0 + i) * 100 + k.col0 + j);
        assert_int_equal(npy_write(&file, &k, buffer, 9, column_major, error, sizeof(error)), 0);
    }
    double all[99];
    npy_block_t whole = {0, 9, 0, 11};
    assert_int_equal(npy_read(&file, &whole, all, 11, 0, error, sizeof(error)), 0);
    for (int i = 0; i < 99; i++)
        assert_true(all[i] == i / 11 * 100 + i % 11);
    npy_close(&file);
}

static void test_writes_blocks(void **state)
{
    (void)state;
    for (int fortran = 0; fortran < 2; fortran++)
        for (int column_major = 0; column_major < 2; column_major++)
            write_in_blocks(fortran, column_major);
}

static void test_header_as_numpy_writes_it(void **state)
{
    (void)state;
    char text[NPY_HEADER_MAX];
    const char start[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } ";
    const char shape_of_vector[] = "'shape': (5,), } ";
    npy_shape_t matrix = {2, 3, 4, 0}, vector = {1, 5, 1, 0};
    assert_int_equal(npy_header_format(&matrix, text), 128);
    assert_memory_equal(text, start, sizeof(start) - 1);
    assert_int_equal(text[127], '\n');
    npy_header_format(&vector, text);
    assert_memory_equal(strstr(text + 10, "'shape'"), shape_of_vector, sizeof(shape_of_vector) - 1);
}

/* The file is sparse: only the corner that is written takes space. */
static void test_positions_beyond_2_gib(void **state)
{
    (void)state;
    npy_shape_t shape = {2, 40000, 20000, 0};
    npy_block_t corner = {39998, 2, 19997, 3};
    double out[6] = {1, 2, 3, 4, 5, 6}, in[6] = {0};
    npy_file_t file;
    assert_int_equal(npy_create(path, &shape, error, sizeof(error)), 0);
    assert_int_equal(npy_open(&file, path, NPY_READ_WRITE, error, sizeof(error)), 0);
    assert_int_equal(npy_write(&file, &corner, out, 3, 0, error, sizeof(error)), 0);
    assert_int_equal(npy_read(&file, &corner, in, 3, 0, error, sizeof(error)), 0);
    assert_memory_equal(in, out, sizeof(out));
    double last;
    assert_int_equal(pread(file.fd, &last, 8, file.data + 8 * ((int64_t)40000 * 20000 - 1)), 8);
    assert_true(last == 6);
    npy_close(&file);
}

static void test_writable_check_leaves_nothing(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(npy_check_writable(path, error, sizeof(error)), 0);
    assert_int_equal(access(path, F_OK), -1);
    write_file(1, "{}", 1);
    assert_int_equal(npy_check_writable(path, error, sizeof(error)), 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(npy_check_writable("/nowhere/at/all", error, sizeof(error)), -1);
    assert_non_null(strstr(error, "/nowhere/at/all: cannot be written"));
    assert_int_equal(npy_check_writable(folder, error, sizeof(error)), -1);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/m.npy", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_both_orders),      cmocka_unit_test(test_accepts_other_writers),
        cmocka_unit_test(test_strips_of_lines),        cmocka_unit_test(test_refuses_bad_files),
        cmocka_unit_test(test_refuses_what_is_no_npy), cmocka_unit_test(test_refuses_blocks_outside),
        cmocka_unit_test(test_writes_blocks),          cmocka_unit_test(test_header_as_numpy_writes_it),
        cmocka_unit_test(test_positions_beyond_2_gib), cmocka_unit_test(test_writable_check_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
