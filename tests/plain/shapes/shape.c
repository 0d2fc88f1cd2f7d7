/* Draws a shape, and says it in words: see shape.h. */
#include "shape.h"

static const char *const names[STEP_KINDS] = {"PROBE",
                                              "work",
                                              "sendrecv",
                                              "isend",
                                              "isend, tested",
                                              "persistent",
                                              "pipeline",
                                              "pipeline by mprobe",
                                              "gather",
                                              "pair",
                                              "overlap",
                                              "allreduce",
                                              "bcast",
                                              "barrier",
                                              "alltoall",
                                              "iallreduce",
                                              "ibarrier",
                                              "allreduce of halves",
                                              "allreduce of rows",
                                              "fence",
                                              "neighbours"};

/* As Steele et al. 2014, "Fast splittable pseudorandom number generators". */
uint64_t shape_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

int shape_below(uint64_t *state, int bound)
{
    return (int)(shape_random(state) % (uint64_t)bound);
}

static bool one_in(uint64_t *state, int number)
{
    return shape_below(state, number) == 0;
}

/* Some steps are taken in some iterations only, and some have many messages. */
static struct step draw_step(uint64_t *state, bool silent)
{
    struct step step = {.kind = STEP_WORK, .every = 1};
    if (!silent && !one_in(state, 4))
        step.kind = (enum kind)(STEP_SENDRECV + shape_below(state, STEP_KINDS - STEP_SENDRECV));
    if (one_in(state, 3))
        step.every = 2 + shape_below(state, 6);
    step.offset = shape_below(state, step.every);
    step.times = one_in(state, 8) ? 30 : 1 + shape_below(state, 4);
    if (step.kind == STEP_WORK)
        step.times = 1 + shape_below(state, 200);
    return step;
}

static void insert(struct loop *loop, int place, struct step step)
{
    for (int i = loop->count++; i > place; i--)
        loop->steps[i] = loop->steps[i - 1];
    loop->steps[place] = step;
}

static void draw_probe(uint64_t *state, struct loop *loop)
{
    int places[] = {0, loop->count, shape_below(state, loop->count + 1)};
    struct step probe = {.kind = STEP_PROBE, .every = one_in(state, 8) ? 2 + shape_below(state, 4) : 1};
    insert(loop, places[shape_below(state, 3)], probe);
}

/* However little the ranks wait for each other in the loop, no rank runs away; and all meet in it at times. */
static void bound_skew(struct loop *loop, bool silent)
{
    struct step work = {.kind = STEP_WORK, .every = 1, .times = 100};
    int every = loop->iterations < 32 ? loop->iterations : 32;
    struct step barrier = {.kind = STEP_BARRIER, .every = every, .offset = every - 1, .times = 1};
    insert(loop, loop->count, silent ? work : barrier);
}

static void draw_loop(uint64_t *state, struct loop *loop, bool silent)
{
    loop->iterations = 1 + shape_below(state, 60);
    for (int i = 1 + shape_below(state, 4); i > 0; i--)
        loop->steps[loop->count++] = draw_step(state, silent);
    bound_skew(loop, silent);
    draw_probe(state, loop);
    if (one_in(state, 5))
        draw_probe(state, loop);
    loop->repeats = one_in(state, 2);
}

static void declare(uint64_t *state, struct shape *shape)
{
    bool same = shape->loops == 1 || shape->loop[0].repeats == shape->loop[1].repeats;
    if (same && (shape->silent ? !one_in(state, 4) : one_in(state, 8)))
        shape->declared = shape->loop[0].repeats ? "repeats" : "counts";
}

void shape_draw(struct shape *shape, uint64_t seed)
{
    uint64_t state = seed * 0x2545f4914f6cdd1d;
    *shape = (struct shape){.loops = 1 + one_in(&state, 3), .silent = one_in(&state, 12), .most = 4};
    for (int i = 0; i < shape->loops; i++)
        draw_loop(&state, &shape->loop[i], shape->silent);
    shape->probe_first = one_in(&state, 2);
    shape->carries_late = one_in(&state, 3);
    shape->rebuilds_late = one_in(&state, 2);
    shape->leave_in_commit = one_in(&state, 4);
    for (int i = 0; i < 2; i++)
        shape->after[i] = one_in(&state, 2) ? AFTER_NOTHING : (enum after_commit)shape_below(&state, AFTER_KINDS);
    if (one_in(&state, 4))
        shape->most = 2 + shape_below(&state, 5);
    declare(&state, shape);
}

bool shape_is_certain(const struct shape *shape)
{
    return !shape->silent || shape->declared;
}

static void describe_loop(const struct loop *loop, FILE *file)
{
    fprintf(file, "  a loop of %d iterations:", loop->iterations);
    for (int i = 0; i < loop->count; i++) {
        const struct step *step = &loop->steps[i];
        fprintf(file, "%s %s", i ? ";" : "", names[step->kind]);
        if (step->kind != STEP_PROBE)
            fprintf(file, step->kind == STEP_WORK ? " of %d us" : " x %d", step->times);
        if (step->every > 1)
            fprintf(file, " (if i %% %d == %d)", step->every, step->offset);
    }
    fprintf(file, "\n    one that joined enters it %s\n",
            loop->repeats ? "at the same probe: REPEATS" : "behind the probe: COUNTS");
}

void shape_describe(const struct shape *shape, FILE *file)
{
    static const char *const after[] = {NULL, "barrier", "allreduce", "dup and allreduce"};
    fprintf(file, "  up to %d ranks%s\n", shape->most, shape->loops > 1 ? ", loops one after the other and again" : "");
    for (int i = 0; i < shape->loops; i++)
        describe_loop(&shape->loop[i], file);
    fprintf(file, "  joining: %s; state handed on %s; communicators made %s\n",
            shape->probe_first ? "probe, then begin" : "begin at once",
            shape->carries_late ? "after commit" : "in the window",
            shape->rebuilds_late ? "after commit" : "in the window");
    for (int i = 0; i < 2; i++)
        if (shape->after[i])
            fprintf(file, "  after commit: %s\n", after[shape->after[i]]);
    if (shape->declared)
        fprintf(file, "  EPOP_FIRST_PROBE=%s\n", shape->declared);
    if (shape->leave_in_commit)
        fprintf(file, "  EPOP_LEAVE=commit\n");
}
