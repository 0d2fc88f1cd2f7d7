"""The CMake package of the installed tree: programs and executables are configured, built and run with it, by the MPI of this EPOP."""

import shutil
import subprocess

import job
import pages
import pytest

MPICC = "mpicc.mpich"
HEAD = "cmake_minimum_required(VERSION 3.13)\nproject(test {languages})\n"


@pytest.fixture(scope="module")
def moved(tree, tmp_path_factory):
    """It is found, and finds its own, where it was moved to."""
    return tree.rename(tmp_path_factory.mktemp("elsewhere") / "a moved tree")


class Project:
    """A folder with a CMakeLists.txt, and build/ in it."""

    def __init__(self, space, tree):
        self.space, self.tree = space, tree
        self.path = f"{tree}/bin:/usr/bin:/bin"

    def run(self, *command):
        return self.space.start(command, env={"PATH": self.path, "CMAKE_PREFIX_PATH": self.tree}, limit=120).wait()

    def configure(self, text, languages="C"):
        """The Result of cmake."""
        (self.space.directory / "CMakeLists.txt").write_text(text if "project(" in text else HEAD.format(languages=languages) + text)
        return self.run("cmake", "-S", ".", "-B", "build")

    def build(self, text, **how):
        """Also says all that was configured."""
        result = self.configure(text, **how)
        assert result.status == 0, result
        built = self.run("cmake", "--build", "build", "--verbose")
        assert built.status == 0, built
        return result.out

    def add(self, source, name):
        shutil.copy(job.ROOT / source, self.space.directory / name)


@pytest.fixture
def project(space, moved):
    return Project(space, moved)


def expect(result, text):
    assert result.status == 0 and text in result.out, result


def test_the_page(project):
    """What docs/guide/start.md shows, with a program and an executable of these names."""
    project.add("programs/rigid.c", "pi.c")
    project.add("programs/plain/heat_adapt.c", "heat_adapt.c")
    text, = [block.text for block in pages.blocks(job.ROOT / "docs/guide/start.md") if block.language == "cmake"]
    project.build(text)
    expect(project.run(job.MPIEXEC, "-n", "2", "epop", "build/pi.so", "1000"), "pi is about 3.14")
    expect(project.run(job.MPIEXEC, "-n", "2", "build/heat_adapt"), "2 processes")


def test_a_program_in_cpp(project):
    (project.space.directory / "none.cpp").write_text("""
        #include <epop/epop.h>
        #include <cstdio>
        static int start(int *, char ***, void **) { return MPI_Barrier(epop_world()); }
        static int end(void *) { return std::puts("done") < 0; }
        extern "C" epop_program_t *get_program(void)
        {
            epop_program_t *program = epop_program_create("none");
            epop_add_init(program, "start", start);
            epop_add_rigid(program, "end", end, nullptr);
            return program;
        }""")
    project.build("find_package(EPOP REQUIRED)\nadd_library(none MODULE none.cpp)\ntarget_link_libraries(none PRIVATE EPOP::epop)\n"
                  "target_link_options(none PRIVATE -Wl,-z,defs)\n", languages="CXX")
    expect(project.run(job.MPIEXEC, "-n", "1", "epop", "build/libnone.so"), "done")


@pytest.mark.parametrize("libraries", ["EPOP::mpi MPI::MPI_C", "MPI::MPI_C EPOP::mpi", "${MPI_C_LIBRARIES} EPOP::mpi"])
def test_an_executable_that_names_mpi_too(project, libraries):
    """EPOP's library comes before MPI's in any order; linked behind it, MPI_Init_adapt would end the program."""
    project.add("programs/plain/heat_adapt.c", "heat.c")
    project.build("find_package(EPOP REQUIRED)\nfind_package(MPI REQUIRED)\nadd_executable(heat heat.c)\n"
                  f"target_link_libraries(heat PRIVATE {libraries})\n")
    expect(project.run(job.MPIEXEC, "-n", "2", "build/heat"), "2 processes")


# ---- A machine with another MPI, whose mpicc comes first ----

@pytest.fixture
def another_mpi(project):
    """Its folder, with its commands, and headers that have MPICH's behind them."""
    place = project.space.directory / "another"
    shown = subprocess.run([MPICC, "-show"], capture_output=True, text=True, check=True).stdout
    words = shown.replace(" -I", f" -I{place}/include -I", 1)
    (place / "bin").mkdir(parents=True)
    (place / "include").mkdir()
    (place / "include/mpi.h").write_text("#include_next <mpi.h>\n")
    for name in ("mpicc", "mpiexec"):  # cmake looks where mpiexec is
        (place / "bin" / name).write_text(f'#!/bin/sh\necho {words}')
        (place / "bin" / name).chmod(0o755)
    project.path = f"{place}/bin:{project.path}"
    return place


def test_epop_finds_its_own_mpi(project, another_mpi):
    says = project.build("find_package(EPOP REQUIRED)\nfind_package(MPI REQUIRED)\nmessage(STATUS \"headers: ${MPI_C_HEADER_DIR}\")\n")
    assert "headers: /" in says and f"headers: {another_mpi}" not in says, says


def test_another_mpi_is_refused(project, another_mpi):
    result = project.configure("find_package(MPI REQUIRED)\nfind_package(EPOP REQUIRED)\n")
    told = " ".join(result.err.split())
    assert result.status != 0 and f"EPOP was built with the MPI of {MPICC}" in told and str(another_mpi) in told, result


# ---- Versions ----

@pytest.mark.parametrize("asked, found", [("0.1", True), ("0.0.1", True), ("{version} EXACT", True), ("0.0.1 EXACT", False),
                                          ("0.999", False), ("1", False)])
def test_versions(project, asked, found):
    version = project.run("epop", "--version").out.split()[1]
    result = project.configure(f"find_package(EPOP {asked.format(version=version)} QUIET)\n"
                               "message(STATUS \"found: ${EPOP_FOUND} ${EPOP_VERSION}\")\n", languages="NONE")
    assert (f"found: 1 {version}" in result.out) == found and ("found: 0" in result.out) != found, result
