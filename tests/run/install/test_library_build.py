"""mpich/library.sh, on a source of that name which is built in a moment."""

import building
import pytest

SCRIPT = "mpich/library.sh"

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


FILES = {"configure": CONFIGURE, "Makefile": MAKEFILE, "fftw.c": "void fftw_mpi_init(void) {}\nvoid fftw_mpi_cleanup(void) {}\n",
         "fftw3-mpi.h": "#include <mpi.h>\nvoid fftw_mpi_init(void), fftw_mpi_cleanup(void);\n"}


@pytest.fixture
def source(space):
    it = building.Source(space, SCRIPT, "fftw-0.1", {"LIBRARY_VERSION": "0.1+dfsg1", "LIBRARY_SOURCE": space.directory / "source"})
    for name, text in FILES.items():
        it.write(name, text)
    (it.folder / "configure").chmod(0o755)
    return it


def test_where(source):
    building.check_where(source, "fftw")


def test_a_failed_build_goes_on_and_is_made_once(source):
    building.check_failed_and_made_once(source, "fftw3", "fftw")
    words = source.history.read_text().split()
    assert f"--prefix={source.prefix}" in words and words.count("--enable-mpi") == 1
    assert sorted(path.name for path in source.prefix.iterdir()) == ["include", "lib", "recipe"]


def test_one_that_does_not_run_is_not_taken(source):
    source.works()
    source.write("fftw.c", "#include <stdlib.h>\nvoid fftw_mpi_init(void) { exit(3); }\nvoid fftw_mpi_cleanup(void) {}\n")
    building.check_not_taken(source, "fftw")


def test_another_name(source):
    result = source.build("feathers")
    assert result.status == 1 and result.err == "mpich/library.sh: which library? There are fftw, hypre and petsc\n", result


def test_no_version(space):
    building.check_without_version(space, SCRIPT, "LIBRARY_VERSION", "hypre", "hypre")
