/*
 * Meeting combs. Two block-cyclic distributions with the same block meet in whole teeth, which the Chinese
 * remainder theorem finds at once; in all other cases the fine comb is laid over each tooth of the coarse one.
 */
#include "runtime/redist/comb.h"

int64_t redist_comb_count(const redist_comb *comb)
{
    return comb->teeth == 0 ? 0 : (comb->teeth - 1) * comb->width + comb->last;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The inverse of a modulo n, for a and n without a common divisor. */
static int64_t inverse(int64_t a, int64_t n)
{
    int64_t r0 = n, r1 = a % n, t0 = 0, t1 = 1;
    while (r1 != 0) {
        int64_t quotient = r0 / r1, r2 = r0 - quotient * r1, t2 = t0 - quotient * t1;
        r0 = r1, r1 = r2;
        t0 = t1, t1 = t2;
    }
    return t0 < 0 ? t0 + n : t0;
}

/* The blocks that are old modulo olds and now modulo nows: block `first`, and every lcm(olds, nows) blocks. */
static void common_teeth(redist_meet *meet, epop_dist_t dist, int old, int olds, int now, int nows)
{
    int64_t width = redist_dist_width(dist);
    int64_t divisor = common_divisor(olds, nows);
    if ((now - old) % divisor != 0)
        return;
    int64_t p = olds / divisor, q = nows / divisor;
    int64_t jump = ((now - old) / divisor % q + q) % q * inverse(p, q) % q;
    int64_t first = old + jump * olds, every = p * nows;
    int64_t last_block = (dist.count - 1) / width;
    if (first > last_block)
        return;
    redist_run run = {.before = first / olds * width, .after = first / nows * width, .length = width};
    run.times = (last_block - first) / every + 1;
    if (run.times > 1)
        run.before_step = q * width, run.after_step = p * width;
    int64_t rest = dist.count - last_block * width;
    if ((last_block - first) % every == 0 && rest < width) {
        redist_run tail = {.before = last_block / olds * width, .after = last_block / nows * width};
        tail.length = rest, tail.times = 1;
        meet->known[1] = tail;
        run.times--;
    }
    meet->known[0] = run;
    meet->known_next = run.times == 0;
    meet->known_count = 1 + (meet->known[1].length > 0);
}

/* Both combs are intervals. */
static void one_run(redist_meet *meet, const redist_comb *before, const redist_comb *after)
{
    int64_t from = larger(before->first, after->first);
    int64_t end = smaller(before->first + before->width, after->first + after->width);
    if (from < end)
        meet->known[meet->known_count++] = (redist_run){
            .before = from - before->first, .after = from - after->first, .length = end - from, .times = 1};
}

static int64_t tooth_start(const redist_comb *comb, int64_t tooth)
{
    return comb->first + tooth * comb->period;
}

static int64_t tooth_length(const redist_comb *comb, int64_t tooth)
{
    return tooth == comb->teeth - 1 ? comb->last : comb->width;
}

/* The first fine tooth that ends behind the start of the present coarse tooth. */
static void find_fine_tooth(redist_meet *meet)
{
    int64_t start = tooth_start(&meet->coarse, meet->coarse_tooth);
    const redist_comb *fine = &meet->fine;
    meet->fine_tooth = 0;
    if (start >= fine->first + fine->width && fine->teeth > 1)
        meet->fine_tooth = (start - fine->first - fine->width) / fine->period + 1;
}

redist_meet redist_meet_start(epop_dist_t before, int old, int olds, epop_dist_t after, int now, int nows)
{
    redist_meet meet = {.known_count = 0};
    redist_comb from = redist_comb_of(before, old, olds), to = redist_comb_of(after, now, nows);
    if (from.teeth == 0 || to.teeth == 0)
        return meet;
    if (from.teeth == 1 && to.teeth == 1) {
        one_run(&meet, &from, &to);
    } else if (!redist_dist_is_blocks(before) && !redist_dist_is_blocks(after) && olds > 1 && nows > 1 &&
               redist_dist_width(before) == redist_dist_width(after)) {
        common_teeth(&meet, before, old, olds, now, nows);
    } else {
        meet.coarse_is_before = to.teeth > 1 && (from.teeth == 1 || from.width >= to.width);
        meet.coarse = meet.coarse_is_before ? from : to;
        meet.fine = meet.coarse_is_before ? to : from;
        find_fine_tooth(&meet);
    }
    return meet;
}

/* Whole fine teeth from the present one on that lie in the coarse tooth, which ends at `end`. */
static int64_t whole_teeth(const redist_comb *fine, int64_t tooth, int64_t end)
{
    int64_t whole = fine->last == fine->width ? fine->teeth : fine->teeth - 1;
    int64_t room = end - tooth_start(fine, tooth) - fine->width;
    if (tooth >= whole || room < 0)
        return 0;
    return fine->period == 0 ? 1 : smaller(whole - tooth, room / fine->period + 1);
}

/* Lays the present fine tooth, and the whole ones behind it, over the coarse tooth. 0: none of it lies there. */
static int lay(redist_meet *meet, redist_run *run)
{
    const redist_comb *coarse = &meet->coarse, *fine = &meet->fine;
    if (meet->fine_tooth >= fine->teeth)
        return 0;
    int64_t start = tooth_start(coarse, meet->coarse_tooth);
    int64_t end = start + tooth_length(coarse, meet->coarse_tooth);
    int64_t fine_start = tooth_start(fine, meet->fine_tooth);
    int64_t from = larger(start, fine_start);
    int64_t to = smaller(end, fine_start + tooth_length(fine, meet->fine_tooth));
    if (from >= to)
        return 0;
    int64_t whole = from == fine_start ? whole_teeth(fine, meet->fine_tooth, end) : 0;
    int64_t in_coarse = meet->coarse_tooth * coarse->width + (from - start);
    int64_t in_fine = meet->fine_tooth * fine->width + (from - fine_start);
    run->length = to - from;
    run->times = larger(whole, 1);
    run->before = meet->coarse_is_before ? in_coarse : in_fine;
    run->after = meet->coarse_is_before ? in_fine : in_coarse;
    run->before_step = meet->coarse_is_before ? fine->period : fine->width;
    run->after_step = meet->coarse_is_before ? fine->width : fine->period;
    meet->fine_tooth += run->times;
    return 1;
}

int redist_meet_next(redist_meet *meet, redist_run *run)
{
    if (meet->known_next < meet->known_count) {
        *run = meet->known[meet->known_next++];
        return 1;
    }
    while (meet->coarse_tooth < meet->coarse.teeth) {
        if (lay(meet, run))
            return 1;
        if (++meet->coarse_tooth < meet->coarse.teeth)
            find_fine_tooth(meet);
    }
    return 0;
}

static int64_t count_runs(redist_meet meet)
{
    int64_t count = 0;
    redist_run run;
    while (redist_meet_next(&meet, &run))
        count += run.length * run.times;
    return count;
}

/* After this many indices both distributions stand at the same point again; 0: not within the count. */
static int64_t common_period(epop_dist_t before, int olds, epop_dist_t after, int nows)
{
    int64_t p, q, period;
    if (redist_dist_is_blocks(before) || redist_dist_is_blocks(after) ||
        __builtin_mul_overflow(redist_dist_width(before), olds, &p) ||
        __builtin_mul_overflow(redist_dist_width(after), nows, &q) ||
        __builtin_mul_overflow(p / common_divisor(p, q), q, &period))
        return 0;
    return period < before.count ? period : 0;
}

int64_t redist_meet_count(epop_dist_t before, int old, int olds, epop_dist_t after, int now, int nows)
{
    int64_t period = before.count > 0 ? common_period(before, olds, after, nows) : 0;
    int64_t whole = 0;
    if (period > 0) {
        int64_t periods = before.count / period, rest = before.count % period;
        before.count = after.count = period;
        whole = periods * count_runs(redist_meet_start(before, old, olds, after, now, nows));
        before.count = after.count = rest;
    }
    return whole + count_runs(redist_meet_start(before, old, olds, after, now, nows));
}
