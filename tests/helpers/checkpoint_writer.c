/*
 * Writes checkpoints one after the other, into the same file, or reads one; for tests that kill it, or let it have no
 * room.
 *
 *   checkpoint_writer write PATH COUNT KIB    all elements of number i are i; each rank says what fails, and goes on
 *   checkpoint_writer behind PATH COUNT KIB   the same behind the program's back
 *   checkpoint_writer ... KIB LIMIT           no file may have more KiB than that
 *   checkpoint_writer link PATH EARLIER       one whose array is in the file of that name beside it
 *   checkpoint_writer read PATH               "good NUMBER", or what is wrong
 */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "runtime/checkpoint/store.h"

static int rank, size;
static int64_t elements;
static double *data;
static sem_t written;
static struct error failed; /* of the thread; no text: none */

static struct slab part(int64_t all)
{
    struct slab slab = {.name = "group/u", .type = MPI_DOUBLE, .dims = 1, .extent = {all}};
    slab.first = all * rank / size;
    slab.count = all * (rank + 1) / size - slab.first;
    slab.data = data;
    return slab;
}

/* ---- Writing ---------------------------------------------------------------------- */

static void tell(void *context, const struct error *error)
{
    (void)context;
    failed = error ? *error : (struct error){.text = ""};
    sem_post(&written);
}

static int end_behind(void *file, struct error *error)
{
    struct store_listener listener = {.written = tell};
    int worst, mine;
    if (store_file.start(file, &listener, error))
        return -1;
    sem_wait(&written);
    mine = failed.text[0] != '\0';
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int result = store_file.settle(file, !worst, error);
    if (worst)
        *error = failed;
    return worst ? -1 : result;
}

/* Values as describe_values_pack has them: a name, a length, bytes. */
static struct checkpoint_head head_of(int number, char values[32])
{
    uint64_t length = sizeof number;
    memcpy(values, "step", 5);
    memcpy(values + 5, &length, sizeof length);
    memcpy(values + 13, &number, sizeof number);
    return (struct checkpoint_head){.format = CHECKPOINT_FORMAT,
                                    .program = "writer",
                                    .structure = "{}",
                                    .arguments = "[]",
                                    .at = {.pc = 1, .visit = 1, .iteration = number},
                                    .size = size,
                                    .number = number,
                                    .time = 1.0,
                                    .values = values,
                                    .value_bytes = 17};
}

static int write_one(const char *path, int number, bool behind, struct error *error)
{
    void *file;
    char values[32];
    struct checkpoint_head head = head_of(number, values);
    struct slab slab = part(elements);
    for (int64_t i = 0; i < slab.count; i++)
        data[i] = number;
    if ((behind ? store_file.create_async : store_file.create)(path, MPI_COMM_WORLD, &head, &file, error) ||
        store_file.write(file, &slab, error))
        return -1;
    return behind ? end_behind(file, error) : store_file.commit(file, error);
}

static void write_all(const char *path, int count, bool behind)
{
    struct error error;
    for (int i = 1; i <= count; i++) {
        if (write_one(path, i, behind, &error))
            printf("rank %d: %s\n", rank, error.text);
        else if (rank == 0)
            printf("number %d\n", i);
        fflush(stdout);
    }
}

static int link_one(const char *path, const char *earlier, struct error *error)
{
    void *file;
    char values[32];
    struct checkpoint_head head = head_of(1, values);
    if (store_file.create(path, MPI_COMM_WORLD, &head, &file, error) ||
        store_file.link(file, "group/u", earlier, error))
        return -1;
    return store_file.commit(file, error);
}

/* ---- Reading ---------------------------------------------------------------------- */

static int read_one(const char *path, int *number, struct error *error)
{
    void *file;
    struct checkpoint_head head;
    struct slab slab = {.name = "group/u"};
    if (store_file.open(path, MPI_COMM_WORLD, &head, &file, error))
        return -1;
    *number = head.number;
    checkpoint_head_free(&head);
    struct slab_reader reader = store_file.reader(file);
    int result = reader.shape(reader.context, &slab, error);
    if (!result) {
        data = malloc((size_t)slab.extent[0] * sizeof *data + 1);
        slab = part(slab.extent[0]);
        result = reader.read(reader.context, &slab, error);
    }
    for (int64_t i = 0; !result && i < slab.count; i++)
        result = data[i] == *number ? 0 : error_set(error, ERROR_FAILED, "element %lld is not right", (long long)i);
    store_file.close(file);
    return result;
}

/* From here on: MPI has files of its own. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
}

int main(int argc, char **argv)
{
    static char lines[BUFSIZ];
    struct error error;
    int number, result = 0;
    MPI_Init(&argc, &argv);
    setvbuf(stdout, lines, _IOLBF, sizeof lines); /* each in one write: MPI has taken the stream's buffer away */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sem_init(&written, 0, 0);
    if (argc == 6)
        limit_files((rlim_t)atoll(argv[5]) * 1024);
    if (argc >= 5) {
        elements = atoll(argv[4]) * 1024 / (int64_t)sizeof *data;
        data = malloc((size_t)elements * sizeof *data + 1);
        write_all(argv[2], atoi(argv[3]), !strcmp(argv[1], "behind"));
    } else if (argc == 4 && link_one(argv[2], argv[3], &error)) {
        printf("rank %d: %s\n", rank, error.text);
    } else if (argc == 3 && (result = read_one(argv[2], &number, &error))) {
        printf("rank %d: %s\n", rank, error.text);
    } else if (argc == 3 && rank == 0) {
        printf("good %d\n", number);
    }
    free(data);
    MPI_Finalize();
    return result ? 1 : 0;
}
