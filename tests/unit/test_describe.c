/* Descriptions without MPI: what a block lists, values that are filled in while it runs, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/describe/describe.h"
#include "runtime/describe/program.h"

/* A kind that keeps nothing but its layout. */
static int released;

static void release(struct described *entry)
{
    (void)entry;
    released++;
}

static const struct kind plain = {.word = "plain", .release = release};

static struct {
    int n, later, unset;
    const char *name;
    size_t bytes;
    void *part;
} data;

static void block(void *context, epop_description_t *d)
{
    assert_ptr_equal(context, &data);
    epop_describe_values(d, "n", &data.n, data.bytes);
    data.later = 2 * data.n; /* a later line uses it */
    describe_add(d, &plain, data.name, &data.part, MPI_BYTE, EPOP_CONSTANT, &data.later, sizeof data.later);
    epop_describe_values(d, "unset", &data.unset, sizeof data.unset);
}

static int set_up(void **state)
{
    (void)state;
    memset(&data, 0, sizeof data);
    data.name = "part";
    data.bytes = sizeof data.n;
    released = 0;
    return 0;
}

static epop_description_t d;
static struct error error;

static int list(void)
{
    return describe_run(&d, DESCRIBE_LIST, block, &data, NULL, 0, &error);
}

static void what_is_listed(void **state)
{
    (void)state;
    data.n = 21;
    assert_int_equal(list(), 0);
    assert_int_equal(d.count, 3);
    assert_string_equal(d.entries[1].name, "part");
    assert_int_equal(d.entries[1].flags, EPOP_CONSTANT);
    assert_int_equal(*(int *)d.entries[1].layout, 42);
    assert_ptr_equal(d.entries[1].local, &data.part);
    assert_ptr_equal(d.entries[1].list, &d);
    describe_release(&d);
    assert_int_equal(released, 1);
    describe_free(&d);
}

/* In another process: values are there before the line behind them runs. */
static void values_are_filled_in_while_it_runs(void **state)
{
    size_t bytes;
    (void)state;
    data.n = 21;
    data.unset = 7;
    assert_int_equal(list(), 0);
    char *values = describe_values_pack(&d, &bytes);
    assert_int_equal(bytes, strlen("n") + 1 + 8 + sizeof(int) + strlen("unset") + 1 + 8 + sizeof(int));
    describe_free(&d);
    data.n = data.unset = 0;
    assert_int_equal(describe_run(&d, DESCRIBE_FILL, block, &data, values, bytes, &error), 0);
    assert_true(data.n == 21 && data.unset == 7);
    assert_int_equal(*(int *)d.entries[1].layout, 42);
    describe_free(&d);
    /* Another size, and values that the source does not have: it ends before them. */
    data.bytes = 2;
    assert_int_equal(describe_run(&d, DESCRIBE_FILL, block, &data, values, bytes, &error), -1);
    assert_string_equal(error.text, "described 'n': 2 bytes of values here, 4 where they come from");
    describe_free(&d);
    data.bytes = sizeof data.n;
    assert_int_equal(describe_run(&d, DESCRIBE_FILL, block, &data, values, bytes - 1, &error), -1);
    assert_string_equal(error.text, "described 'unset': there are no values of this name where they come from");
    describe_free(&d);
    free(values);
}

static void refused(const char *text)
{
    assert_int_equal(list(), -1);
    assert_string_equal(error.text, text);
    describe_free(&d);
}

static void what_is_refused(void **state)
{
    char name[300];
    (void)state;
    data.name = "n";
    refused("described 'n': the name is described twice");
    data.name = "a/b";
    refused("described 'a/b': a name has no '/' and no control characters");
    data.name = "a\tb";
    refused("described 'a\tb': a name has no '/' and no control characters");
    data.name = "";
    refused("described '': a name has 1 to 200 bytes");
    data.name = NULL;
    refused("described '': a name has 1 to 200 bytes");
    memset(name, 'x', 201);
    name[201] = 0;
    data.name = name;
    assert_int_equal(list(), -1);
    describe_free(&d);
    data.name = "part";
    data.bytes = 0;
    refused("described 'n': values of 0 bytes");
}

static void of_entries(void *context, epop_description_t *list)
{
    (void)context;
    describe_add(list, &plain, "no address", NULL, MPI_BYTE, 0, NULL, 0);
    describe_add(list, &plain, "flags", &data.part, MPI_BYTE, 64, NULL, 0);
}

