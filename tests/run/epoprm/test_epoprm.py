"""epoprm on nodes of this machine: jobs of every kind start, grow, give way, and end; what cannot be is refused."""

import pytest

import job
import joining
import ruling

pytestmark = joining.needed
LEDGER = job.program("ledger")
fixture_daemon = ruling.on_local_nodes(4, started=True)


def test_one_gives_way_to_another_and_takes_the_nodes_back(daemon):
    first = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 4))
    daemon.wait_runs(first, 4)
    second = daemon.submit("sleep", "1", ranks=(2, 2))
    daemon.wait_event("settled", first, 2)
    daemon.wait_end(second)
    shrunk, grown = daemon.rows("SELECT * FROM resize WHERE job=? ORDER BY id", first)[:2]
    assert (shrunk["from_nodes"], shrunk["to_nodes"], shrunk["nodes"]) == (4, 1, "local2,local3,local4")
    assert (grown["from_nodes"], shrunk["outcome"], grown["outcome"]) == (1, "done", "done")
    started = daemon.job_row(second)["started"]
    assert started >= shrunk["settled"] >= shrunk["committed"] > shrunk["asked"] > 0
    daemon.wait_runs(first, 4)
    assert [event["state"] for event in daemon.events(first) if event["kind"] in ("asked", "settled")][:2] == ["adapting", "running"]
    assert daemon.request("cancel", job=first)["ok"]
    assert daemon.wait_end(first, "cancelled")["reason"] == "cancelled by its user"
    assert "right in" in daemon.output(first)


def test_jobs_of_every_kind(daemon):
    """A rigid one, a moldable one, one that runs as it is, one that fails, one that cannot be started, an executable
    with elastic calls, which turns out to be malleable."""
    rigid = daemon.submit(*ruling.HOSTNAME, ranks=(2, 2))
    moldable = daemon.submit("sh", "-c", "echo of $PMI_SIZE; sleep 0.5", ranks=(1, 3))
    once = daemon.submit("sh", "-c", "echo $EPOPRM_JOB $EPOPRM_RANKS on $EPOPRM_HOSTS; exit 3", ranks=(1, 2), once=True)
    missing = daemon.submit("./is-not-there", ranks=(1, 1))
    assert daemon.wait_end(rigid)["status"] == 0
    assert len(daemon.output(rigid).split()) == 2
    daemon.wait_end(moldable)
    assert "of " in daemon.output(moldable)
    row = daemon.wait_end(once, "failed")
    assert (row["status"], row["reason"]) == (3, "exit status 3") and daemon.output(once).startswith(f"{once} ")
    odd = daemon.submit("sh", "-c", "exit 255", once=True, ranks=(1, 1))
    assert daemon.wait_end(odd, "failed")["reason"] == "exit status 255"  # which is no signal 127
    assert daemon.wait_end(missing, "failed")["status"] != 0
    elastic = daemon.submit(job.BUILD / "plain/heat_adapt", "1000", "1000000000", ranks=(1, 4))
    assert daemon.wait_job(elastic, lambda one: one["kind"] == "malleable")
    rigid = daemon.submit(*ruling.MOMENT, ranks=(3, 3))
    daemon.wait_end(rigid)
    daemon.request("cancel", job=elastic)
    daemon.wait_end(elastic, "cancelled")


def test_sizes_that_a_job_accepts(daemon):
    """By EPOP_SIZES: it begins at one of them, is resized to no other, and of a program of phases they count besides its own."""
    powers = {"EPOP_SIZES": "power-of-two"}
    moldable = daemon.submit("sh", "-c", "echo of $PMI_SIZE", ranks=(1, 3), env=powers)
    row = daemon.wait_end(moldable)
    assert daemon.output(moldable) == "of 2\n" * 2 and (row["ranks_min"], row["ranks_max"]) == (1, 2), row
    elastic = daemon.submit(job.BUILD / "plain/heat_adapt", "1000", "1000000000", ranks=(1, 4), env=powers)
    daemon.wait_runs(elastic, 4)
    assert daemon.request("drain", node="local2")["ok"]
    assert daemon.wait_runs(elastic, 2)
    phases = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 4), env={"EPOP_SIZES": "1,3-4"})
    daemon.wait_runs(phases, 1)
    daemon.request("cancel", job=elastic)
    daemon.wait_runs(phases, 3)
    resized = {one: {row["to_nodes"] for row in daemon.rows("SELECT to_nodes FROM resize WHERE job=?", one)}
               for one in (elastic, phases)}
    assert resized[elastic] <= {1, 2, 4} and resized[phases] == {3}, resized


