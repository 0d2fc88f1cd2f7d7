"""epopctl measure: what phases spend in MPI, in a running job, without a driver."""

import itertools
import json
import os
import signal
import threading
import time

import executables as plain
import job
import joining
import pytest
from joining import JoinScenario
from scenario import DONE, REFUSED, USAGE, Scenario, Switch
from schemas import validate

loop = plain.loop
SLEEP_US = 40000  # long beside what a busy machine adds
NEW_ASKERS = (f"new-{number}" for number in itertools.count())


def check(result):
    validate("control", result, "measure")
    answered = [rank["rank"] for rank in result["memory"]]
    assert sorted(answered + result["missing"]) == list(range(result["size"])), result
    assert all(rank["bytes"] > 2**20 for rank in result["memory"]), result
    assert result["began"] <= result["since"] <= result["time"], result
    return result


def measure(it, *arguments, asker="test"):
    return check(json.loads(it.done("measure", "--json", "--asker", asker, *arguments)))


def since_it_began(it):
    """To somebody who has not asked before."""
    return measure(it, asker=next(NEW_ASKERS))


def wait_for(it, condition):
    """The first answer that meets the condition, of all that was measured so far."""
    return job.wait_for(lambda: since_it_began(it), 30, condition)


def at(result, size, pc=1):
    """The element at that size."""
    found = [element for element in result["elements"] if (element["pc"], element["size"]) == (pc, size)]
    assert len(found) == 1, result
    return found[0]


def has(result, size, iterations=1, values=0, pc=1):
    return any((element["pc"], element["size"]) == (pc, size) and element["iterations"] >= iterations
               and element["mtct"]["values"] >= values for element in result["elements"])


def one_sleeps(space, *arguments, ranks=2, options=(), **how):
    """Rank 1 sleeps in every iteration, and the others wait for it in a barrier."""
    return Scenario(space, "how=none", "sleeper=1", f"nap={SLEEP_US}", "iterations=1000000000000", *arguments, program="deadlock", start=ranks,
                    ranks=how.pop("processes", ranks), options=options, **how)


def check_one_sleeps(element, ranks):
    """All but one are in MPI most of the time. The machine may be busy, so the bounds are wide."""
    share = (ranks - 1) / ranks
    assert element["ranks"] == ranks and element["name"] == "exchange"
    assert 0 < element["rate"] <= 1.5e6 / SLEEP_US  # the first one waits for nobody
    assert 0.5 * share < element["mpi_seconds"] / element["loop_seconds"] <= 1.0, element
    spread = element["mtct"]
    assert 0 <= spread["min"] < spread["mean"] < spread["max"], element
    assert 0.2 * (ranks - 1) < spread["mean"] < 10 * (ranks - 1) and spread["variance"] > 0, element
    assert spread["min"] < 1 < spread["max"] and spread["trend"] >= 0, element  # 0: one early value was far above the others


def test_the_share_of_mpi(space):
    it = one_sleeps(space)
    first = measure(it)
    assert first["since"] == first["began"]
    result = wait_for(it, lambda result: has(result, 2, iterations=8, values=6))
    assert result["since"] == result["began"] == first["began"] and result["missing"] == []
    check_one_sleeps(at(result, 2), 2)
    assert result["progress"]["iteration"] >= 6
    it.done("stop", "--wait")


def test_the_load_of_each_rank(space):
    """The one that sleeps outside MPI has it; of another size than the present one there is none."""
    it = one_sleeps(space)
    element = at(wait_for(it, lambda result: has(result, 2, iterations=8)), 2)
    loads = dict(element["loads"])
    assert sorted(loads) == [0, 1] and loads[1] > 1.5 * loads[0], element
    assert element["imbalance"] == pytest.approx(2 * loads[1] / sum(loads.values()))
    assert sum(loads.values()) == pytest.approx(element["loop_seconds"] - element["mpi_seconds"], rel=1e-6), element
    table = it.done("measure", "--asker", "people").split("\n\n")
    assert "IMBALANCE" in table[1].splitlines()[0].split(), table
    shown = [float(row.split()[-1]) for row in table[2].splitlines()[1:]]
    assert len(shown) == 2 and shown[1] > shown[0], table
    it.resize(1)
    result = wait_for(it, lambda result: has(result, 1) and has(result, 2))
    assert "loads" not in at(result, 2) and len(at(result, 1)["loads"]) == 1, result
    it.done("stop", "--wait")


