"""Fortran: the elastic MPI calls in executables, by each of its three interfaces of MPI, and EPOP programs."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess

import job
import joining
import pytest
from executables import LIB, LINKED, rigid, start, twenty_resizes

MODULES = job.BUILD / "include/epop/fortran"
SOURCES = job.ROOT / "tests/fortran"

# How a program comes to MPI, and to the elastic calls.
WAYS = {
    "use mpi": [f"-I{MODULES}"],
    "use mpi, unmodified": ["-DOWN_MPI", f"-I{MODULES}/mpi", f"-I{MODULES}"],
    "mpif.h": ["-DMPIF_H", f"-I{MODULES}"],
    "mpif.h, unmodified": ["-DMPIF_H", "-DOWN_MPI", f"-I{MODULES}/mpi", f"-I{MODULES}"],
    "use mpi_f08": ["-DF08", f"-I{MODULES}"],
}


def compiler():
    """The Fortran compiler command of the MPI that MPICC belongs to; None: it has no Fortran."""
    mpicc = shlex.split(os.environ.get("MPICC") or "mpicc.mpich")[0]
    return shutil.which(re.sub(r"mpicc(?=$|\.mpich$)", "mpif90", mpicc))


MPIFC = compiler()
pytestmark = pytest.mark.skipif(not MPIFC, reason="this MPI was built without Fortran")


def compile_fortran(source, binary, *flags):
    done = subprocess.run([MPIFC, "-w", "-O0", "-fallow-argument-mismatch", source, "-o", binary, *flags], cwd=binary.parent, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return binary


def compile_program(source, directory):
    """Of the name of one of tests/fortran, or a path."""
    source = SOURCES / f"{source}.f90" if isinstance(source, str) else source
    return compile_fortran(source, directory / f"{source.stem}.so", "-shared", "-fPIC", f"-I{MODULES}", f"-L{LIB}", "-lepop")


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """The program of all calls, compiled in a way when it is asked for."""
    made = {}

    def compiled(way):
        if way not in made:
            made[way] = compile_fortran(SOURCES / "calls.F90", tmp_path_factory.mktemp("calls") / "calls", *WAYS[way], *LINKED)
        return made[way]
    return compiled


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


@pytest.fixture(scope="module")
def tsunami(tmp_path_factory):
    """In the shape of a public code, by flags alone."""
    return compile_fortran(SOURCES / "tsunami.f90", tmp_path_factory.mktemp("tsunami") / "tsunami", *WAYS["use mpi, unmodified"], *LINKED)


def test_a_tsunami_of_any_size(space, tsunami):
    assert rigid(space, tsunami, "end", 400, ranks=1) == rigid(space, tsunami, "end", 400, ranks=3)


@joining.needed
def test_a_tsunami_of_twenty_resizes(space, tsunami):
    """A probe in every fourth step, cells that are dealt out later, leaving processes that run on: as a rigid run computes."""
    end = space.directory / "end"
    out = twenty_resizes(space, end, tsunami, end, 0)
    assert out == rigid(space, tsunami, "end", out.split()[0], ranks=2)


@pytest.mark.parametrize("way", ["use mpi", "use mpi_f08"])
def test_abort(space, calls, way):
    result = space.start([job.MPIEXEC, "-n", 2, calls(way), space.directory / "end", "abort"]).wait()
    assert result.status == 1 and result.err == "epop: rank 1 called MPI_Abort with code 0\n", result


@pytest.mark.parametrize("way", ["use mpi", "use mpi, unmodified", "mpif.h", "use mpi_f08"])
def test_the_first_probe_tells_who_died(space, way):
    """As in C: tests/run/faults/test_recover.py. Fortran's handler of signals would end a rank before it says so."""
    binary = compile_fortran(SOURCES / "faults.F90", space.directory / "faults", "-fno-backtrace", *WAYS[way], *LINKED)
    running = space.start_epop("--recover", 1, "-n", 2, binary)
    status = space.wait_until_running(running)
    os.kill(next(process["pid"] for process in status["processes"] if process["rank"] == 1), signal.SIGSEGV)
    result = running.wait()
    told = re.findall(r"^rank (\d): (.*)$", result.out, flags=re.M)
    for rank in "01":
        assert [text for who, text in told if who == rank] == ["pending 2, 1 failed: 1", *2 * ["pending 0, 0 failed:"]], result
    assert result.status == 0 and "WRONG" not in result.out, result


