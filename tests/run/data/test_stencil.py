"""programs/stencil: described blocks with ghosts; every bit is right, however the world changes."""

import random
import re

import job
import joining
import pytest

STENCIL = job.program("stencil")
ENDLESS = "100000"  # until it is stopped


def finish(it, side):
    """Waits for the good end; what it had on stderr."""
    result = it.wait()
    assert result.status == 0, result
    assert re.fullmatch(rf"stencil: {side ** 2} of {side ** 2} elements right after \d+ steps\n", result.out), result
    return result.err


def resize_at_random(space, *options, side, resizes, ranks=4):
    it = space.start_epop("--start", "2", *options, STENCIL, str(side), ENDLESS, "1000", ranks=ranks)
    space.wait_until_all_are_here()
    size, seed = 2, random.randrange(1 << 31)
    print(f"seed {seed}")
    picks = random.Random(seed)
    for _ in range(resizes):
        size = picks.choice([other for other in (1, 2, 3, 4) if other != size])
        space.resize(size)
    assert space.epopctl("stop").status == 0
    return finish(it, side)


@pytest.mark.parametrize("ranks", [1, 4])
def test_without_resizes(space, ranks):
    it = space.start_epop(STENCIL, "9", "30", ranks=ranks)
    assert finish(it, 9) == ""


def test_resizes(space):
    assert resize_at_random(space, side=10, resizes=8) == ""


def test_fewer_indices_than_ranks(space):
    """Then ranks own nothing."""
    assert resize_at_random(space, side=1, resizes=4) == ""


@joining.needed
@pytest.mark.parametrize("backend", [joining.JOIN, joining.BASELINE], ids=["join", "baseline"])
def test_processes_that_come_and_go(space, backend):
    assert resize_at_random(space, *backend, side=7, resizes=4, ranks=2) == ""


@pytest.mark.parametrize("before, after", [(4, 1), (1, 3)])
def test_restart_at_another_size(space, before, after):
    """The boundary is saved, too: the program sets it nowhere but in INIT."""
    saved = space.directory / "saved"
    for options, command, ranks in ((["--checkpoint-dir", saved], ["checkpoint", "--wait"], before),
                                    (["--restart", saved], ["stop"], after)):
        it = space.start_epop(*options, STENCIL, "10", ENDLESS, "1000", ranks=ranks)
        space.wait_until_all_are_here()
        result = space.epopctl(*command)
        assert result.status == 0, result
        if ranks == before:
            assert space.epopctl("stop").status == 0
        finish(it, 10)


def test_under_the_debug_driver(space):
    """It finds nothing to say about the data."""
    assert "described" not in resize_at_random(space, "--driver", "debug", side=6, resizes=4)
