"""All ranks adapt at the same place, whenever the request comes and however their speeds differ; nobody waits because
of it; and ranks that go different ways are found out."""

import re

import job
import pytest
from scenario import Scenario, Switch, only_line


# ---- Requests at any moment


@pytest.mark.parametrize("who", ["all", "0"])
@pytest.mark.parametrize("block", ["exec", "branch", "loop"])
def test_short_phases_that_resize_themselves(space, block, who):
    it = Scenario(space, "rounds=150", "windows=8", "skew=1000", "every=10", f"from={block}", f"who={who}", "max=3",
                  program="scenario_phases", start=2, ranks=3)
    result = it.finish()
    windows, rounds = re.search(r"(\d+) windows, (\d+) iterations", result.out).groups()
    assert int(windows) >= 8 and int(rounds) >= 150, result


def test_short_phases_that_are_resized(space):
    sizes = [1, 3, 2, 3, 1, 2]
    it = Scenario(space, "rounds=100", f"windows={len(sizes)}", "skew=1500", program="scenario_phases", start=3, ranks=3)
    for size in sizes:
        it.resize(size)
    it.finish(ranks=2, windows=len(sizes))


def test_double_phase(space):
    """Phases of one iteration each, and the branch back."""
    it = space.start_epop("--start", "1", job.program("double_phase"), "1", "100000000", "500", ranks=3)
    id = wait_for_job(space, it, "double_phase")
    for size in (3, 2, 1, 2):
        space.resize(id, size)
    assert space.epopctl("stop", id, "--wait").status == 0
    result = it.wait()
    assert result.status == 0 and not result.err, result


def wait_for_job(space, it, name):
    """The job id of a program that prints nothing at first."""
    while it.running():
        found = re.search(rf"{name}-(\d+)", space.epopctl("list").out)
        if found and int(found[1]) in space.processes():
            return found[0]
    raise AssertionError(f"ended: {it.wait()}")


def test_stopped_at_any_moment(space):
    for rounds in range(5):
        it = Scenario(space, "rounds=100000", "skew=500", program="scenario_phases", start=2, ranks=2)
        it.wait_for_status(lambda status: (status["element"] or {}).get("visit", 0) > 20 * rounds)
        it.done("stop", "--wait")
        result = it.it.wait()
        assert result.status == 0 and not result.err, result


# ---- Nobody waits because of the probe


def longest(result):
    return [float(text) for text in re.findall(r"longest ([\d.]+) of a sleep", result.out)]


def test_a_sleeping_rank_holds_up_nobody(space):
    """Neither with nothing pending nor while a resize is being prepared."""
    slow = Switch(space, "slow").on()
    it = Scenario(space, "iterations=400", "sleeper=1", "at=200", f"join-waits-while={slow}", program="scenario_sleeper",
                  start=2, ranks=3, options=["--finish-timeout", "0.2"])
    it.done("resize", "3")
    it.it.wait_for_line("init joining")
    result = it.it.wait()
    assert result.status == 0 and result.err.startswith("epop: note: a process that is still in INIT"), result
    assert len(longest(result)) == 2 and max(longest(result)) < 0.5, result


def test_a_sleeping_rank_with_nothing_pending(space):
    it = Scenario(space, "iterations=400", "sleeper=1", "at=200", program="scenario_sleeper", start=2, ranks=2)
    result = it.it.wait()
    assert result.status == 0 and max(longest(result)) < 0.5, result


def test_a_sleeping_rank_holds_up_who_meets_it(space):
    """The control: that the measurement can see it."""
    it = Scenario(space, "iterations=400", "sleeper=1", "at=200", "meet=1", program="scenario_sleeper", start=2, ranks=2)
    result = it.it.wait()
    assert result.status == 0 and max(longest(result)) > 0.5, result


# ---- Ranks that go different ways


WAYS = {
    "loop": ["rank 0 is at element 1 'first', visit 1, iteration ", "but rank 1 is at element 3 'second', visit 3"],
    "end": ["rank 0 is at element 1 'first', visit 1, iteration ", "but rank 1 has ended the program"],
    "branch": ["rank 0 is at element 3 'second', visit 3, iteration ", "but rank 1 is at element 1 'first', visit "],
}


def breach(space, way):
    it = Scenario(space, f"way={way}", program="scenario_breach", start=2, ranks=3)
    it.it.wait_for_line("rank 1 did ten")
    it.it.wait_for_line("rank 0 did ten")
    return it


@pytest.mark.parametrize("request_", [("resize", "3"), ("resize", "1"), ("pause",), ("stop",)], ids=lambda r: r[0])
@pytest.mark.parametrize("way", WAYS)
def test_breach(space, way, request_):
    it = breach(space, way)
    it.start_ctl(*request_)
    result = it.it.wait()
    assert result.status == 1, result
    only_line(result.err, "scenario: the ranks went different ways: ", "loop conditions and branches must answer the "
              "same on every rank", *WAYS[way])


def test_no_breach(space):
    it = breach(space, "none")
    it.resize(3)
    it.done("pause")
    it.done("resume")
    it.done("stop", "--wait")
    result = it.it.wait()
    assert result.status == 0 and not result.err, result
