/* Processes of one host compare claims in shared memory: every round ends in the same way for all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/member/muster.h"

#define MARK   "0123456789abcdef"
#define OTHER  "0123456789abcdee"
#define PLACES 3
#define ROUNDS 20000

static struct muster *places[PLACES];

static struct muster *make(const char *mark, int count, bool whole, int *fd)
{
    const struct muster_share share = {mark, count, 0, whole};
    return muster_make(&share, fd);
}

static struct muster *find(const char *mark, int count, int place, pid_t maker, int fd)
{
    const struct muster_share share = {mark, count, place, true};
    return muster_find(&share, maker, fd);
}

/* As muster_wait, without a look at something else before. */
static enum muster_end await(struct muster *m, uint64_t round, double seconds)
{
    return muster_wait(m, round, muster_bell(m), seconds);
}

/* All in this process. */
static void open_all(void)
{
    int fd = -1;
    places[0] = make(MARK, PLACES, true, &fd);
    assert_non_null(places[0]);
    for (int p = 1; p < PLACES; p++) {
        places[p] = find(MARK, PLACES, p, getpid(), fd);
        assert_non_null(places[p]);
    }
}

static void close_all(void)
{
    for (int p = 0; p < PLACES; p++)
        muster_close(places[p]);
}

/* ---- One thread --------------------------------------------------------------------------------- */

static void alike(void **state)
{
    (void)state;
    open_all();
    assert_string_equal(muster_mark(places[2]), MARK);
    for (uint64_t round = 0; round < 5; round++) {
        assert_int_equal(muster_come(places[round % PLACES], round, 7 + round), MUSTER_OPEN);
        assert_int_equal(muster_come(places[(round + 1) % PLACES], round, 7 + round), MUSTER_OPEN);
        assert_int_equal(await(places[round % PLACES], round, 0.001), MUSTER_OPEN);
        assert_int_equal(muster_come(places[(round + 2) % PLACES], round, 7 + round), MUSTER_ALIKE);
        assert_int_equal(await(places[round % PLACES], round, 100), MUSTER_ALIKE);
        assert_int_equal(await(places[(round + 1) % PLACES], round, 100), MUSTER_ALIKE);
    }
    close_all();
}

static void alone(void **state)
{
    int fd;
    struct muster *m = make(MARK, 1, true, &fd);
    (void)state;
    assert_non_null(m);
    for (uint64_t round = 0; round < 5; round++)
        assert_int_equal(muster_come(m, round, 1), MUSTER_ALIKE);
    assert_int_equal(muster_tell(m, 5), MUSTER_TOLD);
    assert_int_equal(muster_come(m, 6, 1), MUSTER_ALIKE);
    muster_close(m);
}

/* With ranks on other hosts only who has place 0 ends the round, on another thread; but they can be told meanwhile. */
static void on_several_hosts(void **state)
{
    int fd;
    struct muster *m = make(MARK, 2, false, &fd);
    const struct muster_share share = {MARK, 2, 1, false};
    struct muster *other = muster_find(&share, getpid(), fd);
    (void)state;
    assert_non_null(other);
    for (uint64_t round = 0; round < 6; round++) {
        bool told = round % 2;
        assert_int_equal(muster_come(m, round, 1), MUSTER_OPEN);
        assert_false(muster_asks(m, round));
        uint32_t bell = muster_bell(m);
        assert_int_equal(muster_come(other, round, 1), MUSTER_OPEN);
        assert_int_equal(muster_wait(m, round, bell, 100), MUSTER_OPEN); /* it has rung */
        assert_true(muster_asks(m, round) && !muster_asks(other, round) && !muster_asks(m, round + 1));
        assert_int_equal(await(other, round, 0.001), MUSTER_OPEN);
        if (told)
            assert_int_equal(muster_tell(other, round), MUSTER_TOLD);
        muster_agree(m, round);
        assert_int_equal(await(m, round, 100), told ? MUSTER_TOLD : MUSTER_ALIKE);
        assert_int_equal(await(other, round, 100), told ? MUSTER_TOLD : MUSTER_ALIKE);
    }
    muster_close(other);
    muster_close(m);
}

/* Before all have come, and also for those that come later. */
static void a_difference(void **state)
{
    (void)state;
    open_all();
    assert_int_equal(muster_come(places[1], 0, 5), MUSTER_OPEN);
    assert_int_equal(muster_come(places[0], 0, 6), MUSTER_TOLD);
    assert_int_equal(await(places[1], 0, 100), MUSTER_TOLD);
    assert_int_equal(muster_come(places[2], 0, 5), MUSTER_TOLD);
    for (int p = 0; p < PLACES; p++)
        assert_int_equal(muster_come(places[p], 1, 5), p < PLACES - 1 ? MUSTER_OPEN : MUSTER_ALIKE);
    close_all();
}

/* Of those that one rank has been through alone, however many, and of the last one before them. */
static void rounds_that_a_rank_missed(void **state)
{
    const uint64_t ahead = 10001;
    (void)state;
    open_all();
    for (int p = 0; p < PLACES; p++)
        muster_come(places[p], 0, 5);
    for (uint64_t round = 1; round < ahead; round++)
        assert_int_equal(muster_tell(places[0], round), MUSTER_TOLD);
    assert_int_equal(await(places[1], 0, 100), MUSTER_ALIKE);
    for (uint64_t round = 1; round < ahead; round++)
        assert_int_equal(muster_come(places[1], round, 5), MUSTER_TOLD);
    assert_int_equal(muster_tell(places[2], ahead - 1), MUSTER_TOLD);
    for (int p = 0; p < PLACES; p++)
        assert_int_equal(muster_come(places[p], ahead, 5), p < PLACES - 1 ? MUSTER_OPEN : MUSTER_ALIKE);
    assert_int_equal(muster_tell(places[0], ahead), MUSTER_ALIKE);
    close_all();
}

