"""Resource changes of programs with process sets, beside the elastic MPI calls and MPI_Comm_spawn, by phases (bench/psets.c)."""
import statistics

from jobs import printed

PHASES = ("query_ms", "operation_ms", "accept_ms", "communicator_ms", "data_ms", "total_ms", "step_ms")
OF_JOINERS = ("started_ms", "session_ms")
SIZES = {"synthetic": 1000000, "water": 256}


def lines(build, mpiexec, ranks, interface, loop, rounds, delta, *more):
    return printed(mpiexec, ranks, build / "bench/psets", interface, loop, rounds, delta, *more)


def changes(build, mpiexec, interface, loop, rounds, delta, ranks=2, wait=10):
    """The medians of each phase, for growing and for shrinking; the first round warms up. wait: seconds, while accepting a change."""
    rows = lines(build, mpiexec, ranks, interface, loop, rounds + 1, delta, SIZES[loop], wait)
    for grows in (True, False):
        some = [row for row in rows if (row["to"] > row["from"]) == grows][1:]
        if some:
            yield some[0]["from"], some[0]["to"], {phase: statistics.median(row[phase] for row in some) for phase in (*PHASES, *OF_JOINERS)}


def series(build, mpiexec, loop, iterations, delta, size, ranks, limit, every):
    """A program that goes on meanwhile: its iterations, and its changes towards a limit."""
    rows = lines(build, mpiexec, ranks, "psets", loop, iterations, delta, size, 0, limit, every)
    return [row for row in rows if "iteration" in row], [row for row in rows if "from" in row]
