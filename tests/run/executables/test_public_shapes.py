"""Programs in the shapes of public ones, of the time when the elastic calls were in mpi.h: built by flags alone, through 20
resizes up and down, with the result of a run that nothing resizes."""

import re
import subprocess

import job
import joining
import pytest
from executables import LINKED, MPICC, rigid, twenty_resizes

BUILT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-include", "epop/mpi_adapt.h", f"-I{job.ROOT / 'epop_api'}"]
SHAPES = {"workers": ["-cc=g++", "-std=c++17", "shape_workers.cpp"], "steps": ["-std=gnu11", "shape_steps.c"],
          "carried": ["-std=gnu11", "-DEPOP_MPI_ADAPT_2015", "shape_carried.c"]}


@pytest.fixture(scope="module", params=SHAPES)
def shape(request, tmp_path_factory):
    *words, source = SHAPES[request.param]
    binary = tmp_path_factory.mktemp("shapes") / request.param
    subprocess.run([*MPICC, *words, *BUILT, job.ROOT / "tests/plain" / source, "-o", binary, *LINKED], check=True, timeout=60)
    return binary


def run(space, shape, turns, ranks):
    return rigid(space, shape, space.directory / f"of {ranks}", "never", turns, ranks=ranks)


def test_rigid_runs_agree(space, shape):
    assert run(space, shape, 7, 1) == run(space, shape, 7, 2)


@joining.needed
def test_twenty_resizes(space, shape):
    end = space.directory / "end"
    out = twenty_resizes(space, end, shape, space.directory / "output", end, 0)
    turns = re.fullmatch(r"(\d+) turns, result \d+\n", out).group(1)
    assert out == run(space, shape, turns, 2)
