/*
 * How indices are dealt out to ranks: the arithmetic behind epop_dist_t and epop_dist2d_t.
 * Everything is local and O(1), but for the owner by cuts, and exact up to 2^63 - 1 indices.
 */
#include <epop/redist.h>
#include <stdlib.h>

#include "runtime/redist/comb.h"

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

int64_t redist_dist_width(epop_dist_t dist)
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
    int64_t width = redist_dist_width(dist);
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

redist_comb redist_comb_of(epop_dist_t dist, int rank, int size)
{
    if (rank < 0 || rank >= size || dist.count <= 0)
        return (redist_comb){0};
    if (dist.kind == EPOP_DIST_CUTS)
        return rank < dist.ranks ? cut_comb(dist, rank) : (redist_comb){0};
    if (dist.kind == EPOP_DIST_BLOCK || size == 1)
        return block_comb(dist.count, rank, size);
    return cyclic_comb(dist, rank, size);
}

int64_t epop_dist_local_count(epop_dist_t dist, int rank, int size)
{
    redist_comb comb = redist_comb_of(dist, rank, size);
    return redist_comb_count(&comb);
}

int64_t epop_dist_global(epop_dist_t dist, int rank, int size, int64_t local)
{
    redist_comb comb = redist_comb_of(dist, rank, size);
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
    int64_t width = redist_dist_width(dist);
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
