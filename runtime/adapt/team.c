/* Communicators by ranks of the world: see team.h. */
#include "runtime/adapt/team.h"

#include <stdlib.h>

#define KEPT 16

struct team {
    MPI_Comm comm;
    int *peers; /* to whom its ranks are messages' receivers, by rank in the world; MPI_UNDEFINED: none of it */
    int count;
    bool whole; /* all are of the world */
    struct team_part part;
};

static struct {
    MPI_Group world;
    int rank, size;
    struct team kept[KEPT]; /* by their communicators, the last ones */
    int next;
} teams;

/* Keys that do not add up to 0 by chance. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static uint64_t process_key(int rank)
{
    return mix((uint64_t)rank + 1);
}

void team_begin(MPI_Comm world)
{
    MPI_Comm_group(world, &teams.world);
    MPI_Comm_rank(world, &teams.rank);
    MPI_Comm_size(world, &teams.size);
    for (int i = 0; i < KEPT; i++)
        teams.kept[i].comm = MPI_COMM_NULL;
    teams.next = 0;
}

static void drop(struct team *t)
{
    free(t->peers);
    *t = (struct team){.comm = MPI_COMM_NULL};
}

void team_end(void)
{
    for (int i = 0; i < KEPT; i++)
        drop(&teams.kept[i]);
    MPI_Group_free(&teams.world);
}

void team_forget(const MPI_Comm *comm)
{
    for (int i = 0; comm && i < KEPT; i++)
        if (*comm != MPI_COMM_NULL && teams.kept[i].comm == *comm)
            drop(&teams.kept[i]);
}

/* ---- What is made of a group -------------------------------------------------------------------- */

/* Their ranks in the world; NULL: out of memory. */
static int *translate(MPI_Group group, int *count)
{
    MPI_Group_size(group, count);
    int *own = malloc((size_t)(*count + 1) * sizeof *own), *ranks = malloc((size_t)(*count + 1) * sizeof *ranks);
    for (int i = 0; own && ranks && i < *count; i++)
        own[i] = i;
    if (own && ranks) {
        MPI_Group_translate_ranks(group, *count, own, teams.world, ranks);
    } else {
        free(ranks);
        ranks = NULL;
    }
    free(own);
    return ranks;
}

/* The first of them counts for all others. */
static struct team_part part_of(const int *ranks, int count)
{
    uint64_t sum = 0;
    int first = teams.size;
    for (int i = 0; i < count; i++) {
        if (ranks[i] == MPI_UNDEFINED)
            return (struct team_part){0};
        sum += mix(process_key(ranks[i]));
        if (ranks[i] < first)
            first = ranks[i];
    }
    if (count < 2)
        return (struct team_part){.all = count == teams.size};
    uint64_t key = mix(sum + (uint64_t)count);
    return (struct team_part){.all = count == teams.size,
                              .key = teams.rank == first ? -(uint64_t)(count - 1) * key : key};
}

struct team_part team_of_group(MPI_Group group)
{
    int count;
    int *ranks = translate(group, &count);
    struct team_part part = ranks ? part_of(ranks, count) : (struct team_part){0};
    free(ranks);
    return part;
}

struct team_part team_of_window(MPI_Win window)
{
    MPI_Group group;
    if (window == MPI_WIN_NULL || MPI_Win_get_group(window, &group))
        return (struct team_part){0};
    struct team_part part = team_of_group(group);
    MPI_Group_free(&group);
    return part;
}

/* ---- Of a communicator ------------------------------------------------------------------------------ */

/* With an intercommunicator both groups meet, and the other one receives. */
static void fill(struct team *t, MPI_Comm comm)
{
    MPI_Group own, other, both;
    int inter;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_group(comm, &own);
    if (inter) {
        MPI_Comm_remote_group(comm, &other);
        MPI_Group_union(own, other, &both);
        t->part = team_of_group(both);
        t->peers = translate(other, &t->count);
        MPI_Group_free(&both);
        MPI_Group_free(&other);
    } else {
        t->part = team_of_group(own);
        t->peers = translate(own, &t->count);
    }
    MPI_Group_free(&own);
    t->whole = t->peers;
    for (int i = 0; t->whole && i < t->count; i++)
        t->whole = t->peers[i] != MPI_UNDEFINED;
    t->comm = comm;
}

static const struct team *look_up(MPI_Comm comm)
{
    static const struct team none;
    if (comm == MPI_COMM_NULL)
        return &none;
    for (int i = 0; i < KEPT; i++)
        if (teams.kept[i].comm == comm)
            return &teams.kept[i];
    struct team *t = &teams.kept[teams.next++ % KEPT];
    drop(t);
    fill(t, comm);
    return t;
}

uint64_t team_receiver(MPI_Comm comm, int rank)
{
    const struct team *t = look_up(comm);
    bool known = t->peers && rank >= 0 && rank < t->count && t->peers[rank] != MPI_UNDEFINED;
    return known ? process_key(t->peers[rank]) : 0;
}

uint64_t team_own_key(void)
{
    return process_key(teams.rank);
}

bool team_is_of_world(MPI_Comm comm)
{
    return look_up(comm)->whole;
}

struct team_part team_of_comm(MPI_Comm comm)
{
    return look_up(comm)->part;
}