def test_another_size_is_another_sample(space):
    it = one_sleeps(space, ranks=1, processes=2)
    wait_for(it, lambda result: has(result, 1, values=2))
    it.resize(2)
    result = wait_for(it, lambda result: has(result, 2, iterations=8, values=6))
    check_one_sleeps(at(result, 2), 2)
    assert has(result, 1), result  # since measuring began: that is in there
    assert result["size"] == 2 and result["adaptations"]["count"] == 1
    assert result["adaptations"]["mean_seconds"] > 0 and result["adaptations"]["mean_stall"] > 0
    measure(it, asker="old")
    assert not has(measure(it, asker="old"), 1)
    it.done("resize", "1", "--wait")
    result = since_it_began(it)
    assert at(result, 1)["ranks"] == len(result["memory"]) == 1
    assert has(result, 2, iterations=8) and at(result, 2)["mtct"]["values"] == 0  # not of this world
    it.done("stop", "--wait")


def test_since_the_same_asker(space):
    """
    Two of them: neither takes anything from the other. Iterations of several answers do not add up, as each has those
    of the rank that did most; seconds do.
    """
    it = one_sleeps(space)
    sums = {"one": 0, "two": 0}
    wait_for(it, lambda result: has(result, 2, iterations=10))
    for asker in ("one", "two", "one", "one", "two"):
        result = measure(it, asker=asker)
        sums[asker] += at(result, 2)["loop_seconds"]
    assert 0 < sums["one"] <= sums["two"] * (1 + 1e-9), sums
    again, everything = measure(it, asker="one"), since_it_began(it)
    assert again["since"] > again["began"] == everything["since"]
    assert at(again, 2)["loop_seconds"] + sums["one"] <= at(everything, 2)["loop_seconds"] * (1 + 1e-9)
    it.done("stop", "--wait")


def test_it_goes_off_again(space):
    it = one_sleeps(space)
    began = measure(it, "--keep", "0.1")["began"]
    end = time.monotonic() + 30
    while time.monotonic() < end:
        time.sleep(0.4)  # nobody asks: that is what ends it
        later = measure(it, "--keep", "0.1")
        if later["began"] > began:
            break
    assert later["began"] > began and later["since"] == later["began"], later
    it.done("stop", "--wait")


def test_a_rank_that_hangs_answers(space):
    it = Scenario(space, "how=compute", "at=0", program="deadlock", start=2, ranks=2)
    for _ in range(3):
        result = measure(it)
        assert result["missing"] == [] and len(result["memory"]) == 2
        assert sum(element["iterations"] for element in result["elements"]) == 0


def test_a_rank_that_is_stopped(space):
    """It is named, and the others are there."""
    it = one_sleeps(space, ranks=3)
    wait_for(it, lambda result: has(result, 3))
    pid = it.status()["processes"][2]["pid"]
    job.send_signal(pid, signal.SIGSTOP)
    try:
        result = measure(it)
        assert result["missing"] == [2] and at(result, 3)["ranks"] == 2
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_for(it, lambda result: has(result, 3) and result["missing"] == [])
    it.done("stop", "--wait")


def test_in_a_pause(space):
    it = one_sleeps(space)
    wait_for(it, lambda result: has(result, 2))
    it.done("pause")
    measure(it)
    result = measure(it)
    assert at(result, 2)["iterations"] == 0 and "rate" not in at(result, 2)
    it.done("resume")
    wait_for(it, lambda result: has(result, 2))
    it.done("stop", "--wait")


def test_a_job_that_ends(space):
    """Asked again and again until it is gone: each time there is an answer, or a word that there is no job."""
    it = Scenario(space, "how=none", "nap=1000", "iterations=4000", program="deadlock", start=2, ranks=2)
    answers = 0
    while True:
        result = it.ctl("measure", "--json")
        if result.status != DONE:
            break
        check(json.loads(result.out))
        answers += 1
    assert answers > 0 and result.err.count("\n") == 1, result
    assert it.it.wait().status == 0


