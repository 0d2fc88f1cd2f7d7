"""The installed tree: all there, runs without environment variables, and programs build against it."""

import html
import os
import shlex
import shutil
import subprocess

import api
import installed
import job
import joining
import pytest
import reports

PREFIX = "/opt/epop"
FILES = [
    *[f"include/epop/{name}.h" for name in ("epop", "program", "elastic", "redist", "blocks", "describe", "unstructured", "tune", "driver",
                                               "mpi_adapt", "mpi_psets", "mpi_reinit", "policy", "scalapack", "hypre", "visibility")], "include/epop/epop.hpp",
    *[f"lib/lib{name}.so{end}" for name in ("epop", "epop_mpi") for end in ("", ".0")],
    "lib/pkgconfig/epop.pc", "lib/pkgconfig/epop_mpi.pc", "lib/cmake/EPOP/EPOPConfig.cmake", "lib/cmake/EPOP/EPOPConfigVersion.cmake",
    *[f"lib/epop/programs/{path.stem}.so" for path in (job.ROOT / "programs").iterdir()
      if path.is_file() or (path / f"{path.name}.c").is_file()],
    "lib/epop/entry.o", "lib/epop/backtrace", "lib/epop/tether", "lib/epop/step", "lib/epop/companion", "lib/epop/orphans", "lib/epop/attend", "lib/epop/examples/amr.so", "lib/epop/examples/cannon.so", "lib/epop/examples/gauss.so",
    *[f"include/epop/fortran/{path.name}" for path in (job.ROOT / "epop_api/fortran").iterdir() if path.name != "mpi.f90"],
    *[f"include/epop/fortran/{path.stem}.mod" for path in (job.ROOT / "epop_api/fortran").glob("epop*.f90")],
    *[f"include/epop/fortran/mpi/{name}" for name in ("mpi.f90", "mpi.mod", "mpif.h")],
    *[f"lib/python3/dist-packages/epop/{path.name}" for path in (job.ROOT / "python/epop").glob("*.py")],
    "lib/python3/dist-packages/epop_policy.py",
    *[f"share/man/man1/{name}.1" for name in ("epop", "epopctl", "epopsim", "epoprm", "epop-report")],
    *[f"share/man/man3/{name}" for name in api.man_pages()],
    *[f"share/epop/workloads/{path.name}" for path in (job.ROOT / "scheduler/examples").glob("*.json")],
    *[f"share/epop/schema/{path.name}" for path in (job.ROOT / "schema").glob("*.json")],
]

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "LICENSE", "examples/Makefile",
             *[f"{folder}/{path.name}" for folder in ("python/examples", "programs/policies") for path in (job.ROOT / folder).glob("*.py")],
             *[str(path.relative_to(job.ROOT)) for folder in ("docs", "programs", "examples") for path in (job.ROOT / folder).rglob("*.*")
               if path.suffix in (".md", ".svg", ".png", ".c", ".h", ".f90")]]
PROGRAMS = ["epop", "epopctl", "epopsim", "epoprm", *(["epop-report"] if reports.REPORT.exists() else [])]
FILES += [f"share/doc/epop/{name}" for name in DOCUMENTS]
FILES += [f"bin/{name}" for name in PROGRAMS] + ["share/epop/THIRD-PARTY.txt"] * ("epop-report" in PROGRAMS)
FILES += [f"share/{place}" for name in PROGRAMS
          for place in (f"bash-completion/completions/{name}", f"zsh/site-functions/_{name}", f"fish/vendor_completions.d/{name}.fish")]
MODULES = ["lib/epop/munge.so", "lib/epop/slurm.so", "lib/epop/hdf5.so", "lib/epop/pmix-gateway"]  # where their headers are


