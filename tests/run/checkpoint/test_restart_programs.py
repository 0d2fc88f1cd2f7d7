"""Every described program, checkpoint on N ranks, restart on M: the end is that of a run that nothing interrupts.

What asks for the checkpoint is a driver, in an iteration that is given, so that none of it depends on how fast anything is
(tests/programs/driver_asks.c)."""

import re

import h5py
import job
import joining
import numpy
import pytest

ASKS = job.test_program("driver_asks")
CANNON, GAUSS = job.example("cannon"), job.example("gauss")


class Case:
    """A program of `steps` iterations, all in all, and its arguments; `result` is a file that it writes."""

    def __init__(self, name, path, *arguments, steps, pairs=((2, 3), (3, 1)), result=None):
        self.name, self.path, self.arguments, self.steps, self.pairs, self.result = name, path, arguments, steps, pairs, result

    def command(self):
        return [self.path, *self.arguments]


def ledger(dist, pairs):
    return Case("ledger", job.program("ledger"), "elements=97", "iterations=30", f"dist={dist}", "work=0", steps=30, pairs=pairs)


CASES = {
    "ledger-block": ledger("block", [(3, 1), (1, 4)]),
    "ledger-cyclic": ledger("cyclic", [(2, 3)]),
    "ledger-block-cyclic": ledger("block-cyclic", [(4, 3)]),
    "stencil": Case("stencil", job.program("stencil"), "9", "30", steps=30, pairs=[(4, 1), (1, 3), (2, 2)]),
    "particles": Case("particles", job.program("particles"), "500", "30", steps=30, pairs=[(3, 1), (1, 4)]),
    "particles-few": Case("particles", job.program("particles"), "1", "30", steps=30, pairs=[(2, 4)]),
    "mesh": Case("mesh", job.test_program("described_mesh"), "100", "30", steps=30, pairs=[(3, 1), (1, 4), (4, 2)]),
    "mesh-empty": Case("mesh", job.test_program("described_mesh"), "0", "30", steps=30, pairs=[(2, 3)]),
    "kinds": Case("kinds", job.test_program("many_kinds"), "17", "30", steps=30, pairs=[(4, 1), (1, 3), (3, 4)]),
    "kinds-few": Case("kinds", job.test_program("many_kinds"), "1", "30", steps=30, pairs=[(3, 2)]),
    "kinds-empty": Case("kinds", job.test_program("many_kinds"), "0", "30", steps=30, pairs=[(2, 3)]),
    "saved": Case("saved", job.test_program("saved"), "nap=0", "turns=2", steps=80, pairs=[(4, 2)]),
    "cannon": Case("cannon", CANNON, "--random", "48", "C.npy", "--panel", "1", "--verify", steps=24, pairs=[(4, 4), (4, 1), (1, 4)],
                   result="C.npy"),
    "gauss": Case("gauss", GAUSS, "--random", "40", "--block", "2", "--output", "x.npy", steps=20, pairs=[(3, 1), (2, 4)],
                  result="x.npy"),
}


def words(text):
    """Without what the number of ranks and the resizes make another."""
    return [re.sub(r"\d+ (ranks|resizes)|(not )?balanced", "#", line) for line in text.splitlines() if not line.startswith("start: ")]


def outcome(space, case, result):
    """Two ends are the same when these are."""
    assert result.status == 0 and result.err == "", result
    if not case.result:
        return words(result.out)
    numbers = numpy.load(space.directory / case.result)
    (space.directory / case.result).unlink()
    return numbers


def require_equal(case, one, other, sizes):
    """To the last bit; where the number of ranks changes the order of sums, as near as those are."""
    if case.result and sizes[0] != sizes[1]:
        assert numpy.allclose(one, other, rtol=0, atol=1e-12)
    else:
        assert numpy.array_equal(one, other)


def run(space, case, *options, ranks, driver=None, **how):
    command = [*options, *(["--driver", ASKS] if driver else []), *case.command()]
    return space.epop(*command, ranks=ranks, env=driver, **how)


def saved_in_the_middle(space, case, ranks):
    """Runs it with a checkpoint behind a good third; what came of it, and the file."""
    directory = space.directory / "saved"
    asks = {"EPOP_TEST_AT": case.steps // 3, "EPOP_TEST_FILE": directory / "*-0001.h5"}
    result = run(space, case, "--checkpoint-dir", directory, ranks=ranks, driver=asks)
    end = outcome(space, case, result)
    (file,) = directory.iterdir()
    return end, file


PAIRS = [pytest.param(case, pair, id=f"{name}-{pair[0]}-{pair[1]}") for name, case in CASES.items() for pair in case.pairs]


@pytest.mark.parametrize("case, pair", PAIRS)
def test_restart(space, case, pair):
    whole, file = saved_in_the_middle(space, case, pair[0])
    require_equal(case, whole, outcome(space, case, run(space, case, ranks=pair[0])), (pair[0], pair[0]))
    again = outcome(space, case, run(space, case, "--restart", file, ranks=pair[1]))
    require_equal(case, whole, again, pair)


def test_names_of_members(space):
    """Of values a compound, of sparse rows its arrays, for those who read the file."""
    _, file = saved_in_the_middle(space, CASES["mesh"], 3)
    with h5py.File(file) as it:
        values = it.attrs["values/parameters"]
        assert values.dtype == numpy.dtype([("rows", "<i8"), ("iterations", "<i8"), ("step", "<i8")]), values
        assert values["rows"] == 100 and values["iterations"] == 30 and values["step"] == it.attrs["iteration"] >= 10
        rows = it["A"]
        assert set(rows) == {"starts", "column", "value"} and len(rows["column"]) == len(rows["value"]) == rows["starts"][-1]
        assert rows["column"].dtype == "<i4" and rows["value"].dtype == "<f8"


GROWING = ["ledger-cyclic", "stencil", "particles", "mesh", "kinds", "gauss"]


def grown(space, case, *options, ranks):
    """Saved on two ranks, restarted on one, which then become three."""
    whole, file = saved_in_the_middle(space, case, 2)
    asks = {"EPOP_TEST_AT": case.steps // 4, "EPOP_TEST_SIZE": 3}
    again = outcome(space, case, run(space, case, *options, "--restart", file, ranks=ranks, driver=asks))
    require_equal(case, whole, again, (2, 3))


@pytest.mark.parametrize("name", GROWING)
def test_a_restart_then_grows(space, name):
    grown(space, CASES[name], "--start", "1", ranks=3)


@joining.needed
@pytest.mark.parametrize("name", GROWING)
def test_a_restart_then_starts_more(space, name):
    grown(space, CASES[name], *joining.JOIN, ranks=1)