def test_described_data_of_an_executable(space):
    """Moved by one call."""
    binary = compile_fortran(SOURCES / "counted.f90", space.directory / "counted", *WAYS["use mpi"], *LINKED)
    go_through(space, binary, (3, 4, 2, 3, 1) if joining.WORKS else (1,))


def libraries():
    """MPI's, as the compiler command has them."""
    words = shlex.split(subprocess.run([MPIFC, "-show"], capture_output=True, text=True, check=True).stdout)
    return [word for word in words if re.match(r"-lmpi|-L", word)]


def test_wrong_order_of_linking(space):
    """It is said, and preloading helps."""
    binary = compile_fortran(SOURCES / "calls.F90", space.directory / "calls", *WAYS["use mpi"], "-Wl,--no-as-needed", *libraries(),
                             *LINKED)
    result = space.start([job.MPIEXEC, "-n", 1, binary, "end"]).wait()
    assert result.status == 1 and "put -lepop_mpi before MPI's libraries" in result.err, result
    go_through(space, binary, (1,), env={"LD_PRELOAD": LIB / "libepop_mpi.so.0"})


def constants_of_c():
    """{name: value} of the header's, by the preprocessor or by the place in an enumeration."""
    text = (job.ROOT / "epop_api/epop/mpi_adapt.h").read_text()
    found = {name: int(value) for name, value in re.findall(r"#define (MPI_ADAPT_\w+) +(\d)", text)}
    for names in re.findall(r"typedef enum \w+ {(.*?)}", re.sub(r"/\*.*?\*/", "", text, flags=re.S), flags=re.S):
        found |= {name: number for number, name in enumerate(re.findall(r"EPOP_\w+", names))}
    del found["MPI_ADAPT_STATUS_RETREATING"]
    return found


def test_process_sets(space):
    """By `use mpi` as it is, whose sessions are MPI's own otherwise."""
    program = compile_fortran(SOURCES / "psets.f90", space.directory / "psets", f"-I{MODULES}/mpi", f"-I{MODULES}", *LINKED)
    result = space.start([job.MPIEXEC, "-n", 3, program]).wait()
    assert result.status == 0 and result.err == "", result
    said = ["too little room: T, parts: 3", "sets: 1, processes: 3.", "answer: 42", "later: 42", "2 processes"]  # of two ranks
    assert sorted(result.out.splitlines()) == sorted(said), result


def test_a_loop_of_process_sets(space):
    """The example of the guide."""
    program = compile_fortran(SOURCES / "changes.f90", space.directory / "changes", *WAYS["use mpi"], *LINKED)
    go_through(space, program, (4, 1, 3, 2, 3, 1) if joining.WORKS else (2, 1), ranks=2 if joining.WORKS else 3)


def test_operations_are_those_of_c():
    def read(path, pattern):
        return dict(re.findall(pattern, (job.ROOT / "epop_api" / path).read_text()))

    of_c = read("epop/mpi_psets.h", r"#define (MPI_(?:PSETOP|RC)_\w+) +(\d+)")
    assert len(of_c) == 22 and of_c == read("fortran/epop_mpi_psets.f90", r"parameter :: (MPI_(?:PSETOP|RC)_\w+) = (\d+)")


@pytest.mark.parametrize("name", ["epop_mpi_adapt.f90", "epop_mpi_adapt.fh"])
def test_constants_are_those_of_c(name):
    text = (job.ROOT / "epop_api/fortran" / name).read_text()
    declared = re.findall(r"\b((?:MPI_ADAPT|EPOP_MPI)_[A-Z_]+) ?= ?(\d)", text)
    assert len(declared) > 6 and {name: int(value) for name, value in declared} == constants_of_c()


# ---- Programs for epop ---------------------------------------------------------------------------


def heat_of(result):
    assert result.status == 0 and result.err == "", result
    return re.fullmatch(r"heat ([\d.]+) after (\d+) steps\n", result.out).groups()


