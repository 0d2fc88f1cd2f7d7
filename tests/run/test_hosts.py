"""The join backend across hosts: a job grows onto another one, gives it back, and moves there."""

import json
import os
import pathlib
import re
import signal
import time

import pytest

import hosts
import job
import joining

pytestmark = joining.needed


def start(net, *options, launch=("n1",), ranks=2, env=None, by_environment=False):
    """The ledger on these hosts, with a launcher that Hydra hears of on its command line or from the environment."""
    launcher = ["-launcher", "ssh", "-launcher-exec", hosts.START]
    if by_environment:
        launcher, env = [], {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": hosts.START, **(env or {})}
    running = net.start("n1", [job.MPIEXEC, *launcher, "-hosts", ",".join(launch), "-n", ranks,
                               job.BUILD / "bin/epop", "--backend", "join", *options, job.program("ledger"),
                               *joining.ENDLESS], env=env, limit=120)
    wait_for_status(net, lambda status: status["state"] == "running")
    return running


def status_of(net):
    return json.loads(net.epopctl("n1", "status", "--json").out)


def wait_for_status(net, condition, limit=30):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        result = net.epopctl("n1", "status", "--json")
        if result.status == 0 and condition(json.loads(result.out)):
            return
    raise AssertionError(f"not in time: {result}")


def resize(net, *arguments, status=0):
    result = net.epopctl("n1", "resize", "--wait", *arguments)
    assert result.status == status, result
    return result


def hosts_by_rank(net):
    ranks = sorted((process["rank"], process["host"]) for process in status_of(net)["processes"])
    return [host for rank, host in ranks if rank >= 0]


def end(net, running):
    net.epopctl("n1", "stop", "--wait")
    result = running.wait()
    assert result.status == 0, result
    assert "right in" in result.out, result


@pytest.mark.parametrize("by_environment", [False, True])
def test_grows_onto_a_host_and_gives_it_back(net, by_environment):
    running = start(net, by_environment=by_environment)
    resize(net, "+2", "--hosts", "n2")
    assert hosts_by_rank(net) == ["n1", "n1", "n2", "n2"]
    resize(net, "--release", "n2")
    assert hosts_by_rank(net) == ["n1", "n1"]
    end(net, running)


def test_releases_a_host_whatever_the_numbers(net):
    running = start(net)
    resize(net, "+2", "--hosts", "n2")
    resize(net, "+2", "--hosts", "n3")
    resize(net, "--release", "n2")
    assert hosts_by_rank(net) == ["n1", "n1", "n3", "n3"]
    resize(net, "+2", "--hosts", "n2,n3")
    assert hosts_by_rank(net) == ["n1", "n1", "n3", "n3", "n2", "n3"]
    resize(net, "--release", "n2,n3")
    end(net, running)


def test_migrates(net):
    """Out and in at once: a rank by its number, then a whole host."""
    running = start(net)
    resize(net, "2", "--release-ranks", "1", "--hosts", "n2")
    assert hosts_by_rank(net) == ["n1", "n2"]
    resize(net, "3", "--release", "n2", "--hosts", "n3")
    assert hosts_by_rank(net) == ["n1", "n3", "n3"]
    end(net, running)


def test_starts_on_two_hosts(net):
    running = start(net, launch=("n1", "n2"))
    assert hosts_by_rank(net) == ["n1", "n2"]
    resize(net, "+1", "--hosts", "n3")
    resize(net, "--release", "n2")
    assert hosts_by_rank(net) == ["n1", "n3"]
    end(net, running)


def process_zero(net):
    return next(process["pid"] for process in status_of(net)["processes"] if process["rank"] == 0)


def connections(net):
    """Of other hosts, to rank 0's process."""
    [file] = pathlib.Path(net.space.runtime, "epop").glob("*.json")
    port = int(json.loads(file.read_text())["uri"].rpartition(":")[2])
    rows = [line.split() for line in pathlib.Path(f"/proc/{process_zero(net)}/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def parked(status):
    return [process["pid"] for process in status["processes"] if process["state"] == "standby"]


def kill_parked(net, count):
    pids = parked(status_of(net))
    assert len(pids) == count
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    wait_for_status(net, lambda status: not parked(status))


@pytest.mark.parametrize("leave", ["exit", "park"])
def test_those_of_a_host_come_by_one_of_them(net, leave):
    """Whoever that is leaves at some time, and the others come by another one. Who has parked may die alone."""
    running = start(net, "--leave", leave)
    resize(net, "+3", "--hosts", "n2")
    assert connections(net) == 1
    resize(net, "+2", "--hosts", "n3")
    assert connections(net) == 2
    for left in (2, 1, 0):
        resize(net, "--release-ranks", "2")
        assert hosts_by_rank(net) == ["n1", "n1", *["n2"] * left, "n3", "n3"]
        kill_parked(net, 1 if leave == "park" else 0)
    resize(net, "+2", "--hosts", "n2")
    assert hosts_by_rank(net) == ["n1", "n1", "n3", "n3", "n2", "n2"]
    end(net, running)


def goes_on(net, running):
    """At the old size, and the next resize works."""
    assert hosts_by_rank(net) == ["n1", "n1"]
    resize(net, "+1", "--hosts", "n3")
    assert hosts_by_rank(net) == ["n1", "n1", "n3"]
    end(net, running)


def test_host_that_is_not_known(net):
    running = start(net)
    begin = time.monotonic()
    result = resize(net, "+2", "--hosts", "n2,n9", status=1)
    assert re.search("cannot start processes on n2,n9: .* ended with status 255", result.err)
    assert net.space.in_time(time.monotonic() - begin, 5)
    goes_on(net, running)


def test_host_that_is_not_reached(net):
    """Its processes cannot call back, which is heard of from the launcher."""
    running = start(net, "--prepare-timeout", "50")
    net.cut("n2")
    result = net.epopctl("n1", "resize", "+1", "--hosts", "n2", "--wait", limit=60)
    assert result.status == 1 and "cannot start processes on n2" in result.err, result
    net.mend("n2")
    goes_on(net, running)


def test_host_that_is_not_heard_of(net):
    """Its processes try to call back for minutes: the time limit ends that."""
    running = start(net, "--prepare-timeout", net.space.patience(1.5))
    net.cut("n2", silently=True)
    result = net.epopctl("n1", "resize", "+1", "--hosts", "n2", "--wait", limit=60)
    assert result.status == 4 and "not ready in time" in result.err, result
    net.clear("n2")
    net.mend("n2")
    goes_on(net, running)
