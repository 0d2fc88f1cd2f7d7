"""The layer between programs and MPI: that no function is missed, that programs meet it, and its generator."""

import re
import shlex
import subprocess

import generate
import job
import joining
import prototypes
import pytest

MPICC = shlex.split((job.os.environ.get("MPICC") or "mpicc.mpich"))
EPOP = job.BUILD / "bin/epop"
PRELOADED = job.BUILD / "lib/libepop_mpi.so.0"
PLAIN = job.BUILD / "tests/helpers/plain_mpi"

# What has no wrapper: tools' look into the library, which is no communication and names communicators by untyped pointers;
# conversions of handles, where they are functions.
LEFT_OUT = re.compile(r"MPI_T_|MPI_(Comm|Errhandler|File|Group|Info|Message|Op|Request|Session|Type|Win)_(c2f|f2c|toint|fromint)$")

# The elastic calls, which MPI does not have.
OWN = {name for header in ("mpi_adapt", "mpi_psets", "mpi_reinit")
       for name in re.findall(r"^int (MPIX?_\w+)\(", (job.ROOT / f"epop_api/epop/{header}.h").read_text(), flags=re.M)}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def functions(path, defined=True):
    """The names MPI_... and MPIX_... of the functions that an object exports, or refers to."""
    kind = "[TW]" if defined else "[Uw]"
    names = output("nm", "-D", "--defined-only" if defined else "--undefined-only", path)
    return set(re.findall(rf"\b{kind} (MPIX?_[A-Z]\w*[a-z]\w*)", names))


def mpi_library():
    """The MPI that epop runs with."""
    found = re.search(r"=> (/\S*/libmpi(?:ch)?\.so\S*)", output("ldd", EPOP))
    return found.group(1)


def left_out(name):
    return LEFT_OUT.match(name) is not None


# ---- Is any function missed? ------------------------------------------------------------


@pytest.mark.parametrize("layer", [EPOP, PRELOADED], ids=lambda path: path.name)
def test_every_function_of_the_library_has_a_wrapper(layer):
    of_the_library, wrapped = functions(mpi_library()), functions(layer)
    assert len(of_the_library) > 400
    assert {name for name in of_the_library - wrapped if not left_out(name)} == set()
    assert wrapped - of_the_library == OWN


def test_every_function_of_the_header_that_the_library_has():
    """Read off the header in another way than the generator does."""
    text = subprocess.run([*MPICC, "-E", "-P", "-x", "c", "-"], input="#include <mpi.h>\n", capture_output=True,
                          text=True, check=True).stdout
    declared = set(re.findall(r"\bP(MPIX?_\w+)\s*\(", text))
    expected = {name for name in declared & functions(mpi_library()) if not left_out(name)}
    assert expected == functions(EPOP) - OWN and len(expected) > 400
    assert {name for name in expected if name.endswith("_c")} >= {"MPI_Send_c", "MPI_Allreduce_c", "MPI_Put_c"}


def test_what_is_left_out_is_there_at_all():
    assert any(name.startswith("MPI_T_") for name in functions(mpi_library()))


def test_the_runtime_calls_mpi_by_its_profiling_names():
    """Else its calls would be observed, and MPI_COMM_WORLD would not be the launch."""
    assert {name for name in functions(job.BUILD / "lib/libepop.so.0", defined=False) if not left_out(name)} == set()
    assert re.search(r"\bU PMPI_Init_thread\b", output("nm", "-D", job.BUILD / "lib/libepop.so.0"))
    assert {name for name in functions(EPOP, defined=False) if not left_out(name)} == set()


# ---- Programs under epop -------------------------------------------------------------------


def test_the_world_of_a_resized_program(space):
    """Grows, shrinks, and takes a process again that had left."""
    result = space.epop("--start", "2", job.test_program("interpose_world"), space.directory, 2, 3, 1, 2, ranks=3)
    assert result.status == 0 and result.out == "went through 4 sizes\n" and "WRONG" not in result.err, result


@joining.needed
def test_the_world_of_a_program_with_started_processes(space):
    result = space.epop("--backend", "join", job.test_program("interpose_world"), space.directory, 2, 3, 1, 2, ranks=2)
    assert result.status == 0 and result.out == "went through 4 sizes\n" and "WRONG" not in result.err, result


def test_the_world_of_a_program_that_never_changes(space):
    result = space.epop(job.test_program("interpose_world"), space.directory, 2, ranks=2)
    assert result.status == 0 and result.out == "went through 1 sizes\n", result


def test_calls_are_counted(space):
    result = space.epop("--start", "1", job.test_program("interpose_count"), ranks=2)
    assert result.status == 0 and re.match(r"counted, and [1-9]\d* calls inside of others\n", result.out), result


@pytest.mark.parametrize("ranks,start", [(2, 2), (2, 1)])
def test_cxx_program_that_is_not_linked_with_mpi(space, ranks, start):
    assert "libmpi" not in output("readelf", "-dW", job.test_program("cxx_world"))
    result = space.epop("--start", start, job.test_program("cxx_world"), ranks=ranks)
    assert result.status == 0 and result.out == f"C++: a world of {start}\n", result


