"""The dissertation's figures 14.7 to 14.9, by the policy ers: applications modelled after its chapter 14, on 32 nodes of
16 cores (SuperMUC Phase 1). Its decision steps are the evaluations, the first of which, at 0, has no data."""

import json

import job
import pytest
from schemas import validate

EPOPSIM = job.BUILD / "bin/epopsim"
EXAMPLES = job.ROOT / "scheduler/examples"
NODES, CORES, PERIOD = 32, 16, 60


def schedule(space, workload, policy):
    result = space.start([EPOPSIM, "--quiet", "--policy", policy, "--output", "-", EXAMPLES / workload]).wait()
    assert result.status == 0 and result.err == "", result
    return json.loads(result.out)["runs"][0]


def named(run, name):
    [found] = [each for each in run["jobs"] if each["name"] == name]
    return found


def changes(run, name):
    """Step and size, of the start and of each resize."""
    number = named(run, name)["id"]
    own = [each for each in run["decisions"] if each["job"] == number and each["kind"] in ("start", "resize")]
    return [(int(each["time"] // PERIOD) + 1, each["to"]) for each in own]


def reasons(run, name):
    number = named(run, name)["id"]
    return [each["reason"] for each in run["decisions"] if each["job"] == number and each["kind"] == "resize"]


def count(nodes):
    """Of "0-3,7"."""
    ends = [part.split("-") for part in nodes.split(",") if part]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)


def idle_at(run, time):
    stays = [stay for each in run["jobs"] for stay in each["stays"]]
    return NODES - sum(count(nodes) for begin, end, nodes in stays if begin <= time < end)


def idle_node_seconds(run):
    metrics = run["metrics"]
    return NODES * metrics["makespan"] * (1 - metrics["utilisation"])


def squares():
    """Nodes for 1, 4, 9, ... processes, one on each core."""
    return {-(-root * root // CORES) for root in range(1, 23)}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.name)
def test_the_examples_agree_with_the_schema(path):
    validate("workload", json.loads(path.read_text()))


# ---- 14.7: Gauss and Cannon, both 4096 x 4096 ----

def test_gauss_is_halved_to_one_node_in_four_steps(space):
    run = schedule(space, "gauss-cannon-4096.json", "ers,firm=0")
    assert changes(run, "gauss") == [(1, 16), (2, 8), (3, 4), (4, 2), (5, 1)]
    assert all("above 0.1" in reason for reason in reasons(run, "gauss"))


def test_cannon_takes_what_gauss_gives_back(space):
    run = schedule(space, "gauss-cannon-4096.json", "ers,firm=0")
    assert changes(run, "cannon") == [(1, 16), (2, 23), (3, 28), (5, 31)]
    assert all("below 0.01" in reason and "nodes idle" in reason for reason in reasons(run, "cannon"))
    assert {nodes for _, nodes in changes(run, "cannon")} <= squares()


def test_then_no_node_is_idle(space):
    run = schedule(space, "gauss-cannon-4096.json", "ers,firm=0")
    assert idle_at(run, 30) == 0 and idle_at(run, 3 * PERIOD + 30) == 2 and idle_at(run, 4 * PERIOD + 30) == 0
    assert idle_at(run, named(run, "cannon")["end"] - 1) == 0


# ---- 14.8: Cannon with 1024 x 1024 ----

def test_the_small_cannon_goes_down_to_two_nodes(space):
    run = schedule(space, "gauss-cannon-1024.json", "ers,firm=0")
    assert changes(run, "cannon") == [(1, 16), (2, 8), (3, 4), (4, 2)]
    assert changes(run, "gauss") == [(1, 16), (2, 8), (3, 4), (4, 2), (5, 1)]
    assert named(run, "cannon")["end"] > 6 * PERIOD and idle_at(run, 6 * PERIOD) == 29


def test_without_a_band_it_goes_on(space):
    run = schedule(space, "gauss-cannon-1024.json", "ers,firm=0,upper=0.01")
    assert changes(run, "cannon")[-1] == (5, 1)


# ---- 14.9: three Cannons of five, ten and fifteen minutes, with and without time balancing ----

def third_start(run):
    return named(run, "fifteen")["start"]


def test_time_balancing_shortens_the_wait_and_the_makespan(space):
    balanced = schedule(space, "three-cannon.json", "ers,firm=0")
    without = schedule(space, "three-cannon.json", "ers,firm=0,balance=no")
    assert idle_node_seconds(balanced) < 0.7 * idle_node_seconds(without)
    assert third_start(balanced) < third_start(without) - 20
    assert balanced["metrics"]["makespan"] < without["metrics"]["makespan"] - 20


def test_the_balanced_jobs_end_together(space):
    run = schedule(space, "three-cannon.json", "ers,firm=0")
    five, ten = named(run, "five"), named(run, "ten")
    assert abs(five["end"] - ten["end"]) < 10 and third_start(run) == max(five["end"], ten["end"])
    assert "time balancing of 2 jobs" in reasons(run, "five")[0] and changes(run, "five")[1][0] == 2


def test_without_filling_either_the_nodes_of_the_first_stay_idle(space):
    filled = schedule(space, "three-cannon.json", "ers,firm=0,balance=no")
    without = schedule(space, "three-cannon.json", "ers,firm=0,balance=no,fill=no")
    assert idle_at(without, 400) == 16 and idle_at(filled, 400) < 2
    assert third_start(filled) < third_start(without) == named(without, "ten")["end"]


def test_jobs_in_the_band_are_not_balanced(space):
    """As on Phase 2: both are removed from the candidates, and nothing is won."""
    run = schedule(space, "three-cannon.json", "ers,firm=0,lower=0.001")
    rigid = schedule(space, "three-cannon.json", "easy")
    assert run["metrics"]["resizes"] == 0 and third_start(run) == third_start(rigid)
