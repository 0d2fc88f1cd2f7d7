/* EASY backfilling ahead: from the jobs that run there, to the start of each that waits. */
#include "scheduler/core/yardstick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

/* So many jobs of its queue are planned ahead: bounds the time that a plan takes. */
#define PLANNED 100

void yardstick_free(struct yardstick *yardstick)
{
    free(yardstick->jobs);
    free(yardstick->uses);
    *yardstick = (struct yardstick){0};
}

static int by_turn(const void *one, const void *other)
{
    const struct yardstick_job *a = one, *b = other;
    return turn_compare(&a->turn, &b->turn);
}

/* There must be room. */
static void insert(struct yardstick *yardstick, const struct yardstick_job *job)
{
    size_t at = yardstick->count++;
    for (; at > 0 && by_turn(job, &yardstick->jobs[at - 1]) < 0; at--)
        yardstick->jobs[at] = yardstick->jobs[at - 1];
    yardstick->jobs[at] = *job;
    yardstick->changed = true;
}

int yardstick_add(struct yardstick *yardstick, const struct yardstick_job *given)
{
    size_t more = yardstick->count + 1;
    struct yardstick_job job = {
        .turn = given->turn, .nodes = given->nodes, .seconds = given->seconds, .start = INFINITY, .end = INFINITY};
    if (array_reserve(&yardstick->jobs, &yardstick->room, more, sizeof *yardstick->jobs) ||
        array_reserve(&yardstick->uses, &yardstick->uses_room, more, sizeof *yardstick->uses))
        return -1;
    insert(yardstick, &job);
    return 0;
}

static struct yardstick_job *find(struct yardstick *yardstick, int64_t id)
{
    for (size_t i = yardstick->count; i-- > 0;)
        if (yardstick->jobs[i].turn.id == id)
            return &yardstick->jobs[i];
    return NULL;
}

void yardstick_turn(struct yardstick *yardstick, const struct turn *turn)
{
    struct yardstick_job *job = find(yardstick, turn->id);
    if (!job || !turn_compare(&job->turn, turn))
        return;
    struct yardstick_job moved = *job;
    size_t behind = (size_t)(yardstick->jobs + yardstick->count - (job + 1));
    memmove(job, job + 1, behind * sizeof *job);
    yardstick->count--;
    moved.turn = *turn;
    insert(yardstick, &moved);
}

void yardstick_sort(struct yardstick *yardstick)
{
    if (yardstick->count > 0)
        qsort(yardstick->jobs, yardstick->count, sizeof *yardstick->jobs, by_turn);
    yardstick->changed = true;
}

static void set_start(struct yardstick_job *job, double start)
{
    job->start = start;
    job->end = start + job->seconds;
}

void yardstick_again(struct yardstick *yardstick, int64_t id)
{
    struct yardstick_job *job = find(yardstick, id);
    if (job) {
        set_start(job, INFINITY);
        job->runs = false;
    }
    yardstick->changed = true;
}

void yardstick_started(struct yardstick *yardstick, int64_t id, double start)
{
    struct yardstick_job *job = find(yardstick, id);
    if (job) {
        set_start(job, start);
        job->runs = true;
    }
    yardstick->changed = true;
}

/* As long as that at its wanted nodes, as is known now. */
static void set_seconds(struct yardstick *yardstick, struct yardstick_job *job, double seconds, double now)
{
    if (fabs(seconds - job->seconds) <= 1e-6 * job->seconds)
        return;
    job->seconds = fmax(seconds, 0);
    if (job->runs) {
        double end = job->start + job->seconds;
        job->end = end < now + YARDSTICK_ROUNDED ? now : end;
    }
    yardstick->changed = true;
}

void yardstick_limited(struct yardstick *yardstick, int64_t id, double seconds, double now)
{
    struct yardstick_job *job = find(yardstick, id);
    if (job && !job->told)
        set_seconds(yardstick, job, seconds, now);
}

void yardstick_told(struct yardstick *yardstick, int64_t id, double seconds, double now)
{
    struct yardstick_job *job = find(yardstick, id);
    if (!job)
        return;
    job->told = true;
    set_seconds(yardstick, job, seconds, now);
}

void yardstick_ended(struct yardstick *yardstick, int64_t id, double seconds, bool exact, double now)
{
    struct yardstick_job *job = find(yardstick, id);
    if (!job)
        return;
    job->ended = true;
    if (exact || !job->told)
        set_seconds(yardstick, job, seconds, now);
}

void yardstick_goes_on(struct yardstick *yardstick, size_t place, double now)
{
    yardstick->jobs[place].end = now + YARDSTICK_ROUNDED;
    yardstick->changed = true;
}

/* ---- The plan ----------------------------------------------------------------------------------- */

static void drop_over(struct yardstick *yardstick, double now)
{
    size_t kept = 0;
    for (size_t i = 0; i < yardstick->count; i++) {
        const struct yardstick_job *job = &yardstick->jobs[i];
        bool over = job->end <= now || (job->ended && job->seconds <= 0);
        if (!over)
            yardstick->jobs[kept++] = *job;
    }
    yardstick->count = kept;
}

/* What is planned with: those that run, by their ends, and those that wait. */
struct ahead {
    struct yardstick_job **running, **waiting;
    size_t runs, waits;
    int idle, up;
    double time;
    bool past; /* what starts has started */
};

static int by_end(const void *one, const void *other)
{
    const struct yardstick_job *a = *(struct yardstick_job *const *)one, *b = *(struct yardstick_job *const *)other;
    return (a->end > b->end) - (a->end < b->end);
}

