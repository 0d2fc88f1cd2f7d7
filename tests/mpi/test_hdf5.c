/*
 * The file of checkpoints: what N ranks write M ranks read, element by element, whatever the type, the shape and the
 * cuts; what cannot be done is the same line on all ranks and leaves nothing; what is damaged is found.
 */
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/checkpoint/store.h"

/* Ends the test on every rank. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s; %s\n", __FILE__, __LINE__, #condition, error.text);                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                              \
        }                                                                                                              \
    } while (0)

static const struct store_table *const store = &store_file;
static char directory[64], path[128];
static MPI_Comm comm; /* the first ranks */
static int rank, size;
static struct error error;

/* ---- Who takes part ---- */

/* false: this rank does not. */
static bool among_first(int ranks)
{
    int world_rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, 0, &comm);
    if (comm == MPI_COMM_NULL)
        return false;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return true;
}

static void all_again(void)
{
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same text on all ranks, with these words in it. */
static void require_error(const char *words)
{
    struct error first = error;
    MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm);
    if (!strstr(error.text, words))
        fprintf(stderr, "said: %s\n", error.text);
    REQUIRE(!strcmp(first.text, error.text) && strstr(error.text, words) && !strchr(error.text, '\n'));
}

static int files_there(void)
{
    char pattern[160];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*", directory);
    glob(pattern, 0, NULL, &found);
    int count = (int)found.gl_pathc;
    globfree(&found);
    return count;
}

/* ---- Arrays: what stands where is a function of array, global index and byte ---- */

struct gaps {
    char a;
    double b[2];
    int c;
};

#define ARRAYS 8
static struct {
    const char *name;
    MPI_Datatype type;
    int dims;
    int64_t extent[3];
} arrays[ARRAYS] = {
    {"u", MPI_DOUBLE, 1, {1001}},          {"matrix", MPI_INT, 2, {17, 19}},
    {"group/starts", MPI_INT64_T, 1, {3}}, {"bytes", MPI_CHAR, 1, {333}},
    {"none", MPI_FLOAT, 2, {0, 5}},        {"group/z", MPI_C_DOUBLE_COMPLEX, 3, {5, 4, 3}},
    {"large", MPI_DOUBLE, 1, {300007}},    {"gaps", MPI_DATATYPE_NULL, 1, {100}},
};

static void make_types(void)
{
    struct gaps gaps;
    MPI_Datatype packed, types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    int counts[] = {1, 2, 1};
    MPI_Aint places[] = {0, (char *)gaps.b - (char *)&gaps, (char *)&gaps.c - (char *)&gaps};
    MPI_Type_create_struct(3, counts, places, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof gaps, &arrays[7].type);
    MPI_Type_commit(&arrays[7].type);
    MPI_Type_free(&packed);
}

static struct slab slab_of(int array)
{
    struct slab slab = {.type = arrays[array].type, .dims = arrays[array].dims};
    snprintf(slab.name, sizeof slab.name, "%s", arrays[array].name);
    memcpy(slab.extent, arrays[array].extent, sizeof arrays[array].extent);
    return slab;
}

static int64_t elements_of(const struct slab *slab)
{
    int64_t elements = 1;
    for (int i = 0; i < slab->dims; i++)
        elements *= slab->extent[i];
    return elements;
}

/* Cuts at random, the same on all ranks; parts may be empty. */
static void cut(struct slab *slab, unsigned seed)
{
    int64_t elements = elements_of(slab), at = 0;
    for (int r = 0; r <= rank; r++) {
        seed = seed * 1103515245u + 12345u;
        int64_t most = elements - at, part = most ? (int64_t)(seed >> 8) % (most + 1) : 0;
        slab->first = at;
        slab->count = r == size - 1 ? most : part;
        at += slab->count;
    }
}

static char *fill(struct slab *slab, int array, int version)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(slab->type, &low, &extent);
    char *data = calloc((size_t)slab->count + 1, (size_t)extent);
    for (int64_t i = 0; i < slab->count * extent; i++)
        data[i] = (char)((slab->first * extent + i) * 31 + array * 7 + version);
    slab->data = data;
    return data;
}

