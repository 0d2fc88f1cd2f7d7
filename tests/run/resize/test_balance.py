"""Balances: the data is dealt out anew by what each rank has to compute, at the same size."""

import json
import re

import job
import joining
import pytest
from scenario import DONE, REFUSED
from schemas import validate

UNEVEN = job.test_program("uneven")
HANGS = (job.test_program("deadlock"), "how=compute", "at=0")
ENDLESS = "100000000"  # iterations, until it is stopped
RANKS = 3
# A quarter of the elements costs ten times as much as the others: in even blocks the first rank has 310 of 390 units.
AT_FIRST = 310 * 3 / 390
BETTER = 0.75 * AT_FIRST  # at most, however busy the machine: loads are measured


def start(space, kind, *options, ranks=RANKS, program=None):
    command = program or (UNEVEN, kind, "120", "300", ENDLESS)
    running = space.start_epop(*options, *command, ranks=ranks, limit=120)
    space.wait_until_running()
    return running


def ctl(space, *words, status=DONE):
    result = space.epopctl(*words)
    assert result.status == status, result
    return result


def balance(space):
    """The imbalance that it was done for."""
    answer = json.loads(ctl(space, "balance", "--wait", "--json").out)
    validate("control", answer, "answer")
    assert answer["code"] == "done" and answer["balance"] is True and answer["from"] == answer["size"], answer
    assert answer["joined"] == answer["left"] == [], answer
    return answer["imbalance"]


def refused(space, *words):
    return ctl(space, *words, status=REFUSED).err.removeprefix("epopctl: ").rstrip("\n")


def stop(space, running, ranks=RANKS):
    """The imbalance of what the ranks have in the end, by what it costs; all elements are the right ones."""
    ctl(space, "stop")
    result = running.wait()
    assert result.status == 0 and result.err == "", result
    return float(re.fullmatch(rf"uneven: right on {ranks} ranks, imbalance (\d+\.\d+)\n", result.out)[1])


def check_balanced(space, running):
    """One knows what whole blocks cost, so that its cuts are wrong by a part of what those before it were."""
    first = balance(space)
    assert 1.5 < first <= 3, first
    for _ in range(3):
        balance(space)
    status = space.status()
    validate("control", status, "status")
    kept = status["adaptations"]
    assert [(one["state"], one["from"], one["to"], one["balance"], one["by"]) for one in kept] == \
        [("committed", RANKS, RANKS, True, "epopctl")] * 4, kept
    assert kept[0]["imbalance"] == first and all(one["stall"] > 0 for one in kept), kept
    assert stop(space, running) < BETTER


@pytest.mark.parametrize("kind", ["cuts", "weights", "items", "owners", "parts", "hand"])
def test_each_kind_of_data(space, kind):
    check_balanced(space, start(space, kind, "--quiet", "--backend", "pool"))


@joining.needed
@pytest.mark.parametrize("kind", ["cuts", "hand"])
@pytest.mark.parametrize("backend", [joining.JOIN, joining.SPAWN], ids=["join", "spawn"])
def test_with_processes_that_can_join(space, kind, backend):
    check_balanced(space, start(space, kind, "--quiet", *backend))


@joining.needed
def test_where_all_ranks_are_replaced(space):
    """Nobody who would have other elements afterwards is there."""
    running = start(space, "cuts", *joining.BASELINE)
    assert refused(space, "balance") == "all ranks are replaced in each adaptation of this job"
    stop(space, running)


def test_under_the_debug_driver(space):
    """It looks at all elements before and after the window."""
    running = start(space, "cuts", "--quiet", "--driver", "debug")
    balance(space)
    stop(space, running)


@pytest.mark.parametrize("kind", ["cuts", "items", "owners"])
def test_resizes_before_and_after(space, kind):
    """A rank that leaves still knows where its items belong."""
    running = start(space, kind, "--quiet", "--start", "2")
    space.wait_until_all_are_here()
    balance(space)
    space.resize(3)
    balance(space)
    space.resize(2)
    sizes = [(one["from"], one["to"], "balance" in one) for one in space.status()["adaptations"]]
    assert sizes == [(2, 2, True), (2, 3, False), (3, 3, True), (3, 2, False)], sizes
    stop(space, running, ranks=2)


def test_what_is_told_of_it(space):
    running = start(space, "cuts", "--verbose")
    watch = space.start_epopctl("watch", "--json")
    while not watch.out:  # what happens before it is connected it does not hear of
        refused(space, "resize", "0")
    said = ctl(space, "balance", "--wait").out
    assert re.fullmatch(r"done: the imbalance was \d+\.\d{3}\n", said), said
    ctl(space, "stop", "--wait")
    about = [event for event in map(json.loads, watch.wait().out.splitlines()) if "adaptation" in event]
    for event in about:
        validate("control", event, "event")
    assert [event["event"] for event in about] == ["requested", "prepared", "agreed", "committed"], about
    assert all(event["balance"] is True for event in about) and "imbalance" not in about[0], about
    assert about[3]["imbalance"] == pytest.approx(float(said.split()[-1]), abs=1e-3)
    result = running.wait()
    assert re.search(r"^epop: committed balance 3 -> 3 at 'steps', iteration \d+$", result.err, re.M), result


