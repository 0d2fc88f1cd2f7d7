"""Redistribution between the elastic MPI calls: executables that move sparse rows by the library, up and down."""

import executables as adapt
import joining
import pytest

# Twenty times up, twenty times down.
SIZES = (4, 1, 3, 2) * 10


@pytest.fixture(scope="module")
def csr(tmp_path_factory):
    """Linked with -lepop_mpi alone, which brings libepop along."""
    return adapt.compile_c(adapt.source("csr_resize"), tmp_path_factory.mktemp("csr") / "csr", *adapt.LINKED)


def go_through(space, csr, ranks, sizes):
    end = space.directory / "end"
    running = adapt.start(space, csr, end, ranks=ranks)
    for size in sizes:
        space.resize(size)
        made = space.status()
        assert made["size"] == size and made["adaptations"][-1]["bytes"] > 0, made
    end.touch()
    result = running.wait()
    assert result.status == 0 and result.err == "", result
    assert result.out == f"right at the end, {sizes[-1]} processes, {len(sizes)} adaptations\n", result


@joining.needed
def test_rows_move_up_and_down(space, csr):
    go_through(space, csr, 2, SIZES)


def test_rows_move_where_processes_can_only_leave(space, csr):
    go_through(space, csr, 4, (3, 2, 1))


def test_linked_with_both_libraries(space):
    binary = adapt.compile_c(adapt.source("csr_resize"), space.directory / "csr", *adapt.LINKED, "-lepop")
    go_through(space, binary, 2, (1,))
