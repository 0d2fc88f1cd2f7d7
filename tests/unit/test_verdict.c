/*
 * What a joining process's first probe is, found by what everybody did: loops of many shapes, carried out on paper.
 * Each is looked at with the probe at both places; what is told has to be what it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>
#include <string.h>

#include "runtime/coordinator/settle.h"

#define MOST 8

static int size, staying; /* of the world, and of these */
static struct stretch done[MOST];

/* ---- What a program does ---------------------------------------------------------------------- */

static uint64_t key(uint64_t x)
{
    x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    return (x ^ (x >> 29)) * 0x94d049bb133111eb;
}

static void sends(int rank, int to)
{
    done[rank].sent++;
    done[rank].balance += key((uint64_t)to);
}

static void receives(int rank)
{
    done[rank].received++;
    done[rank].balance -= key((uint64_t)rank);
}

static void meets(int rank, int first, int members)
{
    bool all = members == size;
    done[rank].world += all;
    if (members < 2)
        return;
    done[rank].parts += !all;
    done[rank].balance += (rank == first ? -(uint64_t)(members - 1) : 1) * key(1000 + (uint64_t)(first * 64 + members));
}

static void collective(int rank)
{
    meets(rank, 0, size);
}

static void many_messages(int rank)
{
    for (int i = 0; i < 7; i++) {
        sends(rank, (rank + 1) % size);
        receives(rank);
    }
}

static void neighbours(int rank)
{
    for (int side = -1; side <= 1; side += 2)
        if (rank + side >= 0 && rank + side < size) {
            sends(rank, rank + side);
            receives(rank);
        }
}

static void pipeline(int rank)
{
    if (rank < size - 1)
        sends(rank, rank + 1);
    if (rank > 0)
        receives(rank);
}

static void to_the_last(int rank)
{
    if (rank < size - 1)
        sends(rank, size - 1);
    for (int i = 0; rank == size - 1 && i < size - 1; i++)
        receives(rank);
}

static void pairs(int rank)
{
    int first = (rank - 1) / 2 * 2 + 1;
    if (rank > 0 && first + 1 < size)
        meets(rank, first, 2);
}

/* Sent in one iteration, received in the next. */
static void ahead(int rank)
{
    sends(rank, (rank + 1) % size);
    if (done[rank].sent > 1)
        receives(rank);
}

static void among_themselves(int rank)
{
    int joined = size - staying;
    meets(rank, rank < staying ? 0 : staying, rank < staying ? staying : joined);
}

static void nothing(int rank)
{
    (void)rank;
}

/* ---- Its verdict -------------------------------------------------------------------------------- */

struct shape {
    void (*setup)(int rank); /* behind the commit; NULL: nothing */
    void (*iteration)(int rank);
};

static void run(const struct shape *shape, int rank, int iterations)
{
    done[rank] = (struct stretch){.seconds = 0.001};
    if (shape->setup)
        shape->setup(rank);
    for (int i = 0; i < iterations; i++) {
        shape->iteration(rank);
        done[rank].seconds += 1;
    }
}

static struct verdict verdict(const struct shape *shape, bool repeats)
{
    struct stretch first[MOST];
    for (int r = 0; r < size; r++)
        run(shape, r, r < staying || !repeats);
    memcpy(first, done, sizeof first);
    for (int r = staying; r < size; r++)
        run(shape, r, repeats ? 1 : 2);
    struct evidence e = {.staying = first,
                         .stayed = staying,
                         .first = first + staying,
                         .second = done + staying,
                         .joined = size - staying};
    return verdict_of(&e);
}

static void check(const struct shape *shape, bool sure)
{
    for (staying = 1; staying < MOST; staying++)
        for (size = staying + 1; size <= MOST; size++)
            for (int repeats = 0; repeats < 2; repeats++) {
                struct verdict found = verdict(shape, repeats);
                assert_int_equal(found.what, repeats ? FIRST_PROBE_REPEATS : FIRST_PROBE_COUNTS);
                if (sure)
                    assert_true(found.sure);
            }
}

static void where_processes_meet_there_is_no_doubt(void **state)
{
    (void)state;
    void (*const iterations[])(int) = {collective, many_messages, neighbours, pipeline, to_the_last};
    void (*const setups[])(int) = {NULL,     collective,  many_messages,   neighbours,
                                   pipeline, to_the_last, among_themselves};
    for (size_t i = 0; i < sizeof iterations / sizeof *iterations; i++)
        for (size_t s = 0; s < sizeof setups / sizeof *setups; s++)
            check(&(struct shape){setups[s], iterations[i]}, true);
}

/* Where no pair is half of them, both would do. */
static void parts_of_the_world(void **state)
{
    (void)state;
    check(&(struct shape){NULL, pairs}, false);
    staying = 2, size = 4;
    for (int repeats = 0; repeats < 2; repeats++) {
        struct verdict found = verdict(&(struct shape){collective, pairs}, repeats);
        assert_int_equal(found.what, repeats ? FIRST_PROBE_REPEATS : FIRST_PROBE_COUNTS);
        assert_true(found.sure);
    }
}

static void messages_that_cross_a_probe(void **state)
{
    (void)state;
    check(&(struct shape){NULL, ahead}, false);
    check(&(struct shape){collective, ahead}, false);
}

static void who_joins_meets_nobody_else(void **state)
{
    (void)state;
    check(&(struct shape){NULL, among_themselves}, false);
    staying = 2, size = 4;
    assert_false(verdict(&(struct shape){NULL, among_themselves}, true).sure);
}

static void nothing_is_communicated(void **state)
{
    (void)state;
    check(&(struct shape){NULL, nothing}, false);
    staying = 2, size = 4;
    assert_false(verdict(&(struct shape){NULL, nothing}, true).sure);
}

/* A rank's own messages hide nothing: twice as many in the second iteration, and none in the first. */
static int passes;

static void more_and_more(int rank)
{
    for (int i = 0; i < 1 + 4 * (done[rank].world > 0); i++)
        neighbours(rank);
    collective(rank);
    passes++;
}

static void iterations_need_not_be_alike(void **state)
{
    (void)state;
    check(&(struct shape){NULL, more_and_more}, true);
    assert_true(passes > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_processes_meet_there_is_no_doubt),
        cmocka_unit_test(parts_of_the_world),
        cmocka_unit_test(messages_that_cross_a_probe),
        cmocka_unit_test(who_joins_meets_nobody_else),
        cmocka_unit_test(nothing_is_communicated),
        cmocka_unit_test(iterations_need_not_be_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
