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
    run = space.start_slowly("--start", "1", "branches", "1000", ranks=2)
    space.wait_until_running(run)
    for size in ("2", "1", "2"):
        space.resize(size)
    space.go_on()
    result = run.wait()
    assert result.status == 0 and result.out.startswith(BRANCHES), result


# ---- Without memory

SMALL = {"serial": ["2"], "rigid": ["100"], "branches": ["10"], "double_phase": ["2", "1", "0"], "elastic_mpi": ["3"],
         "heat": ["10", "3"], "ledger": ["elements=10", "iterations=2", "work=0"], "synthetic": ["phase=a", "seconds=0.01"]}


def short_of_memory(space, call, *command, ranks=None):
    """The run in which that allocation of OBJECT fails, and all after it there: one line, or nothing of it."""
    env = {"LD_PRELOAD": job.test_program("preload_memory"), "EPOP_TEST_MEMORY": call}
    result = space.epop("--quiet", *command, ranks=ranks, env=env)
    lines = [line for line in result.err.splitlines() if line.startswith("epop: ")]
    assert "SIG" not in result.err and len(lines) == (0 if result.status == 0 else 1), result
    return result.status == 0


def fail_each(space, of, *command, **how):
    """Lets one allocation after the other be the first that fails, until there are no more."""
    count = 0
    while not short_of_memory(space, f"{of}:{count + 1}", *command, **how):
        count += 1
        assert count < 40
    assert count > 0, "nothing was allocated there"


@pytest.mark.parametrize("name", [*sorted(SMALL), "amr", "cannon", "gauss"])
def test_no_memory_for_the_program(space, name):
    fail_each(space, "libepop.so", "--driver", "check", name)


def test_an_element_that_found_no_memory_is_missed(space):
    """Whatever there was memory for again after it: a program is whole, or refused."""
    whole, said = space.epop("--driver", "check", "rigid").out, []
    for number in range(1, 20):
        env = {"LD_PRELOAD": job.test_program("preload_memory"), "EPOP_TEST_MEMORY": f"libepop.so:{number}:1"}
        result = space.epop("--driver", "check", "rigid", env=env)
        if result.status == 0:
            assert result.out == whole and result.err == "", result
            break
        assert result.status == 2 and result.err.count("\n") == 1, result
        said.append(result.err)
    assert any("program 'rigid': an element could not be added: out of memory" in text for text in said), said


@pytest.mark.parametrize("name", sorted(SMALL))
def test_no_memory_in_the_program(space, name):
    fail_each(space, f"programs/{name}.so", name, *SMALL[name], ranks=None if name == "serial" else 1)


def test_no_memory_in_an_elastic_executable(space):
    """It ends itself, with a line of its own."""
    env = {"LD_PRELOAD": job.test_program("preload_memory")}
    for call, ends_well in [(1, False), (2, True)]:
        command = [job.MPIEXEC, "-n", "1", job.BUILD / "plain/heat_adapt", "10", "5"]
        result = space.start(command, env={**env, "EPOP_TEST_MEMORY": f"heat_adapt:{call}"}).wait()
        assert (result.status == 0) == ends_well and "SIG" not in result.err, result
        assert ("heat_adapt: out of memory" in result.err) != ends_well, result
