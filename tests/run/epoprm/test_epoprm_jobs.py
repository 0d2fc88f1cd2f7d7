"""epoprm, and jobs that hang in the middle of a resize, call it off, or die there: their nodes are free when nothing runs
on them, and nobody waits for ever."""

import os
import signal

import job
import joining
import ruling
from scenario import Switch

pytestmark = joining.needed
fixture_net, fixture_daemon = ruling.on_hosts("n1", "n2")


def processes(net):
    status = net.at("n1").status()
    return status["processes"] if status else []


def joiners(net):
    return [one["pid"] for one in processes(net) if one["state"] == "joining" and one["pid"]]


def start(daemon, space, *options):
    """A job on n1 that grows onto n2, where its joining processes hang in their INIT as long as the switch is on."""
    waits = Switch(space, "joiners-wait").on()
    assert daemon.request("drain", node="n2")["ok"]
    number = daemon.submit(job.BUILD / "bin/epop", "--backend", "join", *options, job.test_program("scenario_window"),
                           f"join-waits-while={waits}", ranks=(1, 2))
    daemon.wait_runs(number, 1)
    assert daemon.request("drain", node="n2", undo=True)["ok"]
    daemon.wait_event("asked", number)
    return number, waits


def wait_outcome(daemon, number, outcome):
    """The first resize that came to this; another one may go on already."""
    return ruling.wait_for(lambda: daemon.rows("SELECT * FROM resize WHERE job=? AND outcome=? ORDER BY id", number, outcome),
                           why=lambda: str(daemon.events()))[0]


def test_joiners_that_hang(daemon, space, net):
    """Given up by the job: the node is free again, for another job, and the next attempt works."""
    number, waits = start(daemon, space, "--prepare-timeout", space.patience(2))
    assert "not ready in time" in wait_outcome(daemon, number, "refused")["reason"]
    other = daemon.submit(*ruling.HOSTNAME, ranks=(1, 1))
    waits.off()
    daemon.wait_end(other)
    assert daemon.output(other).split() == ["n2"]
    daemon.wait_runs(number, 2)
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")


def test_joiners_that_are_killed(daemon, space, net):
    number, waits = start(daemon, space)
    for pid in ruling.wait_for(lambda: joiners(net)):
        os.kill(pid, signal.SIGKILL)
    wait_outcome(daemon, number, "refused")
    waits.off()
    daemon.wait_runs(number, 2)


def test_a_job_is_cancelled_in_a_growth(daemon, space, net):
    number, _ = start(daemon, space)
    ruling.wait_for(lambda: joiners(net))
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")
    assert all(node["state"] == "idle" for node in daemon.nodes().values())


def test_rank_0_is_killed_in_a_growth(daemon, space, net):
    """Nothing is left of its joiners, on the other node too."""
    number, _ = start(daemon, space)
    ruling.wait_for(lambda: joiners(net))
    pids = [one["pid"] for one in processes(net)]
    os.kill(next(one["pid"] for one in processes(net) if one["rank"] == 0), signal.SIGKILL)
    daemon.wait_end(number, "failed")
    for pid in pids:
        joining.wait_for_end_of(pid)
    other = daemon.submit(*ruling.HOSTNAME, ranks=(2, 2))
    daemon.wait_end(other)


def test_somebody_else_withdraws_it(daemon, space, net):
    """epopctl cancel: it is left alone for a while, and tried again."""
    number, waits = start(daemon, space)
    ruling.wait_for(lambda: joiners(net))  # that it was asked is what the daemon says, before the job has heard of it
    withdrawn = net.epopctl("n1", "cancel")
    assert withdrawn.status == 0, withdrawn
    wait_outcome(daemon, number, "refused")
    waits.off()
    daemon.wait_runs(number, 2)
