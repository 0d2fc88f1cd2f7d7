/*
 * A checkpoint into a file beside the same bytes by MPI_File_write_at_all, and by parallel HDF5 with collective writes,
 * each until they are on disk; and how long the program stands still when it is written behind its back, beside a copy
 * in memory. The ways take turns, so that each has the same disk.
 *
 *   mpiexec -n 4 checkpoint DIRECTORY [MIB [REPETITIONS]]     MIB of each rank; one line of JSON
 */
#include <hdf5.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/checkpoint/store.h"

enum { REPETITIONS_MAX = 100, ARRAYS = 2 };

static int rank, size;
static int64_t elements; /* of each array, on each rank */
static double *data[ARRAYS];
static char path[512];

static void fail(const char *what)
{
    fprintf(stderr, "bench/checkpoint: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(void)
{
    for (int a = 0; a < ARRAYS; a++) {
        data[a] = malloc((size_t)elements * sizeof *data[a]);
        if (!data[a])
            fail("out of memory");
        for (int64_t i = 0; i < elements; i++)
            data[a][i] = (double)(rank * elements + i);
    }
}

/* ---- The ways -------------------------------------------------------------------- */

static void require(int result, const struct error *error)
{
    if (result)
        fail(error->text);
}

static void write_arrays(void *file)
{
    struct error error;
    for (int a = 0; a < ARRAYS; a++) {
        struct slab slab = {.type = MPI_DOUBLE, .dims = 1, .extent = {elements * size}};
        snprintf(slab.name, sizeof slab.name, "u%d", a);
        slab.first = rank * elements;
        slab.count = elements;
        slab.data = data[a];
        require(store_file.write(file, &slab, &error), &error);
    }
}

static struct checkpoint_head head(void)
{
    return (struct checkpoint_head){.format = CHECKPOINT_FORMAT, .size = size, .number = 1};
}

static double by_store(void)
{
    void *file;
    struct error error;
    struct checkpoint_head what = head();
    require(store_file.create(path, MPI_COMM_WORLD, &what, &file, &error), &error);
    write_arrays(file);
    require(store_file.commit(file, &error), &error);
    return MPI_Wtime();
}

static double by_mpi(void)
{
    MPI_File file;
    int failed = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int a = 0; !failed && a < ARRAYS; a++) {
        MPI_Offset at = (a * size + rank) * elements * (MPI_Offset)sizeof(double);
        failed = MPI_File_write_at_all(file, at, data[a], (int)elements, MPI_DOUBLE, MPI_STATUS_IGNORE);
    }
    if (failed || MPI_File_sync(file) || MPI_File_close(&file))
        fail("MPI_File failed");
    return MPI_Wtime();
}

static int write_dataset(hid_t file, int array)
{
    char name[8];
    hsize_t all = (hsize_t)(elements * size), first = (hsize_t)(elements * rank), count = (hsize_t)elements;
    snprintf(name, sizeof name, "u%d", array);
    hid_t whole = H5Screate_simple(1, &all, NULL), part = H5Screate_simple(1, &count, NULL);
    hid_t how = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
    H5Sselect_hyperslab(whole, H5S_SELECT_SET, &first, NULL, &count, NULL);
    hid_t made = H5Dcreate2(file, name, H5T_IEEE_F64LE, whole, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int failed = made < 0 || H5Dwrite(made, H5T_NATIVE_DOUBLE, part, whole, how, data[array]) < 0 || H5Dclose(made) < 0;
    H5Pclose(how);
    H5Sclose(part);
    H5Sclose(whole);
    return failed;
}

static double by_parallel_hdf5(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    int failed = file < 0;
    for (int a = 0; !failed && a < ARRAYS; a++)
        failed = write_dataset(file, a);
    if (failed || H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 || H5Fclose(file) < 0)
        fail("parallel HDF5 failed");
    H5Pclose(access);
    return MPI_Wtime();
}

static sem_t written;

static void tell(void *context, const struct error *error)
{
    (void)context;
    if (error)
        fail(error->text);
    sem_post(&written);
}

/* Returns when the program could go on. */
static double behind(void)
{
    void *file;
    struct error error;
    struct store_listener listener = {.written = tell};
    struct checkpoint_head what = head();
    require(store_file.create_async(path, MPI_COMM_WORLD, &what, &file, &error), &error);
    write_arrays(file);
    require(store_file.start(file, &listener, &error), &error);
    double went_on = MPI_Wtime();
    sem_wait(&written);
    require(store_file.settle(file, true, &error), &error);
    return went_on;
}

/* Into new memory, as it has to be. */
static double by_memory(void)
{
    char *copies[ARRAYS];
    for (int a = 0; a < ARRAYS; a++) {
        copies[a] = malloc((size_t)elements * sizeof(double));
        if (!copies[a])
            fail("out of memory");
        memcpy(copies[a], data[a], (size_t)elements * sizeof(double));
    }
    double end = MPI_Wtime();
    for (int a = 0; a < ARRAYS; a++)
        free(copies[a]);
    return end;
}

/* ---- Measuring ------------------------------------------------------------------- */

/* Each returns when the program could go on. */
static struct {
    const char *name;
    double (*run)(void);
    double seconds[REPETITIONS_MAX];
} ways[] = {{"mpi_io", by_mpi, {0}},
            {"checkpoint", by_store, {0}},
            {"parallel_hdf5", by_parallel_hdf5, {0}},
            {"behind", behind, {0}},
            {"copy", by_memory, {0}}};
enum { WAYS = sizeof ways / sizeof *ways };

/* The slowest rank's time, from when all are there; what was there before is gone. */
static double measure(double (*run)(void))
{
    double mine, slowest;
    if (rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    mine = MPI_Wtime();
    mine = run() - mine;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int rises(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, rises);
    return values[count / 2];
}

static void tell_all(int mib, int repetitions)
{
    printf("{\"bench\": \"checkpoint\", \"ranks\": %d, \"mib\": %d", size, mib);
    for (int w = 0; w < WAYS; w++)
        printf(", \"%s\": %.4f", ways[w].name, median(ways[w].seconds, repetitions));
    printf("}\n");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mib = argc > 2 ? atoi(argv[2]) : 64, repetitions = argc > 3 ? atoi(argv[3]) : 5;
    if (argc < 2 || mib < 1 || mib > 4096 || repetitions < 1 || repetitions > REPETITIONS_MAX)
        fail("usage: checkpoint DIRECTORY [MIB [REPETITIONS]]");
    snprintf(path, sizeof path, "%s/checkpoint.h5", argv[1]);
    elements = (int64_t)mib * (1 << 20) / ARRAYS / (int64_t)sizeof(double);
    sem_init(&written, 0, 0);
    fill();
    for (int i = 0; i < repetitions; i++)
        for (int w = 0; w < WAYS; w++)
            ways[w].seconds[i] = measure(ways[w].run);
    if (rank == 0)
        tell_all(mib, repetitions);
    if (rank == 0)
        unlink(path);
    MPI_Finalize();
    return 0;
}
