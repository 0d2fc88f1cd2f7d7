/* The observers of MPI calls. One that is called while MPI runs, or another observer, is not told of again. */
#include "interpose/interpose.h"

#define OBSERVERS_MAX 8

/* Generated. */
extern const char *const interpose_names[INTERPOSE_FUNCTIONS];
extern const char *const interpose_parameters[INTERPOSE_FUNCTIONS];

static const struct interpose_hooks *observers[OBSERVERS_MAX];
static _Thread_local int depth;
_Thread_local struct interpose_present epop__interpose_present;

int epop__interpose_observe(const struct interpose_hooks *hooks)
{
    int count = atomic_load(&epop__interpose.observers);
    if (count == OBSERVERS_MAX)
        return -1;
    observers[count] = hooks;
    atomic_store(&epop__interpose.observers, count + 1);
    return 0;
}

void epop__interpose_unobserve(const struct interpose_hooks *hooks)
{
    int kept = 0, count = atomic_load(&epop__interpose.observers);
    for (int i = 0; i < count; i++)
        if (observers[i] != hooks)
            observers[kept++] = observers[i];
    atomic_store(&epop__interpose.observers, kept);
}

const char *epop__interpose_name(enum interpose_function function)
{
    return interpose_names[function];
}

const char *epop__interpose_parameters(enum interpose_function function)
{
    return interpose_parameters[function];
}

void epop__interpose_enter(enum interpose_function function, void *const arguments[])
{
    if (depth++)
        return;
    int count = atomic_load(&epop__interpose.observers);
    for (int i = 0; i < count; i++)
        observers[i]->enter(observers[i]->context, function, arguments);
}

void epop__interpose_leave(enum interpose_function function, void *const arguments[], int result)
{
    if (depth == 1)
        for (int i = atomic_load(&epop__interpose.observers) - 1; i >= 0; i--)
            observers[i]->leave(observers[i]->context, function, arguments, result);
    depth--;
}
