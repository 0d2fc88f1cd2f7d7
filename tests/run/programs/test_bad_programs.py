"""Programs that cannot be loaded or that fail while they run: one clear line, the same status on every rank,
nothing left running (which the space checks), alone and under a launcher."""

import os
import shutil
import subprocess

import job
import pytest

LAUNCHES = [None, 2]


def launches(rank):
    return "alone" if rank is None else f"mpiexec-{rank}"


def errors(result):
    """The lines that epop says something in, notes left out."""
    return [line for line in result.err.splitlines()
            if line.startswith("epop: ") and "running under" not in line and not line.startswith("epop: note:")]


def expect_error(result, status, *texts):
    assert result.status == status, result
    lines = errors(result)
    assert len(lines) == 1, result
    for text in texts:
        assert text in lines[0], f"'{text}' is not in: {lines[0]}"


both = pytest.mark.parametrize("ranks", LAUNCHES, ids=launches)


# ---- Files that are no program ----

@both
def test_no_such_file(space, ranks):
    expect_error(space.epop("./missing.so", ranks=ranks), 2, "./missing.so: no such file")


@both
def test_bare_name_that_is_nowhere(space, ranks):
    expect_error(space.epop("missing", ranks=ranks), 2, "missing: no such file here", "installed")


@both
def test_directory(space, ranks):
    expect_error(space.epop(space.directory, ranks=ranks), 2, "is a directory")
    pipe = space.directory / "pipe.so"
    os.mkfifo(pipe)
    expect_error(space.epop(pipe, ranks=ranks), 2, "is no file")
    expect_error(space.epop("", ranks=ranks), 2, "the path of the program is empty")


def test_not_a_directory_on_the_way(space):
    expect_error(space.epop("/etc/passwd/program.so"), 2, "Not a directory")


@both
@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF" + 200 * b"\0"], ids=repr)
def test_not_a_shared_object(space, ranks, content):
    (space.directory / "text.so").write_bytes(content)
    result = space.epop("./text.so", ranks=ranks)
    expect_error(result, 2, "text.so: is ")


def test_executable(space):
    """One that may not be run: others are run as they are (test_loops.py)."""
    shutil.copyfile("/bin/true", space.directory / "true.so")
    expect_error(space.epop("./true.so"), 2, "true.so: is an executable, not a shared object")


def test_other_machine(space):
    image = bytearray(open(job.test_program("structure"), "rb").read())
    image[18:20] = (183 if image[18] != 183 else 62).to_bytes(2, "little")
    (space.directory / "other.so").write_bytes(image)
    expect_error(space.epop("./other.so"), 2, "other.so: is built for", "but epop for")


def test_truncated_at_any_length(space):
    image = open(job.test_program("structure"), "rb").read()
    for length in range(0, len(image), max(1, len(image) // 40)):
        (space.directory / "cut.so").write_bytes(image[:length])
        result = space.epop("--driver", "check", "./cut.so")
        # Past the last segment only what the linker wants is missing.
        assert result.status in (0, 2), f"{length} bytes: {result}"
        assert result.status == 0 or len(errors(result)) == 1, f"{length} bytes: {result}"


def test_unreadable(space):
    other = space.directory / "loop.so"
    other.symlink_to("loop.so")
    expect_error(space.epop("./loop.so"), 2, "loop.so: cannot be read: Too many levels")


# ---- Shared objects that are no valid program ----

OBJECTS = {
    "unresolved": ["unresolved symbol 'nobody_defines_this'", "link the program"],
    "no_get_program": ["it has no function get_program"],
    "null_program": ["get_program returned NULL"],
    "no_abi": ["abi_version is not set in the epop_program_t", ".abi_version = EPOP_ABI_VERSION", "epop_program_create"],
    "other_abi": ["ABI version 45", "versions up to 4"],
}


@both
@pytest.mark.parametrize("name", OBJECTS)
def test_object(space, ranks, name):
    expect_error(space.epop(job.test_program(name), ranks=ranks), 2, name + ".so: ", *OBJECTS[name])


STRUCTURES = {
    "no-elements": ["it has no elements"],
    "null-elements": ["it has no elements"],
    "no-init": ["element 0 'report' (RP)", "the first element must be the INIT"],
    "init-not-first": ["element 0 'work' (EP)", "the first element must be the INIT"],
    "two-inits": ["element 2 'start' (INIT)", "exactly one"],
    "unknown-type": ["element 2 'again' (unknown)", "unknown element type 5"],
    "no-init-block": ["element 0 'start' (INIT)", "the init block is missing"],
    "no-exec": ["element 1 'work' (EP)", "the phase_exec block is missing"],
    "no-adapt": ["element 1 'work' (EP)", "the phase_adapt block is missing"],
    "no-loop": ["element 1 'work' (EP)", "the loop_condition block is missing"],
    "no-branch-block": ["element 2 'again' (BRANCH)", "the branch_condition block is missing"],
    "no-exec-rp": ["element 3 'report' (RP)", "the phase_exec block is missing"],
    "finalizer-is-ep": ["element 1 'work' (EP)", "only an RP can be one"],
    "no-size": ["accepts no size from 5 to 8"],
}


@both
@pytest.mark.parametrize("fault", STRUCTURES)
def test_structure(space, ranks, fault):
    result = space.epop(job.test_program("structure"), ranks=ranks, env={"EPOP_TEST_FAULT": fault})
    expect_error(result, 2, "program 'structure': ", *STRUCTURES[fault])


@pytest.mark.parametrize("driver", ["run", "check"])
def test_structure_without_a_fault(space, driver):
    assert space.epop("--driver", driver, job.test_program("structure")).status == 0


# ---- Libraries ----

def compile_object(space, name, source, *flags):
    path = space.directory / name
    (space.directory / (name + ".c")).write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", f"-I{job.ROOT / 'epop_api'}", str(path) + ".c", "-o", str(path),
                    *map(str, flags)], check=True, timeout=60)
    return path


