/*
 * Sparse rows by row pointers. In a file they are as other programs have them: the starts of all rows followed by
 * the end of the last one ("A/starts"), and what the rows consist of ("A/array0" ..., or what the program calls it).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epop/unstructured.h"
#include "runtime/describe/collective.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/element.h"
#include "runtime/redist/wait.h"

/* The layout of an entry. The starts are its `local`, and their type is its type. */
struct sparse {
    epop_dist_t rows;
    int count;
    epop_row_array_t arrays[];
};

static void csr_dists(const struct described *entry, epop_dist_t *before, epop_dist_t *after)
{
    const struct sparse *s = entry->layout;
    *before = *after = s->rows;
    if (s->rows.kind == EPOP_DIST_CUTS)
        describe_cuts_of(entry, s->rows, before, after);
}

/* ---- Listed ------------------------------------------------------------------------------------- */

static const char *fault_of(const struct described *entry, epop_dist_t rows, const epop_row_array_t *arrays, int count)
{
    redist_element element;
    epop_dist_t before, after;
    if (rows.count < 0 || (rows.kind != EPOP_DIST_BLOCK && rows.kind != EPOP_DIST_CUTS))
        return "its rows are not dealt out in blocks or by cuts";
    if (rows.kind == EPOP_DIST_CUTS && !describe_cuts_of(entry, rows, &before, &after))
        return "its cuts are not described before it; epop_describe_cuts does that";
    if (!redist_index_width(entry->type))
        return "its row pointers are of MPI_INT, MPI_INT64_T, or an integer like one of these";
    for (int i = 0; i < count; i++) {
        if (!arrays[i].local)
            return "the address of the pointer to one of its arrays is NULL";
        if (redist_element_of(arrays[i].type, &element))
            return "a datatype has no extent, or data in front of its address";
    }
    return NULL;
}

static void csr_add(epop_description_t *d, const char *name, void *starts, MPI_Datatype index,
                    const struct sparse *layout, size_t bytes, unsigned flags)
{
    struct described *entry = describe_add(d, &kind_csr, name, starts, index, flags, layout, bytes);
    const char *fault = entry ? fault_of(entry, layout->rows, layout->arrays, layout->count) : NULL;
    if (fault)
        describe_refuse(d, name, fault);
}

void epop_describe_csr(epop_description_t *d, const char *name, void *starts, MPI_Datatype index, epop_dist_t rows,
                       const epop_row_array_t *arrays, int count, unsigned flags)
{
    if (count < 0 || (count > 0 && !arrays)) {
        describe_refuse(d, name, "the number of its arrays is negative, or the pointer to them NULL");
        return;
    }
    size_t bytes = sizeof(struct sparse) + (size_t)count * sizeof *arrays;
    struct sparse *layout = malloc(bytes);
    if (!layout) {
        describe_refuse(d, name, "out of memory");
        return;
    }
    layout->rows = rows;
    layout->count = count;
    if (count)
        memcpy(layout->arrays, arrays, (size_t)count * sizeof *arrays);
    csr_add(d, name, starts, index, layout, bytes, flags);
    free(layout);
}

static void csr_terms(const struct described *entry, redist_terms *terms)
{
    const struct sparse *s = entry->layout;
    int64_t size = 0, extent = 0, order = 0;
    for (int i = 0; i < s->count; i++) {
        redist_element element = {.size = 0};
        redist_element_of(s->arrays[i].type, &element);
        size += element.size;
        extent += element.extent;
        order += (i + 1) * element.size;
    }
    redist_term(terms, "the kind of distribution", (int64_t)s->rows.kind);
    redist_term(terms, "the number of rows", s->rows.count);
    redist_term(terms, "the size of a row pointer", redist_index_width(entry->type));
    redist_term(terms, "the number of arrays", s->count);
    redist_term(terms, "the size of the datatypes, added up,", size);
    redist_term(terms, "the extent of the datatypes, added up,", extent);
    redist_term(terms, "the checksum of the order of the arrays", order);
    redist_term(terms, "the checksum of the arrays' names", describe_members_hash(entry));
}

