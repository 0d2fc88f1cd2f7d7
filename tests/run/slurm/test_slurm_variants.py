"""Companions through the kinds of Slurm that there are: one comes, gives way, returns, ends with the job."""

import pytest
from slurm import RANGE, Elastic, companions, companions_of, end_lease, made, needed, rigid, wait_for_end, wait_for_hosts, waiting

pytestmark = needed
LEASE = ("PreemptType=preempt/none", "PreemptMode=OFF", "PartitionName=elastic Nodes=n1 State=DOWN",
         "PartitionName=main Nodes=n[1-4] Default=YES State=UP")
REQUEUE = ("PreemptMode=REQUEUE", "PartitionName=elastic Nodes=n[1-4] PriorityTier=1 GraceTime=20 PreemptMode=REQUEUE State=UP")
VARIANTS = {
    "slurmdbd, select/linear": {"accounting": True, "select": "linear"},
    "default scheduler parameters": {"quick": False},
    "task/affinity": {"task": "task/affinity"},
    "preemption by requeueing": {"lines": REQUEUE},
    "task/cgroup": {"task": "task/cgroup"},
}


@pytest.fixture
def slurm(request):
    it = made(**request.param)
    yield it
    it.close()


@pytest.mark.parametrize("slurm", VARIANTS.values(), ids=VARIANTS.keys(), indirect=True)
def test_companions_come_give_way_and_return(slurm):
    it = Elastic(slurm, epop=RANGE.format(3))
    first = companions_of(it, 2)
    wait_for_hosts(it, "n1", *first)
    other = rigid(slurm, 3)
    slurm.wait_for_state(other, "RUNNING")
    wait_for_hosts(it, "n1")
    slurm.wait(lambda: len(waiting(it)) == 2 and not companions(it), what="companions that wait for their return")
    slurm.run("head", "scancel", str(other), user="bob")
    wait_for_hosts(it, "n1", *companions_of(it, 2))
    assert not set(companions(it).values()) & set(first.values())
    it.ctl("stop", "--wait")
    wait_for_end(it)


def test_without_preemption_they_have_a_lease():
    cluster = made(lines=LEASE)
    try:
        it = Elastic(cluster, epop=RANGE.format(2), env={"EPOP_LEASE": "1"})
        first = companions_of(it, 1)
        wait_for_hosts(it, "n1", *first)
        (_, number), = first.items()
        wait_for_hosts(it, "n1", *end_lease(it, number))
        it.ctl("stop", "--wait")
        wait_for_end(it)
    finally:
        cluster.close()
