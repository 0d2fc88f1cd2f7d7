/* The debug driver's list of what a program has made: looked into by one thread while another one makes more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "driver/debug/handles.h"

enum { MADE = 20000, FIRST = 1, HELD = 2 };

static const struct debug debug;
static const struct place place;
static char said[300];

const char *contract_block_text(epop_block_t block)
{
    (void)block;
    return "a block";
}

void contract_breach(const epop_position_t *position, const char *format, ...)
{
    va_list arguments;
    (void)position;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

const char *epop__interpose_name(enum interpose_function function)
{
    (void)function;
    return "MPI_X";
}

/* The list is moved as it grows, and what is in it as one is taken out. */
static void *make(void *unused)
{
    for (int i = 0; i < MADE; i++) {
        handles_add(&place, HANDLE_REQUEST, (uintptr_t)(HELD + i), ROOT_NONE, (enum interpose_function)0);
        if (i % 2)
            handles_remove(HANDLE_REQUEST, (uintptr_t)(HELD + i));
    }
    return unused;
}

static void test_found_while_others_are_made(void **state)
{
    pthread_t thread;
    struct handle found;
    (void)state;
    handles_reset(1);
    handles_add(&place, HANDLE_COMM, FIRST, 7, (enum interpose_function)0);
    handles_set(HANDLE_COMM, FIRST, 7, "mpi://WORLD");
    assert_int_equal(0, pthread_create(&thread, NULL, make, NULL));
    for (int i = 0; i < 50; i++) {
        assert_true(handles_find(HANDLE_COMM, FIRST, &found));
        assert_int_equal(7, found.root);
        assert_string_equal("mpi://WORLD", found.set);
        handles_check_growth(&debug);
        handles_check_world(&debug, 6, "here");
        assert_string_equal("", said);
    }
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_false(handles_find(HANDLE_COMM, HELD, &found));
    handles_check_world(&debug, 7, "here");
    assert_non_null(strstr(said, "one of the communicators that came from it is still there"));
    handles_free();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found_while_others_are_made)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
