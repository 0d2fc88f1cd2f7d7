/*
 * Reading checkpoints from memory. Each host says which parts it has; the newest generation of which all are somewhere
 * is looked through, and taken where each part is what was written: else those that are not are removed, and it is
 * chosen again. Then everybody knows who has which range of which slab, and each rank gets what it wants from those who
 * have it.
 */
#include "runtime/checkpoint/memory_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/say.h"
#include "runtime/checkpoint/memory_head.h"
#include "runtime/checkpoint/memory_hosts.h"
#include "runtime/checkpoint/memory_part.h"
#include "runtime/checkpoint/memory_send.h"
#include "runtime/checkpoint/outcome.h"
#include "runtime/redist/wait.h"

#define TRIES 1000

struct reading {
    char directory[MEMORY_PATH];
    MPI_Comm comm;
    int rank, ranks;
    struct memory_hosts hosts;
    int number, parts;          /* the generation: its number, and how many ranks it has */
    int *holder;                /* of each part: the rank that gives it */
    struct memory_table *table; /* of each part */
    struct memory_sends sends;
};

/* ---- The generation ------------------------------------------------------------------------------- */

/* What all hosts have, by the first rank of each: `all` from malloc(), counts and starts in parts. */
struct found {
    struct memory_part *all;
    int *counts, *starts; /* of each rank; counts is 0 but for the first rank of a host */
};

static void free_found(struct found *found)
{
    free(found->all);
    free(found->counts);
    free(found->starts);
}

