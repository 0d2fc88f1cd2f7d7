"""programs/synthetic: a job that takes the time it was told, and loses nothing of its data and its work in resizes."""

import re
import time

import job
import pytest

SYNTHETIC = job.program("synthetic")
END = r"synthetic: (-?\d+) of (\d+) iterations, (\d+) of (\d+) elements right, (\d+) resizes, (\d+) ranks at the end\n"


def figures(result):
    """Of the last line: iterations done and asked for, elements right and in all, resizes, ranks."""
    assert result.status == 0, result
    match = re.fullmatch(END, result.out)
    assert match, result
    return [int(figure) for figure in match.groups()]


@pytest.mark.parametrize("speedup, ranks, seconds", [
    ("linear", 2, 0.5), ("amdahl:0.5", 1, 1), ("amdahl:0.5", 2, 0.75), ("table:1=1,3=2", 2, 1 / 1.5)])
def test_takes_the_time_that_it_is_told(space, speedup, ranks, seconds):
    begin = time.monotonic()
    result = space.epop(SYNTHETIC, "mib=0.5", "phase=a", "iterations=10", "seconds=0.1", f"speedup={speedup}",
                        "phase=b", "kind=rigid", "seconds=0.3", ranks=ranks)
    assert figures(result) == [11, 11, 65536, 65536, 0, ranks]
    assert time.monotonic() - begin > seconds + 0.3 / ranks


def test_loses_nothing_when_resized(space):
    it = space.start_epop("--start", "1", SYNTHETIC, "mib=2", "phase=a", "iterations=3", "seconds=0.01", "phase=b",
                          "iterations=100000000", "seconds=0.01", "speedup=amdahl:0.1", "mtct=0.2", ranks=3)
    space.wait_for_status(lambda status: status.get("progress", {}).get("bound") == 100000000)
    for size in ("3", "1", "2"):
        space.resize(size)
    assert space.epopctl("stop").status == 0
    done, asked, right, elements, resizes, ranks = figures(it.wait())
    assert 3 <= done < asked and right == elements == 262144 and (resizes, ranks) == (3, 2)


def test_a_phase_has_a_range(space):
    it = space.start_epop("--start", "1", SYNTHETIC, "phase=a", "iterations=100000000", "seconds=0.01", "max=2", ranks=3)
    space.wait_for_status(lambda status: status.get("progress", {}).get("bound") == 100000000)
    space.resize(3)
    space.wait_for_status(lambda status: status["size"] == 2)
    assert space.epopctl("stop").status == 0
    assert figures(it.wait())[4:] == [1, 2]


@pytest.mark.parametrize("argument", ["seconds=1", "phases=2", "mib=-1"])
def test_bad_argument(space, argument):
    result = space.epop(SYNTHETIC, argument, ranks=1)
    assert result.status != 0 and f"argument '{argument}' is not understood" in result.err, result


def test_bad_argument_of_a_phase(space):
    for argument in ("seconds=x", "speedup=cubic", "speedup=table:1,2", "iterations=-1"):
        result = space.epop(SYNTHETIC, "phase=a", argument, ranks=1)
        assert result.status != 0 and f"argument '{argument}' is not understood" in result.err, result
