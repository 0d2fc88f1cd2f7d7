"""Faults while a job runs: an adapt block that breaks the rules, processes that are killed. One line, the same status,
and nothing left."""

import os
import pathlib
import signal
import time

import job
import joining
import pytest
from scenario import DONE, Scenario, Switch, only_line

# ---- The adapt block

ADAPT = {
    "error": "its adapt block returned 43",
    "late-error": "its adapt block returned 44",
    "no-commit": "its adapt block returned without calling epop_adapt_commit",
    "begin-twice": "its adapt block returned 202 (called where it may not be called)",
}


@pytest.mark.parametrize("who", ["all", "0", "staying", "leaving", "joining"])
@pytest.mark.parametrize("fault", ADAPT)
def test_adapt_block(space, fault, who):
    """On all ranks, on one, or on those of one status, the others being in the middle of the window."""
    it = Scenario(space, f"fault={fault}:{who}", start=2, ranks=3)
    waiting = it.start_ctl("resize", "2", "--release-ranks", "1", "--wait")
    result = it.it.wait()
    assert result.status == 1, result
    only_line(result.err, "scenario: element 1 'work' (EP), iteration ", ADAPT[fault])
    assert waiting.wait().status != DONE


def test_commit_without_begin(space):
    it = Scenario(space, "fault=commit-first", start=1, ranks=2)
    it.start_ctl("resize", "2", "--wait")
    result = it.it.wait()
    assert result.status == 1, result
    only_line(result.err, "element 1 'work' (EP)", "its adapt block returned 202")


def test_adapt_block_without_a_fault(space):
    """The control case: a fault for a rank that there is not."""
    it = Scenario(space, "fault=error:7", start=2, ranks=3)
    it.resize(2, "--release-ranks", "1")
    it.stop(ranks=2, windows=1)


# ---- Processes that are killed

# Seconds: what does not end by itself lasts for ever here, and what does takes two, unless the machine is busy.
LIMIT = 20


def left_over(space):
    """What is left of jobs in the runtime directory."""
    return [str(path) for path in pathlib.Path(space.runtime).rglob("*") if path.name != "epop"]


def check_gone(space, it, begin):
    """Everything has ended in time, and epopctl list finds and removes what is left of the job."""
    result = it.it.wait()
    assert result.status != 0, result
    assert space._wait_gone(LIMIT) == [], result
    assert space.in_time(time.monotonic() - begin, LIMIT)
    # One that has no memory any more, and has not quite ended, is still a job.
    listed = job.wait_for(lambda: space.epopctl("list"), meets=lambda listed: it.id not in listed.out and not left_over(space))
    assert listed.status == DONE, listed


def kill(pid):
    begin = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    return begin


@pytest.mark.parametrize("number", [0, 1, 2], ids=["rank 0", "rank 1", "standby"])
def test_kill_a_process(space, number):
    it = Scenario(space, start=2, ranks=3)
    pid = it.wait_until_here()["processes"][number]["pid"]
    check_gone(space, it, kill(pid))


def test_kill_a_process_that_has_left(space):
    it = Scenario(space, start=2, ranks=2)
    it.resize(1)
    pid = it.wait_until_here()["processes"][1]["pid"]
    check_gone(space, it, kill(pid))


def test_kill_a_joining_process(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=2)
    it.done("resize", "2")
    match, _ = it.it.wait_for_line(r"joining in process (\d+)")
    check_gone(space, it, kill(int(match[1])))


def test_kill_a_paused_process(space):
    it = Scenario(space, start=2, ranks=2)
    it.done("pause")
    pid = it.status()["processes"][1]["pid"]
    check_gone(space, it, kill(pid))


def test_kill_the_launcher(space):
    it = Scenario(space, start=2, ranks=3)
    it.wait_until_here()
    check_gone(space, it, kill(it.it.pid))


def test_nobody_is_killed(space):
    """The control case: the job's file is there while it runs, and gone afterwards."""
    it = Scenario(space, start=2, ranks=3)
    it.wait_until_here()
    assert it.id in space.epopctl("list").out
    it.stop(ranks=2)
    job.wait_for(lambda: left_over(space), meets=lambda left: left == [])  # what is beside a job ends behind it
    assert it.id not in space.epopctl("list").out


# ---- Processes that end themselves, as if all were well

# By the fault of tests/programs/mpi_faults.c: where it is.
EXITS = {
    "exit-init": "element 0 'start' (INIT), iteration 0",
    "exit-exec": "element 1 'work' (EP), iteration 2",
    "exit-loop_condition": "element 1 'work' (EP), iteration 1",
    "exit-branch_condition": "element 2 'turn' (BRANCH), iteration 0",
}
BACKENDS = ["pool", pytest.param("join", marks=joining.needed)]


def check_exit(result, fault):
    assert result.status == 1, result
    return only_line(result.err, EXITS[fault], f"its {fault.removeprefix('exit-')} block called exit(0)")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rank", [None, 0, 1])
