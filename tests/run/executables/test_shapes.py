"""1,000 resizes of programs with loops of random shapes: tests/shapes.py, `make soak` for other seeds and more."""

import concurrent.futures

import pytest

import job
import joining
import shapes

EACH, SHAPES, PARTS = 10, 100, 10
AT_ONCE = 2 # they wait as much as they compute


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    return shapes.build(tmp_path_factory.mktemp("shapes"))


def run_alone(directory, binary, seed):
    space = job.Space(directory)
    try:
        shapes.run(space, binary, seed, EACH)
    finally:
        space.close()


@joining.needed
@pytest.mark.parametrize("part", range(PARTS))
def test_thousand_resizes(tmp_path, binary, part):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = [pool.submit(run_alone, tmp_path, binary, seed) for seed in range(1 + part, 1 + SHAPES, PARTS)]
        for it in jobs:
            it.result()


@joining.needed
def test_a_shape_that_is_taken_for_another(space, binary):
    """The control case: it is in the window that they are apart, or before, where one cannot go on without the others."""
    with pytest.raises(shapes.Failed, match="(?s)seed 2:.*(WRONG: in the window|do not probe equally often)"):
        shapes.run(space, binary, 2, EACH, env={"EPOP_FIRST_PROBE": "repeats"})
