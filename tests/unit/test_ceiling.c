/*
 * The probe's counter and limit: what matters is that a count read after the limit was lowered is never behind the
 * program's thread, whichever of the two ways of ordering is in use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "runtime/member/ceiling.h"

static void probes_are_counted(void **state)
{
    (void)state;
    struct ceiling ceiling;
    ceiling_init(&ceiling);
    for (int i = 0; i < 1000; i++)
        assert_false(ceiling_probe(&ceiling));
    assert_int_equal(atomic_load(&ceiling.count), 1000);
}

static void the_limit_is_met_from_its_number_on(void **state)
{
    (void)state;
    struct ceiling ceiling;
    ceiling_init(&ceiling);
    assert_int_equal(ceiling_lower(&ceiling, 3), 0);
    assert_false(ceiling_probe(&ceiling));
    assert_false(ceiling_probe(&ceiling));
    assert_true(ceiling_probe(&ceiling));
    assert_true(ceiling_probe(&ceiling));
    assert_int_equal(ceiling_lower(&ceiling, CEILING_NONE), 4);
    assert_false(ceiling_probe(&ceiling));
    assert_int_equal(ceiling_lower(&ceiling, 0), 5);
    assert_true(ceiling_probe(&ceiling));
}

/* ---- Two threads -------------------------------------------------------------------------- */

struct race {
    struct ceiling ceiling;
    _Atomic int finish, hold;
    _Atomic uint64_t passed; /* the last probe that did not hold, published late and carelessly */
    _Atomic uint64_t held;
};

static void *program_thread(void *argument)
{
    struct race *race = argument;
    while (!race->finish) {
        if (!ceiling_probe(&race->ceiling)) {
            atomic_store_explicit(&race->passed, atomic_load_explicit(&race->ceiling.count, memory_order_relaxed),
                                  memory_order_relaxed);
            continue;
        }
        race->held = atomic_load(&race->ceiling.count);
        while (race->held && !race->finish)
            sched_yield();
    }
    return NULL;
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/*
 * Freezes the other thread many times: no probe beyond the count that was read may have passed. On a busy machine the
 * two threads seldom run at the same time, and each round takes many time slices: there it is a few rounds less.
 */
static void no_probe_slips_through(bool fence)
{
    struct race race = {.finish = 0};
    pthread_t thread;
    ceiling_init(&race.ceiling);
    race.ceiling.fence |= fence;
    assert_int_equal(pthread_create(&thread, NULL, program_thread, &race), 0);
    double end = seconds() + 5;
    for (int round = 0; round < 2000 && (round < 20 || seconds() < end); round++) {
        uint64_t count = ceiling_lower(&race.ceiling, 0);
        while (!race.held)
            sched_yield();
        /* It held at the probe behind the count, or at that very one. */
        assert_true(race.held == count || race.held == count + 1);
        assert_true(race.passed <= count);
        ceiling_lower(&race.ceiling, CEILING_NONE);
        race.held = 0;
        for (uint64_t begin = atomic_load(&race.ceiling.count); atomic_load(&race.ceiling.count) < begin + 10;)
            sched_yield();
    }
    race.finish = 1;
    pthread_join(thread, NULL);
}

static void no_probe_slips_through_with_membarrier(void **state)
{
    (void)state;
    no_probe_slips_through(false);
}

static void no_probe_slips_through_with_a_fence(void **state)
{
    (void)state;
    no_probe_slips_through(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_are_counted),
        cmocka_unit_test(the_limit_is_met_from_its_number_on),
        cmocka_unit_test(no_probe_slips_through_with_membarrier),
        cmocka_unit_test(no_probe_slips_through_with_a_fence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
