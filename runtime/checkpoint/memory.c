/* The store in memory: writing and reading checkpoints, on several hosts with a partner for each rank. */
#include "runtime/checkpoint/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/host.h"
#include "runtime/base/say.h"
#include "runtime/checkpoint/memory_part.h"
#include "runtime/checkpoint/memory_place.h"
#include "runtime/checkpoint/store.h"
#include "runtime/control/rundir.h"
#include "runtime/redist/wait.h"

/* ---- Messages of any length --------------------------------------------------------------------- */

/* Several are under way at a time, and all are waited for. */
struct memory_sends {
    MPI_Request *requests;
    size_t room;
    int count;
};

#define TAG   1
#define CHUNK (INT64_C(1) << 30) /* MPI counts by int */

/* Room for so many messages more, each way counted, of so many bytes in all. 0, or -1: out of memory. */
static int memory_sends_room(struct memory_sends *sends, int64_t messages, int64_t bytes)
{
    int64_t wanted = sends->count + messages + bytes / CHUNK;
    return array_reserve(&sends->requests, &sends->room, (size_t)wanted, sizeof *sends->requests);
}

static void memory_send(struct memory_sends *sends, MPI_Comm comm, int to, const void *bytes, int64_t size)
{
    for (int64_t at = 0; at < size; at += CHUNK) {
        int count = (int)(size - at < CHUNK ? size - at : CHUNK);
        MPI_Isend((const char *)bytes + at, count, MPI_BYTE, to, TAG, comm, &sends->requests[sends->count++]);
    }
}

static void memory_receive(struct memory_sends *sends, MPI_Comm comm, int from, void *bytes, int64_t size)
{
    for (int64_t at = 0; at < size; at += CHUNK) {
        int count = (int)(size - at < CHUNK ? size - at : CHUNK);
        MPI_Irecv((char *)bytes + at, count, MPI_BYTE, from, TAG, comm, &sends->requests[sends->count++]);
    }
}

static void memory_sends_wait(struct memory_sends *sends)
{
    redist_wait_all(sends->count, sends->requests);
    sends->count = 0;
}

/* MPI_Allgather of bytes, without spinning. */
static void memory_gather(MPI_Comm comm, const void *own, int bytes, void *all)
{
    MPI_Request request;
    MPI_Iallgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm, &request);
    redist_wait(&request);
}

static void memory_sends_free(struct memory_sends *sends)
{
    free(sends->requests);
    *sends = (struct memory_sends){0};
}

/* ---- Ranks and hosts ---------------------------------------------------------------------------- */

/* Which ranks are on one host. */
struct memory_hosts {
    int ranks;
    int *first; /* of each rank: the first rank of its host */
    int *place; /* and how many of that host are before it */
    int *count; /* of a first rank: how many are on its host */
    int hosts;
};

/* Two hosts may have directories of the same number, and two names the same directory. */
struct identity {
    char host[HOST_OWN_MAX];
    uint64_t device, inode;
};

static int identify_host(const char *directory, struct identity *own, struct error *error)
{
    struct stat status;
    memset(own, 0, sizeof *own);
    snprintf(own->host, sizeof own->host, "%s", host_own());
    if (control_rundir_make(directory, error))
        return -1;
    if (stat(directory, &status))
        return error_set(error, ERROR_FAILED, "%s is gone", directory);
    own->device = status.st_dev;
    own->inode = status.st_ino;
    return 0;
}

static void group_by_host(struct memory_hosts *hosts, const struct identity *all)
{
    for (int rank = 0; rank < hosts->ranks; rank++) {
        int first = 0;
        while (memcmp(&all[first], &all[rank], sizeof *all))
            first++;
        hosts->first[rank] = first;
        hosts->place[rank] = hosts->count[first]++;
        hosts->hosts += first == rank;
    }
}

static void memory_hosts_free(struct memory_hosts *hosts)
{
    free(hosts->first);
    free(hosts->place);
    free(hosts->count);
    *hosts = (struct memory_hosts){0};
}

/* Ranks that see the same directory are on one host: it is made where it is missing. Collective; 0, or -1 with text on
 * all ranks. */
