"""Constant data of the kinds that are not dealt out by a rule (sparse rows, by cuts, on a partition, items) moves ahead
of the window, and is right to the last element; where it cannot, it moves in the window."""

import os
import random
import signal

import job
import joining
import pytest
from joining import JoinScenario
from scenario import DONE, REFUSED, Scenario, Switch
from test_ahead import Still, last, resized

N = 800
ALL = "irewsdp"
CHANGES = {"e": 8, "p": 8}  # bytes of an element that changes, besides those of u


def pool(space, *arguments, start=2, ranks=4, kinds=ALL, **how):
    return Scenario(space, *arguments, f"kinds={kinds}", start=start, ranks=ranks, program="constant_kinds", **how)


def by_join(space, *arguments, kinds=ALL, **how):
    it = JoinScenario(space, *arguments, f"kinds={kinds}", program="constant_kinds", **how)
    it.wait_until_here()
    return it


def in_window(kinds, n=N):
    """The most that what changes may have in a window, in bytes."""
    return n * (8 + sum(CHANGES.get(kind, 0) for kind in kinds))


def comes_ahead(it, way, kinds=ALL, n=N):
    done = resized(it, *way)
    assert done["ahead"] > 0 and done["bytes"] <= in_window(kinds, n), done


@pytest.mark.parametrize("kinds", [*ALL, ALL])
def test_up_and_down(space, kinds):
    it = pool(space, kinds=kinds)
    for size in (4, 1, 3, 2):
        comes_ahead(it, (size,), kinds)
    it.stop(ranks=2, windows=4)


def test_migration(space):
    it = pool(space, start=3)
    for ranks in ("1", "2"):
        comes_ahead(it, (3, "--release-ranks", ranks))
    it.stop(ranks=3, windows=2)


@pytest.mark.parametrize("kinds", [*ALL, ALL])
def test_little_data(space, kinds):
    """Fewer rows than ranks, and none."""
    for n in (0, 2):
        it = pool(space, f"n={n}", kinds=kinds)
        for size in (4, 1, 2):
            it.resize(size)
        it.stop(ranks=2, windows=3)


def test_data_of_many_chunks(space):
    it = pool(space, "n=60000", "nap=0")
    for size in (4, 3, 2):
        comes_ahead(it, (size,), n=60000)
        assert last(it)["ahead"] > 2000000
    it.stop(ranks=2, windows=3)


def test_the_debug_driver_has_nothing_to_say(space):
    it = pool(space, options=("--driver", "debug"))
    for size in (4, 2):
        comes_ahead(it, (size,))
    it.stop(ranks=2, windows=2)


def some_kinds(rng):
    return "".join(kind for kind in ALL if rng.random() < 0.5) or rng.choice(ALL)


def go_at_random(it, rng, kinds, times, sizes):
    """Resizes, of which some are called off in between."""
    size = it.status()["size"]
    for _ in range(times):
        to = rng.choice([other for other in sizes if other != size])
        waiting = it.start_ctl("resize", str(to), "--wait")
        if rng.random() < 0.2:
            it.ctl("cancel")
        status = waiting.wait().status
        assert status in (DONE, REFUSED)
        size = to if status == DONE else size
        done = last(it)
        assert status == REFUSED or (done["ahead"] > 0 and done["bytes"] <= in_window(kinds, 500)), done
    return size


@pytest.mark.parametrize("seed", range(5))
def test_random_resizes_of_mixed_kinds(space, seed):
    rng = random.Random(seed)
    kinds = some_kinds(rng)
    it = pool(space, "n=500", "nap=200", kinds=kinds, start=rng.randint(1, 4))
    it.stop(ranks=go_at_random(it, rng, kinds, 10, range(1, 5)))


@joining.needed
def test_random_resizes_by_processes_that_come_and_go(space):
    rng = random.Random(9)
    it = by_join(space, "n=500", "nap=200")
    it.stop(ranks=go_at_random(it, rng, ALL, 10, range(1, 5)))


def by_spawn(space, *options):
    return by_join(space, options=joining.SPAWN + options)


@joining.needed
def test_spawned_in_the_window(space):
    """What they get moves there, too; where nobody joins it comes ahead."""
    it = by_spawn(space)
    for size, ahead in ((4, False), (2, True), (3, False), (1, True)):
        done = resized(it, size)
        assert (done.get("ahead", 0) > 0) == ahead and (done["bytes"] <= in_window(ALL)) == ahead, done
    it.stop(ranks=1, windows=4)


