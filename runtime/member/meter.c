/* The sums of what is measured, which one thread makes and another reads. */
#include "runtime/member/meter.h"

#include <time.h>

#include "runtime/base/ticks.h"

#define PUT(field, value) atomic_store_explicit(&(field), value, memory_order_release)
#define GET(field)        atomic_load_explicit(&(field), memory_order_acquire)
#define OWN(field)        atomic_load_explicit(&(field), memory_order_relaxed)

/* ---- The program's thread --------------------------------------------------------------------------------- */

/* Where the next sums go. Who reads while that is written is pointed at the other; `publish` turns the pointer. */
static struct meter_sums *next_sums(struct meter_cell *cell)
{
    return &cell->sums[(OWN(cell->sequence) + 1) & 1];
}

/* Whoever sees a store that follows sees this one, too: they release. */
static void publish(_Atomic uint32_t *sequence)
{
    PUT(*sequence, OWN(*sequence) + 1);
}

/* Its values before are not read any more. */
static void empty_window(struct meter *meter, struct meter_cell *cell)
{
    PUT(cell->first, OWN(cell->values));
    PUT(cell->world, OWN(meter->world));
    cell->group_loop = cell->group_mpi = 0;
}

/* For this element at the present size, from zero on. Iterations write sums alone, so both copies get all. */
static void take_cell(struct meter *meter, struct meter_cell *cell, int pc)
{
    empty_window(meter, cell);
    meter->lives++;
    for (int copy = 0; copy < 2; copy++) {
        struct meter_sums *sums = next_sums(cell);
        PUT(sums->round, meter->round);
        PUT(sums->pc, pc);
        PUT(sums->size, meter->size);
        PUT(sums->life, meter->lives);
        PUT(sums->iterations, 0);
        PUT(sums->loop, 0);
        PUT(sums->mpi, 0);
        publish(&cell->sequence);
    }
}

/* That pair's cell, or a free one. NULL: all are taken by others. */
static struct meter_cell *look_for_cell(struct meter *meter, int pc, unsigned home, bool *is_free)
{
    for (unsigned i = 0; i < METER_CELLS; i++) {
        struct meter_cell *cell = &meter->cells[(home + i) % METER_CELLS];
        const struct meter_sums *sums = &cell->sums[0];
        *is_free = OWN(sums->round) != meter->round;
        if (*is_free || (OWN(sums->pc) == pc && OWN(sums->size) == meter->size))
            return cell;
    }
    return NULL;
}

/* The first one of an earlier world. NULL: none, so many elements has the program. */
static struct meter_cell *cell_of_earlier_world(struct meter *meter, unsigned home)
{
    for (unsigned i = 0; i < METER_CELLS; i++)
        if (OWN(meter->cells[(home + i) % METER_CELLS].world) != OWN(meter->world))
            return &meter->cells[(home + i) % METER_CELLS];
    return NULL;
}

/* NULL: there is no room for it. */
static struct meter_cell *find_cell(struct meter *meter, int pc)
{
    unsigned home = (unsigned)pc * 31 + (unsigned)meter->size;
    bool anew;
    struct meter_cell *cell = look_for_cell(meter, pc, home, &anew);
    if (!cell) {
        cell = cell_of_earlier_world(meter, home);
        anew = true;
    }
    if (cell && anew)
        take_cell(meter, cell, pc);
    else if (cell && OWN(cell->world) != OWN(meter->world))
        empty_window(meter, cell);
    return cell;
}

void epop__meter_forget(struct meter *meter)
{
    meter->cell = NULL;
    meter->breaks++;
}

void epop__meter_world(struct meter *meter)
{
    PUT(meter->world, OWN(meter->world) + 1);
    epop__meter_forget(meter);
}

void epop__meter_begin(struct meter *meter, int pc, int size)
{
    meter->round = GET(meter->on);
    epop__meter_forget(meter);
    if (!meter->round)
        return;
    if (size != meter->size)
        epop__meter_world(meter);
    meter->size = size;
    meter->cell = find_cell(meter, pc);
    meter->mpi = meter->mpi_ticks();
    meter->began = ticks();
}

/* True: a value has been made. */
static bool add_to_window(struct meter *meter, struct meter_cell *cell, int64_t loop, int64_t mpi)
{
    cell->group_loop += loop;
    cell->group_mpi += mpi;
    if (cell->group_loop < OWN(meter->group))
        return false;
    int64_t values = OWN(cell->values), at = values % METER_RING;
    PUT(cell->window_mpi[at], cell->group_mpi);
    PUT(cell->window_compute[at], cell->group_loop - cell->group_mpi);
    PUT(cell->values, values + 1);
    cell->group_loop = cell->group_mpi = 0;
    return true;
}

static void add_to_sums(struct meter_cell *cell, int64_t loop, int64_t mpi)
{
    const struct meter_sums *before = &cell->sums[OWN(cell->sequence) & 1];
    struct meter_sums *sums = next_sums(cell);
    PUT(sums->iterations, OWN(before->iterations) + 1);
    PUT(sums->loop, OWN(before->loop) + loop);
    PUT(sums->mpi, OWN(before->mpi) + mpi);
    publish(&cell->sequence);
}

bool epop__meter_iteration(struct meter *meter, int pc, int size)
{
    struct meter_cell *cell = meter->cell;
    if (!cell || meter->round != OWN(meter->on) || meter->size != size || OWN(cell->sums[0].pc) != pc) {
        epop__meter_begin(meter, pc, size);
        return false;
    }
    int64_t now = ticks(), in_mpi = meter->mpi_ticks(), loop = now - meter->began, mpi = in_mpi - meter->mpi;
    meter->began = now;
    meter->mpi = in_mpi;
    add_to_sums(cell, loop, mpi);
    return add_to_window(meter, cell, loop, mpi);
}

