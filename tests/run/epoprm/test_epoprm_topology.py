"""epoprm start --topology and --speeds: jobs are kept below few switches, and on nodes of one speed."""

import json

import job
import joining
import pytest
import ruling
from schemas import validate

EPOPRM = job.BUILD / "bin/epoprm"
LEDGER, LONG = job.program("ledger"), ["sleep", "1000"]
fixture_net, _ = ruling.on_hosts("n1", "n2", "n3", "n4")


def told(daemon, *words):
    result = daemon.space.start([EPOPRM, *words], env={"EPOPRM_DIR": daemon.directory}).wait()
    assert result.status == 0, result
    return result.out


fixture_rule = ruling.by_options()


def write(space, text, name="topology.conf"):
    path = space.directory / name
    path.write_text(text)
    return path


def place(daemon, ranks, argv=LONG):
    """Of a new job that runs."""
    number = daemon.submit(*argv, ranks=(ranks, ranks))
    return number, daemon.wait_runs(number, ranks)["hosts"]


def test_a_job_starts_below_one_switch(rule, space):
    """The file has other nodes, too. The next daemon has it as well, until it is told to have none."""
    write(space, "SwitchName=a Nodes=local[1-2],other9\nSwitchName=b Nodes=local[3-4]\nSwitchName=top Switches=a,b\n")
    daemon = rule("--local", "4", "--topology", "topology.conf", policy="easy")
    first, at = place(daemon, 1)
    assert at == "local1"
    second, at = place(daemon, 2)
    assert at == "local3,local4"
    assert {name: one["leaf"] for name, one in daemon.nodes().items()} == {"local1": "a", "local2": "a", "local3": "b", "local4": "b"}
    assert daemon.jobs()[second]["leaves"] == 1 and "it is below 1 leaf switch\n" in told(daemon, "why", str(second))
    validate("epoprm", daemon.request("queue"), "answer")
    validate("epoprm", daemon.request("nodes"), "answer")
    daemon.kill()
    daemon = rule("--local", "4", policy="easy")
    assert daemon.jobs()[second]["leaves"] == 1
    daemon.request("cancel", job=second)
    daemon.wait_end(second, "cancelled")
    _, at = place(daemon, 3)
    assert at == "local2,local3,local4"
    daemon.request("cancel", job=first)
    daemon.stop()
    told(daemon, "report", "--format", "json", "-o", space.directory / "record.json")
    record = json.loads((space.directory / "record.json").read_text())
    validate("schedule", record)
    [run] = record["runs"]
    assert [one.get("spread") for one in run["jobs"]] == [1, 1, 1] and all(one["outcome"] == "failed" for one in run["jobs"])
    daemon = rule("--local", "4", "--topology", "none", policy="easy")
    place(daemon, 1)
    number, at = place(daemon, 2)
    assert at == "local2,local3" and "leaves" not in daemon.jobs()[number] and "leaf" not in daemon.nodes()["local1"]
    daemon.stop()
    daemon.check()


def test_a_job_gets_fast_nodes(rule):
    """Also of the next daemon, until it is told that there are none."""
    daemon = rule("--local", "4", "--speeds", "local[1-2]=0.5,local4=2", policy="easy")
    assert [place(daemon, 1)[1] for _ in range(2)] == ["local4", "local3"]
    assert {name: one["speed"] for name, one in daemon.nodes().items()} == {"local1": 0.5, "local2": 0.5, "local3": 1, "local4": 2}
    validate("epoprm", daemon.request("nodes"), "answer")
    daemon.stop()
    daemon = rule("--local", "4", policy="easy")
    _, at = place(daemon, 2)
    assert at == "local3,local4"
    _, at = place(daemon, 2)
    assert at == "local1,local2"
    daemon.stop()
    daemon = rule("--local", "4", "--speeds", "none", policy="easy")
    _, at = place(daemon, 2)
    assert at == "local1,local2" and "speed" not in daemon.nodes()["local1"]
    daemon.stop()
    daemon.check()


def test_what_makes_no_sense(space):
    def refused(words, text):
        write(space, text)
        daemon = ruling.Daemon(space, "--local", "2", *words, policy="easy").start(ready=False)
        result = daemon.running.wait()
        assert result.status == 1 and result.out == "" and result.err.count("\n") == 1, result
        return result.err
    file = ["--topology", "topology.conf"]
    assert f"{space.directory}/topology.conf:2: a line is" in refused(file, "# ours\nSwitchName=a\n")
    assert "topology.conf: node local2 is below no switch" in refused(file, "SwitchName=a Nodes=local1\n")
    assert "nowhere: No such file" in refused(["--topology", "nowhere"], "")
    assert "--speeds: there is no node n1" in refused(["--speeds", "n1=2"], "")
    daemon = ruling.Daemon(space, "--site", "slurm", "--speeds", "n1=2", policy="easy").start(ready=False)
    result = daemon.running.wait()
    assert result.status == 2 and "of nodes that epoprm rules itself" in result.err, result