def test_asked_for_by_the_program(space):
    """All ranks ask, and it happens once."""
    running = start(space, "", "--quiet", program=(UNEVEN, "cuts", "120", "300", ENDLESS, "0", "5"))
    kept = space.wait_for_status(lambda status: [one["state"] for one in status["adaptations"]] == ["committed"])
    assert kept["adaptations"][0]["by"] == "program" and kept["adaptations"][0]["balance"] is True, kept
    assert stop(space, running) < BETTER


def test_who_says_that_a_balance_may_help(space):
    """What it describes says so; of a program that describes nothing it is known when somebody has asked for one."""
    running = start(space, "cuts", "--quiet")
    space.wait_for_status(lambda status: status.get("balances"))
    stop(space, running)


def test_who_asks_says_that_a_balance_may_help(space):
    start(space, "", "--quiet", program=HANGS, ranks=2)
    assert "balances" not in space.status()
    ctl(space, "balance")
    assert space.status()["balances"] is True


def test_one_rank_has_nobody_to_share_with(space):
    start(space, "cuts", "--quiet", ranks=1)
    assert refused(space, "balance", "--wait") == "there is one rank alone"
    ctl(space, "stop", "--wait")


def test_ranks_that_end_no_iteration(space):
    """It waits for them, can be called off, and gives up."""
    start(space, "", "--quiet", "--prepare-timeout", "5", program=HANGS, ranks=2)
    assert ctl(space, "balance").out == "accepted\n"
    assert space.status()["adaptations"][0]["state"] == "preparing"
    assert refused(space, "resize", "1") == "adaptation 1, a balance, is pending; try again when it is through, or cancel it"
    assert ctl(space, "cancel").out == "cancelled\n"
    result = space.epopctl("balance", "--wait")
    assert result.err == "epopctl: the ranks did not end enough iterations in time to be compared\n", result
    assert [one["state"] for one in space.status()["adaptations"]] == ["cancelled", "failed"]


def done_by_itself(space, *arguments, ratio):
    """How many balances a job does until it has made its iterations, and the imbalance that is left."""
    result = space.start_epop("--verbose", "--balance", ratio, UNEVEN, *arguments, ranks=RANKS, limit=120).wait()
    assert result.status == 0, result
    return result.err.count("epop: committed balance 3 -> 3 "), float(result.out.split()[-1])


def test_a_job_that_balances_itself(space):
    running = start(space, "cuts", "--quiet", "--balance", "1.4")
    status = space.wait_for_status(lambda status: [one["state"] for one in status["adaptations"]][:1] == ["committed"])
    assert status["adaptations"][0]["by"] == "option" and status["adaptations"][0]["imbalance"] > 1.4, status
    stop(space, running)


def test_constant_costs_come_to_rest(space):
    """The time would do for more balances."""
    done, left = done_by_itself(space, "cuts", "120", "300", "250", ratio="1.4")
    assert 1 <= done <= 3 and left < 1.4 < AT_FIRST, (done, left)


def test_what_cannot_be_dealt_out_better_is_left_alone(space):
    """The first of four elements has ten of thirteen units."""
    done, left = done_by_itself(space, "cuts", "4", "3000", "250", ratio="1.2")
    assert 1 <= done <= 2 and left == pytest.approx(30 / 13, abs=1e-3), (done, left)


def test_what_could_not_be_dealt_out_better_is_tried_again(space):
    """As before; then the dear one is another one, of another rank, and all is as uneven."""
    program = (UNEVEN, "cuts", "4", "3000", ENDLESS, "150")
    running = start(space, "", "--quiet", "--balance", "1.2", program=program)
    space.wait_for_status(lambda status: [one["state"] for one in status["adaptations"]].count("committed") >= 4, limit=100)
    stop(space, running)


def test_an_even_job_is_left_alone(space):
    """With three elements there is no dear quarter."""
    assert done_by_itself(space, "cuts", "3", "20000", "200", ratio="2") == (0, 1)


def test_loads_that_wander(space):
    """The dear quarter goes on by one element in ten iterations: what was even does not stay so."""
    running = start(space, "", "--quiet", "--balance", "1.3", program=(UNEVEN, "cuts", "120", "200", ENDLESS, "10"))
    space.wait_for_status(lambda status: [one["state"] for one in status["adaptations"]].count("committed") >= 2, limit=100)
    stop(space, running)
