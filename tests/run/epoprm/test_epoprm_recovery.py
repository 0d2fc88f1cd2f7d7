"""epoprm dies by kill -9, at each step of a resize and of a job's life, and goes on where it was when it is started again."""

import contextlib
import sqlite3

import pytest

import job
import joining
import ruling

pytestmark = joining.needed
LEDGER = job.program("ledger")
fixture_daemon = ruling.on_local_nodes(3)


def die_and_rise(daemon):
    daemon.wait_stopped()
    daemon.kill()
    daemon.check()
    daemon.start()


@pytest.mark.parametrize("step", ruling.STEPS)
def test_dies_in_a_shrink(daemon, step):
    """The job runs on meanwhile, the resize is done once, and who waits gets its nodes."""
    daemon.start()
    first = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 3))
    daemon.wait_runs(first, 3)
    daemon.stop("leave")
    daemon.start(stop_at=step)
    second = daemon.say_submit(*ruling.MOMENT, ranks=(2, 2))
    die_and_rise(daemon)
    daemon.wait_end(second)
    daemon.wait_runs(first, 3)
    resizes = daemon.rows("SELECT * FROM resize WHERE job=? ORDER BY id", first)
    assert [(row["from_nodes"], row["to_nodes"], row["outcome"]) for row in resizes] == [(3, 1, "done"), (1, 3, "done")]
    daemon.request("cancel", job=first)
    daemon.wait_end(first, "cancelled")
    assert "2 resizes" in daemon.output(first) and "right in" in daemon.output(first)


@pytest.mark.parametrize("step", [None, "decided", "committed", "settled"])
@pytest.mark.parametrize("sizes, steps", [("1-3,preferred=2", [(2, 3), (3, 2)]), ("1-2", [(2, 1), (1, 2)])])
def test_dies_between_the_resizes_of_a_drain(space, sizes, steps, step):
    """None: it does not die. Whatever the next daemon does first, the job leaves the node, at the size that it had."""
    daemon = ruling.Daemon(space, "--local", "4", policy="easy").start()
    try:
        number = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 3), env={"EPOP_SIZES": sizes})
        assert daemon.wait_runs(number, 2)["hosts"] == "local1,local2"
        daemon.stop("leave")
        daemon.start(stop_at=step)
        daemon.say("drain", node="local2")
        if step:
            die_and_rise(daemon)
        daemon.wait_event("settled", number, count=2)
        daemon.wait_end(daemon.submit(*ruling.MOMENT))  # the daemon has decided since
        assert daemon.jobs()[number]["hosts"] == "local1,local3"
        assert moves_of(daemon, number) == steps
    finally:
        daemon.close()
    daemon.check()


def moves_of(daemon, number):
    return [(row["from_nodes"], row["to_nodes"]) for row in daemon.rows("SELECT * FROM resize WHERE job=? ORDER BY id", number)]


@pytest.mark.parametrize("step", [None, "decided", "committed", "settled"])
def test_dies_between_the_resizes_of_a_move(space, step):
    """None: it does not die. The job shrinks back below one switch, whatever the policy would do."""
    topology, policy = space.directory / "topology.conf", space.directory / "moves.py"
    topology.write_text("SwitchName=a Nodes=local1,local4\nSwitchName=b Nodes=local2,local3\nSwitchName=top Switches=a,b\n")
    policy.write_text(ruling.MOVES)
    policy.chmod(0o755)
    daemon = ruling.Daemon(space, "--local", "4", "--topology", topology, "--spread-cost", "0.25", policy=policy).start()
    try:
        for name in ("local1", "local2", "local3"):
            daemon.request("drain", node=name)
        beside = daemon.submit("sleep", "1000")
        assert daemon.wait_runs(beside, 1)["hosts"] == "local4"
        for name in ("local1", "local2"):
            daemon.request("drain", node=name, undo=True)
        number = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(2, 3), env={"EPOP_SIZES": "2-3,preferred=2"})
        assert daemon.wait_runs(number, 2)["hosts"] == "local1,local2"
        daemon.stop("leave")
        daemon.start(stop_at=step)
        daemon.say("cancel", job=beside)
        if step:
            die_and_rise(daemon)
        daemon.wait_event("settled", number, count=2)
        daemon.wait_end(daemon.submit(*ruling.MOMENT))
        assert daemon.jobs()[number]["hosts"] == "local1,local4"
        assert moves_of(daemon, number) == [(2, 3), (3, 2)]
    finally:
        daemon.close()
    daemon.check()


