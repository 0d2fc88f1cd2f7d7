/*
 * Agreement is one reduction: over the largest fault, and over every term and its negative, so that a term which is
 * not the same everywhere can be named.
 */
#include "runtime/redist/agree.h"

#include <stdio.h>

#include "runtime/base/say.h"
#include "runtime/redist/wait.h"
#include "runtime/world/world.h"

static const struct {
    int result;
    const char *text;
} faults[REDIST_FAULTS] = {
    [REDIST_NO_MEMORY] = {EPOP_ERR_MEMORY, "out of memory for the new block"},
    [REDIST_MPI_FAILED] = {EPOP_ERR_MPI, "an MPI function failed"},
    [REDIST_NO_BLOCK] = {EPOP_ERR_ARGUMENT, "the pointer to the data is NULL on a rank that owns some"},
    [REDIST_NULL] = {EPOP_ERR_ARGUMENT, "a pointer is NULL on some rank"},
    [REDIST_BAD_LENGTHS] = {EPOP_ERR_ARGUMENT, "a row has a negative length"},
    [REDIST_BAD_STARTS] = {EPOP_ERR_ARGUMENT, "the starts of the rows do not begin with 0, or fall"},
    [REDIST_BAD_WEIGHTS] = {EPOP_ERR_ARGUMENT, "a weight is negative, or their sum is above 2^63 - 1"},
    [REDIST_BAD_SHARES] = {EPOP_ERR_ARGUMENT, "a share is negative or no number, or all shares are 0"},
    [REDIST_NO_WEIGHTS] = {EPOP_ERR_ARGUMENT, "the weights are NULL on some ranks that own indices, and not on others"},
    [REDIST_NOT_BLOCKS] = {EPOP_ERR_ARGUMENT, "only indices that are dealt out in blocks or by cuts can be cut anew"},
    [REDIST_BAD_CUTS] = {EPOP_ERR_ARGUMENT,
                         "a distribution by cuts is for another number of ranks, or does not rise from 0 to its count"},
    [REDIST_BAD_DIST] = {EPOP_ERR_ARGUMENT, "a distribution has a negative count, a block below 1 or no known kind"},
    [REDIST_BAD_GRID] = {EPOP_ERR_ARGUMENT, "a process grid has no rows or columns, or more places than ranks"},
    [REDIST_BAD_BLOCKS] = {EPOP_ERR_ARGUMENT,
                           "blocks have 1 to 6 dimensions, and no negative count, number of ghost layers or grid"},
    [REDIST_BLOCKS_DIFFER] = {EPOP_ERR_ARGUMENT, "blocks differ before and after in their dimensions, counts or "
                                                 "boundary, not only in grid and periodic ghosts"},
    [REDIST_THICK_GHOSTS] = {EPOP_ERR_ARGUMENT,
                             "there are more ghost layers than the block of a neighbour has; this array needs fewer "
                             "ranks, another grid or fewer layers"},
    [REDIST_LARGE_GHOSTS] = {EPOP_ERR_ARGUMENT,
                             "the ghosts of one neighbour are more than one message of MPI can have"},
    [REDIST_NO_WORLD] = {EPOP_ERR_STATE, "there is no world; call it where epop_world() is one"},
    [REDIST_BAD_ARRAYS] = {EPOP_ERR_ARGUMENT, "the number of arrays is negative, or the pointer to them NULL"},
    [REDIST_COUNTS_DIFFER] = {EPOP_ERR_ARGUMENT,
                              "there are other numbers of elements, rows or columns after than before"},
    [REDIST_TOO_LARGE] = {EPOP_ERR_ARGUMENT, "a block has more than 2^63 - 1 bytes"},
    [REDIST_TOO_MANY] = {EPOP_ERR_ARGUMENT,
                         "a rank would get more than 2^31 - 1 elements, too many for its type of row starts"},
    [REDIST_BAD_INDEX] = {EPOP_ERR_ARGUMENT,
                          "lengths, starts and weights are of MPI_INT, MPI_INT64_T, or an integer like one of these"},
    [REDIST_BAD_TYPE] =
        {EPOP_ERR_ARGUMENT,
         "the datatype has no extent, or data in front of its address, or overlapping elements above 2 GiB"},
};

const char *redist_subject;

