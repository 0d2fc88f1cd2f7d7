/* Writing checkpoints into memory, and the table of both: see memory.h. */
#include "runtime/checkpoint/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/say.h"
#include "runtime/checkpoint/memory_head.h"
#include "runtime/checkpoint/memory_hosts.h"
#include "runtime/checkpoint/memory_part.h"
#include "runtime/checkpoint/memory_place.h"
#include "runtime/checkpoint/memory_read.h"
#include "runtime/checkpoint/memory_send.h"
#include "runtime/checkpoint/outcome.h"

/* What this process writes: its own part first, then those of the ranks whose partner it is. */
struct writing {
    char directory[MEMORY_PATH];
    MPI_Comm comm;
    int rank, partner; /* -1: there is none */
    struct memory_hosts hosts;
    struct checkpoint_head head; /* borrowed */
    struct held {
        struct memory_part part;
        struct memory_table table;
        void *map; /* of the slab that is being written */
        int64_t bytes;
    } * held;
    int count;
    struct memory_sends sends;
};

bool memory_is_quiet;

bool memory_has_partner(const void *file)
{
    return ((const struct writing *)file)->partner >= 0;
}

static void free_writing(struct writing *w)
{
    for (int i = 0; w->held && i < w->count; i++)
        memory_table_free(&w->held[i].table);
    free(w->held);
    memory_sends_free(&w->sends);
    memory_hosts_free(&w->hosts);
    free(w);
}

static void abandon(void *file)
{
    struct writing *w = file;
    for (int i = 0; w->held && i < w->count; i++)
        memory_part_abandon(w->directory, &w->held[i].part);
    free_writing(w);
}

/* ---- Beginning ------------------------------------------------------------------------------------ */

static void hold(struct writing *w, int rank)
{
    w->held[w->count++].part = (struct memory_part){w->head.number, rank, w->hosts.ranks};
}

static int begin_parts(struct writing *w, struct error *error)
{
    w->partner = memory_hosts_partner(&w->hosts, w->rank);
    w->held = calloc((size_t)w->hosts.ranks, sizeof *w->held);
    if (!w->held)
        return error_memory(error);
    hold(w, w->rank);
    for (int rank = 0; rank < w->hosts.ranks; rank++)
        if (memory_hosts_partner(&w->hosts, rank) == w->rank)
            hold(w, rank);
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

static int create(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **file, struct error *error)
{
    struct writing *w = calloc(1, sizeof *w);
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
        free_writing(w);
        return -1;
    }
    if (outcome_of_all(comm, begin_parts(w, error), error)) {
        abandon(w);
        return -1;
    }
    *file = w;
    return 0;
}

/* ---- A slab --------------------------------------------------------------------------------------- */

/* Where each part that is held begins, and how long it is: the first and count of its rank. */
static void tell_ranges(struct writing *w, const struct slab *slab, int64_t (*ranges)[2])
{
    int64_t own[2] = {slab->first, slab->count};
    memcpy(ranges[0], own, sizeof own);
    for (int i = 1; i < w->count; i++)
        memory_receive(&w->sends, w->comm, w->held[i].part.rank, ranges[i], sizeof ranges[i]);
    if (w->partner >= 0)
        memory_send(&w->sends, w->comm, w->partner, own, sizeof own);
    memory_sends_wait(&w->sends);
}

static int make_room(struct writing *w, const struct slab *slab, int64_t (*ranges)[2], struct error *error)
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

static void copy(struct writing *w, const struct slab *slab)
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

static int write_slab(void *file, const struct slab *slab, struct error *error)
{
    struct writing *w = file;
    int64_t(*ranges)[2] = calloc((size_t)w->count, sizeof *ranges);
    int result = ranges ? memory_sends_room(&w->sends, w->count + 1, 0) : -1;
    if (outcome_of_all(w->comm, result ? error_memory(error) : 0, error)) {
        free(ranges);
        abandon(w);
        return -1;
    }
    tell_ranges(w, slab, ranges);
    for (int i = 0; i < w->count; i++)
        w->held[i].map = NULL;
    result = outcome_of_all(w->comm, make_room(w, slab, ranges, error), error);
    if (!result)
        copy(w, slab);
    for (int i = 0; i < w->count; i++)
        memory_part_unmap(w->held[i].map, w->held[i].bytes);
    free(ranges);
    if (result)
        abandon(w);
    return result;
}

static int link_slab(void *file, const char *name, const char *earlier, struct error *error)
{
    (void)name, (void)earlier;
    abandon(file);
    return error_set(error, ERROR_FAILED, "checkpoints in memory have no links to earlier ones");
}

/* ---- Its end -------------------------------------------------------------------------------------- */

static int write_heads(struct writing *w, struct error *error)
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

static int name_parts(struct writing *w, struct error *error)
{
    for (int i = 0; i < w->count; i++)
        if (memory_part_complete(w->directory, &w->held[i].part, error))
            return -1;
    return 0;
}

/* Once in a job. */
static void say_alone(const struct writing *w)
{
    static bool said;
    if (w->rank == 0 && w->partner < 0 && !said && !memory_is_quiet)
        say_line("note: all ranks are on one host, so checkpoints in memory survive its processes, but "
                 "not the host");
    said = true;
}

/* What has its name while others have not is not complete to who reads it; the older one is there until all have. */
static int commit(void *file, struct error *error)
{
    struct writing *w = file;
    if (outcome_of_all(w->comm, write_heads(w, error), error) || outcome_of_all(w->comm, name_parts(w, error), error)) {
        abandon(w);
        return -1;
    }
    if (w->hosts.first[w->rank] == w->rank)
        memory_parts_remove_others(w->directory, w->head.number);
    say_alone(w);
    free_writing(w);
    return 0;
}

const struct store_table store_memory = {
    .version = STORE_VERSION,
    .name = "memory",
    .create = create,
    .write = write_slab,
    .link = link_slab,
    .commit = commit,
    .abandon = abandon,
    .open = memory_open,
    .reader = memory_reader,
    .close = memory_close,
};
