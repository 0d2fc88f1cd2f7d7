/*
 * An elastic program that only says MPI_COMM_WORLD: checks after every change of the world that this is the new one,
 * in every kind of MPI function, and that error handler and attributes follow as they do at MPI_Comm_dup.
 *
 *     interpose_world.so DIRECTORY SIZE...      the sizes to go through; DIRECTORY is for a file of MPI-IO
 */
#include <stdint.h>
#include <time.h>

#include <epop/epop.h>

#include "tests/mpi/world_checks.h"

struct tour {
    int64_t step; /* the same on every rank */
    int steps, sizes[16];
    char directory[400];
    int follows, stays_behind; /* keys of attributes */
    MPI_Comm world;            /* whose attributes' deletion is counted, not that of its copies */
    int deletes;
};

static int count_deletes(MPI_Comm comm, int key, void *value, void *extra)
{
    struct tour *t = extra;
    (void)key, (void)value;
    t->deletes += comm == t->world;
    return MPI_SUCCESS;
}

static void *attribute(int key)
{
    void *value = NULL;
    int found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    return found ? value : NULL;
}

static void mark_world(struct tour *t)
{
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_deletes, &t->follows, t);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletes, &t->stays_behind, t);
    MPI_Comm_set_attr(MPI_COMM_WORLD, t->follows, t);
    MPI_Comm_set_attr(MPI_COMM_WORLD, t->stays_behind, t);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    t->world = epop_world();
}

static int check_marks(struct tour *t, int deletes)
{
    int wrong = 0;
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    EXPECT(handler == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    EXPECT(attribute(t->follows) == t);
    EXPECT(attribute(t->stays_behind) == (deletes ? NULL : t));
    EXPECT(t->deletes == deletes);
    return wrong;
}

static int init(int *argc, char ***argv, void **data)
{
    struct tour *t = *data = calloc(1, sizeof *t);
    if (!t || *argc < 3)
        return EPOP_ERR_ARGUMENT;
    snprintf(t->directory, sizeof t->directory, "%s", (*argv)[1]);
    for (int i = 2; i < *argc && t->steps < 16; i++)
        t->sizes[t->steps++] = atoi((*argv)[i]);
    mark_world(t);
    /* A joining process is among the joiners alone here. */
    return check_world(epop_world(), epop_status() == EPOP_NEW ? t->directory : NULL) + check_marks(t, 0);
}

static int work(void *data)
{
    struct tour *t = data;
    struct timespec pause = {0, 1000000};
    int size, wrong = 0;
    nanosleep(&pause, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != t->sizes[t->step])
        return 0;
    wrong = check_world(epop_world(), t->directory);
    MPI_Barrier(MPI_COMM_WORLD);
    if (++t->step < t->steps)
        epop_request_resize(t->sizes[t->step]);
    return wrong;
}

static int more(void *data)
{
    const struct tour *t = data;
    return t->step < t->steps;
}

/* Outside of every world MPI_COMM_WORLD is an error; it goes where errors of no communicator go. */
static int check_left(void)
{
    int wrong = 0, size;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EXPECT(error_class(MPI_Comm_size(MPI_COMM_WORLD, &size)) == MPI_ERR_COMM);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    return wrong;
}

static void clean(struct tour *t)
{
    MPI_Comm_free_keyval(&t->follows);
    MPI_Comm_free_keyval(&t->stays_behind);
    free(t);
}

static int adapt(void *data)
{
    struct tour *t = data;
    epop_window_t window;
    int wrong = 0, result = MPI_UNEQUAL, deletes = t->deletes;
    if (epop_adapt_begin(&window))
        return 1;
    MPI_Comm_compare(MPI_COMM_WORLD, window.before, &result);
    EXPECT(result == MPI_IDENT);
    EXPECT(epop_redist_replicated(&window, &t->step, 1, MPI_INT64_T) == EPOP_OK);
    EXPECT(epop_adapt_commit() == EPOP_OK);
    if (window.status == EPOP_LEAVING) {
        wrong += check_left();
        clean(t);
        return wrong;
    }
    /* The old world took its attributes with it: one at every change, and the one that stays behind at the first. */
    wrong += check_marks(t, deletes + (deletes ? 1 : 2));
    t->world = window.after;
    return wrong + check_world(window.after, t->directory);
}

static int finish(void *data)
{
    struct tour *t = data;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("went through %d sizes\n", t->steps);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, t->follows);
    if (attribute(t->stays_behind))
        MPI_Comm_delete_attr(MPI_COMM_WORLD, t->stays_behind);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    clean(t);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("interpose_world");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "work", work, adapt, more);
    program->finalizer = epop_add_rigid(program, "finish", finish, NULL);
    return program;
}
