"""What a process of an executable's job does when it has left: it ends in commit, or it is nobody's affair."""

import os
import pathlib
import re

import job
import joining
import pytest

from executables import LINKED, compile_c, compile_cxx, source, start

CRASHED = "note: that was a process that had left the job, which goes on"

# What it does, and what it says on standard error.
QUIET = {"return": None, "exit": None, "_exit": None, "quick_exit": None, "atexit": None, "term": None, "returns": None}
CRASHES = {"segv": r"SIGSEGV .*, pid \d+ on ", "abort": r"SIGABRT .*, pid \d+ on ", "late": r"SIGABRT .*, pid \d+ on "}
MISTAKES = {"world": r"used MPI_COMM_WORLD, which it has none of: .*; it ends, and the job goes on",
            "begin": r"met an error of MPI: .*; it ends, and the job goes on",
            "mpi_abort": r"called MPI_Abort with code 5; it ends, and the job goes on"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("leave")


@pytest.fixture(scope="module")
def leave(directory):
    return compile_c(source("adapt_leave"), directory / "leave", *LINKED, "-lepop")


@pytest.fixture(scope="module")
def leave_cxx(directory):
    return compile_cxx(source("adapt_leave"), directory / "leave_cxx", "-lepop")


def pids(space):
    return {process["pid"] for process in space.status()["processes"]}


def runs(pid):
    """Hydra looks at what has ended when all have."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pid):
    job.wait_for(lambda: not runs(pid), why=lambda: f"process {pid} has not ended")


def one_leaves(space, end, action):
    """The world is one process smaller; the pid of that one."""
    before = pids(space)
    pathlib.Path(f"{end}.action").write_text(action)
    space.resize(len(before) - 1)
    (gone,) = before - pids(space)
    return gone


def all_leave(space, running, end, actions):
    """One after the other, each in its way; the others go on."""
    for action, says in actions.items():
        line = running.err.count("\n")
        gone = one_leaves(space, end, action)
        if says:
            running.wait_for_line(says, stream="err", start=line)
        wait_until_gone(gone)
        assert space.status()["state"] == "running"


def go_through(space, binary, actions, env=None):
    """Processes of the first launch, of which others go on, and of one that joined."""
    end, ranks = space.directory / "end", len(actions) + 1
    running = start(space, binary, end, ranks=ranks, env=env)
    all_leave(space, running, end, actions)
    if joining.WORKS:
        space.resize(ranks)
        all_leave(space, running, end, actions)
    end.touch()
    result = running.wait()
    times = len(actions) * (2 if joining.WORKS else 1)
    assert result.status == 0 and result.out.count("at the end\n") == 1, result
    return result, times


# ---- Whatever it does -----------------------------------------------------------------------------


@pytest.mark.parametrize("actions", [QUIET, CRASHES, MISTAKES], ids=["quiet", "crashes", "mistakes"])
def test_what_it_does_is_its_own_affair(space, leave, actions):
    result, times = go_through(space, leave, actions)
    assert result.out.count("left\n") == times, result
    if actions is QUIET:
        assert result.err == "" and result.out.count("as promised\n") * len(actions) == times, result
    assert result.err.count(CRASHED) == (times if actions is CRASHES else 0), result


def test_an_exception(space, leave_cxx):
    go_through(space, leave_cxx, {"throw": r"SIGABRT .*, pid \d+ on ", "return": None})


def test_one_that_does_not_end_is_ended_after_the_job(space, leave):
    """It is in nobody's way before."""
    end = space.directory / "end"
    running = start(space, leave, end, ranks=2, env={"EPOP_LEAVE_SECONDS": 0.5})
    hanging = [one_leaves(space, end, "hang")]
    if joining.WORKS:
        space.resize(3)
        hanging.append(one_leaves(space, end, "hang"))
    assert all(runs(pid) for pid in hanging)
    end.touch()
    result = running.wait()
    assert result.status == 0 and "at the end\n" in result.out, result
    for pid in hanging:
        assert (f"epop: note: a process that left the job (pid {pid}) still runs 0.5 s after the job's end "
                "(EPOP_LEAVE_SECONDS); it is ended\n") in result.err, result
    assert result.err.count("\n") == len(hanging), result


def test_one_that_does_not_end_when_the_job_is_stopped(space, leave):
    end = space.directory / "end"
    running = start(space, leave, end, ranks=2, env={"EPOP_LEAVE_SECONDS": 0})
    one_leaves(space, end, "hang")
    space.stop(running)


def test_one_that_does_not_end_when_the_job_fails(space, leave):
    end = space.directory / "end"
    running = start(space, leave, end, ranks=3, env={"EPOP_LEAVE_SECONDS": 0})
    one_leaves(space, end, "hang")
    os.kill(next(process["pid"] for process in space.status()["processes"] if process["rank"] == 1), 9)
    assert running.wait().status != 0


# ---- In commit --------------------------------------------------------------------------------------


@pytest.mark.parametrize("env", [{"EPOP_LEAVE": "commit"}, {"LEAVE_BY": "commit", "EPOP_LEAVE": "return"}],
                         ids=["by environment", "by call"])
def test_leaving_ends_in_commit(space, leave, env):
    """Handlers of exit() run, what is buffered is written."""
    result, times = go_through(space, leave, {"hang": None, "segv": None}, env)
    assert result.err == "" and result.out.count("through\n") == times and "left" not in result.out, result


def test_the_call_counts(space, leave):
    result, times = go_through(space, leave, {"return": None}, {"LEAVE_BY": "return", "EPOP_LEAVE": "commit"})
    assert result.out.count("left\n") == times, result


def test_a_wrong_word_in_the_call_changes_nothing(space, leave):
    result, times = go_through(space, leave, {"hang": None}, {"LEAVE_BY": "never", "EPOP_LEAVE": "commit"})
    assert result.out.count("through\n") == times and "refused\n" in result.out, result
    lines = set(result.err.splitlines())
    assert lines == {"epop: epop_mpi_leave: it takes EPOP_MPI_LEAVE_RETURN or EPOP_MPI_LEAVE_COMMIT"}, result


@pytest.mark.parametrize("variable, value, says", [
    ("EPOP_LEAVE", "never", "EPOP_LEAVE is 'never'; set it to 'return' or 'commit', or leave it out"),
    ("EPOP_LEAVE_SECONDS", "-1", "EPOP_LEAVE_SECONDS is '-1'; set it to seconds from 0 to 86400")])
@pytest.mark.parametrize("ranks", ["all", "one"])
def test_a_wrong_variable(space, leave, variable, value, says, ranks):
    end = space.directory / "end"
    end.touch()
    wrong = ["-n", "1", "-env", variable, value, leave, end]
    other = wrong if ranks == "all" else ["-n", "1", leave, end]
    result = space.start([job.MPIEXEC, *other, ":", *wrong]).wait()
    assert result.status == 1 and re.match(rf"epop: {re.escape(says)}\n", result.err), result
    assert result.err.count("epop:") == 1 and result.out == "", result


def test_under_epop_it_is_the_walk_that_leaves(space):
    running = space.start_epop("--backend", "pool", job.test_program("leaves"), space.directory / "end", ranks=2,
                               env={"EPOP_LEAVE": "commit"})
    space.wait_until_running(running)
    space.resize(1)
    space.resize(2)
    (space.directory / "end").touch()
    result = running.wait()
    assert result.status == 0 and result.err == "" and result.out.count("commit returned") == 1, result
