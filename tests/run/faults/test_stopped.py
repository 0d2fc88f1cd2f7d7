"""Ranks that are stopped (SIGSTOP, a debugger) in an adaptation: if they go on in time it does, too; else it is called off as
long as that can be, and after that everybody hears who is missed, and the job can be ended."""

import os
import signal
import time

import pytest

import job
import joining
from joining import JoinScenario
from scenario import REFUSED, TIMEOUT, Switch

pytestmark = joining.needed

LIMIT = 10  # seconds until a process counts as silent


def start(space, *arguments, **how):
    """Two ranks, then three."""
    it = JoinScenario(space, *arguments, **how)
    it.wait_until_here()
    it.resize(3)
    it.wait_until_here()
    return it


def check_called_off(space, waiting, rank, pid):
    begin = time.monotonic()
    result = waiting.wait()
    assert result.status == TIMEOUT and f"rank {rank} (pid {pid} on " in result.err, result
    assert f"did not answer within {LIMIT} s" in result.err, result
    assert space.in_time(time.monotonic() - begin, LIMIT + 5), result


def check_unhurt(it, windows):
    """Three ranks compute, and can be resized; windows: so far."""
    it.wait_for_status(lambda status: status["size"] == 3)
    it.resize(2)
    it.resize(3)
    it.stop(ranks=3, windows=windows + 2)


# ---- What can be called off


@pytest.mark.parametrize("rank", [1, 2])
def test_before_a_shrink(space, rank):
    """The ranks are connected anew, and do not stand still yet."""
    it = start(space)
    pid = it.rank_pid(rank)
    job.send_signal(pid, signal.SIGSTOP)
    check_called_off(space, it.start_ctl("resize", "2", "--wait"), rank, pid)
    os.kill(pid, signal.SIGCONT)
    check_unhurt(it, windows=1)


@pytest.mark.parametrize("rank", [1, 2])
def test_on_the_way_to_the_target(space, rank):
    it = start(space, f"work-waits-while={space.directory}/slow")
    slow = Switch(space, "slow").on()
    pid = it.rank_pid(rank)
    waiting = it.start_ctl("resize", "2", "--wait")
    it.wait_for_adaptation("prepared")
    job.send_signal(pid, signal.SIGSTOP)
    slow.off()
    check_called_off(space, waiting, rank, pid)
    os.kill(pid, signal.SIGCONT)
    check_unhurt(it, windows=1)


def test_a_rank_that_only_computes(space):
    """The control case: it answers."""
    it = start(space, f"work-waits-while={space.directory}/slow")
    slow = Switch(space, "slow").on()
    waiting = it.start_ctl("resize", "2", "--wait")
    it.wait_for_adaptation("prepared")
    time.sleep(LIMIT + 3)  # longer than a process may be silent
    assert waiting.running()
    slow.off()
    assert waiting.wait().status == 0
    it.stop(ranks=2, windows=2)


def test_pause(space):
    it = start(space, f"work-waits-while={space.directory}/slow")
    Switch(space, "slow").on()
    pid = it.rank_pid(1)
    job.send_signal(pid, signal.SIGSTOP)
    check_called_off(space, it.start_ctl("pause"), 1, pid)
    os.kill(pid, signal.SIGCONT)
    Switch(space, "slow").off()
    check_unhurt(it, windows=1)


# ---- At the gate, where all stand still while they are connected


def at_the_gate(space, function, rank, size):
    """Two ranks, one of which stops itself in that function of MPI when they are resized. The resize; the rank's pid."""
    switch = Switch(space, "stops")
    env = {"LD_PRELOAD": job.test_program("preload_fault"), "EPOP_TEST_WHILE": switch,
           "EPOP_TEST_FAULT": f"{function}:stop:{rank}"}
    it = JoinScenario(space, options=("--no-ahead",), env=env)
    it.wait_until_here()
    pid = it.rank_pid(rank)
    switch.on()
    waiting = it.start_ctl("resize", size, "--wait")
    job.wait_for(lambda: job.is_stopped(pid))
    switch.off()
    return it, waiting, pid


@pytest.mark.parametrize("rank", [0, 1])
def test_shrink_at_the_gate(space, rank):
    """Who goes on before it is silent is not missed."""
    it, waiting, pid = at_the_gate(space, "dup", rank, 1)
    time.sleep(LIMIT / 2)
    os.kill(pid, signal.SIGCONT)
    assert waiting.wait().status == 0
    it.resize(3)
    it.stop(ranks=3, windows=2)