static int memory_hosts_find(MPI_Comm comm, const char *directory, struct memory_hosts *hosts, struct error *error)
{
    struct identity own;
    *hosts = (struct memory_hosts){0};
    MPI_Comm_size(comm, &hosts->ranks);
    size_t ranks = (size_t)hosts->ranks;
    struct identity *all = calloc(ranks, sizeof *all);
    hosts->first = calloc(ranks, sizeof(int));
    hosts->place = calloc(ranks, sizeof(int));
    hosts->count = calloc(ranks, sizeof(int));
    int result = identify_host(directory, &own, error);
    if (!all || !hosts->first || !hosts->place || !hosts->count)
        result = error_memory(error);
    result = outcome_of_all(comm, result, error);
    if (!result) {
        memory_gather(comm, &own, sizeof own, all);
        group_by_host(hosts, all);
    } else {
        memory_hosts_free(hosts);
    }
    free(all);
    return result;
}

/* The rank at that place (modulo how many there are) of the host whose first rank that is. Local. */
static int memory_hosts_member(const struct memory_hosts *hosts, int first, int place)
{
    int rank = first;
    while (hosts->first[rank] != first || hosts->place[rank] != place % hosts->count[first])
        rank++;
    return rank;
}

/* The next one in the order of their first ranks, and from the last one the first. */
static int next_host(const struct memory_hosts *hosts, int first)
{
    int next = first;
    do
        next = (next + 1) % hosts->ranks;
    while (hosts->first[next] != next);
    return next;
}

/* Who keeps the copy of that rank's part: one on the next host; -1: there is no other host. Local. */
static int memory_hosts_partner(const struct memory_hosts *hosts, int rank)
{
    if (hosts->hosts < 2)
        return -1;
    return memory_hosts_member(hosts, next_host(hosts, hosts->first[rank]), hosts->place[rank]);
}

/* ---- Writing ------------------------------------------------------------------------------------ */

/* What this process writes: its own part first, then those of the ranks whose partner it is. */
struct memory_writing {
    char directory[MEMORY_PATH];
    MPI_Comm comm;
    int rank, partner; /* -1: there is none */
    struct memory_hosts hosts;
    struct checkpoint_head head; /* borrowed */
    struct held {
        struct memory_part part;
        struct memory_table table;
        struct memory_table earlier; /* what the part of the checkpoint has that is linked to; empty: not read yet */
        void *map;                   /* of the slab that is being written */
        int64_t bytes;
    } * held;
    int count;
    struct memory_sends sends;
};

bool memory_is_quiet;

bool memory_has_partner(const void *file)
{
    return ((const struct memory_writing *)file)->partner >= 0;
}

static void memory_free_writing(struct memory_writing *w)
{
    for (int i = 0; w->held && i < w->count; i++) {
        memory_table_free(&w->held[i].table);
        memory_table_free(&w->held[i].earlier);
    }
    free(w->held);
    memory_sends_free(&w->sends);
    memory_hosts_free(&w->hosts);
    free(w);
}

static void memory_abandon(void *file)
{
    struct memory_writing *w = file;
    for (int i = 0; w->held && i < w->count; i++)
        memory_part_abandon(w->directory, &w->held[i].part);
    memory_free_writing(w);
}

/* ---- Writing: the beginning --------------------------------------------------------------------- */

static void hold_part(struct memory_writing *w, int rank)
{
    w->held[w->count++].part = (struct memory_part){w->head.number, rank, w->hosts.ranks};
}

static int begin_parts(struct memory_writing *w, struct error *error)
{
    w->partner = memory_hosts_partner(&w->hosts, w->rank);
    w->held = calloc((size_t)w->hosts.ranks, sizeof *w->held);
    if (!w->held)
        return error_memory(error);
    hold_part(w, w->rank);
    for (int rank = 0; rank < w->hosts.ranks; rank++)
        if (memory_hosts_partner(&w->hosts, rank) == w->rank)
            hold_part(w, rank);
    for (int i = 0; i < w->count; i++)
        if (memory_part_begin(w->directory, &w->held[i].part, error))
            return -1;
    return 0;
}

/* As long as this process lives, or writes elsewhere. */
static void hold_place(const char *path)
{
    static char held[MEMORY_PATH];
    static int fd = -1;
    struct error unheard;
    if (!strcmp(held, path))
        return;
    if (fd >= 0)
        close(fd);
    memory_place_sweep();
    fd = memory_place_hold(path, &unheard);
    snprintf(held, sizeof held, "%s", path);
}