@pytest.fixture(scope="module", params=["DESTDIR", "PREFIX"])
def tree(request, tmp_path_factory):
    """The installed tree, by a package builder's way and by a user's, whose folder has a blank in its name."""
    place = tmp_path_factory.mktemp(f"by {request.param}")
    if request.param == "DESTDIR":
        installed.install(f"DESTDIR={place}", f"PREFIX={PREFIX}")
        assert os.listdir(place) == ["opt"], "something was installed outside of the prefix"
        return place / PREFIX[1:]
    installed.install(f"PREFIX={place}")
    return place


def bare(space, tree, *command, cwd=None, limit=60, **variables):
    """Runs a command with PATH, HOME and these variables as the whole environment, but for the test's own marker and directory."""
    environment = {name: None for name in space.environment() if name != job.MARKER}
    environment.update(PATH=f"{tree}/bin:/usr/bin:/bin", HOME=space.directory, EPOP_RUNTIME_DIR=space.runtime + "/epop", **variables)
    return space.start(command, env=environment, cwd=cwd, limit=limit)


def test_everything_is_there(tree):
    assert [name for name in FILES if not (tree / name).exists()] == []


def test_nothing_else_is_there(tree):
    """But for the pages as a site (test_site.py)."""
    there = {str(path.relative_to(tree)) for path in tree.rglob("*") if not path.is_dir() and "doc/epop/html" not in str(path)}
    assert there - set(FILES) - set(MODULES) == set()


def test_modes(tree):
    for path in tree.rglob("*"):
        mode = path.stat().st_mode & 0o777
        executable = path.is_dir() or path.parent.name == "bin" or path.name in ("attend", "backtrace", "companion", "orphans", "pmix-gateway", "step", "tether")
        assert mode == (0o755 if executable else 0o644), f"{path}: {mode:o}"


def test_no_path_of_the_build_is_left(tree):
    """The tree can be moved, and says nothing of where it was built."""
    for path in tree.rglob("*"):
        if path.suffix in (".pc", ".1", ".3", ".h", ".json", ".cmake") or path.name == "Makefile":
            assert str(job.ROOT) not in path.read_text(), path
    for name in (*(f"bin/{program}" for program in PROGRAMS), "lib/libepop.so", "lib/epop/examples/cannon.so"):
        dynamic = subprocess.run(["readelf", "-dW", tree / name], capture_output=True, text=True, check=True).stdout
        assert str(job.ROOT) not in dynamic, name


# ---- It runs ----

@pytest.mark.parametrize("name", ["serial.so", "serial"])
def test_a_program_without_mpi_by_its_bare_name(space, tree, name):
    result = bare(space, tree, "epop", name, "2").wait()
    assert result.status == 0 and result.out.startswith("the square root of 2 is 1.414"), result


def test_an_example_by_its_bare_name(space, tree):
    result = bare(space, tree, job.MPIEXEC, "-n", "1", "epop", "cannon.so", "--random", "64", "--verify").wait()
    assert result.status == 0 and result.err == "", result


def test_relaunch(space, tree):
    result = bare(space, tree, "epop", "rigid", "1000").wait()
    assert result.status == 0 and "running under" in result.err, result


def test_resize(space, tree):
    """The installed epop and epopctl find each other."""
    running = bare(space, tree, job.MPIEXEC, "-n", "2", "epop", "--start", "1", "ledger", "iterations=100000000")
    wait_until_running(space, tree, running)
    resized = bare(space, tree, "epopctl", "resize", "2", "--wait").wait()
    assert resized.status == 0 and "2" in resized.out, resized
    assert bare(space, tree, "epopctl", "stop", "--wait").wait().status == 0
    result = running.wait()
    assert result.status == 0, result


def wait_until_running(space, tree, running):
    """Asks until the job has come up: epopctl says so with its exit status."""
    while True:
        answer = bare(space, tree, "epopctl", "status").wait()
        if answer.status == 0 and "state\tstarting" not in answer.out:
            return
        assert running.running(), running.wait()