static void of_scratch(void *context, epop_description_t *list)
{
    (void)context;
    describe_add(list, &plain, "flags", &data.part, MPI_BYTE, 64, NULL, 0);
    describe_add(list, &plain, "scratch", &data.part, MPI_BYTE, EPOP_SCRATCH, NULL, 0);
}

/* The first of several. */
static void the_first_fault_counts(void **state)
{
    (void)state;
    assert_int_equal(describe_run(&d, DESCRIBE_LIST, of_entries, NULL, NULL, 0, &error), -1);
    assert_string_equal(error.text, "described 'no address': the address of its pointer is NULL");
    describe_free(&d);
    assert_int_equal(describe_run(&d, DESCRIBE_LIST, of_scratch, NULL, NULL, 0, &error), -1);
    assert_string_equal(error.text, "described 'flags': the flags are EPOP_CONSTANT and EPOP_SCRATCH, and no others");
    describe_free(&d);
}

/* ---- The program's blocks ------------------------------------------------------------------ */

static int releases;

static void release_data(void *context)
{
    assert_ptr_equal(context, &data);
    assert_int_equal(released, 1); /* described parts are gone by then */
    releases++;
}

static void release_comes_once(void **state)
{
    epop_program_t *program = epop_program_create("test");
    (void)state;
    assert_int_equal(epop_describe(program, block), EPOP_OK);
    assert_int_equal(epop_release(program, release_data), EPOP_OK);
    describe_program_begin(program, &data, false);
    describe_program_release();
    describe_program_release();
    assert_int_equal(releases, 1);
    epop_program_free(program);
}

/* Its structure ends before the blocks. */
static void a_program_of_version_1_has_no_blocks(void **state)
{
    epop_program_t *program = epop_program_create_abi("test", 1);
    (void)state;
    assert_int_equal(epop_describe(program, block), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_release(program, release_data), EPOP_ERR_ARGUMENT);
    program->release = release_data; /* what lies there is not ours */
    describe_program_begin(program, &data, false);
    describe_program_release();
    assert_int_equal(releases, 1);
    epop_program_free(program);
}

static int packs;

static int pack_data(void *what)
{
    (void)what;
    return ++packs;
}

/* That of version 2 ends before pack. */
static void a_program_of_version_2_does_not_pack(void **state)
{
    epop_program_t *old = epop_program_create_abi("old", 2), *new = epop_program_create("new");
    (void)state;
    assert_int_equal(epop_pack(old, pack_data), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_release(old, release_data), EPOP_OK);
    old->pack = pack_data; /* what lies there is not ours */
    describe_program_begin(old, &data, false);
    assert_int_equal(describe_program_pack(), EPOP_OK);
    assert_int_equal(epop_pack(new, pack_data), EPOP_OK);
    describe_program_begin(new, &data, true); /* its data is to come */
    assert_int_equal(describe_program_pack(), EPOP_OK);
    assert_int_equal(packs, 0);
    describe_program_begin(new, &data, false);
    assert_int_equal(describe_program_pack(), 1);
    describe_program_begin(new, &data, true);
    describe_program_release();
    epop_program_free(old);
    epop_program_free(new);
}

static void mixes_tell_places_and_contents_apart(void **state)
{
    (void)state;
    assert_true(describe_mix(1, "ab", 2) != describe_mix(2, "ab", 2));
    assert_true(describe_mix(1, "ab", 2) != describe_mix(1, "ba", 2));
    assert_true(describe_mix(1, "a", 1) + describe_mix(2, "b", 1) != describe_mix(1, "b", 1) + describe_mix(2, "a", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_listed, set_up),
        cmocka_unit_test_setup(values_are_filled_in_while_it_runs, set_up),
        cmocka_unit_test_setup(what_is_refused, set_up),
        cmocka_unit_test_setup(the_first_fault_counts, set_up),
        cmocka_unit_test_setup(release_comes_once, set_up),
        cmocka_unit_test_setup(a_program_of_version_1_has_no_blocks, set_up),
        cmocka_unit_test_setup(a_program_of_version_2_does_not_pack, set_up),
        cmocka_unit_test(mixes_tell_places_and_contents_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
