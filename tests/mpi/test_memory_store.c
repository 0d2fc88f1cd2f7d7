/*
 * Checkpoints in memory: what ranks write at one size, others read at another, element by element; from the newest
 * generation that is whole, also when a host is gone. Ranks that see the same directory are on one host, so that there
 * are as many hosts here as directories.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/checkpoint/memory.h"
#include "runtime/checkpoint/memory_part.h"
#include "runtime/control/rundir.h"
#include "tests/expect.h"

#define ELEMENTS 1000
#define ROUNDS   15

static char base[64], directory[128];
static int rank, size, wrong;
static int linked; /* the number of the checkpoint that 'v' is of; 0: of the one that is read */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* ---- Hosts ---------------------------------------------------------------------------------------- */

static void live_on(int host)
{
    snprintf(directory, sizeof directory, "%s-%d", base, host);
}

static void remove_host(int host)
{
    char path[128];
    snprintf(path, sizeof path, "%s-%d", base, host);
    if (rank == 0)
        control_rundir_remove(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- Writing -------------------------------------------------------------------------------------- */

/* Consecutive parts of random lengths, some of them empty: the same on all ranks. */
static void cut(uint64_t seed, int parts, int part, int64_t *first, int64_t *count)
{
    int64_t begin = 0, end = 0;
    for (int i = 0; i <= part; i++) {
        begin = end;
        end = i == parts - 1 ? ELEMENTS : begin + (int64_t)(next_random(&seed) % (uint64_t)(ELEMENTS - begin + 1));
    }
    *first = begin;
    *count = end - begin;
}

static double value(int number, int64_t index)
{
    return number * 1e6 + (double)index;
}

static struct checkpoint_head head_of(int number)
{
    return (struct checkpoint_head){.format = CHECKPOINT_FORMAT,
                                    .program = "test",
                                    .structure = "{}",
                                    .arguments = "[\"a\"]",
                                    .at = {.pc = 1, .visit = 2, .iteration = number},
                                    .size = size,
                                    .number = number,
                                    .time = 4.5,
                                    .values = "va\0lues",
                                    .value_bytes = 7};
}

static void *create(MPI_Comm comm, int number)
{
    struct error error;
    struct checkpoint_head head = head_of(number);
    void *file;
    EXPECT(store_memory.create(directory, comm, &head, &file, &error) == 0);
    return file;
}

static void write_slab(void *file, MPI_Comm comm, int which, int number, uint64_t seed)
{
    struct error error;
    struct slab slab = {.name = "u", .type = MPI_DOUBLE, .dims = 2, .extent = {ELEMENTS / 10, 10}};
    int own, all;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &all);
    cut(seed + (uint64_t)which, all, own, &slab.first, &slab.count);
    double *values = malloc((size_t)slab.count * sizeof *values + 1);
    for (int64_t i = 0; i < slab.count; i++)
        values[i] = value(number + which, slab.first + i);
    slab.data = values;
    slab.name[0] = which ? 'v' : 'u';
    EXPECT(store_memory.write(file, &slab, &error) == 0);
    free(values);
}

/* Up to before commit. */
static void *put(MPI_Comm comm, int number, uint64_t seed)
{
    void *file = create(comm, number);
    write_slab(file, comm, 0, number, seed);
    write_slab(file, comm, 1, number, seed);
    return file;
}

/* 'v' as an earlier one has it; what link answered. It comes first, and so has another place than there. */
static int save_linked(MPI_Comm comm, int number, const char *earlier, uint64_t seed)
{
    struct error error;
    void *file = create(comm, number);
    int result = store_memory.link(file, "v", earlier, &error);
    if (result == 1)
        write_slab(file, comm, 1, number, seed);
    write_slab(file, comm, 0, number, seed);
    EXPECT(store_memory.commit(file, &error) == 0);
    return result;
}

static void save(MPI_Comm comm, int number, uint64_t seed)
{
    struct error error;
    EXPECT(store_memory.commit(put(comm, number, seed), &error) == 0);
}

/* ---- Reading -------------------------------------------------------------------------------------- */

static void read_range(const struct slab_reader *reader, int which, int number, int64_t first, int64_t count)
{
    struct error error;
    struct slab slab = {.name = "u", .type = MPI_DOUBLE, .first = first, .count = count};
    double *values = malloc((size_t)count * sizeof *values + 1);
    slab.name[0] = which ? 'v' : 'u';
    slab.data = values;
    EXPECT(reader->shape(reader->context, &slab, &error) == 0 && slab.dims == 2 && slab.extent[1] == 10);
    EXPECT(reader->read(reader->context, &slab, &error) == 0);
    int64_t others = 0;
    for (int64_t i = 0; i < count; i++)
        others += values[i] != value((which && linked ? linked : number) + which, first + i);
    EXPECT(others == 0);
    free(values);
}

/* Of all ranks of comm, which want ranges of their own; number: of the checkpoint that is to be found, 0: none. */
static void load(MPI_Comm comm, int number, uint64_t seed)
{
    struct error error = {0};
    struct checkpoint_head head;
    void *file;
    int result = store_memory.open(directory, comm, &head, &file, &error), own, all;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &all);
    EXPECT((result == 0) == (number != 0));
    if (result) {
        EXPECT(strstr(error.text, "no complete checkpoint"));
        return;
    }
    EXPECT(head.number == number && head.at.iteration == number && head.at.visit == 2);
    EXPECT(!strcmp(head.arguments, "[\"a\"]") && head.value_bytes == 7 && !memcmp(head.values, "va\0lues", 7));
    const struct slab_reader reader = store_memory.reader(file);
    for (int which = 1; which >= 0; which--) {
        int64_t first, count;
        cut(seed + 7, all, own, &first, &count);
        read_range(&reader, which, number, first, count);
        read_range(&reader, which, number, 0, ELEMENTS); /* all ranks want all */
    }
    struct slab other = {.name = "other", .type = MPI_DOUBLE};
    EXPECT(reader.shape(reader.context, &other, &error) == -1);
    store_memory.close(file);
    checkpoint_head_free(&head);
}