@joining.needed
@pytest.mark.parametrize("options", [joining.ASYNC, joining.ASYNC + joining.SINGLE], ids=["all", "single"])
def test_spawned_before_the_window(space, options):
    it = by_spawn(space, *options)
    for size in (4, 2, 3, 1):
        comes_ahead(it, (size,))
    it.stop(ranks=1, windows=4)


# ---- It is not wanted, or of no use


def test_all_moves_in_the_window(space):
    it = pool(space, options=("--no-ahead-data",))
    for size in (4, 1, 2):
        done = resized(it, size)
        assert "ahead" not in done and done["bytes"] > in_window(ALL), done
    it.stop(ranks=2, windows=3)


@pytest.mark.parametrize("before, ahead", [("r", True), ("e", False), ("p", False)])
def test_items_behind_what_is_dealt_out_anew(space, before, ahead):
    """Their function may look at it."""
    it = pool(space, kinds=before + "l")
    for size in (4, 2):
        done = resized(it, size)
        assert (done["bytes"] <= in_window(before)) == ahead and done["ahead"] > 0, done
    it.stop(ranks=2, windows=2)


class Held:
    """A resize from 3 to 4 whose data has come, while the ranks are still in an iteration before the window."""

    def __init__(self, space, *arguments, kinds=ALL):
        self.hold = Switch(space, "hold")
        still = StillKinds(space, f"hold={self.hold}", *arguments, start=3, kinds=kinds)
        self.it, self.waiting = still.it, still.begin()
        self.hold.on()
        job.wait_for((self.hold.path.parent / "hold.held").exists)
        still.still.off()
        self.it.wait_for_status(lambda status: status["adaptations"][-1]["state"] == "prepared")

    def committed(self):
        self.hold.off()
        assert self.waiting.wait().status == DONE
        return last(self.it)


@pytest.mark.parametrize("kinds", ["e", "p", ALL])
def test_other_cuts_in_between(space, kinds):
    """What came for the old ones is of no use."""
    recut = Switch(space, "recut")
    held = Held(space, f"recut={recut}", kinds=kinds)
    recut.on()
    done = held.committed()
    assert "ahead" not in done or done["bytes"] > in_window(kinds), done
    comes_ahead(held.it, (2,), kinds)
    held.it.stop(ranks=2, windows=2)


def test_another_visit_in_between(space):
    leave = Switch(space, "leave")
    held = Held(space, f"leave={leave}")
    leave.on()
    done = held.committed()
    assert "ahead" not in done and done["bytes"] > in_window(ALL), done
    held.it.stop(ranks=4, windows=1)


def test_called_off_when_it_has_come(space):
    held = Held(space)
    held.it.done("cancel")
    held.hold.off()
    assert held.waiting.wait().status == REFUSED
    for size in (2, 4):
        comes_ahead(held.it, (size,))
    held.it.stop(ranks=4, windows=2)


# ---- It is called off, or breaks off, while it moves


class StillKinds(Still):
    """A job in which data that goes ahead stands still, with these kinds."""

    def __init__(self, space, *arguments, make=pool, **how):
        super().__init__(space, *arguments, make=make, **how)

    def go_on(self):
        self.still.off()
        for size in (3, 2):
            comes_ahead(self.it, (size,))
        self.it.stop(ranks=2, windows=2)


@pytest.mark.parametrize("size", [4, 1])
def test_what_is_late_is_waited_for_in_the_window(space, size):
    still = StillKinds(space, limit=0.1)
    waiting = still.it.start_ctl("resize", str(size), "--wait")
    still.it.wait_for_status(lambda status: [one["state"] for one in status["adaptations"]] == ["window"])
    still.still.off()
    assert waiting.wait().status == DONE
    assert last(still.it)["bytes"] <= in_window(ALL), last(still.it)
    still.it.stop(ranks=size, windows=1)


@pytest.mark.parametrize("size", [4, 1])
def test_cancelled_while_it_moves(space, size):
    still = StillKinds(space)
    waiting = still.begin(size)
    still.it.done("cancel")
    assert waiting.wait().status == REFUSED
    still.go_on()


@joining.needed
def test_a_joiner_dies_while_it_moves(space):
    still = StillKinds(space, make=by_join)
    waiting = still.begin()
    os.kill(still.it.pids("joining")[0], signal.SIGKILL)
    assert waiting.wait().status == REFUSED
    still.go_on()


@joining.needed
def test_a_rank_dies_while_it_moves(space):
    still = StillKinds(space, make=by_join)
    still.begin()
    os.kill(still.it.rank_pid(1), signal.SIGKILL)
    assert still.it.it.wait().status != 0
