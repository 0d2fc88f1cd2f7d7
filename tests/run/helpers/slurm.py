"""A Slurm of four nodes for the tests of a file: what tests/slurm/cluster.py makes, with the EPOP tree under test."""

import json
import os
import pathlib
import subprocess

import job
import joining
import pytest
from cluster import Cluster, Unavailable

needed = joining.needed  # without processes that join there is nothing that Slurm could give


def hosts_apart():
    """Can MPI connect processes that have no memory in common? Over ch4:ucx of forky they have to have some."""
    done = subprocess.run([job.BUILD / "bin/epop", "--capabilities", "--json"], capture_output=True, text=True, check=True, timeout=120,
                          env={**os.environ, "UCX_TLS": "tcp,self"})
    found = json.loads(done.stdout)
    return "ch4:ucx" not in found["library"] or found["connect"]["works"]


def made(**how):
    """One with these options (Cluster); the test is skipped where there can be none. The caller closes it."""
    if joining.WORKS and not hosts_apart():
        pytest.skip("processes of different hosts cannot be connected")
    own = pathlib.Path(job.MPIEXEC).parent.parent if "/" in job.MPIEXEC else None  # else it is the system's
    try:
        return Cluster(epop=job.BUILD, mpich=own, **how)
    except Unavailable as why:
        pytest.skip(f"no Slurm here: {why}")


@pytest.fixture(scope="module")
def cluster():
    it = made()
    yield it
    it.close()


LONG = ("synthetic", "phase=a", "iterations=1000000", "seconds=0.02")
SCRIPT = "exec mpiexec -n 1 epop --backend join --verbose {options} {program}\n"


class Elastic:
    """An EPOP job in a batch job of its own, and what epopctl says about it from some host."""

    def __init__(self, cluster, *options, nodes=1, first="n1", env=None, epop=""):
        self.cluster = cluster
        script = SCRIPT.format(options=epop, program=" ".join(LONG))
        self.number = cluster.sbatch(script, f"-N{nodes}", "--exclusive", *options, *([f"-w{first}"] if first else []), env=env)
        cluster.wait(lambda: self.status(check=False), what="the job's address")

    def ctl(self, *words, host="n1", check=True):
        return self.cluster.run(host, "epopctl", *words, check=check)

    def status(self, host="n1", check=True):
        done = self.ctl("status", f"slurm:{self.number}", "--json", host=host, check=check)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def resize(self, *words, check=True):
        return self.ctl("resize", f"slurm:{self.number}", "--wait", *words, check=check)

    def ranks(self):
        """(host, Slurm job) by rank."""
        processes = [p for p in self.status()["processes"] if p["rank"] >= 0]
        return [(p["host"], p["slurm_job"]) for p in sorted(processes, key=lambda p: p["rank"])]

    def hosts(self):
        return [host for host, _ in self.ranks()]

    def pid(self, rank):
        """In its host's own numbers."""
        return next(p["pid"] for p in self.status()["processes"] if p["rank"] == rank)

    def environment(self, rank):
        text = self.cluster.run(self.hosts()[rank], "cat", f"/proc/{self.pid(rank)}/environ").stdout
        return dict(word.split("=", 1) for word in text.split("\0") if "=" in word)

    def output(self):
        return self.cluster.output(self.number)


@pytest.fixture
def elastic(cluster):  # noqa: F811
    """Makes such jobs, and leaves nothing of them in Slurm."""
    yield lambda *options, **how: Elastic(cluster, *options, **how)
    cluster.clear()


# ---- Companions: one-node Slurm jobs that lend their nodes

RANGE = "--elastic 1-{} --companions"  # options of epop


def companions(it):
    """{node: number} of those that run."""
    return {row[2]: number for number, row in it.cluster.jobs("-t", "RUNNING").items() if row[0] == f"epop-{it.number}"}


def waiting(it):
    return [number for number, row in it.cluster.jobs("-t", "PENDING").items() if row[0] == f"epop-{it.number}"]


def wait_for_hosts(it, *hosts):
    it.cluster.wait(lambda: sorted(it.hosts()) == sorted(hosts), what=f"ranks on {hosts}")
    assert it.hosts()[0] == "n1"


def rigid(cluster, nodes, *options):
    return cluster.sbatch("exec sleep 1000", f"-N{nodes}", "--exclusive", "-J", "rigid", *options, user="bob")


def wait_for_end(it):
    """Of the job and its companions: nothing of them is left in Slurm, nor on the nodes."""
    it.cluster.wait(lambda: not it.cluster.jobs(), what="the end of all jobs")
    it.cluster.wait(lambda: set(it.cluster.node_states().values()) <= {"idle", "down", "down*"}, what="free nodes")


def end_lease(it, number):
    """Ends that companion's time, until it has gone and another one is there: who that is. Slurm may make the time longer again before
    it has ended anything; and the first one queues the other before its own end, so that for a moment both may run."""
    def is_replaced():
        now = companions(it)
        if number in now.values():
            it.cluster.run("head", "scontrol", "update", f"jobid={number}", "endtime=now", user="root", check=False)
        return number not in now.values() and now
    return it.cluster.wait(is_replaced, what=f"another one than companion {number}")


def companions_of(it, count):
    """Their nodes, when so many run."""
    return it.cluster.wait(lambda: len(now := companions(it)) == count and now, what=f"{count} companions")