static int gather(struct reading *r, struct found *found, struct error *error)
{
    struct memory_part *own = NULL;
    bool first = r->hosts.first[r->rank] == r->rank;
    int count = first ? memory_parts_list(r->directory, &own) : 0, total = 0;
    size_t ranks = (size_t)r->ranks;
    MPI_Datatype type;
    MPI_Request request;
    *found = (struct found){.counts = calloc(ranks, sizeof(int)), .starts = calloc(ranks, sizeof(int))};
    int result = count < 0 || !found->counts || !found->starts ? error_memory(error) : 0;
    result = outcome_of_all(r->comm, result, error);
    if (!result) {
        memory_gather(r->comm, &count, sizeof count, found->counts);
        for (int rank = 0; rank < r->ranks; total += found->counts[rank++])
            found->starts[rank] = total;
        found->all = calloc((size_t)total + 1, sizeof *found->all);
        result = outcome_of_all(r->comm, found->all ? 0 : error_memory(error), error);
    }
    if (!result) {
        MPI_Type_contiguous(3, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Iallgatherv(own, count, type, found->all, found->counts, found->starts, type, r->comm, &request);
        redist_wait(&request);
        MPI_Type_free(&type);
    }
    free(own);
    return result;
}

/* Does that host (its first rank) have the part? */
static bool has(const struct found *found, int first, const struct memory_part *part)
{
    for (int i = 0; i < found->counts[first]; i++)
        if (!memcmp(&found->all[found->starts[first] + i], part, sizeof *part))
            return true;
    return false;
}

/* Of several hosts that have it each gives some of the parts, and of a host each rank. -1: none has it. */
static int find_holder(const struct reading *r, const struct found *found, const struct memory_part *part)
{
    int having = 0, chosen = -1;
    for (int rank = 0; rank < r->ranks; rank++)
        having += r->hosts.first[rank] == rank && has(found, rank, part);
    for (int rank = 0, skip = having ? part->rank % having : 0; rank < r->ranks && chosen < 0; rank++)
        if (r->hosts.first[rank] == rank && has(found, rank, part) && skip-- == 0)
            chosen = rank;
    return chosen < 0 ? -1 : memory_hosts_member(&r->hosts, chosen, part->rank);
}

/* All parts of that checkpoint? Then r->holder and so on; -1: out of memory. */
static int try(struct reading *r, const struct found *found, const struct memory_part *one)
{
    int *holder = calloc((size_t)(one->size > 0 ? one->size : 1), sizeof *holder), rank = 0;
    if (!holder)
        return -1;
    for (; rank < one->size; rank++) {
        const struct memory_part part = {one->number, rank, one->size};
        holder[rank] = find_holder(r, found, &part);
        if (holder[rank] < 0)
            break;
    }
    if (one->size < 1 || rank < one->size) {
        free(holder);
        return 0;
    }
    free(r->holder);
    r->holder = holder;
    r->number = one->number;
    r->parts = one->size;
    return 0;
}

/* ---- Is it what was written? ------------------------------------------------------------------------ */

/* This rank's parts; what is not is removed, so that nobody meets it again. *error: of the first. */
static int check_own(const struct reading *r, struct error *error)
{
    struct error own;
    int result = 0;
    for (int rank = 0; rank < r->parts; rank++) {
        const struct memory_part part = {r->number, rank, r->parts};
        if (r->holder[rank] != r->rank || !memory_head_check_part(r->directory, &part, &own))
            continue;
        memory_part_abandon(r->directory, &part);
        if (!result)
            *error = own;
        result = -1;
    }
    return result;
}

/* The same on all ranks, as all know the same. */
static int choose(struct reading *r, struct error *error)
{
    struct found found = {0};
    int result = gather(r, &found, error), total = 0;
    for (int rank = 0; !result && rank < r->ranks; rank++)
        total += found.counts[rank];
    for (int i = 0; !result && i < total; i++)
        if (found.all[i].number > r->number)
            result = try(r, &found, &found.all[i]);
    free_found(&found);
    if (result)
        error_set(error, ERROR_MEMORY, "out of memory for a checkpoint");
    else if (!r->number)
        result = error_set(error, ERROR_REFUSED, "there is no complete checkpoint in the memory of these hosts");
    return outcome_of_all(r->comm, result, error);
}

/* Each time there is a part less; what cannot be removed is not looked at for ever. */
static int choose_whole(struct reading *r, struct error *error)
{
    for (int tries = 0; tries < TRIES; tries++) {
        r->number = 0;
        if (choose(r, error))
            return -1;
        if (!outcome_of_all(r->comm, check_own(r, error), error))
            return 0;
        if (r->rank == 0)
            say_line("note: checkpoint %d in memory is damaged: %s; another one is looked for", r->number, error->text);
    }
    return error_set(error, ERROR_REFUSED, "there are only damaged checkpoints in the memory of these hosts");
}

/* ---- Its head, and what each part has --------------------------------------------------------------- */

/* The heads of the parts that this rank gives, one after the other; that of part 0 with the values. */
struct heads {
    char *own, *all;
    int *sizes;           /* of each part */
    int *counts, *starts; /* of each rank: how much it gives, and where that begins */
    int used;
};

static void free_heads(struct heads *h)
{
    free(h->own);
    free(h->all);
    free(h->sizes);
    free(h->counts);
    free(h->starts);
}

static int read_own(const struct reading *r, struct heads *h, struct error *error)
{
    for (int rank = 0; rank < r->parts; rank++) {
        const struct memory_part part = {r->number, rank, r->parts};
        size_t size = 0;
        if (r->holder[rank] != r->rank)
            continue;
        char *bytes = memory_part_read_head(r->directory, &part, &size, error);
        if (bytes && memory_head_verify(bytes, &size)) {
            free(bytes);
            return error_set(error, ERROR_REFUSED, "the head of a checkpoint in memory is not what was written");
        }
        if (bytes && rank)
            size = strlen(bytes) + 1;
        char *grown = bytes ? realloc(h->own, (size_t)h->used + size) : NULL;
        if (grown) {
            memcpy(grown + h->used, bytes, size);
            h->own = grown;
            h->sizes[rank] = (int)size;
            h->used += (int)size;
        }
        free(bytes);
        if (!grown)
            return bytes ? error_memory(error) : -1;
    }
    return 0;
}

/* All of them, ordered by who gives them. */
static int share(const struct reading *r, struct heads *h, struct error *error)
{
    MPI_Request request;
    int total = 0;
    MPI_Iallreduce(MPI_IN_PLACE, h->sizes, r->parts, MPI_INT, MPI_MAX, r->comm, &request);
    redist_wait(&request);
    for (int rank = 0; rank < r->parts; rank++)
        h->counts[r->holder[rank]] += h->sizes[rank];
    for (int rank = 0; rank < r->ranks; total += h->counts[rank++])
        h->starts[rank] = total;
    h->all = malloc((size_t)total + 1);
    if (outcome_of_all(r->comm, h->all ? 0 : error_memory(error), error))
        return -1;
    MPI_Iallgatherv(h->own, h->used, MPI_BYTE, h->all, h->counts, h->starts, MPI_BYTE, r->comm, &request);
    redist_wait(&request);
    return 0;
}

static int unpack(struct reading *r, const struct heads *h, struct checkpoint_head *head, struct error *error)
{
    for (int rank = 0; rank < r->parts; rank++) {
        const char *bytes = h->all + h->starts[r->holder[rank]];
        if (memory_head_unpack(bytes, (size_t)h->sizes[rank], rank ? NULL : head, &r->table[rank], error))
            return -1;
        if (r->table[rank].count != r->table[0].count)
            return error_set(error, ERROR_FAILED, "a checkpoint in memory has parts that do not belong together");
        h->starts[r->holder[rank]] += h->sizes[rank];
    }
    return 0;
}

static int read_heads(struct reading *r, struct checkpoint_head *head, struct error *error)
{
    size_t parts = (size_t)r->parts, ranks = (size_t)r->ranks;
    struct heads h = {.sizes = calloc(parts, sizeof(int)),
                      .counts = calloc(ranks, sizeof(int)),
                      .starts = calloc(ranks, sizeof(int))};
    r->table = calloc(parts, sizeof *r->table);
    int result = h.sizes && h.counts && h.starts && r->table ? read_own(r, &h, error) : error_memory(error);
    result = outcome_of_all(r->comm, result, error);
    if (!result)
        result = share(r, &h, error);
    if (!result)
        result = outcome_of_all(r->comm, unpack(r, &h, head, error), error);
    free_heads(&h);
    return result;
}

int memory_open(const char *path, MPI_Comm comm, struct checkpoint_head *head, void **file, struct error *error)
{
    struct reading *r = calloc(1, sizeof *r);
    *head = (struct checkpoint_head){0};
    if (outcome_of_all(comm, r ? 0 : error_memory(error), error)) {
        free(r);
        return -1;
    }
    snprintf(r->directory, sizeof r->directory, "%s", path);
    r->comm = comm;
    MPI_Comm_rank(comm, &r->rank);
    MPI_Comm_size(comm, &r->ranks);
    if (memory_hosts_find(comm, path, &r->hosts, error) || choose_whole(r, error) || read_heads(r, head, error)) {
        checkpoint_head_free(head);
        memory_close(r);
        return -1;
    }
    *file = r;
    return 0;
}

void memory_close(void *file)
{
    struct reading *r = file;
    for (int i = 0; r->table && i < r->parts; i++)
        memory_table_free(&r->table[i]);
    free(r->table);
    free(r->holder);
    memory_sends_free(&r->sends);
    memory_hosts_free(&r->hosts);
    free(r);
}

/* ---- Slabs ------------------------------------------------------------------------------------------ */

/* Its number in the parts, or -1 with text. */
static int find(const struct reading *r, const char *name, struct error *error)
{
    for (int i = 0; i < r->table[0].count; i++)
        if (!strcmp(r->table[0].slabs[i].name, name))
            return i;
    return error_set(error, ERROR_REFUSED, "the checkpoint in memory has no '%s'", name);
}

static int shape(void *context, struct slab *slab, struct error *error)
{
    const struct reading *r = context;
    int index = find(r, slab->name, error);
    if (index < 0)
        return -1;
    slab->dims = r->table[0].slabs[index].dims;
    memcpy(slab->extent, r->table[0].slabs[index].extent, sizeof slab->extent);
    return 0;
}

/* What is in both: its first element, and how many. */
static int64_t overlap(const struct memory_slab *part, const int64_t wanted[2], int64_t *first)
{
    int64_t end = part->first + part->count, wanted_end = wanted[0] + wanted[1];
    *first = part->first > wanted[0] ? part->first : wanted[0];
    int64_t least = end < wanted_end ? end : wanted_end;
    return least > *first ? least - *first : 0;
}

/* One slab on its way. */
struct move {
    struct reading *r;
    struct slab *slab;
    int index;
    int64_t (*wanted)[2]; /* of each rank: first and count */
    const char **maps;    /* of the parts that this rank gives */
};

static const struct memory_slab *row_of(const struct move *m, int part)
{
    return &m->r->table[part].slabs[m->index];
}

static int map_own(struct move *m, struct error *error)
{
    for (int i = 0; i < m->r->parts; i++) {
        const struct memory_part part = {m->r->number, i, m->r->parts};
        const struct memory_slab *row = row_of(m, i);
        if (m->r->holder[i] != m->r->rank)
            continue;
        m->maps[i] = memory_part_map(m->r->directory, &part, m->index, row->count * row->bytes, error);
        if (!m->maps[i])
            return -1;
    }
    return 0;
}

static void receive(struct move *m, int part)
{
    int64_t first, bytes = row_of(m, part)->bytes, count = overlap(row_of(m, part), m->wanted[m->r->rank], &first);
    char *to = (char *)m->slab->data + (first - m->slab->first) * bytes;
    if (count && m->r->holder[part] != m->r->rank)
        memory_receive(&m->r->sends, m->r->comm, m->r->holder[part], to, count * bytes);
    else if (count)
        memcpy(to, m->maps[part] + (first - row_of(m, part)->first) * bytes, (size_t)(count * bytes));
}

static void give(struct move *m, int part)
{
    const struct memory_slab *row = row_of(m, part);
    for (int rank = 0; m->r->holder[part] == m->r->rank && rank < m->r->ranks; rank++) {
        int64_t first, count = overlap(row, m->wanted[rank], &first);
        if (count && rank != m->r->rank)
            memory_send(&m->r->sends, m->r->comm, rank, m->maps[part] + (first - row->first) * row->bytes,
                        count * row->bytes);
    }
}

static int check(const struct move *m, struct error *error)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(m->slab->type, &low, &extent);
    if (row_of(m, 0)->bytes != extent)
        return error_set(error, ERROR_REFUSED, "the elements of '%s' have %lld bytes in memory, and %lld here",
                         m->slab->name, (long long)row_of(m, 0)->bytes, (long long)extent);
    return 0;
}