@pytest.mark.parametrize("backend", ["pool", pytest.param("join", marks=joining.needed)])
def test_a_resized_program_computes_what_a_rigid_one_does(space, backend):
    """At whatever step it was stopped."""
    options = ["--start", 1] if backend == "pool" else []
    running = space.start_epop("--backend", backend, *options, job.program("heat_fortran"), 1000, 100000000, ranks=2)
    space.wait_until_running()
    for size in (2, 1, 2) if backend == "pool" else (1, 3, 2):
        space.resize(size)
    assert space.epopctl("stop", "--wait").status == 0
    heat, steps = heat_of(running.wait())
    plain, _ = heat_of(space.epop(job.program("heat_fortran"), 1000, steps, ranks=1))
    assert abs(float(heat) - float(plain)) < 2e-6


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    return compile_program("described", tmp_path_factory.mktemp("described"))


@pytest.mark.parametrize("backend", ["pool", pytest.param("join", marks=joining.needed)])
def test_described_data(space, described, backend):
    """Resized, saved, and restarted; the program looks at each element in each step, and the matrix has its sum at the end."""
    options = ["--backend", backend, *(["--start", 2] if backend == "pool" else [])]
    running = space.start_epop(*options, described, 1000000000, ranks=4 if backend == "pool" else 2)
    space.wait_until_running()
    for size in (4, 1, 3):
        space.resize(size)
    saved = space.epopctl("checkpoint", "--wait")
    assert saved.status == 0, saved
    result = space.stop(running)
    assert result.err == "" and result.out == "matrix 27, ranks 3\n", result
    running = space.start_epop("--restart", space.directory, described, 1000000000, ranks=2)
    space.wait_until_running()
    result = space.stop(running)
    assert result.err == "" and result.out == "matrix 27, ranks 2\n", result


@pytest.fixture(scope="module")
def allocatables(tmp_path_factory):
    return compile_program("allocatables", tmp_path_factory.mktemp("allocatables"))


TEN = {"pool": (4, 1, 3, 2, 4, 3, 1, 2, 4, 3), "join": (3, 1, 2, 4, 2, 3, 1, 4, 2, 3)}
each_way = pytest.mark.parametrize("backend", ["pool", pytest.param("join", marks=joining.needed)])


def resized_ten_times(space, backend, *command):
    """Stopped after that, at whatever step it is."""
    options = ["--backend", backend, *(["--start", 2] if backend == "pool" else [])]
    running = space.start_epop(*options, *command, ranks=4 if backend == "pool" else 2)
    space.wait_until_running()
    for size in TEN[backend]:
        space.resize(size)
    return running


@each_way
def test_allocatable_arrays(space, allocatables, backend):
    """All types and layouts: resized, saved, restarted; and the program has nothing left to free."""
    running = resized_ten_times(space, backend, allocatables, 1000000000)
    saved = space.epopctl("checkpoint", "--wait")
    assert saved.status == 0, saved
    result = space.stop(running)
    assert result.err == "" and result.out == "matrix 27, ranks 3\n", result
    running = space.start_epop("--restart", space.directory, allocatables, 1000000000, ranks=2)
    space.wait_until_running()
    result = space.stop(running)
    assert result.err == "" and result.out == "matrix 27, ranks 2\n", result


def test_allocatable_arrays_are_audited(space, allocatables):
    """By the debug driver, which adds up what is there before and after a window."""
    running = space.start_epop("--driver", "debug", "--start", 2, allocatables, 1000000000, ranks=4)
    space.wait_until_running()
    for size in (4, 1, 3):
        space.resize(size)
    result = space.stop(running)
    assert (result.status, result.err) == (0, ""), result


def test_an_allocatable_array_of_another_rank(space):
    """Is refused, as one that is not described."""
    source = space.directory / "other.f90"
    source.write_text((SOURCES / "allocatables.f90").read_text().replace("epop_allocatable(s%matrix)", "epop_allocatable(s%box)"))
    program = compile_program(source, space.directory)
    result = space.epop(program, 10, ranks=1)
    assert result.status != 0 and "described 'matrix': its array has another rank than what it is described as" in result.err, result


@each_way
def test_rows_and_items(space, backend):
    """Moved by calls, to cuts by weight; what is wrong ends the job."""
    result = space.stop(resized_ten_times(space, backend, compile_program("rows", space.directory), 1000000000))
    assert (result.status, result.err) == (0, ""), result


@each_way
def test_particles_and_a_partition(space, backend):
    """Described; each is there once after every resize, a checkpoint and a restart."""
    program = compile_program("swarm", space.directory)
    running = resized_ten_times(space, backend, program, 1000000000)
    saved = space.epopctl("checkpoint", "--wait")
    assert saved.status == 0, saved
    result = space.stop(running)
    assert (result.err, result.out) == ("", "43 particles on 29 cells\n"), result
    running = space.start_epop("--restart", space.directory, program, 1000000000, ranks=2)
    space.wait_until_running()
    result = space.stop(running)
    assert (result.err, result.out) == ("", "43 particles on 29 cells\n"), result