static const char *csr_fit(const struct described *entry, const struct members *members)
{
    static _Thread_local char why[100];
    const struct sparse *s = entry->layout;
    for (int i = 0; i < members->count; i++)
        if (!strcmp(members->list[i].name, "starts"))
            return "a checkpoint has the row pointers as 'starts'";
    snprintf(why, sizeof why, "there are %d names for %d arrays", members->count, s->count);
    return members->count == s->count ? NULL : why;
}

/* ---- As weights of cuts ------------------------------------------------------------------------- */

bool describe_csr_is_by(const struct described *entry, const int64_t *starts)
{
    const struct sparse *s = entry->layout;
    return s->rows.kind == EPOP_DIST_CUTS && s->rows.starts == starts;
}

static int64_t csr_start(const struct described *entry, int64_t row)
{
    return *entry->local ? redist_index_get(*entry->local, redist_index_width(entry->type), row) : 0;
}

int64_t *describe_csr_lengths(const struct described *entry, int64_t rows)
{
    int64_t *lengths = malloc(((size_t)rows + 1) * sizeof *lengths);
    for (int64_t i = 0; lengths && i < rows; i++)
        lengths[i] = csr_start(entry, i + 1) - csr_start(entry, i);
    return lengths;
}

/* ---- Moving ------------------------------------------------------------------------------------- */

static int csr_move(struct described *entry, const epop_window_t *window)
{
    const struct sparse *s = entry->layout;
    epop_dist_t before, after;
    csr_dists(entry, &before, &after);
    return epop_redist_csr(window, before, after, entry->type, entry->local, s->arrays, s->count);
}

/* ---- Checkpoints -------------------------------------------------------------------------------- */

/* Rows of this rank: where they start among all, how many, and how many elements they have. */
struct extent {
    int64_t first, rows, elements;
};

static struct extent extent_of(const struct described *entry, int rank, int size)
{
    epop_dist_t before, after;
    csr_dists(entry, &before, &after);
    int64_t rows = epop_dist_local_count(after, rank, size);
    return (struct extent){
        .first = epop_dist_global(after, rank, size, 0), .rows = rows, .elements = rows ? csr_start(entry, rows) : 0};
}

void describe_csr_extent(const struct described *entry, int rank, int size, int64_t *rows, int64_t *elements)
{
    struct extent e = extent_of(entry, rank, size);
    *rows = e.rows;
    *elements = e.elements;
}

static struct slab starts_slab(const struct described *entry, int64_t all)
{
    struct slab slab = {.type = MPI_INT64_T, .dims = 1, .extent = {all + 1}};
    snprintf(slab.name, sizeof slab.name, "%.200s/starts", entry->name);
    return slab;
}

static struct slab array_slab(const struct described *entry, int array)
{
    const struct sparse *s = entry->layout;
    struct slab slab = {.type = s->arrays[array].type, .dims = 1};
    if (entry->members.count)
        snprintf(slab.name, sizeof slab.name, "%.190s/%s", entry->name, entry->members.list[array].name);
    else
        snprintf(slab.name, sizeof slab.name, "%.200s/array%d", entry->name, array);
    return slab;
}

/* Counted over all ranks; the last rank has the end of the last row, too. */
static int save_starts(const struct described *entry, const epop_window_t *window, struct extent e, int64_t before,
                       struct slab *slab, struct error *error)
{
    void *numbers = NULL;
    slab->first = e.first;
    slab->count = e.rows + (window->old_rank == window->old_size - 1);
    bool room = describe_room(MPI_INT64_T, slab->count, &numbers);
    for (int64_t i = 0; numbers && i < slab->count; i++)
        ((int64_t *)numbers)[i] = before + (e.rows ? csr_start(entry, i) : 0);
    slab->data = numbers;
    slab->owned = true;
    if (!describe_all_well(window, room ? NULL : "out of memory for a copy", error))
        return 0;
    free(numbers);
    return -1;
}