/* Gaps are not written. */
static void require_filled(const struct slab *slab, int array, int version)
{
    struct slab expected = *slab;
    char *data = fill(&expected, array, version);
    const char *got = slab->data;
    struct gaps *right = (struct gaps *)data, *read = slab->data;
    MPI_Aint low, extent;
    MPI_Type_get_extent(slab->type, &low, &extent);
    if (array != 7)
        REQUIRE(!slab->count || !memcmp(data, got, (size_t)(slab->count * extent)));
    for (int64_t i = 0; array == 7 && i < slab->count; i++)
        REQUIRE(right[i].a == read[i].a && !memcmp(right[i].b, read[i].b, sizeof read[i].b) && right[i].c == read[i].c);
    free(data);
}

/* ---- Writing and reading ---- */

static struct checkpoint_head head_of(int number)
{
    static char values[200000] = "some values\0and more"; /* more than small attributes have */
    return (struct checkpoint_head){.format = CHECKPOINT_FORMAT,
                                    .program = "test",
                                    .structure = "{}",
                                    .arguments = "[\"a\"]",
                                    .at = {.pc = 2, .visit = 3, .iteration = INT64_C(1) << 40},
                                    .size = size,
                                    .number = number,
                                    .time = 1.5,
                                    .values = values,
                                    .value_bytes = sizeof values};
}

static void write_slabs(void *file, unsigned seed, int version)
{
    for (int a = 0; a < ARRAYS; a++) {
        struct slab slab = slab_of(a);
        cut(&slab, seed + (unsigned)a);
        char *data = fill(&slab, a, version);
        REQUIRE(!store->write(file, &slab, &error));
        free(data); /* also behind */
    }
}

static void write_file(unsigned seed, int version)
{
    void *file;
    struct checkpoint_head head = head_of(version);
    REQUIRE(!store->create(path, comm, &head, &file, &error));
    write_slabs(file, seed, version);
    REQUIRE(!store->commit(file, &error));
}

static void require_head(struct checkpoint_head *head, int number)
{
    struct checkpoint_head right = head_of(number);
    REQUIRE(head->format == CHECKPOINT_FORMAT && !strcmp(head->program, "test") && !strcmp(head->structure, "{}"));
    REQUIRE(!strcmp(head->arguments, "[\"a\"]") && head->at.pc == 2 && head->at.visit == 3);
    REQUIRE(head->at.iteration == INT64_C(1) << 40 && head->number == number && head->time > 1.4);
    REQUIRE(head->value_bytes == right.value_bytes && !memcmp(head->values, right.values, right.value_bytes));
    checkpoint_head_free(head);
}

static void read_slab(const struct slab_reader *reader, struct slab *slab, int array, int version)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(slab->type, &low, &extent);
    slab->data = calloc((size_t)slab->count + 1, (size_t)extent);
    REQUIRE(!reader->read(reader->context, slab, &error));
    require_filled(slab, array, version);
    free(slab->data);
}

static void require_arrays(void *file, unsigned seed, int version)
{
    struct slab_reader reader = store->reader(file);
    for (int a = 0; a < ARRAYS; a++) {
        struct slab slab = slab_of(a), there = slab;
        there.dims = 0;
        REQUIRE(!reader.shape(reader.context, &there, &error));
        REQUIRE(there.dims == slab.dims && !memcmp(there.extent, slab.extent, sizeof slab.extent));
        cut(&slab, seed + (unsigned)a);
        read_slab(&reader, &slab, a, version);
        slab.first = 0; /* all of it on every rank */
        slab.count = elements_of(&slab);
        read_slab(&reader, &slab, a, version);
        slab.count -= slab.count > 5 ? 5 : 0; /* neither each nor all */
        read_slab(&reader, &slab, a, version);
    }
}

static void read_file(unsigned seed, int version)
{
    void *file;
    struct checkpoint_head head;
    REQUIRE(!store->open(path, comm, &head, &file, &error));
    require_head(&head, version);
    require_arrays(file, seed, version);
    store->close(file);
}

