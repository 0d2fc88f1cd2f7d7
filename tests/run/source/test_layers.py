"""Dependencies run one way: driver -> runtime -> epop_api, and inside runtime/ from room to room; programs and examples
see the public headers alone."""

import functools
import re
import subprocess
from pathlib import Path

import job
import pytest

# Which of the project's own headers the sources below a folder may include, by the beginning of the path.
ALLOWED = {
    "epop_api": ["epop/", "epop_api/"],
    "interpose": ["epop/visibility.h", "epop/mpi_adapt.h", "epop/mpi_psets.h", "epop/mpi_reinit.h", "interpose/"],
    "runtime": ["epop/", "epop_api/", "runtime/", "interpose/"],
    "driver": ["epop/", "epop_api/", "runtime/", "driver/", "interpose/", "terminal/"],
    "terminal": ["terminal/", "runtime/base/"],
    "epopctl": ["epopctl/", "terminal/", "runtime/base/", "runtime/wire/", "runtime/control/"],
    "scheduler/core": ["epop/policy.h", "scheduler/core/", "runtime/base/"],
    "scheduler/policies": ["epop/policy.h", "scheduler/policies/"],
    "scheduler/workload": ["epop/policy.h", "scheduler/workload/", "runtime/base/"],
    "scheduler/simulated": ["epop/policy.h", "scheduler/workload/", "scheduler/simulated/", "scheduler/core/", "runtime/base/"],
    "scheduler/munge": ["scheduler/munge/", "runtime/base/"],
    "scheduler/daemon": ["scheduler/daemon/", "scheduler/journal/", "runtime/base/", "runtime/wire/"],
    "scheduler/hosts": ["epop/policy.h", "epop_api/sizes.h", *[f"scheduler/{room}/" for room in ("hosts", "daemon", "core", "journal", "policies")], "runtime/base/", "runtime/wire/", "runtime/hydra/hydra.h",
                        "runtime/launch/mpiexec.h"],
    "scheduler/slurm": ["epop/policy.h", *[f"scheduler/{room}/" for room in ("slurm", "daemon", "core", "journal", "munge", "policies")], "runtime/base/", "runtime/wire/"],
    "scheduler/modules": ["epop/visibility.h", "scheduler/munge/munge.h", "scheduler/slurm/module.h"],
    "scheduler/epopsim": ["epop/policy.h", "scheduler/", "terminal/", "runtime/base/"],
    "scheduler/attend": ["scheduler/attend/", "scheduler/munge/munge.h", "runtime/base/", "runtime/wire/", "runtime/control/", "runtime/hydra/leftovers.h",
                         "runtime/hydra/hydra.h"],
    "scheduler/journal": ["epop/policy.h", "scheduler/journal/", "runtime/base/"],
    "scheduler/epoprm": ["epop/policy.h", "epop_api/sizes.h", "scheduler/", "terminal/", "runtime/base/", "runtime/wire/"],
    "gateway": ["gateway/", "runtime/base/", "runtime/wire/", "runtime/control/"],
    "report": ["report/", "terminal/", "runtime/base/error.h"],
    "programs": ["epop/"],
    "examples": ["epop/"],
}
# The program model is for programs without MPI, too.
WITHOUT_MPI = ["program.h", "driver.h", "policy.h", "visibility.h"]


def sources(folder):
    return sorted(path for path in (job.ROOT / folder).rglob("*") if path.suffix in (".c", ".h"))


@functools.cache
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


def test_the_gateway_alone_knows_pmix():
    users = {path.relative_to(job.ROOT).parts[0] for folder in ALLOWED for path in sources(folder)
             if any(name.startswith("pmix") for _, name in includes(path))}
    assert users == {"gateway"}


def test_an_example_does_not_use_another():
    for path in sources("examples"):
        for mark, name in includes(path):
            if mark == '"':
                example = path.relative_to(job.ROOT / "examples").parts[0]
                assert name.startswith((example + "/", "common/")) or "/" not in name, f"{path}: {name}"


@pytest.mark.parametrize("name", WITHOUT_MPI)
def test_the_program_model_knows_no_mpi(name):
    path = job.ROOT / "epop_api/epop" / name
    assert not [header for _, header in includes(path) if "mpi" in header or header.endswith(("elastic.h", "redist.h"))]
    assert "MPI_" not in re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


# The rooms of runtime/ in their reading order: each may use those before it, and no other.
ROOMS = ["base", "hydra", "launch", "wire", "control", "psets", "bar", "loops", "member", "world", "coordinator", "backends", "redist", "describe",
         "ahead", "checkpoint", "records", "crash", "job", "adapt"]


def rooms_used(room):
    """Which file of this room includes what of which other one."""
    for path in sources(f"runtime/{room}"):
        for _, name in includes(path):
            if name.startswith("runtime/"):
                yield f"{path.relative_to(job.ROOT)}: {name}", name.split("/")[1]


def test_every_folder_of_the_runtime_is_a_room():
    assert sorted(ROOMS) == sorted(path.name for path in (job.ROOT / "runtime").iterdir())


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_use_those_before_them(room):
    before = ROOMS[: ROOMS.index(room) + 1]
    assert [what for what, used in rooms_used(room) if used not in before] == []