static int csr_save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                    struct error *error)
{
    const struct sparse *s = entry->layout;
    struct extent e = extent_of(entry, window->old_rank, window->old_size);
    int64_t before, total;
    if (most < 1 + s->count)
        return error_set(error, ERROR_REFUSED, "described '%s': it has %d arrays, more than %d", entry->name, s->count,
                         most - 1);
    slabs[0] = starts_slab(entry, s->rows.count);
    if (describe_place(window, e.elements, &before, &total, error) ||
        save_starts(entry, window, e, before, &slabs[0], error))
        return -1;
    for (int i = 0; i < s->count; i++) {
        slabs[1 + i] = array_slab(entry, i);
        slabs[1 + i].extent[0] = total;
        slabs[1 + i].first = before;
        slabs[1 + i].count = e.elements;
        slabs[1 + i].data = *(void **)s->arrays[i].local;
    }
    return 1 + s->count;
}

/* The end of this rank's last row is where the next rank begins that has read something; the last one has read the end
 * of all. */
static int find_end(const epop_window_t *window, struct slab *slab, int64_t *end)
{
    MPI_Request request;
    const int64_t *starts = slab->data;
    int64_t mine = slab->count ? starts[0] : -1;
    int64_t *firsts = malloc((size_t)window->new_size * sizeof *firsts);
    int64_t well = firsts ? 1 : 0;
    *end = slab->count ? starts[slab->count - 1] : 0;
    if (collective_min(window, &well, 1) != EPOP_OK || !well ||
        MPI_Iallgather(&mine, 1, MPI_INT64_T, firsts, 1, MPI_INT64_T, window->all, &request) != MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS) {
        free(firsts);
        return -1;
    }
    for (int rank = window->new_size - 1; rank > window->new_rank; rank--)
        if (firsts[rank] >= 0)
            *end = firsts[rank];
    free(firsts);
    return 0;
}

static bool starts_rise(const int64_t *starts, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        if (starts[i] < 0 || starts[i] > starts[i + 1])
            return false;
    return true;
}

int describe_csr_read(const struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                      int64_t first, int64_t rows, int64_t all, int64_t **starts, struct error *error)
{
    struct slab slab = starts_slab(entry, all);
    int64_t end;
    slab.first = first;
    slab.count = rows + (window->new_rank == window->new_size - 1);
    if (describe_read(window, reader, &slab, all + 1, error))
        return -1;
    if (find_end(window, &slab, &end)) {
        free(slab.data);
        return error_set(error, ERROR_FAILED, "described '%s': its row pointers could not be read", entry->name);
    }
    int64_t *grown = realloc(slab.data, ((size_t)rows + 1) * sizeof *grown);
    if (grown)
        grown[rows] = end;
    const char *fault = !grown                     ? "out of memory for described data"
                        : starts_rise(grown, rows) ? NULL
                                                   : "its row pointers fall";
    *starts = grown ? grown : slab.data;
    if (!describe_all_well(window, fault, error))
        return 0;
    free(*starts);
    return error_set(error, ERROR_REFUSED, "described '%s': %s", entry->name, error->text);
}

/* This rank's own row pointers, from those counted over all. */
static const char *set_starts(struct described *entry, const int64_t *starts, int64_t rows)
{
    int width = redist_index_width(entry->type);
    void *own = NULL;
    if (width == 4 && starts[rows] - starts[0] > INT32_MAX)
        return "a rank would get more than 2^31 - 1 elements, too many for its type of row pointers";
    if (!describe_room(entry->type, rows + 1, &own))
        return "out of memory for described data";
    for (int64_t i = 0; i <= rows; i++)
        redist_index_set(own, width, i, starts[i] - starts[0]);
    free(*entry->local);
    *entry->local = own;
    return NULL;
}

