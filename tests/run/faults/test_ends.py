"""What no job survives ends it everywhere: within seconds, in every launch, with a status and, where one of ours can still
speak, a clear message."""

import os
import pathlib
import signal
import time

import pytest

import job
import joining
from joining import JoinScenario
from scenario import DONE, REFUSED, Switch

pytestmark = joining.needed

LIMIT = 5 # seconds


def check_all_ended(space, it, begin):
    """In time, with a status, and nothing is left."""
    result = it.it.wait()
    left = space._wait_gone(20)
    took = time.monotonic() - begin
    assert result.failed and left == [] and space.in_time(took, LIMIT), f"{took} s, left: {left}\n{result}"
    return result


def grown(space, *arguments, **how):
    """Ranks 0 and 1 of the first launch, 2 and 3 of a second one."""
    it = JoinScenario(space, *arguments, **how)
    it.resize(4)
    return it


@pytest.mark.parametrize("rank", range(4))
def test_rank_is_killed(space, rank):
    it = grown(space)
    pid = it.rank_pid(rank)
    begin = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    check_all_ended(space, it, begin)


@pytest.mark.parametrize("rank", range(4))
@pytest.mark.parametrize("kind", ["abort", "exit", "kill"])
def test_rank_ends_itself(space, kind, rank):
    switch = Switch(space, "switch")
    it = grown(space, f"die={kind}:{rank}:{switch}")
    begin = time.monotonic()
    switch.on()
    check_all_ended(space, it, begin)


def test_nobody_ends(space):
    """The control case: a fault for a rank that there is not."""
    switch = Switch(space, "switch").on()
    it = grown(space, f"die=kill:7:{switch}")
    it.resize(2)
    it.stop(ranks=2, windows=2)


@pytest.mark.parametrize("who", ["joining", "staying", "0", "1", "3"])
@pytest.mark.parametrize("kind", ["kill", "exit", "abort"])
def test_process_that_ends_in_the_window(space, kind, who):
    """Data is in flight."""
    it = JoinScenario(space, f"fault={kind}:{who}")
    begin = time.monotonic()
    waiting = it.start_ctl("resize", "4", "--wait")
    check_all_ended(space, it, begin + 1)  # the joiners have to start first
    assert waiting.wait().status != 0


@pytest.mark.parametrize("kind", ["kill", "exit"])
def test_joiner_that_dies_behind_the_line(space, kind):
    """After connect has returned, before the window is open."""
    it = JoinScenario(space)
    it.launcher.preload(f"merge:{kind}:1")
    begin = time.monotonic()
    it.start_ctl("resize", "4", "--wait")
    check_all_ended(space, it, begin + 1)


@pytest.mark.parametrize("how", [(), ("--no-ahead",)], ids=["ahead", "at the gate"])
def test_error_of_mpi_behind_the_line(space, how):
    """As when Hydra's proxy of the joiners was killed, and MPI asks it where they are: a line says so. On a rank that the
    joiners' launch does not have: they have MPI end them."""
    env = {"LD_PRELOAD": job.test_program("preload_fault"), "EPOP_TEST_FAULT": "merge:error:1"}
    it = JoinScenario(space, options=how, env=env)
    begin = time.monotonic()
    it.start_ctl("resize", "3", "--wait")
    result = check_all_ended(space, it, begin + 1)
    assert "epop: MPI could not make the communicators of the ranks with the joining processes: " in result.err, result


@pytest.mark.parametrize("call", [6, 12, 24, 36])
def test_joiner_that_dies_in_the_midst_of_connecting_at_the_gate(space, call):
    """Without threads that connect ahead some of these cannot be survived: then it ends in time."""
    it = JoinScenario(space, options=("--no-ahead",))
    it.launcher.preload(f"accept:call{call}:0")
    begin = time.monotonic()
    waiting = it.start_ctl("resize", "4", "--wait").wait()
    if waiting.status == REFUSED:
        it.launcher.repair()
        it.resize(4)
        it.stop(ranks=4, windows=1)
    elif waiting.status == DONE:
        assert call > 6 and "ch3:sock" not in space.mpi() # through shared memory MPI connects with fewer
        it.stop(ranks=4, windows=1)
    else:
        check_all_ended(space, it, begin + 1)


def proxy_of(pid):
    proxy = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    assert b"hydra_pmi_proxy" in pathlib.Path(f"/proc/{proxy}/cmdline").read_bytes()
    return proxy


