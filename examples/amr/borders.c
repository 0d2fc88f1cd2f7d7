/*
 * Both ranks of an edge find it by themselves, as each of them has the whole mesh: the one that gets it from its own
 * block's side, the other one from its neighbours'. So nobody has to be asked, and one exchange of numbers is a step's
 * only message.
 */
#include "amr/borders.h"

#include <stdlib.h>
#include <string.h>

/* An edge that leaf `from` gives to a side of leaf `to`. */
typedef struct link {
    int peer; /* the other's owner */
    int side, kind, part;
    int64_t to, from;
} link_t;

static int by_receiver(const void *one, const void *other)
{
    const link_t *a = one, *b = other;
    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->side != b->side ? a->side - b->side : a->part - b->part;
}

/* ---- Who needs what ------------------------------------------------------ */

/* What `to` gets on that side from `from`. */
static link_t link_between(const mesh_t *mesh, int64_t to, int side, int64_t from, int64_t other)
{
    spot_t t = mesh_spot(mesh, to), f = mesh_spot(mesh, from);
    spot_t finer = f.level > t.level ? f : t;
    int part = f.level == t.level ? 0 : (int)(side < BELOW ? finer.y : finer.x) % 2;
    int kind = f.level == t.level ? SAME : f.level > t.level ? FINER : COARSER;
    return (link_t){mesh->curve.owner[other], side, kind, part, to, from};
}

/* Of one block: what it gets, and what it gives. */
static void add_links(borders_t *b, const mesh_t *mesh, int64_t place)
{
    int64_t found[2];
    for (int side = LEFT; side < SIDES; side++) {
        int count = mesh_neighbours(mesh, place, side, found);
        border_t *border = &b->of[place - b->first];
        for (int n = 0; n < count; n++) {
            b->gets[b->links[1]] = link_between(mesh, place, side, found[n], found[n]);
            border->kind[side] = b->gets[b->links[1]++].kind;
            b->sends[b->links[0]++] = link_between(mesh, found[n], side ^ 1, place, found[n]);
        }
    }
}

static void count_for_ranks(borders_t *b, int way, const link_t *links)
{
    for (int64_t i = 0; i < b->links[way]; i++)
        b->counts[way][links[i].peer] += 2 * CELLS;
    for (int rank = 1; rank < b->size; rank++)
        b->starts[way][rank] = b->starts[way][rank - 1] + b->counts[way][rank - 1];
}

static int allocate(borders_t *b)
{
    size_t most = (size_t)b->count * SIDES * 2, ranks = (size_t)b->size;
    b->of = calloc((size_t)b->count + 1, sizeof *b->of);
    b->sends = malloc((most + 1) * sizeof *b->sends);
    b->gets = malloc((most + 1) * sizeof *b->gets);
    b->out = malloc((most + 1) * CELLS * sizeof *b->out);
    b->in = malloc((most + 1) * CELLS * sizeof *b->in);
    for (int way = 0; way < 2; way++) {
        b->counts[way] = calloc(ranks, sizeof(int));
        b->starts[way] = calloc(ranks, sizeof(int));
    }
    return b->of && b->sends && b->gets && b->out && b->in && b->counts[0] && b->counts[1] && b->starts[0] &&
                   b->starts[1]
               ? EPOP_OK
               : EPOP_ERR_MEMORY;
}

int borders_create(borders_t *b, const mesh_t *mesh, MPI_Comm comm)
{
    int rank;
    borders_free(b);
    b->comm = comm;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &b->size);
    while (b->first < mesh->curve.count && mesh->curve.owner[b->first] < rank)
        b->first++;
    while (b->first + b->count < mesh->curve.count && mesh->curve.owner[b->first + b->count] == rank)
        b->count++;
    if (allocate(b) != EPOP_OK)
        return EPOP_ERR_MEMORY;
    for (int64_t i = 0; i < b->count; i++)
        add_links(b, mesh, b->first + i);
    qsort(b->sends, (size_t)b->links[0], sizeof *b->sends, by_receiver);
    qsort(b->gets, (size_t)b->links[1], sizeof *b->gets, by_receiver);
    count_for_ranks(b, 0, b->sends);
    count_for_ranks(b, 1, b->gets);
    return EPOP_OK;
}

void borders_free(borders_t *b)
{
    free(b->of), free(b->sends), free(b->gets), free(b->out), free(b->in);
    for (int way = 0; way < 2; way++)
        free(b->counts[way]), free(b->starts[way]);
    *b = (borders_t){0};
}

/* ---- The exchange -------------------------------------------------------- */

void borders_pack(borders_t *b, const block_t *blocks)
{
    for (int64_t i = 0; i < b->links[0]; i++) {
        const link_t *link = &b->sends[i];
        block_edge(&blocks[link->from - b->first], link->side ^ 1, link->kind, link->part, b->out + i * CELLS);
    }
}

void borders_send(borders_t *b)
{
    MPI_Alltoallv(b->out, b->counts[0], b->starts[0], MPI_DOUBLE, b->in, b->counts[1], b->starts[1], MPI_DOUBLE,
                  b->comm);
}

void borders_unpack(borders_t *b, const block_t *blocks)
{
    for (int64_t i = 0; i < b->links[1]; i++) {
        const link_t *link = &b->gets[i];
        edge_t *cells = b->of[link->to - b->first].cells[link->side];
        memcpy(cells + (link->kind == FINER ? link->part * CELLS : 0), b->in + i * CELLS, CELLS * sizeof *cells);
    }
    for (int64_t i = 0; i < b->count; i++)
        for (int side = LEFT; side < SIDES; side++)
            if (b->of[i].kind[side] == WALL)
                block_mirror(&blocks[i], side, &b->of[i]);
}
