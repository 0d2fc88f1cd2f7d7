/*
 * The shape of a code that fits a surrogate to a costly model, of the time when the calls were in mpi.h: phases, in each
 * of which rank 0 hands out points and the others compute them into a file. It adapts in the middle of a phase; joining
 * processes go straight to begin and become workers. What the next phase computes depends on all that is in the file.
 *     shape_workers OUTPUT FILE PHASES     until FILE exists, or so many phases if PHASES is not 0
 * A leaving process takes part in the broadcast in the window, and asks for its rank after commit.
 */
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace
{

enum Tag { WORK, DONE, ADAPT, END };
enum State : char { TO_DO, AT_WORK, FINISHED };

constexpr long CHUNK = 3;
constexpr int JOBS_BETWEEN_ADAPTATIONS = 5;

struct Team {
    int rank = 0, size = 1, status = -1;
    bool is_master() const { return rank == 0 && status != MPI_ADAPT_STATUS_JOINING; }
    void update()
    {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        status = MPI_ADAPT_STATUS_STAYING;
    }
};

std::uint64_t costly(long point)
{
    std::uint64_t x = static_cast<std::uint64_t>(point) + 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 2000; i++)
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x % 1000003;
}

class Surrogate
{
public:
    Surrogate(Team &team, std::string output) : team(team), output(std::move(output)) {}

    void build()
    {
        if (team.status == MPI_ADAPT_STATUS_JOINING) {
            adapt();
        } else {
            where.first = where.end;
            where.end += 60 + static_cast<long>(sum % 7);
        }
        if (team.is_master())
            hand_out();
        else
            work();
        MPI_Barrier(MPI_COMM_WORLD);
        read();
        where.phase++;
    }

    long phase() const { return where.phase; }
    std::uint64_t result() const { return sum; }

private:
    Team &team;
    std::string output;
    struct {
        long phase = 0, first = 0, end = 0;
    } where;
    std::uint64_t sum = 0;

    void adapt()
    {
        int pending = MPI_ADAPT_FALSE, staying, leaving, joining;
        MPI_Info info;
        MPI_Comm between, after;
        if (team.status != MPI_ADAPT_STATUS_JOINING)
            MPI_Probe_adapt(&pending, &team.status, &info);
        if (pending != MPI_ADAPT_TRUE && team.status != MPI_ADAPT_STATUS_JOINING)
            return;
        MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
        MPI_Bcast(&where, sizeof where, MPI_BYTE, 0, after);
        MPI_Comm_adapt_commit();
        team.update();
    }

    void compute(long job)
    {
        std::vector<std::uint64_t> values;
        long first = where.first + job * CHUNK;
        for (long i = first; i < first + CHUNK && i < where.end; i++)
            values.push_back(costly(i));
        MPI_File file;
        if (MPI_File_open(MPI_COMM_SELF, output.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file))
            std::exit(3);
        MPI_File_write_at(file, first * 8, values.data(), static_cast<int>(values.size()), MPI_UINT64_T,
                          MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }

    void read()
    {
        std::vector<std::uint64_t> values(static_cast<std::size_t>(where.end));
        MPI_File file;
        if (MPI_File_open(MPI_COMM_SELF, output.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file))
            std::exit(3);
        MPI_File_read_at(file, 0, values.data(), static_cast<int>(where.end), MPI_UINT64_T, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
        sum = 0;
        for (std::size_t i = 0; i < values.size(); i++)
            sum += values[i] * (i + 1);
    }

    /* ---- Rank 0 ---- */

    std::vector<State> jobs;
    int at_work = 0;

    bool give(int worker)
    {
        for (std::size_t i = 0; i < jobs.size(); i++) {
            if (jobs[i] != TO_DO)
                continue;
            long job = static_cast<long>(i);
            MPI_Send(&job, 1, MPI_LONG, worker, WORK, MPI_COMM_WORLD);
            jobs[i] = AT_WORK;
            at_work++;
            return true;
        }
        return false;
    }

    int take()
    {
        long job;
        MPI_Status status;
        MPI_Recv(&job, 1, MPI_LONG, MPI_ANY_SOURCE, DONE, MPI_COMM_WORLD, &status);
        jobs[static_cast<std::size_t>(job)] = FINISHED;
        at_work--;
        return status.MPI_SOURCE;
    }

    void give_all()
    {
        for (int worker = 1; worker < team.size; worker++)
            give(worker);
    }

    void tell_all(Tag tag)
    {
        for (int worker = 1; worker < team.size; worker++)
            MPI_Send(nullptr, 0, MPI_LONG, worker, tag, MPI_COMM_WORLD);
    }

    bool one_more()
    {
        if (at_work) {
            give(take());
            return true;
        }
        for (std::size_t i = 0; i < jobs.size(); i++) {
            if (jobs[i] != TO_DO)
                continue;
            compute(static_cast<long>(i));
            jobs[i] = FINISHED;
            return true;
        }
        return false;
    }

    void hand_out()
    {
        jobs.assign(static_cast<std::size_t>((where.end - where.first + CHUNK - 1) / CHUNK), TO_DO);
        give_all();
        for (int done = 1; one_more(); done++) {
            if (done % JOBS_BETWEEN_ADAPTATIONS)
                continue;
            while (at_work)
                take();
            tell_all(ADAPT);
            adapt();
            give_all();
        }
        tell_all(END);
    }

    /* ---- The others ---- */

    void work()
    {
        MPI_Status status;
        for (;;) {
            long job;
            MPI_Recv(&job, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == END)
                return;
            if (status.MPI_TAG == ADAPT) {
                adapt();
                continue;
            }
            compute(job);
            MPI_Send(&job, 1, MPI_LONG, 0, DONE, MPI_COMM_WORLD);
        }
    }
};

} // namespace

int main(int argc, char **argv)
{
    Team team;
    MPI_Init_adapt(&argc, &argv, &team.status);
    MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &team.size);
    Surrogate surrogate(team, argv[1]);
    for (int more = 1; more;) {
        surrogate.build();
        more = std::atol(argv[3]) ? surrogate.phase() < std::atol(argv[3]) : access(argv[2], F_OK) != 0;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (team.is_master())
        std::printf("%ld turns, result %llu\n", surrogate.phase(), static_cast<unsigned long long>(surrogate.result()));
    MPI_Finalize();
}
