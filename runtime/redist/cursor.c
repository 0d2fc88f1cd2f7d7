/*
 * The walk is the product of a meeting of rows and a meeting of columns. The dimension that is contiguous in the
 * old block is the fast one. Where both blocks hold whole lines of it, line after line is one long run.
 */
#include "runtime/redist/cursor.h"

/* One rank's place in a distribution, dimension by dimension: [0] the slow, [1] the fast one. */
typedef struct half {
    epop_dist_t dist[2];
    int rank[2], size[2];
    int64_t local[2];
} half;

static half half_of(const epop_dist2d_t *dist, int rank, int fast_is_rows)
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

static int64_t count_of(const half *from, const half *to, int i)
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

redist_cursor redist_cursor_start(const epop_dist2d_t *before, int old, const epop_dist2d_t *after, int now)
{
    int fast_is_rows = before->column_major != 0;
    half from = half_of(before, old, fast_is_rows), to = half_of(after, now, fast_is_rows);
    int64_t slow = count_of(&from, &to, 0), fast = count_of(&from, &to, 1);
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
    return cursor;
}

int redist_cursor_is_one_run(const redist_cursor *cursor)
{
    return cursor->one_run && cursor->run.length == cursor->total && cursor->strides[REDIST_AFTER].fast == 1;
}

static redist_place place(const redist_cursor *cursor, redist_side side)
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
static void take_lines(redist_cursor *cursor, int64_t lines, redist_piece *piece)
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
    int64_t times = run->times - cursor->run_time, length = run->length - cursor->run_at;
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
    if (cursor->run_time == run->times && !next_run(cursor))
        next_row(cursor, 1);
}

int redist_cursor_take(redist_cursor *cursor, int64_t most, redist_piece *piece)
{
    if (cursor->left == 0)
        return 0;
    piece->on[REDIST_BEFORE] = place(cursor, REDIST_BEFORE);
    piece->on[REDIST_AFTER] = place(cursor, REDIST_AFTER);
    int64_t lines = cursor->one_run && cursor->run_at == 0 ? most / cursor->run.length : 0;
    int64_t rest = cursor->row.length - cursor->row_at;
    if (lines > 1 && rest > 1)
        take_lines(cursor, lines < rest ? lines : rest, piece);
    else
        take_runs(cursor, most, piece);
    cursor->left -= piece->length * piece->times;
    return 1;
}