def test_the_highest_ranks_leave_where_all_processes_are_there_from_the_start(rule, space):
    """The second switch has one of the job's nodes, and is left last."""
    if joining.WORKS:
        pytest.skip("here processes come and go")
    write(space, "SwitchName=a Nodes=local1,local3\nSwitchName=b Nodes=local2\n")
    daemon = rule("--local", "3", "--topology", "topology.conf")
    number = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(2, 3))
    assert daemon.wait_runs(number, 3)["hosts"] == "local1,local2,local3"
    second = daemon.submit(*ruling.MOMENT)
    daemon.wait_end(second)
    assert daemon.rows("SELECT * FROM resize WHERE job=?", number)[0]["nodes"] == "local3"
    daemon.stop()
    daemon.check()


def start_across(daemon, **how):
    """A job below two switches, on n1 and n2, and others on n4 and n3: its number, and that of the one on n4."""
    daemon.wait_end(daemon.submit(*ruling.MOMENT, ranks=(4, 4)))  # then all nodes have been looked at, and there is a choice
    for name in ("n1", "n2"):
        daemon.request("drain", node=name)
    (beside, at), (_, other) = place(daemon, 1), place(daemon, 1)
    assert (at, other) == ("n4", "n3")
    for name in ("n1", "n2"):
        daemon.request("drain", node=name, undo=True)
    number = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(2, 3), **how)
    assert daemon.wait_runs(number, 2)["hosts"] == "n1,n2"
    return number, beside


@joining.needed
def test_a_job_grows_near_itself_and_leaves_a_switch(net, space):
    path = write(space, "SwitchName=a Nodes=n1,n4\nSwitchName=b Nodes=n2,n3\nSwitchName=top Switches=a,b\n")
    daemon = ruling.daemon_on(net)
    daemon.options += ["--topology", str(path)]
    daemon.start()
    try:
        number, beside = start_across(daemon)
        daemon.request("cancel", job=beside)
        grown = daemon.wait_runs(number, 3)
        assert grown["hosts"] == "n1,n2,n4" and grown["leaves"] == 2
        last = daemon.submit(*ruling.HOSTNAME)
        daemon.wait_end(last)
        shrunk = daemon.rows("SELECT * FROM resize WHERE job=? ORDER BY id", number)[1]
        assert shrunk["nodes"] == "n2" == daemon.output(last).strip()
        assert daemon.wait_runs(number, 3)["hosts"] == "n1,n4,n2"
    finally:
        daemon.close()
    daemon.check()


@joining.needed
def test_a_job_that_holds_several_below_a_switch_grows_there(net, space):
    path = write(space, "SwitchName=a Nodes=n1,n3\nSwitchName=b Nodes=n2,n4\n")
    daemon = ruling.daemon_on(net)
    daemon.options += ["--topology", str(path)]
    daemon.start()
    try:
        daemon.request("drain", node="n1")
        beside, at = place(daemon, 3)
        assert at == "n2,n3,n4"
        daemon.request("drain", node="n1", undo=True)
        number = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 2))
        assert daemon.wait_runs(number, 1)["hosts"] == "n1"
        daemon.request("cancel", job=beside)
        grown = daemon.wait_runs(number, 2)
        assert grown["hosts"] == "n1,n3" and grown["leaves"] == 1
    finally:
        daemon.close()
    daemon.check()


@joining.needed
def test_a_job_is_moved_below_one_switch(net, space):
    """By a growth and a shrink; rank 0 stays, and what runs on is the same job."""
    topology = write(space, "SwitchName=a Nodes=n1,n4\nSwitchName=b Nodes=n2,n3\nSwitchName=top Switches=a,b\n")
    policy = write(space, ruling.MOVES, name="moves.py")
    policy.chmod(0o755)
    daemon = ruling.daemon_on(net, policy=policy)
    daemon.options += ["--topology", str(topology), "--spread-cost", "0.25"]
    daemon.start()
    try:
        number, beside = start_across(daemon, env={"EPOP_SIZES": "2-3,preferred=2"})
        daemon.request("cancel", job=beside)
        daemon.wait_event("settled", number, count=2)
        moved = daemon.wait_runs(number, 2)
        assert moved["hosts"] == "n1,n4" and moved["leaves"] == 1
        resizes = daemon.rows("SELECT * FROM resize WHERE job=? ORDER BY id", number)
        assert [(row["from_nodes"], row["to_nodes"], row["nodes"]) for row in resizes] == [(2, 3, "n4"), (3, 2, "n2")]
        assert [row["text"] for row in daemon.events(number, "decision")[-2:]] == [
            "below 1 leaf switch, saves 0.20", "gives back what it has moved away from"]
    finally:
        daemon.close()
    daemon.check()