static void another_memory(void **state)
{
    int fd, pipes[2];
    struct muster *m = make(MARK, PLACES, true, &fd);
    (void)state;
    assert_non_null(m);
    assert_int_equal(pipe(pipes), 0);
    assert_null(find(OTHER, PLACES, 1, getpid(), fd));
    assert_null(find(MARK, PLACES + 1, 1, getpid(), fd));
    assert_null(find(MARK, PLACES, PLACES, getpid(), fd));
    assert_null(find(MARK, PLACES, 1, getpid(), pipes[1]));
    assert_null(find(MARK, PLACES, 1, getpid(), 1000));
    assert_null(find(MARK, PLACES, 1, 0, fd));
    assert_null(make(MARK "0", PLACES, true, &fd));
    assert_null(make(MARK, MUSTER_PLACES + 1, true, &fd));
    muster_close(m);
    assert_null(find(MARK, PLACES, 1, getpid(), fd));
    close(pipes[0]);
    close(pipes[1]);
}

/* ---- Processes ---------------------------------------------------------------------------------- */

/* What each does in a round, from its number alone: so all know what it may end like. */
enum way { COMES, COMES_LATE, DIFFERS, TELLS };

static enum way way_of(int place, uint64_t round)
{
    uint64_t mixed = (round * PLACES + (uint64_t)place) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    return mixed % 100 < 94 ? COMES : mixed % 100 < 96 ? COMES_LATE : mixed % 100 < 98 ? DIFFERS : TELLS;
}

struct record {
    unsigned char ends[PLACES][ROUNDS];
};

static enum muster_end meet(struct muster *m, int place, uint64_t round)
{
    enum way way = way_of(place, round);
    if (way == TELLS)
        return muster_tell(m, round);
    if (way == COMES_LATE)
        usleep(300);
    enum muster_end end = muster_come(m, round, way == DIFFERS ? round + 1 + (uint64_t)place : round);
    if (end == MUSTER_OPEN)
        end = await(m, round, 0.0001);
    while (end == MUSTER_OPEN && way_of(place, round + 1) != TELLS) /* this one loses its patience */
        end = await(m, round, 1);
    return end == MUSTER_OPEN ? muster_tell(m, round) : end;
}

static void be_a_process(struct record *record, int place, int fd)
{
    struct muster *m = find(MARK, PLACES, place, getppid(), fd);
    for (uint64_t round = 0; m && round < ROUNDS; round++)
        record->ends[place][round] = (unsigned char)meet(m, place, round);
    _exit(m ? 0 : 1);
}

/* Alike can only end what all have come to with the same; and what all come to in time, does. */
static void check_round(const struct record *record, uint64_t round, int *alike_ones)
{
    bool may = true;
    for (int p = 0; p < PLACES; p++) {
        assert_int_equal(record->ends[p][round], record->ends[0][round]);
        assert_int_not_equal(record->ends[p][round], MUSTER_OPEN);
        may = may && (way_of(p, round) == COMES || way_of(p, round) == COMES_LATE);
    }
    if (!may)
        assert_int_equal(record->ends[0][round], MUSTER_TOLD);
    *alike_ones += record->ends[0][round] == MUSTER_ALIKE;
}

static void processes(void **state)
{
    int fd, status, alike_ones = 0;
    struct record *record = mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct muster *m = make(MARK, PLACES, true, &fd);
    (void)state;
    assert_true(record != MAP_FAILED && m);
    for (int p = 0; p < PLACES; p++)
        if (!fork())
            be_a_process(record, p, fd);
    for (int p = 0; p < PLACES; p++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    for (uint64_t round = 0; round < ROUNDS; round++)
        check_round(record, round, &alike_ones);
    assert_in_range(alike_ones, ROUNDS / 2, ROUNDS);
    muster_close(m);
    munmap(record, sizeof *record);
}

/* The others are not held up by a process that has died in its sleep, and the memory stays when its maker has ended. */
static void a_process_that_dies(void **state)
{
    int fd, ready[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(ready), 0);
    struct muster *m = make(MARK, 2, true, &fd);
    assert_non_null(m);
    pid_t child = fork();
    if (!child) {
        struct muster *other = find(MARK, 2, 1, getppid(), fd);
        bool open = other && muster_come(other, 0, 1) == MUSTER_OPEN && write(ready[1], "x", 1) == 1;
        while (open)
            await(other, 0, 10);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(muster_come(m, 0, 1), MUSTER_ALIKE);
    assert_int_equal(muster_come(m, 1, 1), MUSTER_OPEN);
    assert_int_equal(await(m, 1, 0.001), MUSTER_OPEN);
    assert_int_equal(muster_tell(m, 1), MUSTER_TOLD);
    muster_close(m);
    close(ready[0]);
    close(ready[1]);
}

int main(void)
{
    alarm(60);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike),
        cmocka_unit_test(alone),
        cmocka_unit_test(on_several_hosts),
        cmocka_unit_test(a_difference),
        cmocka_unit_test(rounds_that_a_rank_missed),
        cmocka_unit_test(another_memory),
        cmocka_unit_test(processes),
        cmocka_unit_test(a_process_that_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
