/* The base room: errors, growing arrays, hashes, deadlines, and threads that leave signals to the program. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/array.h"
#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/thread.h"
#include "runtime/base/ticks.h"
#include "runtime/base/tried.h"

static void test_error_has_code_and_text(void **state)
{
    struct error error = {0};
    (void)state;
    assert_int_equal(error_set(&error, ERROR_TIMEOUT, "no answer within %d s", 3), -1);
    assert_int_equal(error.code, ERROR_TIMEOUT);
    assert_string_equal(error.text, "no answer within 3 s");
    assert_int_equal(error_memory(&error), -1);
    assert_int_equal(error.code, ERROR_MEMORY);
}

static void test_error_can_be_added_to(void **state)
{
    struct error error = {0};
    (void)state;
    error_set(&error, ERROR_FAILED, "one");
    error_set(&error, ERROR_FAILED, "%s; two", error.text);
    assert_string_equal(error.text, "one; two");
}

static void test_error_is_cut_off(void **state)
{
    struct error error;
    char *text = malloc(2 * ERROR_TEXT_MAX);
    (void)state;
    assert_non_null(text);
    memset(text, 'x', 2 * ERROR_TEXT_MAX - 1);
    text[2 * ERROR_TEXT_MAX - 1] = 0;
    error_set(&error, ERROR_FAILED, "%s", text);
    assert_int_equal(strlen(error.text), ERROR_TEXT_MAX - 1);
    free(text);
}

static void test_array_keeps_what_it_has(void **state)
{
    int *items = NULL;
    size_t room = 0;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(array_reserve(&items, &room, (size_t)i + 1, sizeof *items), 0);
        items[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    assert_true(room >= 1000 && room < 4000);
    free(items);
}

static void test_array_that_is_too_large_stays_as_it_was(void **state)
{
    int *items = NULL;
    size_t room = 0;
    (void)state;
    assert_int_equal(array_reserve(&items, &room, 4, sizeof *items), 0);
    int *before = items;
    size_t room_before = room;
    assert_int_equal(array_reserve(&items, &room, SIZE_MAX / 2, sizeof *items), -1);
    assert_ptr_equal(items, before);
    assert_int_equal(room, room_before);
    free(items);
}

/* Published values of FNV-1a, 64 bits. */
static void test_hash_is_fnv_1a(void **state)
{
    (void)state;
    assert_true(hash_bytes(HASH_BEGIN, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_bytes(HASH_BEGIN, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_bytes(HASH_BEGIN, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    assert_true(hash_bytes(hash_bytes(HASH_BEGIN, "foo", 3), "bar", 3) == UINT64_C(0x85944171f73967e8));
}

static double seconds_of(struct timespec time)
{
    assert_in_range(time.tv_nsec, 0, 999999999);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void test_deadlines(void **state)
{
    (void)state;
    double before = monotonic_seconds(), at = seconds_of(clock_in(CLOCK_MONOTONIC, 1.75));
    assert_true(at >= before + 1.75 - 1e-6 && at <= monotonic_seconds() + 1.75);
    assert_true(seconds_of(clock_in(CLOCK_MONOTONIC, -5)) >= before - 1e-6);
    assert_true(seconds_of(clock_in(CLOCK_REALTIME, 1e300)) > wall_seconds() + 1e8);
}

static void *report_mask(void *argument)
{
    pthread_sigmask(SIG_SETMASK, NULL, argument);
    return NULL;
}

static void test_threads_leave_signals_to_the_program(void **state)
{
    pthread_t thread;
    sigset_t inside, before, after;
    (void)state;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(thread_start(&thread, report_mask, &inside), 0);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_true(sigismember(&inside, SIGUSR1) && sigismember(&inside, SIGTERM) && sigismember(&inside, SIGPIPE));
    assert_false(sigismember(&inside, SIGSEGV));
    assert_int_equal(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1));
}

static void *try_to_lock(void *lock)
{
    return (void *)(intptr_t)thread_lock_within(lock, 0.05);
}

/* Another thread has it; then nobody. */
static void test_a_lock_is_waited_for_so_long(void **state)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    void *result;
    (void)state;
    double before = monotonic_seconds();
    assert_int_equal(thread_lock_within(&lock, 0), 0);
    assert_int_equal(thread_start(&thread, try_to_lock, &lock), 0);
    pthread_join(thread, &result);
    assert_int_equal((intptr_t)result, ETIMEDOUT);
    assert_true(monotonic_seconds() >= before + 0.05);
    pthread_mutex_unlock(&lock);
    assert_int_equal((intptr_t)try_to_lock(&lock), 0);
    pthread_mutex_unlock(&lock);
}

/* ---- Children ------------------------------------------------------------------------------------ */

/* In a child: whether the file is closed here, and a pipe that takes its number is the grandchild's, too. */
static int look_in_child(int closed)
{
    int ends[2], status;
    char byte;
    if (fcntl(closed, F_GETFD) >= 0 || pipe(ends) || ends[0] != closed || write(ends[1], "x", 1) != 1)
        return 1;
    pid_t grandchild = fork();
    if (grandchild == 0)
        _exit(read(ends[0], &byte, 1) != 1);
    return waitpid(grandchild, &status, 0) != grandchild || status;
}

static void test_children_are_without_a_file_of_ours_and_keep_their_own(void **state)
{
    static int fd;
    int status;
    (void)state;
    fd = dup(STDIN_FILENO);
    child_without(&fd);
    pid_t child = fork();
    if (child == 0)
        _exit(look_in_child(fd));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(fd);
    fd = -1;
}

static void test_what_a_program_prints_is_read(void **state)
{
    char *prints[] = {"/bin/sh", "-c", "echo one; echo two >&2; echo three", NULL}, *text = NULL;
    char *fails[] = {"/bin/sh", "-c", "echo no luck; exit 3", NULL}, *none[] = {"/nowhere/sh", NULL};
    struct error error = {0};
    (void)state;
    assert_int_equal(spawn_read(prints, 60, &text, &error), 0);
    assert_string_equal(text, "one\ntwo\nthree\n");
    free(text);
    assert_int_equal(spawn_read(fails, 60, &text, &error), -1);
    assert_string_equal(error.text, "sh: no luck");
    assert_int_equal(spawn_read(none, 60, &text, &error), -1);
    assert_string_equal(error.text, "sh: No such file or directory");
}

/* Its child has the pipe, too: it is over as soon as both are. */
static void test_a_program_that_hangs_is_killed_with_its_children(void **state)
{
    char *hangs[] = {"/bin/sh", "-c", "sleep 1000 & wait", NULL}, *text = NULL;
    struct error error = {0};
    double begin = monotonic_seconds();
    (void)state;
    assert_int_equal(spawn_read(hangs, 0.2, &text, &error), -1);
    assert_int_equal(error.code, ERROR_TIMEOUT);
    assert_string_equal(error.text, "sh has not answered for 0 s");
    assert_true(monotonic_seconds() - begin < 500);
}

static void test_versions_that_were_tried(void **state)
{
    char text[TRIED_TEXT];
    (void)state;
    assert_true(tried_with("MPICH", "4.2.1", text));
    assert_true(tried_with("HDF5", "1.14.5", text));
    assert_false(tried_with("HDF5", "1.1", text));
    assert_false(tried_with("Slurm", "22.1.0", text));
    assert_string_equal(text, "EPOP's tests were not run with Slurm 22.1.0, but with 22.05");
}

/* How far it is from the true clock, and that it has not gone back. */
static int64_t tick_clock_error(struct tick_clock *clock, int64_t *last)
{
    int64_t before = monotonic_ns(), now = tick_clock_ns(clock), after = monotonic_ns();
    assert_true(now >= *last);
    *last = now;
    return now < before ? before - now : now > after ? now - after : 0;
}

/* Within 10 us, in 10 s: a process may have to wait between two readings. */
static bool tick_clock_is_right(struct tick_clock *clock, int64_t *last)
{
    int64_t until = monotonic_ns() + 10000000000;
    while (tick_clock_error(clock, last) >= 10000)
        if (monotonic_ns() > until)
            return false;
    return true;
}

/* It goes as many times as fast, without a look, until that is to be seen. */
static void let_tick_clock_go_wrong(struct tick_clock *clock, int64_t *last, double times)
{
    tick_clock_look(clock);
    clock->rate = (uint64_t)((double)clock->rate * times);
    clock->until = UINT32_MAX;
    while (ticks_are_cycles && tick_clock_error(clock, last) < 100000)
        continue;
    clock->until = (uint64_t)(ticks() - clock->ticks);
}

static void test_a_clock_by_ticks_is_the_monotonic_one(void **state)
{
    struct tick_clock clock = {0};
    int64_t last = 0;
    (void)state;
    ticks_start();
    for (int64_t end = monotonic_ns() + 20000000; monotonic_ns() < end;)
        assert_true(tick_clock_is_right(&clock, &last));
    let_tick_clock_go_wrong(&clock, &last, 1.5);
    assert_true(tick_clock_is_right(&clock, &last));
    let_tick_clock_go_wrong(&clock, &last, 0.5);
    assert_true(tick_clock_is_right(&clock, &last));
}

static void test_a_clock_by_ticks_where_the_kernel_has_another(void **state)
{
    struct tick_clock clock = {0};
    int64_t last = 0;
    bool are_cycles = ticks_are_cycles;
    (void)state;
    ticks_are_cycles = false;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(tick_clock_error(&clock, &last), 0);
    ticks_are_cycles = are_cycles;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_that_were_tried),
        cmocka_unit_test(test_error_has_code_and_text),
        cmocka_unit_test(test_error_can_be_added_to),
        cmocka_unit_test(test_error_is_cut_off),
        cmocka_unit_test(test_array_keeps_what_it_has),
        cmocka_unit_test(test_array_that_is_too_large_stays_as_it_was),
        cmocka_unit_test(test_hash_is_fnv_1a),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_threads_leave_signals_to_the_program),
        cmocka_unit_test(test_a_lock_is_waited_for_so_long),
        cmocka_unit_test(test_children_are_without_a_file_of_ours_and_keep_their_own),
        cmocka_unit_test(test_what_a_program_prints_is_read),
        cmocka_unit_test(test_a_program_that_hangs_is_killed_with_its_children),
        cmocka_unit_test(test_a_clock_by_ticks_is_the_monotonic_one),
        cmocka_unit_test(test_a_clock_by_ticks_where_the_kernel_has_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
