"""`--spawn-method baseline`: all ranks are replaced by new processes, and the first process stays without a rank, as the
host of the control plane. What it has in common with the other backends is tested in test_join.py."""

import os
import re
import signal

import pytest

import job
import joining
from joining import BASELINE, ENDLESS, SINGLE, each_replacing, end, start
from scenario import Scenario, Switch, cpu_seconds, only_line

pytestmark = joining.needed


def ranks(status):
    """Process ids by rank."""
    found = {process["rank"]: process["pid"] for process in status["processes"] if process["rank"] >= 0}
    return [found[rank] for rank in range(status["size"])]


def scenario(space, backend, *arguments, ranks=2, **how):
    return Scenario(space, *arguments, start=ranks, ranks=ranks, options=backend, **how)


# ---- Worlds


@each_replacing
def test_all_ranks_are_replaced(space, backend):
    """Expand, shrink and migrate; who left has ended, but for the first process."""
    it = scenario(space, backend)
    worlds = [ranks(it.wait_until_here())]
    for size, arguments in ((4, ()), (1, ()), (3, ()), (3, ("--release-ranks", "0,2"))):
        it.resize(size, *arguments)
        status = it.status()
        worlds.append(ranks(status))
        host = next(process for process in status["processes"] if process["state"] == "hosting")
        assert host["pid"] == it.pid and host["rank"] == -1
        for pid in worlds[-2]:
            if pid != it.pid:
                joining.wait_for_end_of(pid)
    assert len({pid for world in worlds for pid in world}) == sum(map(len, worlds))
    result = it.stop(ranks=3, windows=4)
    assert re.findall(r"window \d: (.*), iteration \d+, (new ranks.*)\n", result.out) == [
        ("2 -> 4, 0 stay, 2 leave, 4 join", "new ranks -1 -1 0 1 2 3"),
        ("4 -> 1, 0 stay, 4 leave, 1 join", "new ranks -1 -1 -1 -1 0"),
        ("1 -> 3, 0 stay, 1 leave, 3 join", "new ranks -1 0 1 2"),
        ("3 -> 3, 0 stay, 3 leave, 3 join", "new ranks -1 -1 -1 0 1 2")]


@pytest.mark.parametrize("backend", [BASELINE, BASELINE + SINGLE], ids=["plain", "single"])
def test_the_program_asks(space, backend):
    """Each time from a rank 0 that is another process."""
    it = scenario(space, backend, "ask=10:3:0", "ask=after1:1:2", "ask=after2:2:0", "iterations=1", "windows=3")
    it.finish(ranks=2, windows=3)


# ---- The process that hosts the control plane


def test_the_host_sleeps(space):
    it = scenario(space, BASELINE, "work=0")
    it.resize(1)
    pids = [it.pid, ranks(it.status())[0]]
    before = [cpu_seconds(pid) for pid in pids]
    job.wait_for(lambda: cpu_seconds(pids[1]) - before[1] > 0.5)
    assert cpu_seconds(pids[0]) - before[0] <= 0.05
    it.stop(ranks=1, windows=1)


def test_status_is_of_the_present_rank_0(space):
    running = start(space, *ENDLESS, backend=BASELINE)
    space.resize(3)
    first = space.wait_for_status(lambda status: status["element"] and status["progress"])
    assert first["element"]["name"] == "ledger" and first["state"] == "running"
    space.wait_for_status(lambda status: status["element"]["iteration"] > first["element"]["iteration"] + 10 and
                    status["progress"]["iteration"] > first["progress"]["iteration"] + 10)
    end(space, running)


def test_status_while_rank_0_is_stopped(space):
    """It does not say where it is; the others are told of anyway."""
    running = start(space, *ENDLESS, backend=BASELINE)
    space.resize(3)
    zero = next(process["pid"] for process in space.status()["processes"] if process["rank"] == 0)
    job.send_signal(zero, signal.SIGSTOP)
    assert len(space.status()["processes"]) == 4
    os.kill(zero, signal.SIGCONT)
    end(space, running)


def test_pause_and_resume(space):
    it = scenario(space, BASELINE)
    it.resize(3)
    assert it.done("pause").startswith("paused")
    waiting = it.start_ctl("resize", "2", "--wait")
    it.wait_for_status(lambda status: status["adaptations"][-1]["state"] == "prepared")
    it.done("resume")
    assert waiting.wait().status == 0
    it.stop(ranks=2, windows=2)


def test_sigterm(space):
    """The launcher passes it on to all processes; the finalizer runs on the ranks."""
    running = start(space, *ENDLESS, backend=BASELINE)
    space.resize(3)
    running.signal(signal.SIGTERM)
    result = running.wait()
    assert result.status == 0 and re.search("elements right in .* 1 resizes, 3 ranks at the end", result.out), result


# ---- A phase that does not accept the size that it is entered with


@each_replacing
def test_a_phase_that_asks_for_less(space, backend):
    """There is no old rank that could go on alone, so new ones have to come, while all wait."""
    first = Switch(space, "first").on()
    it = scenario(space, backend, f"first-while={first}", ranks=3, program="scenario_sizes",
                  env={"EPOP_TEST_SIZES": "power of two second"})
    first.off()
    it.it.wait_for_line("second phase with 2 ranks")
    last = it.status()["adaptations"][-1]
    assert (last["by"], last["from"], last["to"]) == ("phase", 3, 2)
    it.stop(ranks=2, windows=1)


def test_a_phase_that_accepts_the_size(space):
    """The control case."""
    first = Switch(space, "first").on()
    it = scenario(space, BASELINE, f"first-while={first}", program="scenario_sizes",
                  env={"EPOP_TEST_SIZES": "power of two second"})
    first.off()
    it.it.wait_for_line("second phase with 2 ranks")
    it.stop(ranks=2, windows=0)


# ---- The end of a job that fails


@each_replacing
@pytest.mark.parametrize("fault, status", [("last", 1), (None, 0)])
def test_block_that_fails_on_a_new_rank(space, backend, fault, status):
    """The program asks for a second rank, and fails in its last phase."""
    result = space.epop(*backend, job.test_program("mpi_faults"), ranks=1,
                        env={"EPOP_TEST_FAULT": fault, "EPOP_TEST_RANK": "0"})
    assert (result.status != 0) == (status != 0), result
    assert "ended with 2 of 2 ranks" in result.out, result
    if status:
        only_line(result.err, "mpi_faults: element 3 'report' (RP)", "rank 0 of 2: its exec block returned 45")


@pytest.mark.parametrize("who", ["host", "rank 0", "rank 1"])
def test_process_that_is_killed(space, who):
    running = start(space, *ENDLESS, backend=BASELINE)
    space.resize(3)
    pids = {"host" if process["rank"] < 0 else f"rank {process['rank']}": process["pid"] for process in space.status()["processes"]}
    os.kill(pids[who], signal.SIGKILL)
    result = running.wait()
    assert result.failed, result
    for pid in pids.values():
        joining.wait_for_end_of(pid)
