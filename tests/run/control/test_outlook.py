"""What a status says for schedulers: size rules, the structure of the program and what comes next, speeds by size, costs
of past adaptations. What the numbers are made of is exact where all ranks stand still, in a pause."""

import json
import re

import job
import joining
import pytest
from scenario import Scenario, Switch, check_status
from executables import loop, start  # noqa: F401
from schemas import validate


def of_element(status, pc):
    """Iterations by size."""
    return {speed["size"]: speed["iterations"] for speed in status["elements"][pc]["speeds"]}


def sizes(space, rule, *arguments, **how):
    return Scenario(space, *arguments, program="scenario_sizes", env={"EPOP_TEST_SIZES": rule}, start=2, ranks=4, **how)


def wait_for_element(it, pc):
    return check_status(it.wait_for_status(lambda status: status["element"] and status["element"]["pc"] == pc))


# ---- Rules


def test_a_function_as_a_list(space):
    it = Scenario(space, program="scenario_sizes", env={"EPOP_TEST_SIZES": "function"}, start=1, ranks=4)
    rule = check_status(it.status())["sizes"]
    assert rule == {"kind": "function", "min": 0, "max": 0, "preferred": 0, "accepted": [1, 3], "listed": 4,
                    "text": "sizes chosen by the program's own function"}
    it.stop()


def test_an_element_has_a_rule_of_its_own(space):
    it = sizes(space, "power of two second")
    status = check_status(it.status())
    assert status["sizes"]["accepted"] == [1, 2, 3, 4]
    rules = [element["sizes"] for element in status["elements"]]
    assert rules[:2] == [None, None] and rules[3] is None
    assert (rules[2]["kind"], rules[2]["accepted"]) == ("power_of_two", [1, 2, 4])
    it.stop()


# ---- Structure, and what comes next


def test_structure(space):
    first = Switch(space, "first").on()
    it = sizes(space, "pair second", f"first-while={first}")
    status = wait_for_element(it, 1)
    assert [(element["pc"], element["type"], element["name"]) for element in status["elements"]] == [
        (0, "INIT", "start"), (1, "EP", "first"), (2, "EP", "second"), (3, "RP", "report")]
    assert status["next"] == {"pc": 2, "type": "EP", "name": "second"}
    assert status["elements"][2]["sizes"]["accepted"] == [1, 2]
    first.off()
    assert wait_for_element(it, 2)["next"] == {"pc": 3, "type": "RP", "name": "report"}
    it.stop()


def test_the_way_to_the_end(space):
    it = Scenario(space, "iterations=100000", "work=4000", program="progress", start=2, ranks=2)
    status = check_status(it.wait_for_status(lambda status: "seconds" in (status["next"] or {})))
    following, progress = status["next"], status["progress"]
    assert (following["pc"], following["type"], following["name"]) == (2, "END", "end")
    assert following["iterations"] == 100000 - progress["iteration"] and progress["pc"] == 1
    assert following["seconds"] == pytest.approx(progress["left"], rel=0.01)
    assert following["seconds"] == pytest.approx(following["iterations"] / progress["rate"], rel=0.1)
    lines = dict(line.split("\t") for line in it.done("status").splitlines() if line.count("\t") == 1)
    assert re.fullmatch(r"end \(END, pc 2\), after \d+ iterations, in .+", lines["next"]), lines
    assert re.fullmatch(r"\d+(\.\d+)?/s with 2", lines["speed"]), lines
    it.done("stop", "--wait")


def test_behind_a_branch_nothing_is_known(space):
    it = Scenario(space, "rounds=1000000000", program="scenario_phases", start=2, ranks=2)
    seen = {}
    while set(seen) != {1, 2}:
        status = check_status(it.status())
        if status["element"]:
            seen[status["element"]["pc"]] = status["next"]
        seen.pop(0, None)
        seen.pop(3, None)
    assert seen[1] == {"pc": 2, "type": "EP", "name": "some"}
    assert seen[2] == {"pc": 3, "type": "BRANCH", "name": "again?"}
    it.done("stop", "--wait")


# ---- Speeds


def test_all_iterations_are_counted_by_size(space):
    """Also those of stretches in which nobody asked."""
    it = Scenario(space, "iterations=1000000000", "work=2000", program="progress", start=2, ranks=4)
    for size in (4, 1, 2):
        it.resize(size)
    it.done("pause")
    status = check_status(it.status())
    speeds = of_element(status, 1)
    assert list(speeds) == sorted(speeds) and set(speeds) <= {1, 2, 4}
    assert sum(speeds.values()) == status["element"]["iteration"] > 0
    for adaptation, size in zip(status["adaptations"], (2, 4, 1)):
        assert adaptation["from"] == size
    again = check_status(it.status())
    assert again["elements"] == status["elements"], "time goes on in a pause"
    it.done("resume")
    it.done("stop", "--wait")


