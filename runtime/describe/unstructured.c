/* See unstructured.h: what all of these kinds do alike. */
#include "runtime/describe/unstructured.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/say.h"
#include "runtime/describe/collective.h"
#include "runtime/redist/plan.h"
#include "runtime/redist/wait.h"

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

int *describe_new_ranks(const epop_window_t *window)
{
    int *ranks = malloc(((size_t)window->new_size + 1) * sizeof *ranks);
    for (int rank = 0; ranks && rank < redist_all_size(window); rank++)
        if (redist_new_rank(window, rank) >= 0)
            ranks[redist_new_rank(window, rank)] = rank;
    return ranks;
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
