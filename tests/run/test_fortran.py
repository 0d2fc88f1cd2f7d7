"""Fortran: the elastic MPI calls in executables, by each of its three interfaces of MPI, and EPOP programs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import time

import job
import joining
import pytest

LIB = job.BUILD / "lib"
MODULES = job.BUILD / "include/epop/fortran"
SOURCES = job.ROOT / "tests/fortran"
LINKED = [f"-L{LIB}", "-lepop_mpi", f"-Wl,-rpath,{LIB}", f"-Wl,-rpath-link,{LIB}"]

# How a program comes to MPI, and to the elastic calls.
WAYS = {
    "use mpi": [f"-I{MODULES}"],
    "use mpi, unmodified": ["-DOWN_MPI", f"-I{MODULES}/mpi", f"-I{MODULES}"],
    "mpif.h": ["-DMPIF_H", f"-I{MODULES}"],
    "mpif.h, unmodified": ["-DMPIF_H", "-DOWN_MPI", f"-I{MODULES}/mpi"],
    "use mpi_f08": ["-DF08", f"-I{MODULES}"],
}


def compiler():
    """The Fortran compiler command of the MPI that MPICC belongs to; None: it has no Fortran."""
    mpicc = shlex.split(os.environ.get("MPICC") or "mpicc.mpich")[0]
    return shutil.which(re.sub(r"mpicc(?=$|\.mpich$)", "mpif90", mpicc))


MPIFC = compiler()
pytestmark = pytest.mark.skipif(not MPIFC, reason="this MPI was built without Fortran")


def compile_fortran(source, binary, *flags):
    modules = binary.with_suffix(".modules")
    modules.mkdir(exist_ok=True)
    done = subprocess.run([MPIFC, "-w", "-O0", f"-J{modules}", *flags, source, "-o", binary, *LINKED], cwd=modules,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return binary


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """The program of all calls, compiled in a way when it is asked for."""
    place, made = tmp_path_factory.mktemp("calls"), {}

    def compiled(way):
        if way not in made:
            made[way] = compile_fortran(SOURCES / "calls.F90", place / f"calls{len(made)}", *WAYS[way])
        return made[way]
    return compiled


def status(space):
    return json.loads(space.epopctl("status", "--json").out)


def start(space, *command, ranks=2, **how):
    running = space.start([job.MPIEXEC, "-n", ranks, *command], **how)
    end = time.monotonic() + 30
    while space.epopctl("status", "--json").status != 0 or status(space)["state"] != "running":
        assert time.monotonic() < end and running.running(), running.wait(1)
    return running


def go_through(space, binary, sizes, **how):
    end = space.directory / "end"
    running = start(space, binary, end, **how)
    for size in sizes:
        result = space.epopctl("resize", size, "--wait")
        assert result.status == 0, (result, running.wait(1))
    end.touch()
    result = running.wait()
    assert result.status == 0 and result.err == "", result
    assert result.out == f"right at the end, {sizes[-1]} processes\n", result


# ---- Executables ---------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_calls_mean_the_present_world(space, calls, way):
    go_through(space, calls(way), (3, 4, 2, 3, 1) if joining.WORKS else (1,))


def constants(path):
    """{name: value} of what a header, module or include file says of MPI_ADAPT_..."""
    return {name: int(value) for name, value in re.findall(r"\b(MPI_ADAPT_\w+)[ =]+(\d)", path.read_text())}


@pytest.mark.parametrize("name", ["epop_mpi_adapt.f90", "epop_mpi_adapt.fh"])
def test_constants_are_those_of_c(name):
    header = job.ROOT / "epop_api/epop/mpi_adapt.h"
    of_c = {name: value for name, value in constants(header).items() if not name.endswith(("RETREATING", "_2015"))}
    assert len(of_c) == 6 and constants(job.ROOT / "epop_api/fortran" / name) == of_c