def test_program_that_is_linked_with_mpi():
    """The programs above are not of one kind."""
    assert "libmpi" in output("readelf", "-dW", job.test_program("interpose_world"))


def test_abort_ends_the_job_with_its_code(space):
    """Also where MPI_COMM_WORLD is not the whole launch."""
    result = space.epop("--start", "2", job.test_program("abort"), 7, ranks=3)
    assert result.status == 7, result


# ---- Plain executables -----------------------------------------------------------------------


def run_plain(space, *arguments, **environment):
    return space.start([job.MPIEXEC, "-n", "2", PLAIN, *arguments], env=environment).wait()


def test_preloading_changes_nothing(space):
    plain, preloaded = run_plain(space), run_plain(space, LD_PRELOAD=str(PRELOADED))
    assert plain.status == preloaded.status == 0 and plain.out == preloaded.out and plain.err == preloaded.err == ""
    assert re.match(r"2 ranks, sum 1, copy 1, name MPI_COMM_WORLD, tags to \d{5}", plain.out), plain


def test_preloading_is_met(space):
    """And without it, it is not: the comparison above compares two different things."""
    assert PRELOADED.name in run_plain(space, "where", LD_PRELOAD=str(PRELOADED)).out
    assert re.search(r"MPI_Comm_rank is in /\S*/libmpi(ch)?\.so", run_plain(space, "where").out)


def test_linking_is_met(space):
    """By an executable that is linked with the library, which comes before MPI then."""
    source, binary = job.ROOT / "tests/helpers/plain_mpi.c", space.directory / "linked"
    folder = PRELOADED.parent
    subprocess.run([*MPICC, "-D_GNU_SOURCE", source, "-o", binary, f"-L{folder}", "-Wl,--no-as-needed", "-lepop_mpi",
                    f"-Wl,-rpath,{folder}", f"-Wl,-rpath-link,{folder}"], check=True, timeout=60)
    result = space.start([job.MPIEXEC, "-n", "2", binary, "where"]).wait()
    assert result.status == 0 and PRELOADED.name in result.out, result


# ---- The generator -----------------------------------------------------------------------------


def parsed(text):
    return prototypes.parse(text)[0]


def test_parameters_of_every_shape():
    function = parsed("""
        int PMPI_Odd(const void *buffer, int n, char **argv[], const int ranges[][3], MPI_Comm comm,
                     MPI_Comm *out, const char *, MPI_File, unsigned int, MPI_Datatype types[], ...)
        __attribute__((visibility("default"))) __attribute__((format(printf, 1, 2)));""")
    assert (function.result, function.name) == ("int", "MPI_Odd")
    assert [parameter.name for parameter in function.parameters] == [
        "buffer", "n", "argv", "ranges", "comm", "out", "argument6", "argument7", "argument8", "types", "..."]
    assert [parameter.text for parameter in function.parameters][3:9] == [
        "const int ranges[][3]", "MPI_Comm comm", "MPI_Comm *out", "const char *argument6", "MPI_File argument7",
        "unsigned int argument8"]
    assert [generate.takes_world(parameter) for parameter in function.parameters] == [
        False, False, False, False, True, False, False, False, False, False, False]


def test_declarations_that_are_something_else():
    text = """int MPI_Send(int); int PMPI_Send(int) ; extern double PMPI_Wtime(void);
              int PMPI_Send(int); typedef int (PMPI_Function)(int); int QMPI_Send(int);
              static inline int helper(void) { return PMPI_Send(1); } int PMPIX_New(void);"""
    assert [(f.result, f.name, len(f.parameters)) for f in prototypes.parse(text)] == [
        ("int", "MPI_Send", 1), ("double", "MPI_Wtime", 0), ("int", "MPIX_New", 0)]


@pytest.mark.parametrize("parameter", ["MPI_Comm comms[]", "const MPI_Comm *comms", "MPI_Comm **comms"])
def test_a_new_kind_of_communicator_parameter_is_refused(parameter):
    """Rather than passed on with a MPI_COMM_WORLD in it."""
    with pytest.raises(prototypes.NotUnderstood, match="comms"):
        generate.wrapper(parsed(f"int PMPI_New(int n, {parameter});"))


def test_a_parameter_that_is_not_understood_is_refused():
    with pytest.raises(prototypes.NotUnderstood, match="callback"):
        prototypes.parse("int PMPI_New(int (*callback)(int));")


@pytest.mark.parametrize("compiler,message", [("false", "cannot preprocess mpi.h"), ("/nowhere/mpicc", "nowhere")])
def test_an_mpi_that_is_not_there(space, compiler, message):
    result = space.start(["/usr/bin/python3", "-B", job.ROOT / "interpose/generate.py", "--mpicc", compiler,
                          "--output", space.directory]).wait()
    assert result.status == 1 and result.err.startswith("interpose/generate.py: ") and message in result.err, result
