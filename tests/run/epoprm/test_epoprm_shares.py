"""epoprm: accounts with shares: who comes first, what the next daemon knows of it, and what commands show."""

import json

import job
import pytest
import ruling
from schemas import validate

EPOPRM = job.BUILD / "bin/epoprm"
fixture_daemon = ruling.on_local_nodes(2)


def command(daemon, *words, status=0):
    result = daemon.space.start([EPOPRM, *words], env={"EPOPRM_DIR": daemon.directory}).wait()
    assert result.status == status, result
    return result.out if not status else result.err


def until(space, name="go-on"):
    path = space.directory / name
    return path, ("sh", "-c", f"until [ -e {path} ]; do sleep 0.1; done")


def order(daemon, *numbers):
    return sorted(numbers, key=lambda number: daemon.wait_end(number)["started"])


def test_who_used_least_over_its_share_comes_first(daemon, space):
    """Alice has had the machine; of those that wait bob's come first, also under the next daemon, which has it from the journal; without
    shares they start as they came."""
    daemon.options += ["--shares", "alice=1,bob=1", "--policy", "easy"]
    daemon.start()
    path, waits = until(space)
    first = daemon.submit(*waits, ranks=(2, 2), account="alice", limit=1000)
    daemon.wait_runs(first, 2)
    alice = [daemon.submit(*ruling.MOMENT, ranks=(2, 2), account="alice", limit=10) for _ in range(2)]
    bob = [daemon.submit(*ruling.MOMENT, ranks=(2, 2), account="bob", limit=10) for _ in range(2)]
    jobs = daemon.jobs()
    assert jobs[first]["account"] == "alice" and jobs[first]["usage"] == pytest.approx(2, abs=0.2), jobs
    assert jobs[bob[0]]["account"] == "bob" and jobs[bob[0]]["usage"] == 0, jobs
    daemon.kill()
    daemon.start()
    assert daemon.jobs()[first]["usage"] == pytest.approx(2, abs=0.2)
    promised = min(daemon.jobs().values(), key=lambda one: one.get("reserved", 1e300))["job"]
    assert promised == alice[0], "the first that waited was promised its start, which holds"
    path.touch()
    assert order(daemon, *alice, *bob) == [alice[0], *bob, alice[1]]


def test_an_account_is_changed(daemon, space):
    """Of one that waits: it comes where the other account's jobs come, also under the next daemon."""
    daemon.options += ["--shares", "alice=1,bob=1", "--policy", "easy"]
    daemon.start()
    path, waits = until(space)
    whole = daemon.submit(*waits, ranks=(2, 2), account="alice", limit=1000)
    daemon.wait_runs(whole, 2)
    promised, other, first = (daemon.submit(*ruling.MOMENT, ranks=(2, 2), account="alice", limit=10) for _ in range(3))
    ruling.wait_for(lambda: daemon.jobs()[promised].get("reserved"))
    assert daemon.request("change", job=first, account="bob", priority=0)["ok"]
    refused = daemon.request("change", job=whole, account="bob", priority=5)
    assert refused["code"] == "refused" and "has started" in refused["reason"] and "priority" not in daemon.jobs()[whole], refused
    assert daemon.events(first, "changed")[0]["text"] == "its account is bob (it was alice)"
    assert daemon.jobs()[first]["account"] == "bob" and daemon.jobs()[first]["usage"] == 0
    daemon.kill()
    daemon.start()
    assert daemon.jobs()[first]["account"] == "bob"
    path.touch()
    assert order(daemon, promised, other, first) == [promised, first, other]


def test_what_is_shown(daemon, space):
    daemon.options += ["--shares", "alice=3,*=1", "--half-life", "1h"]
    daemon.start()
    path, waits = until(space)
    mine = daemon.submit(*waits, ranks=(1, 1), account="alice")
    other = daemon.submit(*waits, ranks=(1, 1))
    for number in (mine, other):
        daemon.wait_runs(number, 1)
    daemon.wait_job(other, lambda one: one["usage"] > 0)
    user = daemon.jobs()[other]["account"]
    titles, *rows = [line.split("\t") for line in command(daemon, "queue").splitlines()]
    assert titles[-1] == "ACCOUNT" and rows[0][-1].startswith("alice ") and rows[1][-1].startswith(f"{user} "), rows
    queue = json.loads(command(daemon, "queue", "--json"))
    validate("epoprm", queue)
    assert "it is counted for alice, which has used " in command(daemon, "why", str(mine))
    path.touch()
    for number in (mine, other):
        daemon.wait_end(number)
    why = json.loads(command(daemon, "why", "--json", str(mine)))
    validate("epoprm", why)
    assert why["job"]["account"] == "alice" and "usage" not in why["job"]
    assert "it is counted for alice\n" in command(daemon, "why", str(mine))
    record = json.loads(command(daemon, "report", "-o", "-", "--format", "json"))
    validate("schedule", record)
    [run] = record["runs"]
    assert [one["account"] for one in run["jobs"]] == ["alice", user]
    assert {one["account"]: (one["share"], one["done"]) for one in run["accounts"]} == {"alice": (3, 1), user: (1, 1)}
    by = {one["account"]: one["usage"] for one in run["accounts"]}
    assert by["alice"] < 1 < by[user], by
    daemon.stop()
    daemon.options += ["--shares", "none"]
    daemon.start()
    last = daemon.submit(*ruling.MOMENT, account="bob")
    assert daemon.jobs()[last]["account"] == "bob" and "usage" not in daemon.jobs()[last]
    daemon.wait_end(last)


def test_what_makes_no_sense(daemon):
    daemon.start()
    for account in ("", "a b", "a,b", "a=b", "#a", "x" * 101, 7):
        answer = daemon.try_submit("true", account=account)
        assert answer["code"] == "usage", (account, answer)
    assert '--account: "a b" is no name' in command(daemon, "submit", "--account", "a b", "--", "true", status=2)


@pytest.mark.parametrize("words, said", [
    (["--local", "1", "--shares", "alice=0"], 'start: --shares: "alice=0" is not ACCOUNT=SHARE'),
    (["--local", "1", "--shares", "nowhere"], "nowhere: No such file"),
    (["--local", "1", "--half-life", "soon"], 'start: --half-life: "soon" is no time'),
    (["--site", "slurm", "--shares", "a=1"], "are of nodes that epoprm rules itself"),
])
def test_a_start_that_makes_no_sense(space, words, said):
    result = space.start([EPOPRM, "start", *words], env={"EPOPRM_DIR": space.directory / "state"}).wait()
    assert result.status and said in result.err and result.err.count("\n") == 1, result
