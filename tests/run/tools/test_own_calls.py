"""EPOP's own functions that wait for other ranks are told to observers as MPI's are, by their names: measured, shown by
`epopctl where`, in profiles and traces."""

import itertools
import json
import re

import generate
import headers
import job
import pytest
from traces import Trace

ITEMS = job.test_program("items")
OWN = set(generate.OWN)

# What stands under the comment of a collective one, and waits for nobody.
LOCAL = {"MPI_Session_set_pset_data"}


def comments_and_functions():
    """(comment, name) in the order of the headers; a comment without a function has the name None."""
    for path in headers.PUBLIC:
        comment = ""
        for match in re.finditer(r"/\*.*?\*/|^(?:EPOP_API\b[^;(]*?|int )\b(\w+)\s*\(", path.read_text(), flags=re.M | re.S):
            if not match[1]:
                comment = match[0]
            yield comment, match[1]


def waiting():
    """The functions that the headers call collective, or that stand in a section of such ones."""
    found, section = set(), False
    for comment, name in comments_and_functions():
        if comment.startswith("/* ----") and not name:
            section = False
        section |= "All of these are collective" in re.sub(r"[\s*]+", " ", comment)
        says = re.search("[Cc]ollective", comment) and not re.search("Not collective|none waits for another", re.sub(r"[\s*]+", " ", comment))
        if name and (says or section) and not name.endswith("_nb"):
            found.add(name)
    return found - LOCAL


def test_all_that_wait_are_on_the_list():
    assert waiting() == OWN and len(OWN) > 20


@pytest.mark.parametrize("name", sorted(OWN))
def test_each_is_told(name):
    """It is the first thing that the function does."""
    definition = re.compile(rf"^(?:CALL )?int {name}\([^;{{]*\)\n{{\n    INTERPOSE_CALL\({name}\);\n", flags=re.M)
    found = [path for folder in ("runtime", "interpose") for path in (job.ROOT / folder).rglob("*.c") if definition.search(path.read_text())]
    assert len(found) == 1, found


# ---- What is seen of them


def start(space, *arguments, options=(), ranks=2):
    running = space.start_epop("--backend", "pool", *options, ITEMS, space.directory / "end", *arguments, ranks=ranks)
    space.wait_until_running(running)
    space.wait_until_all_are_here()
    return running


def end(space, running):
    (space.directory / "end").touch()
    result = running.wait()
    assert result.status == 0, result
    return result


def ctl(space, *words):
    result = space.epopctl(*words)
    assert result.status == 0, result
    return result.out


def test_measured(space):
    """Rank 0 waits for the last one, which sleeps, in there most of the time."""
    running = start(space, 40000)
    askers = itertools.count()

    def measured():
        found = json.loads(ctl(space, "measure", "--json", "--asker", f"new-{next(askers)}"))["elements"]
        return next((one for one in found if one["pc"] == 1), None)
    element = job.wait_for(measured, 30, lambda element: element and element["iterations"] >= 8)
    share = element["mpi_seconds"] / element["loop_seconds"]
    assert 0.25 < share <= 1, element
    end(space, running)


def test_where_a_rank_waits(space):
    hold = space.directory / "hold"
    hold.touch()
    running = start(space, 0, hold)
    where = job.wait_for(lambda: {rank["rank"]: rank for rank in json.loads(ctl(space, "where", "--json"))["processes"]}, 30,
                         lambda where: "mpi" in where.get(0, {}))
    assert where[0]["mpi"] == "epop_items_exchange" and "mpi" not in where[1], where
    hold.unlink()
    end(space, running)


def test_profiled(space):
    running = start(space, options=["--driver", "profile", "--quiet", "--output", space.directory / "profile.json"])
    end(space, running)
    profile = json.loads((space.directory / "profile.json").read_text())
    element = next(one for one in profile["elements"] if one["pc"] == 1)
    called = {one["function"]: one["calls"] for size in element["worlds"] for one in size["mpi"]}
    assert called["epop_items_exchange"] == sum(size["iterations"] * 2 for size in element["worlds"]), called


def test_traced(space):
    """Also in a window, where steps are drawn as well."""
    running = start(space, options=["--driver", "trace", "--trace-mpi", "0", "--start", "1"], ranks=2)
    for size in 2, 1:
        ctl(space, "resize", size, "--wait")
    result = end(space, running)
    path = re.search(r"^epop: trace: (\S+):", result.err, flags=re.M)[1]
    names = {event["name"] for event in Trace(space.directory / path).check().slices("mpi")}
    assert {"epop_items_exchange", "epop_adapt_described"} <= names, names
