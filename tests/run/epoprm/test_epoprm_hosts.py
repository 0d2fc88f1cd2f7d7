"""epoprm on several hosts: jobs grow onto named ones and leave them; one dies, and comes back."""

import os
import signal

import pytest

import hosts
import job
import joining
import ruling

pytestmark = joining.needed
LEDGER = job.program("ledger")
fixture_net, fixture_daemon = ruling.on_hosts("n1", "n2", "n3")


def submit_greeting(daemon, ranks):
    """A job of that many commands, when all of them are there: it is said to run as soon as mpiexec does."""
    number = daemon.submit("sh", "-c", "echo here; exec sleep 1000", ranks=(ranks, ranks))
    ruling.wait_for(lambda: daemon.output(number).count("here") == ranks, why=lambda: daemon.output(number))
    return number


def test_a_job_grows_onto_hosts_and_leaves_them(daemon, net):
    first = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 3))
    daemon.wait_runs(first, 3)
    ruling.wait_ranks(net, ["n1", "n2", "n3"])
    second = daemon.submit(*ruling.HOSTNAME, ranks=(1, 1))
    daemon.wait_end(second)
    shrunk = daemon.rows("SELECT * FROM resize WHERE job=?", first)[0]
    assert daemon.output(second).strip() in shrunk["nodes"].split(",")
    daemon.wait_runs(first, 3)
    assert daemon.request("drain", node="n2")["ok"]
    assert daemon.wait_runs(first, 2)["hosts"] == "n1,n3"
    ruling.wait_ranks(net, ["n1", "n3"])
    assert daemon.request("drain", node="n2", undo=True)["ok"]
    assert daemon.wait_runs(first, 3)["hosts"] == "n1,n3,n2"
    ruling.wait_ranks(net, ["n1", "n3", "n2"])


def test_a_host_dies_and_comes_back(daemon, net):
    """The job on it fails, the others run on, the node is down until it answers again."""
    on_it = submit_greeting(daemon, ranks=2)
    other = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 1))
    daemon.wait_runs(other, 1)
    shape = {name: node["job"] for name, node in daemon.nodes().items()}
    assert shape == {"n1": on_it, "n2": on_it, "n3": other}
    (net.directory / "n2").rename(net.directory / "gone") # nothing can be started there any more
    net.clear("n2")
    daemon.wait_end(on_it, "failed")
    ruling.wait_for(lambda: daemon.nodes()["n2"]["state"] == "down")
    ruling.wait_for(lambda: daemon.nodes()["n1"]["state"] == "idle")
    assert daemon.jobs()[other]["state"] == "running"
    last = daemon.submit(*ruling.HOSTNAME, ranks=(1, 1))
    daemon.wait_end(last)
    assert daemon.output(last).split() == ["n1"]
    waits = daemon.submit(*ruling.HOSTNAME, ranks=(2, 2))
    (net.directory / "gone").rename(net.directory / "n2")
    daemon.wait_end(waits)
    assert sorted(daemon.output(waits).split()) == ["n1", "n2"]


def test_a_host_dies_while_a_job_grows_onto_it(daemon, net):
    """The job goes on with those that are there, and takes it when it is back."""
    for name in ("n2", "n3"):
        daemon.request("drain", node=name)
    number = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 3))
    daemon.wait_runs(number, 1)
    (net.directory / "n3").rename(net.directory / "gone")
    for name in ("n2", "n3"):
        daemon.request("drain", node=name, undo=True)
    daemon.wait_event("refused", number)
    assert daemon.wait_runs(number, 2)["hosts"] == "n1,n2"
    ruling.wait_for(lambda: daemon.nodes()["n3"]["state"] == "down")  # it is looked at after the refusal
    (net.directory / "gone").rename(net.directory / "n3")
    daemon.wait_runs(number, 3)
    ruling.wait_ranks(net, ["n1", "n2", "n3"])


def test_no_job_is_started_where_one_failed(daemon, net):
    """Before the host has been looked at: those that wait are not lost with the one that ran there."""
    struck = submit_greeting(daemon, ranks=3)
    waiting = [daemon.submit(*ruling.HOSTNAME, ranks=(1, 1)) for _ in range(3)]
    net.power_off("n2")
    daemon.wait_end(struck, "failed")
    for number in waiting:
        daemon.wait_end(number)
    assert {daemon.output(number).strip() for number in waiting} <= {"n1", "n3"}
    assert daemon.wait_event("node")["text"].startswith("n2 is down")
    last = daemon.submit(*ruling.HOSTNAME, ranks=(3, 3))
    net.power_on("n2")
    daemon.wait_end(last)


@pytest.mark.parametrize("host, ranks", [("n2", 2), ("n3", 2), ("n2", 1)])
def test_a_host_goes_without_a_word(net, host, ranks):
    """Its power is lost, so that no connection to it ends, and ssh waits on: with rank 0's process there, another's, or the only one."""
    daemon = ruling.daemon_on(net, launcher=hosts.SSH, env={"EPOP_HOST_SECONDS": 2}).start()
    try:
        daemon.request("drain", node="n1")  # of the daemon
        struck = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(ranks, ranks))
        daemon.wait_runs(struck, ranks)
        ruling.wait_ranks(net, ["n2", "n3"][:ranks])
        net.power_off(host, silently=True)
        assert "attendant" not in daemon.wait_end(struck, "failed")["reason"]
        ruling.wait_for(lambda: daemon.nodes()[host]["state"] == "down")
        last = daemon.submit(*ruling.HOSTNAME, ranks=(2, 2))
        net.power_on(host)
        daemon.wait_end(last)
    finally:
        daemon.close()
    daemon.check()


def test_a_host_goes_before_its_job_was_attached_to(net, space):
    """The attendant has seen the job's address, and no more."""
    daemon = ruling.daemon_on(net, launcher=hosts.SSH, env={"EPOP_HOST_SECONDS": 2}).start()
    try:
        daemon.request("drain", node="n1")  # of the daemon
        struck = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 1))
        daemon.wait_event("running", struck)
        both = [pid for pid in space.processes() if "lib/epop/attend" in space.command_line(pid)]
        [attendant] = {job.parent(pid) for pid in both} & set(both)  # of its guard
        os.kill(attendant, signal.SIGSTOP)
        ruling.wait_ranks(net, ["n2"])
        net.power_off("n2", silently=True)
        os.kill(attendant, signal.SIGCONT)
        daemon.wait_end(struck, "failed")
    finally:
        daemon.close()
    daemon.check()


def test_a_daemon_that_dies_leaves_nothing_that_looks_for_a_host(space, net):
    """One that does not answer, for which neither mpiexec nor an ssh would give up soon."""
    (net.directory / "n2").unlink()
    os.mkfifo(net.directory / "n2")  # opened by nobody else: the launcher waits for ever
    daemon = ruling.daemon_on(net).start()
    others = lambda: {pid: space.command_line(pid) for pid in space.processes() if pid not in (daemon.pid, *net.holders())}  # noqa: E731
    ruling.wait_for(lambda: any("start.sh" in text and " n2 " in text for text in others().values()), why=lambda: f"it does not look: {others()}")
    daemon.kill()
    ruling.wait_for(lambda: not others(), why=lambda: f"left: {others()}")