@joining.needed
@joining.each_backend
def test_all_iterations_are_counted_where_processes_come_and_go(space, backend):
    """Also where rank 0 is another process each time."""
    it = Scenario(space, start=2, ranks=2, options=backend)
    for size in (3, 1):
        it.resize(size)
    it.done("pause")
    status = it.status()
    validate("control", status, "status")
    speeds = of_element(status, 1)
    assert set(speeds) <= {1, 2, 3} and sum(speeds.values()) == status["element"]["iteration"] > 0
    assert {(cost["from"], cost["to"]) for cost in status["costs"]} == {(2, 3), (3, 1)}
    assert next(cost for cost in status["costs"] if cost["to"] == 3)["bytes"] > 0
    it.done("resume")
    it.stop()


def test_speedup(space):
    """Naps of work / ranks: it cannot be more than the ranks, and at most half a nap is lost."""
    it = Scenario(space, "iterations=1000000000", "work=40000", program="progress", start=1, ranks=4)
    it.wait_for_status(lambda status: of_element(status, 1).get(1, 0) >= 10)
    it.resize(4)
    status = check_status(it.wait_for_status(lambda status: of_element(status, 1).get(4, 0) >= 20))
    one, four = status["elements"][1]["speeds"]
    assert (one["size"], one["speedup"], four["size"]) == (1, 1, 4)
    assert one["rate"] == pytest.approx(one["iterations"] / one["seconds"]) and one["rate"] <= 25
    assert four["speedup"] == pytest.approx(four["rate"] / one["rate"]) and four["rate"] <= 100
    it.done("stop", "--wait")


def test_short_visits(space):
    """Every visit counts: the first phase has one iteration, the second one to three."""
    it = Scenario(space, "rounds=1000000000", "skew=500", program="scenario_phases", start=2, ranks=3)
    it.resize(3)
    it.done("pause")
    status = check_status(it.status())
    place = status["element"]
    rounds = (place["visit"] - 1) // 3
    in_first, in_second = rounds, sum(1 + number % 3 for number in range(rounds))
    if place["pc"] == 2:
        in_first, in_second = in_first + 1, in_second + place["iteration"]
    assert sum(of_element(status, 1).values()) == in_first and sum(of_element(status, 2).values()) == in_second, status
    it.done("resume")
    it.done("stop", "--wait")


def test_a_plain_executable(space, loop):
    """Its structure is not known: it is one phase, and an iteration goes from probe to probe."""
    it = start(space, loop, space.directory / "end", ranks=3)
    space.resize(2)
    assert space.epopctl("pause").status == 0
    told = space.status()
    validate("control", told, "status")
    assert [(element["type"], element["name"]) for element in told["elements"]] == [("EP", "main")]
    assert (told["next"]["pc"], told["next"]["type"]) == (1, "END") and "iterations" not in told["next"]
    assert sum(of_element(told, 0).values()) == told["element"]["iteration"] - 1 > 0
    assert space.epopctl("resume").status == 0 and space.epopctl("stop").status == 0
    assert it.wait().status == 0


# ---- Costs


def test_costs(space):
    it = Scenario(space, start=1, ranks=3)
    assert check_status(it.status())["costs"] == []
    for size in (3, 1, 3):
        it.resize(size)
    status = check_status(it.status())
    costs = {(cost["from"], cost["to"]): cost for cost in status["costs"]}
    assert {change: cost["times"] for change, cost in costs.items()} == {(1, 3): 2, (3, 1): 1}
    for change, cost in costs.items():
        those = [a for a in status["adaptations"] if (a["from"], a["to"]) == change]
        took = [a["times"]["committed"] - a["times"]["requested"] for a in those]
        assert cost["seconds"] == pytest.approx(sum(took) / len(took), abs=1e-3) and cost["stall"] > 0
        assert cost["bytes"] == pytest.approx(sum(a["bytes"] for a in those) / len(those))
    assert costs[1, 3]["bytes"] > 0
    it.stop()


# ---- Weak scaling


def test_speeds_are_of_work_with_weak_scaling(space):
    """Work per second is that of as many ranks; a phase beside it has strong scaling."""
    running = space.start_epop("--start", "1", job.program("synthetic"), "phase=a", "iterations=100000000", "seconds=0.01", "speedup=none", ranks=2)
    space.wait_for_status(lambda status: speeds_of(status), running=running)
    space.resize("2")
    status = check_status(space.wait_for_status(lambda status: len(speeds_of(status)) == 2, running=running))
    element = present(status)
    one, two = element["speeds"]
    assert element["scaling"] == "weak" and two["speedup"] == pytest.approx(2 * two["rate"] / one["rate"]), element
    measure = job.wait_for(lambda: validate("control", json.loads(space.epopctl("measure", "--json").out), "measure"), job.LIMIT,
                           lambda measure: any(one["pc"] == element["pc"] for one in measure["elements"]))
    assert {one["scaling"] for one in measure["elements"] if one["pc"] == element["pc"]} == {"weak"}, measure
    assert "scaling" in space.epopctl("status").out and "elastic, weak" in space.epopctl("measure").out
    space.stop(running)


def present(status):
    return status["elements"][status["element"]["pc"]] if status["element"] else {}


def speeds_of(status):
    return [speed for speed in present(status).get("speeds", ()) if "speedup" in speed]
