"""mpich/library.sh, on a source of that name which is built in a moment."""

import pathlib

import job
import pytest

SCRIPT = job.ROOT / "mpich/library.sh"

CONFIGURE = """#!/bin/sh
echo "$@" >>@HISTORY@
for word; do case $word in --prefix=*) echo "prefix := ${word#--prefix=}" >prefix.mk ;; esac; done
"""

MAKEFILE = """
include prefix.mk
all:
	test -e @HISTORY@.works || { echo it does not compile; exit 1; }
	gcc -c fftw.c && ar rcs libfftw3.a fftw.o && cp libfftw3.a libfftw3_mpi.a
install:
	mkdir -p $(prefix)/lib $(prefix)/include && cp *.a $(prefix)/lib && cp *.h $(prefix)/include
"""


class Source:
    """The folder, and how it was configured."""

    def __init__(self, space):
        self.space, self.folder, self.history = space, space.directory / "source", space.directory / "history"
        self.prefix = space.directory / "cache/fftw-0.1"
        self.folder.mkdir()
        for name, text in (("configure", CONFIGURE), ("Makefile", MAKEFILE), ("fftw.c", "void fftw_mpi_init(void) {}\nvoid fftw_mpi_cleanup(void) {}\n"),
                           ("fftw3-mpi.h", "#include <mpi.h>\nvoid fftw_mpi_init(void), fftw_mpi_cleanup(void);\n")):
            (self.folder / name).write_text(text.replace("@HISTORY@", str(self.history)))
        (self.folder / "configure").chmod(0o755)

    def works(self):
        pathlib.Path(f"{self.history}.works").touch()

    def build(self, *words, name="fftw"):
        return self.space.start([SCRIPT, name, *words], env={"EPOP_CACHE": self.space.directory / "cache", "LIBRARY_VERSION": "0.1+dfsg1",
                                                             "LIBRARY_SOURCE": self.folder, "MPICC": None, "MPIEXEC": None}).wait()


@pytest.fixture
def source(space):
    return Source(space)


def test_where(source):
    result = source.build("where")
    assert result.out == f"{source.prefix}\n" and not source.history.exists(), result


def test_a_failed_build_goes_on_and_is_made_once(source):
    result = source.build()
    assert result.status == 1 and "it does not compile" in result.err and "fftw3: 'compile' failed after" in result.err, result
    assert not source.prefix.exists()
    source.works()
    for _ in range(2):
        result = source.build()
        assert result.status == 0 and result.out == f"{source.prefix}\n", result
    words = source.history.read_text().split()
    assert f"--prefix={source.prefix}" in words and words.count("--enable-mpi") == 1
    assert sorted(path.name for path in source.prefix.iterdir()) == ["include", "lib", "recipe"]


def test_one_that_does_not_run_is_not_taken(source):
    source.works()
    (source.folder / "fftw.c").write_text("#include <stdlib.h>\nvoid fftw_mpi_init(void) { exit(3); }\nvoid fftw_mpi_cleanup(void) {}\n")
    result = source.build()
    assert result.status == 1 and "'check' failed" in result.err and not (source.prefix / "recipe").exists(), result


def test_another_name(source):
    result = source.build(name="feathers")
    assert result.status == 1 and result.err == "mpich/library.sh: which library? There are fftw, hypre and petsc\n", result


def test_no_version(space):
    """Where apt knows none."""
    nothing = space.directory / "apt.conf"
    nothing.write_text(f'Dir::State::lists "{space.directory}/lists";\nDir::State::status "/dev/null";\nDir::Cache "{space.directory}";\n')
    result = space.start([SCRIPT, "hypre"], env={"APT_CONFIG": nothing, "LIBRARY_VERSION": None}).wait()
    assert result.status == 1 and "hypre: no version known" in result.err, result
