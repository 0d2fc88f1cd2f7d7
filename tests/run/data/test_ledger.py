"""programs/ledger: no element is lost, doubled or misplaced, however the world changes; and programs/double_phase."""

import re

import job
import pytest

LEDGER = job.program("ledger")
DISTS = ["block", "cyclic", "block-cyclic"]
ENDLESS = "iterations=100000000"  # until it is stopped


def ledger(space, *arguments, start, ranks, limit=90):
    """Starts it; waited for with finish."""
    return space.start_epop("--start", str(start), LEDGER, *arguments, ranks=ranks, limit=limit)


def finish(it, elements, iterations=r"\d+"):
    """Waits for the good end; the number of resizes and of ranks."""
    result = it.wait()
    assert result.status == 0, result
    match = re.fullmatch(rf"ledger: {elements} elements right in {iterations} iterations, (\d+) resizes, "
                         r"(\d+) ranks at the end\n", result.out)
    assert match, result
    return int(match[1]), int(match[2])


@pytest.mark.parametrize("dist", DISTS)
def test_without_resizes(space, dist):
    it = ledger(space, "elements=17", "iterations=20", "work=0", f"dist={dist}", start=3, ranks=3)
    assert finish(it, 17, 20) == (0, 3)


@pytest.mark.parametrize("dist, skew", zip(DISTS, [0, 2000, 500]))
def test_resizes_from_outside(space, dist, skew):
    it = ledger(space, "elements=1001", ENDLESS, "work=1000", f"skew={skew}", f"dist={dist}", start=2, ranks=4)
    space.wait_until_all_are_here()
    sizes = [4, 1, 3, 2]
    for size in sizes:
        space.resize(size)
    assert space.epopctl("stop").status == 0
    assert finish(it, 1001) == (len(sizes), sizes[-1])


@pytest.mark.parametrize("elements", [0, 1, 3, 5000])
def test_resizes_by_itself(space, elements):
    it = ledger(space, f"elements={elements}", ENDLESS, "work=1000", "skew=500", "resize=30", "max=4", start=1, ranks=4)
    space.wait_for_status(lambda status: sum(one["state"] == "committed" for one in status["adaptations"]) >= 5)
    assert space.epopctl("stop").status == 0
    assert finish(it, elements)[0] >= 5


def test_bad_argument(space):
    result = space.epop(LEDGER, "elements=x", ranks=1)
    assert result.status != 0 and "argument 'elements=x' is not understood" in result.err


def test_double_phase(space):
    result = space.epop(job.program("double_phase"), "5", "4", "0", ranks=2)
    assert result.status == 0 and "after 4 repetitions: right" in result.out, result


def test_double_phase_resized(space):
    """While it is held at its first phase, so that it does not end before."""
    it = space.start_epop("--start", "1", "--driver", "debug", "--break", "first", job.program("double_phase"), "10", "5",
                          "1000", ranks=3)
    seen = 0
    for size in (3, 2):
        _, seen = it.wait_for_line("epop: stopped before ", stream="err", start=seen)
        assert space.epopctl("resize", size).status == 0
        space.wait_for_status(lambda status: status["adaptations"][-1]["state"] == "prepared")
        assert space.epopctl("continue").status == 0
        space.wait_for_status(lambda status: status["size"] == size)
    it.wait_for_line("epop: stopped before ", stream="err", start=seen)
    for command in (["break", "first", "--remove"], ["continue"]):
        assert space.epopctl(*command).status == 0
    result = it.wait()
    assert result.status == 0 and "after 5 repetitions: right" in result.out, result
