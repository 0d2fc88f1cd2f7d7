/* A leaf as a number: the bits of x and y in turn, as of the finest level that can be, and behind them its level. */
#include "amr/mesh.h"

#include <stdlib.h>

#define LEVEL_BITS 4

static const struct {
    int shift;
    int64_t mask;
} spreads[] = {{8, 0x00ff00ff}, {4, 0x0f0f0f0f}, {2, 0x33333333}, {1, 0x55555555}};

/* Room for another bit behind each of its 16 bits. */
static int64_t spread(int64_t bits)
{
    for (int i = 0; i < 4; i++)
        bits = (bits | bits << spreads[i].shift) & spreads[i].mask;
    return bits;
}

static int64_t squeeze(int64_t bits)
{
    bits &= spreads[3].mask;
    for (int i = 3; i > 0; i--)
        bits = (bits | bits >> spreads[i].shift) & spreads[i - 1].mask;
    return (bits | bits >> spreads[0].shift) & 0xffff;
}

static int64_t leaf_at(spot_t s)
{
    int64_t curve = (spread(s.x) | spread(s.y) << 1) << 2 * (MOST_LEVELS - s.level);
    return curve << LEVEL_BITS | s.level;
}

static int level_of(int64_t leaf)
{
    return (int)(leaf & ((1 << LEVEL_BITS) - 1));
}

spot_t mesh_spot(const mesh_t *mesh, int64_t place)
{
    int level = level_of(mesh->leaves[place]);
    int64_t curve = mesh->leaves[place] >> LEVEL_BITS >> 2 * (MOST_LEVELS - level);
    return (spot_t){level, squeeze(curve), squeeze(curve >> 1)};
}

int mesh_create(mesh_t *mesh)
{
    mesh->curve.count = mesh->curve.ranks = 1;
    mesh->curve.owner = calloc(1, sizeof(int));
    mesh->leaves = calloc(1, sizeof *mesh->leaves);
    return mesh->curve.owner && mesh->leaves ? EPOP_OK : EPOP_ERR_MEMORY;
}

/* ---- Neighbours ---------------------------------------------------------- */

/* The leaf that covers that block, or, where it is finer there, the first one in it. */
static int64_t find(const mesh_t *mesh, spot_t s)
{
    int64_t last = leaf_at(s) | ((1 << LEVEL_BITS) - 1), low = 0, high = mesh->curve.count;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        *(mesh->leaves[middle] <= last ? &low : &high) = middle;
    }
    return low;
}

int mesh_neighbours(const mesh_t *mesh, int64_t place, int side, int64_t *found)
{
    spot_t s = mesh_spot(mesh, place);
    int64_t *across = side < BELOW ? &s.x : &s.y, *along = side < BELOW ? &s.y : &s.x;
    *across += side % 2 ? 1 : -1;
    if (*across < 0 || *across >> s.level)
        return 0;
    found[0] = find(mesh, s);
    if (level_of(mesh->leaves[found[0]]) <= s.level)
        return 1;
    s.level++;
    *across = 2 * *across + (side % 2 ? 0 : 1);
    *along *= 2;
    found[0] = find(mesh, s);
    ++*along;
    found[1] = find(mesh, s);
    return 2;
}

/* ---- Another mesh -------------------------------------------------------- */

static int wanted_level(const mesh_t *mesh, const signed char *change, int64_t place)
{
    return level_of(mesh->leaves[place]) + change[place];
}

/* Siblings follow each other on the curve, if all of them are leaves. */
static int can_join(const mesh_t *mesh, const signed char *change, int64_t place)
{
    spot_t s = mesh_spot(mesh, place);
    int64_t first = place - (s.x % 2 + s.y % 2 * 2);
    if (s.level == 0 || first < 0 || first + 3 >= mesh->curve.count)
        return 0;
    for (int64_t sibling = first; sibling < first + 4; sibling++)
        if (level_of(mesh->leaves[sibling]) != s.level || change[sibling] >= 0)
            return 0;
    return 1;
}

/* One that is to be joined gives way to its neighbours, and those to one that is to be split. Has anything changed? */
static int settle(const mesh_t *mesh, signed char *change, int64_t place)
{
    int64_t found[2];
    int changed = change[place] < 0 && !can_join(mesh, change, place);
    change[place] *= !changed;
    for (int side = LEFT; change[place] && side < SIDES; side++)
        for (int n = mesh_neighbours(mesh, place, side, found); n-- > 0;) {
            int more = wanted_level(mesh, change, found[n]) - wanted_level(mesh, change, place);
            if (change[place] < 0 && more > 1)
                change[place] = 0, changed = 1;
            else if (change[place] > 0 && more < -1)
                change[found[n]] += -1 - more, changed = 1;
        }
    return changed;
}

int64_t mesh_settle(const mesh_t *mesh, signed char *change)
{
    int64_t changes = 0;
    for (int again = 1; again;) {
        again = 0;
        for (int64_t i = 0; i < mesh->curve.count; i++)
            again |= settle(mesh, change, i);
    }
    for (int64_t i = 0; i < mesh->curve.count; i++)
        changes += change[i] != 0;
    return changes;
}

static int64_t count_changed(const mesh_t *mesh, const signed char *change)
{
    int64_t quarters = 0;
    for (int64_t i = 0; i < mesh->curve.count; i++)
        quarters += change[i] > 0 ? 16 : change[i] < 0 ? 1 : 4;
    return quarters / 4;
}

/* Old leaf `i` as one of the new ones, or as several; how many. */
static int put(const mesh_t *mesh, int change, int64_t i, int64_t *leaves)
{
    spot_t s = mesh_spot(mesh, i);
    if (change <= 0)
        leaves[0] = change ? leaf_at((spot_t){s.level - 1, s.x / 2, s.y / 2}) : mesh->leaves[i];
    for (int child = 0; change > 0 && child < 4; child++)
        leaves[child] = leaf_at((spot_t){s.level + 1, 2 * s.x + child % 2, 2 * s.y + child / 2});
    return change > 0 ? 4 : 1;
}

int64_t *mesh_change(mesh_t *mesh, const signed char *change)
{
    int64_t old = mesh->curve.count, count = count_changed(mesh, change), n = 0;
    int64_t *at = malloc((size_t)old * sizeof *at), *leaves = malloc((size_t)count * sizeof *leaves);
    int *owner = malloc((size_t)count * sizeof *owner);
    if (!at || !leaves || !owner) {
        free(at), free(leaves), free(owner);
        return NULL;
    }
    for (int64_t i = 0; i < old; i++) {
        at[i] = n;
        for (int left = put(mesh, change[i], i, leaves + n); left > 0; left--)
            owner[n++] = mesh->curve.owner[i];
        for (int sibling = 1; change[i] < 0 && sibling < 4; sibling++)
            at[i + sibling] = n - 1;
        i += change[i] < 0 ? 3 : 0;
    }
    free(mesh->leaves), free(mesh->curve.owner);
    mesh->leaves = leaves;
    mesh->curve.owner = owner;
    mesh->curve.count = count;
    return at;
}

double mesh_imbalance(const mesh_t *mesh)
{
    int64_t most = 0, run = 0;
    for (int64_t i = 0; i < mesh->curve.count; i++) { /* a rank's leaves follow each other */
        run = i > 0 && mesh->curve.owner[i] == mesh->curve.owner[i - 1] ? run + 1 : 1;
        most = run > most ? run : most;
    }
    return (double)most / (double)((mesh->curve.count + mesh->curve.ranks - 1) / mesh->curve.ranks);
}
