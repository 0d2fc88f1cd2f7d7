"""World sizes: what a program or a phase does not accept is rounded down, refused, or dealt with before the phase."""

import re

import job
import pytest
from scenario import REFUSED, USAGE, Scenario, Switch, only_line


def sizes(space, rule, *arguments, **how):
    return Scenario(space, *arguments, program="scenario_sizes", env={"EPOP_TEST_SIZES": rule}, **how)


def in_first_phase(space, rule, *arguments, **how):
    """A job that stays in its first phase until the switch is off."""
    first = Switch(space, "first").on()
    return sizes(space, rule, f"first-while={first}", *arguments, **how), first


# ---- The start


def test_a_launch_that_does_not_fit(space):
    result = start(space, "squares", ranks=5)
    assert result.err == "epop: note: scenario does not accept 5 ranks; 4 start and 1 stand by\n", result
    assert "end: 4 ranks, 0 windows" in result.out


def start(space, rule, *options, ranks):
    """Starts, and stops as soon as the first rank is there."""
    it = space.start_epop(*options, job.test_program("scenario_sizes"), ranks=ranks, env={"EPOP_TEST_SIZES": rule})
    match, _ = it.wait_for_line(r"init new rank 0 of .* in process (\d+)")
    assert space.epopctl("stop", f"scenario-{match[1]}").status == 0
    result = it.wait()
    assert result.status == 0, result
    return result


def test_start(space):
    result = start(space, "any", "--start", "2", ranks=3)
    assert result.err == "" and "end: 2 ranks" in result.out, result


def test_start_at_a_size_that_is_not_accepted(space):
    result = start(space, "squares", "--start", "3", ranks=3)
    assert result.err == "epop: note: scenario does not accept 3 ranks; 1 start and 2 stand by\n", result
    assert "end: 1 ranks" in result.out


def test_quiet(space):
    assert start(space, "squares", "--quiet", ranks=2).err == ""


def test_start_above_the_launch(space):
    result = space.epop("--start", "3", job.test_program("scenario_sizes"), ranks=2)
    assert result.status == USAGE, result
    only_line(result.err, "--start 3 needs as many processes, but the launch has 2; raise mpiexec's -n")


def test_a_launch_that_is_too_small(space):
    result = space.epop(job.test_program("scenario_sizes"), ranks=1, env={"EPOP_TEST_SIZES": "from two on"})
    assert result.status == USAGE, result
    only_line(result.err, "scenario accepts neither 1 ranks nor any smaller number; raise mpiexec's -n")


# ---- Requests


def test_rounded_down(space):
    it = sizes(space, "squares", start=4, ranks=5)
    assert it.refused("resize", "5") == \
        "the program does not accept 5 ranks; the next smaller size, 4, is the present one"
    assert it.resize(3) == "done: 4 -> 1; rounded down from 3 to 1, the next size that the program accepts"
    assert it.resize(5) == "done: 1 -> 4; rounded down from 5 to 4, the next size that the program accepts"
    it.stop(ranks=4, windows=2)


def test_nothing_to_round_to(space):
    it = sizes(space, "from two on", start=3, ranks=3)
    assert it.refused("resize", "1", "--wait") == "the program accepts neither 1 ranks nor any smaller number"
    it.resize(2)
    it.stop(ranks=2, windows=1)


def test_a_function_of_the_program(space):
    it = sizes(space, "function", start=1, ranks=4)
    assert it.refused("resize", "2").endswith("the next smaller size, 1, is the present one")
    assert it.resize(4) == "done: 1 -> 3; rounded down from 4 to 3, the next size that the program accepts"
    it.stop(ranks=3, windows=1)


# ---- A phase that is entered at a size it does not accept


def test_a_phase_shrinks_before_its_first_iteration(space):
    it, first = in_first_phase(space, "power of two second", start=3, ranks=4)
    it.resize(1)
    it.resize(3)
    first.off()
    it.it.wait_for_line("second phase with 2 ranks")
    assert it.status()["adaptations"][-1]["by"] == "phase"
    result = it.stop(ranks=2, windows=3)
    assert re.search(r"window: 3 -> 2, phase 1, iteration 0\n", result.out), result


def test_a_phase_that_accepts_the_size(space):
    """The control case of the above."""
    it, first = in_first_phase(space, "power of two second", start=2, ranks=2)
    first.off()
    it.it.wait_for_line("second phase with 2 ranks")
    it.stop(ranks=2, windows=0)


@pytest.mark.parametrize("rule,reason", [
    ("rigid even second", "element 2 'second' (RP), iteration 0, rank .* of 3: it does not accept 3 ranks, and a rigid "
                          "phase cannot be resized"),
    ("four second", "element 2 'second' (EP), iteration 0, rank .* of 3: it does not accept 3 ranks, and no smaller "
                    "number either"),
])
def test_a_phase_that_cannot_go_on(space, rule, reason):
    it, first = in_first_phase(space, rule, start=3, ranks=3)
    first.off()
    result = it.it.wait()
    assert result.status == REFUSED, result
    assert re.search(re.escape(reason).replace(r"\.\*", ".*"), only_line(result.err, "scenario: ")), result


def test_a_rigid_phase_at_an_accepted_size(space):
    """The control case of the above; a rigid phase without an end cannot be stopped, so it is resized and left alone."""
    it, first = in_first_phase(space, "rigid even second", start=3, ranks=3)
    it.resize(2)
    first.off()
    it.it.wait_for_line("second phase with 2 ranks")
    it.it.kill()


def test_a_resize_that_comes_too_late_for_its_phase(space):
    """Asked for in the first phase; when the joining rank is ready the second one runs, which does not accept it."""
    slow = Switch(space, "slow").on()
    it, first = in_first_phase(space, "power of two second", f"join-waits-while={slow}", start=2, ranks=3)
    waiting = it.start_ctl("resize", "3", "--wait")
    it.it.wait_for_line("init joining")
    first.off()
    it.it.wait_for_line("second phase")
    slow.off()
    result = waiting.wait()
    assert result.status == REFUSED and "element 2 'second', which the program had reached by then, does not accept " \
                                        "3 ranks" in result.err, result
    assert it.resize(1) == "done: 2 -> 1"
    it.stop(ranks=1, windows=1)


def test_a_phase_that_shrinks_calls_off_what_was_prepared(space):
    slow = Switch(space, "slow").on()
    it, first = in_first_phase(space, "pair second", f"join-waits-while={slow}", start=3, ranks=4)
    waiting = it.start_ctl("resize", "4", "--wait")
    it.it.wait_for_line("init joining")
    first.off()
    result = waiting.wait()
    assert result.status == REFUSED and "element 2 'second' does not accept 3 ranks and asked for 2 first" in result.err
    it.it.wait_for_line("second phase with 2 ranks")
    slow.off()
    it.stop(ranks=2, windows=1)
