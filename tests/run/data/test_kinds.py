"""Described data that is not dealt out evenly: particles, sparse rows by cuts, and what a partition owns."""

import re

import job
import joining
import pytest

PARTICLES = job.program("particles")
MESH = job.test_program("described_mesh")
ENDLESS = "100000000"  # iterations, until it is stopped


def resized(space, *command, sizes, options=()):
    """Starts on one rank of three, goes through the sizes, and stops."""
    running = space.start_epop("--start", "1", *options, *command, ranks=3, limit=60)
    space.wait_until_all_are_here()
    return gone_through(space, running, sizes)


def gone_through(space, running, sizes):
    for size in sizes:
        space.resize(size)
    assert space.epopctl("stop").status == 0
    result = running.wait()
    assert result.status == 0 and result.err == "", result
    return result.out


@pytest.mark.parametrize("count", ["2", "5000"])
def test_particles(space, count):
    out = resized(space, PARTICLES, count, ENDLESS, sizes=(3, 2, 1, 2))
    assert re.fullmatch(rf"particles: {count} of {count} right after \d+ iterations on 2 ranks\n", out), out


@pytest.mark.parametrize("rows", ["0", "1000"])
def test_sparse_rows_and_a_partition(space, rows):
    assert resized(space, MESH, rows, ENDLESS, sizes=(3, 1, 2)) == "mesh: right on 2 ranks, balanced\n"


@pytest.mark.parametrize("command", [(PARTICLES, "500", ENDLESS), (MESH, "100", ENDLESS)], ids=["particles", "mesh"])
def test_under_the_debug_driver(space, command):
    assert " right " in resized(space, *command, sizes=(3, 2), options=("--driver", "debug"))


@joining.needed
@pytest.mark.parametrize("command", [(PARTICLES, "500", ENDLESS), (MESH, "100", ENDLESS)], ids=["particles", "mesh"])
def test_with_processes_that_join(space, command):
    running = space.start_epop(*joining.JOIN, "--driver", "debug", *command, ranks=1, limit=60)
    space.wait_until_running()
    assert " right " in gone_through(space, running, (3, 2, 1, 2))


def test_what_is_constant_arrives_ahead_of_the_window_or_in_it(space):
    """Rows, what lies by cuts or on a partition, and a plain vector move ahead, and blocks with ghosts in the window."""
    running = space.start_epop("--start", "1", MESH, "1000", ENDLESS, "constant", ranks=4, limit=60)
    space.wait_until_all_are_here()
    for size in (3, 4, 1, 2):
        space.resize(size)
        done = space.status()["adaptations"][-1]
        assert done["ahead"] > 8 * 1000 and 0 < done["bytes"] <= 8 * (1000 + 2 * 4), done
    assert space.epopctl("stop").status == 0
    result = running.wait()
    assert (result.status, result.err, result.out) == (0, "", "mesh: right on 2 ranks, balanced\n"), result
