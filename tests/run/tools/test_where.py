"""epopctl where, and the watchdog: where every rank is, also when they hang."""

import json
import os
import signal

import job
import joining
from joining import JoinScenario
from scenario import DONE, USAGE, Scenario, Switch
from schemas import validate


def where(it):
    result = validate("control", json.loads(it.done("where", "--json")), "where")
    ranks = [process["rank"] for process in result["processes"] if process["rank"] >= 0]
    assert ranks == list(range(result["size"])), result
    return result["processes"]


def wait_for(it, condition):
    return job.wait_for(lambda: where(it), meets=condition)


def deadlock(space, how, *arguments, ranks=2, options=(), limit=60):
    return Scenario(space, f"how={how}", *arguments, program="deadlock", start=ranks, ranks=ranks, options=options,
                    limit=limit)


def call(place):
    return place.get("mpi")


def test_two_ranks_wait_for_each_other(space):
    it = deadlock(space, "recv", ranks=3)
    places = wait_for(it, lambda places: [call(place) for place in places] == ["MPI_Recv", "MPI_Recv", "MPI_Barrier"]
                      and min(place["mpi_seconds"] for place in places) > 1)
    for rank, place in enumerate(places):
        assert place["rank"] == rank and place["activity"] == place["state"] == "running"
        assert {"pc": 1, "name": "exchange", "type": "EP", "visit": 1, "iteration": 5}.items() <= place["element"].items()
        assert place["seconds"] >= place["mpi_seconds"] - 1e-3 and place["pid"] > 0 and place["host"]
    later = where(it)
    assert later[0]["mpi_seconds"] > places[0]["mpi_seconds"]


def test_one_computes_without_end(space):
    it = deadlock(space, "compute")
    places = wait_for(it, lambda places: call(places[0]) == "MPI_Barrier" and places[0]["mpi_seconds"] > 1 and
                      places[1].get("seconds", 0) > 1 and places[1]["element"]["iteration"] == 5)  # it may begin much later than rank 0
    assert call(places[1]) is None


def test_nobody_waits(space):
    """The control case."""
    it = deadlock(space, "none")
    first = wait_for(it, lambda places: all(place.get("element") for place in places))
    wait_for(it, lambda places: all(place["element"]["iteration"] > first[0]["element"]["iteration"] + 5
                                    for place in places))
    it.done("stop", "--wait")
    assert it.it.wait().status == 0 and it.ctl("where").status != DONE


def test_as_a_table(space):
    it = deadlock(space, "recv")
    wait_for(it, lambda places: [call(place) for place in places] == ["MPI_Recv"] * 2)
    head, *rows = [line.split("\t") for line in it.done("where").splitlines()]
    assert head == ["RANK", "STATE", "PHASE", "PC", "ITERATION", "FOR", "MPI", "FOR", "HOST", "PID"]
    assert [row[:5] + row[6:7] for row in rows] == [[str(rank), "running", "exchange", "1", "5", "MPI_Recv"]
                                                    for rank in (0, 1)]


def test_a_rank_that_is_stopped(space):
    """Is listed without an answer; the others are there."""
    it = Scenario(space, start=2, ranks=2)
    it.wait_until_here()
    pid = it.status()["processes"][1]["pid"]
    job.send_signal(pid, signal.SIGSTOP)
    try:
        places = where(it)
        assert places[1]["activity"] == "no answer" and "element" not in places[1] and places[1]["pid"] == pid
        assert places[0]["activity"] in ("running", "holding")
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_for(it, lambda places: places[1]["activity"] == "running")
    it.stop()


def test_joining_and_paused(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=2)
    it.done("resize", "2")
    it.it.wait_for_line("joining in process")
    places = where(it)
    assert [(place["rank"], place["state"]) for place in places] == [(0, "running"), (-1, "joining")]
    assert places[1]["element"]["type"] == "INIT"
    slow.off()
    it.wait_for_status(lambda status: status["size"] == 2)
    it.done("pause")
    assert [place["activity"] for place in where(it)] == ["holding"] * 2
    it.done("resume")
    it.stop()


@joining.needed
def test_ranks_of_two_launches(space):
    it = JoinScenario(space, "how=none", program="deadlock")
    it.resize(4)
    places = wait_for(it, lambda places: all(place.get("element") for place in places))
    assert len({place["pid"] for place in places}) == 4
    it.done("stop", "--wait")


# ---- The watchdog

WATCHDOG = 2
STALLED = "no rank has come to its next iteration for"


def test_watchdog_says_where_they_are(space):
    it = deadlock(space, "recv", options=("--watchdog", WATCHDOG))
    _, line = it.it.wait_for_line(f"^epop: watchdog: {STALLED} [2-9] s", stream="err")
    _, line = it.it.wait_for_line("RANK +STATE +PHASE", stream="err", start=line)
    for rank in (0, 1):
        _, line = it.it.wait_for_line(rf"^  {rank} +running +exchange +5 .* MPI_Recv .* pid \d+$", stream="err", start=line)


def test_watchdog_says_that_they_go_on(space):
    """Each stall once."""
    there = Switch(space, "there").on()
    it = deadlock(space, "late", f"while={there}", options=("--watchdog", WATCHDOG))
    it.it.wait_for_line(STALLED, stream="err")
    since = it.status()["uptime"]
    it.wait_for_status(lambda status: status["uptime"] > since + 1.5 * WATCHDOG)
    there.off()
    it.it.wait_for_line("^epop: watchdog: the ranks go on, after", stream="err")
    it.done("stop", "--wait")
    result = it.it.wait()
    assert result.status == 0 and result.err.count(STALLED) == 1, result


def test_watchdog_ends_the_job(space):
    it = deadlock(space, "recv", options=("--watchdog", WATCHDOG, "--watchdog-abort"))
    result = it.it.wait()
    assert result.status == 1 and STALLED in result.err and "MPI_Recv" in result.err, result
    assert "epop: watchdog: the job is ended, as --watchdog-abort wants it" in result.err


def test_watchdog_is_silent(space):
    """While iterations go on, and in a pause."""
    it = deadlock(space, "none", options=("--watchdog", WATCHDOG, "--watchdog-abort"))
    it.wait_for_status(lambda status: status["uptime"] > 2 * WATCHDOG)
    it.done("pause")
    since = it.status()["uptime"]
    it.wait_for_status(lambda status: status["uptime"] > since + 2 * WATCHDOG)
    it.done("resume")
    it.done("stop", "--wait")
    result = it.it.wait()
    assert result.status == 0 and result.err == "", result


def test_wrong_use(space):
    for options in (["--watchdog-abort"], ["--watchdog", "soon"], ["--watchdog", "-1"]):
        result = space.epop(*options, job.program("serial"))
        assert result.status == USAGE and result.err.count("\n") == 1 and "--watchdog" in result.err, result
