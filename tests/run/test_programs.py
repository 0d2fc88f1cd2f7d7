"""The small programs: their results, and that the elastic one among them keeps its result when it is resized."""

import job
import pytest


@pytest.mark.parametrize("number,root", [("2", "1.4142135623730"), ("1e10", "100000 "), ("0.25", "0.5 ")])
def test_serial(space, number, root):
    assert f"is {root}" in space.epop("serial", number).out


def test_serial_refuses_what_has_no_root(space):
    result = space.epop("serial", "-4")
    assert result.status == 1 and "init block returned 1" in result.err, result


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_rigid(space, ranks):
    result = space.epop("rigid", "100000", ranks=ranks)
    assert result.status == 0 and result.out.startswith("pi is about 3.14159265"), result


BRANCHES = "root 0.5000000000 ("


@pytest.mark.parametrize("ranks", [1, 2])
def test_branches(space, ranks):
    """Both ways of the if are taken, and the number of ranks does not matter."""
    result = space.epop("branches", "1000", ranks=ranks)
    assert result.status == 0 and result.out.startswith(BRANCHES), result
    newton, bisections = [int(word) for word in result.out.replace("(", "").split() if word.isdigit()]
    assert newton > 0 and bisections > 0


def test_branches_resized(space):
    run = space.start_epop("--start", "1", "branches", "20000000", ranks=2)
    while space.epopctl("status").status == 3 and run.running():
        pass  # its control plane is not up yet
    for size in ("2", "1", "2"):
        result = space.epopctl("resize", size, "--wait")
        assert result.status == 0, result
    result = run.wait()
    assert result.status == 0 and result.out.startswith(BRANCHES), result
