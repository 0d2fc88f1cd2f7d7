"""--driver tune where processes start and end: those that come know nothing of the search, and hear it."""

import json

import job
import joining
import pytest
from schemas import validate

pytestmark = joining.needed
PROGRAM = job.test_program("tunable")
TUNE = ("--driver", "tune", "--tune-output", "tuned.json", "--within", "100", "--sizes", "1,3")


def tuned(space):
    return validate("tuned", json.loads((space.directory / "tuned.json").read_text()))


@pytest.mark.parametrize("backend", ["join", "spawn"])
def test_sizes(space, backend):
    """Three ranks are three times as fast as one. All widths are as fast, and differ by chance by far less than a half."""
    result = space.epop("--backend", backend, *TUNE, "--bound", "50", PROGRAM, "iterations=150", "nap=90000", "fixed=1", "scale=1",
                        ranks=1)
    assert result.status == 0, result
    found = tuned(space)
    assert found["ranks"] == 3 and {speed["ranks"] for speed in found["speeds"]} == {1, 3}, result
    assert "width 64, " in result.out, result


def test_settings_are_those_of_the_ranks_that_come(space):
    """The program looks after that in every iteration."""
    it = space.start_epop("--backend", "join", "--driver", "tune", "--tune-output", "tuned.json", "--within", "100", PROGRAM,
                          "iterations=300", ranks=1)
    space.wait_for_status(lambda status: (status.get("progress") or {}).get("iteration", 0) > 0)
    for size in (3, 2):
        space.resize(size)
    result = it.wait()
    assert result.status == 0 and "width 16, " in result.out and ", 2 ranks\n" in result.out, result
    assert [each["value"] for each in tuned(space)["settings"]] == [16]


def test_nobody_is_left_who_knows(space):
    """All ranks are replaced: the program goes on with its own settings, and what was found until then is written."""
    it = space.start_epop("--backend", "spawn", "--spawn-method", "baseline", "--driver", "tune", "--tune-output", "tuned.json",
                          "--within", "100", PROGRAM, "iterations=100", ranks=2)
    space.wait_for_status(lambda status: (status.get("progress") or {}).get("iteration", 0) > 0)
    space.resize(3)
    result = it.wait()
    assert result.status == 0 and "width 64, " in result.out and ", 3 ranks\n" in result.out, result
