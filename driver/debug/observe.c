/*
 * Watches the program's MPI calls by the letters of their parameters: what they make and free, and who uses a
 * communicator that is gone. A handle that was freed is given out again, so the communicators of windows that are over
 * are remembered.
 */
#include "driver/debug/observe.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>

#include "driver/debug/collectives.h"
#include "driver/debug/handles.h"
#include "epop/elastic.h"
#include "runtime/base/array.h"
#include "runtime/world/world.h"

_Static_assert(sizeof(MPI_Comm) == sizeof(MPI_Request) && sizeof(MPI_Comm) == sizeof(MPI_Session), "handles are alike");

static struct debug *debug; /* NULL: nothing is observed */

/* ---- Worlds that come and go -------------------------------------------------------------------- */

/*
 * Worlds are numbered from 0 in each life of a process. What a commit frees may be given out again by MPI under the
 * same handle, and a program that still uses the old one would talk to somebody else, unnoticed; so these handles are
 * kept occupied for a while, by communicators of this process alone.
 */

enum { DEAD_MAX = 24, TRIES = 32 };

static atomic_bool attributes; /* have been set */
static atomic_bool has_left;   /* this process has left the world */

/* The program's own thread alone writes what follows; its others make, free and use communicators meanwhile. */
static pthread_mutex_t worlds_lock = PTHREAD_MUTEX_INITIALIZER;
static int present_world; /* the present world's number */
static bool window_open;  /* from its begin to its commit */
static bool world_goes;   /* what it began with is being freed */
static epop_window_t window;

static struct dead {
    MPI_Comm comm;
    const char *name;
    MPI_Comm occupied; /* the same, or MPI_COMM_NULL if the handle could not be had */
    bool gone;         /* it has been freed */
} dead[DEAD_MAX];
static int dead_count;

/* ---- Worlds: which one a communicator comes from ------------------------------------------------ */

static const char *name_in_window(MPI_Comm comm)
{
    return comm == window.before ? "before" : comm == window.after ? "after" : comm == window.all ? "all" : "intercomm";
}

static bool of_window(MPI_Comm comm)
{
    return window_open && comm != MPI_COMM_NULL &&
           (comm == window.before || comm == window.after || comm == window.all || comm == window.intercomm);
}

/* The number of the world that a communicator comes from, or ROOT_NONE. */
static int worlds_root(MPI_Comm comm)
{
    struct handle made;
    int root = ROOT_NONE;
    pthread_mutex_lock(&worlds_lock);
    if (window_open && comm == window.after && comm != MPI_COMM_NULL)
        root = present_world + 1;
    else if (of_window(comm) || (comm == interpose_world(MPI_COMM_WORLD) && !world_goes))
        root = present_world;
    pthread_mutex_unlock(&worlds_lock);
    if (root != ROOT_NONE)
        return root;
    return handles_find(HANDLE_COMM, (uintptr_t)comm, &made) ? made.root : ROOT_NONE;
}

/* ---- Worlds: communicators that are gone -------------------------------------------------------- */

static void drop_dead(int i)
{
    if (dead[i].occupied != MPI_COMM_NULL)
        PMPI_Comm_free(&dead[i].occupied);
    memmove(&dead[i], &dead[i + 1], (size_t)(--dead_count - i) * sizeof *dead);
}

/* A new communicator has this handle. */
static void worlds_forget(MPI_Comm comm)
{
    pthread_mutex_lock(&worlds_lock);
    for (int i = dead_count - 1; i >= 0; i--)
        if (dead[i].comm == comm && dead[i].occupied == MPI_COMM_NULL)
            drop_dead(i);
    pthread_mutex_unlock(&worlds_lock);
}

static void bury_communicator(MPI_Comm comm, const char *name)
{
    if (comm == MPI_COMM_NULL)
        return;
    if (dead_count == DEAD_MAX)
        drop_dead(0);
    dead[dead_count++] = (struct dead){.comm = comm, .name = name, .occupied = MPI_COMM_NULL};
}

static struct dead *find_dead(MPI_Comm comm)
{
    for (int i = 0; i < dead_count; i++)
        if (dead[i].comm == comm)
            return &dead[i];
    return NULL;
}

/* Its name, in another thread too. */
static bool is_dead(MPI_Comm comm, const char **name)
{
    pthread_mutex_lock(&worlds_lock);
    const struct dead *found = find_dead(comm);
    bool gone = found && found->gone;
    if (gone)
        *name = found->name;
    pthread_mutex_unlock(&worlds_lock);
    return gone;
}

/* MPICH gives out next what was freed last, so a few tries do. Local. */
static void occupy_dead_handles(void)
{
    MPI_Comm other[TRIES];
    int others = 0;
    for (int tries = 0; tries < TRIES; tries++) {
        MPI_Comm comm = MPI_COMM_NULL;
        if (PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm) != MPI_SUCCESS)
            break;
        struct dead *taken = find_dead(comm);
        if (taken)
            taken->occupied = comm;
        else
            other[others++] = comm;
    }
    while (others > 0)
        PMPI_Comm_free(&other[--others]);
}

