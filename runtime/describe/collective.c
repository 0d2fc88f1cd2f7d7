/* See collective.h. */
#include "runtime/describe/collective.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/say.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/element.h"
#include "runtime/redist/wait.h"

static int finish(int error, MPI_Request *request)
{
    return error == MPI_SUCCESS && redist_wait(request) == MPI_SUCCESS ? EPOP_OK : EPOP_ERR_MPI;
}

static int reduce(const epop_window_t *window, void *values, int count, MPI_Datatype type, MPI_Op op)
{
    MPI_Request request;
    return finish(MPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, window->all, &request), &request);
}

int collective_max(const epop_window_t *window, int64_t *values, int count)
{
    return reduce(window, values, count, MPI_INT64_T, MPI_MAX);
}

int collective_min(const epop_window_t *window, int64_t *values, int count)
{
    return reduce(window, values, count, MPI_INT64_T, MPI_MIN);
}

int collective_or(const epop_window_t *window, uint64_t *values, int count)
{
    return reduce(window, values, count, MPI_UINT64_T, MPI_BOR);
}

int collective_sum(const epop_window_t *window, uint64_t *values, int count)
{
    return reduce(window, values, count, MPI_UINT64_T, MPI_SUM);
}

/* In pieces that MPI can count. */
static int broadcast(const epop_window_t *window, char *data, int64_t count, MPI_Datatype type, int64_t extent,
                     int root)
{
    const int64_t most = 1 << 20;
    int result = EPOP_OK;
    for (int64_t at = 0; at < count && result == EPOP_OK; at += most) {
        MPI_Request request;
        int piece = (int)(count - at < most ? count - at : most);
        result = finish(MPI_Ibcast(data + at * extent, piece, type, root, window->all, &request), &request);
    }
    return result;
}

int collective_broadcast(const epop_window_t *window, void *data, size_t bytes, int root)
{
    return broadcast(window, data, (int64_t)bytes, MPI_BYTE, 1, root);
}

int describe_broadcast(const epop_window_t *window, void *data, int64_t count, MPI_Datatype type)
{
    redist_element element;
    if (redist_element_of(type, &element) != 0)
        return EPOP_ERR_MPI;
    return broadcast(window, data, count, type, element.extent, 0);
}

int collective_refuse(const epop_window_t *window, const char *text)
{
    MPI_Request request;
    int rank;
    MPI_Comm_rank(window->all, &rank);
    if (rank == 0)
        say_line(DESCRIBE_FUNCTION ": %s", text);
    finish(MPI_Ibarrier(window->all, &request), &request);
    return EPOP_ERR_ARGUMENT;
}

int describe_all_well(const epop_window_t *window, const char *text, struct error *error)
{
    int rank;
    char first[ERROR_TEXT_MAX] = "";
    MPI_Comm_rank(window->all, &rank);
    int64_t who = text ? rank : INT64_MAX;
    if (collective_min(window, &who, 1) != EPOP_OK)
        return error_set(error, ERROR_FAILED, "an MPI function failed");
    if (who == INT64_MAX)
        return 0;
    if (text)
        snprintf(first, sizeof first, "%s", text);
    collective_broadcast(window, first, sizeof first, (int)who);
    return error_set(error, ERROR_FAILED, "rank %d: %s", (int)who, first);
}

int describe_read_part(const epop_window_t *window, const struct slab_reader *reader, struct slab *slab,
                       struct error *error)
{
    bool room = describe_room(slab->type, slab->count, &slab->data);
    if (!describe_all_well(window, room ? NULL : "out of memory for described data", error) &&
        !reader->read(reader->context, slab, error))
        return 0;
    free(slab->data);
    slab->data = NULL;
    return -1;
}
