/*
 * The ghosts of blocks, and epop_halo_*. Directions are numbered by their -1, 0, 1 in each dimension, so that the
 * opposite of direction d is number last - d. A message has its regions in the rising order of the sender's
 * directions; the receiver thus takes its own in falling order. A single region without gaps is sent and received
 * where it lies.
 */
#include "runtime/redist/halo.h"

#include <limits.h>
#include <stdlib.h>

#include "interpose/interpose.h"
#include "runtime/redist/layout.h"
#include "runtime/redist/traffic.h"
#include "runtime/redist/wait.h"

/* A message each way; of this rank itself, where a dimension is periodic and not divided: only a copy. */
struct peer {
    int rank; /* in comm */
    bool myself;
    int regions;
    int64_t elements;
    struct redist_boxes direct[2]; /* by redist_side: a region that needs no staging, where regions is 1 */
    bool is_direct[2];
    char *staging[2]; /* packed elements; the same for oneself */
};

struct epop_halo {
    struct redist_layout layout;
    redist_element element;
    MPI_Comm comm;
    bool counts; /* in the window: these bytes are told as redistribution's */
    int rank, place[EPOP_BLOCKS_DIMS], holders[EPOP_BLOCKS_DIMS], directions;
    int64_t owned[EPOP_BLOCKS_DIMS];
    struct redist_part part;
    void *array;
    int count; /* of peers */
    struct peer *peers;
    MPI_Request *requests; /* two for each peer: sending, receiving */
    char *staging;
    int peer_of[]; /* for each direction; -1: nobody */
};

/* ---- Who is where -------------------------------------------------------------- */

/* Steps of a direction: -1, 0 or 1 in each dimension. */
static void steps_of(int direction, int dims, int *steps)
{
    for (int i = 0; i < dims; i++, direction /= 3)
        steps[i] = direction % 3 - 1;
}

/* Those of the next direction. */
static void next_steps(int *steps)
{
    int i = 0;
    while (i < EPOP_BLOCKS_DIMS - 1 && steps[i] == 1)
        steps[i++] = -1;
    steps[i]++;
}

/* The rank in that direction; -1: none, or no ghosts there. */
static int neighbour(const struct epop_halo *halo, const int *steps)
{
    const epop_blocks_t *blocks = &halo->layout.blocks;
    int rank = 0;
    bool moves = false;
    for (int i = 0; i < blocks->dims; i++) {
        int holders = halo->holders[i], to = halo->place[i] + steps[i];
        if (steps[i] && !blocks->ghosts[i])
            return -1;
        if (blocks->periodic[i])
            to = (to + holders) % holders;
        if (to < 0 || to >= holders)
            return -1;
        moves = moves || steps[i];
        rank = rank * halo->layout.grid[i] + to;
    }
    return moves ? rank : -1;
}

/*
 * What goes in that direction (BEFORE), or the ghosts that are there (AFTER). Across dimensions in which the direction
 * does not step it is all that the block owns, boundary included, as the neighbour has the same there.
 */
static struct redist_boxes region(const struct epop_halo *halo, const int *steps, redist_side side)
{
    const epop_blocks_t *blocks = &halo->layout.blocks;
    const struct redist_part *part = &halo->part;
    int64_t at = part->at, count[EPOP_BLOCKS_DIMS];
    for (int i = 0; i < blocks->dims; i++) {
        int step = steps[i], ghosts = blocks->ghosts[i];
        int64_t edge = blocks->periodic[i] ? 0 : ghosts, begin = part->first[i];
        count[i] = step ? ghosts : part->count[i];
        if (step) { /* from where the local array begins, ghosts included */
            bool begins = part->first[i] == 0;
            int64_t array = part->first[i] + (begins ? edge : 0) - ghosts;
            int64_t low = side == REDIST_BEFORE ? ghosts : 0;
            int64_t high = halo->owned[i] + (side == REDIST_BEFORE ? 0 : ghosts);
            begin = array + (step < 0 ? low : high);
        }
        at += begin * part->stride[i];
    }
    return redist_boxes_of_array(blocks->dims, at, part->stride, count);
}

/* ---- Making it -------------------------------------------------------------------- */

