/*
 * The interposition layer linked into a plain executable: MPI_COMM_WORLD before and after a change of the world, what
 * is inherited, and the functions of a job's life that the runtime may take over.
 */
#include "tests/mpi/world_checks.h"

#include "interpose/interpose.h"

static int check_before_any_change(void)
{
    int wrong = 0;
    EXPECT(interpose_idle() && interpose_world(MPI_COMM_WORLD) == MPI_COMM_WORLD);
    EXPECT(interpose_world(MPI_COMM_SELF) == MPI_COMM_SELF);
    return wrong + check_world(MPI_COMM_WORLD, NULL);
}

/* ---- Inheritance: attributes as at MPI_Comm_dup, and the error handler ---- */

static int deleted, copied_from_before;
static int keys[4]; /* copied as they are; not at all; by a function of its own; by one that fails */
static int value, other_value;

static int copy_other(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)key;
    copied_from_before = comm == *(MPI_Comm *)extra && in == &value;
    *(void **)out = &other_value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_fails(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 1;
    return MPI_ERR_OTHER;
}

static int count_deletes(MPI_Comm comm, int key, void *in, void *extra)
{
    (void)comm, (void)key, (void)in, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void *attribute(MPI_Comm comm, int key)
{
    void *found_value = NULL;
    int found = 0;
    MPI_Comm_get_attr(comm, key, &found_value, &found);
    return found ? found_value : NULL;
}

static void change_world(MPI_Comm *present, int color)
{
    MPI_Comm next;
    PMPI_Comm_split(*present, color, 0, &next);
    interpose_inherit(*present, next);
    if (*present != MPI_COMM_WORLD)
        PMPI_Comm_free(present);
    interpose_set_world(*present = next);
}

static int check_inheritance(MPI_Comm *present)
{
    int wrong = 0, freed_key;
    MPI_Errhandler handler;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_deletes, &keys[0], NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletes, &keys[1], NULL);
    MPI_Comm_create_keyval(copy_other, count_deletes, &keys[2], present);
    MPI_Comm_create_keyval(copy_fails, count_deletes, &keys[3], NULL);
    for (int i = 0; i < 4; i++)
        MPI_Comm_set_attr(MPI_COMM_WORLD, keys[i], &value);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_deletes, &freed_key, NULL);
    MPI_Comm_free_keyval(&freed_key);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    change_world(present, 0);
    EXPECT(deleted == 4 && copied_from_before);
    EXPECT(attribute(MPI_COMM_WORLD, keys[0]) == &value && attribute(MPI_COMM_WORLD, keys[2]) == &other_value);
    EXPECT(!attribute(MPI_COMM_WORLD, keys[1]) && !attribute(MPI_COMM_WORLD, keys[3]));
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    EXPECT(handler == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keys[0]);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keys[2]);
    for (int i = 0; i < 4; i++)
        MPI_Comm_free_keyval(&keys[i]);
    return wrong;
}

/* ---- The functions of the job's life ---- */

static int calls, abort_code;
static MPI_Comm aborted;

static int count_init(int *argc, char ***argv)
{
    return ++calls, !argc && !argv ? MPI_SUCCESS : MPI_ERR_ARG;
}

static int count_init_thread(int *argc, char ***argv, int required, int *provided)
{
    return *provided = required, count_init(argc, argv);
}

static int count_flag(int *flag)
{
    return ++calls, *flag = 42, MPI_SUCCESS;
}

static int count_finalize(void)
{
    return ++calls, MPI_SUCCESS;
}

static int note_abort(MPI_Comm comm, int code)
{
    return aborted = comm, abort_code = code, MPI_SUCCESS;
}