void redist_term(redist_terms *terms, const char *name, int64_t value)
{
    terms->name[terms->count] = name;
    terms->value[terms->count++] = value == INT64_MIN ? -INT64_MAX : value; /* the negative must exist */
}

int redist_window_valid(const epop_window_t *window)
{
    return window && window->new_ranks && window->all != MPI_COMM_NULL;
}

/* Nobody comes or goes: a checkpoint's or a restart's own. */
static bool is_still(const epop_window_t *window)
{
    return window && window->before == window->after && window->all == window->after;
}

int redist_window_open(const char *function, const epop_window_t *window)
{
    bool shut = world.launch != MPI_COMM_NULL && world.state != WINDOW_OPEN && !is_still(window);
    if (redist_window_valid(window) && !shut) /* else its communicators may be gone */
        return 1;
    say_line("%s: no window is open; call it between begin and commit, with the window of this adaptation", function);
    return 0;
}

/* Rank 0 of the window speaks for all; nobody goes on before it has: another rank's error may end the job. */
static int refuse_on_all(const epop_window_t *window, const char *function, const char *text, int result)
{
    MPI_Request request;
    if (window->old_rank == 0)
        say_line("%s: %s%s%s%s", function, redist_subject ? "described '" : "", redist_subject ? redist_subject : "",
                 redist_subject ? "': " : "", text);
    if (MPI_Ibarrier(window->all, &request) == MPI_SUCCESS)
        redist_wait(&request);
    return result;
}

int redist_refuse(const char *function, redist_fault fault, bool speaks)
{
    if (fault != REDIST_FINE && speaks)
        say_line("%s: %s", function, faults[fault].text);
    return faults[fault].result;
}

static int terms_differ(const redist_terms *terms, const int64_t *highest, char *text, size_t size)
{
    for (int i = 0; i < terms->count; i++) {
        int64_t high = highest[1 + 2 * i], low = -highest[2 + 2 * i];
        if (high == low)
            continue;
        snprintf(text, size,
                 "%s is %lld on one rank and %lld on another; it must be the same on all "
                 "(have the joining ranks got it, by epop_redist_replicated?)",
                 terms->name[i], (long long)low, (long long)high);
        return 1;
    }
    return 0;
}

static int errors_return(MPI_Comm comm)
{
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(comm, &handler);
    if (handler == MPI_ERRORS_ARE_FATAL)
        return 0;
    MPI_Errhandler_free(&handler);
    return 1;
}

int redist_agree(const epop_window_t *window, redist_terms *terms, redist_fault fault)
{
    int64_t mine[2 + 2 * REDIST_TERMS_MAX], highest[2 + 2 * REDIST_TERMS_MAX];
    int last = 1 + 2 * terms->count;
    mine[0] = fault == REDIST_FINE ? 0 : ((int64_t)fault << 32) + INT32_MAX - terms->number; /* the first such array */
    mine[last] = errors_return(window->all);
    for (int i = 0; i < terms->count; i++) {
        mine[1 + 2 * i] = terms->no_say ? -INT64_MAX : terms->value[i];
        mine[2 + 2 * i] = terms->no_say ? -INT64_MAX : -terms->value[i];
    }
    MPI_Request request;
    if (MPI_Iallreduce(mine, highest, last + 1, MPI_INT64_T, MPI_MAX, window->all, &request) != MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS)
        return EPOP_ERR_MPI;
    terms->may_fail = highest[last] != 0;
    char text[240];
    if (terms_differ(terms, highest, text, sizeof text))
        return refuse_on_all(window, terms->function, text, EPOP_ERR_ARGUMENT);
    if (!highest[0])
        return EPOP_OK;
    if (terms->subject_of)
        redist_subject = terms->subject_of(INT32_MAX - (int)(highest[0] & INT32_MAX));
    int what = (int)(highest[0] >> 32);
    int result = refuse_on_all(window, terms->function, faults[what].text, faults[what].result);
    if (terms->subject_of)
        redist_subject = NULL;
    return result;
}

int redist_agree_on_end(const epop_window_t *window, const redist_terms *terms, redist_fault fault)
{
    redist_terms none = {.function = terms->function};
    if (!terms->may_fail)
        return faults[fault].result;
    return redist_agree(window, &none, fault);
}
