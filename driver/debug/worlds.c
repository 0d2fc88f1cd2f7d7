/*
 * Worlds are numbered from 0 in each life of a process. What a commit frees may be given out again by MPI under the
 * same handle, and a program that still uses the old one would talk to somebody else, unnoticed; so these handles are
 * kept occupied for a while, by communicators of this process alone.
 */
#include "driver/debug/worlds.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "driver/debug/handles.h"
#include "epop/elastic.h"
#include "runtime/job/job.h"
#include "runtime/world/world.h"

enum { DEAD_MAX = 24, TRIES = 32 };

static struct debug *debug;
static atomic_bool attributes; /* have been set */
static atomic_bool left;       /* this process has left the world */

/* The program's own thread alone writes what follows; its others make, free and use communicators meanwhile. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int present; /* the present world's number */
static bool open;   /* the window is */
static bool goes;   /* what it began with is being freed */
static epop_window_t window;

static struct dead {
    MPI_Comm comm;
    const char *name;
    MPI_Comm occupied; /* the same, or MPI_COMM_NULL if the handle could not be had */
    bool gone;         /* it has been freed */
} dead[DEAD_MAX];
static int dead_count;

/* ---- Which world ------------------------------------------------------------------------ */

static const char *name_in_window(MPI_Comm comm)
{
    return comm == window.before ? "before" : comm == window.after ? "after" : comm == window.all ? "all" : "intercomm";
}

static bool of_window(MPI_Comm comm)
{
    return open && comm != MPI_COMM_NULL &&
           (comm == window.before || comm == window.after || comm == window.all || comm == window.intercomm);
}

int worlds_root(MPI_Comm comm)
{
    struct handle made;
    int root = ROOT_NONE;
    pthread_mutex_lock(&lock);
    if (open && comm == window.after && comm != MPI_COMM_NULL)
        root = present + 1;
    else if (of_window(comm) || (comm == interpose_world(MPI_COMM_WORLD) && !goes))
        root = present;
    pthread_mutex_unlock(&lock);
    if (root != ROOT_NONE)
        return root;
    return handles_find(HANDLE_COMM, comm, &made) ? made.root : ROOT_NONE;
}

/* ---- What is gone ------------------------------------------------------------------------- */

static void drop(int i)
{
    if (dead[i].occupied != MPI_COMM_NULL)
        PMPI_Comm_free(&dead[i].occupied);
    memmove(&dead[i], &dead[i + 1], (size_t)(--dead_count - i) * sizeof *dead);
}

void worlds_forget(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    for (int i = dead_count - 1; i >= 0; i--)
        if (dead[i].comm == comm && dead[i].occupied == MPI_COMM_NULL)
            drop(i);
    pthread_mutex_unlock(&lock);
}

static void bury(MPI_Comm comm, const char *name)
{
    if (comm == MPI_COMM_NULL)
        return;
    if (dead_count == DEAD_MAX)
        drop(0);
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
    pthread_mutex_lock(&lock);
    const struct dead *found = find_dead(comm);
    bool gone = found && found->gone;
    if (gone)
        *name = found->name;
    pthread_mutex_unlock(&lock);
    return gone;
}

/* MPICH gives out next what was freed last, so a few tries do. Local. */
static void occupy(void)
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

void worlds_check_use(const struct debug *d, enum interpose_function function, MPI_Comm comm)
{
    const char *name = NULL;
    if (!is_dead(comm, &name) && (!left || comm != MPI_COMM_NULL || function == INTERPOSE_MPI_Intercomm_create))
        return;
    struct place place = debug_place(d);
    if (name)
        breach(&place.position,
               "%s calls %s with the communicator '%s' of a window that is over; epop_adapt_commit freed it",
               block_text(place.block), epop__interpose_name(function), name);
    else
        breach(&place.position,
               "%s calls %s behind epop_adapt_commit, but this rank leaves: there is no world for it any "
               "more",
               block_text(place.block), epop__interpose_name(function));
}

void worlds_check_free(const struct debug *d, enum interpose_function function, MPI_Comm comm)
{
    const char *name;
    pthread_mutex_lock(&lock);
    name = of_window(comm) ? name_in_window(comm) : NULL;
    pthread_mutex_unlock(&lock);
    if (!name) {
        worlds_check_use(d, function, comm);
        return;
    }
    struct place place = debug_place(d);
    breach(&place.position, "%s frees the communicator '%s' of the window, which belongs to EPOP",
           block_text(place.block), name);
}

void worlds_note_attribute(void)
{
    attributes = true;
}

/* ---- The window ------------------------------------------------------------------------------ */

static void begun(const epop_window_t *w)
{
    const MPI_Comm made[] = {w->before, w->after, w->all, w->intercomm};
    pthread_mutex_lock(&lock);
    window = *w;
    open = true;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        worlds_forget(made[i]);
}

/* What an attribute of the old world holds is freed with it, so with attributes it can only be looked at behind that.
 * From here on another thread may be given a handle that the commit frees. */
static void commits(const epop_window_t *w)
{
    rolls_window(debug, "it calls epop_adapt_commit");
    if (!attributes)
        handles_check_world(debug, present, "before");
    pthread_mutex_lock(&lock);
    open = false;
    goes = true;
    bury(w->before, "before");
    bury(w->all, "all");
    bury(w->intercomm, "intercomm");
    pthread_mutex_unlock(&lock);
}

static void committed(const epop_window_t *w)
{
    handles_check_world(debug, present, "after");
    left = w->status == EPOP_LEAVING;
    pthread_mutex_lock(&lock);
    goes = false;
    present++;
    for (int i = 0; i < dead_count; i++)
        dead[i].gone = true;
    if (!left)
        occupy();
    pthread_mutex_unlock(&lock);
}

/* ---- Start and end ----------------------------------------------------------------------------- */

static const struct window_watch watch = {.begun = begun, .commits = commits, .committed = committed};

void worlds_start(struct debug *state)
{
    debug = state;
    epop__watch_window(&watch);
}

void worlds_reset(void)
{
    pthread_mutex_lock(&lock);
    while (dead_count > 0)
        drop(0);
    present = 0;
    open = goes = false;
    pthread_mutex_unlock(&lock);
    attributes = left = false;
}

void worlds_stop(void)
{
    worlds_reset();
    epop__watch_window(NULL);
}
