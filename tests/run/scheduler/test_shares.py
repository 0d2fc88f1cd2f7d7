"""Shares of accounts in epopsim: who comes first, promises that hold, and what the options refuse."""

import collections
import json

import job
import pytest
from schemas import validate

EPOPSIM = job.BUILD / "bin/epopsim"
NASA = job.ROOT / "scheduler/examples/NASA-iPSC-1993-3.1-cln.swf.gz"
POLICIES = ["easy", "ers", "gain", "gain,firm=0", "min", "pref", "average", "keeppref", "dmr"]


def simulated(space, *arguments):
    result = space.start([EPOPSIM, "-q", "-o", "-", *arguments]).wait()
    assert result.status == 0, result
    record = json.loads(result.out)
    validate("schedule", record)
    [run] = record["runs"]
    return run


def workload(space, jobs, nodes=16):
    path = space.directory / "jobs.json"
    record = {"schema": "epop.workload", "version": 1, "machine": {"nodes": nodes}, "jobs": jobs}
    validate("workload", record)
    path.write_text(json.dumps(record))
    return path


def one(account, nodes, seconds, **more):
    return {"account": account, "nodes": nodes, "phases": [{"name": "all", "iterations": 10, "seconds": seconds * nodes / 10}], **more}


def crowd(space, kind):
    """More than the machine can do, of two accounts in turn."""
    jobs = [one(("alice", "bob")[i % 2], (1, 2, 4, 8)[i * 7 % 4], 100 + 37 * i % 900, submit=i, kind=kind, max=16) for i in range(300)]
    return workload(space, [dict(each, min=1) for each in jobs])


def used_until(run, end):
    """Node seconds of each account."""
    used = collections.Counter()
    for each in run["jobs"]:
        for begin, until, nodes in each["stays"]:
            ends = [[int(number) for number in part.split("-")] for part in nodes.split(",")]
            used[each["account"]] += max(0, min(until, end) - begin) * sum(part[-1] - part[0] + 1 for part in ends)
    return used


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", ["rigid", "malleable"])
def test_accounts_get_their_shares(space, policy, kind):
    path = crowd(space, kind)
    run = simulated(space, "--policy", policy, "--shares", "alice=3,bob=1", path)
    half = run["metrics"]["makespan"] / 3
    used = used_until(run, half)
    assert 2.5 < used["alice"] / used["bob"] < 3.5, used
    assert [each["account"] for each in run["accounts"]] == ["alice", "bob"]
    without = simulated(space, "--policy", policy, path)
    used = used_until(without, half)
    assert used["alice"] / used["bob"] < 2 and "accounts" not in without, used


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_plans_a_trace(space, policy):
    """The simulator's own checks hold: among them that of promises, where limits are true and jobs rigid."""
    words = ["--policy", policy, "--jobs", "800", "--load", "1", "--shares", "*=1,4=3"]
    simulated(space, *words, "--limit-factor", "1", NASA)
    simulated(space, *words, "--malleable", "0.5", NASA)


def test_promises_of_easy_hold(space):
    run = simulated(space, "--policy", "easy", "--jobs", "1500", "--load", "1.1", "--limit-factor", "1", "--shares", "*=1", NASA)
    began = {each["id"]: each["start"] for each in run["jobs"]}
    first = {}
    for decision in run["decisions"]:
        if decision["kind"] == "reserve":
            first.setdefault(decision["job"], decision["at"])
    assert len(first) > 50 and all(began[number] <= at + 0.01 for number, at in first.items())


def test_who_was_away_comes_first(space):
    """Bob comes when alice has used the machine for long: before all of her jobs that wait. What she used is soon forgotten with a short
    half-life. The next job is always promised its start while the one before it begins."""
    path = workload(space, [one("alice", 16, 100) for _ in range(6)] + [one("bob", 16, 100, submit=350) for _ in range(3)])
    began = lambda run: [each["account"][0] for each in sorted(run["jobs"], key=lambda each: each["start"])]
    assert began(simulated(space, "--policy", "easy", path)) == list("aaaaaabbb")
    assert began(simulated(space, "--policy", "easy", "--shares", "*=1", path)) == list("aaaaabbba")
    assert began(simulated(space, "--policy", "easy", "--shares", "*=1", "--half-life", "20s", path)) == list("aaaaabbab")


def test_a_user_of_a_trace_is_an_account(space):
    path = space.directory / "trace.swf"
    rows = [(1, 0, 7), (2, 1, 7), (3, 2, 8)]
    path.write_text("; MaxProcs: 4\n" + "".join(f"{n} {at} -1 100 4 -1 -1 4 100 -1 1 {user} 1 -1 -1 -1 -1 -1\n" for n, at, user in rows))
    began = lambda run: {each["id"]: each["start"] for each in run["jobs"]}
    assert began(simulated(space, "--policy", "easy", "--shares", "7=1", path)) == {1: 0, 2: 100, 3: 200}  # it is promised
    file = space.directory / "shares"
    file.write_text("# by number\n7=1\n8=2\n")
    run = simulated(space, "--policy", "easy", "--shares", file, path)
    assert {each["account"]: each["share"] for each in run["accounts"]} == {"7": 1, "8": 2}


@pytest.mark.parametrize("words, said", [
    (["--shares", "alice"], "--shares: alice: No such file or directory; a list is ACCOUNT=SHARE,..."),
    (["--shares", "alice=0"], '--shares: "alice=0" is not ACCOUNT=SHARE'),
    (["--shares", "a=1,a=2"], "--shares: a is there twice"),
    (["--half-life", "1d"], "--half-life"),
    (["--shares", "a=1", "--half-life", "soon"], "--half-life"),
])
def test_what_makes_no_sense_is_refused(space, words, said):
    result = space.start([EPOPSIM, "-q", *words, NASA]).wait()
    assert result.status == 2 and result.err.startswith(f"epopsim: {said}") and result.err.count("\n") == 1, result


def test_an_account_with_a_blank_is_refused(space):
    path = space.directory / "jobs.json"
    path.write_text(json.dumps({"schema": "epop.workload", "version": 1, "machine": {"nodes": 4}, "jobs": [one("a b", 1, 10)]}))
    result = space.start([EPOPSIM, "-q", path]).wait()
    assert result.status == 2 and "account: has a blank" in result.err, result
