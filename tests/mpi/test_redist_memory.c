/*
 * Memory: besides the old block, redistribution takes the new block and bounded staging memory, and gives all of
 * it back; a rank whose block does not change, only loses elements or gets some at its end has only one block.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <epop/blocks.h>

#include "runtime/redist/move.h"
#include "tests/mpi/redist_memory.h"
#include "tests/mpi/redist_world.h"

enum { STAGING_MAX = 5 << 20, SIDE = 1536, ROUNDS = 30 };

typedef struct layout {
    const char *name;
    epop_dist_t rows, cols;
    int column_major_after;
} layout;

static epop_dist2d_t on_grid(const layout *l, int ranks)
{
    epop_dist2d_t dist = {.rows = l->rows, .cols = l->cols};
    epop_grid_near_square(ranks, &dist.grid_rows, &dist.grid_cols);
    return dist;
}

static int64_t bytes_of(const epop_dist2d_t *dist, int rank)
{
    int64_t rows, cols;
    epop_dist2d_local(dist, rank, &rows, &cols);
    return rows * cols * (int64_t)sizeof(double);
}

/* There and back. Each time the peak is measured from when the old block is there. */
static void check_peak(const layout *l, const test_world *there, const test_world *back)
{
    epop_dist2d_t few = on_grid(l, there->window.old_size), many = on_grid(l, there->window.new_size);
    many.column_major = l->column_major_after;
    int64_t old_bytes = bytes_of(&few, there->window.old_rank), new_bytes = bytes_of(&many, there->window.new_rank);
    void *block = old_bytes ? calloc(1, (size_t)old_bytes) : NULL;
    int64_t settled = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t start = memory_now;
        memory_peak = memory_now;
        REQUIRE(epop_redist2d(&there->window, &few, &many, MPI_DOUBLE, &block) == EPOP_OK);
        REQUIRE(memory_peak - start <= new_bytes + STAGING_MAX);
        start = memory_now;
        memory_peak = memory_now;
        REQUIRE(epop_redist2d(&back->window, &many, &few, MPI_DOUBLE, &block) == EPOP_OK);
        /* One that is extended asks for the new block before it is, and does not use it. */
        REQUIRE(memory_peak - start <= old_bytes + STAGING_MAX + (old_bytes > new_bytes ? old_bytes - new_bytes : 0));
        if (round == ROUNDS / 2)
            settled = memory_now; /* the MPI library has set up by now what it needs */
    }
    REQUIRE(memory_now - settled < 64 << 10);
    free(block);
}

static void check_in_place(const test_world *there)
{
    const epop_window_t *window = &there->window;
    epop_dist2d_t dist = {.rows = epop_dist_block(SIDE), .cols = epop_dist_block(SIDE), .grid_rows = 1, .grid_cols = 1};
    int64_t bytes = bytes_of(&dist, window->old_rank), new_bytes = bytes_of(&dist, window->new_rank);
    void *block = bytes ? calloc(1, (size_t)bytes) : NULL, *old_block = block;
    memory_peak = memory_now;
    int64_t start = memory_now;
    REQUIRE(epop_redist2d(window, &dist, &dist, MPI_DOUBLE, &block) == EPOP_OK);
    REQUIRE(bytes == 0 || new_bytes == 0 || block == old_block);
    REQUIRE(memory_peak - start <= STAGING_MAX);
    free(block);
}

/* The new array, staging, and a copy of the ghosts; nothing is left of it. */
static void check_blocks(const test_world *there, const test_world *back)
{
    const epop_blocks_t blocks = {.dims = 3, .count = {120, 110, 100}, .ghosts = {1, 2, 1}, .periodic = {1, 0, 0}};
    const int64_t ghosts = (int64_t)sizeof(double) * 2 * (2 * 122 * 114 + 4 * 122 * 102 + 2 * 114 * 102);
    const test_world *ways[] = {there, back};
    int64_t elements = epop_blocks_elements(&blocks, there->window.old_rank, there->window.old_size), settled = 0;
    double *array = elements ? calloc((size_t)elements, sizeof *array) : NULL;
    for (int round = 0; round < ROUNDS; round++) {
        const epop_window_t *window = &ways[round % 2]->window;
        elements = epop_blocks_elements(&blocks, window->new_rank, window->new_size);
        int64_t start = memory_now;
        memory_peak = memory_now;
        REQUIRE(epop_redist_blocks(window, &blocks, &blocks, MPI_DOUBLE, &array) == EPOP_OK);
        REQUIRE(memory_peak - start <= elements * (int64_t)sizeof *array + ghosts + STAGING_MAX);
        if (round == ROUNDS / 2) /* odd, as the last one */
            settled = memory_now;
    }
    REQUIRE(memory_now - settled < 64 << 10);
    free(array);
}

