"""What a joining process's first probe is: found in loops of all shapes, or said; and ranks that wait for each other."""

import re
import time

import job
import joining
import pytest
from executables import LINKED, compile_c, source, start, wait_until_probed

LATEST = 5 # seconds in which ranks that wait for each other are called off, or go on, where nothing else runs


@pytest.fixture(scope="module")
def loops(tmp_path_factory):
    return compile_c(source("first_probe"), tmp_path_factory.mktemp("loops") / "loops", *LINKED)


def stopped(space, running, size):
    """All processes are stopped at the same probe, in the same iteration."""
    result = space.stop(running)
    assert result.err == "" and "WRONG" not in result.out, result
    ends = re.findall(r"ends in iteration (\d+)\n", result.out)
    assert len(ends) == size and len(set(ends)) == 1, result
    return result


# ---- Found -----------------------------------------------------------------------------------


@joining.needed
@pytest.mark.parametrize("where", ["start", "end"])
@pytest.mark.parametrize("shape", ["growing", "setup", "last", "parts", "silent"])
def test_it_is_found(space, loops, shape, where):
    """The second resize is asked at once: nothing is settled then."""
    running = start(space, loops, shape, where, space.directory / "end")
    for size in (3, 4):
        space.resize(size)
    stopped(space, running, 4)


# ---- Said --------------------------------------------------------------------------------------


@joining.needed
@pytest.mark.parametrize("how", ["call", "environment"])
@pytest.mark.parametrize("where, what, misleading", [("start", "repeats", "slow"), ("end", "counts", "hasty")])
def test_it_is_said(space, loops, how, where, what, misleading):
    """Where nothing is communicated, and the time says the contrary."""
    call, env = ([what], {}) if how == "call" else ([], {"EPOP_FIRST_PROBE": what})
    running = start(space, loops, "silent", where, space.directory / "end", misleading, *call, env=env)
    space.resize(3)
    stopped(space, running, 3)


@joining.needed
def test_the_call_is_stronger(space, loops):
    running = start(space, loops, "silent", "start", space.directory / "end", "slow", "repeats",
                    env={"EPOP_FIRST_PROBE": "counts"})
    space.resize(3)
    stopped(space, running, 3)


def test_a_bad_value(space, loops):
    result = space.start([job.MPIEXEC, "-n", 2, loops, "silent", "end", "x"], env={"EPOP_FIRST_PROBE": "first"}).wait()
    assert result.status == 1, result
    assert result.err == "epop: EPOP_FIRST_PROBE is 'first'; it can be find, counts or repeats\n", result


# ---- Ranks that wait for each other ---------------------------------------------------------------


@joining.needed
@pytest.mark.parametrize("where, misleading", [("start", "slow"), ("end", "hasty")])
def test_a_wrong_guess_is_put_right(space, loops, where, misleading):
    """By the time, as nothing is communicated at first; then the ranks wait for each other."""
    running = start(space, loops, "quiet", where, space.directory / "end", misleading)
    space.resize(3)
    stopped(space, running, 3)


def called_off(space, *command):
    """Whoever polls is seen in MPI, or on the way to its next call."""
    begin = time.monotonic()
    result = space.epopctl(*command)
    assert result.status != 0 and space.in_time(time.monotonic() - begin, LATEST), result
    assert re.search(r"the ranks do not probe equally often: rank \d \(\d+ probes\) holds, and rank \d \(\d+ probes(, in "
                     r"MPI_\w+)?\) waits in MPI", result.err), result
    return result


@pytest.mark.parametrize("shape", ["clock", "polls"])
def test_probes_by_the_clock(space, loops, shape):
    """What the ranks would have to come together for is called off, each time, and the job ends as it would have."""
    end = space.directory / "end"
    running = start(space, loops, shape, "end", end)
    wait_until_probed(space)
    called_off(space, "resize", 1, "--wait")
    called_off(space, "pause")
    assert space.status()["state"] == "running"
    assert "epopctl stop --force ends the job" in called_off(space, "stop").err
    assert space.status()["state"] == "running"
    end.touch()
    result = running.wait()
    ends = re.findall(r"ends in iteration (\d+)\n", result.out)
    assert result.status == 0 and len(ends) == 2 and len(set(ends)) == 1, result
    assert result.err.count("the ranks do not probe equally often") == 3, result


def test_a_long_iteration_is_no_reason(space, loops):
    end = space.directory / "end"
    running = start(space, loops, "growing", "end", end)
    long = space.directory / "end.long"
    long.touch()
    took = 0
    while took < 2: # then it was in the middle of it
        begin = time.monotonic()
        paused = space.epopctl("pause")
        took = time.monotonic() - begin
        assert paused.status == 0 and space.epopctl("resume").status == 0, paused
    long.unlink()
    stopped(space, running, 2)


@joining.needed
def test_a_long_start_of_a_process_is_no_reason(space, loops):
    end = space.directory / "end"
    running = start(space, loops, "silent", "end", end)
    begin = time.monotonic()
    (space.directory / "end.spawn").touch()
    while time.monotonic() < begin + 3: # and so also in the middle of it
        paused = space.epopctl("pause")
        assert paused.status == 0 and space.epopctl("resume").status == 0, paused
    stopped(space, running, 2)
