/*
 * Worlds are numbered from 0 in each life of a process. What a commit frees may be given out again by MPI under the
 * same handle, and a program that still uses the old one would talk to somebody else, unnoticed; so these handles are
 * kept occupied for a while, by communicators of this process alone.
 */
#include "driver/debug/worlds.h"

#include <string.h>

#include "driver/debug/handles.h"
#include "epop/elastic.h"
#include "runtime/job/job.h"
#include "runtime/world/world.h"

enum { DEAD_MAX = 24, TRIES = 32 };

static struct debug *debug;
static int present;           /* the present world's number */
static bool open, attributes; /* the window is open; attributes have been set */
static bool left;             /* this process has left the world */
static epop_window_t window;

static struct dead {
    MPI_Comm comm;
    const char *name;
    MPI_Comm occupied; /* the same, or MPI_COMM_NULL if the handle could not be had */
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
    if (open && comm == window.after && comm != MPI_COMM_NULL)
        return present + 1;
    if (of_window(comm) || comm == interpose_world(MPI_COMM_WORLD))
        return present;
    struct handle made;
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
    for (int i = dead_count - 1; i >= 0; i--)
        if (dead[i].comm == comm && dead[i].occupied == MPI_COMM_NULL)
            drop(i);
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
    const struct dead *gone = find_dead(comm);
    if (gone)
        breach(&d->position,
               "%s calls %s with the communicator '%s' of a window that is over; epop_adapt_commit freed it",
               block_text(d->block), epop__interpose_name(function), gone->name);
    else if (left && comm == MPI_COMM_NULL && function != INTERPOSE_MPI_Intercomm_create)
        breach(&d->position,
               "%s calls %s behind epop_adapt_commit, but this rank leaves: there is no world for it any "
               "more",
               block_text(d->block), epop__interpose_name(function));
}

void worlds_check_free(const struct debug *d, enum interpose_function function, MPI_Comm comm)
{
    if (of_window(comm))
        breach(&d->position, "%s frees the communicator '%s' of the window, which belongs to EPOP",
               block_text(d->block), name_in_window(comm));
    else if (find_dead(comm))
        worlds_check_use(d, function, comm);
}

void worlds_note_attribute(void)
{
    attributes = true;
}

/* ---- The window ------------------------------------------------------------------------------ */

static void begun(const epop_window_t *w)
{
    const MPI_Comm made[] = {w->before, w->after, w->all, w->intercomm};
    window = *w;
    open = true;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        worlds_forget(made[i]);
}

/* What an attribute of the old world holds is freed with it, so with attributes it can only be looked at behind that.
 */
static void commits(const epop_window_t *w)
{
    (void)w;
    rolls_window(debug, "it calls epop_adapt_commit");
    if (!attributes)
        handles_check_world(debug, present, "before");
}

static void committed(const epop_window_t *w)
{
    open = false;
    handles_check_world(debug, present, "after");
    present++;
    left = w->status == EPOP_LEAVING;
    bury(w->before, "before");
    bury(w->all, "all");
    bury(w->intercomm, "intercomm");
    if (!left)
        occupy();
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
    while (dead_count > 0)
        drop(0);
    present = 0;
    open = attributes = left = false;
}

void worlds_stop(void)
{
    worlds_reset();
    epop__watch_window(NULL);
}
