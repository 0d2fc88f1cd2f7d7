"""mpich/: the builds in the cache can do what EPOP wants of them; and the build script itself, on a tiny package."""

import fcntl
import os
import pathlib
import re
import subprocess

import job
import pytest

FOLDER = job.ROOT / "mpich"
DEVICES = ["ch3:sock", "ch3:nemesis", "ch4:ofi"]


def shell(command, **environment):
    """A shell command with the recipe at hand; its output."""
    return subprocess.run(["bash", "-c", f". {FOLDER}/recipe.sh; {command}"], env={**os.environ, **environment},
                          check=True, capture_output=True, text=True, timeout=30).stdout.strip()


@pytest.fixture(params=DEVICES)
def mpich(request):
    """The prefix of a cached MPICH."""
    there = shell(f"recipe_choose {request.param}; echo $prefix; recipe_is_there && echo there || true").split("\n")
    if there[1:] != ["there"]:
        pytest.skip(f"{request.param} is not in the cache: make mpich MPICH_DEVICE={request.param}")
    return request.param, pathlib.Path(there[0])


def capabilities(space, mpicc, mpiexec):
    """The answers of capabilities.sh, by question."""
    result = space.start([FOLDER / "capabilities.sh"], env={"MPICC": mpicc, "MPIEXEC": mpiexec}, limit=150).wait()
    assert result.status == 0, result
    return dict(line.split(maxsplit=1) for line in result.out.splitlines())


def test_cached_mpich(space, mpich):
    device, prefix = mpich
    found = capabilities(space, prefix / "bin/mpicc", prefix / "bin/mpiexec")
    assert found["library"].endswith(f"device {device}"), found
    assert found["file"] == str(prefix / "lib/libmpich.so.12"), found
    assert found["threads"] == "multiple", found
    for thing in ("spawn", "connect", "files"):
        assert found[thing].startswith("yes, in "), found
    if device == "ch3:sock":
        assert found["waiting"].startswith("sleeps"), found


def test_installed_mpich(space):
    """The control case: what is not there is said, with the reason."""
    found = capabilities(space, "mpicc.mpich", "mpiexec.mpich")
    assert found["files"].startswith("yes"), found
    if found["library"].endswith("ch4:ucx"):
        assert found["spawn"].startswith("no: ") and "ucx" in found["connect"], found


def test_soname(mpich):
    _, prefix = mpich
    dynamic = subprocess.run(["readelf", "-d", prefix / "lib/libmpich.so"], check=True, capture_output=True, text=True)
    assert "soname: [libmpich.so.12]" in dynamic.stdout


def runs_when_compiled_with(space, mpicc):
    """There is one MPI in the process, epop's own."""
    program = space.directory / "ledger.so"
    subprocess.run([mpicc, "-shared", "-fPIC", "-D_GNU_SOURCE", "-I", job.ROOT / "epop_api",
                    job.ROOT / "programs/ledger.c", "-o", program, f"-L{job.BUILD}/lib", "-lepop", "-lm"], check=True)
    result = space.epop(program, "elements=100", "iterations=20", "work=0", ranks=2)
    assert result.status == 0 and result.out.startswith("ledger: 100 elements right"), result


def test_programs_of_a_cached_mpich_run(space, mpich):
    runs_when_compiled_with(space, mpich[1] / "bin/mpicc")


def test_programs_of_the_installed_mpich_run(space):
    runs_when_compiled_with(space, "mpicc.mpich")


def test_unknown_device(space):
    result = space.start([FOLDER / "build.sh", "ch3:pigeon"]).wait()
    assert result.status == 1 and "unknown device 'ch3:pigeon'; there are ch3:sock" in result.err, result


# ---- the build script, on a package that is built in a moment ------------------------------------------------------

CONFIGURE = """#!/bin/bash
for option; do case $option in --prefix=*) prefix=${option#*=} ;; esac; done
echo configured >>"$HISTORY"
cat >Makefile <<END
all:
\techo compiled >>$HISTORY
\ttest -e $HISTORY.works
install:
\tmkdir -p \\$(DESTDIR)$prefix/bin \\$(DESTDIR)$prefix/lib
\tgcc -shared -Wl,-soname,libmpich.so.12 -x c /dev/null -o \\$(DESTDIR)$prefix/lib/libmpich.so
\tprintf '#!/bin/sh\\nexit 0\\n' >\\$(DESTDIR)$prefix/bin/mpicc
\tcp \\$(DESTDIR)$prefix/bin/mpicc \\$(DESTDIR)$prefix/bin/mpiexec
\tchmod +x \\$(DESTDIR)$prefix/bin/*
END
"""


class Cache:
    """A cache in which the source package has been unpacked, so that a build begins with its configure."""

    def __init__(self, space, directory):
        self.space, self.path = space, directory / "cache"
        self.environment = {"EPOP_CACHE": self.path, "MPICH_VERSION": "0.1", "HISTORY": directory / "history"}
        self.history = directory / "history"
        self.prefix = self.path / "mpich-0.1-ch3-sock"
        work = self.path / "build/mpich-0.1-ch3-sock"
        (work / "source").mkdir(parents=True)
        (work / "done").mkdir()
        (work / "done/unpack").touch()
        (self.path / "source").mkdir()
        (self.path / "source/mpich_0.1.complete").touch()
        (work / "recipe").write_text(self.recipe() + "\n")
        configure = work / "source/configure"
        configure.write_text(CONFIGURE)
        configure.chmod(0o755)

    def recipe(self):
        return shell("recipe_choose ch3:sock; recipe_options", EPOP_CACHE=str(self.path), MPICH_VERSION="0.1")

    def works(self):
        pathlib.Path(f"{self.history}.works").touch()

    def start(self):
        return self.space.start([FOLDER / "build.sh"], env=self.environment)

    def build(self):
        return self.start().wait()


@pytest.fixture
def cache(space, tmp_path):
    return Cache(space, tmp_path)


def test_a_failed_build_goes_on_where_it_stopped(cache):
    result = cache.build()
    assert result.status == 1 and "'compile' failed after" in result.err and "test -e" in result.err, result
    assert not cache.prefix.exists()
    cache.works()
    result = cache.build()
    assert result.status == 0 and result.out.endswith(f"mpich 0.1, ch3:sock: {cache.prefix}\n"), result
    assert cache.history.read_text().split() == ["configured", "compiled", "compiled"]
    assert re.search(r"^  compile +\d+ s$", result.out, re.MULTILINE), result
    assert not (cache.path / "build/mpich-0.1-ch3-sock").exists()


def test_what_is_there_is_not_built_again(cache):
    cache.works()
    assert cache.build().status == 0
    before = cache.history.read_text()
    result = cache.build()
    assert result.status == 0 and result.out == f"mpich 0.1, ch3:sock: {cache.prefix}\n", result
    assert cache.history.read_text() == before


def test_a_library_with_another_soname_is_not_taken(cache):
    cache.works()
    configure = cache.path / "build/mpich-0.1-ch3-sock/source/configure"
    configure.write_text(CONFIGURE.replace("soname,libmpich.so.12", "soname,libmpi.so.12"))
    result = cache.build()
    assert result.status == 1 and "'check' failed" in result.err, result
    assert not (cache.prefix / "recipe").exists()


def test_one_build_at_a_time(cache):
    cache.works()
    with open(cache.path / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build = cache.start()
        build.wait_for_line("another build is running, waiting for it")
        assert not cache.history.exists()
    assert build.wait().status == 0
    assert cache.history.read_text().split() == ["configured", "compiled"]