def test_a_size_that_is_preferred(space):
    """Is the one that its user wants, for policies that go by that."""
    daemon = ruling.Daemon(space, "--local", "4", policy="easy").start()
    try:
        number = daemon.submit("sh", "-c", "echo of $PMI_SIZE", ranks=(1, 4), env={"EPOP_SIZES": "1-2,4,preferred=2"})
        daemon.wait_end(number)
        assert daemon.output(number) == "of 2\n" * 2
    finally:
        daemon.close()


def test_a_size_that_the_program_prefers(space):
    """Is the wanted one, too, once the program has said so; unless its user has said another one."""
    daemon = ruling.Daemon(space, "--local", "8", policy=job.BUILD / "tests/policies/wanted.so").start()
    try:
        for env, nodes in (({}, 4), ({"EPOP_SIZES": "any,preferred=2"}, 2)):
            number = daemon.submit(job.program("heat"), "1000", "1000000000", ranks=(1, 8), env=env)  # it prefers 4
            daemon.wait_runs(number, nodes)
            assert daemon.job_row(number)["ranks_max"] == 8
            daemon.request("cancel", job=number)
            daemon.wait_end(number, "cancelled")
    finally:
        daemon.close()


@pytest.mark.parametrize("rule, ranks, reason", [
    ("primes", (1, 4), "EPOP_SIZES is 'primes', which is no size rule: of any, even, odd, square, power-of-two or "),
    ("power-of-two", (3, 3), "EPOP_SIZES accepts no number of ranks from 3 to 3 that fills nodes of 1 slot")])
def test_sizes_that_cannot_be(daemon, rule, ranks, reason):
    answer = daemon.try_submit(*ruling.HOSTNAME, ranks=ranks, env={"EPOP_SIZES": rule})
    assert not answer["ok"] and answer["reason"].startswith(reason), answer


def test_jobs_that_come_after_others(daemon, space):
    """Nodes are idle, and they wait; those of which one did not end well are cancelled, and so on."""
    go_on = space.directory / "go-on"
    first = daemon.submit("sh", "-c", f"until [ -e {go_on} ]; do sleep 0.1; done", ranks=(1, 1))
    second = daemon.submit("sleep", "1000", ranks=(1, 1))
    third = daemon.submit("true", ranks=(1, 1), after=[first])
    both = daemon.submit("true", ranks=(1, 1), after=[first, second, first])
    last = daemon.submit("true", ranks=(1, 1), after=[both])
    daemon.wait_runs(first, 1)
    daemon.wait_runs(second, 1)
    said = {number: (one["state"], one.get("reason")) for number, one in daemon.jobs().items()}
    assert said[third] == ("waiting", f"after job {first}") and said[last] == ("waiting", f"after job {both}"), said
    assert said[both] == ("waiting", f"after jobs {first} and {second}"), said
    daemon.wait_end(daemon.submit("true", ranks=(1, 1)))  # others pass them
    go_on.touch()
    daemon.wait_end(first)
    assert daemon.job_row(daemon.wait_end(third)["number"])["started"] >= daemon.job_row(first)["ended"]
    daemon.wait_job(both, lambda one: one.get("reason") == f"after job {second}")
    daemon.request("cancel", job=second)
    daemon.wait_end(second, "cancelled")
    assert daemon.wait_end(both, "cancelled")["reason"] == f"job {second}, which it was to come after, is cancelled"
    assert daemon.wait_end(last, "cancelled")["reason"] == f"job {both}, which it was to come after, is cancelled"
    daemon.wait_end(daemon.submit("true", ranks=(1, 1), after=[first, third]))
    for number, reason in ((second, f"it cannot come after job {second}, which is cancelled"), (99, "there is no job 99 that it could come after")):
        answer = daemon.try_submit("true", after=[first, number])
        assert not answer["ok"] and answer["reason"] == reason, answer


def test_one_that_comes_after_another_is_cancelled(daemon):
    first = daemon.submit("sleep", "1000", ranks=(1, 1))
    second = daemon.submit("true", ranks=(1, 1), after=[first])
    assert daemon.request("cancel", job=second)["ok"]
    daemon.wait_end(second, "cancelled")
    daemon.wait_runs(first, 1)


