"""The join backend across hosts: a job grows onto another one, gives it back, and moves there."""

import json
import os
import pathlib
import re
import signal
import time

import pytest

import joining
from joining import end, start_at

pytestmark = joining.needed


@pytest.fixture(name="host")
def fixture_host(net):
    return net.at("n1")


@pytest.mark.parametrize("by_environment", [False, True])
def test_grows_onto_a_host_and_gives_it_back(host, by_environment):
    running = start_at(host, by_environment=by_environment)
    host.resize("+2", "--hosts", "n2")
    assert host.by_rank() == ["n1", "n1", "n2", "n2"]
    host.resize("--release", "n2")
    assert host.by_rank() == ["n1", "n1"]
    end(host, running)


def test_releases_a_host_whatever_the_numbers(host):
    running = start_at(host)
    host.resize("+2", "--hosts", "n2")
    host.resize("+2", "--hosts", "n3")
    host.resize("--release", "n2")
    assert host.by_rank() == ["n1", "n1", "n3", "n3"]
    host.resize("+2", "--hosts", "n2,n3")
    assert host.by_rank() == ["n1", "n1", "n3", "n3", "n2", "n3"]
    host.resize("--release", "n2,n3")
    end(host, running)


def test_migrates(host):
    """Out and in at once: a rank by its number, then a whole host."""
    running = start_at(host)
    host.resize("2", "--release-ranks", "1", "--hosts", "n2")
    assert host.by_rank() == ["n1", "n2"]
    host.resize("3", "--release", "n2", "--hosts", "n3")
    assert host.by_rank() == ["n1", "n3", "n3"]
    end(host, running)


def test_starts_on_two_hosts(host):
    running = start_at(host, launch=("n1", "n2"))
    assert host.by_rank() == ["n1", "n2"]
    host.resize("+1", "--hosts", "n3")
    host.resize("--release", "n2")
    assert host.by_rank() == ["n1", "n3"]
    end(host, running)


def process_zero(host):
    return next(process["pid"] for process in host.status()["processes"] if process["rank"] == 0)


def connections(host):
    """Of other hosts, to rank 0's process."""
    [file] = pathlib.Path(host.net.space.runtime, "epop").glob("*.json")
    port = int(json.loads(file.read_text())["uri"].rpartition(":")[2])
    rows = [line.split() for line in pathlib.Path(f"/proc/{process_zero(host)}/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def parked(status):
    return [process["pid"] for process in status["processes"] if process["state"] == "standby"]


def kill_parked(host, count):
    pids = parked(host.status())
    assert len(pids) == count
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    host.wait_for_status(lambda status: not parked(status))


@pytest.mark.parametrize("leave", ["exit", "park"])
def test_those_of_a_host_come_by_one_of_them(host, leave):
    """Whoever that is leaves at some time, and the others come by another one. Who has parked may die alone."""
    running = start_at(host, "--leave", leave)
    host.resize("+3", "--hosts", "n2")
    assert connections(host) == 1
    host.resize("+2", "--hosts", "n3")
    assert connections(host) == 2
    for left in (2, 1, 0):
        host.resize("--release-ranks", "2")
        assert host.by_rank() == ["n1", "n1", *["n2"] * left, "n3", "n3"]
        kill_parked(host, 1 if leave == "park" else 0)
    host.resize("+2", "--hosts", "n2")
    assert host.by_rank() == ["n1", "n1", "n3", "n3", "n2", "n2"]
    end(host, running)


# That it failed is seen by us or, from MPICH 5 on, by Hydra.
UNREACHED = "(cannot start processes|launcher of the joining processes) on {}:? .*ended with status \\d+"


def goes_on(host, running):
    """At the old size, and the next resize works."""
    assert host.by_rank() == ["n1", "n1"]
    host.resize("+1", "--hosts", "n3")
    assert host.by_rank() == ["n1", "n1", "n3"]
    end(host, running)


def test_host_that_is_not_known(host):
    running = start_at(host)
    begin = time.monotonic()
    result = host.resize("+2", "--hosts", "n2,n9", status=1)
    assert re.search(UNREACHED.format("n2,n9"), result.err), result
    assert host.net.space.in_time(time.monotonic() - begin, 5)
    goes_on(host, running)


def test_host_that_is_not_reached(host):
    """Its processes cannot call back, which is heard of from the launcher."""
    running = start_at(host, "--prepare-timeout", "50")
    host.net.cut("n2")
    result = host.epopctl("resize", "+1", "--hosts", "n2", "--wait")
    assert result.status == 1 and re.search(UNREACHED.format("n2"), result.err), result
    host.net.mend("n2")
    goes_on(host, running)


def test_host_that_is_not_heard_of(host):
    """Its processes try to call back for minutes: the time limit ends that."""
    running = start_at(host, "--prepare-timeout", host.net.space.patience(1.5))
    host.net.cut("n2", silently=True)
    result = host.epopctl("resize", "+1", "--hosts", "n2", "--wait")
    assert result.status == 4 and "not ready in time" in result.err, result
    host.net.clear("n2")
    host.net.mend("n2")
    goes_on(host, running)
