"""Processes that stand by: they give back memory, use no CPU, and join from the beginning of the job to its end."""

import os
import re
import signal
import time

import job
import pytest
from scenario import DONE, Scenario, cpu_seconds, only_line, resident_mb

MEMORY = 64  # MB a rank, in small pieces


def pid_of(status, number):
    return status["processes"][number]["pid"]


def test_a_rank_that_left_gives_its_memory_back(space):
    it = Scenario(space, f"memory={MEMORY}", start=2, ranks=3)
    pid, idle = (pid_of(it.wait_until_here(), number) for number in (1, 2))
    standby = resident_mb(idle)
    high = standby + 0.9 * MEMORY
    it.wait_for_status(lambda _: resident_mb(pid) > high)
    it.resize(1)
    it.wait_for_status(lambda _: resident_mb(pid) < high - 0.8 * MEMORY)
    it.resize(2)
    it.wait_for_status(lambda status: resident_mb(pid_of(status, 1)) > high)  # it can see the difference both ways
    it.stop(ranks=2, windows=2)


def test_standby_uses_no_cpu(space):
    """One that has not run yet and one that has left, while another computes."""
    it = Scenario(space, "work=0", start=2, ranks=3)
    it.resize(1)
    pids = [pid_of(it.wait_until_here(), number) for number in range(3)]
    before = [cpu_seconds(pid) for pid in pids]
    used = [0]
    end = time.monotonic() + 30
    while used[0] < 0.5 and time.monotonic() < end:
        time.sleep(0.1)  # they are watched meanwhile
        used = [cpu_seconds(pid) - start for pid, start in zip(pids, before)]
    assert used[0] >= 0.5 and max(used[1:]) <= 0.02, used
    it.stop(ranks=1, windows=1)


def test_statics_and_arguments_of_the_one_that_comes_back(space):
    it = Scenario(space, "work=1000", start=2, ranks=2)
    for _ in range(3):
        it.resize(1)
        it.resize(2)
    result = it.stop(ranks=2, windows=6)
    assert len(re.findall(r"init joining rank 0 of 1 argc 2 inits 1 in process", result.out)) == 3, result


# ---- One that is stopped when the job ends


def stopped_at_the_end(space, *options):
    """And its number."""
    it = Scenario(space, start=2, ranks=3, options=options)
    pid = pid_of(it.wait_until_here(), 2)
    job.send_signal(pid, signal.SIGSTOP)
    it.done("stop")
    it.it.wait_for_line("^end: 2 ranks")
    return it, pid


def test_one_that_is_stopped_ends_with_the_job(space):
    it, pid = stopped_at_the_end(space, "--finish-timeout", "1")
    result = it.it.wait()
    assert result.status == 0 and f"note: a process that stands by (pid {pid} on " in result.err, result
    assert "did not come to the end, and was ended with the job" in result.err, result


def test_one_that_is_stopped_and_goes_on_is_not_missed(space):
    """The control case."""
    it, pid = stopped_at_the_end(space, "--finish-timeout", "60")
    os.kill(pid, signal.SIGCONT)
    it.finish(ranks=2)


def test_force_names_the_one_that_is_stopped(space):
    it, pid = stopped_at_the_end(space, "--finish-timeout", "60")
    assert it.ctl("stop", "--force").status == DONE
    said = it.it.wait().err
    only_line(said, "ended by epopctl stop --force", "the program has ended, and the job waited for ", f"(pid {pid} on ")
    assert "rank" not in said.split("waited for")[1]


# ---- Short jobs: processes come and go at the same time


@pytest.mark.parametrize("start,ranks", [(1, 1), (2, 2), (1, 3), (2, 3)])
def test_many_short_jobs(space, start, ranks):
    for _ in range(20 if ranks < 3 else 12):
        result = Scenario(space, "iterations=1", "work=0", start=start, ranks=ranks).finish(ranks=start, iterations=1)
        assert result.out.count("init ") == start
    assert "scenario-" not in space.epopctl("list").out


@pytest.mark.parametrize("iterations", [1, 20])
def test_short_jobs_that_are_resized(space, iterations):
    """The request comes anywhere from INIT to the end."""
    for _ in range(8):
        it = Scenario(space, f"iterations={iterations}", start=1, ranks=2)
        result = it.ctl("resize", "2", "--wait")
        assert result.status in (0, 1, 3), result
        end = it.it.wait()
        assert end.status == 0 and end.err == "" and f"{iterations} iterations" in end.out, end
        assert (result.status == 0) == ("window 1: 1 -> 2" in end.out), f"{result}{end}"