def test_the_next_daemon_knows_what_comes_after_what(daemon, space):
    go_on = space.directory / "go-on"
    first = daemon.submit("sh", "-c", f"until [ -e {go_on} ]; do sleep 0.1; done", ranks=(1, 1))
    fails = daemon.submit("sh", "-c", f"until [ -e {go_on} ]; do sleep 0.1; done; exit 3", ranks=(1, 1))
    second = daemon.submit("true", ranks=(1, 1), after=[first])
    third = daemon.submit("true", ranks=(1, 1), after=[fails])
    daemon.wait_runs(first, 1)
    daemon.wait_runs(fails, 1)
    daemon.kill()
    daemon.start()
    assert daemon.jobs()[second]["reason"] == f"after job {first}"
    daemon.kill()
    go_on.touch()
    daemon.start()
    daemon.wait_end(second)
    daemon.wait_end(third, "cancelled")


def test_jobs_start_by_priority(daemon, space):
    """Two at a time: of those that wait the highest priority starts first, and who is given another one changes places."""
    go_on = space.directory / "go-on"
    until = ("sh", "-c", f"until [ -e {go_on} ]; do sleep 0.1; done")
    whole = daemon.submit(*until, ranks=(4, 4))
    daemon.wait_runs(whole, 4)
    low, first, second, late = (daemon.submit(*ruling.MOMENT, ranks=(4, 4), **more)
                                for more in ({"priority": -2}, {}, {"priority": 7}, {"priority": -5}))
    assert [one.get("priority") for one in daemon.jobs().values()] == [None, -2, None, 7, -5]
    assert daemon.request("change", job=late, priority=8)["ok"]
    assert daemon.events(late, "priority")[0]["text"] == "8 (it was -5)"
    assert not daemon.request("change", job=99, priority=1)["ok"]
    for bad in ({"priority": 1.5}, {"priority": 1000001}, {"priority": "7"}, {"priority": None}, {"account": "a b"}, {"deadline": -1}, {}):
        answer = daemon.request("change", job=late, **bad)
        assert answer["code"] == "usage" and answer["reason"].startswith("change: which job"), answer
    daemon.kill()  # the next one knows them
    daemon.start()
    go_on.touch()
    ended = [daemon.wait_end(number) for number in (whole, low, first, second, late)][1:]
    assert [one["number"] for one in sorted(ended, key=lambda one: one["started"])] == [late, second, first, low]


def test_a_job_is_held(daemon, space):
    """Nodes are idle, and it waits; also in the next daemon, and behind the job that it comes after, until it is released."""
    go_on = space.directory / "go-on"
    first = daemon.submit("sh", "-c", f"until [ -e {go_on} ]; do sleep 0.1; done", ranks=(4, 4))
    daemon.wait_runs(first, 4)
    held = daemon.submit(*ruling.MOMENT, held=True)
    both = daemon.submit(*ruling.MOMENT, held=True, after=[first])
    again = daemon.submit(*ruling.MOMENT)
    assert daemon.request("hold", job=again)["ok"] and daemon.request("hold", job=again)["ok"]
    assert len(daemon.events(again, "held")) == 1
    answer = daemon.request("hold", job=first)
    assert answer["code"] == "refused" and answer["reason"] == f"job {first} has started: only one that waits is held", answer
    assert daemon.request("hold", job=first, undo=True)["ok"]
    said = {number: (one["state"], one.get("held"), one.get("reason")) for number, one in daemon.jobs().items()}
    assert {said[number] for number in (held, both, again)} == {("waiting", True, "held by its user")}, said
    daemon.kill()
    daemon.start()
    assert all(daemon.jobs()[number]["held"] for number in (held, both, again))
    assert daemon.request("hold", job=both, undo=True)["ok"]
    assert daemon.jobs()[both]["reason"] == f"after job {first}" and "held" not in daemon.jobs()[both]
    assert daemon.request("hold", job=both)["ok"]
    go_on.touch()
    daemon.wait_end(first)
    daemon.wait_end(daemon.submit(*ruling.MOMENT, ranks=(4, 4)))  # others pass them
    assert {daemon.jobs()[number]["state"] for number in (held, both, again)} == {"waiting"}
    for number in (again, both, held):
        assert daemon.request("hold", job=number, undo=True)["ok"]
        daemon.wait_end(number)
    last = daemon.submit("true", held=True)
    assert daemon.request("cancel", job=last)["ok"]
    daemon.wait_end(last, "cancelled")