def test_several_at_a_time(space):
    it = one_sleeps(space)
    results = []
    askers = [threading.Thread(target=lambda name=name: results.append(measure(it, asker=str(name))))
              for name in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert len(results) == 4 and all(result["missing"] == [] for result in results)
    it.done("stop", "--wait")


@pytest.mark.parametrize("driver, option", [("profile", "--output"), ("trace", "--trace-output")])
def test_beside_drivers_that_look_at_mpi(space, driver, option):
    """Each sees what it would see alone."""
    output = space.directory / "output.json"
    it = one_sleeps(space, options=("--driver", driver, option, output))
    check_one_sleeps(at(wait_for(it, lambda result: has(result, 2, iterations=8, values=6)), 2), 2)
    it.done("stop", "--wait")
    assert it.it.wait().status == 0 and "MPI_Barrier" in output.read_text()


def test_beside_roll_calls(space):
    """In which the ranks wait for each other, rather than in MPI."""
    it = one_sleeps(space, options=("--driver", "debug"))
    element = at(wait_for(it, lambda result: has(result, 2, iterations=8, values=6)), 2)
    assert element["ranks"] == 2 and 0 < element["mpi_seconds"] < element["loop_seconds"]
    it.done("stop", "--wait")
    assert it.it.wait().status == 0


def test_as_a_table(space):
    it = one_sleeps(space)
    wait_for(it, lambda result: has(result, 2, values=2))
    lines = [line.split("\t") for line in it.done("measure").splitlines()]
    assert [line[0] for line in lines[:3]] == ["since", "measuring", ""]
    head = ["PHASE", "PC", "SIZE", "RANKS", "ITERATIONS", "RATE", "LOOP", "MPI", "IMBALANCE", "MTCT", "VARIANCE", "MIN", "MAX", "TREND"]
    assert lines[3] == head and lines[4][:4] == ["exchange", "1", "2", "2"] and len(lines[4]) == len(head)
    assert lines[6] == ["RANK", "PROCESS", "MEMORY", "LOAD"] and [line[:2] for line in lines[7:]] == [["0", "0"], ["1", "1"]]
    it.done("stop", "--wait")


def test_wrong_words(space):
    it = one_sleeps(space)
    assert it.ctl("measure", "--keep", "long").status == USAGE
    assert it.ctl("measure", "--keep", "-1").status == USAGE
    assert it.ctl("measure", "--asker", "x" * 64).status == REFUSED
    it.done("stop", "--wait")


def test_while_it_joins(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=2)
    it.done("resize", "2")
    it.it.wait_for_line("joining in process")
    result = measure(it)
    assert result["size"] == 1 and len(result["memory"]) == 1
    slow.off()
    wait_for(it, lambda result: has(result, 2))
    it.stop()


# ---- Plain executables: from probe to probe


def measure_plain(space):
    return check(json.loads(space.epopctl("measure", "--json").out))


def test_an_executable(space, loop):
    end = space.directory / "end"
    running = plain.start(space, loop, end)
    job.wait_for(lambda: measure_plain(space), 30, lambda result: has(result, 2, iterations=3, pc=0))
    element = at(measure_plain(space), 2, pc=0)
    assert element["ranks"] == 2 and 0 <= element["mpi_seconds"] <= element["loop_seconds"]
    end.touch()
    assert running.wait().status == 0


@joining.needed
def test_an_executable_that_grows(space, loop):
    end = space.directory / "end"
    running = plain.start(space, loop, end)
    measure_plain(space)
    space.resize(3)
    job.wait_for(lambda: measure_plain(space), 30, lambda result: has(result, 3, pc=0) and at(result, 3, pc=0)["ranks"] == 3)
    end.touch()
    assert running.wait().status == 0


@joining.needed
def test_ranks_of_two_launches(space):
    it = JoinScenario(space, "how=none", "sleeper=1", f"nap={SLEEP_US}", program="deadlock")
    measure(it)
    it.resize(4)
    result = wait_for(it, lambda result: has(result, 4, iterations=8, values=12))
    check_one_sleeps(at(result, 4), 4)
    it.done("stop", "--wait")