static int peer_of_rank(struct epop_halo *halo, int rank)
{
    for (int p = 0; p < halo->count; p++)
        if (halo->peers[p].rank == rank)
            return p;
    halo->peers[halo->count] = (struct peer){.rank = rank, .myself = rank == halo->rank};
    return halo->count++;
}

static void find_peers(struct epop_halo *halo)
{
    int steps[EPOP_BLOCKS_DIMS];
    steps_of(0, EPOP_BLOCKS_DIMS, steps);
    for (int d = 0; d < halo->directions; d++, next_steps(steps)) {
        int rank = neighbour(halo, steps);
        halo->peer_of[d] = rank < 0 ? -1 : peer_of_rank(halo, rank);
        if (rank < 0)
            continue;
        struct peer *peer = &halo->peers[halo->peer_of[d]];
        struct redist_boxes out = region(halo, steps, REDIST_BEFORE);
        peer->elements += out.left;
        if (peer->regions++)
            continue;
        peer->direct[REDIST_BEFORE] = out;
        peer->direct[REDIST_AFTER] = region(halo, steps, REDIST_AFTER);
    }
}

/* Bytes of staging, and each peer's place in it, once there is one. */
static int64_t share_staging(struct epop_halo *halo)
{
    int64_t bytes = 0;
    for (int p = 0; p < halo->count; p++) {
        struct peer *peer = &halo->peers[p];
        for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++) {
            peer->is_direct[side] = !peer->myself && peer->regions == 1 && redist_boxes_is_one_run(&peer->direct[side]);
            peer->staging[side] = halo->staging ? halo->staging + bytes : NULL;
            if (!peer->is_direct[side] && !(peer->myself && side == REDIST_BEFORE))
                bytes += peer->elements * halo->element.size;
        }
    }
    return bytes;
}

/* Where MPI packs or counts, it does so with int. */
static bool too_large(const struct epop_halo *halo)
{
    int64_t most = halo->element.dense ? INT_MAX : INT_MAX / (halo->element.size ? halo->element.size : 1);
    for (int p = 0; p < halo->count; p++)
        if (halo->peers[p].elements > most)
            return true;
    return false;
}

static redist_fault allocate_messages(struct epop_halo *halo)
{
    if (too_large(halo))
        return REDIST_LARGE_GHOSTS;
    halo->requests = malloc((2 * (size_t)halo->count + 1) * sizeof *halo->requests);
    halo->staging = malloc((size_t)share_staging(halo) + 1);
    if (!halo->requests || !halo->staging)
        return REDIST_NO_MEMORY;
    share_staging(halo);
    for (int i = 0; i < 2 * halo->count; i++)
        halo->requests[i] = MPI_REQUEST_NULL;
    return REDIST_FINE;
}

