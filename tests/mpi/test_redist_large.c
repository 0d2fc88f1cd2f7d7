/*
 * More than 2^31 elements between two ranks, and of replicated data. Takes some 5 GiB, so only with EPOP_TEST_LARGE=1.
 */
#include <string.h>

#include "tests/mpi/redist_world.h"

static const int64_t count = (1LL << 31) + 12345;

static char at(int64_t index)
{
    return (char)(index % 251 ^ index >> 21);
}

static void fill(char *block)
{
    REQUIRE(block != NULL);
    for (int64_t i = 0; i < count; i++)
        block[i] = at(i);
}

static void check(const char *block)
{
    REQUIRE(block != NULL);
    for (int64_t i = 0; i < count; i++)
        REQUIRE(block[i] == at(i));
}

/* The old rank leaves, a new one joins: everything moves. */
static void migrate(MPI_Comm comm)
{
    test_world world;
    make_world(&world, comm, 1, (int[]){1});
    char *old_block = world.rank == 0 ? malloc((size_t)count) : NULL;
    void *block = old_block;
    if (world.rank == 0)
        fill(block);
    sent_bytes = 0;
    REQUIRE(epop_redist(&world.window, epop_dist_block(count), MPI_CHAR, &block) == EPOP_OK);
    REQUIRE(sent_bytes == (world.rank == 0 ? count : 0));
    if (world.rank == 1)
        check(block);
    free(block);
}

static void replicate(MPI_Comm comm)
{
    test_world world;
    make_world(&world, comm, 1, (int[]){0});
    char *data = malloc((size_t)count);
    if (world.rank == 0)
        fill(data);
    REQUIRE(epop_redist_replicated(&world.window, data, count, MPI_CHAR) == EPOP_OK);
    check(data);
    free(data);
}

int main(int argc, char **argv)
{
    int rank, asked = getenv("EPOP_TEST_LARGE") && strcmp(getenv("EPOP_TEST_LARGE"), "1") == 0;
    MPI_Comm two;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 && asked ? 0 : MPI_UNDEFINED, 0, &two);
    if (two != MPI_COMM_NULL) {
        migrate(two);
        replicate(two);
        MPI_Comm_free(&two);
    }
    if (rank == 0)
        printf("test_redist_large: %s\n", asked ? "ok" : "skipped (set EPOP_TEST_LARGE=1)");
    MPI_Finalize();
    return 0;
}