def test_a_moved_tree_runs(space, tree):
    place = space.directory / "elsewhere"
    shutil.copytree(tree, place, symlinks=True)
    assert bare(space, place, "epop", "serial", "2").wait().status == 0
    flags = " ".join(pkg_config_flags(place))
    assert f"-I{place}/" in flags and str(tree) not in flags, flags


@reports.needed
def test_a_report_without_node_and_python(space, tree):
    """Where PATH leads to nothing but the tree."""
    profile = job.ROOT / "schema/examples/profile/valid/resized.json"
    environment = {name: None for name in space.environment() if name != job.MARKER}
    environment["PATH"] = f"{tree}/bin"
    result = space.start([tree / "bin/epop-report", profile, "-o", "page.html"], env=environment).wait()
    assert result.status == 0 and result.err == "", result
    page = (space.directory / "page.html").read_text()
    assert page.endswith("</html>\n") and str(job.ROOT) not in page
    assert html.escape((tree / "share/epop/THIRD-PARTY.txt").read_text()).replace("&#x27;", "&#39;") in page


def test_a_tilde_is_the_home():
    """Also in shells that leave it as it is in an argument."""
    plan = subprocess.run(["make", "-n", "install", f"BUILD={os.path.relpath(job.BUILD, job.ROOT)}", "PREFIX=~/epop"],
                          cwd=job.ROOT, env={**os.environ, "HOME": "/home/somebody"}, capture_output=True, text=True, check=True,
                          timeout=60).stdout
    assert '"/home/somebody/epop/bin"' in plan and '"~' not in plan, plan


# ---- Programs build against it ----

def pkg_config_flags(tree, package="epop"):
    return shlex.split(installed.pkg_config(tree, "--cflags", "--libs", package=package))


PROGRAM = """
#include <epop/epop.h>
#include <stdio.h>
#include <stdlib.h>

static int init(int *argc, char ***argv, void **data)
{
    (void)argv;
    *data = calloc(1, sizeof(int));
    return *data && *argc > 0 ? 0 : EPOP_ERR_MEMORY;
}

static int exec(void *data)
{
    ++*(int *)data;
    return MPI_Barrier(epop_world());
}

static int adapt(void *data)
{
    epop_window_t window;
    int error = epop_adapt_begin(&window);
    if (error == 0)
        error = epop_redist_replicated(&window, data, 1, MPI_INT);
    return error == 0 ? epop_adapt_commit() : error;
}

static int loop(void *data)
{
    return *(int *)data < 10;
}

static int end(void *data)
{
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0)
        printf("done %d\\n", *(int *)data);
    free(data);
    return 0;
}

EXTERN epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("built");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "work", exec, adapt, loop);
    epop_add_rigid(program, "end", end, NULL);
    return program;
}
"""
COMPILERS = [("mpicc.mpich", "c", "-std=c11"), ("cc", "c", "-std=c11"), ("clang", "c", "-std=c11"),
             ("g++", "cpp", "-std=c++17"), ("mpicxx.mpich", "cpp", "-std=c++17")]


@pytest.mark.parametrize("compiler,kind,standard", COMPILERS, ids=[words[0] for words in COMPILERS])
def test_a_program_builds_against_it(space, tree, compiler, kind, standard):
    source = space.directory / f"built.{kind}"
    source.write_text(PROGRAM.replace("EXTERN ", 'extern "C" ' if kind == "cpp" else ""))
    built = subprocess.run([compiler, standard, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", source.name,
                            "-o", "built.so", *pkg_config_flags(tree)],
                           cwd=space.directory, capture_output=True, text=True, timeout=60)
    assert built.returncode == 0, built.stderr
    result = bare(space, tree, job.MPIEXEC, "-n", "2", "epop", "./built.so").wait()
    assert result.status == 0 and result.out == "done 10\n", result


