"""epopctl top: all jobs with what they measure, and what it shows where there is little room."""

import copy
import json
import re
import signal

import job
import pytest
from fake import STATUS, FakeJob
from scenario import DONE, Scenario
from terminal import Terminal
from schemas import validate

COLUMNS = ["JOB", "STATE", "SIZE", "DONE", "LEFT", "RATE", "MTCT", "TREND", "MEMORY", "RESIZE", "ELEMENT", "HOST",
           "UPTIME"]


def element(pc, size, iterations, rate, mean):
    return {"pc": pc, "name": f"element {pc}", "size": size, "ranks": size, "iterations": iterations, "rate": rate,
            "loop_seconds": 8.0, "mpi_seconds": 1.0,
            "mtct": {"values": 8, "mean": mean, "variance": 0.01, "min": mean / 2, "max": mean * 2, "trend": 1.5 * mean}}


def measure(began, *elements):
    """Of an answer at time 1000."""
    memory = [{"rank": rank, "process": rank, "bytes": 768 << 20} for rank in range(4)]
    return {"ok": True, "measure": {"version": 1, "began": began, "since": began, "time": 1000, "size": 4,
                                    "elements": list(elements), "loops": [], "progress": None, "adaptations": {"count": 0},
                                    "memory": memory, "missing": []}}


def status(**changed):
    """Of a job of four ranks in element 1."""
    changed_status = copy.deepcopy(STATUS)
    changed_status["job"].update(changed)
    return changed_status


def row(space, *arguments):
    result = space.epopctl("top", *arguments)
    assert result.status == DONE, result
    head, cells = [line.split("\t") for line in result.out.splitlines()]
    assert head == COLUMNS
    return dict(zip(head, cells, strict=True))


MEASURED = measure(900, element(2, 4, 1000, 7.0, 0.5), element(1, 4, 100, 123.4, 0.0122), element(1, 2, 5000, 50.0, 0.25))


LOOP = {"number": 3, "size": 4, "ranks": "0-3", "iterations": 9, "rate": 77.0, "loop_seconds": 0.5, "mpi_seconds": 0.1,
        "mtct": {"values": 2, "mean": 0.25, "variance": 0, "min": 0.25, "max": 0.25, "trend": 0.25},
        "head": {"place": "/opt/cg+0x24d6", "mpi": "MPI_Send"}, "tail": {"place": "/opt/cg+0x24f0", "mpi": "MPI_Recv"}}


def test_the_loop_that_an_executable_is_in(space):
    """The program is not here, so the place is all that there is."""
    measured = measure(900, element(0, 4, 100, 123.4, 0.0122))
    measured["measure"].update(loops=[LOOP], loop=3)
    FakeJob(space, status=status(loop={end: LOOP[end] for end in ("number", "head", "tail")}), measure=measured)
    found = row(space)
    assert (found["ELEMENT"], found["RATE"], found["MTCT"]) == ("cg+0x24d6", "77", "0.25"), found
    validate("control", json.loads(space.epopctl("top", "--json").out))


def test_the_present_element_at_the_present_size(space):
    FakeJob(space, measure=MEASURED)
    found = row(space)
    assert {"JOB": "fake-1", "SIZE": "4", "DONE": "30 %", "RATE": "123", "MTCT": "0.0122", "TREND": "0.0183",
            "MEMORY": "3.0 GiB", "RESIZE": "1 -> 4", "ELEMENT": "multiply"}.items() <= found.items(), found


def test_another_element_where_nothing_is_known_of_the_present_one(space):
    FakeJob(space, status=status(element=None), measure=MEASURED)
    assert (row(space)["RATE"], row(space)["MTCT"]) == ("50", "0.25")


def test_a_job_that_does_not_measure(space):
    """What a driver has measured is the MPI share, of all time; MTCT is MPI time over compute time."""
    FakeJob(space, status=status(mpi_share=0.2), measure={"ok": False, "code": "refused", "reason": "not now"})
    found = row(space)
    assert {"MTCT": "0.25", "RATE": "-", "TREND": "-", "MEMORY": "-"}.items() <= found.items(), found


def test_json(space):
    FakeJob(space, measure=MEASURED)
    listing = json.loads(space.epopctl("top", "--json").out)
    validate("control", listing)
    found, = listing
    assert found["measure"] == MEASURED["measure"] and found["job"] == STATUS["job"]["job"] and found["pid"] > 0
    listed, = json.loads(space.epopctl("list", "--json").out)
    assert "measure" not in listed


@pytest.mark.parametrize("began, times", [(1000, 2), (990, 1)])
def test_one_that_begins_to_measure_is_asked_again(space, began, times):
    """By the same asker, and so that measuring ends by itself some time later."""
    it = FakeJob(space, measure=measure(began, element(1, 4, 100, 10.0, 0.1)))
    assert row(space)["RATE"] == "10"
    asked = [request for request in it.requests() if request["op"] == "measure"]
    assert len(asked) == times and all(request == asked[0] for request in asked)
    assert re.fullmatch(r"top-\d+", asked[0]["asker"]) and 1 < asked[0]["keep"] <= 60


def test_a_running_job(space):
    """Nobody has measured before: top waits a second for the first figures. A nap of 20 ms is at least so long."""
    it = Scenario(space, "iterations=1000000", "work=20000", program="progress", start=1, ranks=2)
    it.wait_until_here()
    for attempt in range(10):
        listing = json.loads(space.epopctl("top", "--json").out)
        validate("control", listing)
        elements = listing[0]["measure"]["elements"]
        if elements and elements[0]["iterations"]:
            break  # else the program had no time
    element, = elements
    assert element["name"] == "work" and 0 < element["rate"] <= 50.5 and listing[0]["size"] == 1
    validate("control", json.loads(space.epopctl("list", "--json").out))
    it.resize(2)
    again = Terminal(space, [job.BUILD / "bin/epopctl", "top"], columns=200)
    shown = rf"{it.id} +running +2 +0 % +\d.* +(\d\S*) +\d\S* +\d\S* +\d\S* MiB +1 -> 2 +work "
    found = re.search(shown, again.wait_for(lambda text: re.search(shown, text)))
    assert 0 < float(found[1]) <= 101
    again.process.send_signal(signal.SIGINT)
    assert again.wait()[0] == -signal.SIGINT
    it.done("stop", "--wait")


# ---- On a terminal


def lines_on(space, columns):
    it = Terminal(space, [job.BUILD / "bin/epopctl", "top", "--once"], columns=columns)
    code, text = it.wait()
    lines = text.split("\r\n")
    assert code == DONE and len(lines) == 3 and lines[2] == "", text
    assert max(map(len, lines)) <= columns, text
    return lines[0].split(), lines[1]


def test_no_line_is_longer_than_the_terminal_is_wide(space):
    """Important columns stay longest."""
    FakeJob(space, measure=MEASURED)
    heads = {columns: lines_on(space, columns)[0] for columns in (300, 100, 80, 60, 40, 25, 18)}
    assert heads[300] == COLUMNS
    for wide, narrow in zip(list(heads)[:-1], list(heads)[1:]):
        assert set(heads[narrow]) <= set(heads[wide])
    assert "UPTIME" not in heads[80] and {"JOB", "STATE", "SIZE", "DONE", "LEFT", "MTCT"} <= set(heads[80])
    assert heads[25] == ["JOB", "STATE", "SIZE"] and heads[18] == ["JOB", "STATE"]


def test_where_nothing_fits_lines_are_cut(space):
    FakeJob(space, measure=MEASURED)
    assert lines_on(space, 12)[1] == "fake-1  runn"
