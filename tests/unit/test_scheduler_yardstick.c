/* The schedule of EASY backfilling that policies are held against is the one that EASY gives, whenever it is asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "scheduler/core/yardstick.h"

#define JOBS  400
#define NODES 16

static struct {
    int submitted, nodes, seconds; /* at 20 at least */
    int start;                     /* -1: it waits */
    double seen;                   /* by the yardstick */
} jobs[JOBS];

/* More than the machine can do, so that the queue is longer than what is planned ahead. */
static void draw(unsigned seed)
{
    srand(seed);
    for (int i = 0, time = 0; i < JOBS; i++) {
        time += rand() % 20;
        jobs[i].submitted = time;
        jobs[i].nodes = 1 + (rand() % 3 ? rand() % 4 : rand() % NODES);
        jobs[i].seconds = 20 + (rand() % 4 ? rand() % 60 : rand() % 1000);
        jobs[i].start = -1;
        jobs[i].seen = NAN;
    }
}

/* ---- EASY, as it is described ------------------------------------------------------------------- */

static bool runs(int i, int time)
{
    return jobs[i].start >= 0 && jobs[i].start <= time && jobs[i].start + jobs[i].seconds > time;
}

static bool waits(int i, int time)
{
    return jobs[i].start < 0 && jobs[i].submitted <= time;
}

static int idle_at(int time, int now)
{
    int idle = NODES;
    for (int i = 0; i < JOBS; i++)
        idle -= runs(i, now) && runs(i, time) ? jobs[i].nodes : 0;
    return idle;
}

static void start_what_can(int now)
{
    int head = 0;
    for (; head < JOBS; head++) {
        if (!waits(head, now))
            continue;
        if (jobs[head].nodes > idle_at(now, now))
            break;
        jobs[head].start = now;
    }
    if (head == JOBS)
        return;
    int shadow = now;
    while (idle_at(shadow, now) < jobs[head].nodes)
        shadow++;
    int extra = idle_at(shadow, now) - jobs[head].nodes;
    for (int i = head + 1; i < JOBS; i++) {
        if (!waits(i, now) || jobs[i].nodes > idle_at(now, now))
            continue;
        bool ends = now + jobs[i].seconds <= shadow;
        if (!ends && jobs[i].nodes > extra)
            continue;
        extra -= ends ? 0 : jobs[i].nodes;
        jobs[i].start = now;
    }
}

static void play_easy(void)
{
    for (int now = 0, left = JOBS; left > 0; now++) {
        bool event = false;
        for (int i = 0; i < JOBS; i++)
            event |= jobs[i].submitted == now || (jobs[i].start >= 0 && jobs[i].start + jobs[i].seconds == now);
        if (!event)
            continue;
        start_what_can(now);
        left = 0;
        for (int i = 0; i < JOBS; i++)
            left += jobs[i].start < 0;
    }
}

/* ---- The yardstick ------------------------------------------------------------------------------ */

static void look(struct yardstick *yardstick, double now)
{
    yardstick_plan(yardstick, now, NODES);
    for (size_t i = 0; i < yardstick->count; i++)
        if (yardstick->jobs[i].start <= now)
            jobs[yardstick->jobs[i].turn.id].seen = yardstick->jobs[i].start;
}

/* Asked when a job comes, and else at times of its own: not when one ends there. */
static void play_yardstick(void)
{
    struct yardstick yardstick = {0};
    int next = 0;
    for (double now = 0; next < JOBS || yardstick.count > 0;) {
        for (; next < JOBS && jobs[next].submitted <= now; next++)
            assert_int_equal(yardstick_add(&yardstick, &(struct yardstick_job){.turn.id = next,
                                                                               .turn.submitted = jobs[next].submitted,
                                                                               .nodes = jobs[next].nodes,
                                                                               .seconds = jobs[next].seconds}),
                             0);
        look(&yardstick, now);
        now += 0.5 + rand() % 15;
        if (next < JOBS && jobs[next].submitted < now)
            now = jobs[next].submitted;
    }
    yardstick_free(&yardstick);
}

static void test_it_is_that_of_easy(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 5; seed++) {
        draw(seed);
        play_easy();
        play_yardstick();
        for (int i = 0; i < JOBS; i++)
            assert_float_equal(jobs[i].seen, jobs[i].start, 1e-6);
    }
}

/* What starts on nodes that come back does not before. */
static void test_nodes_that_go_and_come(void **state)
{
    struct yardstick yardstick = {0};
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(yardstick_add(&yardstick, &(struct yardstick_job){.turn.id = i, .nodes = 4, .seconds = 100}),
                         0);
    yardstick_plan(&yardstick, 0, 4);
    yardstick_plan(&yardstick, 30, 0);
    yardstick_plan(&yardstick, 150, 0);
    assert_int_equal(yardstick.count, 1);
    assert_int_equal(yardstick.jobs[0].turn.id, 1);
    yardstick_plan(&yardstick, 200, 4);
    assert_float_equal(yardstick.jobs[0].start, 200, 0);
    yardstick_free(&yardstick);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_that_of_easy),
        cmocka_unit_test(test_nodes_that_go_and_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
