"""--driver profile where processes are started and end while the job runs, those of the first world, too."""

import os
import signal

import pytest

import joining
from joining import JOIN, REPLACING, each_backend, each_merging
from profiling import check_measured, iterations, parts, partial, profiled, read, wait_for_checkpoint, world
from scenario import Scenario

pytestmark = joining.needed


def run(space, backend, *sizes):
    """Resized to these sizes and stopped: the profile, and its job."""
    it = Scenario(space, "sleep=1000", start=2, ranks=2, program="scenario_uneven",
                  options=(*backend, *profiled(space, "--quiet")))
    for size in sizes:
        it.resize(size)
    it.done("stop")
    result = it.it.wait()
    assert result.status == 0, result
    profile = read(space)
    check_measured(profile, result.out)
    return profile, int(result.out.split("windows, ")[1].split()[0])


@each_backend
def test_those_who_came_and_went_are_in_it(space, backend):
    profile, made = run(space, backend, 4, 1)
    assert [one["size"] for one in profile["world"]] == [2, 4, 1] and profile["backend"] == backend[1]
    assert set(iterations(profile, "work")) == {1, 2, 4} and sum(iterations(profile, "work").values()) == made
    played = [part for one in parts(profile).values() for part in one]
    assert sorted(played) == [(0, 1), (0, 2), (0, 4), (1, 2), (1, 4), (2, 4), (3, 4)]
    expand, shrink = profile["adaptations"]
    assert expand["init_time"] > 0 and (shrink["init_time"] is None) == (backend not in REPLACING.values())


@each_merging
def test_times_of_every_rank_count(space, backend):
    """The mean is over as many ranks as there are: none is missing."""
    profile, _ = run(space, backend, 4)
    for size in (2, 4):
        loop = world(profile, "work", size)["loop_time"]
        assert loop["mean"] == pytest.approx(loop["total"] / size)


def test_a_joined_process_that_is_killed(space):
    """In another launch, while nobody is in MPI: the rest lives long enough to be asked."""
    it = Scenario(space, start=2, ranks=2,
                  options=(*JOIN, *profiled(space, "--quiet", "--checkpoint", "0")))
    it.resize(3)
    it.wait_for_status(lambda status: status["element"]["iteration"] > status["adaptations"][0]["iteration"] + 5)
    victim = next(process["pid"] for process in it.status()["processes"] if process["rank"] == 2)
    os.kill(victim, signal.SIGKILL)
    assert it.it.wait().status != 0
    profile = partial(space)
    assert f"pid {victim}" in profile["reason"]
    assert parts(profile) == {0: [(0, 2), (0, 3)], 1: [(1, 2), (1, 3)]}


def test_kill_of_the_first_launch(space):
    it = Scenario(space, "sleep=1000", start=2, ranks=2, program="scenario_uneven",
                  options=(*JOIN, *profiled(space, "--quiet", "--checkpoint", "0.1")))
    it.resize(3)
    wait_for_checkpoint(space, lambda profile: iterations(profile, "work").get(3))
    os.kill(it.pid, signal.SIGKILL)
    assert it.it.wait().status != 0
    assert partial(space)["world"][-1]["size"] == 3 and len(parts(partial(space))) == 3
