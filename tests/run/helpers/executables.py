"""Executables with the elastic MPI calls: compiling, starting and resizing them, for the tests of several files."""

import re
import shlex
import subprocess

import job
import pytest

MPICC = shlex.split(job.os.environ.get("MPICC") or "mpicc.mpich")
LIB = job.BUILD / "lib"
PRELOADED = LIB / "libepop_mpi.so.0"
LINKED = [f"-L{LIB}", "-lepop_mpi", f"-Wl,-rpath,{LIB}", f"-Wl,-rpath-link,{LIB}"]

LONG = 300  # seconds for twenty resizes, and for as many iterations without one
TWENTY = (3, 2, 4, 1, 3, 4, 2, 1, 2, 3, 1, 4, 3, 2, 3, 1, 2, 4, 3, 2)  # sizes


def compile_c(source, binary, *libraries):
    subprocess.run([*MPICC, "-std=gnu11", "-Wall", "-Werror", f"-I{job.ROOT / 'epop_api'}", source, "-o", binary, *libraries],
                   check=True, timeout=60)
    return binary


def compile_cxx(source, binary, *libraries):
    """By the C++ compiler itself, with what the MPI compiler command says."""
    words = shlex.split(subprocess.run([*MPICC, "-show"], capture_output=True, text=True, check=True).stdout)[1:]
    subprocess.run(["g++", "-x", "c++", "-std=c++17", "-Wall", "-Werror", "-DMPICH_SKIP_MPICXX",
                    f"-I{job.ROOT / 'epop_api'}", source, "-x", "none", "-o", binary, *LINKED, *libraries, *words],
                   check=True, timeout=60)
    return binary


def mpi_libraries():
    words = shlex.split(subprocess.run([*MPICC, "-show"], capture_output=True, text=True, check=True).stdout)
    return [word for word in words if re.match(r"-lmpi(ch|_abi)?$|-L", word)]


def source(name):
    return job.ROOT / "tests/plain" / f"{name}.c"


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    return compile_c(source("adapt_loop"), tmp_path_factory.mktemp("loop") / "loop", *LINKED)


def start(space, *command, ranks=2, limit=LONG, **how):
    running = space.start([job.MPIEXEC, "-n", ranks, *command], limit=limit, **how)
    space.wait_until_running(running)
    return running


def wait_until_probed(space):
    """Some times: where ranks do not probe equally often their counts differ by then. The first probe may be the same."""
    space.wait_for_status(lambda status: (status["element"] or {}).get("iteration", 0) > 5)


def go_through(space, command, sizes, env=None):
    """A program of the sort of adapt_loop, resized to one size after the other, to its end."""
    end = space.directory / "end"
    running = start(space, command[0], end, *command[1:], env=env)
    for size in sizes:
        space.resize(size)
        assert space.status()["size"] == size
    end.touch()
    result = running.wait()
    assert result.status == 0 and "WRONG" not in result.out and result.err == "", result
    assert f"right at the end, {sizes[-1]} processes" in result.out, result
    return result


def rigid(space, *command, ranks):
    """What it prints without a resize."""
    result = space.start([job.MPIEXEC, "-n", ranks, *command], limit=LONG).wait()
    assert result.status == 0 and result.err == "", result
    return result.out


def twenty_resizes(space, end, *command):
    """What it prints when it was told to end after twenty of them."""
    running = start(space, *command, env={"EPOP_LEAVE": "commit"})
    for size in TWENTY:
        space.resize(size)
        assert space.status()["size"] == size, running.wait(1)
    end.touch()
    result = running.wait()
    assert result.status == 0 and result.err == "", result
    return result.out


# ---- Sessions in several threads: tests/plain/psets_threads.c

def compile_threads(directory, *more):
    return compile_c(source("psets_threads"), directory / "psets_threads", *more, "-ldl", *LINKED)


def two_threads_begin_one_job(space, program):
    result = space.start([job.MPIEXEC, "-n", 2, program]).wait()
    assert result.status == 0 and result.err == "", result
    assert result.out == "first: 2 processes, sum of ranks 1\nsecond: 2 processes, sum of ranks 1\n", result


def the_world_changes_while_a_communicator_is_made(space, program):
    go_on = space.directory / "go-on"
    running = start(space, program, go_on)
    space.resize(3)
    go_on.touch()
    result = running.wait()
    assert result.status == 0 and result.err == "", result
    assert result.out == "those of the start: 2 processes, sum of ranks 1\n", result
