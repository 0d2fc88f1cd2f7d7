/* The sums of what is measured: see meter.h. */
#include "runtime/member/meter.h"

#include <sched.h>

#include "runtime/base/ticks.h"

#define READING_ATTEMPTS 100

/* ---- Sequence numbers: who reads an even one before and after has read what belongs together --------------- */

/* Whoever sees one of the stores that follow sees this one, too: they release. */
static void open_writing(_Atomic uint32_t *sequence)
{
    atomic_store_explicit(sequence, atomic_load_explicit(sequence, memory_order_relaxed) + 1, memory_order_relaxed);
}

static void close_writing(_Atomic uint32_t *sequence)
{
    atomic_store_explicit(sequence, atomic_load_explicit(sequence, memory_order_relaxed) + 1, memory_order_release);
}

#define PUT(field, value) atomic_store_explicit(&(field), value, memory_order_release)
#define GET(field)        atomic_load_explicit(&(field), memory_order_acquire)
#define OWN(field)        atomic_load_explicit(&(field), memory_order_relaxed)

/* ---- The program's thread --------------------------------------------------------------------------------- */

/* A cell that was another's, or whose window belongs to an earlier world, starts anew. */
static void take_cell(struct meter *meter, struct meter_cell *cell, int pc, bool anew)
{
    open_writing(&cell->sequence);
    if (anew) {
        PUT(cell->round, meter->round);
        PUT(cell->pc, pc);
        PUT(cell->size, meter->size);
        PUT(cell->iterations, 0);
        PUT(cell->loop, 0);
        PUT(cell->mpi, 0);
    }
    PUT(cell->values, 0);
    close_writing(&cell->sequence);
    cell->group_loop = cell->group_mpi = 0;
    cell->world = meter->world;
}

/* When all are taken, one of an earlier world goes: that at the place where this one is looked for first. */
static struct meter_cell *find_cell(struct meter *meter, int pc)
{
    unsigned home = (unsigned)pc * 31 + (unsigned)meter->size;
    for (unsigned i = 0; i < METER_CELLS; i++) {
        struct meter_cell *cell = &meter->cells[(home + i) % METER_CELLS];
        bool is_free = OWN(cell->round) != meter->round;
        if (!is_free && (OWN(cell->pc) != pc || OWN(cell->size) != meter->size))
            continue;
        if (is_free || cell->world != meter->world)
            take_cell(meter, cell, pc, is_free);
        return cell;
    }
    struct meter_cell *cell = &meter->cells[home % METER_CELLS];
    take_cell(meter, cell, pc, true);
    return cell;
}

void epop__meter_begin(struct meter *meter, int pc, int size)
{
    meter->round = GET(meter->on);
    meter->cell = NULL;
    if (!meter->round)
        return;
    if (size != meter->size)
        meter->world++;
    meter->size = size;
    meter->cell = find_cell(meter, pc);
    meter->mpi = meter->mpi_ticks();
    meter->began = ticks();
}

void epop__meter_forget(struct meter *meter)
{
    meter->cell = NULL;
}

/* With the cell open for writing. True: a value has been made. */
static bool add_to_window(struct meter *meter, struct meter_cell *cell, int64_t loop, int64_t mpi)
{
    cell->group_loop += loop;
    cell->group_mpi += mpi;
    if (cell->group_loop < OWN(meter->group))
        return false;
    int64_t values = OWN(cell->values), at = values % METER_WINDOW;
    PUT(cell->window_mpi[at], cell->group_mpi);
    PUT(cell->window_compute[at], cell->group_loop - cell->group_mpi);
    PUT(cell->values, values + 1);
    cell->group_loop = cell->group_mpi = 0;
    return true;
}

