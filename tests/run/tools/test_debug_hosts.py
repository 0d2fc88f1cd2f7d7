"""The debug driver across hosts: ranks of one compare what they claim themselves, and one of them speaks for all."""

import job
import pytest

import hosts
import joining
from joining import end, start_at
from scenario import assert_named

pytestmark = joining.needed


@pytest.fixture(name="host")
def fixture_host(net):
    return net.at("n1")


def run(host, name, *arguments, on="n1:2,n2"):
    """on: where the ranks are, one after the other."""
    launcher = ["-launcher", "ssh", "-launcher-exec", hosts.START, "-hosts", on]
    return host.net.start(host.name, [job.MPIEXEC, *launcher, "-n", 3, job.BUILD / "bin/epop", "--driver", "debug", job.test_program(name),
                                      *arguments]).wait()


@pytest.mark.parametrize("on", ["n1:2,n2", "n1,n2:2", "n1,n2,n3"])
@pytest.mark.parametrize("way", ["root", "more"])
def test_ranks_that_differ(host, way, on):
    """Rank 1 from another one of its host, or from those elsewhere."""
    assert_named(run(host, "wrong_collectives", way, on=on), "wrong_collectives: element 1 'work' (RP), iteration 3, rank 1 of 3: its exec block calls ",
                 "; but ranks 0 and 2: its exec block calls ", "it must be the same on every rank")


def test_ranks_that_do_not_differ(host):
    result = run(host, "wrong_collectives", "right")
    assert result.status == 0 and result.err == "", result


def test_resizes(host):
    running = start_at(host, "--driver", "debug")
    host.resize("+2", "--hosts", "n2")
    assert host.by_rank() == ["n1", "n1", "n2", "n2"]
    host.resize("--release-ranks", "1")
    host.resize("--release", "n2")
    host.resize("+1", "--hosts", "n3")
    assert host.by_rank() == ["n1", "n3"]
    assert end(host, running).err == ""


def test_a_break(host):
    """A rank of another host stops, and those of this one with it."""
    running = start_at(host, "--driver", "debug")
    host.resize("+2", "--hosts", "n2")
    for place in ("ledger@3", "ledger@0"):
        result = host.epopctl("break", place, "--wait")
        assert result.status == 0 and result.out.count("gdb -p") == 1, result
        result = host.epopctl("step")
        assert result.status == 0 and result.out.count("gdb -p") == 4, result
        assert host.epopctl("continue").status == 0
    host.resize("--release", "n2")
    result = host.stop(running)
    assert result.status == 0 and "right in" in result.out and "warning" not in result.err, result
