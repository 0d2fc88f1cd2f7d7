"""<epop/epop.hpp>: containers move in windows and through checkpoints, and an exception is the failure of its block. The program looks
at every element in every iteration itself."""

import os

import job
import joining
import pytest

PROGRAM = job.test_program("cxx_data")
WAYS = ["places", "copies"]


def run(space, way, *arguments, options=("--start", "2"), ranks=4):
    return space.epop(*options, PROGRAM, *arguments, ranks=ranks, limit=90, env={"CXX_DATA": way})


def right(result, ranks, windows):
    assert result.status == 0 and result.err == "" and result.out == f"right on {ranks} ranks after {windows} windows\n", result


@pytest.mark.parametrize("driver", ["run", "debug"])
@pytest.mark.parametrize("way", WAYS)
def test_ten_resizes(space, way, driver):
    """Nothing is left behind, either: the debug driver would say so."""
    right(run(space, way, "4,1,3,2,4,3,1,2,4,2", options=("--start", "2", "--driver", driver)), 2, 10)


@joining.needed
@pytest.mark.parametrize("way", WAYS)
def test_processes_that_come_and_go(space, way):
    right(run(space, way, "3,1,2", options=("--backend", "join"), ranks=1), 2, 3)


@pytest.mark.parametrize("options", [(), ("--no-ahead-data",)], ids=["ahead", "window"])
@pytest.mark.parametrize("driver", ["run", "debug"])
def test_constant_vectors_move_ahead(space, driver, options):
    """There is no other constant data in it, and what is wrong would end the job."""
    running = space.start_epop("--start", "2", "--driver", driver, *options, PROGRAM, "", "1000000000", ranks=4, env={"CXX_DATA": "copies"})
    space.wait_until_running(running)
    for size in (4, 1, 3, 2, 4, 2):
        space.resize(size)
        done = space.status()["adaptations"][-1]
        assert (done.get("ahead", 0) > 0) == (not options), done
    result = space.stop(running)
    assert (result.status, result.out, result.err) == (0, "", ""), result


@pytest.mark.parametrize("way", WAYS)
def test_a_checkpoint(space, way, tmp_path):
    """A run that is saved goes on with other numbers of ranks."""
    right(run(space, way, "", "300", options=("--checkpoint-dir", tmp_path), ranks=2), 2, 0)
    assert os.listdir(tmp_path)
    for ranks in 1, 4:
        right(run(space, way, "", "300", options=("--restart", tmp_path), ranks=ranks), ranks, 0)


def test_a_size_rule(space):
    assert "any size, weak-work scaling" in space.epop("--driver", "check", PROGRAM).out


FAILURES = {
    "init": ("epop: INIT: an exception on rank 0: no such mesh", "element 0 'init' (INIT)"),
    "exec": ("epop: work: an exception on rank 0: diverged", "its exec block returned "),
    "more": ("epop: work: an exception on rank 0: one that is no std::exception", "its loop_condition block called exit(1)"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("block", FAILURES)
def test_an_exception_ends_the_job_as_a_failure_of_its_block(space, way, block):
    result = run(space, way, "", "10", f"throw={block}", ranks=2)
    assert result.status == 1 and result.out == "" and all(words in result.err for words in FAILURES[block]), result


def test_an_exception_in_a_window(space):
    result = run(space, "copies", "3", "10", "throw=rebuild")
    assert result.status == 1 and "epop: the rebuild block: an exception on rank 0: out of memory" in result.err, result
    assert "its adapt block returned " in result.err, result