void meter_lap(struct meter *meter, int number, int64_t loop, int64_t mpi)
{
    struct meter_cell *cell = find_cell(meter, number);
    if (!cell)
        return;
    add_to_sums(cell, loop, mpi);
    add_to_window(meter, cell, loop, mpi);
}

void epop__meter_progress(struct meter *meter, const struct meter_progress *progress)
{
    int copy = (OWN(meter->progress.sequence) + 1) & 1;
    PUT(meter->progress.copies[copy].pc, progress->pc);
    PUT(meter->progress.copies[copy].visit, progress->visit);
    PUT(meter->progress.copies[copy].iteration, progress->iteration);
    PUT(meter->progress.copies[copy].bound, progress->bound);
    PUT(meter->progress.copies[copy].ticks, ticks());
    publish(&meter->progress.sequence);
}

/* ---- The control thread ------------------------------------------------------------------------------------- */

void meter_switch(struct meter *meter, bool on, double tick)
{
    if (on == (OWN(meter->on) != 0))
        return;
    atomic_store_explicit(&meter->group, (int64_t)(METER_GROUP / tick), memory_order_relaxed);
    PUT(meter->on, on ? ++meter->rounds : 0);
}

/*
 * The reader's loops below end when nothing was published meanwhile. That takes some ten loads, and the writer has to
 * get through an iteration to spoil it, so the first attempts nearly always do; a reader that always meets a quick
 * writer sleeps, to come back at another moment.
 */
static void before_attempt(int attempt)
{
    if (attempt > 0 && attempt % 16 == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000 + 1000 * (attempt % 7)}, NULL);
}

/* Returns the round that the sums are of. */
static int copy_sums(const struct meter_sums *sums, double tick, struct meter_reading *reading)
{
    reading->pc = GET(sums->pc);
    reading->size = GET(sums->size);
    reading->life = GET(sums->life);
    reading->iterations = GET(sums->iterations);
    reading->loop = (double)GET(sums->loop) * tick;
    reading->mpi = (double)GET(sums->mpi) * tick;
    return GET(sums->round);
}

static int read_sums(const struct meter_cell *cell, double tick, struct meter_reading *reading)
{
    for (int attempt = 0;; attempt++) {
        before_attempt(attempt);
        uint32_t before = GET(cell->sequence);
        int round = copy_sums(&cell->sums[before & 1], tick, reading);
        if (OWN(cell->sequence) == before)
            return round;
    }
}

/* The oldest first. How many. */
static int copy_window(const struct meter_cell *cell, int64_t first, int64_t values, int64_t *mpi, int64_t *compute)
{
    int count = values - first < METER_WINDOW ? (int)(values - first) : METER_WINDOW;
    for (int i = 0; i < count; i++) {
        int64_t at = (values - count + i) % METER_RING;
        mpi[i] = GET(cell->window_mpi[at]);
        compute[i] = GET(cell->window_compute[at]);
    }
    return count;
}

/* Of the present world, or none. */
static int read_window(const struct meter *meter, const struct meter_cell *cell, int64_t *mpi, int64_t *compute)
{
    for (int attempt = 0;; attempt++) {
        before_attempt(attempt);
        if (GET(cell->world) != GET(meter->world))
            return 0;
        int64_t first = GET(cell->first), values = GET(cell->values);
        int count = copy_window(cell, first, values, mpi, compute);
        if (OWN(cell->values) == values && OWN(cell->first) == first)
            return count;
    }
}

static void spread_window(const struct meter *meter, const struct meter_cell *cell, double tick, struct spread *spread)
{
    int64_t mpi_ticks[METER_WINDOW], compute_ticks[METER_WINDOW];
    double mpi[METER_WINDOW], compute[METER_WINDOW];
    int count = read_window(meter, cell, mpi_ticks, compute_ticks);
    for (int i = 0; i < count; i++) {
        mpi[i] = (double)mpi_ticks[i] * tick;
        compute[i] = (double)compute_ticks[i] * tick;
    }
    spread_of(spread, mpi, compute, count);
}

/* If the cell was taken for another pair while its window was read, that may be the other's. */
bool meter_read(const struct meter *meter, int index, double tick, struct meter_reading *reading)
{
    const struct meter_cell *cell = &meter->cells[index];
    for (;;) {
        int round = read_sums(cell, tick, reading);
        if (!round || round != OWN(meter->on))
            return false;
        spread_window(meter, cell, tick, &reading->mtct);
        if (OWN(cell->sums[GET(cell->sequence) & 1].life) == reading->life)
            return true;
    }
}

bool meter_read_progress(const struct meter *meter, int64_t *when, struct meter_progress *progress)
{
    for (int attempt = 0;; attempt++) {
        before_attempt(attempt);
        uint32_t before = GET(meter->progress.sequence);
        *when = GET(meter->progress.copies[before & 1].ticks);
        progress->pc = GET(meter->progress.copies[before & 1].pc);
        progress->visit = GET(meter->progress.copies[before & 1].visit);
        progress->iteration = GET(meter->progress.copies[before & 1].iteration);
        progress->bound = GET(meter->progress.copies[before & 1].bound);
        if (OWN(meter->progress.sequence) == before)
            return *when > 0;
    }
}