MINIMAL = """
#include <epop/program.h>
static int init(int *argc, char ***argv, void **data) { return 0; }
epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("minimal");
    epop_add_init(program, "start", init);
    return program;
}
"""
CALLS = MINIMAL + "int %s(void); int call(void); int call(void) { return %s(); }\n"


def libepop():
    return [f"-L{job.BUILD / 'lib'}", "-lepop"]


def test_missing_library(space):
    library = compile_object(space, "libgone.so", "int gone(void) { return 0; }", "-Wl,-soname,libgone.so")
    program = compile_object(space, "program.so", CALLS % ("gone", "gone"), library, *libepop())
    library.unlink()
    expect_error(space.epop(program), 2, "the library libgone.so that it needs is not found")


def second_mpi(space, *soname):
    return compile_object(space, "libmpi.so.40",
                          "#include <stdio.h>\nint MPI_Init(void) { return 0; }\n"
                          "__attribute__((constructor)) static void loaded(void) { puts(\"second MPI is in\"); }\n",
                          *soname)


SECOND = ["second MPI library", "libmpi.so.40", "build it with the compiler of epop's MPI"]


@both
def test_second_mpi(space, ranks):
    library = second_mpi(space, "-Wl,-soname,libmpi.so.40")
    program = compile_object(space, "program.so", CALLS % ("MPI_Init", "MPI_Init"), library,
                             f"-Wl,-rpath,{space.directory}", *libepop())
    result = space.epop(program, ranks=ranks)
    expect_error(result, 2, *SECOND)
    assert "second MPI is in" not in result.out  # none of its code ran


@pytest.mark.parametrize("where", ["$ORIGIN", "LD_LIBRARY_PATH"])
def test_second_mpi_of_a_library(space, where):
    """The program's library needs it, not the program."""
    library = second_mpi(space, "-Wl,-soname,libmpi.so.40")
    paths = ["-Wl,-rpath,$ORIGIN"] if where == "$ORIGIN" else []
    helper = compile_object(space, "libhelper.so", "int MPI_Init(void); int help(void); int help(void) "
                            "{ return MPI_Init(); }", "-Wl,-soname,libhelper.so", library, *paths)
    program = compile_object(space, "program.so", CALLS % ("help", "help"), helper, *libepop(), *paths,
                             f"-Wl,-rpath-link,{space.directory}")
    env = {"LD_LIBRARY_PATH": space.directory} if where == "LD_LIBRARY_PATH" else {}
    result = space.epop(program, env=env)
    expect_error(result, 2, *SECOND)
    assert "second MPI is in" not in result.out


def test_second_mpi_as_a_driver(space):
    library = second_mpi(space, "-Wl,-soname,libmpi.so.40")
    driver = compile_object(space, "driver.so", CALLS % ("MPI_Init", "MPI_Init"), library,
                            f"-Wl,-rpath,{space.directory}", *libepop())
    result = space.epop("--driver", driver, job.program("serial"))
    expect_error(result, 2, *SECOND)


