"""python/mpi4py.sh, on a source of that name which is built in a moment."""

import pathlib

import job
import pytest

SCRIPT = job.ROOT / "python/mpi4py.sh"

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


class Source:
    """The folder, and what was done with it."""

    def __init__(self, space):
        self.space, self.folder, self.history = space, space.directory / "source", space.directory / "history"
        self.prefix = space.directory / "cache/mpi4py-0.1"
        self.folder.mkdir()
        self.of("MPICH")

    def of(self, vendor):
        (self.folder / "setup.py").write_text(SETUP.replace("@HISTORY@", str(self.history)).replace("@VENDOR@", vendor))

    def works(self):
        pathlib.Path(f"{self.history}.works").touch()

    def build(self, *words):
        return self.space.start([SCRIPT, *words], env={"EPOP_CACHE": self.space.directory / "cache", "MPI4PY_VERSION": "0.1",
                                                       "MPI4PY_SOURCE": self.folder, "MPICC": None, "MPIEXEC": None}).wait()


@pytest.fixture
def source(space):
    return Source(space)


def test_where(source):
    result = source.build("where")
    assert result.out == f"{source.prefix}\n" and not source.history.exists(), result


def test_a_failed_build_goes_on_and_is_made_once(source):
    result = source.build()
    assert result.status == 1 and "it does not compile" in result.err and "mpi4py: 'compile' failed after" in result.err, result
    assert not source.prefix.exists()
    source.works()
    for _ in range(2):
        result = source.build()
        assert result.status == 0 and result.out == f"{source.prefix}\n", result
    assert source.history.read_text() == "build --mpicc=mpicc.mpich\n" * 2
    assert sorted(path.name for path in source.prefix.iterdir()) == ["mpi4py", "recipe"]


def test_one_of_another_mpi_is_not_taken(source):
    source.works()
    source.of("Open MPI")
    result = source.build()
    assert result.status == 1 and "'check' failed" in result.err and not (source.prefix / "recipe").exists(), result


def test_no_version(space):
    """Where apt knows none."""
    nothing = space.directory / "apt.conf"
    nothing.write_text(f'Dir::State::lists "{space.directory}/lists";\nDir::State::status "/dev/null";\nDir::Cache "{space.directory}";\n')
    result = space.start([SCRIPT], env={"APT_CONFIG": nothing, "MPI4PY_VERSION": None}).wait()
    assert result.status == 1 and "mpi4py: no version known" in result.err, result