@pytest.mark.parametrize("sizes, steps", [("1-2", [(2, 1), (1, 2)]), ("1-4,preferred=2", [(2, 3), (3, 2)])])
def test_a_job_leaves_a_drained_node_at_its_size(space, sizes, steps):
    """Under a policy that resizes nobody: it takes another node first, where it accepts a larger size, or afterwards."""
    daemon = ruling.Daemon(space, "--local", "4", policy="easy").start()
    try:
        number = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 4), env={"EPOP_SIZES": sizes})
        before = daemon.wait_runs(number, 2)
        assert daemon.request("drain", node="local2")["ok"]
        ruling.wait_for(lambda: len(daemon.rows("SELECT * FROM resize WHERE job=? AND outcome='done'", number)) == 2,
                        why=lambda: str(daemon.events(number)))
        after = daemon.wait_runs(number, 2)
        assert before["hosts"] == "local1,local2" and after["hosts"] == "local1,local3", (before, after)
        resizes = daemon.rows("SELECT * FROM resize WHERE job=? ORDER BY id", number)
        assert [(row["from_nodes"], row["to_nodes"]) for row in resizes] == steps, resizes
        assert all(row["reason"].startswith(("node local2 is drained", "as many nodes as before one was drained")) for row in resizes), resizes
        other = daemon.submit(*ruling.MOMENT)  # the policy is asked, and nothing else changes
        daemon.wait_end(other)
        assert len(daemon.rows("SELECT * FROM resize WHERE job=?", number)) == 2
        daemon.request("cancel", job=number)
        daemon.wait_end(number, "cancelled")
        assert "2 resizes" in daemon.output(number) and "right in" in daemon.output(number)
    finally:
        daemon.close()


def test_draining_takes_a_node_from_a_job(daemon):
    number = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 4))
    daemon.wait_runs(number, 4)
    assert daemon.request("drain", node="local2")["ok"]
    assert daemon.wait_runs(number, 3)["hosts"] == "local1,local3,local4"
    assert daemon.nodes()["local2"]["state"] == "drain" and "job" not in daemon.nodes()["local2"]
    assert daemon.request("drain", node="local2", undo=True)["ok"]
    assert daemon.wait_runs(number, 4)["hosts"] == "local1,local3,local4,local2"
    answer = daemon.request("drain", node="n9")
    assert not answer["ok"] and "no node 'n9'" in answer["reason"]


def test_a_time_limit_ends_a_job(daemon):
    number = daemon.submit("sleep", "1000", ranks=(1, 1), limit=1)
    assert daemon.wait_end(number, "failed")["reason"].startswith("time limit: 1 s")


def test_what_cannot_be_is_refused(daemon, space):
    assert "there are 4" in daemon.try_submit("true", ranks=(5, 8))["reason"]
    assert "no job 7" in daemon.request("cancel", job=7)["reason"]
    number = daemon.submit("sleep", "1000", ranks=(4, 4))
    waiting = daemon.submit("sleep", "1000", ranks=(1, 1))
    refused = daemon.request("stop", how="idle")
    assert not refused["ok"] and "--leave" in refused["reason"]
    assert daemon.request("cancel", job=waiting)["ok"]
    daemon.wait_end(waiting, "cancelled")
    second = ruling.Daemon(space, "--local", "4").start(ready=False).running.wait()
    assert second.status == 1 and "runs already" in second.err and second.err.count("\n") == 1
    assert daemon.request("cancel", job=number)["ok"]
    daemon.wait_end(number, "cancelled")


@pytest.mark.parametrize("options, line", [(("--hosts", "n1:1024,n2:1023,n3:1024,n4:1024,n5:1024"), "5119 nodes of 1 slot, the most"), (("--hosts", "n1,n1"), "twice"),
                                           (("--hosts", "n1:x"), "NAME:SLOTS"), (("--local", "0"), "--local")])
def test_lists_that_make_no_sense(space, options, line):
    result = ruling.Daemon(space, *options).start(ready=False).running.wait()
    assert result.status in (1, 2) and line in result.err, result


def test_what_a_program_asks_for_is_the_schedulers_to_give(space):
    """A program that resizes itself gets nodes by the policy alone; and no size from somebody else."""
    daemon = ruling.Daemon(space, "--local", "4", policy="gain,stay=1").start()
    try:
        number = daemon.submit(LEDGER, *joining.ENDLESS, "resize=2000", "max=3", ranks=(1, 4))
        ruling.wait_for(lambda: any("the program asks for" in event["text"] for event in daemon.events(number, "decision")),
                        why=lambda: str(daemon.events(number)))
        daemon.wait_event("settled", number)
        assert daemon.job_row(number)["kind"] == "evolving"
        refused = space.epopctl("resize", "1", "--wait")
        assert refused.status == 1 and f"epoprm says on how many nodes it runs (it is job {number} there; epoprm why {number})" in refused.err
        daemon.request("cancel", job=number)
        daemon.wait_end(number, "cancelled")
        assert "right in" in daemon.output(number)
    finally:
        daemon.close()
    daemon.check()
