/*
 * How indices are dealt out to ranks, and where two distributions meet. All of it is local and exact up to 2^63 - 1
 * indices, and all but the search of an index's owner in cuts takes constant time.
 */
#include "runtime/redist/dist.h"

#include <stdlib.h>

/* ---- What a rank has ---------------------------------------------------------------------------- */

epop_dist_t epop_dist_block(int64_t count)
{
    return (epop_dist_t){.kind = EPOP_DIST_BLOCK, .count = count, .block = 1};
}

epop_dist_t epop_dist_cyclic(int64_t count)
{
    return (epop_dist_t){.kind = EPOP_DIST_CYCLIC, .count = count, .block = 1};
}

epop_dist_t epop_dist_block_cyclic(int64_t count, int64_t block)
{
    return (epop_dist_t){.kind = EPOP_DIST_BLOCK_CYCLIC, .count = count, .block = block};
}

epop_dist_t epop_dist_cuts(int64_t *starts, int ranks)
{
    bool some = starts && ranks > 0;
    return (epop_dist_t){
        .kind = EPOP_DIST_CUTS, .ranks = ranks, .count = some ? starts[ranks] : 0, .starts = some ? starts : NULL};
}

void epop_dist_free(epop_dist_t *dist)
{
    if (dist->kind == EPOP_DIST_CUTS)
        free(dist->starts);
    *dist = epop_dist_block(0);
}

bool redist_dist_is_blocks(epop_dist_t dist)
{
    return dist.kind == EPOP_DIST_BLOCK || dist.kind == EPOP_DIST_CUTS;
}

/* Indices per block of a cyclic or block-cyclic distribution, at most its count. */
static int64_t dist_width(epop_dist_t dist)
{
    int64_t width = dist.kind == EPOP_DIST_CYCLIC ? 1 : dist.block;
    return width < dist.count ? width : dist.count;
}

/* From 0 to the count, and never back. */
static bool cuts_rise(epop_dist_t dist)
{
    if (!dist.starts || dist.ranks < 1 || dist.starts[0] || dist.starts[dist.ranks] != dist.count)
        return false;
    for (int rank = 0; rank < dist.ranks; rank++)
        if (dist.starts[rank] > dist.starts[rank + 1])
            return false;
    return true;
}

bool redist_dist_fits(epop_dist_t dist, int size)
{
    return dist.kind != EPOP_DIST_CUTS || (dist.ranks == size && cuts_rise(dist));
}

bool redist_dist_valid(epop_dist_t dist)
{
    if (dist.count < 0)
        return false;
    return redist_dist_is_blocks(dist) || dist.kind == EPOP_DIST_CYCLIC ||
           (dist.kind == EPOP_DIST_BLOCK_CYCLIC && dist.block >= 1);
}

/* Where the block of `rank` starts: the first count % size ranks have one index more. */
static int64_t block_start(int64_t count, int rank, int size)
{
    int64_t longer = count % size;
    return rank * (count / size) + (rank < longer ? rank : longer);
}

static redist_comb block_comb(int64_t count, int rank, int size)
{
    int64_t width = count / size + (rank < count % size);
    return (redist_comb){.first = block_start(count, rank, size), .width = width, .teeth = width > 0, .last = width};
}

static redist_comb cut_comb(epop_dist_t dist, int rank)
{
    int64_t width = dist.starts[rank + 1] - dist.starts[rank];
    return (redist_comb){.first = dist.starts[rank], .width = width, .teeth = width > 0, .last = width};
}

static redist_comb cyclic_comb(epop_dist_t dist, int rank, int size)
{
    int64_t width = dist_width(dist);
    int64_t last_block = (dist.count - 1) / width;
    redist_comb comb = {.width = width};
    if (rank > last_block)
        return (redist_comb){0};
    comb.first = rank * width;
    comb.teeth = (last_block - rank) / size + 1;
    comb.last = (last_block - rank) % size == 0 ? dist.count - last_block * width : width;
    if (comb.teeth > 1)
        comb.period = size * width;
    else
        comb.width = comb.last;
    return comb;
}