/* Where the new block is a part of the old one, that is closed up and cut off: no second one. */
static void check_shrinks(const test_world *there, epop_dist_t dist)
{
    const epop_window_t *window = &there->window;
    int64_t count = epop_dist_local_count(dist, window->old_rank, window->old_size);
    int64_t left = epop_dist_local_count(dist, window->new_rank, window->new_size);
    bool within = count > 0;
    double *values = count ? malloc((size_t)count * sizeof *values) : NULL;
    for (int64_t i = 0; i < count; i++)
        values[i] = (double)epop_dist_global(dist, window->old_rank, window->old_size, i);
    for (int64_t i = 0; i < left; i++)
        within = within &&
                 epop_dist_owner(dist, window->old_size, epop_dist_global(dist, window->new_rank, window->new_size, i),
                                 NULL) == window->old_rank;
    void *block = values;
    memory_peak = memory_now;
    int64_t start = memory_now;
    REQUIRE(epop_redist(window, dist, MPI_DOUBLE, &block) == EPOP_OK);
    if (within) {
        REQUIRE(memory_peak - start <= STAGING_MAX);
        REQUIRE(!MEMORY_COUNTED || start - memory_now > (count - left) * (int64_t)sizeof(double) - (64 << 10));
    }
    REQUIRE(window->old_rank != 0 || within);
    for (int64_t i = 0; i < left; i++)
        REQUIRE(((double *)block)[i] == (double)epop_dist_global(dist, window->new_rank, window->new_size, i));
    free(block);
}

/* Bytes of a line like "VmRSS: 100 kB"; 0 where the kernel does not tell. */
static int64_t resident(const char *name)
{
    char line[200];
    long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, name, strlen(name)))
            sscanf(line + strlen(name), "%lld", &kib);
    if (status)
        fclose(status);
    return kib << 10;
}

/* The highest resident size counts from now on. */
static bool forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    bool done = file && fputs("5", file) >= 0;
    return file && !fclose(file) && done;
}

/* Where the old block is how the new one begins, there are never both in memory. */
static void check_extends(const test_world *back)
{
    const epop_window_t *window = &back->window;
    const int64_t size = (int64_t)sizeof(double);
    const epop_dist_t dist = epop_dist_block(window->old_size * redist_extended_bytes / size);
    int64_t had = epop_dist_local_count(dist, window->old_rank, window->old_size) * size;
    int64_t has = epop_dist_local_count(dist, window->new_rank, window->new_size) * size;
    void *block = malloc((size_t)had);
    REQUIRE(block);
    memset(block, 1, (size_t)had);
    bool told = forget_peak() && MEMORY_COUNTED;
    int64_t start = resident("VmRSS:");
    REQUIRE(epop_redist(window, dist, MPI_DOUBLE, &block) == EPOP_OK);
    if (told && window->old_rank == 0)
        REQUIRE(resident("VmHWM:") - start <= has - had + had / 2); /* had a copy been there, too, has */
    free(block);
}

/* Small rows, so that the lengths count as well: those in the program's type, and the numbers that are made of them. */
static void check_rows(const test_world *there)
{
    const epop_window_t *window = &there->window;
    epop_dist_t dist = epop_dist_block(400000);
    int64_t old_rows = epop_dist_local_count(dist, window->old_rank, window->old_size);
    int64_t new_rows = epop_dist_local_count(dist, window->new_rank, window->new_size);
    const int64_t row = (int64_t)sizeof(int) + 3 * (int64_t)(sizeof(int) + sizeof(double)), number = sizeof(int64_t);
    void *lengths = malloc((size_t)(old_rows + 1) * sizeof(int));
    void *columns = calloc((size_t)(3 * old_rows + 1), sizeof(int));
    void *values = calloc((size_t)(3 * old_rows + 1), sizeof(double));
    const epop_row_array_t arrays[] = {{MPI_INT, &columns}, {MPI_DOUBLE, &values}};
    REQUIRE(lengths && columns && values);
    for (int64_t i = 0; i < old_rows; i++)
        ((int *)lengths)[i] = 3;
    memory_peak = memory_now;
    int64_t start = memory_now;
    REQUIRE(epop_redist_rows(window, dist, dist, MPI_INT, &lengths, arrays, 2) == EPOP_OK);
    REQUIRE(memory_peak - start <= new_rows * row + (old_rows + new_rows) * number + STAGING_MAX);
    free(lengths);
    free(columns);
    free(values);
}

int main(int argc, char **argv)
{
    const layout layouts[] = {
        {"block", epop_dist_block(SIDE), epop_dist_block(SIDE), 0},
        {"cyclic", epop_dist_cyclic(SIDE), epop_dist_cyclic(SIDE), 0},
        {"block-cyclic", epop_dist_block_cyclic(SIDE, 32), epop_dist_block_cyclic(SIDE, 32), 0},
        {"transposed", epop_dist_block(SIDE), epop_dist_cyclic(SIDE), 1},
    };
    test_world there, back;
    int size, leaves[WORLD_MAX] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(size >= 2 && size <= WORLD_MAX);
    make_world(&there, MPI_COMM_WORLD, size / 2, leaves);
    for (int r = size / 2; r < size; r++)
        leaves[r] = 1;
    make_world(&back, MPI_COMM_WORLD, size, leaves);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        check_peak(&layouts[i], &there, &back);
    check_in_place(&there);
    check_blocks(&there, &back);
    check_shrinks(&there, epop_dist_block(SIDE * SIDE));
    check_shrinks(&there, epop_dist_cyclic(SIDE * SIDE));
    check_shrinks(&there, epop_dist_block_cyclic(SIDE * SIDE, 100));
    check_extends(&back);
    check_rows(&there);
    check_rows(&back);
    if (there.rank == 0)
        printf("test_redist_memory: ok%s\n", MEMORY_COUNTED ? "" : " (nothing counted under a sanitizer)");
    MPI_Finalize();
    return 0;
}
