/*
 * The one layer between a program and MPI: the generated wrappers (generate.py) put the present world in the place of
 * MPI_COMM_WORLD, and tell those who observe when an MPI function begins and ends. Its state is part of libepop; the
 * wrappers are part of the epop executable and of libepop_mpi, which programs meet instead of MPI's own functions.
 */
#ifndef EPOP_INTERPOSE_H
#define EPOP_INTERPOSE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "epop/visibility.h"
#include "interpose/functions.h"

/* What every call of MPI looks at. Exported, as all names here with two underscores, for the wrappers alone. */
struct interpose {
    _Atomic(MPI_Comm) world; /* what MPI_COMM_WORLD means: itself as long as nothing was adapted */
    atomic_int observers;    /* how many, and INTERPOSE_WATCHED if the runtime looks, too */
};
extern EPOP_API struct interpose epop__interpose;

#define INTERPOSE_WATCHED 0x10000

static inline MPI_Comm interpose_world(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD ? atomic_load_explicit(&epop__interpose.world, memory_order_relaxed) : comm;
}

static inline bool interpose_idle(void)
{
    return __builtin_expect(!atomic_load_explicit(&epop__interpose.observers, memory_order_relaxed), 1);
}

/*
 * What a thread does in MPI, for other threads to look at: always kept, as two stores and no look at the clock. Not
 * where nothing is waited for and a call takes a nanosecond (LOCAL in generate.py).
 */
struct interpose_present {
    _Atomic uint64_t calls; /* begun so far */
    _Atomic uint64_t polls; /* likewise of those that look whether something is there (POLLS in generate.py) */
    _Atomic int function;   /* 1 + enum interpose_function; 0: in none */
};
extern EPOP_API _Thread_local
    __attribute__((tls_model("initial-exec"))) struct interpose_present epop__interpose_present;

static inline __attribute__((always_inline)) int interpose_count(_Atomic uint64_t *counter,
                                                                 enum interpose_function function)
{
    struct interpose_present *present = &epop__interpose_present;
    int outer = atomic_load_explicit(&present->function, memory_order_relaxed);
    uint64_t calls = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, calls + 1, memory_order_relaxed);
    atomic_store_explicit(&present->function, (int)function + 1, memory_order_relaxed);
    return outer;
}

/* Returns what interpose_end wants: MPI may call the program back, which calls MPI. */
static inline __attribute__((always_inline)) int interpose_begin(enum interpose_function function)
{
    return interpose_count(&epop__interpose_present.calls, function);
}

static inline __attribute__((always_inline)) int interpose_begin_poll(enum interpose_function function)
{
    return interpose_count(&epop__interpose_present.polls, function);
}

static inline void interpose_end(int outer)
{
    atomic_store_explicit(&epop__interpose_present.function, outer, memory_order_relaxed);
}

/* ---- Calls of EPOP's own ------------------------------------------------------------------ */

/*
 * A function of <epop/...> that waits for other ranks is told to observers as one of MPI is, by its name and without
 * arguments: INTERPOSE_CALL(epop_redist); comes first in it, and holds until it returns. The list of them is in
 * generate.py. Of calls in a call the outer one counts.
 */