/* For all that this rank gives and gets. */
static int make_room(const struct move *m, struct error *error)
{
    int64_t messages = 0, bytes = 0, first, count;
    for (int part = 0; part < m->r->parts; part++)
        for (int rank = 0; rank < m->r->ranks; rank++)
            if ((m->r->holder[part] == m->r->rank || rank == m->r->rank) &&
                (count = overlap(row_of(m, part), m->wanted[rank], &first))) {
                messages++;
                bytes += count * row_of(m, part)->bytes;
            }
    return memory_sends_room(&m->r->sends, messages, bytes) ? error_memory(error) : 0;
}

static int prepare(struct move *m, struct error *error)
{
    m->index = find(m->r, m->slab->name, error);
    m->wanted = calloc((size_t)m->r->ranks, sizeof *m->wanted);
    m->maps = calloc((size_t)m->r->parts, sizeof *m->maps);
    if (m->index < 0)
        return -1;
    return m->wanted && m->maps ? check(m, error) : error_memory(error);
}

static int read_slab(void *context, struct slab *slab, struct error *error)
{
    struct move m = {.r = context, .slab = slab};
    int64_t own[2] = {slab->first, slab->count};
    int result = outcome_of_all(m.r->comm, prepare(&m, error), error);
    if (!result)
        result = outcome_of_all(m.r->comm, map_own(&m, error), error);
    if (!result) {
        memory_gather(m.r->comm, own, sizeof own, m.wanted);
        result = outcome_of_all(m.r->comm, make_room(&m, error), error);
    }
    for (int part = 0; !result && part < m.r->parts; part++)
        receive(&m, part);
    for (int part = 0; !result && part < m.r->parts; part++)
        give(&m, part);
    if (!result)
        memory_sends_wait(&m.r->sends);
    for (int part = 0; m.maps && m.index >= 0 && part < m.r->parts; part++)
        memory_part_unmap(m.maps[part], row_of(&m, part)->count * row_of(&m, part)->bytes);
    free(m.maps);
    free(m.wanted);
    return result;
}

struct slab_reader memory_reader(void *file)
{
    return (struct slab_reader){.context = file, .shape = shape, .read = read_slab};
}