static int check_life(MPI_Comm present)
{
    int wrong = 0, provided = -1, initialized = 0, finalized = 0;
    MPI_Errhandler handler;
    interpose_life = (struct interpose_life){count_init, count_init_thread, count_flag, count_finalize,
                                             count_flag, note_abort,        NULL};
    EXPECT(MPI_Init(NULL, NULL) == MPI_SUCCESS && MPI_Init_thread(NULL, NULL, 3, &provided) == MPI_SUCCESS);
    EXPECT(provided == 3 && MPI_Finalize() == MPI_SUCCESS && calls == 3);
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    EXPECT(initialized == 42 && finalized == 42 && calls == 5);
    MPI_Abort(MPI_COMM_WORLD, 5);
    EXPECT(aborted == MPI_COMM_WORLD && abort_code == 5);
    MPI_Abort(MPI_COMM_SELF, 6);
    EXPECT(aborted == MPI_COMM_SELF && abort_code == 6);
    interpose_set_world(MPI_COMM_NULL);
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    EXPECT(handler == MPI_ERRORS_ARE_FATAL); /* what the program had set is gone with the program */
    MPI_Abort(MPI_COMM_WORLD, 7);
    EXPECT(aborted == MPI_COMM_WORLD && abort_code == 7);
    MPI_Errhandler_free(&handler);
    interpose_set_world(present);
    interpose_life = (struct interpose_life){0};
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    EXPECT(initialized == 1 && finalized == 0 && calls == 5);
    return wrong;
}

/* ---- Observers: the order of several, and how many there may be ---- */

static char order[16];

static void note_enter(void *context, enum interpose_function function, void *const arguments[])
{
    (void)function, (void)arguments;
    strcat(order, context);
}

static void note_leave(void *context, enum interpose_function function, void *const arguments[], int result)
{
    note_enter(context, function, arguments);
    strcat(order, result == MPI_SUCCESS ? "." : "!");
}

static int check_observers(void)
{
    int wrong = 0, rank;
    struct interpose_hooks hooks[9];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of the null communicator, from MPICH 4.2 on */
    for (int i = 0; i < 9; i++)
        hooks[i] = (struct interpose_hooks){note_enter, note_leave, i ? "b" : "a"};
    EXPECT(!epop__interpose_observe(&hooks[0]) && !epop__interpose_observe(&hooks[1]));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT(strcmp(order, "abb.a.") == 0);
    epop__interpose_unobserve(&hooks[0]);
    order[0] = 0;
    MPI_Comm_rank(MPI_COMM_NULL, &rank);
    EXPECT(strcmp(order, "bb!") == 0);
    epop__interpose_unobserve(&hooks[1]);
    EXPECT(interpose_idle());
    for (int i = 0; i < 9; i++)
        EXPECT(epop__interpose_observe(&hooks[i]) == (i < 8 ? 0 : -1));
    for (int i = 0; i < 9; i++)
        epop__interpose_unobserve(&hooks[i]);
    EXPECT(interpose_idle());
    return wrong;
}

