"""Companions: one-node Slurm jobs that lend their nodes. Slurm alone decides here, no daemon of ours runs."""

import contextlib
import os
import re
import signal

from slurm import RANGE, cluster, companions, companions_of, elastic, end_lease, needed, rigid, wait_for_end, wait_for_hosts, waiting  # noqa: F401

pytestmark = needed


def test_nodes_come_by_companions_and_go_with_the_job(elastic, cluster):  # noqa: F811
    it = elastic(epop=RANGE.format(3))
    nodes = companions_of(it, 2)
    wait_for_hosts(it, "n1", *nodes)
    cluster.wait(lambda: cluster.jobs()[it.number][5] == "epop:min=1,max=3", what="the range in the job's comment")
    assert all(cluster.jobs()[number][3] == "elastic" for number in nodes.values())
    assert dict(it.ranks()[1:]) == nodes
    it.ctl("stop", "--wait", host="n4")
    wait_for_end(it)


def test_the_task_of_an_array_that_has_its_number(elastic, cluster):  # noqa: F811
    """What is asked and said of that number is of all tasks, but for what is so by theirs."""
    it = elastic("--array=0-1", epop="--elastic 1-$((SLURM_ARRAY_TASK_ID+1)) --companions", first=None)
    (node, number), = companions_of(it, 1).items()
    cluster.wait(lambda: it.ranks()[1:] == [(node, number)], what="ranks on a companion")
    assert cluster.jobs()[number][3] == "elastic"
    other, = (task for task, row in cluster.jobs().items() if task not in (it.number, number))
    cluster.wait(lambda: [cluster.jobs()[task][5] for task in (other, it.number)] == ["epop:min=1,max=1", "epop:min=1,max=2"],
                 what="each task's range in its own comment")
    assert "companion" not in "".join(path.read_text() for path in (cluster.directory / "home/alice").glob("slurm-*.out"))


def test_words_in_its_comment_stay(elastic, cluster):  # noqa: F811
    it = elastic("--comment=of mine epop:min=1,max=9 and yours", epop="--elastic 1-2")
    cluster.wait(lambda: cluster.jobs()[it.number][5] == "of mine and yours epop:min=1,max=2", what="its range behind its user's words")


def test_a_rigid_job_takes_its_nodes_without_a_daemon(elastic, cluster):  # noqa: F811
    it = elastic(epop=RANGE.format(4))
    wait_for_hosts(it, "n1", "n2", "n3", "n4")
    for _ in range(2):  # those that returned, too
        other = rigid(cluster, 2)
        cluster.wait_for_state(other, "RUNNING")
        taken = set(cluster.run("head", "scontrol", "show", "hostnames", cluster.jobs()[other][2]).stdout.split())
        wait_for_hosts(it, *({"n1", "n2", "n3", "n4"} - taken))
        cluster.wait(lambda: len(waiting(it)) == 2, what="companions that wait for their return")
        cluster.run("head", "scancel", str(other), user="bob")
        wait_for_hosts(it, "n1", "n2", "n3", "n4")
        assert not waiting(it)


def seconds(text):
    """Of a time as squeue writes it, without days."""
    total = 0
    for part in text.split(":"):
        total = 60 * total + int(part)
    return total


TWICE = """#!/bin/bash
if (( 0x$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$$/status) & 0x4000 )) && mkdir "$(dirname "$0")/$SLURM_JOB_ID" 2>/dev/null; then exit 143; fi
exec /usr/bin/timeout "$@"
"""


def test_they_run_while_a_job_waits_for_more_nodes(elastic, cluster):  # noqa: F811
    """Slurm starts them there if they end before it begins, so they have a limit; and where one ends the next one comes, also if
    Slurm's second SIGTERM ends the first of its commands that heeds it."""
    path = cluster.directory / "twice"
    path.mkdir(mode=0o777)
    path.chmod(0o777)
    (path / "timeout").write_text(TWICE)
    (path / "timeout").chmod(0o755)
    it = elastic("-t60")
    waits = rigid(cluster, 4, "-t10")
    cluster.wait(lambda: cluster.jobs()[waits][4] == "Resources", what="a job that waits for all nodes")
    cluster.run("n1", "epopctl", "resize", f"slurm:{it.number}", "+1", "--companions",
                env={"PATH": f"{path}:{cluster.epop}/bin:{cluster.mpich}/bin:/usr/bin:/bin"})
    (first, number), = companions_of(it, 1).items()
    wait_for_hosts(it, "n1", first)
    limit = cluster.run("head", "squeue", "-h", "-j", str(number), "-o", "%l").stdout.strip()
    assert 10 * 60 <= seconds(limit) <= 60 * 60, limit  # a lease, which Slurm may make longer up to the job's end
    end_lease(it, number)
    assert [entry.name for entry in path.iterdir() if entry.is_dir()] == [str(number)], "it had no second SIGTERM"
    cluster.run("head", "scontrol", "update", "PartitionName=elastic", "MaxTime=30", user="root")
    try:
        it.ctl("resize", f"slurm:{it.number}", "+1", "--companions")  # of less than the job's time
        wait_for_hosts(it, "n1", *companions_of(it, 2))
    finally:
        cluster.run("head", "scontrol", "update", "PartitionName=elastic", "MaxTime=UNLIMITED", user="root")
    assert cluster.state(waits) == "PENDING"


