/*
 * Atoms that a program has in a list of its own, and in an array only where that is to be described: for packed.c and
 * for the executable tests/plain/adapt_packed.c. Where an atom is follows from its number and the step.
 */
#ifndef TESTS_PACKED_H
#define TESTS_PACKED_H

#include <epop/epop.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ATOMS = 1000 };

struct atom {
    int64_t id, place;
};

struct node {
    struct atom atom;
    struct node *next;
};

struct box {
    int64_t step;
    struct node *first;  /* what the program works on */
    struct atom *packed; /* what is described */
    int64_t count;
    int64_t packs; /* how often this process has packed */
    MPI_Datatype type;
    int fault; /* what pack returns */
    const char *until;
};

static int64_t place_of(int64_t id, int64_t step)
{
    return (id * 7919 + step * (id % 13)) % ATOMS;
}

static int owner(const void *atom, int size, const void *context)
{
    (void)context;
    return (int)(((const struct atom *)atom)->place * size / ATOMS);
}

static void describe(void *data, epop_description_t *d)
{
    struct box *box = data;
    epop_describe_values(d, "step", &box->step, sizeof box->step);
    epop_describe_items(d, "atoms", &box->packed, &box->count, box->type, owner, NULL, 0);
}

static void drop(struct box *box)
{
    while (box->first) {
        struct node *gone = box->first;
        box->first = gone->next;
        free(gone);
    }
}

static int add(struct box *box, struct atom atom)
{
    struct node *node = malloc(sizeof *node);
    if (!node)
        return EPOP_ERR_MEMORY;
    *node = (struct node){atom, box->first};
    box->first = node;
    return 0;
}

static int pack(void *data)
{
    struct box *box = data;
    int64_t count = 0;
    box->packs++;
    for (const struct node *node = box->first; node; node = node->next)
        count++;
    free(box->packed);
    box->count = 0;
    box->packed = malloc((size_t)(count + 1) * sizeof *box->packed);
    for (const struct node *node = box->first; box->packed && node; node = node->next)
        box->packed[box->count++] = node->atom;
    return box->packed ? box->fault : EPOP_ERR_MEMORY;
}

static int unpack(void *data)
{
    struct box *box = data;
    int error = 0;
    drop(box);
    for (int64_t i = 0; i < box->count; i++)
        error |= add(box, box->packed[i]);
    free(box->packed);
    box->packed = NULL;
    box->count = 0;
    return error;
}

static int fill(struct box *box)
{
    int rank, size, error = 0;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    for (int64_t id = rank; id < ATOMS; id += size)
        error |= add(box, (struct atom){id, place_of(id, 0)});
    return error;
}

static void step(struct box *box)
{
    box->step++;
    for (struct node *node = box->first; node; node = node->next)
        node->atom.place = place_of(node->atom.id, box->step);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The same answer on all ranks. */
static int goes_on(struct box *box)
{
    int on = access(box->until, F_OK) != 0;
    MPI_Bcast(&on, 1, MPI_INT, 0, epop_world());
    return on;
}

/* Each atom once, and where it must be. */
static void report(const struct box *box)
{
    int rank, size;
    int64_t all[3] = {0, 0, 0};
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    for (const struct node *node = box->first; node; node = node->next) {
        all[0]++;
        all[1] += node->atom.id;
        all[2] += node->atom.place != place_of(node->atom.id, box->step);
    }
    MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_INT64_T, MPI_SUM, epop_world());
    bool right = all[0] == ATOMS && all[1] == (int64_t)ATOMS * (ATOMS - 1) / 2 && !all[2];
    if (rank == 0)
        printf("%lld atoms %s on %d ranks\n", (long long)all[0], right ? "right" : "wrong", size);
}

#endif
