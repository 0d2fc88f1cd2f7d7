/* The observers of MPI calls. One that is called while MPI runs, or another observer, is not told of again. */
#include "interpose/interpose.h"

#include "interpose/origin.h"

#define OBSERVERS_MAX 8

/* All that a wrapper looks at; the world in it is set by world.c. */
struct interpose epop__interpose = {.world = MPI_COMM_WORLD};

/* Generated. */
extern const char *const interpose_names[INTERPOSE_FUNCTIONS];
extern const char *const interpose_parameters[INTERPOSE_FUNCTIONS];

static const struct interpose_hooks *observers[OBSERVERS_MAX];
static _Atomic(const struct interpose_hooks *) watcher;
static _Thread_local __attribute__((tls_model("initial-exec"))) int depth;
/* 1 + the function of EPOP's that was told as entered; 0: none, or one of MPI's */
static _Thread_local __attribute__((tls_model("initial-exec"))) int own;
_Thread_local struct interpose_present epop__interpose_present;
_Thread_local struct interpose_origin interpose_origin;

static int count_observers(void)
{
    return atomic_load(&epop__interpose.observers) & ~INTERPOSE_WATCHED;
}

int epop__interpose_observe(const struct interpose_hooks *hooks)
{
    int count = count_observers();
    if (count == OBSERVERS_MAX)
        return -1;
    observers[count] = hooks;
    atomic_fetch_add(&epop__interpose.observers, 1);
    return 0;
}

void epop__interpose_unobserve(const struct interpose_hooks *hooks)
{
    int kept = 0, count = count_observers();
    for (int i = 0; i < count; i++)
        if (observers[i] != hooks)
            observers[kept++] = observers[i];
    atomic_fetch_sub(&epop__interpose.observers, count - kept);
}

void interpose_watch(const struct interpose_hooks *hooks)
{
    atomic_store(&watcher, hooks);
    if (hooks)
        atomic_fetch_or(&epop__interpose.observers, INTERPOSE_WATCHED);
    else
        atomic_fetch_and(&epop__interpose.observers, ~INTERPOSE_WATCHED);
}

const char *epop__interpose_name(enum interpose_function function)
{
    return interpose_names[function];
}

const char *epop__interpose_parameters(enum interpose_function function)
{
    return interpose_parameters[function];
}

static void enter(enum interpose_function function, void *const arguments[])
{
    own = function >= INTERPOSE_OWN ? (int)function + 1 : 0;
    int count = count_observers();
    for (int i = 0; i < count; i++)
        observers[i]->enter(observers[i]->context, function, arguments);
    const struct interpose_hooks *watching = atomic_load_explicit(&watcher, memory_order_acquire);
    if (watching)
        watching->enter(watching->context, function, arguments);
}

void epop__interpose_enter(enum interpose_function function, void *const arguments[], const void *site)
{
    if (depth++)
        return;
    interpose_origin.site = (uintptr_t)site;
    interpose_origin.frame = (uintptr_t)__builtin_frame_address(0);
    enter(function, arguments);
}

static void leave(enum interpose_function function, void *const arguments[], int result)
{
    const struct interpose_hooks *watching = atomic_load_explicit(&watcher, memory_order_acquire);
    if (watching)
        watching->leave(watching->context, function, arguments, result);
    for (int i = count_observers() - 1; i >= 0; i--)
        observers[i]->leave(observers[i]->context, function, arguments, result);
    own = 0;
}

void epop__interpose_leave(enum interpose_function function, void *const arguments[], int result)
{
    if (depth == 1)
        leave(function, arguments, result);
    depth--;
}

/* ---- The program's own, in a call of EPOP's ---- */

struct interpose_aside epop__interpose_aside(void)
{
    struct interpose_aside aside = {atomic_load_explicit(&epop__interpose_present.function, memory_order_relaxed),
                                    depth, own};
    if (aside.function > INTERPOSE_OWN)
        interpose_end(0);
    if (aside.own) {
        leave((enum interpose_function)(own - 1), NULL, MPI_SUCCESS);
        depth = 0;
    }
    return aside;
}

void epop__interpose_resume(const struct interpose_aside *aside)
{
    if (aside->own) {
        enter((enum interpose_function)(aside->own - 1), NULL);
        depth = aside->depth;
    }
    interpose_end(aside->function);
}