@pytest.mark.parametrize("step", ["starting", "started", "running", "ending", "ended"])
def test_dies_in_a_jobs_life(daemon, step):
    """It runs once, whatever the daemon knew of it."""
    daemon.start(stop_at=step)
    cancels = step == "ending"
    daemon.say_submit("sh", "-c", f"echo ran; sleep {1000 if cancels else 1}", ranks=(1, 1))
    if cancels:
        ruling.wait_for(lambda: "ran" in daemon.output(1))  # "running" is of its mpiexec
        daemon.wait_event("running", 1)
        daemon.say("cancel", job=1)
    die_and_rise(daemon)
    daemon.wait_end(1, "cancelled" if cancels else "done")
    assert daemon.output(1).count("ran") == 1
    assert all(node["state"] == "idle" for node in daemon.nodes().values())


def test_a_job_ends_while_there_is_no_daemon(daemon, space):
    daemon.start()
    number = daemon.submit("sh", "-c", f"while [ ! -e {space.directory}/go ]; do sleep 0.1; done; exit 5", ranks=(1, 1))
    daemon.wait_event("running", number)
    daemon.kill()
    (space.directory / "go").touch()
    ruling.wait_for((daemon.directory / f"jobs/{number}/ended.json").exists)
    daemon.start()
    assert daemon.wait_end(number, "failed")["status"] == 5


def test_it_is_left_and_taken_up(daemon):
    """stop --leave; another list of nodes is refused while jobs hold nodes that it does not have."""
    daemon.start()
    number = daemon.submit("sleep", "1000", ranks=(3, 3))
    daemon.wait_event("running", number)
    daemon.stop("leave")
    daemon.options[1] = "2"
    result = daemon.start(ready=False).running.wait()
    assert result.status == 1 and "local3" in result.err, result
    daemon.options[1] = "3"
    daemon.start()
    assert daemon.jobs()[number]["hosts"] == "local1,local2,local3"


def test_the_clock_was_set_back(daemon):
    """Jobs of the future, as the journal says, do not keep the daemon from starting."""
    daemon.start()
    first = daemon.submit("sleep", "1000", ranks=(3, 3))
    daemon.wait_event("running", first)
    waiting = [daemon.submit(*ruling.MOMENT, ranks=(1, 1)) for _ in range(2)]
    daemon.kill()
    with contextlib.closing(sqlite3.connect(daemon.directory / "journal.db")) as journal, journal:
        journal.execute("UPDATE job SET submitted=submitted+5000 WHERE number<=?", (waiting[0],))
    daemon.start()
    daemon.request("cancel", job=first)
    daemon.wait_end(first, "cancelled")
    for number in waiting:
        daemon.wait_end(number)


def test_a_job_that_runs_cannot_be_launched_again(daemon, space):
    """It was not known yet that it runs; that something goes wrong now is no reason to give its nodes away."""
    daemon.start(stop_at="started")
    daemon.say_submit("sh", "-c", f"while [ ! -e {space.directory}/go ]; do sleep 0.1; done", ranks=(1, 1))
    daemon.wait_stopped()
    ruling.wait_for((daemon.directory / "jobs/1/started").exists)
    daemon.kill()
    launch = daemon.directory / "jobs/1/launch.json"
    launch.unlink()
    launch.mkdir()
    daemon.start()
    daemon.wait_event("running", 1)
    (space.directory / "go").touch()
    daemon.wait_end(1, "done")