static redist_comb comb_of(epop_dist_t dist, int rank, int size)
{
    if (rank < 0 || rank >= size || dist.count <= 0)
        return (redist_comb){0};
    if (dist.kind == EPOP_DIST_CUTS)
        return rank < dist.ranks ? cut_comb(dist, rank) : (redist_comb){0};
    if (dist.kind == EPOP_DIST_BLOCK || size == 1)
        return block_comb(dist.count, rank, size);
    return cyclic_comb(dist, rank, size);
}

/* Indices in the comb. */
static int64_t comb_count(const redist_comb *comb)
{
    return comb->teeth == 0 ? 0 : (comb->teeth - 1) * comb->width + comb->last;
}

int64_t epop_dist_local_count(epop_dist_t dist, int rank, int size)
{
    redist_comb comb = comb_of(dist, rank, size);
    return comb_count(&comb);
}

int64_t epop_dist_global(epop_dist_t dist, int rank, int size, int64_t local)
{
    redist_comb comb = comb_of(dist, rank, size);
    if (comb.teeth <= 1)
        return comb.first + local;
    return comb.first + local / comb.width * comb.period + local % comb.width;
}

static int block_owner(int64_t count, int size, int64_t global, int64_t *local)
{
    int64_t least = count / size;
    int64_t longer = count % size;
    int rank;
    if (longer > 0 && global < longer * (least + 1))
        rank = (int)(global / (least + 1));
    else
        rank = (int)((global - longer) / least);
    if (local)
        *local = global - block_start(count, rank, size);
    return rank;
}

/* The last rank that starts at or before the index: those without indices start where the next one does. */
static int cut_owner(epop_dist_t dist, int64_t global, int64_t *local)
{
    int low = 0, high = dist.ranks;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (dist.starts[middle] <= global)
            low = middle;
        else
            high = middle;
    }
    if (local)
        *local = global - dist.starts[low];
    return low;
}

int epop_dist_owner(epop_dist_t dist, int size, int64_t global, int64_t *local)
{
    if (dist.kind == EPOP_DIST_CUTS)
        return cut_owner(dist, global, local);
    if (dist.kind == EPOP_DIST_BLOCK)
        return block_owner(dist.count, size, global, local);
    int64_t width = dist_width(dist);
    int64_t block = global / width;
    if (local)
        *local = block / size * width + global % width;
    return (int)(block % size);
}

void epop_grid_near_square(int size, int *grid_rows, int *grid_cols)
{
    int cols = 1;
    for (int divisor = 2; divisor <= size / divisor; divisor++)
        if (size % divisor == 0)
            cols = divisor;
    *grid_rows = size / cols;
    *grid_cols = cols;
}

void epop_dist2d_local(const epop_dist2d_t *dist, int rank, int64_t *rows, int64_t *cols)
{
    *rows = *cols = 0;
    if (rank < 0 || rank / dist->grid_cols >= dist->grid_rows)
        return;
    *rows = epop_dist_local_count(dist->rows, rank / dist->grid_cols, dist->grid_rows);
    *cols = epop_dist_local_count(dist->cols, rank % dist->grid_cols, dist->grid_cols);
}

/* ---- Two combs that meet ------------------------------------------------------------------------ */

/* Two block-cyclic distributions with the same block meet in whole teeth, which the Chinese remainder theorem finds at
 * once; in all other cases the fine comb is laid over each tooth of the coarse one. */

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
static int64_t inverse_modulo(int64_t a, int64_t n)
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
    int64_t width = dist_width(dist);
    int64_t divisor = common_divisor(olds, nows);
    if ((now - old) % divisor != 0)
        return;
    int64_t p = olds / divisor, q = nows / divisor;
    int64_t jump = ((now - old) / divisor % q + q) % q * inverse_modulo(p, q) % q;
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