struct interpose_call {
    int outer;
    enum interpose_function function;
    bool told;
};
static inline struct interpose_call interpose_call_begin(enum interpose_function function, const void *site);
static inline void interpose_call_end(const struct interpose_call *call);
#define INTERPOSE_CALL(name)                                                                                           \
    struct interpose_call interpose_call __attribute__((cleanup(interpose_call_end), unused)) =                        \
        interpose_call_begin(INTERPOSE_##name, __builtin_return_address(0))

/*
 * What such a call has the program do, by its blocks or the functions of its attributes, is the program's own: there
 * the call is left, and entered again where INTERPOSE_ASIDE; goes out of scope. Not for functions that are as the
 * operation of a reduction, and called for each element.
 */
struct interpose_aside {
    int function, depth, own;
};
EPOP_API struct interpose_aside epop__interpose_aside(void);
EPOP_API void epop__interpose_resume(const struct interpose_aside *aside);
#define INTERPOSE_ASIDE                                                                                                \
    struct interpose_aside interpose_aside __attribute__((cleanup(epop__interpose_resume), unused)) =                  \
        epop__interpose_aside()

/* ---- Observers ------------------------------------------------------------------------- */

/*
 * Called in the thread that calls MPI, around every MPI function that a program calls; not for what runs inside of
 * one (reduction operations, attribute callbacks, what a hook itself calls), nor for the runtime's own use of MPI.
 * arguments[i] points to the i-th parameter of the function's prototype, with the present world already in the
 * place of MPI_COMM_WORLD (arguments is NULL for a function of EPOP's); result is the error number (MPI_SUCCESS for
 * MPI_Wtime and the few others that return something else, and for EPOP's). Functions that may be called before
 * MPI_Init are among them. Every enter is followed by a leave, unless the process ends.
 */
struct interpose_hooks {
    void (*enter)(void *context, enum interpose_function function, void *const arguments[]);
    void (*leave)(void *context, enum interpose_function function, void *const arguments[], int result);
    void *context;
};

/* The hooks, both mandatory, must stay where they are until they are taken off. Of several, leave is called in the
 * opposite order. Both while no other thread calls MPI; -1 when there are too many. */
EPOP_API int epop__interpose_observe(const struct interpose_hooks *hooks);
EPOP_API void epop__interpose_unobserve(const struct interpose_hooks *hooks);

/* "MPI_Send" */
EPOP_API const char *epop__interpose_name(enum interpose_function function);

/*
 * A letter per parameter: c a communicator; C, T, G, O, W, I, S a pointer to a communicator, datatype, group,
 * operation, window, info, session; R a pointer to a request, A an array of requests; a dot for anything else.
 */
EPOP_API const char *epop__interpose_parameters(enum interpose_function function);

/* c a collective operation; p point-to-point, o one-sided, f on a file by one process; a dot for anything else, and for
 * what only looks whether something is there. */
static inline char interpose_kind(enum interpose_function function)
{
    extern EPOP_API const char epop__interpose_kinds[];
    return epop__interpose_kinds[function];
}

/* For the wrappers. site: where the program goes on after the call. */
EPOP_API void epop__interpose_enter(enum interpose_function function, void *const arguments[], const void *site);
EPOP_API void epop__interpose_leave(enum interpose_function function, void *const arguments[], int result);

static inline struct interpose_call interpose_call_begin(enum interpose_function function, const void *site)
{
    struct interpose_call call = {interpose_begin(function), function, !interpose_idle()};
    if (call.told)
        epop__interpose_enter(function, NULL, site);
    return call;
}

static inline void interpose_call_end(const struct interpose_call *call)
{
    if (call->told)
        epop__interpose_leave(call->function, NULL, MPI_SUCCESS);
    interpose_end(call->outer);
}

/* It is over before the function returns, which has the program do something at its end. */
static inline void interpose_call_over(struct interpose_call *call)
{
    interpose_call_end(call);
    call->told = false;
}

/*
 * Where the call comes from that the calling thread's observers are being told of: the address behind the call, in the
 * program (of a Fortran program in that, not in MPI's Fortran library), and the one behind the call of the function
 * that it is in; 0: not known. For one thread alone, whichever asks first.
 */
struct interpose_place {
    uintptr_t call, caller;
};
EPOP_API struct interpose_place epop__interpose_place(void);

/* Of the calling thread; for other threads as long as it lives. */
static inline const struct interpose_present *interpose_present(void)
{
    return &epop__interpose_present;
}

/* ---- For the runtime --------------------------------------------------------------------- */

/*
 * From here on MPI_COMM_WORLD means `comm`; MPI_COMM_NULL for a process that is in no world, where its use is an
 * error. A communicator without a name gets the name MPI_COMM_WORLD. Local.
 */
void interpose_set_world(MPI_Comm comm);
/* It is freed now: until there is another one, MPI may give its handle to a communicator of the program's. */
void interpose_world_goes(void);
bool interpose_world_is_going(void);

/*
 * What the world after an adaptation takes over from the one before, both on this process, as MPI has it for
 * MPI_Comm_dup: the error handler, and the attributes whose copy function says so. Local.
 */
void interpose_inherit(MPI_Comm before, MPI_Comm after);

/* The attributes of the world before are deleted here, in this thread, though it is freed in another one. Local. */
void interpose_abandon(MPI_Comm before);

/*
 * The runtime's own observer, the one that can come and go while other threads call MPI: so its enter may come without
 * a leave, and a leave without its enter. Called closest to MPI, so that what others do there is not MPI's time. NULL:
 * none from here on. The hooks stay valid for ever. Any one thread.
 */
void interpose_watch(const struct interpose_hooks *hooks);

/* What the runtime does in the place of these functions; NULL: MPI's own. */
struct interpose_life {
    int (*init)(int *argc, char ***argv);
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*initialized)(int *flag);
    int (*finalize)(void);
    int (*finalized)(int *flag);
    int (*abort)(MPI_Comm comm, int code);
    int (*exit)(
        int status); /* of a _exit: what the process ends with; in any thread or signal handler, or in a child */
};
extern struct interpose_life interpose_life;

#endif
