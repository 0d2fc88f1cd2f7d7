/* Matrices on a grid of ranks. In a file a matrix has two dimensions, by rows. */
#include <stdlib.h>
#include <string.h>

#include "runtime/describe/collective.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/plan.h"

/* The layout that `size` ranks have. */
static epop_dist2d_t matrix_layout(const struct described *entry, int size)
{
    epop_dist2d_t dist;
    memcpy(&dist, entry->layout, sizeof dist);
    if (!dist.grid_rows && !dist.grid_cols)
        epop_grid_near_square(size, &dist.grid_rows, &dist.grid_cols);
    else if (!dist.grid_rows)
        dist.grid_rows = size / dist.grid_cols;
    else if (!dist.grid_cols)
        dist.grid_cols = size / dist.grid_rows;
    return dist;
}

/* That of a file: whole rows, in blocks. */
static epop_dist2d_t matrix_by_rows(const struct described *entry, int size)
{
    epop_dist2d_t dist = matrix_layout(entry, size);
    return (epop_dist2d_t){.rows = epop_dist_block(dist.rows.count),
                           .cols = epop_dist_block(dist.cols.count),
                           .grid_rows = size,
                           .grid_cols = 1};
}

static int64_t matrix_count(const epop_dist2d_t *dist, int rank)
{
    int64_t rows, cols;
    epop_dist2d_local(dist, rank, &rows, &cols);
    return rows * cols;
}

void epop_describe_matrix(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                          const epop_dist2d_t *dist, unsigned flags)
{
    const epop_dist2d_t none = {0};
    redist_element element;
    if (!describe_add(d, &kind_matrix, name, local, type, flags, dist ? dist : &none, sizeof *dist))
        return;
    if (!dist)
        describe_refuse(d, name, "its distribution is NULL");
    else if (dist->rows.count < 0 || dist->cols.count < 0 || dist->grid_rows < 0 || dist->grid_cols < 0)
        describe_refuse(d, name, "its distribution has a negative count");
    else if (dist->rows.kind == EPOP_DIST_CUTS || dist->cols.kind == EPOP_DIST_CUTS)
        describe_refuse(d, name, "cuts are for one number of ranks; a matrix is dealt out in blocks or cyclically");
    else if (redist_element_of(type, &element) != 0)
        describe_refuse(d, name, "its datatype has no extent, or data in front of its address");
}

static void matrix_terms(const struct described *entry, redist_terms *terms)
{
    redist_element element;
    redist_terms_of_matrix(terms, entry->layout);
    if (redist_element_of(entry->type, &element) == 0)
        redist_terms_of_element(terms, &element);
}

static int matrix_move(struct described *entry, const epop_window_t *window)
{
    epop_dist2d_t before = matrix_layout(entry, window->old_size), after = matrix_layout(entry, window->new_size);
    return epop_redist2d(window, &before, &after, entry->type, entry->local);
}

void describe_matrix_extent(const struct described *entry, int rank, int size, int64_t *rows, int64_t *cols)
{
    epop_dist2d_t dist = matrix_layout(entry, size);
    epop_dist2d_local(&dist, rank, rows, cols);
}

static int matrix_allocate(struct described *entry, int rank, int size)
{
    epop_dist2d_t dist = matrix_layout(entry, size);
    describe_release_part(entry);
    return describe_room(entry->type, matrix_count(&dist, rank), entry->local) ? EPOP_OK : EPOP_ERR_MEMORY;
}

static int64_t matrix_first_row(const epop_dist2d_t *rows, int rank, int size)
{
    return epop_dist_local_count(rows->rows, rank, size) ? epop_dist_global(rows->rows, rank, size, 0) : 0;
}

/* The slab of this rank, without its data. */
static void matrix_slab(const struct described *entry, int rank, int size, struct slab *slab)
{
    epop_dist2d_t rows = matrix_by_rows(entry, size);
    *slab = (struct slab){.type = entry->type, .dims = 2, .extent = {rows.rows.count, rows.cols.count}};
    strcpy(slab->name, entry->name);
    slab->count = matrix_count(&rows, rank);
    slab->first = slab->count ? matrix_first_row(&rows, rank, size) * rows.cols.count : 0;
}

