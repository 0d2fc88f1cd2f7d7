/*
 * What a joining process's first probe is, found in the first probes of all: loops of random shapes, carried out on
 * paper, with iterations that differ, and at many of which nothing goes between those that stay and those that join.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/coordinator/settle.h"

#define RANKS    6
#define STEPS    4
#define SHAPES   5000
#define PROBES   40
#define VARIANTS 5

enum action { NOTHING, RING, PAIRS, LAST_PAIR, COLLECTIVE };

struct step {
    enum action action;
    int every, offset;
};

struct shape {
    int size, staying, steps;
    bool repeats, setup;
    struct step step[STEPS];
};

static uint64_t random_state = 7;

static int below(int bound)
{
    random_state = random_state * 6364136223846793005 + 1442695040888963407;
    return (int)((random_state >> 33) % (uint64_t)bound);
}

static struct shape draw(void)
{
    struct shape shape = {.size = 2 + below(RANKS - 1), .steps = 1 + below(STEPS)};
    shape.staying = 1 + below(shape.size - 1);
    shape.repeats = below(2);
    shape.setup = below(2);
    for (int i = 0; i < shape.steps; i++) {
        int every = 1 + below(9);
        shape.step[i] = (struct step){(enum action)below(VARIANTS), every, below(every)};
    }
    return shape;
}

/* ---- What it does ------------------------------------------------------------------------------- */

static uint64_t key(uint64_t x)
{
    x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    return (x ^ (x >> 29)) * 0x94d049bb133111eb;
}

static void exchange(struct stretch *done, int rank, int to)
{
    done->sent++;
    done->received++;
    done->balance += key((uint64_t)to) - key((uint64_t)rank);
}

static void meet(struct stretch *done, int rank, int size)
{
    done->world++;
    done->balance += (rank ? 1 : -(uint64_t)(size - 1)) * key(99);
}

static void act(const struct shape *shape, enum action action, int rank, struct stretch *done)
{
    int size = shape->size, other = rank ^ 1;
    if (action == RING)
        exchange(done, rank, (rank + 1) % size);
    if (action == PAIRS && other < size)
        exchange(done, rank, other);
    if (action == LAST_PAIR && size > 1 && rank >= size - 2)
        exchange(done, rank, 2 * size - 3 - rank);
    if (action == COLLECTIVE)
        meet(done, rank, size);
}

static struct stretch_log carry_out(const struct shape *shape, int rank)
{
    struct stretch_log log = {.joins = rank >= shape->staying};
    struct stretch done = {0};
    if (shape->setup)
        meet(&done, rank, shape->size);
    if (log.joins && shape->repeats)
        stretch_note(&log, &done);
    for (int i = 0; log.probe < PROBES + log.joins; i++) {
        for (int s = 0; s < shape->steps; s++)
            if (i % shape->step[s].every == shape->step[s].offset)
                act(shape, shape->step[s].action, rank, &done);
        done.seconds++;
        stretch_note(&log, &done);
    }
    return log;
}

static bool has_collective(const struct shape *shape)
{
    for (int s = 0; s < shape->steps; s++)
        if (shape->step[s].action == COLLECTIVE)
            return true;
    return false;
}

/* ---- And what is found -------------------------------------------------------------------------- */

static struct verdict find(const struct shape *shape)
{
    struct stretch_log logs[RANKS];
    struct search search;
    assert_int_equal(search_init(&search, shape->size), 0);
    for (int r = 0; r < shape->size; r++) {
        logs[r] = carry_out(shape, r);
        search_add(&search, &logs[r]);
    }
    assert_int_equal(search_known(&search), PROBES);
    struct verdict found = search_verdict(&search, 0);
    search_free(&search);
    return found;
}

/* Unsure may be right, or not; sure never is wrong, and as soon as all have met it is sure. */
static void no_shape_is_taken_for_another(void **state)
{
    int sure = 0;
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        struct shape shape = draw();
        struct verdict found = find(&shape);
        if (found.sure)
            assert_int_equal(found.what, shape.repeats ? FIRST_PROBE_REPEATS : FIRST_PROBE_COUNTS);
        if (has_collective(&shape))
            assert_true(found.sure);
        sure += found.sure;
    }
    assert_in_range(sure, SHAPES / 2, SHAPES);
}

static void what_comes_late_is_found(void **state)
{
    (void)state;
    for (int repeats = 0; repeats < 2; repeats++) {
        struct shape shape = {.size = 4, .staying = 2, .steps = 1, .repeats = repeats};
        shape.step[0] = (struct step){COLLECTIVE, PROBES, PROBES - 1};
        assert_true(find(&shape).sure);
        shape.step[0] = (struct step){PAIRS, 1, 0}; /* among themselves for ever */
        assert_true(find(&shape).open);
    }
}

/* All probes have a note, and then the log is full. */
static void a_full_log(void **state)
{
    struct stretch_log log = {.adaptation = 1};
    (void)state;
    for (int i = 1; i <= 2 * STRETCHES_MOST; i++)
        stretch_note(&log, &(struct stretch){.sent = i});
    assert_true(log.full);
    assert_int_equal(log.probe, STRETCHES_MOST);
    assert_int_equal(stretch_up_to(&log, 3)->sent, 3);
}

static void a_log_as_messages(void **state)
{
    struct stretch_log log = {.adaptation = 4, .joins = true}, other = {.adaptation = 3, .count = 5};
    (void)state;
    for (int part = 0; part < 2; part++) {
        int from = log.count;
        stretch_note(&log, &(struct stretch){.sent = part, .balance = UINT64_MAX - 1});
        stretch_note(&log, &(struct stretch){.sent = part, .balance = UINT64_MAX - 1});
        cJSON *message = stretch_log_to_json(&log, from);
        struct message decoded;
        struct error why;
        assert_true(message_decode(&decoded, KIND_REPORT, message, &why));
        stretch_log_add(&other, decoded.is);
        message_free(&decoded);
        cJSON_Delete(message);
    }
    assert_int_equal(other.count, 2);
    assert_int_equal(other.probe, 4);
    assert_int_equal(other.at[1].probe, 3);
    assert_true(other.joins && stretch_up_to(&other, 4)->balance == UINT64_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_shape_is_taken_for_another),
        cmocka_unit_test(what_comes_late_is_found),
        cmocka_unit_test(a_full_log),
        cmocka_unit_test(a_log_as_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
