/* What all ranks of a window do together for described data. */
#include "runtime/describe/collective.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/say.h"
#include "runtime/redist/element.h"
#include "runtime/redist/plan.h"
#include "runtime/redist/wait.h"

/* ---- Numbers and bytes -------------------------------------------------------------------------- */

static int finish_call(int error, MPI_Request *request)
{
    return error == MPI_SUCCESS && redist_wait(request) == MPI_SUCCESS ? EPOP_OK : EPOP_ERR_MPI;
}

static int reduce_in_window(const epop_window_t *window, void *values, int count, MPI_Datatype type, MPI_Op op)
{
    MPI_Request request;
    return finish_call(MPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, window->all, &request), &request);
}

int collective_max(const epop_window_t *window, int64_t *values, int count)
{
    return reduce_in_window(window, values, count, MPI_INT64_T, MPI_MAX);
}

int collective_min(const epop_window_t *window, int64_t *values, int count)
{
    return reduce_in_window(window, values, count, MPI_INT64_T, MPI_MIN);
}

int collective_or(const epop_window_t *window, uint64_t *values, int count)
{
    return reduce_in_window(window, values, count, MPI_UINT64_T, MPI_BOR);
}

int collective_sum(const epop_window_t *window, uint64_t *values, int count)
{
    return reduce_in_window(window, values, count, MPI_UINT64_T, MPI_SUM);
}

/* In pieces that MPI can count. */
static int broadcast_pieces(const epop_window_t *window, char *data, int64_t count, MPI_Datatype type, int64_t extent,
                            int root)
{
    const int64_t most = 1 << 20;
    int result = EPOP_OK;
    for (int64_t at = 0; at < count && result == EPOP_OK; at += most) {
        MPI_Request request;
        int piece = (int)(count - at < most ? count - at : most);
        result = finish_call(MPI_Ibcast(data + at * extent, piece, type, root, window->all, &request), &request);
    }
    return result;
}

int collective_broadcast(const epop_window_t *window, void *data, size_t bytes, int root)
{
    return broadcast_pieces(window, data, (int64_t)bytes, MPI_BYTE, 1, root);
}

int describe_broadcast(const epop_window_t *window, void *data, int64_t count, MPI_Datatype type)
{
    redist_element element;
    if (redist_element_of(type, &element) != 0)
        return EPOP_ERR_MPI;
    return broadcast_pieces(window, data, count, type, element.extent, 0);
}

int describe_place(const epop_window_t *window, int64_t mine, int64_t *first, int64_t *total, struct error *error)
{
    MPI_Request requests[2];
    *first = *total = 0;
    if (MPI_Iexscan(&mine, first, 1, MPI_INT64_T, MPI_SUM, window->all, &requests[0]) != MPI_SUCCESS ||
        MPI_Iallreduce(&mine, total, 1, MPI_INT64_T, MPI_SUM, window->all, &requests[1]) != MPI_SUCCESS ||
        redist_wait_all(2, requests) != MPI_SUCCESS)
        return error_set(error, ERROR_FAILED, "an MPI function failed");
    if (window->old_rank == 0)
        *first = 0;
    return 0;
}

/* ---- Faults ------------------------------------------------------------------------------------- */

int collective_refuse(const epop_window_t *window, const char *text)
{
    MPI_Request request;
    int rank;
    MPI_Comm_rank(window->all, &rank);
    if (rank == 0)
        say_line(DESCRIBE_FUNCTION ": %s", text);
    finish_call(MPI_Ibarrier(window->all, &request), &request);
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

static int result_of(const struct error *error)
{
    return error->code == ERROR_MEMORY   ? EPOP_ERR_MEMORY
           : error->code == ERROR_FAILED ? EPOP_ERR_MPI
                                         : EPOP_ERR_ARGUMENT;
}

int describe_settle(const epop_window_t *window, struct error *error)
{
    int rank;
    MPI_Comm_rank(window->all, &rank);
    int64_t first = error->code == ERROR_NONE ? INT64_MAX : rank;
    if (collective_min(window, &first, 1) != EPOP_OK)
        return error_set(error, ERROR_FAILED, "an MPI function failed"), EPOP_ERR_MPI;
    if (first == INT64_MAX)
        return EPOP_OK;
    collective_broadcast(window, error, sizeof *error, (int)first);
    error_set(error, error->code, "rank %d: %s", (int)first, error->text);
    return result_of(error);
}

/* Nobody ends the job before it is said. */
void describe_say(const epop_window_t *window, const struct error *error)
{
    MPI_Request request;
    if (window->old_rank == 0)
        say_line("%s%s%s%s", redist_subject ? "described '" : "", redist_subject ? redist_subject : "",
                 redist_subject ? "': " : "", error->text);
    if (MPI_Ibarrier(window->all, &request) == MPI_SUCCESS)
        redist_wait(&request);
}

int describe_settle_and_say(const epop_window_t *window, struct error *error)
{
    int result = describe_settle(window, error);
    if (result != EPOP_OK)
        describe_say(window, error);
    return result;
}

/* ---- Reading from a checkpoint ------------------------------------------------------------------ */

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

int describe_read(const epop_window_t *window, const struct slab_reader *reader, struct slab *slab, int64_t extent,
                  struct error *error)
{
    slab->data = NULL;
    if (reader->shape(reader->context, slab, error))
        return -1;
    if (slab->dims != 1 || slab->extent[0] != extent)
        return error_set(error, ERROR_REFUSED, "described '%s': saved with %lld elements, described with %lld",
                         slab->name, (long long)slab->extent[0], (long long)extent);
    return describe_read_part(window, reader, slab, error);
}

/* ---- Windows ------------------------------------------------------------------------------------ */

int *describe_new_ranks(const epop_window_t *window)
{
    int *ranks = malloc(((size_t)window->new_size + 1) * sizeof *ranks);
    for (int rank = 0; ranks && rank < redist_all_size(window); rank++)
        if (redist_new_rank(window, rank) >= 0)
            ranks[redist_new_rank(window, rank)] = rank;
    return ranks;
}

int describe_still(MPI_Comm comm, epop_window_t *window)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *new_ranks = malloc((size_t)size * sizeof *new_ranks);
    if (!new_ranks)
        return EPOP_ERR_MEMORY;
    for (int i = 0; i < size; i++)
        new_ranks[i] = i;
    *window = (epop_window_t){.status = EPOP_STAYING,
                              .old_rank = rank,
                              .old_size = size,
                              .new_rank = rank,
                              .new_size = size,
                              .staying = size,
                              .before = comm,
                              .after = comm,
                              .all = comm,
                              .intercomm = MPI_COMM_NULL,
                              .new_ranks = new_ranks};
    return EPOP_OK;
}

void describe_still_free(epop_window_t *window)
{
    free((int *)window->new_ranks);
    window->new_ranks = NULL;
}