static int memory_create(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **file,
                         struct error *error)
{
    struct memory_writing *w = calloc(1, sizeof *w);
    if (outcome_of_all(comm, w ? 0 : error_memory(error), error)) {
        free(w);
        return -1;
    }
    snprintf(w->directory, sizeof w->directory, "%s", path);
    w->comm = comm;
    w->head = *head;
    MPI_Comm_rank(comm, &w->rank);
    hold_place(path);
    if (memory_hosts_find(comm, path, &w->hosts, error)) {
        memory_free_writing(w);
        return -1;
    }
    if (outcome_of_all(comm, begin_parts(w, error), error)) {
        memory_abandon(w);
        return -1;
    }
    *file = w;
    return 0;
}

/* ---- Writing: a slab ---------------------------------------------------------------------------- */

/* Where each part that is held begins, and how long it is: the first and count of its rank. */
static void tell_ranges(struct memory_writing *w, const struct slab *slab, int64_t (*ranges)[2])
{
    int64_t own[2] = {slab->first, slab->count};
    memcpy(ranges[0], own, sizeof own);
    for (int i = 1; i < w->count; i++)
        memory_receive(&w->sends, w->comm, w->held[i].part.rank, ranges[i], sizeof ranges[i]);
    if (w->partner >= 0)
        memory_send(&w->sends, w->comm, w->partner, own, sizeof own);
    memory_sends_wait(&w->sends);
}

static int make_slab_room(struct memory_writing *w, const struct slab *slab, int64_t (*ranges)[2], struct error *error)
{
    struct memory_slab row = {.dims = slab->dims};
    int64_t all = 0;
    MPI_Aint low, extent;
    MPI_Type_get_extent(slab->type, &low, &extent);
    row.bytes = extent;
    snprintf(row.name, sizeof row.name, "%s", slab->name);
    memcpy(row.extent, slab->extent, sizeof row.extent);
    for (int i = 0; i < w->count; i++) {
        struct held *held = &w->held[i];
        row.first = ranges[i][0];
        row.count = ranges[i][1];
        held->bytes = row.count * row.bytes;
        held->map = memory_part_make(w->directory, &held->part, held->table.count, held->bytes, error);
        if (!held->map)
            return -1;
        all += held->bytes;
        if (memory_table_add(&held->table, &row))
            return error_memory(error);
    }
    return memory_sends_room(&w->sends, w->count + 1, all) ? error_memory(error) : 0;
}

static void copy_slab(struct memory_writing *w, const struct slab *slab)
{
    for (int i = 1; i < w->count; i++)
        memory_receive(&w->sends, w->comm, w->held[i].part.rank, w->held[i].map, w->held[i].bytes);
    if (w->partner >= 0)
        memory_send(&w->sends, w->comm, w->partner, slab->data, w->held[0].bytes);
    if (w->held[0].bytes)
        memcpy(w->held[0].map, slab->data, (size_t)w->held[0].bytes);
    memory_sends_wait(&w->sends);
    for (int i = 0; i < w->count; i++) {
        struct memory_slab *row = &w->held[i].table.slabs[w->held[i].table.count - 1];
        row->checksum = memory_slab_checksum(row, w->held[i].map);
    }
}

static int memory_write_slab(void *file, const struct slab *slab, struct error *error)
{
    struct memory_writing *w = file;
    int64_t(*ranges)[2] = calloc((size_t)w->count, sizeof *ranges);
    int result = ranges ? memory_sends_room(&w->sends, w->count + 1, 0) : -1;
    if (outcome_of_all(w->comm, result ? error_memory(error) : 0, error)) {
        free(ranges);
        memory_abandon(w);
        return -1;
    }
    tell_ranges(w, slab, ranges);
    for (int i = 0; i < w->count; i++)
        w->held[i].map = NULL;
    result = outcome_of_all(w->comm, make_slab_room(w, slab, ranges, error), error);
    if (!result)
        copy_slab(w, slab);
    for (int i = 0; i < w->count; i++)
        memory_part_unmap(w->held[i].map, w->held[i].bytes);
    free(ranges);
    if (result)
        memory_abandon(w);
    return result;
}

/* Its number in the table, or -1. */
static int slab_of(const struct memory_table *table, const char *name)
{
    int i = 0;
    while (i < table->count && strcmp(table->slabs[i].name, name))
        i++;
    return i < table->count ? i : -1;
}

