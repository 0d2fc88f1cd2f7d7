/*
 * The observer: reads the arguments of MPI's functions by the letters of their parameters. In MPICH handles are
 * numbers, and one that was freed is given out again; communicators of a window that is over are remembered in
 * worlds.c.
 */
#include "driver/debug/observe.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "driver/debug/handles.h"
#include "driver/debug/worlds.h"
#include "runtime/base/array.h"

_Static_assert(sizeof(MPI_Comm) == sizeof(int) && sizeof(MPI_Request) == sizeof(int), "handles are numbers");

static struct debug *debug;

/* What a function that may free had for arguments. One call per thread is observed at a time. */
static _Thread_local int freed;
static _Thread_local struct {
    int count;
    size_t room;
    int *values;
} requests;

/* ---- Which functions free --------------------------------------------------------------- */

static const struct {
    enum interpose_function function;
    enum handle_kind kind;
} freeing[] = {
    {INTERPOSE_MPI_Comm_free, HANDLE_COMM},
    {INTERPOSE_MPI_Comm_disconnect, HANDLE_COMM},
    {INTERPOSE_MPI_Type_free, HANDLE_TYPE},
    {INTERPOSE_MPI_Group_free, HANDLE_GROUP},
    {INTERPOSE_MPI_Op_free, HANDLE_OP},
    {INTERPOSE_MPI_Win_free, HANDLE_WIN},
    {INTERPOSE_MPI_Info_free, HANDLE_INFO},
    {INTERPOSE_MPI_Request_free, HANDLE_REQUEST},
    {INTERPOSE_MPI_Session_finalize, HANDLE_SESSION},
};
#define FREEING (int)(sizeof freeing / sizeof *freeing)

static int find_freeing(enum interpose_function function)
{
    int i = 0;
    while (i < FREEING && freeing[i].function != function)
        i++;
    return i;
}

/* Those that give back, or take, a handle without making one. Those for Fortran go by their names: not every MPI has
 * them. */
static bool makes_nothing(enum interpose_function function)
{
    static const enum interpose_function others[] = {INTERPOSE_MPI_Comm_get_parent, INTERPOSE_MPI_Type_commit,
                                                     INTERPOSE_MPI_Type_match_size};
    static const char fortran[] = "MPI_Type_create_f90_";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] == function)
            return true;
    return find_freeing(function) < FREEING || !strncmp(epop__interpose_name(function), fortran, sizeof fortran - 1);
}

/* ---- Arguments ---------------------------------------------------------------------------- */

/* The handles behind a parameter that is a pointer or an array. */
static int *handles_at(void *const arguments[], int i)
{
    return *(int **)arguments[i];
}

/* Where the requests stand that a function may complete, and how many. A function that starts one has its request
 * last and other parameters before it. */
static int *completed_requests(const char *letters, void *const arguments[], int *count)
{
    const char *array = strchr(letters, 'A');
    *count = 0;
    if (letters[0] == 'R')
        *count = 1;
    else if (array == letters + 1)
        *count = *(int *)arguments[0];
    return *count ? handles_at(arguments, array ? 1 : 0) : NULL;
}

static void keep_requests(const char *letters, void *const arguments[])
{
    int *now = completed_requests(letters, arguments, &requests.count);
    if (!now || array_reserve(&requests.values, &requests.room, (size_t)requests.count, sizeof *requests.values))
        requests.count = 0;
    else
        memcpy(requests.values, now, (size_t)requests.count * sizeof *now);
}

/* ---- Before and behind a call ---------------------------------------------------------------- */

static void enter(void *context, enum interpose_function function, void *const arguments[])
{
    const char *letters = epop__interpose_parameters(function);
    int i = find_freeing(function);
    (void)context;
    for (int p = 0; letters[p]; p++)
        if (letters[p] == 'c')
            worlds_check_use(debug, function, *(MPI_Comm *)arguments[p]);
    freed = i < FREEING && handles_at(arguments, 0) ? *handles_at(arguments, 0) : 0;
    if (i < FREEING && freeing[i].kind == HANDLE_COMM)
        worlds_check_free(debug, function, freed);
    keep_requests(letters, arguments);
}