@pytest.mark.parametrize("fault", EXITS)
def test_exit_in_a_block(space, fault, rank, backend):
    """On all ranks, or on one while the others wait for it: it did not end well."""
    result = space.epop("--backend", backend, job.test_program("mpi_faults"), ranks=2,
                        env={"EPOP_TEST_FAULT": fault, "EPOP_TEST_RANK": rank})
    assert f"rank {'' if rank is None else rank}" in check_exit(result, fault)


@pytest.mark.parametrize("backend", BACKENDS)
def test_exit_of_the_only_rank(space, backend):
    """MPI_Abort would be an exit() of another thread, which waits for this one."""
    check_exit(space.epop("--backend", backend, job.test_program("mpi_faults"), ranks=1, env={"EPOP_TEST_FAULT": "exit-exec"}), "exit-exec")


@pytest.mark.parametrize("backend", BACKENDS)
def test_exit_in_the_adapt_block(space, backend):
    start, ranks = ([], 1) if backend == "join" else (["--start", "1"], 2)
    result = space.epop("--backend", backend, *start, job.test_program("mpi_faults"), ranks=ranks,
                        env={"EPOP_TEST_FAULT": "exit-adapt"})
    assert result.status == 1, result
    only_line(result.err, "element 1 'work' (EP)", "its adapt block called exit(0)")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rank", [None, 0, 1])
def test_abort_with_code_0(space, rank, backend):
    result = space.epop("--backend", backend, job.test_program("mpi_faults"), ranks=2,
                        env={"EPOP_TEST_FAULT": "abort", "EPOP_TEST_RANK": rank})
    assert result.status == 1, result
    only_line(result.err, f"rank {'' if rank is None else rank}", "called MPI_Abort with code 0")


@pytest.mark.parametrize("fault", EXITS)
def test_exit_of_a_program_that_runs_alone(space, fault):
    result = space.epop(job.test_program("faults"), env={"EPOP_TEST_FAULT": fault})
    assert result.status == 1, result
    only_line(result.err, f"its {fault.removeprefix('exit-')} block called exit(0)", "rank 0 of 1")


# Without exit's handlers, and so without the drivers: one line, from the process itself.
QUITS = {"_exit-exec": "_exit(0)", "quick_exit-exec": "quick_exit", "alarm": "_exit(0)"}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rank", [None, 0, 1])
@pytest.mark.parametrize("fault", QUITS)
def test_quick_exit_in_a_block(space, fault, rank, backend):
    """Hydra may take a process that ends with 0 for one that is done, and a job of such ones, too. An alarm strikes within MPI."""
    result = space.epop("--backend", backend, job.test_program("mpi_faults"), ranks=2,
                        env={"EPOP_TEST_FAULT": fault, "EPOP_TEST_RANK": rank})
    assert result.status != 0, result
    assert f"rank {'' if rank is None else rank}" in result.err, result
    assert f"its exec block called {QUITS[fault]}" in result.err, result


@pytest.mark.parametrize("fault", ["_exit-exec", "quick_exit-exec"])
def test_quick_exit_of_a_program_that_runs_alone(space, fault):
    result = space.epop(job.test_program("faults"), env={"EPOP_TEST_FAULT": fault})
    assert result.status == 1, result
    only_line(result.err, f"its exec block called {QUITS[fault]}", "rank 0 of 1")


def test_nobody_exits(space):
    """The control case: a fault for a rank that there is not."""
    result = space.epop(job.test_program("mpi_faults"), ranks=2,
                        env={"EPOP_TEST_FAULT": "exit-exec", "EPOP_TEST_RANK": 7})
    assert result.status == 0 and result.err == "", result


# ---- epopctl is killed


def test_kill_epopctl_while_it_waits(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=2)
    waiting = it.start_ctl("resize", "2", "--wait")
    it.it.wait_for_line("joining in process")
    waiting.kill()
    slow.off()
    it.wait_for_status(lambda status: status["size"] == 2)  # it was accepted, so it happens
    it.resize(1)
    it.stop(ranks=1, windows=2)


def test_kill_epopctl_while_it_watches(space):
    it = Scenario(space, start=1, ranks=2)
    watches = [it.start_ctl("watch") for _ in range(2)]
    for watch in watches:
        it.wait_until_seen_by(watch)
    it.resize(2)
    it.resize(1)
    watches[0].wait_for_line("committed")
    watches[0].kill()
    it.resize(2)
    watches[1].wait_for_line(r"committed\t3\t")
    it.stop(ranks=2, windows=3)
    assert watches[1].wait().status == DONE


def test_stopped_epopctl(space):
    """One that does not read any more holds up neither the job nor its end."""
    it = Scenario(space, start=1, ranks=2)
    watch = it.start_ctl("watch")
    it.wait_until_seen_by(watch)
    it.resize(2)
    watch.wait_for_line("committed")
    watch.signal(signal.SIGSTOP)
    it.resize(1)
    begin = time.monotonic()
    it.stop(ranks=1, windows=2)
    assert space.in_time(time.monotonic() - begin, LIMIT)
    watch.kill()
