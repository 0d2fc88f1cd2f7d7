/*
 * Data that every rank holds a copy of. The holders are numbered, first the staying ranks and then the joining
 * ones; holder h passes the data on to h + n, h + 2n, h + 4n ... (n staying ranks), so that the joining ranks help as
 * soon as they have it and the staying ones share the work. Where nobody stays, the leaving ranks are the source.
 */
#include <stdlib.h>

#include "interpose/interpose.h"
#include "runtime/redist/agree.h"
#include "runtime/redist/audit.h"
#include "runtime/redist/exchange.h"
#include "runtime/redist/plan.h"
#include "runtime/redist/traffic.h"
#include "runtime/redist/wait.h"

int64_t redist_replicated_bytes = 4 << 20;

enum { CHILDREN_MAX = 32 };

typedef struct tree {
    int parent; /* in window->all; -1: this rank has the data */
    int children[CHILDREN_MAX], child_count;
} tree;

/* The rank in window->all of a holder. */
static int holder_rank(const epop_window_t *window, int holder)
{
    if (window->staying == 0 && holder < window->old_size)
        return holder;
    int new_rank = window->staying == 0 ? holder - window->old_size : holder;
    for (int rank = 0; rank < redist_all_size(window); rank++)
        if (redist_new_rank(window, rank) == new_rank)
            return rank;
    return -1;
}

static int holder_of(const epop_window_t *window)
{
    if (window->staying > 0)
        return window->new_rank;
    return window->old_rank >= 0 ? window->old_rank : window->old_size + window->new_rank;
}

static tree tree_of(const epop_window_t *window)
{
    tree t = {.parent = -1};
    int64_t sources = window->staying > 0 ? window->staying : window->old_size;
    int64_t holders = sources + window->joining, me = holder_of(window), span = sources;
    if (me < 0)
        return t;
    while (span <= me) {
        if (me < 2 * span)
            t.parent = holder_rank(window, (int)(me - span));
        span *= 2;
    }
    for (; me + span < holders; span *= 2)
        t.children[t.child_count++] = holder_rank(window, (int)(me + span));
    return t;
}

/* Sends under way to the children, of one chunk. */
typedef struct sends {
    MPI_Request requests[CHILDREN_MAX];
    int count, error;
} sends;

static void send_to_children(sends *s, const tree *t, void *address, int count, MPI_Datatype type, MPI_Comm comm)
{
    for (s->count = 0; s->count < t->child_count; s->count++) {
        int error = MPI_Isend(address, count, type, t->children[s->count], REDIST_TAG, comm, &s->requests[s->count]);
        s->error = s->error == MPI_SUCCESS ? error : s->error;
    }
}

static void wait_for_children(sends *s)
{
    int error = redist_wait_all(s->count, s->requests);
    s->error = s->error == MPI_SUCCESS ? error : s->error;
}

static int receive_from_parent(void *address, int count, MPI_Datatype type, int from, MPI_Comm comm)
{
    MPI_Request request;
    int error = MPI_Irecv(address, count, type, from, REDIST_TAG, comm, &request);
    return error == MPI_SUCCESS ? redist_wait(&request) : error;
}

static void count_traffic(const tree *t, int64_t bytes)
{
    for (int i = 0; i < t->child_count; i++)
        redist_traffic_sent(t->children[i], bytes);
    if (t->parent < 0)
        return;
    redist_traffic_received(t->parent, bytes);
    redist_traffic_needed(bytes);
}

/* Receives chunk after chunk and passes each on while the next one comes in. */
static int pass_on_chunks(const epop_window_t *window, const tree *t, const redist_element *element, char *data,
                          int64_t count)
{
    sends s = {.count = 0, .error = MPI_SUCCESS};
    int64_t most = redist_replicated_bytes / element->size > 0 ? redist_replicated_bytes / element->size : 1;
    for (int64_t at = 0; at < count; at += most) {
        int chunk = (int)(most < count - at ? most : count - at), error = MPI_SUCCESS;
        char *address = data + at * element->extent;
        if (t->parent >= 0)
            error = receive_from_parent(address, chunk, element->type, t->parent, window->all);
        s.error = s.error == MPI_SUCCESS ? error : s.error;
        wait_for_children(&s);
        send_to_children(&s, t, address, chunk, element->type, window->all);
        count_traffic(t, chunk * element->size);
    }
    wait_for_children(&s);
    return s.error;
}

int epop_redist_replicated(const epop_window_t *window, void *data, int64_t count, MPI_Datatype type)
{
    INTERPOSE_CALL(epop_redist_replicated);
    redist_element element;
    redist_terms terms = {.function = "epop_redist_replicated"};
    if (!redist_window_open(terms.function, window))
        return EPOP_ERR_ARGUMENT;
    redist_fault fault = redist_element_of(type, &element) == 0 ? REDIST_FINE : REDIST_BAD_TYPE;
    if (count < 0)
        fault = REDIST_BAD_DIST;
    else if (!data && count > 0 && holder_of(window) >= 0)
        fault = REDIST_NO_BLOCK;
    redist_term(&terms, "the count", count);
    redist_terms_of_element(&terms, &element);
    redist_audit_called(&terms);
    int result = redist_agree(window, &terms, fault);
    if (result != EPOP_OK || element.size == 0)
        return result;
    tree t = tree_of(window);
    redist_traffic_moves();
    int error = pass_on_chunks(window, &t, &element, data, count);
    redist_traffic_moved();
    if (error == MPI_SUCCESS)
        redist_audit_replicated(window, &element, data, count);
    return redist_agree_on_end(window, &terms, error == MPI_SUCCESS ? REDIST_FINE : REDIST_MPI_FAILED);
}
