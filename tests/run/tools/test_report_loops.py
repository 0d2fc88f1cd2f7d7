"""The page of epop-report on the loops of an executable, in a real browser; its figures are compared in test_loops.py."""

import json

import pytest
from reports import SCHEMES, WIDTHS, check_accessible, check_charts, check_opens, check_tables, maker, needed

pytestmark = needed
CHARTS = ["loops", "calls"]


def site(offset, mpi):
    return {"place": f"/nowhere/<b>cg</b>+{offset:#x}", "mpi": mpi}


def loop(number, within, first, last, iterations):
    inside = {"within": within} if within else {}
    return {"number": number, **inside, "head": site(first, "MPI_Allreduce"), "tail": site(last, "MPI_Wait"), "size": 4, "ranks": "0-3",
            "iterations": iterations, "rate": 10.5, "loop_seconds": 8.0 / number, "mpi_seconds": 1.0 / number, "mtct": {"values": 0}}


def nested(depth):
    """So many loops in each other, each with a call of its own before and behind the next; and one that re-enters the innermost."""
    calls = [{"site": site(16 * number + 16, "MPI_Sendrecv_replace"), "visits": 10 ** (number % 7 + 1), "mpi": 0.1 * number} for number in range(2 * depth + 2)]
    for number in range(depth):
        calls[number].update(begins=True, tail=2 * depth - 1 - number, **({"of": number - 1} if number else {}))
        calls[2 * depth - 1 - number]["of"] = number
    steps = [{"from": number, "to": number + 1, "count": 1000, "seconds": 1.0} for number in range(2 * depth + 1)]
    steps += [{"from": 2 * depth - 1 - number, "to": number, "count": 10 ** number, "seconds": 0.5} for number in range(depth)]
    steps += [{"from": 2 * depth + 1, "to": depth, "count": 3, "seconds": 0.1}]
    return {"rank": 0, "calls": calls, "steps": steps, "lost": 5, "unmeasured": 0}


def measured(depth):
    loops = [loop(number, number - 1, 16 * number, 16 * number + 8, 10 ** number) for number in range(1, depth + 1)]
    return {"version": 1, "began": 100.0, "since": 100.0, "time": 110.5, "size": 4, "program": "/nowhere/<b>cg</b>", "job": "cg-1", "elements": [], "loops": loops,
            "graph": nested(depth), "progress": None, "adaptations": {"count": 0}, "memory": [], "missing": []}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Makes the page of so many loops in each other, once."""
    def write(folder, name):
        path = folder / "loops.json"
        path.write_text(json.dumps(measured(int(name))))
        return path
    return maker(tmp_path_factory, write)


@pytest.mark.parametrize("depth,width,scheme", [*[("3", width, scheme) for width in WIDTHS for scheme in SCHEMES], ("1", 360, "light"), ("9", 360, "light")])
def test_page(browser, page, depth, width, scheme):
    check_opens(browser, page(depth), width, scheme)
    for chart, drawing in check_charts(browser, CHARTS, least=2).items():
        assert width - 150 < drawing["width"] <= width, (chart, drawing["width"])


def test_tables(browser, page):
    check_tables(browser, page("3"), page("3").parent / "loops.json", CHARTS)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_accessible(browser, page, scheme):
    check_accessible(browser, page("3"), scheme)
