"""Programs in the shapes of public ones, of the time when the elastic calls were in mpi.h: built by flags alone, through 20
resizes up and down, with the result of a run that nothing resizes."""

import re
import subprocess

import job
import joining
import pytest

from test_mpi_adapt import LINKED, MPICC, resize, start, status

BUILT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-include", "epop/mpi_adapt.h", f"-I{job.ROOT / 'epop_api'}"]
SHAPES = {"workers": ["-cc=g++", "-std=c++17", "shape_workers.cpp"], "steps": ["-std=gnu11", "shape_steps.c"],
          "carried": ["-std=gnu11", "-DEPOP_MPI_ADAPT_2015", "shape_carried.c"]}
SIZES = (3, 2, 4, 1, 3, 4, 2, 1, 2, 3, 1, 4, 3, 2, 3, 1, 2, 4, 3, 2)


@pytest.fixture(scope="module", params=SHAPES)
def shape(request, tmp_path_factory):
    *words, source = SHAPES[request.param]
    binary = tmp_path_factory.mktemp("shapes") / request.param
    subprocess.run([*MPICC, *words, *BUILT, job.ROOT / "tests/plain" / source, "-o", binary, *LINKED], check=True, timeout=60)
    return binary


def rigid(space, shape, turns, ranks):
    """What it prints without a resize."""
    output = space.directory / f"of {ranks}"
    result = space.start([job.MPIEXEC, "-n", ranks, shape, output, "never", turns]).wait()
    assert result.status == 0 and result.err == "", result
    return result.out


def test_rigid_runs_agree(space, shape):
    assert rigid(space, shape, 7, 1) == rigid(space, shape, 7, 2)


@joining.needed
def test_twenty_resizes(space, shape):
    end = space.directory / "end"
    running = start(space, shape, space.directory / "output", end, 0, env={"EPOP_LEAVE": "commit"}, limit=100)
    for size in SIZES:
        resize(space, size)
        assert status(space)["size"] == size
    end.touch()
    result = running.wait()
    assert result.status == 0 and result.err == "", result
    turns = re.fullmatch(r"(\d+) turns, result \d+\n", result.out).group(1)
    assert result.out == rigid(space, shape, turns, 2), result
