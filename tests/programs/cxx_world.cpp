// A program in C++ that is not linked with MPI: its calls meet the layer of the epop executable, too.
#include <cstdio>
#include <vector>

#include <epop/epop.h>

namespace
{
int init(int *, char ***, void **)
{
    return 0;
}

int check(void *)
{
    int rank = -1, size = -1, sum = 0, one = 1, same = MPI_UNEQUAL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_compare(MPI_COMM_WORLD, epop_world(), &same);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<int> all(static_cast<std::size_t>(size));
    MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
    if (same != MPI_IDENT || sum != size || all.back() != size - 1)
        return 1;
    if (rank == 0)
        std::printf("C++: a world of %d\n", size);
    return 0;
}
} // namespace

extern "C" EPOP_EXPORT epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("cxx_world");
    epop_add_init(program, "start", init);
    epop_add_rigid(program, "check", check, nullptr);
    return program;
}
