"""epoprm dies by kill -9, at each step of a resize and of a job's life, and goes on where it was when it is started again."""

import pytest

import job
import joining
import ruling

pytestmark = joining.needed
LEDGER = job.program("ledger")


@pytest.fixture(name="daemon")
def fixture_daemon(space):
    daemon = ruling.Daemon(space, "--local", "3")
    yield daemon
    daemon.close()
    daemon.check()


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
    second = daemon.say_submit("true", ranks=(2, 2))
    die_and_rise(daemon)
    daemon.wait_end(second)
    daemon.wait_runs(first, 3)
    resizes = daemon.rows("SELECT * FROM resize WHERE job=? ORDER BY id", first)
    assert [(row["from_nodes"], row["to_nodes"], row["outcome"]) for row in resizes] == [(3, 1, "done"), (1, 3, "done")]
    daemon.request("cancel", job=first)
    daemon.wait_end(first, "cancelled")
    assert "2 resizes" in daemon.output(first) and "right in" in daemon.output(first)


@pytest.mark.parametrize("step", ["starting", "started", "running", "ending", "ended"])
def test_dies_in_a_jobs_life(daemon, step):
    """It runs once, whatever the daemon knew of it."""
    daemon.start(stop_at=step)
    daemon.say_submit("sh", "-c", "echo ran; sleep 1", ranks=(1, 1))
    if step == "ending":
        daemon.wait_event("running", 1)
        daemon.say("cancel", job=1)
    die_and_rise(daemon)
    daemon.wait_end(1, "cancelled" if step == "ending" else "done")
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