static int matrix_save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                       struct error *error)
{
    int size = window->old_size;
    epop_dist2d_t before = matrix_layout(entry, size), rows = matrix_by_rows(entry, size);
    if (most < 1)
        return error_set(error, ERROR_FAILED, "described '%s': no room to list it", entry->name);
    matrix_slab(entry, window->old_rank, size, slabs);
    bool copied = describe_copy(entry, matrix_count(&before, window->old_rank), &slabs->data);
    if (!describe_all_well(window, copied ? NULL : "out of memory for a copy", error)) {
        slabs->owned = true;
        if (epop_redist2d(window, &before, &rows, entry->type, &slabs->data) == EPOP_OK)
            return 1;
        error_set(error, ERROR_FAILED, "described '%s' could not be dealt out by rows", entry->name);
    }
    free(slabs->data);
    return -1;
}

static int matrix_load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                       struct error *error)
{
    int size = window->new_size;
    epop_dist2d_t rows = matrix_by_rows(entry, size), after = matrix_layout(entry, size);
    struct slab slab, found;
    matrix_slab(entry, window->new_rank, size, &slab);
    found = slab;
    if (reader->shape(reader->context, &found, error))
        return -1;
    if (found.dims != 2 || found.extent[0] != slab.extent[0] || found.extent[1] != slab.extent[1])
        return error_set(error, ERROR_FAILED,
                         "described '%s': saved with %lld x %lld elements, described with %lld x %lld", entry->name,
                         (long long)found.extent[0], (long long)found.extent[1], (long long)slab.extent[0],
                         (long long)slab.extent[1]);
    describe_release_part(entry);
    if (describe_read_part(window, reader, &slab, error))
        return -1;
    *entry->local = slab.data;
    if (epop_redist2d(window, &rows, &after, entry->type, entry->local) == EPOP_OK)
        return 0;
    return error_set(error, ERROR_FAILED, "described '%s' could not be dealt out", entry->name);
}

struct place {
    epop_dist2d_t dist;
    int row, col; /* of the grid */
    int64_t rows, cols;
};

static int64_t matrix_index(const void *context, int64_t local)
{
    const struct place *p = context;
    const epop_dist2d_t *dist = &p->dist;
    int64_t i = dist->column_major ? local % p->rows : local / p->cols;
    int64_t j = dist->column_major ? local / p->rows : local % p->cols;
    return epop_dist_global(dist->rows, p->row, dist->grid_rows, i) * dist->cols.count +
           epop_dist_global(dist->cols, p->col, dist->grid_cols, j);
}

static void matrix_sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    struct place place = {.dist = matrix_layout(entry, size)};
    if (rank < 0)
        return;
    epop_dist2d_local(&place.dist, rank, &place.rows, &place.cols);
    place.row = rank / place.dist.grid_cols;
    place.col = rank % place.dist.grid_cols;
    *count += place.rows * place.cols;
    describe_mix_elements(entry->type, *entry->local, place.rows * place.cols, matrix_index, &place, sum);
}

static int64_t matrix_bytes(const struct described *entry, int rank, int size)
{
    epop_dist2d_t dist = matrix_layout(entry, size);
    return describe_bytes(entry->type, matrix_count(&dist, rank));
}

static bool matrix_goes(const struct described *entry)
{
    (void)entry;
    return true;
}

static int matrix_step(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                       enum route_round round, struct error *error)
{
    (void)error;
    if (round != ROUTE_FIRST)
        return 0;
    epop_dist2d_t before = matrix_layout(entry, window->old_size), after = matrix_layout(entry, window->new_size);
    redist_plan_matrix(&route->plan, window, &before, &after);
    route->planned = true;
    return 0;
}

static const struct route_kind matrix_route = {.goes = matrix_goes, .step = matrix_step};

const struct kind kind_matrix = {.word = "matrix",
                                 .terms = matrix_terms,
                                 .move = matrix_move,
                                 .allocate = matrix_allocate,
                                 .save = matrix_save,
                                 .one_slab = true,
                                 .load = matrix_load,
                                 .sum = matrix_sum,
                                 .bytes = matrix_bytes,
                                 .release = describe_release_part,
                                 .route = &matrix_route};
