"""Dependencies run one way: driver -> runtime -> epop_api; programs and examples see the public headers alone."""

import re

import job
import pytest

# Which of the project's own headers the sources below a folder may include, by the beginning of the path.
ALLOWED = {
    "epop_api": ["epop/", "epop_api/"],
    "interpose": ["epop/visibility.h", "epop/mpi_adapt.h", "interpose/"],
    "runtime": ["epop/", "epop_api/", "runtime/", "interpose/"],
    "driver": ["epop/", "runtime/", "driver/", "interpose/", "mpich/tries.h"],
    "report": ["report/"],
    "programs": ["epop/"],
    "examples": ["epop/"],
}
# The program model is for programs without MPI, too.
WITHOUT_MPI = ["program.h", "driver.h", "visibility.h"]


def sources(folder):
    return sorted(path for path in (job.ROOT / folder).rglob("*") if path.suffix in (".c", ".h"))


def includes(path):
    return re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', path.read_text(), flags=re.M)


def is_of_the_project(name):
    return (job.ROOT / name).is_file() or (job.ROOT / "epop_api" / name).is_file()


def own_files(path, folder):
    """Where an example's own headers may be: its folder, and what the examples share."""
    return [path.parent, job.ROOT / folder] if folder == "examples" else [path.parent]


@pytest.mark.parametrize("folder", ALLOWED)
def test_includes_run_one_way(folder):
    wrong, seen = [], 0
    for path in sources(folder):
        for mark, name in includes(path):
            allowed = any(name.startswith(start) for start in ALLOWED[folder])
            own = mark == '"' and any((place / name).is_file() for place in own_files(path, folder))
            if (mark == '"' or is_of_the_project(name)) and not allowed and not own:
                wrong.append(f"{path.relative_to(job.ROOT)}: {name}")
            seen += allowed or own
    assert seen > 0 and wrong == []


@pytest.mark.parametrize("folder", ["programs", "examples"])
def test_programs_and_examples_see_the_public_headers_alone(folder):
    for path in sources(folder):
        for mark, name in includes(path):
            assert not name.startswith("epop/") or mark == "<", f"{path}: {name} is included as a file of its own"


def test_an_example_does_not_use_another():
    for path in sources("examples"):
        for mark, name in includes(path):
            if mark == '"':
                assert name.startswith((path.parent.name + "/", "common/")) or "/" not in name, f"{path}: {name}"


@pytest.mark.parametrize("name", WITHOUT_MPI)
def test_the_program_model_knows_no_mpi(name):
    path = job.ROOT / "epop_api/epop" / name
    assert not [header for _, header in includes(path) if "mpi" in header or header.endswith(("elastic.h", "redist.h"))]
    assert "MPI_" not in re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


def test_epopctl_knows_the_control_plane_alone():
    for path in sources("driver/ctl"):
        for _, name in includes(path):
            assert not name.startswith("runtime/") or name.startswith("runtime/control/"), f"{path}: {name}"
