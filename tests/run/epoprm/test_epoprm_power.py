"""epoprm and power: no more nodes are busy than the cap allows, whatever the policy; and the energy that jobs have used."""

import json

import job
import pytest
import ruling
from schemas import validate

EPOPRM = job.BUILD / "bin/epoprm"
LONG = ["sleep", "1000"]
fixture_net, _ = ruling.on_hosts("n1", "n2")


def epoprm(daemon, *words):
    return daemon.space.start([EPOPRM, *words], env={"EPOPRM_DIR": daemon.directory}).wait()


def told(daemon, *words):
    result = epoprm(daemon, *words)
    assert result.status == 0, result
    return result.out


def joules(daemon, number):
    return json.loads(told(daemon, "why", str(number), "--json"))["job"].get("joules", 0)


fixture_rule = ruling.by_options()


@pytest.mark.parametrize("policy", ["easy", "ers", "gain", ruling.SHARE])
def test_the_cap_is_kept(rule, policy):
    """Four idle nodes draw 400 W, so two of them can be busy under 800 W; a job that never could is refused."""
    daemon = rule("--local", "4", "--watts", "100,300", "--power-cap", "800", policy=policy)
    refused = daemon.try_submit(*LONG, ranks=(3, 3))
    assert not refused["ok"] and "no more than 2 can be busy under the power cap of 800 W" in refused["reason"], refused
    first = daemon.submit(*LONG)
    daemon.wait_runs(first, 1)
    second = daemon.submit(*LONG)
    daemon.wait_runs(second, 1)
    third = daemon.submit(*LONG)
    nodes = daemon.nodes().values()
    assert sorted(one["watts"] for one in nodes) == [100, 100, 300, 300] and daemon.jobs()[third]["state"] == "waiting"
    daemon.request("cancel", job=first)
    daemon.wait_runs(third, 1)
    daemon.stop()
    daemon.check()


def test_energy(rule, tmp_path):
    """Of nodes that draw different watts, over a daemon's death; in why, the queue, the journal and the report."""
    daemon = rule("--local", "2", "--watts", "100,300,local2=10:40", policy="easy")
    number = daemon.submit(*LONG, ranks=(2, 2))
    daemon.wait_runs(number, 2)
    ruling.wait_for(lambda: joules(daemon, number) > 1000)
    before = joules(daemon, number)
    daemon.kill()
    daemon.start()
    ruling.wait_for(lambda: joules(daemon, number) > before + 1000)
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")
    [row] = daemon.rows("SELECT started, ended, joules, time FROM job, energy WHERE energy.job = number")
    assert row["joules"] == pytest.approx(340 * (row["ended"] - row["started"]), abs=340) and row["time"] == pytest.approx(row["ended"], abs=1)  # the journal may be busy
    assert joules(daemon, number) == pytest.approx(row["joules"])
    assert "its nodes have used" in told(daemon, "why", str(number))
    assert [one["joules"] for one in json.loads(told(daemon, "queue", "--all", "--json"))] == [pytest.approx(row["joules"])]
    told(daemon, "report", "--format", "json", "-o", tmp_path / "record.json")
    record = json.loads((tmp_path / "record.json").read_text())
    validate("schedule", record)
    [run] = record["runs"]
    assert record["machine"] == {"nodes": 2, "idle_watts": 100, "busy_watts": 300, "power_cap": 0}
    assert [one["joules"] for one in run["jobs"]] == [pytest.approx(row["joules"])] and run["metrics"]["peak_watts"] == 340
    assert run["metrics"]["joules"] == pytest.approx(row["joules"], abs=3 * 110 + 340)  # idle ones until it had started
    told(daemon, "stop")
    daemon.check()


def test_energy_by_counters(rule, tmp_path):
    """Of this machine's processors, a fake tree of them here: a job has its nodes' share, and a counter begins anew."""
    for name, most in (("intel-rapl:0", 100e6), ("intel-rapl:1", 100e6), ("intel-rapl:0:0", 100e6)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "energy_uj").write_text("90000000\n")
        (tmp_path / name / "max_energy_range_uj").write_text(f"{most:.0f}\n")
    daemon = rule("--local", "2", "--energy", "rapl", policy="easy", env={"EPOP_POWERCAP": tmp_path})
    number = daemon.submit(*LONG)
    daemon.wait_runs(number, 1)
    (tmp_path / "intel-rapl:0/energy_uj").write_text("10000000\n")
    ruling.wait_for(lambda: joules(daemon, number) == 10)
    (tmp_path / "intel-rapl:1/energy_uj").write_text("98000000\n")
    (tmp_path / "intel-rapl:0:0/energy_uj").write_text("99000000\n")
    ruling.wait_for(lambda: joules(daemon, number) == 14)
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")
    assert joules(daemon, number) == 14


