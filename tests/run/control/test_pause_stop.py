"""pause, resume and stop, by epopctl and by signal."""

import contextlib
import signal
import time

import job
import pytest
from scenario import DONE, REFUSED, Scenario, Switch, cpu_seconds


def iterations(directory):
    """Of every process that has taken part, by its own account."""
    return {int(path.name): int.from_bytes(path.read_bytes(), "little") for path in directory.iterdir()}


def paused(space, *arguments, **how):
    """A paused job, where its processes tell how far they are, and what epopctl pause printed."""
    directory = space.directory / "state"
    directory.mkdir()
    it = Scenario(space, f"state={directory}", "skew=2000", *arguments, **how)
    return it, directory, it.done("pause")


def test_pause_and_resume(space):
    it, directory, said = paused(space, start=3, ranks=3)
    first = iterations(directory)
    assert len(first) == 3 and len(set(first.values())) == 1, first
    assert said == f"paused at work, iteration {list(first.values())[0]}"
    assert it.status()["state"] == "paused" and it.status()["element"]["iteration"] == list(first.values())[0]
    cpu = [cpu_seconds(pid) for pid in first]
    time.sleep(0.5)  # the time in which nothing may happen
    used = [cpu_seconds(pid) - before for pid, before in zip(first, cpu)]
    assert iterations(directory) == first
    assert max(used) <= 0.1, used
    assert it.done("resume") == "resumed"
    it.wait_for_status(lambda status: status["element"]["iteration"] > list(first.values())[0])
    it.stop(ranks=3, windows=0)


def test_a_note_is_in_the_jobs_output(space):
    it = Scenario(space, start=1, ranks=1)
    assert it.done("note", "somebody was here") == "said"
    it.done("stop")
    result = it.it.wait()
    assert result.status == 0 and result.err == "epop: note: somebody was here\n", result


def test_pause_twice(space):
    it, directory, _ = paused(space, start=2, ranks=2)
    first = iterations(directory)
    assert it.done("pause") == "paused"
    it.done("resume")
    assert it.refused("resume") == "the job is not paused"
    it.done("pause")
    second = iterations(directory)
    assert len(set(second.values())) == 1 and min(second.values()) > min(first.values())
    it.done("resume")
    it.stop(ranks=2, windows=0)


@pytest.mark.parametrize("size", [1, 3])
def test_resize_while_paused(space, size):
    """It is prepared at once, and happens after the pause, at the very place."""
    it, directory, _ = paused(space, start=2, ranks=3)
    place = set(iterations(directory).values())
    it.done("resize", str(size))
    it.wait_for_status(lambda status: status["adaptations"][0]["state"] == "prepared")
    assert it.status()["size"] == 2
    assert {count for count in iterations(directory).values() if count} == place
    it.done("resume")
    status = it.wait_for_status(lambda status: status["size"] == size)
    assert {status["adaptations"][0]["iteration"]} == place
    it.stop(ranks=size, windows=1)


def test_the_time_limit_stands_still_while_paused(space):
    slow, limit = Switch(space, "slow").on(), space.patience(4)
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=2, options=["--prepare-timeout", limit])
    it.wait_until_here()
    waiting = it.start_ctl("resize", "2", "--wait")
    it.it.wait_for_line("joining in process")
    it.done("pause")  # well before the limit
    time.sleep(limit + 0.5)
    assert it.status()["adaptations"][0]["state"] == "preparing"
    slow.off()
    it.wait_for_status(lambda status: status["adaptations"][0]["state"] == "prepared")
    it.done("resume")
    assert waiting.wait().status == DONE
    it.stop(ranks=2, windows=1)


# ---- stop


def test_stop(space):
    it = Scenario(space, start=2, ranks=3)
    result = it.ctl("stop", "--wait")
    assert (result.status, result.out) == (DONE, "stopped\n"), result
    it.finish(ranks=2, windows=0)


