"""programs/ledger: no element is lost, doubled or misplaced, however the world changes; and programs/double_phase."""

import json
import re
import time

import job
import pytest

LEDGER = job.program("ledger")
DISTS = ["block", "cyclic", "block-cyclic"]


def ledger(space, *arguments, start, ranks, limit=90):
    """Starts it; waited for with finish."""
    return space.start_epop("--start", str(start), LEDGER, *arguments, ranks=ranks, limit=limit)


def finish(it, elements, iterations):
    """Waits for the good end; the number of resizes and of ranks."""
    result = it.wait()
    assert result.status == 0, result
    match = re.fullmatch(rf"ledger: {elements} elements right in {iterations} iterations, (\d+) resizes, "
                         r"(\d+) ranks at the end\n", result.out)
    assert match, result
    return int(match[1]), int(match[2])


def wait_until_running(space, it):
    """Until the job answers, and all its processes have come."""
    end = time.monotonic() + 30
    while time.monotonic() < end and it.running():
        result = space.epopctl("status", "--json")
        if result.status == 0 and all(process["pid"] for process in json.loads(result.out)["processes"]):
            return
    raise AssertionError(f"does not answer: {it.wait(1)}")


@pytest.mark.parametrize("dist", DISTS)
def test_without_resizes(space, dist):
    it = ledger(space, "elements=17", "iterations=20", "work=0", f"dist={dist}", start=3, ranks=3)
    assert finish(it, 17, 20) == (0, 3)


@pytest.mark.parametrize("dist, skew", zip(DISTS, [0, 2000, 500]))
def test_resizes_from_outside(space, dist, skew):
    it = ledger(space, "elements=1001", "iterations=2000", "work=1000", f"skew={skew}", f"dist={dist}", start=2, ranks=4)
    wait_until_running(space, it)
    sizes = [4, 1, 3, 2]
    for size in sizes:
        result = space.epopctl("resize", str(size), "--wait")
        assert result.status == 0, result
    assert finish(it, 1001, 2000) == (len(sizes), sizes[-1])


@pytest.mark.parametrize("elements", [0, 1, 3, 5000])
def test_resizes_by_itself(space, elements):
    it = ledger(space, f"elements={elements}", "iterations=600", "work=1000", "skew=500", "resize=30", "max=4", start=1,
                ranks=4)
    resizes, _ = finish(it, elements, 600)
    assert resizes >= 3


def test_bad_argument(space):
    result = space.epop(LEDGER, "elements=x", ranks=1)
    assert result.status != 0 and "argument 'elements=x' is not understood" in result.err


def test_double_phase(space):
    result = space.epop(job.program("double_phase"), "5", "4", "0", ranks=2)
    assert result.status == 0 and "after 4 repetitions: right" in result.out, result


def test_double_phase_resized(space):
    it = space.start_epop("--start", "1", job.program("double_phase"), "100", "10", "1000", ranks=3)
    wait_until_running(space, it)
    for size in ("3", "2"):
        result = space.epopctl("resize", size, "--wait")
        assert result.status == 0, result
    result = it.wait()
    assert result.status == 0 and "after 10 repetitions: right" in result.out, result
