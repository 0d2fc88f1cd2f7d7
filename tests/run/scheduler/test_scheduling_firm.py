"""gain and ers beside EASY backfilling, in windows of drawn jobs: what was promised holds, and, if all that EASY leaves idle
is kept for jobs that come, short jobs wait no longer."""

import json

import job
import pytest

EPOPSIM = job.BUILD / "bin/epopsim"
NASA = job.ROOT / "scheduler/examples/NASA-iPSC-1993-3.1-cln.swf.gz"
LOADS = ("0.5", "0.7", "0.85", "0.9", "1.0", "1.2")
PROMISE = 5  # seconds that a start may be late: what resizes take


def simulate(space, trace, policy, share, seed, load, *options):
    """The runs of easy and the policy."""
    result = space.start([EPOPSIM, "--quiet", "--output", "-", "--policy", "easy", "--policy", policy, "--load", load,
                          "--malleable", share, "--seed", str(seed), *options, trace]).wait()
    assert result.status == 0 and result.err == "", result
    return json.loads(result.out)["runs"]


def drawn(space, seed):
    trace = space.directory / "drawn.swf"
    trace.write_text(space.start([EPOPSIM, "generate", "--nodes", "256", "--jobs", "300", "--seed", str(seed)]).wait().out)
    return trace


def assert_promises_hold(run):
    starts = {each["id"]: each["start"] for each in run["jobs"]}
    first = {}
    for each in run["decisions"]:
        if each["kind"] == "reserve":
            first.setdefault(each["job"], each["at"])
    late = {number: starts[number] - at for number, at in first.items() if starts[number] > at + PROMISE}
    assert first and not late, late


@pytest.mark.parametrize("policy", ["gain,keep=1", "ers,keep=1"])
@pytest.mark.parametrize("share", ["0.25", "0.5", "1"])
@pytest.mark.parametrize("seed", [1, 4, 6])
def test_no_worse_than_easy_and_promises_hold(space, seed, share, policy):
    easy, firm = simulate(space, drawn(space, seed), policy, share, seed, LOADS[seed % 6])
    assert firm["metrics"]["mean_slowdown"] <= 1.03 * easy["metrics"]["mean_slowdown"]
    assert_promises_hold(firm)


@pytest.mark.parametrize("seed, share, load", [(72, "0.25", "1.2"), (57, "0.5", "0.85")])
def test_promises_hold_where_jobs_shrink_for_them_and_grow_again(space, seed, share, load):
    """A job that grows is not as fast as its samples on fewer nodes say; or one promise makes jobs end after the next."""
    assert_promises_hold(simulate(space, drawn(space, seed), "gain", share, seed, load)[1])


@pytest.mark.parametrize("seed, load", [(170, "0.7"), (168, "1.2")])
def test_nothing_long_starts_ahead_of_a_job_that_is_due(space, seed, load):
    """A job of the whole machine waits for one that was slowed down, and was promised its start hours later."""
    easy, firm = simulate(space, drawn(space, seed), "ers", "0.5", seed, load)
    assert firm["metrics"]["mean_slowdown"] <= 1.03 * easy["metrics"]["mean_slowdown"]


@pytest.mark.parametrize("policy", ["gain", "ers"])
def test_in_a_queue_of_weeks_it_does_not_wait_for_a_schedule_that_it_cannot_keep(space, policy):
    easy, firm = simulate(space, NASA, policy, "0.25", 3, "0.9", "--jobs", "2000")
    assert firm["metrics"]["mean_slowdown"] <= 0.7 * easy["metrics"]["mean_slowdown"]
    assert_promises_hold(firm)


def job_of(number, submit, nodes, seconds, kind="rigid", **more):
    return {"id": number, "submit": submit, "kind": kind, "nodes": nodes, "phases": [{"seconds": seconds * nodes}], **more}


@pytest.mark.parametrize("policy", ["gain", "ers"])
def test_a_job_that_waits_is_helped_as_soon_as_others_may_shrink(space, policy):
    """The first one has its size for less than 10 s when the second comes, and nothing else happens after that."""
    path = space.directory / "two.json"
    jobs = [job_of(1, 0, 4, 1000, "malleable", min=1, max=4, limit=3600), job_of(2, 1, 2, 30, limit=60)]
    path.write_text(json.dumps({"schema": "epop.workload", "version": 1, "machine": {"nodes": 4}, "jobs": jobs}))
    result = space.start([EPOPSIM, "--quiet", "--output", "-", "--policy", policy, path]).wait()
    assert result.status == 0, result
    [second] = [each for each in json.loads(result.out)["runs"][0]["jobs"] if each["id"] == 2]
    assert 9 <= second["start"] <= 12, result


def test_short_jobs_do_not_land_behind_one_of_the_whole_machine(space):
    """The malleable job would be done early and let the whole machine's job begin, in whose time the short ones come."""
    jobs = [job_of(1, 0, 8, 4000, "malleable", min=2, max=16), job_of(2, 1, 16, 20000),
            *(job_of(number, 2500 + number, 4, 10) for number in range(3, 8))]
    path = space.directory / "whole.json"
    path.write_text(json.dumps({"schema": "epop.workload", "version": 1, "machine": {"nodes": 16}, "jobs": jobs}))
    result = space.start([EPOPSIM, "--quiet", "--output", "-", "--policy", "easy", "--policy", "gain,firm=0", "--policy", "gain", path]).wait()
    assert result.status == 0, result
    waits = [max(each["wait"] for each in run["jobs"] if each["id"] > 2) for run in json.loads(result.out)["runs"]]
    easy, loose, firm = waits
    assert loose > 10000 and firm <= easy + PROMISE, waits