static int load_arrays(const struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                       int64_t first, int64_t count, struct error *error)
{
    const struct sparse *s = entry->layout;
    int64_t before, total;
    if (describe_place(window, count, &before, &total, error))
        return -1;
    for (int i = 0; i < s->count; i++) {
        struct slab slab = array_slab(entry, i);
        slab.first = first;
        slab.count = count;
        if (describe_read(window, reader, &slab, total, error))
            return -1;
        free(*(void **)s->arrays[i].local);
        *(void **)s->arrays[i].local = slab.data;
    }
    return 0;
}

static int csr_load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                    struct error *error)
{
    const struct sparse *s = entry->layout;
    struct extent e = extent_of(entry, window->new_rank, window->new_size);
    int64_t *starts = NULL;
    if (describe_csr_read(entry, window, reader, e.first, e.rows, s->rows.count, &starts, error))
        return -1;
    int64_t first = starts[0], count = starts[e.rows] - first;
    const char *fault = set_starts(entry, starts, e.rows);
    free(starts);
    if (describe_all_well(window, fault, error))
        return -1;
    return load_arrays(entry, window, reader, first, count, error);
}

/* ---- Sums and bytes ----------------------------------------------------------------------------- */

/* A row of an array, for the checksum. */
struct place {
    int64_t row, array;
};

static int64_t place_in_array(const void *context, int64_t local)
{
    const struct place *place = context;
    return (place->row * 1000003 + place->array) * 1000003 + local;
}

static void sum_row(const struct described *entry, int64_t row, int64_t local, int64_t *count, uint64_t *sum)
{
    const struct sparse *s = entry->layout;
    int64_t start = csr_start(entry, local), length = csr_start(entry, local + 1) - start;
    *count += 1 + length;
    *sum += describe_mix(row, &length, sizeof length);
    for (int i = 0; i < s->count && length > 0; i++) {
        const struct place place = {row, i};
        const char *elements = *(void **)s->arrays[i].local;
        MPI_Aint low, extent;
        MPI_Type_get_extent(s->arrays[i].type, &low, &extent);
        if (elements)
            describe_mix_elements(s->arrays[i].type, elements + start * extent, length, place_in_array, &place, sum);
    }
}

static void csr_sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    struct extent e = extent_of(entry, rank, size);
    for (int64_t i = 0; *entry->local && i < e.rows; i++)
        sum_row(entry, e.first + i, i, count, sum);
}

static int64_t csr_bytes(const struct described *entry, int rank, int size)
{
    const struct sparse *s = entry->layout;
    struct extent e = extent_of(entry, rank, size);
    int64_t bytes = describe_bytes(entry->type, rank < 0 ? 0 : e.rows + 1);
    for (int i = 0; i < s->count; i++)
        bytes += describe_bytes(s->arrays[i].type, e.elements);
    return bytes;
}

static void csr_release(struct described *entry)
{
    const struct sparse *s = entry->layout;
    describe_release_part(entry);
    for (int i = 0; i < s->count; i++) {
        void **local = s->arrays[i].local;
        free(*local);
        *local = NULL;
    }
}

/* ---- Ahead of the window ------------------------------------------------------------------------ */

/* First the lengths of the rows travel, then their elements: as in the window (runtime/redist/rows.c). */

enum { LENGTHS, STARTS, NEW_STARTS };

static bool csr_goes(const struct described *entry)
{
    const struct sparse *s = entry->layout;
    return describe_dist_goes(entry, s->rows);
}

static int csr_list(const struct described *entry, int size, bool here, struct describe_route *route,
                    struct error *error)
{
    (void)size, (void)here, (void)error;
    route->number = redist_index_width(entry->type);
    return 0;
}

static bool csr_part(const struct described *entry, int i, struct route_part *part)
{
    const struct sparse *s = entry->layout;
    if (i > s->count)
        return false;
    *part = i ? (struct route_part){.local = s->arrays[i - 1].local, .type = s->arrays[i - 1].type}
              : (struct route_part){.local = entry->local, .type = entry->type, .made = true};
    return true;
}

