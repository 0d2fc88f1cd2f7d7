"""Programs that start processes, and leave them running: the job ends all the same, and those that do not hinder it stay."""

import contextlib
import os
import pathlib
import re
import signal
import time

import job
import joining
import pytest

BACKENDS = ["pool", pytest.param("join", marks=joining.needed)]
PROGRAM = job.test_program("child")
ENDLESS = 100000000
LIMIT = 10 # seconds
NOTE = re.compile(r"^epop: note: the program left '.*' running \(pid (\d+)\), which would keep the job from ending; "
                  r"it is ended$", re.MULTILINE)


def start(space, *arguments, backend="pool", **how):
    running = space.start_epop("--backend", backend, PROGRAM, *arguments, ranks=2, **how)
    running.wait_for_line("running")
    return running


def check_end(space, running, begin, notes=2):
    """In time, well, and nothing is left."""
    result = running.wait()
    assert result.status == 0 and len(NOTE.findall(result.err)) == notes == result.err.count("\n"), result
    assert space._wait_gone(20) == [] and space.in_time(time.monotonic() - begin, LIMIT)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("how", ["", "fork", "setsid", "orphan", "orphan setsid", "ignore", "fork ignore setsid"])
def test_a_child_is_left(space, how, backend):
    begin = time.monotonic()
    check_end(space, start(space, 10, *how.split(), backend=backend), begin)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("end", ["stop", "SIGTERM", "SIGTERM twice"])
def test_it_is_stopped(space, end, backend):
    running = start(space, ENDLESS, "setsid", "fork", backend=backend)
    space.wait_until_running()
    begin = time.monotonic()
    if end == "stop":
        assert space.epopctl("stop").status == 0
    else:
        running.signal(signal.SIGTERM)
    if end == "SIGTERM twice":
        job.signal_again(running.pid, signal.SIGTERM)
        running.wait()
        assert space.in_time(time.monotonic() - begin, LIMIT)
        space.kill_left() # of a job that was ended at once something may be left
    else:
        check_end(space, running, begin)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("how", ["fork", "setsid", "orphan setsid ignore"])
def test_a_process_with_a_child_is_killed(space, how, rank, backend):
    """The child has copies of no connection that would keep its death from being noticed, and does not keep the job either."""
    running = start(space, ENDLESS, *how.split(), backend=backend)
    space.wait_for_status(lambda status: all(it["pid"] for it in status["processes"]))
    begin = time.monotonic()
    os.kill(space.status()["processes"][rank]["pid"], signal.SIGKILL)
    result = running.wait()
    assert result.status != 0 and space.in_time(time.monotonic() - begin, LIMIT), result
    assert space._wait_gone(20) == []


@joining.needed
def test_processes_with_children_come_and_go(space):
    running = start(space, ENDLESS, "fork", backend="join")
    space.resize(4)
    space.resize(1)
    begin = time.monotonic()
    assert space.epopctl("stop").status == 0
    check_end(space, running, begin, notes=4)


def names(space):
    found = []
    for pid in space.processes():
        with contextlib.suppress(OSError): # it has ended by now
            found.append(pathlib.Path(f"/proc/{pid}/comm").read_text().strip())
    return found


@pytest.mark.parametrize("how", ["quiet", "quiet setsid orphan"])
def test_what_does_not_hinder_stays(space, how):
    result = space.epop(PROGRAM, 10, *how.split(), ranks=2, limit=60)
    assert result.status == 0 and result.err == "", result
    job.wait_for(lambda: names(space) == ["sleep", "sleep"]) # each was epop until its exec
    space.kill_left()


def test_a_script_before_it_keeps_its_own(space):
    """What it started is not the program's."""
    script = space.directory / "script"
    script.write_text(f"#!/bin/sh\nsleep 1 &\n{job.BUILD / 'bin/epop'} {PROGRAM} 10 quiet\nwait\necho waited\n")
    script.chmod(0o755)
    result = space.start([job.MPIEXEC, "-n", 1, script], limit=60).wait()
    space.kill_left()
    assert result.status == 0 and result.out.endswith("waited\n") and result.err == "", result