/* By the first `ranks` of all. */
static void load_at(int ranks, int number, uint64_t seed)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) {
        load(comm, number, seed);
        MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- Cases ---------------------------------------------------------------------------------------- */

static void test_any_sizes(void)
{
    for (int round = 1; round <= ROUNDS; round++) {
        uint64_t seed = (uint64_t)round * 977;
        int writers = 1 + (int)(next_random(&seed) % (uint64_t)size), hosts = 1 + (int)(next_random(&seed) % 3);
        MPI_Comm comm;
        live_on(rank % hosts);
        MPI_Comm_split(MPI_COMM_WORLD, rank < writers ? 0 : MPI_UNDEFINED, rank, &comm);
        if (comm != MPI_COMM_NULL) {
            save(comm, round, seed);
            MPI_Comm_free(&comm);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        load_at(size, round, seed); /* all hosts are there */
        for (int host = 0; host < hosts; host++)
            remove_host(host);
    }
}

/* Two ranks on each of two hosts, and one of the hosts is gone: those on the other one have it all. */
static void test_a_host_is_lost(void)
{
    live_on(rank / 2);
    save(MPI_COMM_WORLD, 1, 5);
    remove_host(1);
    live_on(0);
    load_at(2, 1, 9);
    load_at(size, 1, 9);
    remove_host(0);
}

/* Three hosts, of which two are lost: nothing is complete. */
static void test_too_many_hosts_are_lost(void)
{
    live_on(rank % 3);
    save(MPI_COMM_WORLD, 1, 5);
    remove_host(1);
    remove_host(2);
    live_on(0);
    load_at(size, 0, 9);
    remove_host(0);
}

/* One that was not completed, as its writers were killed, is as if it was not there; the next one removes it. */
static void test_killed_while_writing(void)
{
    live_on(rank / 2);
    save(MPI_COMM_WORLD, 1, 5);
    void *unfinished = put(MPI_COMM_WORLD, 2, 6); /* never freed: its writers are dead */
    MPI_Barrier(MPI_COMM_WORLD);
    load_at(size, 1, 9);
    EXPECT(memory_has_partner(unfinished));
    save(MPI_COMM_WORLD, 3, 7);
    load_at(size, 3, 9);
    char path[256];
    snprintf(path, sizeof path, "%s/2-0-%d.part", directory, size);
    EXPECT(access(path, F_OK) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    remove_host(0);
    remove_host(1);
}

/* Killed between the names: some parts of the newer one are complete, and the older one is still there. */
static void test_killed_while_naming(void)
{
    struct error error;
    live_on(rank / 2);
    save(MPI_COMM_WORLD, 1, 5);
    put(MPI_COMM_WORLD, 2, 6);
    const struct memory_part own = {2, rank, size};
    if (rank < 2)
        EXPECT(memory_part_complete(directory, &own, &error) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    load_at(size, 1, 9);
    remove_host(0);
    remove_host(1);
}

/* ---- Damage ---------------------------------------------------------------------------------------- */

enum harm { FLIPPED, CUT, GONE };

/* The last byte of a file of that part is another one, or cut off; or there is no such file. By rank 0, for all. */
static void damage(int number, int part, const char *file, enum harm harm)
{
    char path[200];
    struct stat status;
    unsigned char byte;
    snprintf(path, sizeof path, "%s/%d-%d-%d/%s", directory, number, part, size, file);
    int fd = rank == 0 ? open(path, O_RDWR) : -1;
    if (fd >= 0) {
        EXPECT(!fstat(fd, &status) && pread(fd, &byte, 1, status.st_size - 1) == 1);
        byte ^= 0x10;
        EXPECT(harm != FLIPPED || pwrite(fd, &byte, 1, status.st_size - 1) == 1);
        EXPECT(harm != CUT || !ftruncate(fd, status.st_size - 1));
        EXPECT(harm != GONE || !unlink(path));
        close(fd);
    }
    EXPECT(rank > 0 || fd >= 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void on_rank_0(const char *command)
{
    if (rank == 0)
        EXPECT(system(command) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* On two hosts the copy is taken, by this restart and the next; on one the generation before, if it is there, or none.
 */
static void test_damaged(const char *file, enum harm harm)
{
    char keep[300], bring[300];
    live_on(rank / 2);
    save(MPI_COMM_WORLD, 1, 6);
    damage(1, 1, file, harm);
    load_at(size, 1, 9);
    load_at(size, 1, 8);
    remove_host(0);
    remove_host(1);
    live_on(0);
    snprintf(keep, sizeof keep, "cp -r %s %s-1", directory, base);
    snprintf(bring, sizeof bring, "cp -r %s-1/2-* %s", base, directory);
    save(MPI_COMM_WORLD, 2, 6);
    on_rank_0(keep);
    save(MPI_COMM_WORLD, 3, 6);
    on_rank_0(bring);
    load_at(size, 3, 9);
    damage(3, size - 1, file, harm);
    load_at(size, 2, 9);
    damage(2, 0, file, harm);
    load_at(size, 0, 9);
    remove_host(0);
    remove_host(1);
}

/* ---- Linked ---------------------------------------------------------------------------------------- */

/* The first file of part 0 of two checkpoints, of which the later one is being written. */
static bool are_one_file(int complete, int unfinished)
{
    struct stat one, other;
    char path[200];
    snprintf(path, sizeof path, "%s/%d-0-%d/0", directory, complete, size);
    bool there = !stat(path, &one);
    snprintf(path, sizeof path, "%s/%d-0-%d.part/0", directory, unfinished, size);
    return there && !stat(path, &other) && one.st_ino == other.st_ino;
}

/* It is there once, also when the checkpoint that it was written for is gone, or one that links to it comes to nothing;
 * and on another host, in case that it is damaged. */
static void test_linked(int hosts)
{
    struct error error;
    live_on(rank % hosts);
    save(MPI_COMM_WORLD, 1, 6);
    EXPECT(save_linked(MPI_COMM_WORLD, 2, "1", 7) == 0);
    void *unfinished = create(MPI_COMM_WORLD, 3);
    EXPECT(store_memory.link(unfinished, "v", "2", &error) == 0);
    EXPECT(are_one_file(2, 3));
    MPI_Barrier(MPI_COMM_WORLD);
    store_memory.abandon(unfinished);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(save_linked(MPI_COMM_WORLD, 3, "2", 8) == 0);
    linked = 1;
    load_at(size, 3, 9);
    load_at(2, 3, 9);
    if (hosts > 1) {
        damage(3, 0, "0", FLIPPED);
        load_at(size, 3, 9);
        remove_host(1);
        live_on(0);
        load_at(size, 0, 9); /* what was damaged, and then its copy */
    }
    linked = 0;
    remove_host(0);
    remove_host(1);
}

/* Not by all: then it is written. */
static void test_nothing_to_link_to(void)
{
    live_on(rank / 2);
    EXPECT(save_linked(MPI_COMM_WORLD, 1, "7", 6) == 1);
    load_at(size, 1, 9);
    damage(1, 1, "0", GONE);
    EXPECT(save_linked(MPI_COMM_WORLD, 2, "1", 7) == 1);
    load_at(size, 2, 9);
    damage(2, 0, "head", CUT);
    EXPECT(save_linked(MPI_COMM_WORLD, 3, "2", 8) == 1);
    load_at(size, 3, 9);
    remove_host(0);
    remove_host(1);
}

/* Of another number of ranks: it has other parts. */
static void test_not_of_another_size(void)
{
    MPI_Comm comm;
    live_on(rank / 2);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size - 1 ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) {
        save(comm, 1, 6);
        MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(save_linked(MPI_COMM_WORLD, 2, "1", 7) == 1);
    load_at(size, 2, 9);
    remove_host(0);
    remove_host(1);
}

static void test_abandoned(void)
{
    live_on(0);
    void *file = put(MPI_COMM_WORLD, 1, 5);
    EXPECT(!memory_has_partner(file));
    MPI_Barrier(MPI_COMM_WORLD);
    store_memory.abandon(file);
    MPI_Barrier(MPI_COMM_WORLD);
    load_at(size, 0, 9);
    remove_host(0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long pid = (long)getpid();
    MPI_Bcast(&pid, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(base, sizeof base, "/dev/shm/epop-test-%ld", pid);
    memory_is_quiet = true;
    test_any_sizes();
    test_a_host_is_lost();
    test_too_many_hosts_are_lost();
    test_killed_while_writing();
    test_killed_while_naming();
    test_abandoned();
    for (enum harm harm = FLIPPED; harm <= GONE; harm++) {
        test_damaged("0", harm);
        test_damaged("1", harm);
        test_damaged("head", harm);
    }
    test_linked(1);
    test_linked(2);
    test_nothing_to_link_to();
    test_not_of_another_size();
    MPI_Finalize();
    return wrong ? 1 : 0;
}