static void insert_running(struct ahead *ahead, struct yardstick_job *job)
{
    size_t at = ahead->runs++;
    for (; at > 0 && ahead->running[at - 1]->end > job->end; at--)
        ahead->running[at] = ahead->running[at - 1];
    ahead->running[at] = job;
}

static void start_job(struct ahead *ahead, size_t place)
{
    struct yardstick_job *job = ahead->waiting[place];
    set_start(job, ahead->time);
    job->runs = ahead->past;
    ahead->idle -= job->nodes;
    insert_running(ahead, job);
    ahead->waiting[place] = NULL;
}

/* It has not come yet, has started, or is too large. */
static bool is_none(const struct ahead *ahead, const struct yardstick_job *job)
{
    return !job || job->turn.submitted > ahead->time || job->nodes > ahead->up;
}

/* The first one that does not fit. */
static size_t start_in_order(struct ahead *ahead, size_t place)
{
    for (; place < ahead->waits; place++) {
        const struct yardstick_job *job = ahead->waiting[place];
        if (is_none(ahead, job))
            continue;
        if (job->nodes > ahead->idle)
            break;
        start_job(ahead, place);
    }
    return place;
}

static void backfill(struct ahead *ahead, size_t head)
{
    double shadow = ahead->time;
    int there = ahead->idle;
    size_t i = 0;
    for (; i < ahead->runs && (there < ahead->waiting[head]->nodes || ahead->running[i]->end <= shadow); i++) {
        shadow = ahead->running[i]->end;
        there += ahead->running[i]->nodes;
    }
    int extra = there - ahead->waiting[head]->nodes;
    for (size_t place = head + 1; place < ahead->waits && ahead->idle > 0; place++) {
        const struct yardstick_job *job = ahead->waiting[place];
        if (is_none(ahead, job) || job->nodes > ahead->idle)
            continue;
        bool ends = ahead->time + job->seconds <= shadow;
        if (!ends && job->nodes > extra)
            continue;
        extra -= ends ? 0 : job->nodes;
        start_job(ahead, place);
    }
}

/* To the next end, and all at that time. */
static bool next_end(struct ahead *ahead)
{
    size_t ended = 0;
    if (!ahead->runs)
        return false;
    ahead->time = fmax(ahead->time, ahead->running[0]->end);
    while (ended < ahead->runs && ahead->running[ended]->end <= ahead->time)
        ahead->idle += ahead->running[ended++]->nodes;
    ahead->runs -= ended;
    memmove(ahead->running, ahead->running + ended, ahead->runs * sizeof(*ahead->running));
    return true;
}

/* Starts what can start at that time; the first that waits on. */
static size_t pass(struct ahead *ahead, size_t head)
{
    head = start_in_order(ahead, head);
    if (head < ahead->waits)
        backfill(ahead, head);
    return head;
}

/* What has happened since the last plan, which looked at few of those that wait. */
static void catch_up(struct ahead *ahead, double now, int up)
{
    while (ahead->runs && ahead->running[0]->end <= now) {
        next_end(ahead);
        pass(ahead, 0);
    }
    ahead->time = now;
    ahead->idle += up - ahead->up;
    ahead->up = up;
}

/* All that wait are looked at now, and few of them ahead. The time until which nothing else can start. */
static double play(struct ahead *ahead)
{
    size_t head = pass(ahead, 0);
    ahead->past = false;
    bool all = ahead->waits <= head + PLANNED;
    double known = all || !ahead->runs ? INFINITY : ahead->running[0]->end;
    ahead->waits = all ? ahead->waits : head + PLANNED;
    while (head < ahead->waits && next_end(ahead))
        head = pass(ahead, head);
    return known;
}

/* As it was at the last plan. */
static void sort_out(struct yardstick *yardstick, struct ahead *ahead)
{
    for (size_t i = 0; i < yardstick->count; i++) {
        struct yardstick_job *job = &yardstick->jobs[i];
        if (job->runs) {
            ahead->running[ahead->runs++] = job;
            ahead->idle -= job->nodes;
            continue;
        }
        set_start(job, INFINITY);
        ahead->waiting[ahead->waits++] = job;
    }
    qsort(ahead->running, ahead->runs, sizeof(*ahead->running), by_end);
}

/* What was to start by then has. */
static void come_to(struct yardstick *yardstick, double now)
{
    for (size_t i = 0; i < yardstick->count; i++)
        yardstick->jobs[i].runs |= yardstick->jobs[i].start <= now;
    drop_over(yardstick, now);
    yardstick->seen = now;
}

/* Nothing was planned before. */
static void begin(struct yardstick *yardstick, double now, int up)
{
    drop_over(yardstick, now);
    yardstick->begun = true;
    yardstick->changed = true;
    yardstick->seen = now;
    yardstick->up = up;
}

void yardstick_plan(struct yardstick *yardstick, double now, int up)
{
    if (!yardstick->begun)
        begin(yardstick, now, up);
    if (!yardstick->changed && now < yardstick->known && up == yardstick->up) {
        come_to(yardstick, now);
        return;
    }
    struct ahead ahead = {.idle = yardstick->up, .up = yardstick->up, .time = yardstick->seen, .past = true};
    ahead.running = malloc((yardstick->count + 1) * sizeof(*ahead.running));
    ahead.waiting = malloc((yardstick->count + 1) * sizeof(*ahead.waiting));
    if (ahead.running && ahead.waiting) {
        sort_out(yardstick, &ahead);
        catch_up(&ahead, now, up);
        yardstick->known = play(&ahead);
        yardstick->changed = false;
        yardstick->up = up;
        come_to(yardstick, now);
    }
    free(ahead.running);
    free(ahead.waiting);
}