/* The first fine tooth that ends after the start of the present coarse tooth. */
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
    redist_comb from = comb_of(before, old, olds), to = comb_of(after, now, nows);
    if (from.teeth == 0 || to.teeth == 0)
        return meet;
    if (from.teeth == 1 && to.teeth == 1) {
        one_run(&meet, &from, &to);
    } else if (!redist_dist_is_blocks(before) && !redist_dist_is_blocks(after) && olds > 1 && nows > 1 &&
               dist_width(before) == dist_width(after)) {
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

/* Lays the present fine tooth, and the whole ones that follow it, over the coarse tooth. 0: none of it lies there. */
static int lay_tooth(redist_meet *meet, redist_run *run)
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
        if (lay_tooth(meet, run))
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
        __builtin_mul_overflow(dist_width(before), olds, &p) || __builtin_mul_overflow(dist_width(after), nows, &q) ||
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

/* ---- Two dimensions ----------------------------------------------------------------------------- */

/*
 * The walk is the product of a meeting of rows and a meeting of columns. The dimension that is contiguous in the old
 * block is the fast one. Where both blocks hold whole lines of it, line after line is one long run.
 */

/* One rank's place in a distribution, dimension by dimension: [0] the slow, [1] the fast one. */
typedef struct half {
    epop_dist_t dist[2];
    int rank[2], size[2];
    int64_t local[2];
} half;

static half cursor_half(const epop_dist2d_t *dist, int rank, int fast_is_rows)
{
    int rows = fast_is_rows, cols = !fast_is_rows;
    half h;
    h.dist[rows] = dist->rows;
    h.dist[cols] = dist->cols;
    h.size[rows] = dist->grid_rows;
    h.size[cols] = dist->grid_cols;
    h.rank[rows] = rank < 0 ? -1 : rank / dist->grid_cols;
    h.rank[cols] = rank < 0 ? -1 : rank % dist->grid_cols;
    for (int i = 0; i < 2; i++)
        h.local[i] = epop_dist_local_count(h.dist[i], h.rank[i], h.size[i]);
    return h;
}

static int64_t count_meeting(const half *from, const half *to, int i)
{
    return redist_meet_count(from->dist[i], from->rank[i], from->size[i], to->dist[i], to->rank[i], to->size[i]);
}

static redist_meet meet_of(const half *from, const half *to, int i)
{
    return redist_meet_start(from->dist[i], from->rank[i], from->size[i], to->dist[i], to->rank[i], to->size[i]);
}

static redist_meet one_index(void)
{
    redist_meet meet = {.known_count = 1};
    meet.known[0] = (redist_run){.length = 1, .times = 1};
    return meet;
}

static int next_run(redist_cursor *cursor)
{
    redist_run *run = &cursor->run;
    if (!redist_meet_next(&cursor->fast, run))
        return 0;
    run->before *= cursor->scale;
    run->after *= cursor->scale;
    run->length *= cursor->scale;
    run->before_step *= cursor->scale;
    run->after_step *= cursor->scale;
    cursor->run_time = cursor->run_at = 0;
    return 1;
}

static void first_run(redist_cursor *cursor)
{
    cursor->fast = cursor->fast_start;
    next_run(cursor);
}

static redist_strides strides_of(const half *h, int fast_is_contiguous)
{
    if (fast_is_contiguous)
        return (redist_strides){.slow = h->local[1], .fast = 1};
    return (redist_strides){.slow = 1, .fast = h->local[0]};
}

static bool lines_are_even(const redist_cursor *cursor, int64_t line)
{
    const redist_run *run = &cursor->run;
    const redist_strides *strides = cursor->strides;
    return run->times > 1 && run->length * run->times == line &&
           strides[REDIST_BEFORE].slow == run->times * run->before_step * strides[REDIST_BEFORE].fast &&
           strides[REDIST_AFTER].slow == run->times * run->after_step * strides[REDIST_AFTER].fast;
}

redist_cursor redist_cursor_start(const epop_dist2d_t *before, int old, const epop_dist2d_t *after, int now)
{
    int fast_is_rows = before->column_major != 0;
    half from = cursor_half(before, old, fast_is_rows), to = cursor_half(after, now, fast_is_rows);
    int64_t slow = count_meeting(&from, &to, 0), fast = count_meeting(&from, &to, 1);
    redist_cursor cursor = {.total = slow * fast, .scale = 1};
    cursor.left = cursor.total;
    if (cursor.total == 0)
        return cursor;
    cursor.strides[REDIST_BEFORE] = strides_of(&from, 1);
    cursor.strides[REDIST_AFTER] = strides_of(&to, fast_is_rows == (after->column_major != 0));
    int whole_lines = from.local[1] == fast && to.local[1] == fast && cursor.strides[REDIST_AFTER].fast == 1;
    if (whole_lines) {
        cursor.slow = one_index();
        cursor.fast_start = meet_of(&from, &to, 0);
        cursor.scale = fast;
    } else {
        cursor.slow = meet_of(&from, &to, 0);
        cursor.fast_start = meet_of(&from, &to, 1);
    }
    redist_meet_next(&cursor.slow, &cursor.row);
    first_run(&cursor);
    cursor.one_run = cursor.run.length * cursor.run.times == (whole_lines ? cursor.total : fast);
    cursor.one_run = cursor.one_run && cursor.run.times == 1;
    cursor.even = lines_are_even(&cursor, fast);
    return cursor;
}

int redist_cursor_is_one_run(const redist_cursor *cursor)
{
    return cursor->one_run && cursor->run.length == cursor->total && cursor->strides[REDIST_AFTER].fast == 1;
}

static redist_place cursor_place(const redist_cursor *cursor, redist_side side)
{
    const redist_run *row = &cursor->row, *run = &cursor->run;
    redist_strides stride = cursor->strides[side];
    int64_t slow = side == REDIST_BEFORE ? row->before + cursor->row_time * row->before_step
                                         : row->after + cursor->row_time * row->after_step;
    int64_t step = side == REDIST_BEFORE ? run->before_step : run->after_step;
    int64_t fast = (side == REDIST_BEFORE ? run->before : run->after) + cursor->run_time * step + cursor->run_at;
    return (redist_place){.at = (slow + cursor->row_at) * stride.slow + fast * stride.fast,
                          .unit = stride.fast,
                          .step = step * stride.fast};
}

/* Goes on by `rows` indices of the present slow run. */
static void next_row(redist_cursor *cursor, int64_t rows)
{
    cursor->row_at += rows;
    if (cursor->row_at == cursor->row.length) {
        cursor->row_at = 0;
        if (++cursor->row_time == cursor->row.times) {
            cursor->row_time = 0;
            redist_meet_next(&cursor->slow, &cursor->row);
        }
    }
    first_run(cursor);
}

/* Several lines at once: the fast dimension is one run, and the lines are equally far apart. */
static void take_whole_lines(redist_cursor *cursor, int64_t lines, redist_piece *piece)
{
    piece->length = cursor->run.length;
    piece->times = lines;
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++)
        piece->on[side].step = cursor->strides[side].slow;
    next_row(cursor, lines);
}

