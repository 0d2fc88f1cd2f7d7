"""What hwloc looks at for MPI: little where MPI alone uses it, else all that the program may want of it."""

import pathlib

import job
import joining
import pytest

from executables import LINKED, compile_c, source

pytestmark = joining.needed
PLUGINS = sorted(file.name for folder in pathlib.Path("/usr/lib").glob("*/hwloc") for file in folder.glob("hwloc_*.so"))
UNSET = {"HWLOC_COMPONENTS": "unset", "HWLOC_PLUGINS_PATH": "unset"}


@pytest.fixture(autouse=True)
def over_sockets(space):
    if "ch3:sock" not in space.mpi():
        pytest.skip("another device may need what hwloc sees")


@pytest.fixture(scope="module", name="compiled")
def compiled_programs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("hwloc")
    return {"alone": compile_c(source("hwloc_look"), directory / "alone", *LINKED),
            "linked": compile_c(source("hwloc_look"), directory / "linked", *LINKED, "-Wl,--no-as-needed", "-l:libhwloc.so.15")}


def look(space, program, **env):
    """The plugins that are loaded, and the variables behind MPI_Init."""
    done = space.start([job.MPIEXEC, "-n", "1", program], env=env, limit=60).wait()
    assert done.status == 0, done
    words = [line.split() for line in done.out.splitlines()]
    return sorted(rest for first, rest in words if first == "plugin"), {first: rest for first, rest in words if first != "plugin"}


def test_mpi_alone_uses_it(space, compiled):
    assert look(space, compiled["alone"]) == ([], UNSET)


@pytest.mark.skipif(not PLUGINS, reason="this hwloc has no plugins")
def test_the_program_uses_it_too(space, compiled):
    assert look(space, compiled["linked"]) == (PLUGINS, UNSET)


@pytest.mark.skipif(not PLUGINS, reason="this hwloc has no plugins")
def test_the_user_has_said_which_parts_look(space, compiled):
    assert look(space, compiled["alone"], HWLOC_COMPONENTS="-cuda") == (PLUGINS, {**UNSET, "HWLOC_COMPONENTS": "-cuda"})


def test_the_user_has_said_where_plugins_are(space, compiled):
    found, variables = look(space, compiled["alone"], HWLOC_PLUGINS_PATH="/nowhere")
    assert (found, variables) == ([], {**UNSET, "HWLOC_PLUGINS_PATH": "/nowhere"})
