"""Jobs and attendants that die, stop or refuse in the middle of what epoprm does with them."""

import contextlib
import os
import pathlib
import signal

import job
import joining
import ruling

pytestmark = joining.needed
LEDGER = job.program("ledger")
fixture_daemon = ruling.on_local_nodes(3)


def named(space, *words):
    """Processes of the test with these words in their command line."""
    def line(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            return []
    return [pid for pid in space.processes() if all(any(word in part for part in line(pid)) for word in words)]


def rank_0(space):
    """The process of the only job's, as the job says."""
    return next(one["pid"] for one in space.status()["processes"] if one["rank"] == 0)


def endless(daemon):
    """A job on all nodes, which has been resized: it is known to be where it can be."""
    number = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 3))
    daemon.wait_runs(number, 3)
    daemon.request("drain", node="local3")
    daemon.wait_runs(number, 2)
    daemon.request("drain", node="local3", undo=True)
    daemon.wait_runs(number, 3)
    return number


def test_a_job_dies_in_the_middle_of_a_resize(daemon, space):
    """Its resize is over, its nodes are free, and who waited for them starts."""
    daemon.start()
    first = endless(daemon)
    daemon.stop("leave")
    daemon.start(stop_at="asked")
    second = daemon.say_submit(*ruling.MOMENT, ranks=(2, 2))
    daemon.wait_stopped()
    os.kill(rank_0(space), signal.SIGKILL)
    os.kill(daemon.pid, signal.SIGCONT)
    daemon.wait_end(first, "failed")
    daemon.wait_end(second)
    resizes = daemon.rows("SELECT outcome, reason FROM resize ORDER BY id")
    assert [row["outcome"] for row in resizes][:2] == ["done", "done"]
    assert [row["outcome"] for row in resizes][2:] in (["failed"], ["refused"]), resizes
    assert all(node["state"] == "idle" for node in daemon.nodes().values())


def test_an_attendant_is_killed(daemon, space):
    """Its successor ends the job, and says so."""
    daemon.start()
    number = daemon.submit("sleep", "1000", ranks=(2, 2))
    daemon.wait_event("running", number)
    for pid in named(space, "lib/epop/attend"):
        with contextlib.suppress(ProcessLookupError):  # one that the end of the other has ended
            os.kill(pid, signal.SIGKILL)
    assert daemon.wait_end(number, "failed")["reason"]
    ruling.wait_for(lambda: not named(space, "sleep"), why=lambda: "the job runs on")
    assert all(node["state"] == "idle" for node in daemon.nodes().values())


def test_a_job_that_is_stopped_keeps_its_nodes(daemon, space):
    """Others are served meanwhile; when it goes on, it does what it was asked."""
    daemon.start()
    first = endless(daemon)
    stopped = rank_0(space)
    job.send_signal(stopped, signal.SIGSTOP)
    try:
        waiting = daemon.submit(*ruling.MOMENT, ranks=(1, 1))
        daemon.wait_event("asked", first, 3)
        other = daemon.submit(*ruling.MOMENT, ranks=(1, 1))
        daemon.request("cancel", job=other)
        daemon.wait_end(other, "cancelled")
        assert daemon.jobs()[waiting]["state"] == "waiting"
    finally:
        os.kill(stopped, signal.SIGCONT)
    daemon.wait_end(waiting)


def test_a_job_refuses_to_grow(daemon):
    """It is left alone for longer and longer, its nodes are anyone's, and it runs on."""
    daemon.start()
    filling = daemon.submit("sleep", "1000", ranks=(2, 2))
    number = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 3), env={"EPOP_MPIEXEC": "/bin/false"})
    daemon.wait_event("running", number, 2)
    daemon.request("cancel", job=filling)
    second = daemon.wait_event("refused", number, 2)
    assert "launcher" in second["text"] and second["time"] - daemon.events(number, "refused")[0]["time"] >= 1
    assert daemon.jobs()[number]["nodes"] == 1
    other = daemon.submit(*ruling.MOMENT, ranks=(2, 2))
    daemon.wait_end(other)
    assert {row["outcome"] for row in daemon.rows("SELECT outcome FROM resize")} <= {"refused", ""}