def test_the_base_room_knows_nothing_of_epop():
    for path in sources("runtime/base"):
        for _, name in includes(path):
            assert not name.startswith(("epop/", "interpose/")) and name != "mpi.h", f"{path}: {name}"


def test_the_rooms_are_told_in_this_order():
    page = (job.ROOT / "docs/internals/architecture.md").read_text()
    told = re.findall(r"^     (\w+)/ ", page, flags=re.M)
    assert told == ROOMS


# The coordinator's modules: NAME.c and NAME.h are one. The structure that joins their parts, and so includes them all, is
# none. The room's own header says what it is for others.
COORDINATOR = job.ROOT / "runtime/coordinator"
NO_MODULES = ["state"]


def modules():
    return {path.stem for path in sources("runtime/coordinator")} - set(NO_MODULES)


@functools.cache
def code(path):
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


@functools.cache
def declared():
    """Which module declares a function."""
    return {name: path.stem for path in COORDINATOR.glob("*.h")
            for name in re.findall(r"^[a-z][\w \*]*?\**(\w+)\([^;{]*\);", code(path), flags=re.M)}


def included(path):
    return {name.split("/")[-1][:-2] for _, name in includes(path) if name.startswith("runtime/coordinator/")}


def called(path):
    owners = declared()
    return {owners[word] for word in re.findall(r"\b\w+\b", code(path)) if word in owners}


def uses_of_modules():
    """Which modules each includes, or calls by way of the structure's header."""
    uses = {module: set() for module in modules()}
    for path in sources("runtime/coordinator"):
        if path.stem in uses:
            uses[path.stem] |= (included(path) | called(path)) & modules() - {path.stem}
    return uses


def reached(uses, start):
    seen, todo = set(), list(uses[start])
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo.extend(uses[module])
    return seen


def circles(uses):
    reach = {module: reached(uses, module) for module in uses}
    return {frozenset(other for other in uses if other in reach[module] and module in reach[other])
            for module in uses if module in reach[module]}


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {frozenset("abc")}


def test_the_coordinator_is_a_tree():
    uses = uses_of_modules()
    assert sum(map(len, uses.values())) > 50
    assert [sorted(circle) for circle in circles(uses) if len(circle) > 2] == []
    assert [module for module in uses if "coordinator" in uses[module]] == []


def test_a_module_includes_what_it_calls():
    missing = []
    for path in COORDINATOR.glob("*.c"):
        known = included(path) | included(path.with_suffix(".h")) if path.with_suffix(".h").is_file() else included(path)
        missing += [f"{path.name}: {module}.h" for module in called(path) - known - {path.stem}]
    assert missing == []


# The coordinator's own: its structure, and that of a process. Others ask by the headers of its modules.
ITS_STATE = ["runtime/coordinator/state.h", "runtime/coordinator/process.h"]


@pytest.mark.parametrize("header", ITS_STATE)
def test_nobody_else_sees_the_coordinators_state(header):
    """Not by way of a header that others do include, either."""
    assert (job.ROOT / header).is_file()
    seen = {path.relative_to(job.ROOT) for folder in ["runtime", "driver", "epopctl", "tests/unit"]
            for path in sources(folder) if header in [name for _, name in includes(path)]}
    assert seen and {path for path in seen if path.suffix == ".h"} <= {Path("runtime/coordinator/state.h")}
    assert {path for path in seen if path.parent != Path("runtime/coordinator")} == set()


# The same of all other files, by what their objects define and use: two files that use each other explain it in a header;
# more than that are a circle in which nobody finds the beginning.
def object_files():
    folders = ["runtime", "driver", "epopctl", "epop_api", "interpose", "report", "scheduler", "terminal", "gateway"]
    return [path for folder in folders for path in (job.BUILD / "obj" / folder).rglob("*.o")
            if (job.ROOT / path.relative_to(job.BUILD / "obj")).with_suffix(".c").is_file()]


def symbols(paths):
    """What each object defines for others, and what it needs of them."""
    table = {path: (set(), set()) for path in map(str, paths)}
    for line in subprocess.run(["nm", "-A", *paths], capture_output=True, text=True, check=True).stdout.splitlines():
        path, _, row = line.partition(":")
        words = row.split()
        if len(words) == 3 and words[1] in "TDBRVC":
            table[path][0].add(words[2])
        elif len(words) == 2 and words[0] == "U":
            table[path][1].add(words[1])
    return table


def test_no_circle_of_files_is_larger_than_a_pair():
    names = {str(path): str(path.relative_to(job.BUILD / "obj").with_suffix("")) for path in object_files()}
    table = symbols(names)
    owners = {symbol: names[path] for path, (defined, _) in table.items() for symbol in defined}
    uses = {names[path]: {owners[symbol] for symbol in needed if symbol in owners} - {names[path]}
            for path, (_, needed) in table.items()}
    assert len(uses) > 150 and sum(map(len, uses.values())) > 500
    assert [sorted(circle) for circle in circles(uses) if len(circle) > 2] == []