static void test_sizes(void)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int writers = 1; writers <= ranks; writers++) {
        if (among_first(writers))
            write_file((unsigned)writers * 17, writers);
        all_again();
        for (int readers = 1; readers <= ranks; readers++) {
            if (among_first(readers))
                read_file((unsigned)(writers * 5 + readers), writers);
            all_again();
        }
    }
    REQUIRE(files_there() == 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- Behind ---- */

static sem_t told;
static void tell(void *context, const struct error *failed)
{
    *(bool *)context = !failed;
    sem_post(&told);
}

static void write_async(int version, bool complete)
{
    void *file;
    bool written = false;
    struct checkpoint_head head = head_of(version);
    struct store_listener listener = {tell, &written};
    sem_init(&told, 0, 0);
    REQUIRE(!store->create_async(path, comm, &head, &file, &error));
    write_slabs(file, 99, version);
    REQUIRE(!store->start(file, &listener, &error));
    sem_wait(&told);
    REQUIRE(written);
    MPI_Barrier(comm);
    REQUIRE(!store->settle(file, complete, &error));
    sem_destroy(&told);
    MPI_Barrier(comm);
}

static void test_async(void)
{
    write_async(50, true);
    read_file(4, 50);
    write_async(51, false); /* the one before stays */
    read_file(5, 50);
    REQUIRE(files_there() == 1);
    MPI_Barrier(comm);
}

/* ---- Links ---- */

static void name(const char *file)
{
    snprintf(path, sizeof path, "%s/%s", directory, file);
}

static void link_all(const char *file_name, const char *earlier, int version)
{
    void *file;
    struct checkpoint_head head = head_of(version);
    name(file_name);
    REQUIRE(!store->create(path, comm, &head, &file, &error));
    for (int a = 0; a < ARRAYS; a++)
        REQUIRE(!store->link(file, arrays[a].name, earlier, &error));
    REQUIRE(!store->commit(file, &error));
}

static void refuse_open(const char *words)
{
    void *file;
    struct checkpoint_head head;
    REQUIRE(store->open(path, comm, &head, &file, &error));
    require_error(words);
}

static void test_links(void)
{
    char **names, one[128];
    int count;
    name("one.h5");
    memcpy(one, path, sizeof one);
    write_file(3, 61);
    link_all("two.h5", "one.h5", 61);
    link_all("three.h5", "two.h5", 61); /* that is one.h5 again */
    read_file(7, 61);
    REQUIRE(!store->needs(path, &names, &count, &error) && count == 1 && !strcmp(names[0], "one.h5"));
    free(names[0]);
    free(names);
    REQUIRE(!store->needs(one, &names, &count, &error) && count == 0);
    free(names);
    MPI_Barrier(comm);
    name("one.h5");
    write_file(3, 62); /* another one of that name */
    name("three.h5");
    refuse_open("needs 'one.h5' for 'u', and there it is another array");
    if (rank == 0)
        unlink(one);
    refuse_open("needs 'one.h5' for 'u', and that cannot be read: No such file");
}

/* ---- What cannot be done ---- */

static void refuse_create(const char *words)
{
    void *file;
    struct checkpoint_head head = head_of(1);
    REQUIRE(store->create(path, comm, &head, &file, &error));
    require_error(words);
}

static void refuse_write(struct slab *slab, const char *words)
{
    void *file;
    struct checkpoint_head head = head_of(1);
    REQUIRE(!store->create(path, comm, &head, &file, &error));
    REQUIRE(store->write(file, slab, &error));
    require_error(words);
}

static void test_refused(void)
{
    int before = files_there();
    struct slab slab = slab_of(0);
    MPI_Datatype empty;
    void *file;
    struct checkpoint_head head = head_of(1);
    MPI_Barrier(comm);
    name("no/such/directory.h5");
    refuse_create("cannot be written: No such file or directory");
    name("");
    refuse_create("cannot be written: that is a directory");
    name("refused.h5");
    cut(&slab, 8);
    fill(&slab, 0, 0);
    slab.count += rank == size - 1;
    refuse_write(&slab, "'u': the parts of the ranks do not make up the whole");
    MPI_Type_contiguous(0, MPI_INT, &empty);
    slab.type = rank == size - 1 ? empty : MPI_DOUBLE;
    slab.count -= rank == size - 1;
    refuse_write(&slab, "'u': elements of this datatype cannot be written");
    MPI_Type_free(&empty);
    free(slab.data);
    REQUIRE(!store->create(path, comm, &head, &file, &error));
    REQUIRE(store->link(file, "u", "refused.h5", &error));
    require_error("'u' is to come from 'refused.h5', and that cannot be read");
    REQUIRE(!store->create(path, comm, &head, &file, &error));
    store->abandon(file);
    MPI_Barrier(comm);
    REQUIRE(files_there() == before);
    MPI_Barrier(comm);
}

static void refuse_read(struct slab_reader *reader, struct slab slab, const char *words)
{
    char room[64];
    slab.data = room;
    REQUIRE(reader->read(reader->context, &slab, &error));
    require_error(words);
}

static void test_refused_readings(void)
{
    void *file;
    struct checkpoint_head head;
    name("state.h5");
    REQUIRE(!store->open(path, comm, &head, &file, &error));
    checkpoint_head_free(&head);
    struct slab_reader reader = store->reader(file);
    struct slab slab = {.name = "v", .type = MPI_INT, .count = 1};
    REQUIRE(reader.shape(reader.context, &slab, &error));
    require_error("state.h5' has no array 'v'");
    refuse_read(&reader, slab, "has no array 'v'");
    refuse_read(&reader, (struct slab){.name = "u", .type = rank == size - 1 ? MPI_FLOAT : MPI_DOUBLE, .count = 1},
                "has 'u' as float64, and the program has it as float32");
    refuse_read(&reader, (struct slab){.name = "u", .type = MPI_DOUBLE, .first = 1001, .count = rank == 0},
                "has 1001 elements of 'u', and 1 from 1001 on are asked for");
    store->close(file);
}

/* ---- Damage ---- */

static void at_rank_0(off_t at, const char *bytes, off_t length)
{
    int fd = rank == 0 ? open(path, O_WRONLY) : -1;
    if (fd >= 0 && bytes)
        REQUIRE(pwrite(fd, bytes, strlen(bytes), at) == (ssize_t)strlen(bytes));
    if (fd >= 0 && length)
        REQUIRE(!ftruncate(fd, length));
    if (fd >= 0)
        close(fd);
    MPI_Barrier(comm);
}

/* In the middle of the largest array, a byte that is not what it should be. */
static void test_damaged_data(void)
{
    void *file;
    struct checkpoint_head head;
    at_rank_0(1500000, "epop", 0);
    REQUIRE(!store->open(path, comm, &head, &file, &error));
    checkpoint_head_free(&head);
    struct slab_reader reader = store->reader(file);
    for (int way = 0; way < 2; way++) {
        struct slab slab = slab_of(6);
        cut(&slab, 3);
        slab.first = way ? 0 : slab.first;
        slab.count = way ? 300007 : slab.count;
        slab.data = malloc((size_t)slab.count * sizeof(double) + 1);
        REQUIRE(reader.read(reader.context, &slab, &error));
        require_error("is damaged: 'large' is not what was written");
        free(slab.data);
    }
    store->close(file);
}

static void test_damage(void)
{
    name("damaged.h5");
    write_file(5, 70);
    test_damaged_data();
    write_file(5, 70);
    at_rank_0(0, NULL, 1000000);
    refuse_open("is damaged: ");
    at_rank_0(0, "no file", 0);
    refuse_open("is no HDF5 file, or damaged at its beginning");
    at_rank_0(0, NULL, 3);
    refuse_open("is no HDF5 file");
    name("nothing.h5");
    refuse_open("cannot be read: No such file");
}

/* ---- All ---- */

static void make_directory(void)
{
    int world_rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    snprintf(directory, sizeof directory, "/tmp/test_hdf5.XXXXXX");
    if (world_rank == 0)
        REQUIRE(mkdtemp(directory));
    MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
    name("state.h5");
}

static void remove_directory(void)
{
    static const char *const names[] = {"state.h5", "two.h5", "three.h5", "damaged.h5"};
    for (int i = 0; i < 4; i++) {
        name(names[i]);
        unlink(path);
    }
    REQUIRE(!rmdir(directory));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    make_types();
    make_directory();
    test_sizes();
    among_first(INT_MAX);
    test_async();
    test_links();
    test_refused();
    test_refused_readings();
    test_damage();
    if (rank == 0) {
        remove_directory();
        printf("test_hdf5: ok\n");
    }
    all_again();
    MPI_Type_free(&arrays[7].type);
    MPI_Finalize();
    return 0;
}