def test_it_is_as_before(rule):
    """Watts and cap, where the next start does not say; 0 is no cap."""
    daemon = rule("--local", "2", "--watts", "100,300", "--power-cap", "400", policy="easy")
    daemon.stop()
    daemon.options = ["--policy", "easy"]
    daemon.start()
    assert not daemon.try_submit(*LONG, ranks=(2, 2))["ok"]
    daemon.stop()
    daemon.options += ["--power-cap", "0"]
    daemon.start()
    number = daemon.submit(*LONG, ranks=(2, 2))
    daemon.wait_runs(number, 2)
    assert [one["watts"] for one in daemon.nodes().values()] == [300, 300]


@pytest.mark.parametrize("words, status, said", [
    (["--watts", "100"], 1, "'100': give the watts of an idle and of a busy node as 90,310"),
    (["--watts", "300,100"], 1, "90,310"),
    (["--watts", "100,300,"], 1, "90,310"),
    (["--watts", "100,300,n1=5"], 1, "n3=120:400"),
    (["--power-cap", "500"], 1, "the watts of a node are not known: give --watts"),
    (["--watts", "100,300", "--power-cap", "399"], 1, "2 idle nodes draw 200 W already, and none could be busy"),
    (["--power-cap", "-1"], 2, "is no number of watts"),
    (["--energy", "guess"], 2, "watts or rapl"),
    (["--energy", "rapl"], 1, "can be read below /nowhere"),
    (["--suspend-after", "10m", "--suspend", "true"], 1, "and the one that switches it on again, --resume"),
    (["--suspend-after", "soon"], 2, "is no time"),
    (["--site", "slurm", "--watts", "100,300"], 2, "nodes that epoprm rules itself"),
])
def test_wrong_words(space, words, status, said):
    where = [] if "--site" in words else ["--local", "2"]
    result = space.start([EPOPRM, "start", "--foreground", *where, *words],
                         env={"EPOPRM_DIR": space.directory / "state", "EPOP_POWERCAP": "/nowhere"}).wait()
    assert result.status == status and said in result.err and result.err.count("\n") == 1, result


SWITCHED = "switched off, as it was idle"


@pytest.mark.parametrize("cap", [[], ["--watts", "100,300", "--power-cap", "700"]])
def test_idle_nodes_are_switched_off_and_on(rule, tmp_path, cap):
    """After a time, not while jobs wait; as many come back as these lack, also for the next daemon, and under a cap."""
    switch = tmp_path / "switch"
    switch.write_text('#!/bin/sh\necho "$1 $2" >>"$(dirname "$0")/said"\n[ "$1" = on ] || exit 0\nuntil [ -e "$(dirname "$0")/boots" ]; do sleep 0.05; done\n')
    switch.chmod(0o755)
    daemon = rule("--local", "3", *cap, "--suspend", f"{switch} off", "--resume", f"{switch} on", "--suspend-after", "1s", policy="easy")

    def off():
        return [name for name, one in daemon.nodes().items() if one["state"] == "off"]
    ruling.wait_for(lambda: len(off()) == 3)
    assert all(one["reason"] == SWITCHED and "watts" not in one for one in daemon.nodes().values())
    daemon.stop()
    daemon.start()
    assert len(off()) == 3
    number = daemon.submit(*LONG, ranks=(2, 2))
    ruling.wait_for(lambda: (tmp_path / "said").read_text().count("on ") == 2)
    assert daemon.jobs()[number]["state"] == "waiting"
    (tmp_path / "boots").touch()
    daemon.wait_runs(number, 2)
    assert len(off()) == 1 and (tmp_path / "said").read_text().count("on ") == 2
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")
    ruling.wait_for(lambda: len(off()) == 3)
    daemon.check()


def test_a_host_that_is_switched_on_has_to_answer(net):
    """On other hosts the command is not what counts, but that something can be started there."""
    daemon = ruling.daemon_on(net, policy="easy")
    daemon.options += ["--suspend", "true", "--resume", "true", "--suspend-after", "1"]
    daemon.start()
    try:
        ruling.wait_for(lambda: {one["state"] for one in daemon.nodes().values()} == {"off"})
        number = daemon.submit(*ruling.MOMENT, ranks=(2, 2))
        daemon.wait_end(number)
        assert [row["text"] for row in daemon.events(kind="node")].count(f"{net.names[1]} is up") >= 1
    finally:
        daemon.close()
    daemon.check()