def test_control_c(space):
    it = grown(space)
    begin = time.monotonic()
    os.killpg(it.it.pid, signal.SIGINT)
    result = check_all_ended(space, it, begin)
    assert result.err.count("epop: ") == 1 and "epop: interrupted (SIGINT)\n" in result.err, result


def test_control_c_while_joiners_start(space):
    slow = Switch(space, "slow").on()
    it = JoinScenario(space, f"join-waits-while={slow}")
    waiting = it.start_ctl("resize", "4", "--wait")
    it.it.wait_for_line("joining in process")
    begin = time.monotonic()
    os.killpg(it.it.pid, signal.SIGINT)
    check_all_ended(space, it, begin)
    assert waiting.wait().status != DONE # that a joiner is gone, or that the job is: the signal reaches both


def test_first_launcher_is_killed_while_joiners_start(space):
    slow = Switch(space, "slow").on()
    it = JoinScenario(space, f"join-waits-while={slow}")
    it.start_ctl("resize", "4", "--wait")
    it.it.wait_for_line("joining in process")
    begin = time.monotonic()
    os.kill(it.it.pid, signal.SIGKILL)
    check_all_ended(space, it, begin)


@pytest.mark.parametrize("to", [2, 3, 4])
def test_proxy_of_joining_processes_is_killed(space, to):
    """Their mpiexec ends, and they go on without it. It is its own affair with which status."""
    it = grown(space)
    proxy = proxy_of(it.rank_pid(3))
    os.kill(proxy, signal.SIGKILL)
    joining.wait_for_end_of(proxy)
    it.resize(to)
    it.done("stop", "--wait")
    result = it.it.wait()
    assert result.status == 0 and result.err == "", result


def start_on_a_silent_host(space):
    """A resize that waits for an ssh which reaches nobody."""
    it = JoinScenario(space)
    folder, here = space.directory / "bin", space.directory / "here"
    folder.mkdir()
    (folder / "ssh").write_text(f"#!/bin/sh\necho $$ >{here}.new && mv {here}.new {here}\nexec sleep 1000\n")
    (folder / "ssh").chmod(0o755)
    it.launcher.spoil(f"PATH={folder}:$PATH; export PATH")
    waiting = it.start_ctl("resize", "+1", "--hosts", "silent.invalid", "--wait")
    job.wait_for(here.exists, running=waiting)
    return it, int(here.read_text()), waiting


@pytest.mark.parametrize("how", ["Ctrl-C", "launcher is killed", "rank 0 is killed", "SIGTERM twice"])
def test_no_ssh_is_left(space, how):
    it, _, _ = start_on_a_silent_host(space)
    begin = time.monotonic()
    if how == "Ctrl-C":
        os.killpg(it.it.pid, signal.SIGINT)
    elif how == "launcher is killed":
        os.kill(it.it.pid, signal.SIGKILL)
    elif how == "rank 0 is killed":
        os.kill(it.rank_pid(0), signal.SIGKILL)
    else:
        it.it.signal(signal.SIGTERM)
        job.signal_again(it.it.pid, signal.SIGTERM)
    it.it.wait()
    left, took = space._wait_gone(20), time.monotonic() - begin
    assert left == [] and space.in_time(took, 2 * LIMIT), f"{took} s, left: {left}"


def test_no_ssh_is_left_where_the_first_launch_stands_still(space):
    """Its proxy, that would have ended rank 0's process group, is stopped."""
    it, ssh, _ = start_on_a_silent_host(space)
    rank = it.rank_pid(0)
    launcher, proxy = it.launcher_of(ssh), proxy_of(rank)
    os.kill(proxy, signal.SIGSTOP)
    try:
        os.kill(rank, signal.SIGKILL)
        joining.wait_for_end_of(ssh)
        joining.wait_for_end_of(launcher)
    finally:
        os.kill(proxy, signal.SIGCONT)
    it.it.wait()
    assert space._wait_gone(20) == []


@pytest.mark.parametrize("how", ["cancel", "stop"])
def test_no_ssh_is_left_of_a_resize_that_is_called_off(space, how):
    it, ssh, waiting = start_on_a_silent_host(space)
    it.done(how)
    assert waiting.wait().status == REFUSED
    joining.wait_for_end_of(ssh)
    if how == "cancel":
        it.launcher.repair()
        it.resize(4)
        it.resize(2)
        it.done("stop", "--wait")
    assert it.it.wait().status == 0


def test_second_launcher_is_killed(space):
    it = grown(space)
    pid = it.rank_pid(3)
    begin = time.monotonic()
    os.kill(it.launcher_of(pid), signal.SIGKILL)
    check_all_ended(space, it, begin)
