"""Deadlines in epopsim: who comes first, who is given up, what is recorded, and what `gain` does for them."""

import json

import job
import pytest
from schemas import validate

EPOPSIM = job.BUILD / "bin/epopsim"


def write(space, jobs, nodes):
    path = space.directory / "jobs.json"
    record = {"schema": "epop.workload", "version": 1, "machine": {"nodes": nodes}, "jobs": jobs}
    validate("workload", record)
    path.write_text(json.dumps(record))
    return path


def simulated(space, *arguments, jobs, nodes=4):
    result = space.start([EPOPSIM, "-q", "-o", "-", *arguments, write(space, jobs, nodes)]).wait()
    assert result.status == 0, result
    record = json.loads(result.out)
    validate("schedule", record)
    [run] = record["runs"]
    return run


def one(nodes, seconds, **more):
    return {"nodes": nodes, "phases": [{"name": "all", "iterations": 100, "seconds": seconds * nodes / 100}], **more}


def begins(run):
    return {each["id"]: each.get("start") for each in run["jobs"]}


@pytest.mark.parametrize("policy", ["easy", "ers", "gain", "gain,firm=0", "min", "dmr"])
def test_who_has_to_start_first_comes_first(space, policy):
    """All four nodes for each. The second is promised its start when the first begins; of the others those with a deadline come first, and
    the one that has to start first of these."""
    jobs = [one(4, 100), one(4, 100, submit=1), one(4, 100, submit=2), one(4, 100, submit=3, deadline=900), one(4, 100, submit=4, deadline=350)]
    run = simulated(space, "--policy", policy, jobs=jobs)
    assert begins(run) == {1: 0, 2: 100, 5: 200, 4: 300, 3: 400}, policy
    by = {each["id"]: each for each in run["jobs"]}
    assert (by[4]["deadline"], by[4]["late"]) == (903, pytest.approx(-503)) and (by[5]["deadline"], by[5]["late"]) == (354, pytest.approx(-54))
    assert "deadline" not in by[1] and "late" not in by[1]
    assert (run["metrics"]["deadlines"], run["metrics"]["missed"], run["metrics"]["mean_lateness"]) == (2, 0, 0)


def test_what_cannot_be_met_changes_nothing(space):
    jobs = [one(4, 100), one(4, 100, submit=1), one(4, 100, submit=2, deadline=150), one(4, 100, submit=3, deadline=450)]
    run = simulated(space, "--policy", "easy", jobs=jobs)
    assert begins(run) == {1: 0, 2: 100, 4: 200, 3: 300}  # at 100 the third cannot meet it any more
    metrics = run["metrics"]
    assert (metrics["deadlines"], metrics["missed"]) == (2, 1) and metrics["mean_lateness"] == pytest.approx(400 - 152)


def test_who_is_late_is_given_up(space):
    """One waits for too long, one takes longer than its limit says, and one is in time."""
    late = {"drop_late": True}
    jobs = [one(4, 100), one(4, 100, submit=1, deadline=150, **late), one(4, 100, limit=50, submit=2, deadline=190, **late),
            one(2, 20, submit=3, deadline=400, **late)]
    run = simulated(space, "--policy", "easy", jobs=jobs)
    by = {each["id"]: each for each in run["jobs"]}
    assert [by[number]["outcome"] for number in (1, 2, 3, 4)] == ["done", "never", "failed", "done"]
    assert by[3]["start"] == 100 and by[3]["end"] == pytest.approx(192)
    said = [(each["time"], each["text"]) for each in run["events"]]
    assert said == [(pytest.approx(51), "job 2 is given up: it cannot end before its deadline"),
                    (pytest.approx(192), "job 3 is ended: its deadline is over")]
    assert (run["metrics"]["deadlines"], run["metrics"]["missed"]) == (3, 2)


def test_gain_grows_a_job_for_its_deadline(space):
    """Eight nodes are idle when the jobs in the back end: without deadlines both get some; with one that job gets what it needs, and the
    other the rest, though a node brings that one more."""
    slow = {"model": "amdahl", "serial": 0.1}
    fast = {"model": "amdahl", "serial": 0.02}

    def jobs(**deadline):
        make = lambda speedup, **more: {"nodes": 4, "min": 1, "max": 16, "kind": "malleable", **more,
                                        "phases": [{"name": "all", "iterations": 1000, "seconds": 4, "speedup": speedup}]}
        return [one(8, 100), make(slow, limit=1600, **deadline), make(fast, limit=1600)]
    ends = lambda run: {each["id"]: each["end"] for each in run["jobs"]}
    without = ends(simulated(space, "--policy", "gain", jobs=jobs(), nodes=16))
    run = simulated(space, "--policy", "gain", jobs=jobs(deadline=without[2] - 60), nodes=16)
    assert ends(run)[2] <= without[2] - 60 and run["metrics"]["missed"] == 0, (without, ends(run))


def test_the_table_has_them(space):
    path = write(space, [one(4, 100), one(4, 100, submit=1, deadline=150)], 4)
    result = space.start([EPOPSIM, "-q", "--policy", "easy", path]).wait()
    titles, row = [line.split() for line in result.out.splitlines()]
    assert result.status == 0 and titles[-4:-1] == ["deadlines", "missed", "late/s"] and row[-4:-1] == ["1", "1", "49.0"], result
    metrics = space.start([EPOPSIM, "-q", "--policy", "easy", "--json", path]).wait()
    validate("metrics", json.loads(metrics.out))