# An elastic executable of the time when the calls were in mpi.h; with constants and prototypes of its own, or without.
EXECUTABLE = """
#ifdef __cplusplus
extern "C" {
#else
#define _GNU_SOURCE
#endif
#include <mpi.h>
#ifdef __cplusplus
}
#endif
#include <stdio.h>
#ifdef ITS_OWN
#define MPI_ADAPT_FALSE 0
#define MPI_ADAPT_TRUE 1
#define MPI_ADAPT_STATUS_NEW 2
#define MPI_ADAPT_STATUS_JOINING 3
#define MPI_ADAPT_STATUS_STAYING 4
#ifdef EPOP_MPI_ADAPT_2015
#define MPI_ADAPT_STATUS_RETREATING 5
int MPI_Comm_adapt_begin(MPI_Comm *intercomm, MPI_Comm *new_comm_world, int, int);
int MPI_Comm_adapt_commit(int *phase_index);
#else
#define MPI_ADAPT_STATUS_LEAVING 5
int MPI_Comm_adapt_begin(MPI_Comm *intercomm, MPI_Comm *new_comm_world, int *staying, int *leaving, int *joining);
int MPI_Comm_adapt_commit(void);
#endif
int MPI_Init_adapt(int *argc, char ***argv, int *local_status);
int MPI_Probe_adapt(int *current_operation, int *local_status, MPI_Info *info);
#endif

int main(int argc, char **argv)
{
    int status, pending, begun, committed, rank;
    MPI_Info info;
    MPI_Comm between, world;
    MPI_Init_adapt(&argc, &argv, &status);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Probe_adapt(&pending, &status, &info);
#ifdef EPOP_MPI_ADAPT_2015
    int index = 7;
    begun = MPI_Comm_adapt_begin(&between, &world, 0, 0);
    committed = MPI_Comm_adapt_commit(&index);
    pending += index - 7 + (status == MPI_ADAPT_STATUS_RETREATING);
#else
    int staying, leaving, joining;
    begun = MPI_Comm_adapt_begin(&between, &world, &staying, &leaving, &joining);
    committed = MPI_Comm_adapt_commit();
#endif
    if (rank == 0)
        printf("status %d, pending %d, begin %d, commit %d\\n", status, pending, begun == MPI_SUCCESS, committed == MPI_SUCCESS);
    return MPI_Finalize();
}
"""


@pytest.mark.parametrize("flags", [[], ["-DITS_OWN"], ["-DEPOP_MPI_ADAPT_2015"], ["-DEPOP_MPI_ADAPT_2015", "-DITS_OWN"]], ids=" ".join)
@pytest.mark.parametrize("kind, language", {"c": ["-D_GNU_SOURCE="], "cpp": ["-cc=g++", "-DMPICH_SKIP_MPICXX"]}.items())
def test_an_executable_that_expects_the_calls_in_mpi_h(space, tree, kind, language, flags):
    source = space.directory / f"executable.{kind}"
    source.write_text(EXECUTABLE)
    built = subprocess.run(["mpicc.mpich", *language, *flags, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                            "-include", "epop/mpi_adapt.h", source.name, *pkg_config_flags(tree, "epop_mpi"), "-o", "executable"],
                           cwd=space.directory, capture_output=True, text=True, timeout=60)
    assert built.returncode == 0, built.stderr
    result = bare(space, tree, job.MPIEXEC, "-n", "2", "./executable").wait()
    assert result.status == 0 and result.out == "status 4, pending 0, begin 0, commit 0\n", result


# Debian's MPICH cannot grow: one of them does not, the other ends with that.
@pytest.mark.parametrize("program, status, says", [
    ("sessions", 0, "3 steps, 2 processes"), ("reinit", 0, "right at the end") if joining.WORKS else ("reinit", 1, "cannot connect processes")])
def test_programs_of_process_sets_are_built_against_it(space, tree, program, status, says):
    subprocess.run(["mpicc.mpich", "-Wall", "-Wextra", "-Wpedantic", "-Werror", job.ROOT / f"programs/plain/{program}.c",
                    *pkg_config_flags(tree, "epop_mpi"), "-o", program], cwd=space.directory, check=True, timeout=60)
    result = bare(space, tree, job.MPIEXEC, "-n", "2", f"./{program}", "3").wait()
    assert result.status == status and says in result.out + result.err, result


