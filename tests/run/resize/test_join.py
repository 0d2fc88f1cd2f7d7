"""The join and spawn backends: processes that are started and ended while the job runs. Needs an MPI that can connect.

What join and all ways of spawn have in common is tested with each; the faults that only join survives, with it."""

import contextlib
import os
import re
import signal

import pytest

import job
import joining
from joining import ENDLESS, SPAWN, each_backend, each_merging, end, start

pytestmark = joining.needed


@each_backend
def test_grow_and_shrink(space, backend):
    running = start(space, *ENDLESS, backend=backend)
    for size in (4, 2, 6, 1, 3, 2):
        space.resize(size)
        assert space.status()["size"] == size
    assert re.search("right in .* 6 resizes, 2 ranks", end(space, running).out)


@each_merging
def test_leavers_end_while_the_job_computes(space, backend):
    """The first launch, a middle one, and the last one: whoever leaves is gone, with its launcher."""
    running = start(space, *ENDLESS, backend=backend)
    space.resize(4)
    space.resize(6)
    before = space.status()["processes"]
    by_rank = {process["rank"]: process["pid"] for process in before}
    space.resize(4, "--release-ranks", "2,3")
    for rank in (2, 3):
        joining.wait_for_end_of(by_rank[rank])
    assert {process["pid"] for process in space.status()["processes"]} == {by_rank[r] for r in (0, 1, 4, 5)}
    space.resize(3, "--release-ranks", "1")
    joining.wait_for_end_of(by_rank[1])
    space.resize(1)
    assert [process["pid"] for process in space.status()["processes"]] == [by_rank[0]]
    space.resize(3)
    end(space, running)


@each_merging
def test_migrate(space, backend):
    running = start(space, *ENDLESS, backend=backend)
    before = {process["pid"] for process in space.status()["processes"]}
    space.resize(2, "--release-ranks", "1")
    after = {process["pid"] for process in space.status()["processes"]}
    assert len(before & after) == 1 and len(after) == 2
    end(space, running)


@each_backend
def test_joiners_write_into_the_jobs_output(space, backend):
    running = start(space, *ENDLESS, backend=backend, options=("--verbose",))
    space.resize(3)
    running.wait_for_line("committed 2 -> 3", stream="err")
    end(space, running)


def launchers(space):
    """Process ids of the launchers that the job started."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                command = file.read().split(b"\0")
            with open(f"/proc/{entry}/environ", "rb") as file:
                environment = file.read()
        except OSError:
            continue
        if b"EPOP_JOIN=" in environment and b"mpiexec" in command[0] and space.marker.encode() in environment:
            found.append(int(entry))
    return found


def children(pid):
    """Also those that have ended, and of which nobody has heard."""
    found = set()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            found |= {int(entry)} if job.parent(entry) == pid else set()
    return found


@pytest.mark.parametrize("faulty", [False, True])
def test_launcher_that_fails(space, faulty, tmp_path):
    """The job goes on, the requester hears why, and the next resize works."""
    script = tmp_path / "mpiexec"
    script.write_text(f"#!/bin/sh\n[ -e {tmp_path}/broken ] && exit 7\nexec {job.MPIEXEC} \"$@\"\n")
    script.chmod(0o755)
    running = start(space, *ENDLESS, env={"EPOP_MPIEXEC": str(script)})
    if faulty:
        (tmp_path / "broken").touch()
        assert "status 7" in space.resize(4, status=1).err
        (tmp_path / "broken").unlink()
    space.resize(4)
    end(space, running)


def test_no_thread_for_a_launcher(space, tmp_path):
    """It runs already, and waits for a host: it is ended, nothing is left of it, and the job goes on."""
    none, script = tmp_path / "none", tmp_path / "mpiexec"
    script.write_text(f"#!/bin/sh\n[ -e {none} ] && exec sleep 1000\nexec {job.MPIEXEC} \"$@\"\n")
    script.chmod(0o755)
    running = start(space, *ENDLESS, env={"LD_PRELOAD": job.test_program("preload_thread"), "EPOP_TEST_NO_THREADS": none,
                                          "EPOP_MPIEXEC": script})
    rank0 = space.status()["processes"][0]["pid"]
    before = children(rank0)
    none.touch()
    assert "could not be started: Resource temporarily unavailable" in space.resize(4, status=1).err
    job.wait_for(lambda: children(rank0) <= before)
    none.unlink()
    space.resize(4)
    end(space, running)


def test_launcher_that_is_missing(space):
    running = start(space, *ENDLESS, env={"EPOP_MPIEXEC": "/nowhere/mpiexec"})
    assert "launcher" in space.resize(4, status=1).err
    end(space, running)


@each_backend
@pytest.mark.parametrize("fault", [None, "join"])
def test_init_of_a_joiner_fails(space, backend, fault):
    """The program asks again and again, so that resizes that failed are followed by others."""
    running = space.start_epop(*backend, "--verbose", job.test_program("mpi_faults"), ranks=1,
                               env={"EPOP_TEST_FAULT": fault, "EPOP_TEST_ALONE": round(space.patience(5)) if fault else None})
    result = running.wait()
    assert result.status == 0 and result.out == f"ended with {1 if fault else 2} of 2 ranks\n", result
    if fault:
        assert "could not start: mpi_faults: element 0 'start'" in result.err, result


def test_spawn_does_not_choose_hosts(space):
    running = start(space, *ENDLESS, backend=SPAWN)
    assert "join" in space.resize(4, "--hosts", "localhost", status=1).err
    end(space, running)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_joiner_that_dies_or_stops_while_it_is_ready(space, number):
    """Paused, the job cannot come to the target; the joiners are ready and wait."""
    running = start(space, *ENDLESS)
    assert space.epopctl("pause").status == 0
    waiting = space.start_epopctl("resize", "4", "--wait", "--timeout", "40")
    status = space.wait_for_status(lambda s: s["adaptations"] and s["adaptations"][-1]["state"] == "prepared")
    joiner = [process["pid"] for process in status["processes"] if process["state"] == "joining"][-1]
    job.send_signal(joiner, number)
    assert space.epopctl("resume").status == 0
    result = waiting.wait()
    assert result.status in (1, 4), result
    space.resize(4)
    end(space, running)


@each_backend
def test_rank_that_dies_ends_all_launches(space, backend):
    running = start(space, *ENDLESS, backend=backend)
    space.resize(4)
    victim = [process["pid"] for process in space.status()["processes"] if process["rank"] == 3][0]
    os.kill(victim, signal.SIGKILL)
    result = running.wait()
    assert result.failed, result


@each_backend
def test_first_launcher_killed(space, backend):
    running = start(space, *ENDLESS, backend=backend)
    space.resize(4)
    pids = [process["pid"] for process in space.status()["processes"]]
    os.kill(running.pid, signal.SIGKILL)
    for pid in pids:
        joining.wait_for_end_of(pid)


@each_backend
def test_nothing_is_left_of_many_cycles(space, backend):
    running = start(space, *ENDLESS, backend=backend, options=("--no-pmix",))
    zero = space.status()["processes"][0]["pid"]
    space.resize(4), space.resize(2)
    left = len(space.status()["processes"])
    descriptors = len(os.listdir(f"/proc/{zero}/fd"))
    for _ in range(int(os.environ.get("EPOP_TEST_CYCLES", "8"))):
        space.resize(4)
        space.resize(2)
    assert len(space.status()["processes"]) == left
    job.wait_for(lambda: not launchers(space))
    job.wait_for(lambda: len(os.listdir(f"/proc/{zero}/fd")) <= descriptors + 1)
    end(space, running)
