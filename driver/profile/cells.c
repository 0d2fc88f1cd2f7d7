/* The sums of one process: see cells.h. */
#include "driver/profile/cells.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

/* Room for one more; false when out of memory. */
static bool make_room(void *items, int count, size_t *room, size_t size)
{
    return array_reserve(items, room, (size_t)count + 1, size) == 0;
}

struct cell *cells_at(struct cells *cells, int pc, int size, int rank)
{
    for (int i = cells->cell_count - 1; i >= 0; i--) {
        struct cell *cell = &cells->cells[i];
        if (cell->pc == pc && cell->size == size && cell->rank == rank)
            return cell;
    }
    if (!make_room(&cells->cells, cells->cell_count, &cells->cell_room, sizeof *cells->cells))
        return NULL;
    struct cell *cell = &cells->cells[cells->cell_count++];
    *cell = (struct cell){.pc = pc, .size = size, .rank = rank};
    return cell;
}

struct row *cells_add_row(struct cells *cells)
{
    if (!make_room(&cells->rows, cells->row_count, &cells->row_room, sizeof *cells->rows))
        return NULL;
    struct row *row = &cells->rows[cells->row_count++];
    *row = (struct row){.init_ticks = -1};
    return row;
}

void cells_be(struct cells *cells, int rank, int size, double now)
{
    struct part *last = cells->part_count ? &cells->parts[cells->part_count - 1] : NULL;
    if (last && last->rank == rank && last->size == size)
        return;
    if (last && last->end == 0)
        last->end = now;
    if (make_room(&cells->parts, cells->part_count, &cells->part_room, sizeof *cells->parts))
        cells->parts[cells->part_count++] = (struct part){rank, size, now, 0};
}

void cells_add_calls(struct call_list *list, int function, int64_t count, int64_t ticks)
{
    for (int i = 0; i < list->count; i++) {
        if (list->calls[i].function != function)
            continue;
        list->calls[i].count += count;
        list->calls[i].ticks += ticks;
        return;
    }
    if (make_room(&list->calls, list->count, &list->room, sizeof *list->calls))
        list->calls[list->count++] = (struct calls){function, count, ticks};
}

/* ---- A copy ------------------------------------------------------------------------------ */

static void *copy(const void *array, int count, size_t size)
{
    void *same = count ? malloc((size_t)count * size) : NULL;
    if (same)
        memcpy(same, array, (size_t)count * size);
    return same;
}

static void copy_calls(struct cell *cell)
{
    cell->mpi.calls = copy(cell->mpi.calls, cell->mpi.count, sizeof *cell->mpi.calls);
    cell->mpi.count = cell->mpi.calls ? cell->mpi.count : 0;
    cell->mpi.room = (size_t)cell->mpi.count;
}

struct cells *cells_copy(const struct cells *cells)
{
    struct cells *same = calloc(1, sizeof *same);
    if (!same)
        return NULL;
    same->cells = copy(cells->cells, cells->cell_count, sizeof *cells->cells);
    same->cell_count = same->cells ? cells->cell_count : 0;
    same->cell_room = (size_t)same->cell_count;
    for (int i = 0; i < same->cell_count; i++)
        copy_calls(&same->cells[i]);
    same->rows = copy(cells->rows, cells->row_count, sizeof *cells->rows);
    same->row_count = same->rows ? cells->row_count : 0;
    same->row_room = (size_t)same->row_count;
    for (int i = 0; i < same->row_count; i++) {
        same->rows[i].to = cJSON_Duplicate(cells->rows[i].to, 1);
        same->rows[i].arrays = cJSON_Duplicate(cells->rows[i].arrays, 1);
    }
    same->parts = copy(cells->parts, cells->part_count, sizeof *cells->parts);
    same->part_count = same->parts ? cells->part_count : 0;
    same->part_room = (size_t)same->part_count;
    return same;
}

void cells_clear(struct cells *cells)
{
    for (int i = 0; i < cells->cell_count; i++)
        free(cells->cells[i].mpi.calls);
    for (int i = 0; i < cells->row_count; i++) {
        cJSON_Delete(cells->rows[i].to);
        cJSON_Delete(cells->rows[i].arrays);
    }
    free(cells->cells);
    free(cells->rows);
    free(cells->parts);
    *cells = (struct cells){0};
}
