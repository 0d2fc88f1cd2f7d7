"""Joining processes under PRRTE, Open MPI's process manager: which hosts they come up on."""

import os

import pytest

import hosts
import job
import joining
from joining import ENDLESS, JOIN, end, start

pytestmark = pytest.mark.skipif("openmpi" not in job.MPIEXEC or not joining.WORKS, reason="it is about Open MPI's launcher")


def exported(*names):
    """PRRTE hands on no more to other hosts."""
    return [word for name in names if name in os.environ for word in ("-x", name)]


@pytest.fixture(name="start_on")
def fixture_start_on(net):
    """Starts a job on so many of the three hosts, one rank each. Connections are over TCP."""
    def start_on(count):
        env = {"PRTE_MCA_plm_ssh_agent": hosts.START, "OMPI_MCA_btl_tcp_if_include": "eth0"}
        running = net.start("n1", [job.MPIEXEC, "--host", "n1:2,n2:2,n3:2", "-n", count, "--map-by", "node:oversubscribe",
                                   *exported("HOME", "LD_LIBRARY_PATH"), "-x", "OMPI_MCA_btl_tcp_if_include",
                                   job.BUILD / "bin/epop", *JOIN, job.program("ledger"), *ENDLESS], env=env, limit=300)
        host = net.at("n1")
        host.wait_until_running()
        return host, running
    return start_on


def test_hosts_come_and_go(start_on):
    """Connections to a process that has left close quietly."""
    host, running = start_on(1)
    for _ in range(2):
        host.resize("+2", "--hosts", "n2")
        host.resize("+1", "--hosts", "n3")
        assert host.by_rank() == ["n1", "n2", "n2", "n3"]
        host.resize("--release", "n2")
        host.resize("--release", "n3")
        assert host.by_rank() == ["n1"]
    end(host, running)


def test_a_host_that_others_of_a_launch_have_left(start_on):
    """Its server has forgotten the launch, and connecting to the rest of it would end the job."""
    host, running = start_on(3)
    host.resize("--release", "n2")
    assert host.by_rank() == ["n1", "n3"]
    assert "all of an earlier launch have left it" in host.resize("+1", "--hosts", "n2", status=1).err
    host.resize("+2")
    assert "n2" not in host.by_rank()
    end(host, running)


def test_a_host_that_the_launcher_has_not(space):
    running = start(space, *ENDLESS)
    refused = space.resize("+1", "--hosts", "elsewhere", status=1)
    assert "on elsewhere ended with status" in refused.err and "FAILED_TO_MAP" in refused.err, refused
    space.resize("+1")
    end(space, running)