/* An MPI call uses, or frees, this communicator. */
static void worlds_check_use(const struct debug *d, enum interpose_function function, MPI_Comm comm)
{
    const char *name = NULL;
    if (!is_dead(comm, &name) && (!has_left || comm != MPI_COMM_NULL || function == INTERPOSE_MPI_Intercomm_create))
        return;
    struct place place = contract_place(d);
    if (name)
        contract_breach(&place.position,
                        "%s calls %s with the communicator '%s' of a window that is over; epop_adapt_commit freed it",
                        contract_block_text(place.block), epop__interpose_name(function), name);
    else
        contract_breach(&place.position,
                        "%s calls %s behind epop_adapt_commit, but this rank leaves: there is no world for it any "
                        "more",
                        contract_block_text(place.block), epop__interpose_name(function));
}

static void worlds_check_free(const struct debug *d, enum interpose_function function, MPI_Comm comm)
{
    const char *name;
    pthread_mutex_lock(&worlds_lock);
    name = of_window(comm) ? name_in_window(comm) : NULL;
    pthread_mutex_unlock(&worlds_lock);
    if (!name) {
        worlds_check_use(d, function, comm);
        return;
    }
    struct place place = contract_place(d);
    contract_breach(&place.position, "%s frees the communicator '%s' of the window, which belongs to EPOP",
                    contract_block_text(place.block), name);
}

/* The program keeps attributes on communicators: what they hold may be freed with these. */
static void worlds_note_attribute(void)
{
    attributes = true;
}

/* ---- Worlds: the window ------------------------------------------------------------------------- */

static void window_begun(const epop_window_t *w)
{
    const MPI_Comm made[] = {w->before, w->after, w->all, w->intercomm};
    pthread_mutex_lock(&worlds_lock);
    window = *w;
    window_open = true;
    pthread_mutex_unlock(&worlds_lock);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        worlds_forget(made[i]);
}

/* What an attribute of the old world holds is freed with it, so with attributes it can only be looked at behind that.
 * From here on another thread may be given a handle that the commit frees. */
static void window_commits(const epop_window_t *w)
{
    contract_claim_in_window(debug, "it calls epop_adapt_commit");
    if (!attributes)
        handles_check_world(debug, present_world, "before");
    pthread_mutex_lock(&worlds_lock);
    window_open = false;
    world_goes = true;
    bury_communicator(w->before, "before");
    bury_communicator(w->all, "all");
    bury_communicator(w->intercomm, "intercomm");
    pthread_mutex_unlock(&worlds_lock);
}

static void window_committed(const epop_window_t *w)
{
    handles_check_world(debug, present_world, "after");
    has_left = w->status == EPOP_LEAVING;
    pthread_mutex_lock(&worlds_lock);
    world_goes = false;
    present_world++;
    for (int i = 0; i < dead_count; i++)
        dead[i].gone = true;
    if (!has_left)
        occupy_dead_handles();
    pthread_mutex_unlock(&worlds_lock);
}

/* ---- Worlds: start and end ---------------------------------------------------------------------- */

static const struct window_watch window_hooks = {
    .begun = window_begun, .commits = window_commits, .committed = window_committed};

static void worlds_start(struct debug *state)
{
    debug = state;
    epop__watch_window(&window_hooks);
}

static void worlds_reset(void)
{
    pthread_mutex_lock(&worlds_lock);
    while (dead_count > 0)
        drop_dead(0);
    present_world = 0;
    window_open = world_goes = false;
    pthread_mutex_unlock(&worlds_lock);
    attributes = has_left = false;
}

static void worlds_stop(void)
{
    worlds_reset();
    epop__watch_window(NULL);
}

/* ---- Calls of MPI: which of them free ----------------------------------------------------------- */

/* What a function that may free had for arguments. One call per thread is observed at a time. */
static _Thread_local uintptr_t freed;
static _Thread_local struct {
    int count;
    size_t room;
    uintptr_t *values;
} requests;

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

/* Not every MPI has the older one. */
static bool sets_attribute(enum interpose_function function)
{
    return function == INTERPOSE_MPI_Comm_set_attr || !strcmp(epop__interpose_name(function), "MPI_Attr_put");
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

/* ---- Calls of MPI: arguments -------------------------------------------------------------------- */

/* The handles, of whatever kind, behind a parameter that is a pointer or an array; NULL: it is. */
static const void *handles_at(void *const arguments[], int i)
{
    return *(const void **)arguments[i];
}

static uintptr_t handle_of(const void *handles, int i)
{
    MPI_Comm handle;
    memcpy(&handle, (const char *)handles + (size_t)i * sizeof handle, sizeof handle);
    return (uintptr_t)handle;
}

/* Where the requests stand that a function may complete, and how many. A function that starts one has its request
 * last and other parameters before it. */
static const void *completed_requests(const char *letters, void *const arguments[], int *count)
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
    const void *now = completed_requests(letters, arguments, &requests.count);
    if (!now || array_reserve(&requests.values, &requests.room, (size_t)requests.count, sizeof *requests.values))
        requests.count = 0;
    for (int r = 0; r < requests.count; r++)
        requests.values[r] = handle_of(now, r);
}