static void find_neighbours(struct epop_halo *halo)
{
    const struct redist_layout *layout = &halo->layout;
    for (int i = 0; i < layout->blocks.dims; i++) {
        halo->holders[i] = redist_layout_holders(layout, i);
        halo->owned[i] =
            epop_dist_local_count(epop_dist_block(layout->blocks.count[i]), halo->place[i], layout->grid[i]);
    }
    find_peers(halo);
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int count_directions(const struct redist_layout *layout)
{
    int directions = 1;
    for (int i = 0; i < layout->blocks.dims; i++)
        directions *= 3;
    return directions;
}

redist_fault redist_halo_make(struct epop_halo **made, const struct redist_layout *layout, int rank,
                              const redist_element *element, MPI_Comm comm, const int *ranks)
{
    int directions = count_directions(layout), peers = smaller(directions, layout->size);
    struct epop_halo *halo = *made = malloc(sizeof *halo + (size_t)directions * sizeof *halo->peer_of);
    if (!halo)
        return REDIST_NO_MEMORY;
    *halo = (struct epop_halo){.layout = *layout,
                               .element = *element,
                               .comm = comm,
                               .counts = ranks,
                               .rank = rank,
                               .directions = directions,
                               .part = redist_layout_part(layout, rank)};
    if (!(halo->peers = malloc((size_t)peers * sizeof *halo->peers)))
        return REDIST_NO_MEMORY;
    if (halo->part.elements > 0 && redist_layout_place(layout, rank, halo->place) && element->size > 0)
        find_neighbours(halo);
    redist_fault fault = allocate_messages(halo);
    for (int p = 0; fault == REDIST_FINE && ranks && p < halo->count; p++)
        halo->peers[p].rank = ranks[halo->peers[p].rank];
    return fault;
}

/* ---- Messages ---------------------------------------------------------------------- */

static int64_t peer_bytes(const struct epop_halo *halo, const struct peer *peer)
{
    return peer->elements * halo->element.size;
}

/* Of its regions, in the order that both sides know. */
static int pack_ghosts(const struct epop_halo *halo, int p)
{
    const struct peer *peer = &halo->peers[p];
    int64_t position = 0;
    int error = MPI_SUCCESS, steps[EPOP_BLOCKS_DIMS];
    redist_piece piece;
    for (int d = 0; d < halo->directions; d++) {
        if (halo->peer_of[d] != p)
            continue;
        steps_of(d, halo->layout.blocks.dims, steps);
        struct redist_boxes out = region(halo, steps, REDIST_BEFORE);
        while (error == MPI_SUCCESS && redist_boxes_take(&out, out.left, &piece))
            error = redist_pack(&halo->element, &piece, halo->array, peer->staging[REDIST_BEFORE],
                                peer_bytes(halo, peer), &position);
    }
    return error;
}

static int unpack_ghosts(const struct epop_halo *halo, int p)
{
    const struct peer *peer = &halo->peers[p];
    int64_t position = 0;
    int error = MPI_SUCCESS, steps[EPOP_BLOCKS_DIMS];
    redist_piece piece;
    for (int d = halo->directions - 1; d >= 0; d--) {
        if (halo->peer_of[d] != p)
            continue;
        steps_of(d, halo->layout.blocks.dims, steps);
        struct redist_boxes in = region(halo, steps, REDIST_AFTER);
        while (error == MPI_SUCCESS && redist_boxes_take(&in, in.left, &piece))
            error = redist_unpack(&halo->element, &piece, peer->staging[REDIST_AFTER], peer_bytes(halo, peer),
                                  &position, halo->array);
    }
    return error;
}

/* The buffer of a message, and how MPI is to see it. */
static void *message_of(const struct epop_halo *halo, const struct peer *peer, redist_side side, int *count,
                        MPI_Datatype *type)
{
    const redist_element *element = &halo->element;
    bool direct = peer->is_direct[side], as_elements = element->dense ? peer_bytes(halo, peer) > INT_MAX : direct;
    *count = (int)(as_elements ? peer->elements : peer_bytes(halo, peer));
    *type = as_elements ? element->type : element->dense ? MPI_BYTE : MPI_PACKED;
    return direct ? (char *)halo->array + peer->direct[side].at[side] * element->extent : peer->staging[side];
}

static int receive_ghosts(struct epop_halo *halo, int p)
{
    const struct peer *peer = &halo->peers[p];
    MPI_Datatype type;
    int count;
    void *buffer = message_of(halo, peer, REDIST_AFTER, &count, &type);
    if (halo->counts)
        redist_traffic_received(peer->rank, peer_bytes(halo, peer));
    return MPI_Irecv(buffer, count, type, peer->rank, REDIST_HALO_TAG, halo->comm, &halo->requests[2 * p + 1]);
}

static int send_ghosts(struct epop_halo *halo, int p)
{
    const struct peer *peer = &halo->peers[p];
    MPI_Datatype type;
    int count, error = peer->is_direct[REDIST_BEFORE] ? MPI_SUCCESS : pack_ghosts(halo, p);
    if (peer->myself)
        return error == MPI_SUCCESS ? unpack_ghosts(halo, p) : error;
    void *buffer = message_of(halo, peer, REDIST_BEFORE, &count, &type);
    if (halo->counts)
        redist_traffic_sent(peer->rank, peer_bytes(halo, peer));
    int sent = MPI_Isend(buffer, count, type, peer->rank, REDIST_HALO_TAG, halo->comm, &halo->requests[2 * p]);
    return error == MPI_SUCCESS ? sent : error;
}

int redist_halo_post(struct epop_halo *halo, void *array)
{
    int first_error = MPI_SUCCESS;
    halo->array = array;
    for (int way = 0; way < 2; way++)
        for (int p = 0; p < halo->count; p++) {
            int error = MPI_SUCCESS;
            if (way)
                error = send_ghosts(halo, p);
            else if (!halo->peers[p].myself)
                error = receive_ghosts(halo, p);
            first_error = first_error == MPI_SUCCESS ? error : first_error;
        }
    return first_error;
}

/* All messages are posted, so that each comes to its end by itself. */
static int first_active(const struct epop_halo *halo)
{
    for (int i = 0; i < 2 * halo->count; i++)
        if (halo->requests[i] != MPI_REQUEST_NULL)
            return i;
    return MPI_UNDEFINED;
}

int redist_halo_wait(struct epop_halo *halo)
{
    int first_error = MPI_SUCCESS;
    for (;;) {
        int index = MPI_UNDEFINED;
        int error = redist_wait_any(2 * halo->count, halo->requests, first_active(halo), &index);
        if (index == MPI_UNDEFINED)
            return first_error == MPI_SUCCESS ? error : first_error;
        if (error == MPI_SUCCESS && index % 2 && !halo->peers[index / 2].is_direct[REDIST_AFTER])
            error = unpack_ghosts(halo, index / 2);
        first_error = first_error == MPI_SUCCESS ? error : first_error;
    }
}

void redist_halo_free(struct epop_halo *halo)
{
    if (!halo)
        return;
    free(halo->peers);
    free(halo->requests);
    free(halo->staging);
    free(halo);
}

/* ---- What programs call ------------------------------------------------------------------------- */

/* Arguments are alike on all ranks, and so are their faults. */
static redist_fault make_world_halo(const epop_blocks_t *blocks, MPI_Datatype type, const void *array, MPI_Comm comm,
                                    struct epop_halo **halo)
{
    struct redist_layout layout;
    redist_element element;
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    redist_fault fault = redist_layout_of_blocks(&layout, blocks, size);
    if (fault == REDIST_FINE)
        fault = redist_layout_ghosts(&layout);
    if (fault == REDIST_FINE && redist_element_of(type, &element))
        fault = REDIST_BAD_TYPE;
    if (fault == REDIST_FINE && !array && redist_layout_part(&layout, rank).elements > 0)
        fault = REDIST_NO_BLOCK;
    return fault == REDIST_FINE ? redist_halo_make(halo, &layout, rank, &element, comm, NULL) : fault;
}

static int start_halo(const char *function, const epop_blocks_t *blocks, MPI_Datatype type, void *array,
                      struct epop_halo **halo)
{
    MPI_Comm comm = epop_world();
    int rank = 0;
    *halo = NULL;
    if (comm != MPI_COMM_NULL)
        MPI_Comm_rank(comm, &rank);
    redist_fault fault = comm == MPI_COMM_NULL ? REDIST_NO_WORLD : make_world_halo(blocks, type, array, comm, halo);
    if (fault == REDIST_FINE && redist_halo_post(*halo, array) == MPI_SUCCESS)
        return EPOP_OK;
    bool mine = fault == REDIST_NO_MEMORY || fault == REDIST_NO_BLOCK || fault == REDIST_FINE;
    redist_halo_free(*halo);
    *halo = NULL;
    return redist_refuse(function, fault == REDIST_FINE ? REDIST_MPI_FAILED : fault, mine || rank == 0);
}

static int finish_halo(const char *function, struct epop_halo **halo)
{
    int error = redist_halo_wait(*halo);
    redist_halo_free(*halo);
    *halo = NULL;
    return redist_refuse(function, error == MPI_SUCCESS ? REDIST_FINE : REDIST_MPI_FAILED, true);
}

int epop_halo_start(const epop_blocks_t *blocks, MPI_Datatype type, void *array, epop_halo_t **halo)
{
    INTERPOSE_CALL(epop_halo_start);
    if (!halo)
        return EPOP_ERR_ARGUMENT;
    return start_halo("epop_halo_start", blocks, type, array, halo);
}

int epop_halo_finish(epop_halo_t **halo)
{
    INTERPOSE_CALL(epop_halo_finish);
    if (!halo || !*halo)
        return EPOP_OK;
    return finish_halo("epop_halo_finish", halo);
}

int epop_halo_exchange(const epop_blocks_t *blocks, MPI_Datatype type, void *array)
{
    INTERPOSE_CALL(epop_halo_exchange);
    struct epop_halo *halo;
    int result = start_halo("epop_halo_exchange", blocks, type, array, &halo);
    return result == EPOP_OK ? finish_halo("epop_halo_exchange", &halo) : result;
}