@each_way
def test_blocks_and_counts(space, backend):
    """Moved by calls, and as many elements as the maps say; ghosts in two steps."""
    result = space.stop(resized_ten_times(space, backend, compile_program("moved", space.directory), 1000000000))
    assert (result.status, result.err) == (0, ""), result


def test_a_program_is_filled_in_and_looked_at(space):
    program = compile_program("looked_at", space.directory)
    result = space.epop(program, ranks=1)
    assert result.status == 0, result
    before, structure, behind = re.fullmatch(r"(.*\n)({\n.*\n}\n)(.*)", result.out, re.S).groups()
    assert before == "an error: not possible now\nsizes: powers of two, 1 to 4\n4: T, 3: F, 9: 4\n", result
    assert [element["type"] for element in json.loads(structure)["elements"]] == ["INIT", "RP"], result
    assert behind == "RP up to 4\nanother: program: it has no elements; it needs at least an INIT\n", result


@each_way
@pytest.mark.parametrize("program, size", [("plate_fortran", 40), ("implicit_fortran", 20)])
def test_examples_with_allocatable_arrays(space, backend, program, size):
    """Blocks with ghosts; sparse rows by cuts: after ten resizes as a rigid run."""
    heat, steps = heat_of(space.stop(resized_ten_times(space, backend, job.program(program), size, 100000000)))
    plain, _ = heat_of(space.epop(job.program(program), size, steps, ranks=1, limit=120))
    assert float(heat) == pytest.approx(float(plain), rel=1e-6)


def test_calls_of_mpi_f08_are_observed(space):
    """Those that take a buffer, and those that do not, which come to MPI in another way."""
    program = compile_program("observed", space.directory)
    result = space.epop("--driver", "trace", "--trace-output", "trace.json", "--trace-mpi", "1ns", program, ranks=2)
    assert result.status == 0, result
    names = [event["name"] for event in json.loads((space.directory / "trace.json").read_text())["traceEvents"]]
    assert (names.count("MPI_Barrier"), names.count("MPI_Bcast")) == (10, 10), result


# ---- Loops

def marked(mark):
    """The line of the source that has it."""
    lines = (SOURCES / "loops.F90").read_text().splitlines()
    number, = (number for number, text in enumerate(lines, 1) if text.endswith(f"! {mark}"))
    return number


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="callers are known on x86-64 alone")
@pytest.mark.parametrize("way", [[], ["-DMPIF_H"], ["-DF08"]], ids=["use mpi", "mpif.h", "use mpi_f08"])
def test_its_loops(space, tmp_path, way):
    """By the lines of the program, and not by places in MPI's Fortran library."""
    program, output = compile_fortran(SOURCES / "loops.F90", tmp_path / "loops", "-g", *way), tmp_path / "loops.json"
    result = space.start_epop("--driver", "profile", "--output", output, program, ranks=2).wait()
    assert (result.status, result.err) == (0, ""), result
    shown = [line.split("\t") for line in space.epopctl("measure", "--from", output).out.splitlines()]
    names = {f"loops.F90:{marked('BEGIN outer')}-{marked('END outer')}": "19", f"loops.F90:{marked('BEGIN inner')}-{marked('END inner')}": "80"}
    assert {row[0]: row[6] for row in shown if row[0].startswith("loops.F90")} == names, shown


def test_tunables(space, tmp_path):
    """Of a program in Fortran; --tuned sets them."""
    source = compile_program("tunables", tmp_path)
    assert space.epop(source, ranks=1).out == "width 8, kind 4, depth 2\n"
    settings = [{"kind": "tunable", "name": name, "value": value, "default": 1} for name, value in (("width", 64), ("kind", 9), ("depth", 3))]
    (space.directory / "tuned.json").write_text(json.dumps({"tuned": 1, "program": "tunables", "phase": "work", "settings": settings}))
    result = space.epop("--tuned", "tuned.json", source, ranks=1)
    assert result.status == 0 and result.out == "width 64, kind 9, depth 3\n", result
    result = space.epop("--driver", "tune", source, ranks=1)
    assert result.status == 0, result