static int root_of_call(const char *letters, void *const arguments[])
{
    const char *comm = strchr(letters, 'c');
    return comm ? worlds_root(*(MPI_Comm *)arguments[comm - letters]) : ROOT_NONE;
}

static bool is_null(enum handle_kind kind, int value)
{
    static const int null[HANDLE_KINDS] = {MPI_COMM_NULL, MPI_REQUEST_NULL, MPI_DATATYPE_NULL, MPI_GROUP_NULL,
                                           MPI_OP_NULL,   MPI_WIN_NULL,     MPI_INFO_NULL,     MPI_SESSION_NULL};
    return value == null[kind] || (kind == HANDLE_GROUP && value == MPI_GROUP_EMPTY);
}

static void note_new(enum interpose_function function, const char *letters, void *const arguments[])
{
    static const char kinds[] = "CRTGOWIS";
    for (int p = 0; letters[p]; p++) {
        const char *kind = strchr(kinds, letters[p]);
        int *made = kind ? handles_at(arguments, p) : NULL;
        if (!made || (letters[p] == 'R' && p == 0) || is_null((enum handle_kind)(kind - kinds), *made))
            continue;
        if (letters[p] == 'C')
            worlds_forget(*made);
        struct place place = debug_place(debug);
        handles_add(&place, (enum handle_kind)(kind - kinds), *made, root_of_call(letters, arguments), function);
    }
}

/* Sets of more than this process are those of a world; so is what is made of them. */
static void note_set(enum interpose_function function, void *const arguments[])
{
    if (function == INTERPOSE_MPI_Group_from_session_pset) {
        const char *set = *(const char **)arguments[1];
        bool alone = !strcasecmp(set, "mpi://SELF");
        handles_set(HANDLE_GROUP, *handles_at(arguments, 2),
                    alone ? ROOT_NONE : worlds_root(interpose_world(MPI_COMM_WORLD)), set);
    } else if (function == INTERPOSE_MPI_Comm_create_from_group) {
        struct handle group;
        if (handles_find(HANDLE_GROUP, *(int *)arguments[0], &group) && group.set[0])
            handles_set(HANDLE_COMM, *handles_at(arguments, 4), group.root, group.set);
    }
}

static void note_completed(const char *letters, void *const arguments[])
{
    int count;
    const int *now = completed_requests(letters, arguments, &count);
    for (int i = 0; i < requests.count; i++)
        if (requests.values[i] != MPI_REQUEST_NULL && now[i] == MPI_REQUEST_NULL)
            handles_remove(HANDLE_REQUEST, requests.values[i]);
    requests.count = 0;
}

static void leave(void *context, enum interpose_function function, void *const arguments[], int result)
{
    const char *letters = epop__interpose_parameters(function);
    int i = find_freeing(function);
    (void)context;
    note_completed(letters, arguments);
    if (result != MPI_SUCCESS)
        return;
    if (i < FREEING && freeing[i].kind != HANDLE_REQUEST)
        handles_remove(freeing[i].kind, freed);
    if (!makes_nothing(function))
        note_new(function, letters, arguments);
    note_set(function, arguments);
    if (function == INTERPOSE_MPI_Comm_set_attr || function == INTERPOSE_MPI_Attr_put)
        worlds_note_attribute();
}

static const struct interpose_hooks hooks = {.enter = enter, .leave = leave};

void observe_start(struct debug *state)
{
    debug = state;
    worlds_start(state);
    epop__interpose_observe(&hooks);
}

void observe_stop(void)
{
    if (!debug)
        return;
    epop__interpose_unobserve(&hooks);
    worlds_stop();
    handles_free();
    debug = NULL;
}

void observe_reset(void)
{
    handles_reset(debug->place.position.program->size);
    worlds_reset();
}
