/* A file that all ranks write before and after resizes, of docs/guide/libraries.md: hdf5.so [STEPS [FILE]]. */
#define _GNU_SOURCE /* for dladdr */
#include <dlfcn.h>
#include <epop/epop.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 200, EVERY = 1000 }; /* steps of a frame */

struct waves {
    const char *name;
    int64_t step, steps;
    double *u;     /* a block of CELLS */
    hsize_t first; /* of which this is the first one, */
    hsize_t mine;  /* and so many are here */
    hid_t file;    /* H5I_INVALID_HID: it is not open */
};

/* ---- The file ---- */

/* MPI_Finalize will call HDF5: the library stays when the program is unloaded. */
static int keep_library(void)
{
    Dl_info library;
    if (!dladdr((void *)(uintptr_t)H5open, &library) || !dlopen(library.dli_fname, RTLD_LAZY | RTLD_NODELETE))
        return EPOP_ERR_SYSTEM;
    return 0;
}

static int open_file(struct waves *w)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fapl_mpio(access, epop_world(), MPI_INFO_NULL); /* of which it makes a duplicate */
    if (w->step > EVERY)
        w->file = H5Fopen(w->name, H5F_ACC_RDWR, access);
    else {
        hsize_t none[] = {0, CELLS}, most[] = {H5S_UNLIMITED, CELLS}, chunk[] = {1, CELLS};
        hid_t space = H5Screate_simple(2, none, most);
        H5Pset_chunk(create, 2, chunk);
        w->file = H5Fcreate(w->name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
        H5Dclose(H5Dcreate2(w->file, "u", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT));
        H5Sclose(space);
    }
    H5Pclose(create);
    H5Pclose(access);
    return w->file < 0 ? EPOP_ERR_SYSTEM : 0;
}

static int close_file(void *data)
{
    struct waves *w = data;
    int failed = w->file >= 0 && H5Fclose(w->file) < 0;
    w->file = H5I_INVALID_HID;
    return failed ? EPOP_ERR_SYSTEM : 0;
}

/* Row `frame` of the table: each rank its block, all in one call. */
static int write_frame(struct waves *w, hsize_t frame)
{
    if (w->file < 0 && open_file(w))
        return EPOP_ERR_SYSTEM;
    hsize_t size[] = {frame + 1, CELLS}, start[] = {frame, w->first}, count[] = {1, w->mine};
    hid_t table = H5Dopen2(w->file, "u", H5P_DEFAULT), together = H5Pcreate(H5P_DATASET_XFER);
    H5Dset_extent(table, size);
    hid_t there = H5Dget_space(table), here = H5Screate_simple(1, &w->mine, NULL);
    H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
    herr_t written = H5Dwrite(table, H5T_NATIVE_DOUBLE, here, there, together, w->u);
    H5Sclose(here);
    H5Sclose(there);
    H5Pclose(together);
    H5Dclose(table);
    return written < 0 ? EPOP_ERR_SYSTEM : 0;
}

/* ---- The program ---- */

static void describe(void *data, epop_description_t *d)
{
    struct waves *w = data;
    epop_describe_values(d, "step", &w->step, sizeof w->step);
    epop_describe_array(d, "u", &w->u, MPI_DOUBLE, epop_dist_block(CELLS), 0);
}

static int rebuild(void *data)
{
    struct waves *w = data;
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    w->mine = (hsize_t)epop_dist_local_count(epop_dist_block(CELLS), rank, size);
    w->first = (hsize_t)epop_dist_global(epop_dist_block(CELLS), rank, size, 0);
    return 0;
}

static int init(int *argc, char ***argv, void **data)
{
    struct waves *w = *data = calloc(1, sizeof *w);
    if (!w)
        return EPOP_ERR_MEMORY;
    w->steps = *argc > 1 ? atoll((*argv)[1]) : 10000;
    w->name = *argc > 2 ? (*argv)[2] : "waves.h5";
    w->file = H5I_INVALID_HID;
    if (keep_library())
        return EPOP_ERR_SYSTEM;
    if (epop_status() != EPOP_NEW)
        return 0;
    rebuild(w);
    w->u = calloc((size_t)w->mine, sizeof(double));
    return w->u ? 0 : EPOP_ERR_MEMORY;
}

static int step(void *data)
{
    struct waves *w = data;
    for (hsize_t i = 0; i < w->mine; i++)
        w->u[i] += 1 + (double)(w->first + i) / CELLS;
    return ++w->step % EVERY == 0 ? write_frame(w, (hsize_t)(w->step / EVERY - 1)) : 0;
}

static int more(void *data)
{
    struct waves *w = data;
    return w->step < w->steps;
}

static int report(void *data)
{
    struct waves *w = data;
    int rank;
    double sum = 0;
    MPI_Comm_rank(epop_world(), &rank);
    for (hsize_t i = 0; i < w->mine; i++)
        sum += w->u[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, epop_world());
    if (rank == 0)
        printf("sum %.6f after %lld steps\n", sum, (long long)w->step);
    return close_file(w);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("hdf5");
    if (!program)
        return NULL;
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "swing", step, epop_adapt_described, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_pack(program, close_file); /* its communicator is of the old world */
    epop_rebuild(program, rebuild);
    epop_release(program, free);
    return program;
}