@pytest.fixture
def sources(space, tree):
    """A copy of the programs' sources, built as their Makefile says: the folder of what it made."""
    for folder in ("programs", "examples"):
        shutil.copytree(tree / "share/doc/epop" / folder, space.directory / folder)
    for more in ([], ["--question"]):  # the second time nothing is left to do
        result = bare(space, tree, "make", "-j2", "all", "fortran", "CFLAGS=-O1 -Wall -Wextra -Werror", *more, cwd=space.directory / "examples",
                      limit=300, PKG_CONFIG_PATH=tree / "lib/pkgconfig").wait()
        assert result.status == 0, result
    return space.directory / "examples/build"


def names_below(folder, pattern):
    """Of the files, without what they end in."""
    return {str(path.relative_to(folder).with_suffix("")) for path in folder.rglob(pattern) if path.is_file()}


def programs_of(folder):
    """Of one that is a folder, with a file of its name, that name."""
    names = names_below(folder, "*.*")
    return {name.split("/")[0] if "{0}/{0}".format(name.split("/")[0]) in names else name for name in names}


def test_the_sources_build_against_it(space, tree, sources):
    """All of them; and one of each kind runs."""
    modules = {name for name in names_below(sources, "*") if name.endswith("_program")}  # of Fortran
    assert names_below(sources, "*") - modules == programs_of(job.ROOT / "programs") | {"amr", "plain/amr_rigid", "cannon", "gauss"}
    for command, says in [
        (["epop", sources / "serial.so", "2"], "the square root of 2 is 1.414"),
        ([job.MPIEXEC, "-n", "1", "epop", "--driver", sources / "drivers/iterations.so", sources / "rigid.so", "100"], "pi is about"),
        ([job.MPIEXEC, "-n", "1", "epop", sources / "cannon.so", "--random", "64", "--verify"], "residual"),
        ([job.MPIEXEC, "-n", "2", "epop", sources / "heat_fortran.so", "100", "10"], "after 10 steps"),
        ([job.MPIEXEC, "-n", "1", "epop", sources / "synthetic.so", "phase=a", "seconds=0.01"], "1 of 1 iterations"),
        ([job.MPIEXEC, "-n", "2", sources / "plain/cg"], "2 processes"),
        ([job.MPIEXEC, "-n", "2", sources / "plain/amr_rigid", "--steps", "8"], '"ranks": 2'),
        (["epopsim", "--policy", sources / "policies/shortest.so", tree / "share/epop/workloads/bursts.json"], "shortest"),
    ]:
        result = bare(space, tree, *command).wait()
        assert result.status == 0 and says in result.out, result


def test_version_of_pkg_config_is_that_of_epop(space, tree):
    version = installed.pkg_config(tree, "--modversion").strip()
    assert installed.pkg_config(tree, "--modversion", package="epop_mpi").strip() == version
    assert bare(space, tree, "epop", "--version").wait().out.startswith(f"epop {version} ")


def test_man_pages_are_found(space, tree):
    if not shutil.which("man"):
        pytest.skip("there is no man here")
    for name in ("epop", "epopctl", "epopsim", "epoprm", "epop-report"):
        result = bare(space, tree, "man", "-M", tree / "share/man", "-P", "cat", name).wait()
        assert result.status == 0 and name in result.out, result


@pytest.mark.parametrize("name, says", [("epop_redist", "epop/redist.h"), ("MPI_Probe_adapt", "epop/mpi_adapt.h"), ("epop_h", "epop/epop.h")])
def test_functions_have_man_pages(space, tree, name, says):
    if not shutil.which("man"):
        pytest.skip("there is no man here")
    result = bare(space, tree, "man", "-M", tree / "share/man", "-P", "cat", "3", name).wait()
    assert result.status == 0 and says in result.out, result