static void take_runs(redist_cursor *cursor, int64_t most, redist_piece *piece)
{
    redist_run *run = &cursor->run;
    int64_t lines = cursor->even ? cursor->row.length - cursor->row_at : 1;
    int64_t times = lines * run->times - cursor->run_time, length = run->length - cursor->run_at;
    if (cursor->run_at == 0 && most >= length) {
        piece->length = length;
        piece->times = most / length < times ? most / length : times;
        cursor->run_time += piece->times;
    } else {
        piece->length = length < most ? length : most;
        piece->times = 1;
        cursor->run_at += piece->length;
        if (cursor->run_at == run->length) {
            cursor->run_at = 0;
            cursor->run_time++;
        }
    }
    if (cursor->run_time < run->times)
        return;
    lines = cursor->run_time / run->times;
    times = cursor->run_time % run->times;
    if (next_run(cursor))
        return;
    next_row(cursor, lines);
    cursor->run_time = times;
}

int redist_cursor_take(redist_cursor *cursor, int64_t most, redist_piece *piece)
{
    if (cursor->left == 0)
        return 0;
    piece->on[REDIST_BEFORE] = cursor_place(cursor, REDIST_BEFORE);
    piece->on[REDIST_AFTER] = cursor_place(cursor, REDIST_AFTER);
    int64_t lines = cursor->one_run && cursor->run_at == 0 ? most / cursor->run.length : 0;
    int64_t rest = cursor->row.length - cursor->row_at;
    if (lines > 1 && rest > 1)
        take_whole_lines(cursor, lines < rest ? lines : rest, piece);
    else
        take_runs(cursor, most, piece);
    cursor->left -= piece->length * piece->times;
    return 1;
}