/* The row comes first: then a file that has none is not there. */
static int link_held(struct memory_writing *w, struct held *held, const char *name, int number)
{
    const struct memory_part earlier = {number, held->part.rank, held->part.size};
    struct error unheard;
    if (!held->earlier.count && memory_head_read_table(w->directory, &earlier, &held->earlier, &unheard))
        return -1;
    int index = slab_of(&held->earlier, name), slab = held->table.count;
    if (index < 0 || memory_table_add(&held->table, &held->earlier.slabs[index]))
        return -1;
    return memory_part_link(w->directory, &held->part, slab, &earlier, index);
}

/* The same parts, on the same hosts, have the array of the earlier checkpoint: all of it together, whichever ranks the
 * processes are by now. */
static int memory_link(void *file, const char *name, const char *earlier, struct error *error)
{
    struct memory_writing *w = file;
    int slab = w->held[0].table.count, result = 0;
    for (int i = 0; !result && i < w->count; i++)
        result = link_held(w, &w->held[i], name, atoi(earlier));
    if (!outcome_of_all(w->comm, result ? error_set(error, ERROR_FAILED, "it is not there") : 0, error))
        return 0;
    for (int i = 0; i < w->count; i++) {
        memory_part_drop(w->directory, &w->held[i].part, slab);
        if (w->held[i].table.count > slab)
            w->held[i].table.count = slab;
    }
    return 1;
}

/* ---- Writing: the end --------------------------------------------------------------------------- */

static int write_heads(struct memory_writing *w, struct error *error)
{
    for (int i = 0; i < w->count; i++) {
        size_t size = 0;
        char *bytes = memory_head_pack(&w->head, &w->held[i].table, &size);
        int result =
            bytes ? memory_part_write_head(w->directory, &w->held[i].part, bytes, size, error) : error_memory(error);
        free(bytes);
        if (result)
            return -1;
    }
    return 0;
}

static int name_parts(struct memory_writing *w, struct error *error)
{
    for (int i = 0; i < w->count; i++)
        if (memory_part_complete(w->directory, &w->held[i].part, error))
            return -1;
    return 0;
}

/* Once in a job. */
static void say_one_host(const struct memory_writing *w)
{
    static bool said;
    if (w->rank == 0 && w->partner < 0 && !said && !memory_is_quiet)
        say_line("note: all ranks are on one host, so checkpoints in memory survive its processes, but "
                 "not the host");
    said = true;
}

