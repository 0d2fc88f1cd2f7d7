/* Time steps, and changes of the mesh. The mesh depends on what is carried alone, not on the ranks. */
#include "amr/solver.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int here(void)
{
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    return rank;
}

int solver_owner(const void *block, int size, const void *mesh)
{
    (void)size;
    return ((const mesh_t *)mesh)->curve.owner[((const block_t *)block)->place];
}

int solver_create(solver_t *s)
{
    const int counts[] = {1, CELLS * CELLS};
    const MPI_Aint places[] = {offsetof(block_t, place), offsetof(block_t, u)};
    const MPI_Datatype types[] = {MPI_INT64_T, MPI_DOUBLE};
    if (MPI_Type_create_struct(2, counts, places, types, &s->type) || MPI_Type_commit(&s->type))
        return EPOP_ERR_MPI;
    return flow_create(&s->flow, (int)s->options.levels, s->options.period);
}

void solver_free(solver_t *s)
{
    borders_free(&s->borders);
    free(s->flow.sine);
    free(s->mesh.leaves), free(s->mesh.curve.owner), free(s->blocks);
    if (s->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&s->type);
}

int solver_connect(solver_t *s)
{
    int error = borders_create(&s->borders, &s->mesh, epop_world());
    bool mine = s->borders.count == s->count;
    for (int64_t i = 0; mine && i < s->count; i++)
        mine = s->blocks[i].place == s->borders.first + i;
    return error ? error : mine ? EPOP_OK : EPOP_ERR_STATE;
}

/* ---- The start ----------------------------------------------------------- */

/* Each rank makes the whole mesh, and then its own blocks. */
static int refine_at_start(solver_t *s)
{
    for (int64_t changes = 1; changes > 0;) {
        signed char *change = calloc((size_t)s->mesh.curve.count, 1);
        for (int64_t i = 0; change && i < s->mesh.curve.count; i++) {
            spot_t spot = mesh_spot(&s->mesh, i);
            change[i] = spot.level < s->options.levels && block_start_jump(spot) > s->options.refine;
        }
        changes = change ? mesh_settle(&s->mesh, change) : -1;
        int64_t *at = changes > 0 ? mesh_change(&s->mesh, change) : NULL;
        if (changes > 0 && !at)
            changes = -1;
        free(at), free(change);
        if (changes < 0)
            return EPOP_ERR_MEMORY;
    }
    return EPOP_OK;
}

static int fill_blocks(solver_t *s)
{
    s->count = epop_partition_local(&s->mesh.curve, here(), NULL);
    s->blocks = malloc(((size_t)s->count + 1) * sizeof *s->blocks);
    for (int64_t i = 0, n = 0; s->blocks && i < s->mesh.curve.count; i++) {
        if (s->mesh.curve.owner[i] != here())
            continue;
        s->blocks[n].place = i;
        block_start(&s->blocks[n++], mesh_spot(&s->mesh, i));
    }
    return s->blocks ? solver_connect(s) : EPOP_ERR_MEMORY;
}

int solver_start(solver_t *s)
{
    int error = mesh_create(&s->mesh);
    if (!error)
        error = refine_at_start(s);
    if (!error)
        error = epop_partition_divide(&s->mesh.curve);
    if (!error)
        error = fill_blocks(s);
    if (!error)
        s->mass = solver_mass(s);
    return error;
}

double solver_mass(const solver_t *s)
{
    double mass = 0;
    for (int64_t i = 0; i < s->count; i++)
        mass += block_mass(&s->blocks[i], mesh_spot(&s->mesh, s->blocks[i].place));
    MPI_Allreduce(MPI_IN_PLACE, &mass, 1, MPI_DOUBLE, MPI_SUM, epop_world());
    return mass;
}

/* ---- Another mesh -------------------------------------------------------- */

static void exchange_borders(solver_t *s)
{
    double begin = cpu_seconds();
    borders_pack(&s->borders, s->blocks);
    s->computed += cpu_seconds() - begin;
    borders_send(&s->borders);
    begin = cpu_seconds();
    borders_unpack(&s->borders, s->blocks);
    s->computed += cpu_seconds() - begin;
}

