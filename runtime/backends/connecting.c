/* The calls of MPI that connect, merge and disconnect the processes of a window. */
#include "runtime/backends/connecting.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backends/device.h"
#include "runtime/base/ending.h"
#include "runtime/base/error.h"
#include "runtime/launch/engine.h"
#include "runtime/world/backend.h"
#include "runtime/world/world.h"

int connecting_available(struct error *reason)
{
    char port[PORT_MOST];
    if (engine()->can_start(reason))
        return -1;
    MPI_Errhandler before;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int error = port_open(port);
    if (!error)
        MPI_Close_port(port);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&before);
    if (error)
        error_set(reason, ERROR_FAILED, "this MPI library cannot connect processes at run time (MPI_Open_port fails)");
    return error ? -1 : 0;
}

char *connecting_port(int number)
{
    char(*ports)[PORT_MOST] = malloc((size_t)(number + 1) * sizeof *ports);
    int failed = !ports;
    for (int i = 0; i <= number && !failed; i++)
        failed = port_open(ports[i]);
    for (int i = 0; i < number && !failed; i++)
        MPI_Close_port(ports[i]);
    char *port = failed ? NULL : strdup(ports[number]);
    free(ports);
    return port;
}

/* The communicator of these ranks of comm, in that order. Collective over them alone. */
static MPI_Comm made_of(MPI_Comm comm, const int *ranks, int count)
{
    MPI_Group all, group;
    MPI_Comm result;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, count, ranks, &group);
    MPI_Comm_create_group(comm, group, 0, &result);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    return result;
}

/*
 * The staying and joining ranks of `all`. In ch3 a communicator whose ranks are a prefix of its parent's shares its
 * table of connections, and those that leave then wait in disconnect for the others; so make it in reversed order, and
 * from that the right one. All know who leaves: a split, which asks, takes nearly twice as long.
 */
static MPI_Comm without_leavers(const epop_window_t *w)
{
    int size = w->new_size;
    MPI_Comm reversed, after;
    if (device_mixes_groups()) {
        MPI_Comm_split(w->all, w->new_rank < 0 ? MPI_UNDEFINED : 0, w->new_rank, &after);
        return after;
    }
    if (w->new_rank < 0)
        return MPI_COMM_NULL;
    if (size == 1) {
        MPI_Comm_dup(MPI_COMM_SELF, &after);
        return after;
    }
    int *ranks = malloc((size_t)size * sizeof *ranks);
    if (!ranks)
        ending_abort("out of memory");
    for (int i = 0; i < w->old_size + w->joining; i++)
        if (w->new_ranks[i] >= 0)
            ranks[size - 1 - w->new_ranks[i]] = i;
    reversed = made_of(w->all, ranks, size);
    for (int i = 0; i < size; i++)
        ranks[i] = size - 1 - i;
    after = made_of(reversed, ranks, size);
    free(ranks);
    MPI_Comm_free(&reversed);
    return after;
}

void connecting_make_after(epop_window_t *w)
{
    if (w->leaving)
        w->after = without_leavers(w);
    else
        MPI_Comm_dup(w->all, &w->after);
}

/*
 * A joiner that dies after its host took the connection, and before it accepts, goes unnoticed by MPICH's connect,
 * which waits for its own time limit. When that is over the joiner must have been ended, so it is longer than ours.
 */
static int connect_in_time(const char *port, MPI_Comm before, MPI_Comm *intercomm, int seconds)
{
    char limit[16];
    MPI_Info info;
    MPI_Info_create(&info);
    snprintf(limit, sizeof limit, "%d", seconds);
    MPI_Info_set(info, "timeout", limit);
    int result = MPI_Comm_connect(port, info, 0, before, intercomm);
    MPI_Info_free(&info);
    return result;
}

int connecting_connect(epop_window_t *w, const char *port, int seconds, struct error *error)
{
    MPI_Errhandler of_program;
    MPI_Comm_get_errhandler(w->before, &of_program);
    MPI_Comm_set_errhandler(w->before, MPI_ERRORS_RETURN);
    int result = w->status == EPOP_JOINING ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, w->before, &w->intercomm)
                 : seconds                 ? connect_in_time(port, w->before, &w->intercomm, seconds)
                                           : MPI_Comm_connect(port, MPI_INFO_NULL, 0, w->before, &w->intercomm);
    MPI_Comm_set_errhandler(w->before, of_program);
    MPI_Errhandler_free(&of_program);
    if (!result) {
        MPI_Comm_set_errhandler(w->intercomm, MPI_ERRORS_ARE_FATAL);
        return 0;
    }
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    MPI_Error_class(result, &class); /* MPICH 4.0.2 writes the text of the whole code beyond the end of `text` */
    MPI_Error_string(class, text, &length);
    error_set(error, ERROR_FAILED, "MPI could not connect the joining processes: %.100s", text);
    w->intercomm = MPI_COMM_NULL;
    return -1;
}

/* MPI itself would end the job, and say what it was in, not whose fault it is. */
static void failed(MPI_Comm *comm, int *error, ...)
{
    char text[MPI_MAX_ERROR_STRING], line[MPI_MAX_ERROR_STRING + 80];
    int class, length;
    (void)comm;
    MPI_Error_class(*error, &class);
    MPI_Error_string(class, text, &length);
    snprintf(line, sizeof line, "MPI could not make the communicators of the ranks with the joining processes: %.200s",
             text);
    ending_abort(line);
}

void connecting_merge(epop_window_t *w)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(failed, &handler);
    if (w->status != EPOP_JOINING) /* those are no rank's, who would say it, too */
        MPI_Comm_set_errhandler(w->intercomm, handler);
    MPI_Errhandler_free(&handler);
    MPI_Intercomm_merge(w->intercomm, w->status == EPOP_JOINING, &w->all);
    MPI_Comm_set_errhandler(w->intercomm, MPI_ERRORS_ARE_FATAL);
}

int connecting_meet(struct world *world, const char *port, struct error *error)
{
    bool can_kill = world->backend->connects == CONNECTS_IN_TIME;
    if (connecting_connect(&world->window, port, can_kill ? BACKEND_CONNECT_AT_GATE + 1 : 0, error))
        return -1;
    if (can_kill)
        world_connected(); /* else the joiners' INIT may be yet to come */
    connecting_merge(&world->window);
    return 0;
}

void connecting_part(MPI_Comm *comm)
{
    if (device_disconnects_together())
        MPI_Comm_free(comm);
    else
        MPI_Comm_disconnect(comm);
}

void connecting_commit(struct world *world)
{
    epop_window_t *w = &world->window;
    if (w->intercomm != MPI_COMM_NULL)
        connecting_part(&w->intercomm);
    connecting_part(&w->all);
    connecting_part(&w->before);
}
