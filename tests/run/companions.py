"""What tests of companions do and wait for: one-node Slurm jobs that lend their nodes."""

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


def companions_of(it, count):
    """Their nodes, when so many run."""
    return it.cluster.wait(lambda: len(now := companions(it)) == count and now, what=f"{count} companions")