bool epop__meter_iteration(struct meter *meter, int pc, int size)
{
    struct meter_cell *cell = meter->cell;
    if (!cell || meter->round != OWN(meter->on) || meter->size != size || OWN(cell->pc) != pc) {
        epop__meter_begin(meter, pc, size);
        return false;
    }
    int64_t now = ticks(), in_mpi = meter->mpi_ticks(), loop = now - meter->began, mpi = in_mpi - meter->mpi;
    meter->began = now;
    meter->mpi = in_mpi;
    open_writing(&cell->sequence);
    PUT(cell->iterations, OWN(cell->iterations) + 1);
    PUT(cell->loop, OWN(cell->loop) + loop);
    PUT(cell->mpi, OWN(cell->mpi) + mpi);
    bool valued = add_to_window(meter, cell, loop, mpi);
    close_writing(&cell->sequence);
    return valued;
}

void epop__meter_progress(struct meter *meter, const struct meter_progress *progress)
{
    open_writing(&meter->progress.sequence);
    PUT(meter->progress.pc, progress->pc);
    PUT(meter->progress.visit, progress->visit);
    PUT(meter->progress.iteration, progress->iteration);
    PUT(meter->progress.bound, progress->bound);
    PUT(meter->progress.ticks, ticks());
    close_writing(&meter->progress.sequence);
}

/* ---- The control thread ------------------------------------------------------------------------------------- */

void meter_switch(struct meter *meter, bool on, double tick)
{
    if (on == (OWN(meter->on) != 0))
        return;
    atomic_store_explicit(&meter->group, (int64_t)(METER_GROUP / tick), memory_order_relaxed);
    PUT(meter->on, on ? ++meter->rounds : 0);
}

/* What was read since counts if nobody wrote meanwhile. The writer may have lost its processor: then it gets this one.
 */
static bool is_undisturbed(const _Atomic uint32_t *sequence, uint32_t before)
{
    if (!(before & 1) && OWN(*sequence) == before)
        return true;
    sched_yield();
    return false;
}

/* The oldest first. How many. */
static int copy_window(const struct meter_cell *cell, double tick, double *mpi, double *compute)
{
    int64_t values = GET(cell->values);
    int count = values < METER_WINDOW ? (int)values : METER_WINDOW;
    for (int i = 0; i < count; i++) {
        int64_t at = (values - count + i) % METER_WINDOW;
        mpi[i] = (double)GET(cell->window_mpi[at]) * tick;
        compute[i] = (double)GET(cell->window_compute[at]) * tick;
    }
    return count;
}

/* Returns the round that the cell is of. */
static int copy_cell(const struct meter_cell *cell, double tick, struct meter_reading *reading)
{
    double mpi[METER_WINDOW], compute[METER_WINDOW];
    reading->pc = GET(cell->pc);
    reading->size = GET(cell->size);
    reading->iterations = GET(cell->iterations);
    reading->loop = (double)GET(cell->loop) * tick;
    reading->mpi = (double)GET(cell->mpi) * tick;
    spread_of(&reading->mtct, mpi, compute, copy_window(cell, tick, mpi, compute));
    return GET(cell->round);
}

bool meter_read(const struct meter *meter, int index, double tick, struct meter_reading *reading)
{
    const struct meter_cell *cell = &meter->cells[index];
    if (!OWN(cell->round))
        return false;
    for (int i = 0; i < READING_ATTEMPTS; i++) {
        uint32_t before = GET(cell->sequence);
        int round = copy_cell(cell, tick, reading);
        if (is_undisturbed(&cell->sequence, before))
            return round && round == OWN(meter->on);
    }
    return false;
}

bool meter_read_progress(const struct meter *meter, int64_t *when, struct meter_progress *progress)
{
    for (int i = 0; i < READING_ATTEMPTS; i++) {
        uint32_t before = GET(meter->progress.sequence);
        *when = GET(meter->progress.ticks);
        progress->pc = GET(meter->progress.pc);
        progress->visit = GET(meter->progress.visit);
        progress->iteration = GET(meter->progress.iteration);
        progress->bound = GET(meter->progress.bound);
        if (is_undisturbed(&meter->progress.sequence, before))
            return *when > 0;
    }
    return false;
}