static void call_of_epop(bool aside)
{
    int rank;
    INTERPOSE_CALL(epop_redist);
    {
        INTERPOSE_CALL(epop_redist_described);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (aside) {
            INTERPOSE_ASIDE;
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

static int in_function;

static void look(void *context, enum interpose_function function, void *const arguments[])
{
    (void)context, (void)function, (void)arguments;
    in_function = atomic_load(&interpose_present()->function) - 1;
}

static void look_again(void *context, enum interpose_function function, void *const arguments[], int result)
{
    (void)context, (void)function, (void)arguments, (void)result;
}

/* A call of EPOP's is one, whatever is called in it; but what is the program's is told beside it. */
static int check_own_calls(void)
{
    int wrong = 0;
    const struct interpose_hooks hooks = {note_enter, note_leave, "a"}, looks = {look, look_again, NULL};
    EXPECT(!epop__interpose_observe(&hooks) && !epop__interpose_observe(&looks));
    order[0] = 0;
    call_of_epop(false);
    EXPECT(strcmp(order, "aa.") == 0 && in_function == INTERPOSE_epop_redist);
    order[0] = 0;
    call_of_epop(true);
    EXPECT(strcmp(order, "aa.aa.aa.") == 0 && atomic_load(&interpose_present()->function) == 0);
    EXPECT(strcmp(epop__interpose_name(INTERPOSE_epop_redist), "epop_redist") == 0);
    epop__interpose_unobserve(&hooks);
    epop__interpose_unobserve(&looks);
    order[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    call_of_epop(true);
    EXPECT(interpose_idle() && !order[0] && atomic_load(&interpose_present()->function) == 0);
    return wrong;
}

/* The runtime's own: closest to MPI, beside as many others as there may be, and idle when it is off. */
static int check_watching(void)
{
    int wrong = 0, rank;
    static const struct interpose_hooks watch = {note_enter, note_leave, "w"};
    struct interpose_hooks hooks[8];
    interpose_watch(&watch);
    interpose_watch(&watch);
    order[0] = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT(strcmp(order, "ww.") == 0 && !interpose_idle());
    hooks[0] = (struct interpose_hooks){note_enter, note_leave, "a"};
    for (int i = 1; i < 8; i++)
        hooks[i] = (struct interpose_hooks){note_enter, note_leave, ""};
    for (int i = 0; i < 8; i++)
        EXPECT(!epop__interpose_observe(&hooks[i]));
    for (int i = 1; i < 8; i++)
        epop__interpose_unobserve(&hooks[i]);
    order[0] = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT(strcmp(order, "aww.a.") == 0);
    interpose_watch(NULL);
    order[0] = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT(strcmp(order, "aa.") == 0);
    epop__interpose_unobserve(&hooks[0]);
    EXPECT(interpose_idle());
    return wrong;
}

/* ---- Where a call comes from ---- */

static struct interpose_place place;
static uintptr_t came_from;

static void see_place(void *context, enum interpose_function function, void *const arguments[])
{
    (void)context, (void)function, (void)arguments;
    place = epop__interpose_place();
}

#define CALLER ((uintptr_t)__builtin_return_address(0))

static __attribute__((noinline)) void call_mpi(void)
{
    came_from = CALLER;
    MPI_Barrier(MPI_COMM_SELF);
    __asm__ volatile("" ::: "memory"); /* so that the call is not the last thing that it does */
}

static __attribute__((noinline)) void call_mpi_elsewhere(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    came_from = CALLER;
    __asm__ volatile("" ::: "memory");
}

/* How far apart a call of MPI and its caller are on the stack differs from one call to the next. */
static __attribute__((noinline)) int call_with_room(size_t size)
{
    volatile char room[size];
    room[size - 1] = 1;
    came_from = CALLER;
    MPI_Barrier(MPI_COMM_SELF);
    return room[size - 1];
}

static int check_places(void)
{
    int wrong = 0;
#if defined __x86_64__ || defined __aarch64__
    const bool knows_callers = true;
#else
    const bool knows_callers = false;
#endif
    static const struct interpose_hooks hooks = {see_place, look_again, NULL};
    EXPECT(!epop__interpose_observe(&hooks));
    uintptr_t call = 0;
    for (int i = 0; i < 20; i++) {
        call_mpi();
        EXPECT(!i || place.call == call);
        EXPECT(knows_callers ? place.caller == came_from : !place.caller);
        call = place.call;
    }
    call_mpi();
    EXPECT(call && place.call == call);
    EXPECT(!knows_callers || place.caller == came_from);
    call_mpi_elsewhere();
    EXPECT(place.call != call);
    for (size_t size = 1; size < 4000; size += 100) {
        wrong += !call_with_room(size);
        EXPECT(size < 1000 || !place.caller || place.caller == came_from);
    }
    epop__interpose_unobserve(&hooks);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Comm present = MPI_COMM_WORLD;
    int rank, wrong, all;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    wrong = check_before_any_change();
    change_world(&present, rank % 2);
    wrong += check_world(present, NULL) + check_inheritance(&present);
    change_world(&present, 0);
    wrong += check_world(present, NULL) + check_observers() + check_own_calls() + check_watching() + check_places() +
             check_life(present);
    interpose_set_world(MPI_COMM_WORLD);
    PMPI_Comm_free(&present);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("test_interpose: %d wrong\n", all);
    MPI_Finalize();
    return all != 0;
}