/* What has its name while others have not is not complete to who reads it; the older one is there until all have. */
static int memory_commit(void *file, struct error *error)
{
    struct memory_writing *w = file;
    if (outcome_of_all(w->comm, write_heads(w, error), error) || outcome_of_all(w->comm, name_parts(w, error), error)) {
        memory_abandon(w);
        return -1;
    }
    if (w->hosts.first[w->rank] == w->rank)
        memory_parts_remove_others(w->directory, w->head.number);
    say_one_host(w);
    memory_free_writing(w);
    return 0;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

/*
 * Reading checkpoints from memory. Each host says which parts it has; the newest generation of which all are somewhere
 * is looked through, and taken where each part is what was written: else those that are not are removed, and it is
 * chosen again. Then everybody knows who has which range of which slab, and each rank gets what it wants from those
 * who have it.
 */

#define TRIES 1000

struct memory_reading {
    char directory[MEMORY_PATH];
    MPI_Comm comm;
    int rank, ranks;
    struct memory_hosts hosts;
    int number, parts;          /* the generation: its number, and how many ranks it has */
    int *holder;                /* of each part: the rank that gives it */
    struct memory_table *table; /* of each part */
    struct memory_sends sends;
};

/* ---- Reading: the generation -------------------------------------------------------------------- */

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

static int gather_parts(struct memory_reading *r, struct found *found, struct error *error)
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
static bool host_has(const struct found *found, int first, const struct memory_part *part)
{
    for (int i = 0; i < found->counts[first]; i++)
        if (!memcmp(&found->all[found->starts[first] + i], part, sizeof *part))
            return true;
    return false;
}

/* Of several hosts that have it each gives some of the parts, and of a host each rank. -1: none has it. */
static int find_holder(const struct memory_reading *r, const struct found *found, const struct memory_part *part)
{
    int having = 0, chosen = -1;
    for (int rank = 0; rank < r->ranks; rank++)
        having += r->hosts.first[rank] == rank && host_has(found, rank, part);
    for (int rank = 0, skip = having ? part->rank % having : 0; rank < r->ranks && chosen < 0; rank++)
        if (r->hosts.first[rank] == rank && host_has(found, rank, part) && skip-- == 0)
            chosen = rank;
    return chosen < 0 ? -1 : memory_hosts_member(&r->hosts, chosen, part->rank);
}

/* All parts of that checkpoint? Then r->holder and so on; -1: out of memory. */
static int try_generation(struct memory_reading *r, const struct found *found, const struct memory_part *one)
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

/* ---- Reading: is it what was written? ----------------------------------------------------------- */

/* This rank's parts; what is not is removed, so that nobody meets it again. *error: of the first. */
static int check_own_parts(const struct memory_reading *r, struct error *error)
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
static int choose_generation(struct memory_reading *r, struct error *error)
{
    struct found found = {0};
    int result = gather_parts(r, &found, error), total = 0;
    for (int rank = 0; !result && rank < r->ranks; rank++)
        total += found.counts[rank];
    for (int i = 0; !result && i < total; i++)
        if (found.all[i].number > r->number)
            result = try_generation(r, &found, &found.all[i]);
    free_found(&found);
    if (result)
        error_set(error, ERROR_MEMORY, "out of memory for a checkpoint");
    else if (!r->number)
        result = error_set(error, ERROR_REFUSED, "there is no complete checkpoint in the memory of these hosts");
    return outcome_of_all(r->comm, result, error);
}

/* Each time there is a part less; what cannot be removed is not looked at for ever. */
static int choose_whole_generation(struct memory_reading *r, struct error *error)
{
    for (int tries = 0; tries < TRIES; tries++) {
        r->number = 0;
        if (choose_generation(r, error))
            return -1;
        if (!outcome_of_all(r->comm, check_own_parts(r, error), error))
            return 0;
        if (r->rank == 0)
            say_line("note: checkpoint %d in memory is damaged: %s; another one is looked for", r->number, error->text);
    }
    return error_set(error, ERROR_REFUSED, "there are only damaged checkpoints in the memory of these hosts");
}

/* ---- Reading: the head, and what each part has -------------------------------------------------- */

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

static int read_own_heads(const struct memory_reading *r, struct heads *h, struct error *error)
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
static int share_heads(const struct memory_reading *r, struct heads *h, struct error *error)
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

static int unpack_heads(struct memory_reading *r, const struct heads *h, struct checkpoint_head *head,
                        struct error *error)
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

static int read_heads(struct memory_reading *r, struct checkpoint_head *head, struct error *error)
{
    size_t parts = (size_t)r->parts, ranks = (size_t)r->ranks;
    struct heads h = {.sizes = calloc(parts, sizeof(int)),
                      .counts = calloc(ranks, sizeof(int)),
                      .starts = calloc(ranks, sizeof(int))};
    r->table = calloc(parts, sizeof *r->table);
    int result = h.sizes && h.counts && h.starts && r->table ? read_own_heads(r, &h, error) : error_memory(error);
    result = outcome_of_all(r->comm, result, error);
    if (!result)
        result = share_heads(r, &h, error);
    if (!result)
        result = outcome_of_all(r->comm, unpack_heads(r, &h, head, error), error);
    free_heads(&h);
    return result;
}

static void memory_close(void *file)
{
    struct memory_reading *r = file;
    for (int i = 0; r->table && i < r->parts; i++)
        memory_table_free(&r->table[i]);
    free(r->table);
    free(r->holder);
    memory_sends_free(&r->sends);
    memory_hosts_free(&r->hosts);
    free(r);
}

static int memory_open(const char *path, MPI_Comm comm, struct checkpoint_head *head, void **file, struct error *error)
{
    struct memory_reading *r = calloc(1, sizeof *r);
    *head = (struct checkpoint_head){0};
    if (outcome_of_all(comm, r ? 0 : error_memory(error), error)) {
        free(r);
        return -1;
    }
    snprintf(r->directory, sizeof r->directory, "%s", path);
    r->comm = comm;
    MPI_Comm_rank(comm, &r->rank);
    MPI_Comm_size(comm, &r->ranks);
    if (memory_hosts_find(comm, path, &r->hosts, error) || choose_whole_generation(r, error) ||
        read_heads(r, head, error)) {
        checkpoint_head_free(head);
        memory_close(r);
        return -1;
    }
    *file = r;
    return 0;
}

/* ---- Reading: slabs ----------------------------------------------------------------------------- */

/* Its number in the parts, or -1 with text. */
static int find_slab(const struct memory_reading *r, const char *name, struct error *error)
{
    for (int i = 0; i < r->table[0].count; i++)
        if (!strcmp(r->table[0].slabs[i].name, name))
            return i;
    return error_set(error, ERROR_REFUSED, "the checkpoint in memory has no '%s'", name);
}

static int memory_shape(void *context, struct slab *slab, struct error *error)
{
    const struct memory_reading *r = context;
    int index = find_slab(r, slab->name, error);
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
    struct memory_reading *r;
    struct slab *slab;
    int index;
    int64_t (*wanted)[2]; /* of each rank: first and count */
    const char **maps;    /* of the parts that this rank gives */
};

static const struct memory_slab *row_of(const struct move *m, int part)
{
    return &m->r->table[part].slabs[m->index];
}

static int map_own_parts(struct move *m, struct error *error)
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

static void receive_part(struct move *m, int part)
{
    int64_t first, bytes = row_of(m, part)->bytes, count = overlap(row_of(m, part), m->wanted[m->r->rank], &first);
    char *to = (char *)m->slab->data + (first - m->slab->first) * bytes;
    if (count && m->r->holder[part] != m->r->rank)
        memory_receive(&m->r->sends, m->r->comm, m->r->holder[part], to, count * bytes);
    else if (count)
        memcpy(to, m->maps[part] + (first - row_of(m, part)->first) * bytes, (size_t)(count * bytes));
}

static void give_part(struct move *m, int part)
{
    const struct memory_slab *row = row_of(m, part);
    for (int rank = 0; m->r->holder[part] == m->r->rank && rank < m->r->ranks; rank++) {
        int64_t first, count = overlap(row, m->wanted[rank], &first);
        if (count && rank != m->r->rank)
            memory_send(&m->r->sends, m->r->comm, rank, m->maps[part] + (first - row->first) * row->bytes,
                        count * row->bytes);
    }
}

static int check_elements(const struct move *m, struct error *error)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(m->slab->type, &low, &extent);
    if (row_of(m, 0)->bytes != extent)
        return error_set(error, ERROR_REFUSED, "the elements of '%s' have %lld bytes in memory, and %lld here",
                         m->slab->name, (long long)row_of(m, 0)->bytes, (long long)extent);
    return 0;
}