def test_a_companion_that_is_cancelled_does_not_return(elastic, cluster):  # noqa: F811
    it = elastic(epop=RANGE.format(3))
    nodes = companions_of(it, 2)
    wait_for_hosts(it, "n1", *nodes)
    (first, number), (second, _) = nodes.items()
    cluster.run("n1", "scancel", str(number))
    cluster.wait(lambda: cluster.node_states()[first] == "idle", what="its node to be given back")
    wait_for_hosts(it, "n1", second)
    assert set(cluster.jobs()) == {it.number, nodes[second]}
    it.resize("--release", second, "--wait=vacated")  # and one whose ranks were sent away ends, too
    cluster.wait(lambda: set(cluster.jobs()) == {it.number}, what="its end")
    it.ctl("resize", f"slurm:{it.number}", "+2", "--companions")  # what was cancelled can be asked for again
    wait_for_hosts(it, "n1", *companions_of(it, 2))


def test_a_companion_of_a_drained_node_gives_it_up(elastic, cluster):  # noqa: F811
    it = elastic(epop=RANGE.format(2), env={"EPOP_COMPANION": "-w n2"})
    wait_for_hosts(it, "n1", "n2")
    cluster.run("head", "scontrol", "update", "node=n2", "state=drain", "reason=test", user="root")
    try:
        wait_for_hosts(it, "n1")
        cluster.wait(lambda: cluster.node_states()["n2"] == "drained", what="the node to be free")
        cluster.wait(lambda: len(waiting(it)) == 1, what="one that waits for it")
    finally:
        cluster.run("head", "scontrol", "update", "node=n2", "state=resume", user="root")
    wait_for_hosts(it, "n1", "n2")


def test_companions_end_with_a_job_that_is_cancelled(elastic, cluster):  # noqa: F811
    it = elastic(epop=RANGE.format(4))  # one more than there are nodes
    other = rigid(cluster, 1)
    cluster.wait_for_state(other, "RUNNING")
    wait_for_hosts(it, "n1", *companions_of(it, 2))
    cluster.run("n1", "scancel", str(it.number))
    cluster.wait(lambda: set(cluster.jobs()) == {other}, what="the end of all companions")


def test_a_companion_whose_rank_is_killed_takes_the_job_with_it(elastic, cluster):  # noqa: F811
    it = elastic(epop=RANGE.format(3))
    wait_for_hosts(it, "n1", *companions_of(it, 2))
    cluster.run(it.hosts()[1], "kill", "-9", str(it.pid(1)))
    cluster.wait(lambda: not cluster.jobs(), what="the end of all jobs")


def test_a_companion_whose_script_is_killed_gives_its_node_back(elastic, cluster):  # noqa: F811
    it = elastic(epop=RANGE.format(2), env={"EPOP_COMPANION": "-w n2"})
    wait_for_hosts(it, "n1", "n2")
    for pid, text in cluster.users_pids("n2").items():
        if "companion lend" in text:
            with contextlib.suppress(ProcessLookupError):  # srun ends with the first of its two processes
                os.kill(pid, signal.SIGKILL)
    cluster.wait(lambda: cluster.node_states()["n2"] == "idle", what="the node to be free")
    wait_for_hosts(it, "n1")


def test_a_companion_whose_node_is_back_at_once_goes_with_the_job(elastic, cluster):  # noqa: F811
    """Nothing of it runs any more, but Slurm takes it to run for minutes."""
    it = elastic(epop=RANGE.format(2), env={"EPOP_COMPANION": "-w n2"})
    wait_for_hosts(it, "n1", "n2")
    cluster.kill_host("n2")
    cluster.start_host("n2")
    cluster.wait(lambda: not cluster.jobs(), 100, what="the end of both")
    wait_for_end(it)


def test_a_companion_whose_node_is_back_at_once_goes_before_a_job_that_goes_on(elastic, cluster):  # noqa: F811
    """Only a process that stands by was there."""
    it = elastic(epop=RANGE.format(2) + " --leave park", env={"EPOP_COMPANION": "-w n2"})
    wait_for_hosts(it, "n1", "n2")
    it.resize("--release-ranks", "1")
    cluster.wait(lambda: it.status()["standby"] == 1, what="a process that stands by")
    cluster.kill_host("n2")
    cluster.start_host("n2")
    cluster.wait(lambda: set(cluster.jobs()) == {it.number}, 100, what="the companion's end")
    assert it.hosts() == ["n1"]


