"""epoprm on hosts with different numbers of slots: one that has more is several nodes."""

import job
import joining
import pytest
import ruling
from schemas import validate

LEDGER, LONG = job.program("ledger"), ["sleep", "1000"]
fixture_net, _ = ruling.on_hosts("n1", "n2")


@pytest.fixture(name="on")
def fixture_on(net):
    """Starts daemons on n1 and n2 with these slots."""
    made = []

    def start(one, other, *options, **how):
        made.append(ruling.daemon_on(net, *options, slots={"n1": one, "n2": other}, **how))
        return made[-1].start()
    yield start
    for daemon in made:
        daemon.close()


def shape(daemon):
    return {name: (node["host"], node["slots"]) for name, node in daemon.nodes().items()}


def states(daemon):
    return {name: node["state"] for name, node in daemon.nodes().items()}


def test_commands_run_on_all_slots(on):
    daemon = on(2, 4, policy="easy")
    assert shape(daemon) == {"n1": ("n1", 2), "n2/1": ("n2", 2), "n2/2": ("n2", 2)}
    validate("epoprm", daemon.request("nodes"), "answer")
    number = daemon.submit(*ruling.HOSTNAME, ranks=(6, 6))
    daemon.wait_end(number)
    assert sorted(daemon.output(number).split()) == ["n1"] * 2 + ["n2"] * 4
    number = daemon.submit("sh", "-c", "echo $EPOPRM_HOSTS $EPOPRM_RANKS", ranks=(5, 5), once=True)
    daemon.wait_end(number)
    assert daemon.output(number).split() == ["n1:2,n2:4", "5"]
    daemon.stop()
    daemon.check()


@joining.needed
def test_a_job_grows_and_shrinks_by_parts_of_a_host(on, net):
    """Also for the next daemon. A host that is drained is left as a whole, a part of it by as many ranks."""
    daemon = on(1, 3)
    first = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(1, 4))
    assert daemon.wait_runs(first, 4)["hosts"] == "n1,n2/1,n2/2,n2/3"
    ruling.wait_ranks(net, ["n1", "n2", "n2", "n2"])
    second = daemon.submit(*ruling.HOSTNAME)
    daemon.wait_end(second)
    assert daemon.output(second).strip() == "n2"
    daemon.wait_runs(first, 4)
    daemon.request("drain", node="n2/2")
    daemon.wait_runs(first, 3)
    ruling.wait_ranks(net, ["n1", "n2", "n2"])
    assert states(daemon) == {"n1": "busy", "n2/1": "busy", "n2/2": "drain", "n2/3": "busy"}
    daemon.kill()
    daemon.start()
    daemon.request("drain", node="n2")
    daemon.wait_runs(first, 1)
    ruling.wait_ranks(net, ["n1"])
    daemon.request("drain", node="n2", undo=True)
    daemon.wait_runs(first, 4)
    ruling.wait_ranks(net, ["n1", "n2", "n2", "n2"])
    daemon.stop()
    daemon.check()


@joining.needed
def test_rank_0_stays_where_its_host_gives_back_a_part(on, net):
    daemon = on(2, 4)
    daemon.request("drain", node="n1")
    first = daemon.submit(LEDGER, *joining.ENDLESS, ranks=(2, 6))
    daemon.wait_runs(first, 2)
    ruling.wait_ranks(net, ["n2"] * 4, at="n2")
    second = daemon.submit(*LONG)
    assert daemon.wait_runs(second, 1)["hosts"] == "n2/2"
    ruling.wait_ranks(net, ["n2"] * 2, at="n2")
    daemon.request("drain", node="n1", undo=True)
    daemon.wait_runs(first, 2)
    ruling.wait_ranks(net, ["n2"] * 2 + ["n1"] * 2, at="n2")
    daemon.stop()
    daemon.check()


def test_a_host_dies_with_all_its_nodes(on, net):
    daemon = on(1, 2)
    number = daemon.submit("sh", "-c", "echo here; exec sleep 1000", ranks=(2, 2))
    ruling.wait_for(lambda: daemon.output(number).count("here") == 2)
    (net.directory / "n2").rename(net.directory / "gone")
    net.clear("n2")
    daemon.wait_end(number, "failed")
    ruling.wait_for(lambda: states(daemon) == {"n1": "idle", "n2/1": "down", "n2/2": "down"}, why=lambda: states(daemon))
    (net.directory / "gone").rename(net.directory / "n2")
    ruling.wait_for(lambda: set(states(daemon).values()) == {"idle"}, why=lambda: states(daemon))


def test_options_name_hosts(on, tmp_path):
    """Watts are a host's; both nodes are idle before it is switched off, and come back together."""
    (tmp_path / "topology.conf").write_text("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n")
    switch = tmp_path / "switch"
    switch.write_text(f"#!/bin/sh\necho $1 $2 >> {tmp_path}/switched\n")
    switch.chmod(0o755)
    daemon = on(1, 2, "--watts", "100,300,n2=40:400", "--speeds", "n2=0.5", "--topology", tmp_path / "topology.conf",
                "--suspend-after", "1s", "--suspend", f"{switch} off", "--resume", f"{switch} on", policy="easy")
    nodes = daemon.nodes()
    assert {name: (node["leaf"], node.get("speed", 1)) for name, node in nodes.items()} == {"n1": ("a", 1), "n2/1": ("b", 0.5), "n2/2": ("b", 0.5)}
    ruling.wait_for(lambda: set(states(daemon).values()) == {"off"}, why=lambda: states(daemon))
    number = daemon.submit(*LONG, ranks=(3, 3))
    assert daemon.wait_runs(number, 3)["hosts"] == "n1,n2/1,n2/2"
    assert {name: node["watts"] for name, node in daemon.nodes().items()} == {"n1": 300, "n2/1": 200, "n2/2": 200}
    assert sorted((tmp_path / "switched").read_text().split("\n")) == ["", "off n1", "off n2", "on n1", "on n2"]
    daemon.stop()