/* For all that this rank gives and gets. */
static int make_read_room(const struct move *m, struct error *error)
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

static int prepare_read(struct move *m, struct error *error)
{
    m->index = find_slab(m->r, m->slab->name, error);
    m->wanted = calloc((size_t)m->r->ranks, sizeof *m->wanted);
    m->maps = calloc((size_t)m->r->parts, sizeof *m->maps);
    if (m->index < 0)
        return -1;
    return m->wanted && m->maps ? check_elements(m, error) : error_memory(error);
}

static int memory_read_slab(void *context, struct slab *slab, struct error *error)
{
    struct move m = {.r = context, .slab = slab};
    int64_t own[2] = {slab->first, slab->count};
    int result = outcome_of_all(m.r->comm, prepare_read(&m, error), error);
    if (!result)
        result = outcome_of_all(m.r->comm, map_own_parts(&m, error), error);
    if (!result) {
        memory_gather(m.r->comm, own, sizeof own, m.wanted);
        result = outcome_of_all(m.r->comm, make_read_room(&m, error), error);
    }
    for (int part = 0; !result && part < m.r->parts; part++)
        receive_part(&m, part);
    for (int part = 0; !result && part < m.r->parts; part++)
        give_part(&m, part);
    if (!result)
        memory_sends_wait(&m.r->sends);
    for (int part = 0; m.maps && m.index >= 0 && part < m.r->parts; part++)
        memory_part_unmap(m.maps[part], row_of(&m, part)->count * row_of(&m, part)->bytes);
    free(m.maps);
    free(m.wanted);
    return result;
}

static struct slab_reader memory_reader(void *file)
{
    return (struct slab_reader){.context = file, .shape = memory_shape, .read = memory_read_slab};
}

/* ---- The table ---------------------------------------------------------------------------------- */

const struct store_table store_memory = {
    .version = STORE_VERSION,
    .name = "memory",
    .create = memory_create,
    .write = memory_write_slab,
    .link = memory_link,
    .commit = memory_commit,
    .abandon = memory_abandon,
    .open = memory_open,
    .reader = memory_reader,
    .close = memory_close,
};