/* ---- Calls of MPI: before and behind ------------------------------------------------------------ */

static void enter_mpi(void *context, enum interpose_function function, void *const arguments[])
{
    const char *letters = epop__interpose_parameters(function);
    int i = find_freeing(function);
    (void)context;
    for (int p = 0; letters[p]; p++)
        if (letters[p] == 'c')
            worlds_check_use(debug, function, *(MPI_Comm *)arguments[p]);
    freed = i < FREEING && handles_at(arguments, 0) ? handle_of(handles_at(arguments, 0), 0) : 0;
    if (i < FREEING && freeing[i].kind == HANDLE_COMM)
        worlds_check_free(debug, function, (MPI_Comm)freed);
    keep_requests(letters, arguments);
    collectives_check(debug, function, arguments);
}

static int root_of_call(const char *letters, void *const arguments[])
{
    const char *comm = strchr(letters, 'c');
    return comm ? worlds_root(*(MPI_Comm *)arguments[comm - letters]) : ROOT_NONE;
}

static bool is_null_handle(enum handle_kind kind, uintptr_t value)
{
    const uintptr_t null[HANDLE_KINDS] = {(uintptr_t)MPI_COMM_NULL,     (uintptr_t)MPI_REQUEST_NULL,
                                          (uintptr_t)MPI_DATATYPE_NULL, (uintptr_t)MPI_GROUP_NULL,
                                          (uintptr_t)MPI_OP_NULL,       (uintptr_t)MPI_WIN_NULL,
                                          (uintptr_t)MPI_INFO_NULL,     (uintptr_t)MPI_SESSION_NULL};
    return value == null[kind] || (kind == HANDLE_GROUP && value == (uintptr_t)MPI_GROUP_EMPTY);
}

static void note_new(enum interpose_function function, const char *letters, void *const arguments[])
{
    static const char kinds[] = "CRTGOWIS";
    for (int p = 0; letters[p]; p++) {
        const char *kind = strchr(kinds, letters[p]);
        const void *at = kind ? handles_at(arguments, p) : NULL;
        uintptr_t made = at ? handle_of(at, 0) : 0;
        if (!at || (letters[p] == 'R' && p == 0) || is_null_handle((enum handle_kind)(kind - kinds), made))
            continue;
        if (letters[p] == 'C')
            worlds_forget((MPI_Comm)made);
        struct place place = contract_place(debug);
        handles_add(&place, (enum handle_kind)(kind - kinds), made, root_of_call(letters, arguments), function);
    }
}

/* Sets of more than this process are those of a world; so is what is made of them. */
static void note_set(enum interpose_function function, void *const arguments[])
{
    if (function == INTERPOSE_MPI_Group_from_session_pset) {
        const char *set = *(const char **)arguments[1];
        bool alone = !strcasecmp(set, "mpi://SELF");
        handles_set(HANDLE_GROUP, handle_of(handles_at(arguments, 2), 0),
                    alone ? ROOT_NONE : worlds_root(interpose_world(MPI_COMM_WORLD)), set);
    } else if (function == INTERPOSE_MPI_Comm_create_from_group) {
        struct handle group;
        if (handles_find(HANDLE_GROUP, handle_of(arguments[0], 0), &group) && group.set[0])
            handles_set(HANDLE_COMM, handle_of(handles_at(arguments, 4), 0), group.root, group.set);
    }
}

static void note_completed(const char *letters, void *const arguments[])
{
    int count;
    const void *now = completed_requests(letters, arguments, &count);
    for (int i = 0; i < requests.count; i++)
        if (!is_null_handle(HANDLE_REQUEST, requests.values[i]) && is_null_handle(HANDLE_REQUEST, handle_of(now, i)))
            handles_remove(HANDLE_REQUEST, requests.values[i]);
    requests.count = 0;
}

static void leave_mpi(void *context, enum interpose_function function, void *const arguments[], int result)
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
    if (sets_attribute(function))
        worlds_note_attribute();
}

static const struct interpose_hooks mpi_hooks = {.enter = enter_mpi, .leave = leave_mpi};

void observe_start(struct debug *state)
{
    debug = state;
    worlds_start(state);
    epop__interpose_observe(&mpi_hooks);
}

void observe_stop(void)
{
    if (!debug)
        return;
    epop__interpose_unobserve(&mpi_hooks);
    worlds_stop();
    handles_free();
    debug = NULL;
}

void observe_reset(void)
{
    handles_reset(debug->place.position.program->size);
    worlds_reset();
}
