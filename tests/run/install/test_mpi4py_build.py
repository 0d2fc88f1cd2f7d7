"""python/mpi4py.sh, on a source of that name which is built in a moment."""

import building
import pytest

SCRIPT = "python/mpi4py.sh"

SETUP = """
import pathlib, sys
with open("@HISTORY@", "a") as history:
    print(*sys.argv[1:], file=history)
assert pathlib.Path("@HISTORY@.works").exists(), "it does not compile"
package = pathlib.Path("build/lib.any/mpi4py")
package.mkdir(parents=True)
(package / "__init__.py").touch()
(package / "MPI.py").write_text('''
class COMM_WORLD:
    size = 2

def get_vendor():
    return "@VENDOR@", (1, 0)
''')
"""


@pytest.fixture
def source(space):
    it = building.Source(space, SCRIPT, "mpi4py-0.1", {"MPI4PY_VERSION": "0.1", "MPI4PY_SOURCE": space.directory / "source"})
    it.write("setup.py", SETUP, VENDOR="MPICH")
    return it


def test_where(source):
    building.check_where(source)


def test_a_failed_build_goes_on_and_is_made_once(source):
    building.check_failed_and_made_once(source, "mpi4py")
    assert source.history.read_text() == "build --mpicc=mpicc.mpich\n" * 2
    assert sorted(path.name for path in source.prefix.iterdir()) == ["mpi4py", "recipe"]


def test_one_of_another_mpi_is_not_taken(source):
    source.works()
    source.write("setup.py", SETUP, VENDOR="Open MPI")
    building.check_not_taken(source)


def test_no_version(space):
    building.check_without_version(space, SCRIPT, "MPI4PY_VERSION", "mpi4py")