/* Of the old rows: how long each is, and where it starts. */
static int read_rows(const struct described *entry, int64_t rows, struct describe_route *route, struct error *error)
{
    const void *index = *entry->local;
    int width = (int)route->number;
    if (!route_keep(route, LENGTHS, rows, &route_number, error) ||
        !route_keep(route, STARTS, rows, &route_number, error))
        return -1;
    int64_t *lengths = route->kept[LENGTHS], *starts = route->kept[STARTS];
    for (int64_t i = 0; index && i < rows; i++) {
        starts[i] = redist_index_get(index, width, i);
        lengths[i] = redist_index_get(index, width, i + 1) - starts[i];
        if (lengths[i] < 0 || (!i && starts[i]))
            return error_set(error, ERROR_FAILED, "its row pointers do not rise from 0");
    }
    route->rows.total[REDIST_BEFORE] = rows && index ? redist_index_get(index, width, rows) : 0;
    return index || !rows ? 0 : error_set(error, ERROR_FAILED, "it has no row pointers");
}

static int tell_lengths(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                        struct error *error)
{
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++)
        route->rows.count[side] = redist_plan_local(&route->plan, side);
    if (route_stays(route, window))
        return 0;
    if (window->old_rank >= 0 && read_rows(entry, route->rows.count[REDIST_BEFORE], route, error))
        return -1;
    if (window->new_rank >= 0 && !route_keep(route, NEW_STARTS, route->rows.count[REDIST_AFTER], &route_number, error))
        return -1;
    route->head = (struct route_stream){.element = route_number,
                                        .plan = &route->plan,
                                        .before = route->kept[LENGTHS],
                                        .after = route->kept[NEW_STARTS]};
    return 0;
}

/* The new lengths become starts, as 64-bit numbers, and the program's. */
static int make_index(struct describe_route *route, struct error *error)
{
    int width = (int)route->number;
    int64_t start = 0, rows = route->rows.count[REDIST_AFTER], *starts = route->kept[NEW_STARTS];
    const redist_element entry = {.extent = width, .true_extent = width};
    if (redist_new_block(&entry, rows + 1, &route->made) != REDIST_FINE)
        return error_memory(error);
    for (int64_t i = 0; i < rows; i++) {
        int64_t length = starts[i];
        redist_index_set(route->made, width, i, starts[i] = start);
        if (length < 0 || __builtin_add_overflow(start, length, &start) || (width == 4 && start > INT32_MAX))
            return error_set(error, ERROR_FAILED, "a rank would get too many elements");
    }
    redist_index_set(route->made, width, rows, start);
    route->rows.total[REDIST_AFTER] = start;
    return 0;
}

static int csr_step(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                    enum route_round round, struct error *error)
{
    const struct sparse *s = entry->layout;
    epop_dist_t before, after;
    if (!route->planned && describe_dists_ahead(entry, s->rows, &before, &after))
        route_plan_dists(route, window, before, after);
    if (round == ROUTE_COUNTS)
        return tell_lengths(entry, window, route, error);
    if (round != ROUTE_DATA)
        return 0;
    if (window->new_rank >= 0 && !route_stays(route, window) && make_index(route, error))
        return -1;
    route->rows.starts[REDIST_BEFORE] = route->kept[STARTS];
    route->rows.starts[REDIST_AFTER] = route->kept[NEW_STARTS];
    route->by_rows = true;
    return 0;
}

static const struct route_kind csr_route = {.goes = csr_goes, .list = csr_list, .step = csr_step, .part = csr_part};

const struct kind kind_csr = {.word = "csr",
                              .terms = csr_terms,
                              .fits = csr_fit,
                              .move = csr_move,
                              .save = csr_save,
                              .load = csr_load,
                              .sum = csr_sum,
                              .bytes = csr_bytes,
                              .release = csr_release,
                              .route = &csr_route};
