"""What the libraries export and need: neither more nor less than the headers and the list of symbols say."""

import os
import pathlib
import re
import subprocess

import headers
import job
import pytest

LIBRARY = job.BUILD / "lib/libepop.so.0"
PROGRAMS = sorted((job.BUILD / "lib/epop").glob("*/*.so"))
C_LIBRARY = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# Those that a job depends on: OpenPMIx may be there or not, in any version.
WITHOUT_PMIX = ["lib/libepop.so.0", "bin/epop", "bin/epopctl", "bin/epoprm", "lib/epop/attend"]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def exported():
    """{symbol: version} of libepop."""
    words = [line.split()[-1] for line in output("nm", "-D", "--defined-only", "--with-symbol-versions",
                                                 LIBRARY).splitlines()]
    return dict(word.split("@@") for word in words if "@@" in word)


def listed():
    """{version: names} of the version script."""
    text = headers.without_comments((job.ROOT / "epop_api/libepop.map").read_text())
    return {version: set(re.findall(r"([\w*]+);", re.sub(r"local:.*", "", body, flags=re.S)))
            for version, body in re.findall(r"(\w+)\s*{(.*?)}", text, flags=re.S)}


def needed(path):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", path)))


def test_the_readers_of_this_test_find_something():
    assert len(headers.functions()) > 30 and len(exported()) > 30 and len(PROGRAMS) > 5


def test_exported_symbols_are_those_of_the_list():
    public = {name for name, version in exported().items() if version == "EPOP_0"}
    assert public == listed()["EPOP_0"]


def test_the_list_is_that_of_the_headers():
    assert headers.functions() == listed()["EPOP_0"]


def test_nothing_else_is_exported_but_for_the_executable_and_fortran():
    rest = {name: version for name, version in exported().items() if version != "EPOP_0"}
    versions = {name: "EPOP_FORTRAN_0" if name.startswith("epop__fortran_") else "EPOP_PRIVATE" for name in rest}
    assert rest == versions and all(name.startswith("epop__") for name in rest), rest


def test_no_header_shows_a_private_symbol():
    for path in headers.PUBLIC:
        assert "epop__" not in path.read_text(), path.name


def test_soname():
    assert "Library soname: [libepop.so.0]" in output("readelf", "-dW", LIBRARY)
    assert (job.BUILD / "lib/libepop.so").resolve() == LIBRARY.resolve()


def test_epopctl_is_no_mpi_program():
    """Directly or not."""
    libraries = output("ldd", job.BUILD / "bin/epopctl")
    assert "libevent" in libraries and not re.search(r"lib(mpi|mpich|epop)\b", libraries), libraries


@pytest.mark.parametrize("path", WITHOUT_PMIX)
def test_no_pmix(path):
    """MPICH of some systems needs it for itself."""
    assert needed(job.BUILD / path) and not [name for name in needed(job.BUILD / path) if "pmix" in name]
    assert not re.search("pmix", output("nm", "-D", "--undefined-only", job.BUILD / path), re.IGNORECASE)


def mpi_library():
    """The one that epop is linked with, whatever its name is on this machine."""
    others = re.compile(r"lib(epop|cjson|event_core-[\d.]+|event_pthreads-[\d.]+|sodium)\.so\.\d+")
    return {name for name in needed(job.BUILD / "bin/epop") - C_LIBRARY if not others.fullmatch(name)}


def test_epop_needs_its_library_and_mpi():
    assert "libepop.so.0" in needed(job.BUILD / "bin/epop") and len(mpi_library()) == 1, mpi_library()
    assert re.match(r"libmpi", next(iter(mpi_library())))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_need_little(path):
    allowed = C_LIBRARY | mpi_library() | {"libepop.so.0"}
    if path.parent.name == "examples":
        allowed |= {name for name in needed(path) if "blas" in name}
    if path.stem.endswith("_fortran"):
        allowed |= {name for name in needed(path) if re.match(r"lib(gfortran|mpi\w*fort|gcc_s)\.", name)}
    assert needed(path) <= allowed


def test_a_program_without_mpi_does_not_need_it():
    assert not mpi_library() & needed(job.BUILD / "lib/epop/programs/serial.so")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_refer_to_public_functions_only(path):
    referred = {word.split("@")[0] for word in re.findall(r"\bU (epop_\S+)", output("nm", "-D", path))}
    assert "get_program" in output("nm", "-D", "--defined-only", path)
    assert referred and referred <= headers.functions() | {name for name, version in exported().items() if version == "EPOP_FORTRAN_0"}


def bound_to(*command, **environment):
    """The files in which MPI's library finds the function by which it waits in UCX."""
    process = subprocess.run(command, env=dict(os.environ, LD_DEBUG="bindings", LD_BIND_NOW="1", **environment), text=True,
                             capture_output=True, timeout=60)
    found = re.findall(r"binding file \S*/libmpi\S* \[0\] to (\S+) \[0\]: normal symbol `ucp_worker_progress'", process.stderr)
    return [pathlib.Path(path).name for path in found]


def test_ranks_that_wait_in_ucx_yield():
    """In epop, and in any executable that libepop_mpi is loaded into; other devices do not wait there."""
    library, = re.findall(r"(/\S*/libmpi\S*)", output("ldd", job.BUILD / "bin/epop"))
    once = int("ucp_worker_progress" in output("nm", "-D", "--undefined-only", library))
    assert bound_to(job.BUILD / "bin/epop", "--version") == ["epop"] * once
    layer = job.BUILD / "lib/libepop_mpi.so.0"
    assert bound_to("true", LD_PRELOAD=str(layer)) == [layer.name] * once
