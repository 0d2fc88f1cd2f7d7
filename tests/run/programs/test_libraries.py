"""The recipes of docs/guide/libraries.md: built as the page says, resized, and compared with runs that were not."""

import math
import os
import re
import subprocess

import h5py
import job
import joining
import numpy
import pages
import pytest

PAGE = job.ROOT / "docs/guide/libraries.md"
SOURCES = job.ROOT / "examples/libraries"
RECIPES = sorted([*(path.stem for path in SOURCES.glob("*.c")), "scotch"])  # that one is METIS's with another library
WARNINGS = "-Wall -Wextra -Wpedantic -Werror"
ENDLESS = "1000000000"
TEN = (3, 1, 4, 2, 3, 4, 1, 3, 2, 4)
QUIET = {"OMP_WAIT_POLICY": "passive"}  # threads that wait leave the cores to other processes
BACKENDS = {"pool": ("--backend", "pool", "--start", "2"), "join": ("--backend", "join")}


def commands(name):
    """How the page builds a recipe."""
    found, = [block.text for block in pages.blocks(PAGE) if block.language == "sh" and f" -o {name}.so " in block.text]
    return found


def is_built(name):
    """Whether mpich/library.sh has made it."""
    where = subprocess.run([job.ROOT / "mpich/library.sh", name, "where"], capture_output=True, text=True, timeout=60, check=False)
    return where.returncode == 0 and os.path.exists(f"{where.stdout.strip()}/recipe")


def without_mpi():
    """The environment for builds, which choose MPICH's commands by themselves."""
    return {variable: value for variable, value in os.environ.items() if variable not in ("MPICC", "MPIEXEC")}


def make_library(name):
    """Once; an archive need not have its source."""
    made = subprocess.run([job.ROOT / "mpich/library.sh", name], capture_output=True, text=True, env=without_mpi(), timeout=1500, check=False)
    if made.returncode != 0:
        pytest.skip(f"there is no {name} with MPICH: {made.stderr.strip().splitlines()[-1:]}")


def unpack_scotch(folder):
    """Debian's packages, which are not installed for the tests: with them Open MPI would be the default of all MPI packages. The folder
    where they are; None: installed."""
    if os.path.exists("/usr/include/scotch/scotch.h"):
        return None
    run = lambda *words: subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    names = sorted({"libscotch-dev", *re.findall(r"Depends: (libscotch-\S+)", run("apt-cache", "depends", "libscotch-dev").stdout)})
    got = run("apt-get", "download", *names)
    if got.returncode != 0:
        pytest.skip(f"Debian's packages of Scotch cannot be had: {got.stderr.strip().splitlines()[-1:]}")
    for package in folder.glob("libscotch-*.deb"):
        assert run("dpkg-deb", "-x", package, "scotch").returncode == 0
    return folder / "scotch/usr"