def test_connect_at_the_gate(space):
    """The joiners are ended, and the ranks are back at their size when the one that is stopped goes on."""
    if any(device in space.mpi() for device in ("ch3:nemesis", "ch4:ucx")):
        pytest.skip("MPI_Comm_connect does not come back there, and the job ends (docs/reference/faults.md)")
    it, waiting, pid = at_the_gate(space, "connect", 1, 3)
    it.wait_for_status(lambda status: len(status["processes"]) == 2)
    os.kill(pid, signal.SIGCONT)
    result = waiting.wait()
    assert result.status in (REFUSED, TIMEOUT) and "joining processes" in result.err, result
    it.resize(3)
    it.stop(ranks=3, windows=1)


def test_connect_at_the_gate_of_rank_0(space):
    """With it nothing is decided, and no time counts."""
    it, waiting, pid = at_the_gate(space, "connect", 0, 3)
    time.sleep(LIMIT / 2)
    os.kill(pid, signal.SIGCONT)
    assert waiting.wait().status == 0
    it.stop(ranks=3, windows=1)


# ---- What cannot


def in_the_window(space, who):
    """Two ranks that are to be three: one of them is stopped in the window."""
    it = JoinScenario(space, f"fault=stop:{who}")
    it.wait_until_here()
    waiting = it.start_ctl("resize", "3", "--wait")
    it.wait_for_adaptation("window")
    status = it.status()["processes"]
    pid = status[int(who)]["pid"]
    job.wait_for(lambda: job.is_stopped(pid))
    return it, waiting, pid


@pytest.mark.parametrize("who", [1, 2])
def test_window(space, who):
    it, waiting, pid = in_the_window(space, who)
    assert f"(pid {pid} on " in waiting.wait().err
    it.it.wait_for_line(rf"pid {pid} on .* did not answer within {LIMIT} s; adaptation 1 \(2 -> 3\) waits for it, "
                        "and epopctl stop ends the job", stream="err")
    assert f"(pid {pid} on " in it.refused("cancel")
    pause = it.ctl("pause")
    assert pause.status == TIMEOUT and f"(pid {pid} on " in pause.err, pause
    os.kill(pid, signal.SIGCONT)
    it.wait_for_status(lambda status: status["size"] == 3)
    it.done("stop")
    result = it.it.wait()
    assert result.status == 0 and "end: 3 ranks, 1 windows" in result.out, result


@pytest.mark.parametrize("who", [1, 2])
def test_window_in_time(space, who):
    it, waiting, pid = in_the_window(space, who)
    os.kill(pid, signal.SIGCONT)
    assert waiting.wait().status == 0
    it.stop(ranks=3, windows=1)


def test_a_process_that_leaves(space):
    """The others are through: they do without."""
    it = JoinScenario(space, "fault=late-stop:leaving")
    it.wait_until_here()
    it.resize(3)
    pid = it.rank_pid(2)
    it.resize(2)
    assert it.size() == 2
    it.resize(3)
    os.kill(pid, signal.SIGCONT)
    joining.wait_for_end_of(pid)
    it.stop(ranks=3, windows=3)


# ---- Ending the job


def check_ends(space, it, pid):
    begin = time.monotonic()
    result = it.it.wait()
    assert result.status != 0 and f"pid {pid} on " in result.err and "was told to stop" in result.err, result
    assert space.in_time(time.monotonic() - begin, LIMIT), result
    job.wait_for(lambda: not space.processes())


@pytest.mark.parametrize("how", ["epopctl", "SIGTERM"])
@pytest.mark.parametrize("who", [1, 2])
def test_stop_in_the_window(space, who, how):
    it, waiting, pid = in_the_window(space, who)
    if how == "epopctl":
        it.done("stop")
    else:
        os.kill(it.pid, signal.SIGTERM)
    assert waiting.wait().status != 0
    check_ends(space, it, pid)


@pytest.mark.parametrize("rank", [1, 2])
def test_stop(space, rank):
    """No adaptation at all."""
    it = start(space)
    pid = it.rank_pid(rank)
    job.send_signal(pid, signal.SIGSTOP)
    it.done("stop")
    check_ends(space, it, pid)


def test_stop_of_a_rank_that_is_continued(space):
    it = start(space)
    pid = it.rank_pid(1)
    job.send_signal(pid, signal.SIGSTOP)
    assert it.ctl("stop").status != REFUSED
    os.kill(pid, signal.SIGCONT)
    it.finish(ranks=3)
