"""bench/papers.py measures: one item of a paper, in seconds, of which nothing is kept."""

import sys

import job
import joining
import pytest

PAPERS = job.ROOT / "bench/papers.py"


def papers(space, *arguments):
    return space.start([sys.executable, "-B", PAPERS, *arguments], limit=300).wait()


@joining.needed
def test_spawning_quickly(space):
    before = {path: path.read_bytes() for path in (job.ROOT / "bench/results").rglob("*.jsonl")}
    result = papers(space, "--quick", "--only", "table1,table2", "martin2023")
    assert result.status == 0, result
    for text in ("== martin2023: sync\n", "\n### Growing while ranks stand still\n", "| 10 -> 20  | 1.29 ", " | 2 -> 4 | ", "| merge is the fastest way "):
        assert text in result.out, (text, result)
    assert "Not measured" not in result.out and "strong" not in result.out
    assert {path: path.read_bytes() for path in (job.ROOT / "bench/results").rglob("*.jsonl")} == before


def test_schedules_quickly(space):
    """In virtual time, so with any MPI."""
    result = papers(space, "--quick", "--only", "balance,balancing", "compres2017")
    assert result.status == 0, result
    for text in ("| 14.9   | 1     | balancing ", "| 10.7   | 0   | 16    | 240 ", "| 14.9, Phase 2: there is no balancing ", "| 10.8: three jobs get them "):
        assert text in result.out, (text, result)
    assert "not measured" not in result.out


@pytest.mark.parametrize("arguments, said", [
    (["--only", "feathers", "martin2023"], "bench/papers.py: martin2023 has no item 'feathers', but table1, "),
    (["hens"], "argument PAPER: invalid choice: 'hens'"), (["--check"], "--check needs --kept")])
def test_wrong_words(space, arguments, said):
    result = papers(space, *arguments)
    assert result.status != 0 and said in result.err and result.out == "", result


def test_what_there_is(space):
    result = papers(space, "--list")
    assert result.status == 0 and "martin2023: I. Martín-Álvarez" in result.out and "    table1       Table 1: Growing while ranks stand still\n" in result.out, result