@pytest.fixture(scope="module")
def built(tree, tmp_path_factory):
    """Builds a recipe with an installed EPOP; its path."""
    folder, done = tmp_path_factory.mktemp("libraries"), {}

    def build(name):
        if name == "petsc" and not is_built(name):
            pytest.skip("PETSc takes long to build: make libraries LIBRARIES=petsc")
        if name in ("fftw", "hypre"):
            make_library(name)
        if name not in done:
            source = "metis.c" if name == "scotch" else f"{name}.c"
            (folder / source).write_text((SOURCES / source).read_text())
            text = commands(name).replace(" -O2 ", f" -O2 {WARNINGS} ").replace("mpich/library.sh", str(job.ROOT / "mpich/library.sh"))
            environment = {**without_mpi(), "PKG_CONFIG_PATH": f"{tree}/lib/pkgconfig"}
            if name == "scotch" and (unpacked := unpack_scotch(folder)):
                library, = unpacked.glob("lib/*-linux-gnu")
                environment["C_INCLUDE_PATH"] = str(unpacked / "include")
                text = text.replace(" -lscotch ", f" -L{library} -Wl,--disable-new-dtags,-rpath,{library} -lscotch ")
            result = subprocess.run(["bash", "-e", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, timeout=1500, check=False)
            assert result.returncode == 0, f"{text}{result.stdout}{result.stderr}"
            done[name] = folder / f"{name}.so"
        return done[name]
    return build


def numbers(text):
    """What a recipe reports, and after how many steps."""
    line, = re.findall(r"^(.*) after (\d+) steps$", text, flags=re.M)
    return [float(number) for number in re.findall(r"-?\d+\.\d+(?:e[+-]\d+)?", line[0])], int(line[1])


def resized(space, program, backend, *arguments, sizes=TEN):
    """What it prints when it was resized and then stopped."""
    ranks = 4 if backend == "pool" else 2
    running = space.start_epop(*BACKENDS[backend], program, ENDLESS, *arguments, ranks=ranks, limit=400, env=QUIET)
    space.wait_until_running(running)
    for size in sizes:
        space.resize(str(size))
        assert space.status()["size"] == size
    result = space.stop(running)
    assert result.err == "", result
    return result.out


def check(space, program, out, *arguments, least=len(TEN)):
    """It has computed what it computes at one size."""
    found, steps = numbers(out)
    alone = space.epop(program, str(steps), *arguments, ranks=1, limit=400, env=QUIET)
    assert alone.status == 0 and alone.err == "", alone
    expected, as_many = numbers(alone.out)
    assert as_many == steps >= least and found == pytest.approx(expected, rel=1e-9, abs=1e-12), (out, alone)
    return expected


@pytest.fixture(params=["pool", pytest.param("join", marks=joining.needed)])
def backend(request):
    return request.param


@pytest.mark.parametrize("name", RECIPES)
def test_ten_resizes(space, built, name, backend):
    program = built(name)
    check(space, program, resized(space, program, backend))


@pytest.mark.parametrize("name", RECIPES)
def test_restart(space, built, name):
    """From a checkpoint, on another number of ranks, and resized."""
    program = built(name)
    running = space.start_epop(*BACKENDS["pool"], program, ENDLESS, ranks=2, env=QUIET)
    space.wait_until_running(running)
    saved = space.epopctl("checkpoint", "--wait")
    assert saved.status == 0, saved
    space.stop(running)
    file, = space.directory.glob("*-*.h5")
    running = space.start_epop("--backend", "pool", "--restart", file, program, ENDLESS, ranks=3, env=QUIET)
    space.wait_until_running(running)
    space.resize("1")
    result = space.stop(running)
    assert result.err == "", result
    check(space, program, result.out, least=1)


def test_the_eigenvalue(space, built):
    """Of the chain of 40 springs."""
    found, _ = numbers(space.epop(built("scalapack"), "15", ranks=3).out)
    assert found == pytest.approx([2 - 2 * math.cos(math.pi / 41)], abs=1e-11)


def test_threads_follow_the_ranks(space, built, backend):
    """Of all cores that the job has, whatever OMP_NUM_THREADS says, each rank has its share."""
    out = resized(space, built("openmp"), backend)
    told = [(int(size), int(threads)) for size, threads in re.findall(r"^size (\d+): rank 0 has (\d+) threads$", out, flags=re.M)]
    assert told == [(size, max(1, len(os.sched_getaffinity(0)) // size)) for size in (2, *TEN)], out


def test_the_file_has_all_frames(space, built, backend):
    """Those of before, between and after the resizes."""
    _, steps = numbers(resized(space, built("hdf5"), backend))
    with h5py.File(space.directory / "waves.h5") as file:
        frames = file["u"][:]
    assert frames.shape == (steps // 1000, 200) and len(frames) > 1
    grown = numpy.outer(1000. * numpy.arange(1, len(frames) + 1), 1 + numpy.arange(200) / 200)
    assert numpy.allclose(frames, grown, rtol=1e-9)