/* What each block of this rank wants; then all ranks know that of all blocks, and settle it. */
static int64_t find_changes(solver_t *s, signed char *change)
{
    int *counts = calloc(2 * (size_t)s->borders.size, sizeof *counts), *starts = counts + s->borders.size;
    if (!counts)
        return -1;
    double begin = cpu_seconds();
    for (int64_t i = 0; i < s->mesh.curve.count; i++)
        counts[s->mesh.curve.owner[i]]++;
    for (int rank = 1; rank < s->borders.size; rank++)
        starts[rank] = starts[rank - 1] + counts[rank - 1];
    for (int64_t i = 0; i < s->count; i++) {
        double jump = block_jump(&s->blocks[i], &s->borders.of[i]);
        int level = mesh_spot(&s->mesh, s->blocks[i].place).level;
        change[s->blocks[i].place] =
            jump > s->options.refine ? level < s->options.levels : -(jump < s->options.refine / 4);
    }
    s->computed += cpu_seconds() - begin;
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, change, counts, starts, MPI_SIGNED_CHAR, epop_world());
    begin = cpu_seconds();
    int64_t changes = mesh_settle(&s->mesh, change);
    s->computed += cpu_seconds() - begin;
    free(counts);
    return changes;
}

/* Siblings that are joined come to the owner of the first of them. */
static int gather_siblings(solver_t *s, const signed char *change)
{
    int *owner = s->mesh.curve.owner, apart = 0;
    for (int64_t i = 0; i < s->mesh.curve.count; i += change[i] < 0 ? 4 : 1)
        for (int sibling = 1; change[i] < 0 && sibling < 4; sibling++) {
            apart |= owner[i + sibling] != owner[i];
            owner[i + sibling] = owner[i];
        }
    return apart ? epop_items_exchange(&s->blocks, &s->count, s->type, solver_owner, &s->mesh) : EPOP_OK;
}

/* Its blocks as they are on the new mesh, of which `at` says the places; how many. */
static int64_t change_blocks(const solver_t *s, const signed char *change, const int64_t *at, block_t *blocks)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const block_t *old = &s->blocks[i];
        int64_t place = old->place, before = n;
        if (change[place] > 0) {
            block_split(old, blocks + n);
            n += 4;
        } else if (change[place] < 0) {
            block_join(old, blocks + n++);
            i += 3;
        } else {
            blocks[n++] = *old;
        }
        for (int64_t b = before; b < n; b++)
            blocks[b].place = at[place] + b - before;
    }
    return n;
}

static int change_mesh(solver_t *s, const signed char *change)
{
    int error = gather_siblings(s, change);
    if (error)
        return error;
    double begin = cpu_seconds();
    block_t *blocks = malloc((4 * (size_t)s->count + 1) * sizeof *blocks);
    int64_t *at = blocks ? mesh_change(&s->mesh, change) : NULL;
    if (!at) {
        free(blocks);
        return EPOP_ERR_MEMORY;
    }
    s->count = change_blocks(s, change, at, blocks);
    free(s->blocks), free(at);
    s->blocks = blocks;
    error = solver_connect(s);
    s->computed += cpu_seconds() - begin;
    return error;
}

/* Evenly: blocks cost the same. */
static int deal_out(solver_t *s)
{
    int error = epop_partition_divide(&s->mesh.curve);
    if (!error)
        error = epop_items_exchange(&s->blocks, &s->count, s->type, solver_owner, &s->mesh);
    s->deals++;
    return error ? error : solver_connect(s);
}

static int follow(solver_t *s)
{
    signed char *change = calloc((size_t)s->mesh.curve.count, 1);
    if (!change)
        return EPOP_ERR_MEMORY;
    exchange_borders(s);
    int64_t changes = find_changes(s, change);
    int error = changes < 0 ? EPOP_ERR_MEMORY : changes > 0 ? change_mesh(s, change) : EPOP_OK;
    free(change);
    return error || mesh_imbalance(&s->mesh) <= s->options.balance ? error : deal_out(s);
}

/* ---- A step -------------------------------------------------------------- */

int solver_step(solver_t *s)
{
    s->computed = 0;
    int error = s->step % s->options.every == 0 ? follow(s) : EPOP_OK;
    if (error)
        return error;
    exchange_borders(s);
    double begin = cpu_seconds();
    for (int64_t i = 0; i < s->count; i++)
        block_advance(&s->blocks[i], mesh_spot(&s->mesh, s->blocks[i].place), &s->borders.of[i], &s->flow, s->step);
    s->computed += cpu_seconds() - begin;
    s->step++;
    return EPOP_OK;
}
