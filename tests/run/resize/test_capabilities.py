"""epop --capabilities: what the MPI library can do, by trying; and how a job chooses its backend by it."""

import json

import pytest

import job
import joining
from schemas import validate


@pytest.fixture(name="found", scope="module")
def fixture_found(tmp_path_factory):
    space = job.Space(tmp_path_factory.mktemp("capabilities"))
    result = space.epop("--capabilities", "--json", limit=150)
    space.close()
    assert result.status == 0 and result.err == "", result
    return json.loads(result.out)


def test_json_is_by_schema(found):
    validate("capabilities", found)
    assert found["library"].startswith("MPICH ") and found["threads"] in ("single", "funneled", "serialized", "multiple")


def test_agrees_with_what_works(found):
    """The join backend needs a port, a connection and processes that can leave; it is tried here by a job."""
    needed = all(found[name]["works"] for name in ("open_port", "connect", "leave"))
    assert needed == joining.WORKS
    assert found["backend"]["name"] == ("join" if needed else "pool")
    assert found["backend"]["reason"]


def test_table(space, found):
    result = space.epop("--capabilities", limit=150)
    lines = dict(line.split(None, 1) for line in result.out.splitlines())
    assert list(lines) == ["library", "threads", "spawn", "open_port", "connect", "leave", "backend"], result
    for name in ("spawn", "open_port", "connect", "leave"):
        assert lines[name].startswith("yes" if found[name]["works"] else "no: "), result
    assert lines["backend"] == f"{found['backend']['name']}: {found['backend']['reason']}"


def test_a_launcher_that_ends_at_once(space, tmp_path):
    """Every question has its answer all the same."""
    script = tmp_path / "mpiexec"
    script.write_text("#!/bin/sh\necho no launches today >&2\nexit 1\n")
    script.chmod(0o755)
    result = space.epop("--capabilities", env={"EPOP_MPIEXEC": script})
    assert result.status == 0 and result.out.count("no: no launches today") >= 5, result


def test_a_launcher_that_never_answers(space, tmp_path):
    """The first launch has its 20 seconds, the six others have not."""
    script = tmp_path / "mpiexec"
    script.write_text("#!/bin/sh\nexec sleep 1000\n")
    script.chmod(0o755)
    result = space.epop("--capabilities", env={"EPOP_MPIEXEC": script}, limit=60)
    assert result.status == 0 and result.out.count("no: no launch comes up") == 6, result
    assert result.out.startswith("library    no: no answer"), result


def test_without_a_launcher(space):
    result = space.epop("--capabilities", env={"EPOP_MPIEXEC": "/nowhere/mpiexec"})
    assert result.status == 2 and "'/nowhere/mpiexec' is not found" in result.err, result


def test_under_a_launcher(space):
    result = space.epop("--capabilities", ranks=2)
    assert result.status == 2 and result.err.count("without mpiexec") == 1, result


def test_json_alone(space):
    result = space.epop("--json", job.program("serial"))
    assert result.status == 2 and "--json goes with --capabilities" in result.err, result


def chosen(space, *options, ranks=1):
    return space.epop("--verbose", *options, job.program("rigid"), ranks=ranks).err


def test_verbose_says_which_backend_and_why(space, found):
    assert f"epop: backend '{found['backend']['name']}': {found['backend']['reason']}\n" in chosen(space)
    assert "epop: backend 'pool': it was asked for\n" in chosen(space, "--backend", "pool")


def test_leave_chooses_the_backend(space):
    if joining.WORKS:
        assert "epop: backend 'join'" in chosen(space, "--leave", "exit")
        assert "epop: backend 'join'" in chosen(space, "--leave", "park")
    else:
        assert "epop: backend 'pool'" in chosen(space, "--leave", "park")
        assert "no backend works here: not 'join'" in chosen(space, "--leave", "exit")


@pytest.mark.parametrize("options,text", [
    (["--leave", "exit", "--backend", "pool"], "processes park when they leave, and --leave exit is wanted"),
    (["--leave", "exit", "--start", "1"], "no backend works here: not 'join', it starts all processes"),
    (["--leave", "fly"], "--leave wants auto, exit or park, not 'fly'"),
], ids=["pool", "start", "unknown"])
def test_leave_that_cannot_be(space, options, text):
    result = space.epop(*options, job.program("rigid"), ranks=2)
    assert result.status == 2 and result.err.count(text) == 1, result


@joining.needed
def test_park_is_not_for_spawn(space):
    result = space.epop("--leave", "park", "--backend", "spawn", job.program("rigid"), ranks=1)
    assert result.status == 2 and "--leave park is wanted" in result.err, result
