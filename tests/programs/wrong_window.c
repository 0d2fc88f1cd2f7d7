/*
 * Its adapt block does one thing wrong with the window, by the first argument; on all ranks but where it says so. It
 * asks for 3 ranks in iteration 3 and for 2 in iteration 6, and ends after iteration 9. With any other word it is
 * right.
 *
 *     begin, commit   forgets it on rank 1          before, all   uses that communicator behind commit
 *     stale           uses the old world's in the next exec block            free   frees one of the window
 *     derived         keeps what it made of the old world                    request   or a receive on it
 *     leaver          uses the world on a rank that left                     held   a leaver keeps a datatype
 *     cached          keeps a communicator as an attribute, which is right
 */
#include "scenario.h"

static const char *way = "right";
static int iterations;
static MPI_Comm derived = MPI_COMM_NULL, stale = MPI_COMM_NULL;
static MPI_Datatype held = MPI_DATATYPE_NULL;
static MPI_Request request = MPI_REQUEST_NULL;
static int number;

static bool is(const char *name)
{
    return !strcmp(way, name);
}

static int delete_cached(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    MPI_Comm_free(value);
    free(value);
    return MPI_SUCCESS;
}

static void make_cached(void)
{
    static int keyval = MPI_KEYVAL_INVALID;
    MPI_Comm *copy = malloc(sizeof *copy);
    if (keyval == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_cached, &keyval, NULL);
    MPI_Comm_dup(epop_world(), copy);
    MPI_Comm_set_attr(epop_world(), keyval, copy);
}

static int init(int *argc, char ***argv, void **data)
{
    (void)data;
    way = *argc > 1 ? (*argv)[1] : way;
    if (is("cached"))
        make_cached();
    if (is("held"))
        MPI_Type_contiguous(3, MPI_INT, &held);
    return 0;
}

/* The world is to be of 3 ranks, and later of 2 again. A request may come while the last one is still being carried
 * out, so it is repeated. */
static bool asks(void)
{
    static int asked;
    int size = size_of(epop_world()), wanted = iterations == 3 ? 3 : iterations == 6 ? 2 : size;
    if (size != wanted && asked++ % 50 == 0 && rank_in(epop_world()) == 0)
        epop_request_resize(wanted);
    return size != wanted;
}

static int work(void *data)
{
    int sum = 1;
    (void)data;
    nap(2000);
    if (iterations == 1 && is("derived"))
        MPI_Comm_dup(epop_world(), &derived);
    if (iterations == 1 && is("request"))
        MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 77, epop_world(), &request);
    if (stale != MPI_COMM_NULL)
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, stale);
    iterations += !asks();
    return MPI_Barrier(epop_world());
}

static void misuse_behind_commit(const epop_window_t *w)
{
    if (is("before") || is("all"))
        MPI_Barrier(is("all") ? w->all : w->before);
    if (is("stale"))
        stale = w->before;
    if (is("leaver") && w->status == EPOP_LEAVING)
        MPI_Barrier(epop_world());
}

static int adapt(void *data)
{
    epop_window_t w;
    (void)data;
    if (is("begin") && rank_in(epop_world()) == 1)
        return 0;
    int error = epop_adapt_begin(&w);
    if (error || (error = epop_redist_replicated(&w, &iterations, 1, MPI_INT)))
        return error;
    if (is("commit") && rank_in(epop_world()) == 1)
        return 0;
    if (is("free"))
        MPI_Comm_free(&w.all);
    MPI_Comm mine;
    if (w.after != MPI_COMM_NULL) /* what comes from the new world may stay */
        MPI_Comm_dup(w.after, &mine);
    if (derived != MPI_COMM_NULL && !is("derived"))
        MPI_Comm_free(&derived);
    if (w.after != MPI_COMM_NULL)
        derived = mine;
    if (w.status == EPOP_LEAVING && held != MPI_DATATYPE_NULL && !is("held"))
        MPI_Type_free(&held);
    error = epop_adapt_commit();
    misuse_behind_commit(&w);
    return error;
}

static int more(void *data)
{
    (void)data;
    return iterations < 60;
}

static int end(void *data)
{
    (void)data;
    if (held != MPI_DATATYPE_NULL)
        MPI_Type_free(&held);
    if (derived != MPI_COMM_NULL)
        MPI_Comm_free(&derived);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("wrong_window");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "work", work, adapt, more);
    epop_add_rigid(program, "end", end, NULL);
    return program;
}