def test_one_that_waits_goes_with_a_job_that_is_killed(elastic, cluster):  # noqa: F811
    """It would wait on: another job takes the nodes that are free then."""
    others = {rigid(cluster, 2, "-wn3,n4")}
    cluster.wait_for_state(*others, "RUNNING")
    it = elastic(epop=RANGE.format(3))
    wait_for_hosts(it, "n1", "n2")
    cluster.wait(lambda: len(waiting(it)) == 1, what="a companion that waits")
    others.add(rigid(cluster, 2, "-wn1,n2"))
    cluster.run("n1", "kill", "-9", str(it.pid(0)))
    cluster.wait(lambda: set(cluster.jobs()) == others, what="the end of all companions")


SLOW = """#!/bin/sh
sleep 1
exec /usr/bin/scancel "$@"
"""


def test_our_own_helper_is_waited_for_at_the_end(elastic, cluster):  # noqa: F811
    """It is not taken for a process that the program left, however slow Slurm is."""
    path = cluster.directory / "slow"
    path.mkdir()
    (path / "scancel").write_text(SLOW)
    (path / "scancel").chmod(0o755)
    it = elastic(epop=RANGE.format(4), env={"PATH": f"{path}:{cluster.epop}/bin:{cluster.mpich}/bin:/usr/bin:/bin"})
    other = rigid(cluster, 1)
    cluster.wait_for_state(other, "RUNNING")
    nodes = companions_of(it, 2)
    wait_for_hosts(it, "n1", *nodes)
    it.ctl("stop", "--wait")
    cluster.wait(lambda: set(cluster.jobs()) == {other}, what="the end of the job and its companions")
    assert "companion" not in it.output() and "srun" not in it.output() and "slurmstepd" not in it.output(), it.output()


def test_one_waits_as_long_as_the_job_prepares(elastic, cluster):  # noqa: F811
    """Longer than it waits for the answer to its request: ranks join when the job's iteration is over."""
    def asks():
        return any("epopctl resize" in text for text in cluster.users_pids("n2").values())
    it = elastic()
    it.ctl("pause")
    cluster.run("n1", "epopctl", "resize", "+1", "--companions", env={"EPOP_COMPANION": "-w n2"})
    (_, number), = companions_of(it, 1).items()
    cluster.wait(asks, what="its request")
    cluster.wait(lambda: not asks(), what="the end of its request")
    it.ctl("resume")
    wait_for_hosts(it, "n1", "n2")
    assert it.ranks()[1] == ("n2", number) and "companion" not in it.output()


def test_one_that_gives_up_says_so_in_the_jobs_output(elastic, cluster):  # noqa: F811
    it = elastic(epop=RANGE.format(2) + " --max 1", env={"EPOP_PATIENCE": "2", "EPOP_COMPANION": "-w n2"})
    cluster.wait(lambda: "gives n2 back" in it.output(), what="its word of it")
    (line,) = (line for line in it.output().splitlines() if "gives n2 back" in line)
    assert re.fullmatch(r"epop: note: companion \d+ gives n2 back: 2 ranks are more than the 1 .*", line), line
    cluster.wait(lambda: set(cluster.jobs()) == {it.number}, what="its end")


def test_companions_end_when_the_first_node_dies(elastic, cluster):  # noqa: F811
    it = elastic(epop=RANGE.format(3))
    nodes = companions_of(it, 2)
    wait_for_hosts(it, "n1", *nodes)
    cluster.kill_host("n1")
    try:
        cluster.wait(lambda: not companions(it), 120, "the others' end")
        # The steps' sruns were on the dead node; Slurm gives up on them in its own time.
        cluster.wait(lambda: all(cluster.node_states()[node] == "idle" for node in nodes), 200, "free nodes")
    finally:
        cluster.start_host("n1")


def test_more_are_queued_from_any_host(elastic, cluster):  # noqa: F811
    it = elastic()
    done = it.ctl("resize", f"slurm:{it.number}", "+2", "--companions", host="head")
    nodes = companions_of(it, 2)
    assert sorted(map(int, done.stdout.split())) == sorted(nodes.values())
    wait_for_hosts(it, "n1", *nodes)
    it.ctl("stop", "--wait")
    wait_for_end(it)


def test_what_companions_do_not_go_with(elastic):  # noqa: F811
    it = elastic()
    for words in (["2"], ["-1"], ["+0"], ["+1", "--hosts", "n2"], ["+1", "--wait"]):
        refused = it.ctl("resize", *words, "--companions", check=False)
        assert refused.returncode == 2 and "--companions goes with +N alone" in refused.stderr, refused


def test_ranges_are_checked(cluster):  # noqa: F811
    for text in ("0-4", "4-1", "4", "1-4x"):
        refused = cluster.run("n1", "mpiexec", "-n", "1", "epop", "--elastic", text, "synthetic", check=False)
        assert refused.returncode != 0 and "wants the fewest and the most nodes, as 1-4" in refused.stderr, refused
