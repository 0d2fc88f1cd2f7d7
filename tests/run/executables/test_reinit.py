"""Re-initialization: the program decides when its processes change. See also test_conformance.py."""

import re

import job
import joining
import pytest

from executables import LINKED, compile_c, source

EXAMPLE = job.BUILD / "plain/reinit"


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    return compile_c(source("reinit_calls"), tmp_path_factory.mktemp("calls") / "reinit_calls", *LINKED)


@joining.needed
def test_the_example(space):
    """It spawns two processes while it works, goes on with them, and then two others leave."""
    result = space.start([job.MPIEXEC, "-n", 2, EXAMPLE]).wait()
    assert result.status == 0 and result.err == "", result
    assert re.fullmatch(r"2 processes, 0 steps made\n4 processes, (\d+) steps made\n2 processes, \d+ steps made\n"
                        r"right at the end, 2 processes\n", result.out), result


def test_several_sessions(space, calls):
    """All are finalized, each by the callback's hand."""
    result = space.start([job.MPIEXEC, "-n", 3, calls, "sessions"]).wait()
    assert result.status == 0 and result.out == "sessions: success\n3 processes, 2 calls\n" and result.err == "", result


def test_one_leaves(space, calls):
    result = space.start([job.MPIEXEC, "-n", 3, calls, "leaves"]).wait()
    assert result.status == 0 and result.out == "leaves: success\n2 processes, 0 calls\n" and result.err == "", result


@pytest.mark.parametrize("mode, line", {
    "prepare": "rank 1: the preparation callback of MPIX_Session_reinit returned 42",
    "resume": "rank 1: the resume callback of MPIX_Session_reinit returned 43"}.items())
def test_a_callback_that_fails(space, calls, mode, line):
    """One line, and the end of all."""
    result = space.start([job.MPIEXEC, "-n", 3, calls, mode]).wait()
    assert result.status != 0 and result.err == f"epop: {line}\n", result


@pytest.mark.parametrize("mode, word, why", [
    ("count", "argument", "1 processes leave, but nleave is 0"),
    ("root", "argument", "rank 0 cannot leave: it hosts the job's control"),
    ("others", "session", "this process has other sessions besides")])
def test_what_is_refused(space, calls, mode, word, why):
    """Everywhere, and the job goes on as it was."""
    result = space.start([job.MPIEXEC, "-n", 3, calls, mode]).wait()
    assert result.status == 0 and result.out == f"{mode}: {word}\n3 processes\n", result
    assert result.err.count(f"epop: MPIX_Session_reinit: {why}") == 3, result


@joining.needed
def test_one_spawn_at_a_time(space, calls):
    result = space.start([job.MPIEXEC, "-n", 2, calls, "twice"]).wait()
    assert result.status == 0 and result.out.startswith("first spawn: success\nsecond spawn: spawn\ntwice: success\n3 processes"), result
    assert "only one is supported at a time" in result.err, result