@pytest.mark.parametrize("how", ["segv", "error"])
def test_stop_of_a_job_that_dies_meanwhile(space, how):
    """In its last block, which runs behind the stop."""
    it = space.start_epop("--backend", "pool", job.test_program("dies"), "iterations=1000000000", "at=-1", f"how={how}", ranks=2)
    it.wait_for_line(r"^init new rank 0 of 2")
    result = space.epopctl("stop", "--wait")
    assert result.status == REFUSED and result.out == "", result
    assert "died before it had: its output says why" in result.err and result.err.count("\n") == 1
    assert it.wait().status != 0


def test_stop_while_paused(space):
    it, directory, _ = paused(space, start=2, ranks=2)
    count = iterations(directory).popitem()[1]
    it.done("stop")
    it.finish(ranks=2, windows=0, iterations=count)


def test_stop_while_a_resize_is_prepared(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=2)
    waiting = it.start_ctl("resize", "2", "--wait")
    it.it.wait_for_line("joining in process")
    it.done("stop")
    result = waiting.wait()
    assert result.status == REFUSED and result.err == "epopctl: the job was told to stop\n", result
    slow.off()
    it.finish(ranks=1, windows=0)


@contextlib.contextmanager
def in_an_iteration(space, **how):
    """A job whose ranks stay in one iteration as long as the block lasts."""
    long = Switch(space, "long").on()
    it = Scenario(space, f"work-waits-while={long}", **how)
    it.wait_until_here()
    it.wait_for_status(lambda status: (status["element"] or {}).get("pc") == 1)  # rank 0 has begun it
    yield it
    long.off()


def test_requests_after_stop(space):
    """In the iteration that it still does."""
    with in_an_iteration(space, start=1, ranks=2) as it:
        it.done("stop")
        for command in (["resize", "2"], ["pause"]):
            result = it.ctl(*command)
            assert result.status == REFUSED and result.err == "epopctl: the job is ending\n", result
        it.done("stop")
    it.finish(ranks=1, windows=0)


# ---- Signals to mpiexec


def test_sigterm(space):
    it = Scenario(space, "work=5000", start=2, ranks=3)
    it.wait_until_here()
    it.it.signal(signal.SIGTERM)
    result = it.it.wait()
    assert "end: 2 ranks, 0 windows" in result.out, result
    assert result.status == 0 and result.err == "", result


def test_sigterm_while_paused(space):
    it, _, _ = paused(space, start=2, ranks=2)
    it.it.signal(signal.SIGTERM)
    result = it.it.wait()
    assert result.status == 0 and "end: 2 ranks" in result.out, result


def test_a_second_sigterm(space):
    """In an iteration that lasts: the first one is waited for, the second one is not."""
    with in_an_iteration(space, start=2, ranks=2) as it:
        it.it.signal(signal.SIGTERM)
        it.wait_for_state("stopping")
        job.signal_again(it.it.pid, signal.SIGTERM)
        result = it.it.wait()
    assert result.status != 0 and "end:" not in result.out, result


@pytest.mark.parametrize("ranks", [1, 2])
def test_control_c(space, ranks):
    """The launcher tells of it by its status, every time."""
    with in_an_iteration(space, start=ranks, ranks=ranks) as it:
        it.it.signal(signal.SIGINT)
        result = it.it.wait()
    assert result.status == 1 and result.err == "epop: interrupted (SIGINT)\n", result


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_sigterm_of_one_rank(space, number):
    """Nobody else holds the launcher's attention while it ends."""
    with in_an_iteration(space, start=1, ranks=1) as it:
        it.it.signal(signal.SIGTERM)
        it.wait_for_state("stopping")
        job.signal_again(it.it.pid, number)
        result = it.it.wait()
    assert result.status == 1 and result.err.startswith("epop: "), result


def test_no_second_sigterm(space):
    """The control case: the job is still there some time after the first."""
    with in_an_iteration(space, start=2, ranks=2) as it:
        it.it.signal(signal.SIGTERM)
        it.wait_for_state("stopping")
    it.finish(ranks=2)
