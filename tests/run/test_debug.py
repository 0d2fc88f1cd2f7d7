"""--driver debug: who breaks the contract is named in one line; who keeps to it, is not disturbed."""

import re

import job
import pytest
from debugging import assert_clean, assert_named, run
from scenario import Scenario

SAME = "it must be the same on every rank"


# ---- Ranks that go different ways


ANSWERS = {
    "loop": ["wrong_answers: element 1 'work' (EP), iteration 3, rank 1 of 3: its loop condition answers stop; "
             "but ranks 0 and 2: its loop condition answers go on"],
    "rigid": ["element 3 'report' (RP), iteration 1, rank 1 of 3: its loop condition answers stop; but ranks 0 and 2: "],
    "branch": ["element 2 'again' (BRANCH), iteration 0, rank 1 of 3: its branch goes to element 3 'report'; "
               "but ranks 0 and 2: its branch goes to element 1 'work'"],
}


@pytest.mark.parametrize("way", ANSWERS)
def test_answers_that_differ(space, way):
    assert_named(run(space, "wrong_answers", way), *ANSWERS[way], SAME)


def test_an_element_more(space):
    result = run(space, "wrong_answers", env={"EPOP_TEST_FAULT": "element"})
    assert_named(result, "wrong_answers: element 1 'work' (EP), iteration 0, rank 1 of 3: it enters 'more' (RP) of 5 "
                 "elements; but ranks 0 and 2: it enters 'work' (EP) of 4 elements", SAME)


def test_answers_that_do_not_differ(space):
    assert_clean(run(space, "wrong_answers", "right"))


def test_two_ranks(space):
    """Nobody is in the majority: rank 0 is taken at its word."""
    assert_named(run(space, "wrong_answers", "loop", ranks=2), "rank 1 of 2: its loop condition answers stop; but rank 0: ")


def test_a_rank_that_does_not_come(space):
    """Rank 1 hangs in its own way only after it has said what it does; the others are told of in time."""
    result = run(space, "scenario_breach", "way=end")
    assert_named(result, "scenario: element 1 'first' (EP), iteration 9, rank 1 of 3: its loop condition answers stop; "
                 "but ranks 0 and 2: its loop condition answers go on", SAME)


# ---- Ranks that cannot wait for each other


def test_ranks_that_run_apart(space):
    """Rank 0 sends in its iterations what rank 1 needs in earlier ones: nothing may wait for all ranks for good."""
    assert_clean(run(space, "apart", "3", ranks=2))


def test_ranks_that_run_apart_and_differ(space):
    assert_named(run(space, "apart", "3", "wrong", ranks=2), "rank 1 of 2: its loop condition answers stop", SAME)


# ---- What no block may change


POINTERS = {
    "data": ["wrong_pointer: element 1 'work' (RP), iteration 3, rank 1 of 2: its exec block replaced the data pointer ("],
    "element": ["element 1 'other' (RP), iteration 4, rank 1 of 2: its loop condition changed the program's array"],
}


@pytest.mark.parametrize("way", POINTERS)
def test_what_a_block_may_not_change(space, way):
    assert_named(run(space, "wrong_pointer", way, ranks=2), *POINTERS[way])


def test_a_pointer_that_is_left_alone(space):
    assert_clean(run(space, "wrong_pointer", "right", ranks=2))


# ---- --warn


def test_warn_goes_on(space):
    result = run(space, "wrong_pointer", "data", ranks=2, options=["--warn"])
    assert result.status == 0, result
    lines = result.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("epop: warning: wrong_pointer: element 1 'work' (RP), iteration 3, "), result


def test_warn_of_answers(space):
    """They are not compared any more, and the job ends as it would without the driver: here ranks do not talk."""
    it = Scenario(space, "way=loop", program="scenario_breach", start=2, ranks=2,
                  options=["--driver", "debug", "--warn"])
    it.it.wait_for_line("epop: warning: scenario: element 1 'first' ", stream="err")
    it.it.wait_for_line("rank 1 did ten")
    it.start_ctl("stop")
    result = it.it.wait(20)
    assert result.err.count("warning: ") == 1 and "the ranks went different ways" in result.err, result


# ---- A program that runs alone


def test_alone(space):
    assert_clean(space.epop("--driver", "debug", job.program("serial"), "2"))


# ---- Programs that are right


@pytest.mark.parametrize("arguments", [["rigid", "1000"], ["double_phase", "1", "3", "2"], ["branches"]],
                         ids=lambda a: a[0])
def test_programs_run_clean(space, arguments):
    result = space.epop("--driver", "debug", job.program(arguments[0]), *arguments[1:], ranks=3)
    assert_clean(result)
    assert re.search(r"right|about|root", result.out), result


def test_resizes_run_clean(space):
    it = Scenario(space, start=2, ranks=4, options=["--driver", "debug"])
    for size in (4, 1, 3, 2, 4):
        it.resize(size)
    it.stop(ranks=4, windows=5)


def test_phases_that_resize_themselves_run_clean(space):
    it = Scenario(space, "rounds=60", "skew=500", "every=10", "max=3", program="scenario_phases", start=2, ranks=3,
                  options=["--driver", "debug"])
    it.finish(iterations=60)