def test_a_wrapper_of_mpi_is_no_second_one(space):
    """A library that stands between, as profilers do, is welcome."""
    wrapper = compile_object(space, "libwrap.so", "int PMPI_Init(int *, char ***); int MPI_Init(int *c, char ***v);"
                             "int MPI_Init(int *c, char ***v) { return PMPI_Init(c, v); }", "-Wl,-soname,libwrap.so")
    program = compile_object(space, "program.so", CALLS % ("MPI_Init", "MPI_Init"), wrapper,
                             f"-Wl,-rpath,{space.directory}", *libepop())
    assert space.epop("--driver", "check", program).status == 0


# ---- Faults while it runs, without MPI ----

FAULTS = {
    "init": ["element 0 'start' (INIT)", "init block returned 41"],
    "exec": ["element 1 'work' (EP)", "iteration 2", "exec block returned 203 (out of memory)"],
    "branch-to-init": ["element 2 'turn' (BRANCH)", "branched to element 0, which is INIT"],
    "branch-below": ["element 2 'turn' (BRANCH)", "branched to -1"],
    "branch-beyond": ["element 2 'turn' (BRANCH)", "branched to 5"],
    "endless": ["element 2 'turn' (BRANCH)", "endless loop"],
    "last": ["element 3 'report' (RP)", "exec block returned -3"],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(space, fault):
    result = space.epop(job.test_program("faults"), env={"EPOP_TEST_FAULT": fault})
    expect_error(result, 1, "faults: ", *FAULTS[fault])


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_under_a_launcher(space, fault):
    """Each process walks alone: each says so for itself."""
    result = space.epop(job.test_program("faults"), ranks=2, env={"EPOP_TEST_FAULT": fault})
    assert result.status == 1, result
    for line in errors(result):
        assert all(text in line for text in FAULTS[fault]), line


@pytest.mark.parametrize("fault", ["", "branch-to-end"])
def test_no_fault(space, fault):
    result = space.epop(job.test_program("faults"), env={"EPOP_TEST_FAULT": fault})
    assert result.status == 0 and result.err == "", result
    assert result.out == ("" if fault else "3 iterations\n")


# ---- Faults while it runs, with MPI: on one rank or on all, the others being in a barrier ----

MPI_FAULTS = {
    "init": ["element 0 'start' (INIT)", "init block returned 41"],
    "exec": ["element 1 'work' (EP)", "iteration 2", "exec block returned 203"],
    "branch-to-init": ["element 2 'turn' (BRANCH)", "branched to element 0"],
    "branch-beyond": ["element 2 'turn' (BRANCH)", "branched to 99"],
    "last": ["element 3 'report' (RP)", "exec block returned 45"],
}


@pytest.mark.parametrize("rank", [None, 0, 1])
@pytest.mark.parametrize("fault", MPI_FAULTS)
def test_mpi_fault(space, fault, rank):
    env = {"EPOP_TEST_FAULT": fault, "EPOP_TEST_RANK": rank}
    result = space.epop(job.test_program("mpi_faults"), ranks=2, env=env)
    expect_error(result, 1, "mpi_faults: ", *MPI_FAULTS[fault],
                 "rank " if rank is None or fault == "init" else f"rank {rank} of 2")


@pytest.mark.parametrize("fault", MPI_FAULTS)
def test_mpi_fault_without_a_launcher(space, fault):
    result = space.epop(job.test_program("mpi_faults"), env={"EPOP_TEST_FAULT": fault, "EPOP_TEST_ALONE": 3})
    expect_error(result, 1, "mpi_faults: ", *MPI_FAULTS[fault])


ADAPT_FAULTS = {
    "adapt": "adapt block returned 43",
    "adapt-in-window": "adapt block returned 44",
    "no-window": "epop_adapt_begin",
    "no-commit": "epop_adapt_commit",
}


@pytest.mark.parametrize("fault", ADAPT_FAULTS)
def test_fault_in_an_adaptation(space, fault):
    result = space.epop("--start", "1", job.test_program("mpi_faults"), ranks=2, env={"EPOP_TEST_FAULT": fault})
    expect_error(result, 1, "mpi_faults: ", "element 1 'work' (EP)", "iteration", "rank", ADAPT_FAULTS[fault])


def test_adaptation_without_a_fault(space):
    """The control case of the above: the job grows to two ranks and ends well."""
    result = space.epop("--start", "1", job.test_program("mpi_faults"), ranks=2)
    assert result.status == 0 and result.out == "ended with 2 of 2 ranks\n", result


def test_a_joining_rank_whose_init_fails_hurts_nobody(space):
    result = space.epop("--start", "1", job.test_program("mpi_faults"), ranks=2,
                        env={"EPOP_TEST_FAULT": "join", "EPOP_TEST_ALONE": 3})
    assert result.status == 0 and result.out == "ended with 1 of 2 ranks\n", result
