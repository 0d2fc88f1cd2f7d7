"""Mistakes in a describe block are found before anything moves: of form behind INIT, of the data when the first elastic phase begins."""

import re

import job
import joining
import pytest

MANY = 10 ** 9
MISTAKES = job.test_program("mistakes")


def run(space, *arguments, ranks=3):
    return space.epop(MISTAKES, *arguments, ranks=ranks, limit=90)


FORM = {"twice": "described 'shape': the name is described twice",
        "flags": "described 'u': the flags are EPOP_CONSTANT and EPOP_SCRATCH, and no others",
        "null": "described 'k': the address of its pointer is NULL",
        "slash": "described 'a/b': a name has no '/' and no control characters",
        "empty": "described 'shape': values of 0 bytes",
        "members": "described 'shape': its members: no name at '*steps'",
        "sizes": "described 'shape': its members: they take 16 bytes, and the values have 24",
        "unlisted": "described 'k': its members are named, but no entry before has this name",
        "memberless": "described 'u': its members: values and sparse rows have members, other kinds have none"}
DATA = {"negative": "rank 0: described 'u': its distribution has a negative count or a block below 1",
        "count": "described array 'u': the count is 100 on rank 0 and 101 on rank 1; it must be the same on all",
        "type": "described array 'u': the size of the datatype is 8 on rank 0 and 4 on rank 1; it must be the same on all",
        "order": "entry 2 is array 'k' on rank 0 and array 'u' on rank 1; all ranks describe the same in the same order",
        "static": "rank 0: described array 'u' lies in static memory; it has to come from malloc(), as a resize frees it",
        "stack": "rank 0: described array 'u' lies in the stack's memory; it has to come from malloc(), as a resize frees it"}


def refused(result, element, line):
    """One line, and nothing was computed."""
    assert result.status == 1 and "step" not in result.out, result
    said, = [text for text in result.err.splitlines() if text.startswith("epop: ")]
    assert f"mistakes: element {element}, iteration 0, rank " in said and said.endswith(line), result


@pytest.mark.parametrize("late", [(), ("late",)], ids=["in INIT", "later"])
@pytest.mark.parametrize("fault", FORM)
def test_form(space, fault, late):
    """Whether or not the data is there."""
    refused(run(space, f"fault={fault}", *late), "0 'start' (INIT)", f"rank 0: {FORM[fault]}")


@pytest.mark.parametrize("fault", DATA)
def test_data(space, fault):
    refused(run(space, f"fault={fault}"), "2 'work' (EP)", DATA[fault])


@pytest.mark.parametrize("fault", DATA)
def test_check_looks_behind_init(space, fault):
    """No phase runs, not even the rigid one before."""
    refused(space.epop("--driver", "check", "--data", MISTAKES, f"fault={fault}", ranks=3), "0 'start' (INIT)", DATA[fault])


def test_check_with_a_hint(space):
    result = space.epop("--driver", "check", "--data", MISTAKES, "fault=short", ranks=2)
    assert result.status == 0 and "epop: note: rank 0: described array 'u' has 400 bytes by its description" in result.err, result


def test_one_rank(space):
    refused(run(space, "fault=negative", ranks=1), "2 'work' (EP)", DATA["negative"])


@pytest.mark.parametrize("fault,bytes_there", [("short", r"\d+"), ("missing", "0")])
def test_memory_that_is_too_short_is_a_hint(space, fault, bytes_there):
    """No more: who knows what malloc() has put behind."""
    result = run(space, f"fault={fault}", ranks=2)
    assert result.status == 0 and "step 2" in result.out, result
    assert re.search(rf"^epop: note: rank 0: described array 'u' has 400 bytes by its description, but its memory {bytes_there}$", result.err, flags=re.M), result


JOINING = {"count": "described array 'u': the count is 100 on rank 0 and 101 on a joining rank; it must be the same on all",
           "type": "described array 'u': the size of the datatype is 8 on rank 0 and 4 on a joining rank; it must be the same on all",
           "order": "entry 2 is array 'k' on rank 0 and array 'u' on a joining rank; all ranks describe the same in the same order",
           "twice": "a joining rank: described 'shape': the name is described twice",
           "negative": "a joining rank: described 'u': its distribution has a negative count or a block below 1"}


def refuse_and_go_on(space, fault, late=(), options=("--start", "2"), ranks=3):
    it = space.start_epop(*options, MISTAKES, f"fault={fault}", "joining", *late, f"steps={MANY}", ranks=ranks)
    space.wait_until_all_are_here()
    for size in (3, 3):
        result = space.epopctl("resize", str(size), "--wait")
        assert result.status == 1 and JOINING[fault] in result.err, result
    assert space.epopctl("resize", "1", "--wait").status == 0
    assert space.epopctl("stop").status == 0
    result = it.wait()
    assert result.status == 0, result
    assert [line for line in result.err.splitlines() if JOINING[fault] in line] == [f"epop: the resize is called off: {JOINING[fault]}"] * 2, result


@pytest.mark.parametrize("fault", JOINING)
def test_a_joining_rank(space, fault):
    """The resize is refused each time, and the job goes on."""
    refuse_and_go_on(space, fault)


def test_a_joining_rank_of_a_program_that_makes_its_data_later(space):
    refuse_and_go_on(space, "count", ("late",))


@pytest.mark.parametrize("fault, said", [("leak", 1), ("none", 0)])
def test_memory_of_init_that_stays(space, fault, said):
    """In a process that comes and goes, which the debug driver says once."""
    it = space.start_epop("--driver", "debug", "--backend", "pool", "--start", "1", MISTAKES, f"fault={fault}", "joining", f"steps={MANY}", ranks=2)
    space.wait_until_all_are_here()
    for size in (2, 1, 2, 1, 2, 1, 2):
        assert space.epopctl("resize", str(size), "--wait").status == 0
    assert space.epopctl("stop").status == 0
    result = it.wait()
    notes = [line for line in result.err.splitlines() if "note: this process has joined and left" in line]
    assert result.status == 0 and len(notes) == said, result
    assert all(re.search(r"has 10\d{5} bytes more than before; INIT had allocated 10\d{5}:", line) for line in notes), notes


@joining.needed
def test_a_rank_of_another_launch(space):
    refuse_and_go_on(space, "count", options=("--backend", "join"), ranks=2)


@pytest.mark.parametrize("late", [(), ("late",)], ids=["in INIT", "later"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_what_is_right_runs(space, late, ranks):
    """Also where there is nothing right in it before a phase has made it."""
    result = run(space, *late, ranks=ranks)
    assert result.status == 0 and result.err == "" and result.out == "step 0\nstep 1\nstep 2\n", result
