"""The adviser beside a real Slurm: idle nodes are filled, jobs that wait get room, several users; and whom it does not believe. It
may die, and so may slurmctld."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import alike
import job
import pytest
from schemas import validate
from slurm import cluster, needed  # noqa: F401

pytestmark = needed

LONG = "synthetic phase=a iterations=1000000 seconds=0.05"
RANGE = "--comment=epop:min=1,max=4"


def child_of(pid):
    """Of one that has a single child."""
    [child] = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


class Adviser:
    """One on the head, as root unless said otherwise, that any number of daemons in turn are."""

    def __init__(self, cluster, name, user="root"):  # noqa: F811
        self.cluster, self.user = cluster, user
        home = cluster.directory if user == "root" else cluster.directory / "home" / user
        self.directory, self.file, self.log = home / name, home / f"{name}.address", home / f"{name}.log"
        self.env = {"EPOPRM_DIR": self.directory}
        self.task = None

    def start(self, *options):
        words = ["epoprm", "start", "--site", "slurm", "--foreground", "--policy", "gain,stay=1", "--address-file", self.file, *options]
        before = self.said().count("takes requests")
        with open(self.log, "a", encoding="utf-8") as log:
            self.task = self.cluster.start("head", *words, user=self.user, env=self.env, stdout=log, stderr=log)
        self.cluster.wait(lambda: self.said().count("takes requests") > before or self.task.poll() is not None, what="the adviser")
        assert self.task.poll() is None, self.said()
        return self

    def said(self):
        return self.log.read_text() if self.log.exists() else ""

    def address(self):
        return self.file.read_text().strip()

    def rm(self, *words, check=True):
        return self.cluster.run("head", "epoprm", *words, user=self.user, env=self.env, check=check)

    def queue(self):
        return {row["job"]: row for row in json.loads(self.rm("queue", "--json").stdout)}

    def nodes(self):
        rows = json.loads(self.rm("nodes", "--json").stdout)
        return [(row["node"], row["state"], row.get("job")) for row in rows]

    def nodes_of(self, *numbers):
        """Of each, at the same moment; 0 while it does not run, or is being resized."""
        queue = self.queue()
        rows = [queue.get(number) for number in numbers]
        return [row["nodes"] if row and row["state"] == "running" else 0 for row in rows]

    def await_nodes(self, number, nodes):
        try:
            self.cluster.wait(lambda: self.nodes_of(number) == [nodes], what=f"{nodes} nodes of job {number}")
        except AssertionError as why:
            raise AssertionError(f"{why}\n{self.said()}\n{self.cluster.output(number)}") from None

    def kill(self):
        """The process in its namespaces; the one here only waits for that."""
        os.kill(child_of(self.task.pid), signal.SIGKILL)
        self.task.wait(timeout=60)

    def end(self):
        if self.task and self.task.poll() is None:
            self.rm("stop", check=False)
            self.task.wait(timeout=60)

    def elastic(self, *options, user="alice", program=LONG, **env):
        """A malleable job that knows of it."""
        more = "".join(f"export {name}={value}\n" for name, value in env.items())
        script = f"{more}export EPOP_ADVISER={self.address()}\nexec mpiexec -n 1 epop {program}\n"
        return self.cluster.sbatch(script, "-N1", "--exclusive", RANGE, *options, user=user)

    def rigid(self, nodes, seconds):
        return self.cluster.sbatch(f"sleep {seconds}\n", f"-N{nodes}", "--exclusive", "-t1", user="bob")


@pytest.fixture
def adviser(cluster, request):  # noqa: F811
    it = Adviser(cluster, re.sub(r"\W", "-", request.node.name))
    yield it
    it.end()
    cluster.clear()


def readers(cluster):  # noqa: F811
    """What each reader sees of Slurm now."""
    helper = cluster.epop / "tests/helpers/slurm_queue"
    return [cluster.run("head", helper, how, user="root").stdout for how in ("libslurm", "squeue")]


def test_both_readers_see_the_same(cluster, adviser):  # noqa: F811
    if not (job.BUILD / "lib/epop/slurm.so").exists():
        pytest.skip("built without libslurm")
    first = cluster.sbatch("sleep 300\n", "-N1", "--exclusive", RANGE, "-Jodd|name\nof 99 RUNNING")
    second = cluster.sbatch("sleep 300\n", "-N2", "-t2", "-pelastic", user="bob")
    cluster.wait_for_state(first, "RUNNING")
    cluster.wait_for_state(second, "RUNNING")
    cluster.sbatch("sleep 300\n", "-N4", "--exclusive", "-t1-02:03")  # for three, Slurm would preempt the second
    cluster.sbatch("sleep 300\n", "-N1", "-H")
    cluster.sbatch("sleep 300\n", "-wn[1-2]", f"-dafterok:{first}", user="bob")
    cluster.run("head", "scontrol", "update", "NodeName=n4", "State=DRAIN", "Reason=test", user="root")
    try:
        # Two looks at something that moves: what is seen between two equal ones must be the same.
        one, other = cluster.wait(lambda: (pair := readers(cluster))[0] == pair[1] == readers(cluster)[0] and pair, what="the same view")
        assert one == other and one.count("job ") == 5 and "epop:min=1,max=4" in one and "node n4 state 2" in one, one
    finally:
        cluster.run("head", "scontrol", "update", "NodeName=n4", "State=RESUME", user="root")


def test_nodes_are_filled_given_and_taken_back(cluster, adviser):  # noqa: F811
    adviser.start()
    malleable = adviser.elastic()
    adviser.await_nodes(malleable, 4)
    rigid = adviser.rigid(2, 2)
    cluster.wait_for_state(rigid, "RUNNING", "COMPLETED")
    cluster.wait(lambda: "makes room for job" in adviser.said(), what="the adviser's word of it")
    cluster.wait_for_state(rigid, "COMPLETED")
    adviser.await_nodes(malleable, 4)
    assert cluster.state(malleable) == "RUNNING"
    assert "committed: 1 -> 4 nodes in" in adviser.said()
    why = adviser.rm("why", str(malleable)).stdout
    assert "makes room for job" in why and "malleable" in why, why
    everywhere = [(node, "busy", malleable) for node in cluster.nodes]
    cluster.wait(lambda: adviser.nodes() == everywhere, what="the adviser's word of all nodes")
    for words, instead in ((("submit", "--", "true"), "sbatch"), (("cancel", str(malleable)), "scancel"),
                            (("hold", str(malleable)), "scontrol hold"), (("requeue", "--hold", str(malleable)), "scontrol requeuehold"),
                            (("change", "--priority", "2", str(malleable)), "Nice"), (("drain", "n1"), "scontrol")):
        done = adviser.rm(*words, check=False)
        assert done.returncode == 1 and instead in done.stderr, done
    assert adviser.rm("cancel", "999999", check=False).returncode == 3
    adviser.end()
    assert not adviser.file.exists() and cluster.state(malleable) == "RUNNING"


def test_a_companion_that_is_cancelled_is_asked_for_again(cluster, adviser):  # noqa: F811
    adviser.start()
    malleable = adviser.elastic()
    adviser.await_nodes(malleable, 4)
    number = min(number for number, row in cluster.jobs().items() if row[0] == f"epop-{malleable}")
    cluster.run("n1", "scancel", str(number))
    cluster.wait_for_state(number, "CANCELLED")
    # Of nodes that were given back it may hear later.
    cluster.wait(lambda: adviser.said().count("committed: ") > 1 and adviser.nodes_of(malleable) == [4], what="four nodes again")
    assert cluster.state(malleable) == "RUNNING", adviser.said()


def test_a_node_that_is_drained_is_left(cluster, adviser):  # noqa: F811
    adviser.start()
    malleable = adviser.elastic()
    adviser.await_nodes(malleable, 4)
    *_, node = adviser.queue()[malleable]["hosts"].split(",")
    cluster.run("head", "scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test", user="root")
    try:
        adviser.await_nodes(malleable, 3)
        assert f"node {node} is drained" in adviser.rm("why", str(malleable)).stdout
        assert node not in adviser.queue()[malleable]["hosts"].split(",")
        cluster.wait(lambda: (node, "drain", None) in adviser.nodes(), what="a drained node that is nobody's")
    finally:
        cluster.run("head", "scontrol", "update", f"NodeName={node}", "State=RESUME", user="root")
    adviser.await_nodes(malleable, 4)


def test_ers_decides_as_elsewhere(cluster, adviser):  # noqa: F811
    """As in tests/run/epoprm/test_epoprm_alike.py, but that it starts small."""
    adviser.start("--policy", alike.POLICY)
    malleable = adviser.elastic(program=" ".join(["synthetic", *alike.program(100000)]))

    def sizes():
        return [int(size) for size in re.findall(r"committed: \d+ -> (\d+) nodes", adviser.said())]
    cluster.wait(lambda: len(sizes()) >= len(alike.SIZES), what="its resizes")
    assert sizes()[:len(alike.SIZES)] == alike.SIZES, adviser.said()
    assert cluster.state(malleable) == "RUNNING"
    knows_what_the_first_one_showed(cluster, adviser, malleable, sizes)


def test_an_uneven_job_balances_before_it_is_decided_on(cluster, adviser):  # noqa: F811
    """A quarter of its elements costs ten times as much as the others; on one rank there is nothing to balance."""
    adviser.start()
    adviser.elastic(program=f"{cluster.epop}/tests/programs/uneven.so cuts 120 300 100000000")

    def balanced():
        return re.search(r"balances first: imbalance \d\.\d\d on [2-4] ranks\n(?:.*\n)*?.*"
                         r"balanced: imbalance (\d\.\d\d) -> (\d\.\d\d)\n", adviser.said())
    cluster.wait(balanced, what="a balance")
    before, after = map(float, balanced().groups())
    assert after < before, adviser.said()


def knows_what_the_first_one_showed(cluster, adviser, first, sizes):  # noqa: F811
    """That went to 4 nodes, and back."""
    cluster.run("head", "scancel", str(first))
    cluster.wait(lambda: cluster.state(first) not in ("RUNNING", "COMPLETING"), what="the first one's end")
    before = len(sizes())
    adviser.elastic(program=" ".join(["synthetic", *alike.program(100000)]))
    cluster.wait(lambda: len(sizes()) > before, what="its growth")
    assert sizes()[before] == 2, adviser.said()
    assert f"it is known how fast jobs of this program were at 4 sizes; the last one was job {first}" in adviser.said()


def test_a_maximum_that_its_owner_lowers(cluster, adviser):  # noqa: F811
    adviser.start()
    malleable = adviser.elastic()
    adviser.await_nodes(malleable, 4)
    cluster.run("head", "scontrol", "update", f"JobId={malleable}", "Comment=my words epop:min=1,max=2", user="alice")
    adviser.await_nodes(malleable, 2)
    assert "its comment says 2 nodes at most" in adviser.rm("why", str(malleable)).stdout


@pytest.mark.parametrize("says,tried", [("slurm-wlm 99.05.1", False), ("slurm 99.05.1", False), ("slurm-wlm 22.05.8", True), ("?", True)])
def test_a_slurm_that_was_not_tried(cluster, adviser, says, tried):  # noqa: F811
    """By its commands; of libslurm there is but one."""
    commands = adviser.directory.with_suffix(".commands")
    commands.mkdir()
    squeue = commands / "squeue"
    squeue.write_text(f'#!/bin/sh\n[ "$1" != --version ] || exec echo "{says}"\nPATH=${{PATH#*:}} exec squeue "$@"\n')
    squeue.chmod(0o755)
    adviser.env["PATH"] = f"{commands}:{cluster.epop}/bin:{cluster.mpich}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    adviser.start("--reader", "squeue")
    said = "EPOP's tests were not run with Slurm 99.05.1, but with 22.05" in adviser.said()
    assert "reading Slurm by squeue" in adviser.said() and said == (not tried), adviser.said()


def test_jobs_of_two_users(cluster, adviser):  # noqa: F811
    adviser.start("--reader", "squeue")
    first, second = adviser.elastic(), adviser.elastic(user="bob")
    # The first may have all nodes before the second comes, and makes room for it then.
    cluster.wait(lambda: sum(nodes := adviser.nodes_of(first, second)) == 4 and all(nodes), what="all nodes, each of them some")
    assert "reading Slurm by squeue" in adviser.said()


def test_a_rigid_job_tells_its_progress(cluster, adviser):  # noqa: F811
    """100 s, of a limit of an hour."""
    adviser.start()
    script = f"export EPOP_ADVISER={adviser.address()}\nexec mpiexec -n 1 epop synthetic phase=a iterations=2000 seconds=0.05 speedup=none\n"
    number = cluster.sbatch(script, "-N1", "--exclusive", "-t60", user="alice")
    cluster.wait(lambda: 0 < adviser.queue().get(number, {}).get("left", 0) < 1800, what="its time left by its progress")


def test_weak_scaling_is_seen(cluster, adviser):  # noqa: F811
    adviser.start()
    malleable = adviser.elastic(program="synthetic phase=a iterations=1000000 seconds=0.05 speedup=none")
    adviser.await_nodes(malleable, 4)
    assert re.search(r"-> [234]: [0-9.]+ times the work, [0-9]+ nodes idle", adviser.said()), adviser.said()


def test_it_dies_and_what_it_gave_is_given_back(cluster, adviser):  # noqa: F811
    """The companions are in the job's own partition, from which Slurm takes nothing."""
    adviser.start()
    malleable = adviser.elastic(EPOP_ADVISER_SECONDS=1)
    adviser.await_nodes(malleable, 4)
    adviser.kill()
    rigid = adviser.rigid(3, 2)
    cluster.wait_for_state(rigid, "RUNNING", "COMPLETED")
    assert cluster.state(malleable) == "RUNNING" and "attend: there is no adviser any more, and a job waits" in cluster.output(malleable)


def test_it_dies_and_another_goes_on(cluster, adviser):  # noqa: F811
    adviser.start()
    malleable = adviser.elastic()
    address = adviser.address()
    adviser.await_nodes(malleable, 4)
    adviser.kill()
    rigid = adviser.rigid(3, 2)
    adviser.start()
    assert adviser.address() == address  # the job looks for it there
    cluster.wait_for_state(rigid, "RUNNING", "COMPLETED")
    cluster.wait_for_state(rigid, "COMPLETED")
    adviser.await_nodes(malleable, 4)
    assert cluster.state(malleable) == "RUNNING"


def test_what_it_has_seen_is_reported(cluster, adviser):  # noqa: F811
    """Companions with their jobs; also of what happened while an adviser before ruled."""
    adviser.start()
    long = adviser.elastic()
    adviser.await_nodes(long, 4)
    adviser.kill()
    adviser.start()
    short = adviser.rigid(2, 1)

    def jobs():
        record = json.loads(adviser.rm("report", "-o", "-", "--format", "json").stdout)
        validate("schedule", record)
        assert record["machine"]["nodes"] == 4
        return {one["id"]: one for one in record["runs"][0]["jobs"]}

    cluster.wait(lambda: jobs().get(short, {}).get("outcome") == "done", what="the end of the short job in the report")
    adviser.await_nodes(long, 4)
    cluster.wait(lambda: jobs()[long]["stays"][-1][2] == "0-3", what="all nodes again in the report")
    both = jobs()
    assert set(both) == {long, short} and both[long]["outcome"] == "running"
    assert both[long]["stays"][0][2] == "0" and len(both[short]["stays"]) == 1
    assert len([each for each in both[long]["stays"] if each[2] == "0-3"]) >= 2


def test_slurmctld_goes_and_comes(cluster, adviser):  # noqa: F811
    adviser.start()
    malleable = adviser.elastic("--comment=epop:min=1,max=2")
    adviser.await_nodes(malleable, 2)
    pid = (cluster.directory / "pid/slurmctld").read_text().strip()
    cluster.run("head", "kill", pid, user="root")  # it saves what it knows, which kill -9 does not let it
    cluster.wait(lambda: "Slurm does not answer" in adviser.said(), what="the adviser's word of it")
    cluster.wait(lambda: not any(text.startswith("slurmctld") for text in cluster.pids("head").values()), what="slurmctld's end")
    cluster.start_daemon("slurmctld")
    cluster.wait(lambda: "Slurm answers again" in adviser.said(), what="the adviser's word of it")
    said = re.findall("Slurm does not answer|Slurm answers again", adviser.said())
    assert all(one != other for one, other in zip(said, said[1:])), said  # once for each time
    cluster.run("head", "scontrol", "update", f"JobId={malleable}", "Comment=epop:min=1,max=3", user="root")
    adviser.await_nodes(malleable, 3)


def refused(adviser, number, *options, user="alice"):
    """What it says to who claims to be that job's attendant."""
    client = adviser.cluster.directory / "attendant.py"
    shutil.copy(job.ROOT / "tests/slurm/attendant.py", client)
    done = adviser.cluster.run("n2", "/usr/bin/python3", client, adviser.address(), str(number), *options, user=user, check=False)
    assert done.returncode == 1, done
    return done.stderr


def test_whom_it_does_not_believe(cluster, adviser):  # noqa: F811
    adviser.start()
    number = cluster.sbatch("sleep 300\n", "-N1", RANGE)
    cluster.wait_for_state(number, "RUNNING")
    adviser.await_nodes(number, 1)  # its view of Slurm may be older than ours
    assert f"job {number} is not of uid 20002" in refused(adviser, number, user="bob")
    assert "no job 999999 that runs" in refused(adviser, 999999)
    assert "not of this connection" in refused(adviser, number, "--twist", "nonce")
    munge = cluster.directory / "other"
    munge.mkdir(mode=0o755)
    (munge / "key").write_bytes(b"another" * 20)
    (munge / "key").chmod(0o400)
    cluster.run("n2", "setsid", "munged", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                f"--log-file={munge}/log", f"--seed-file={munge}/seed", user="root")
    # It cannot read what the adviser shows, and makes nothing that the adviser could read.
    assert "Invalid credential" in refused(adviser, number, "--munge", munge / "socket", "--blind")
    assert adviser.said().count("connected") == 0


STORM = """
import select, socket, sys
host, port = sys.argv[1].rsplit(":", 1)
held = [socket.create_connection((host, int(port))) for _ in range(100)]
print("held", flush=True)
while True:
    for one in select.select(held, [], [])[0]:
        held.remove(one)
        one.close()
        held.append(socket.create_connection((host, int(port))))
"""


def test_silent_strangers(cluster, adviser):  # noqa: F811
    """A hundred connections from a host that say nothing, and are made again when they are dropped: jobs of other hosts are heard."""
    adviser.start()
    with cluster.start("n4", "/usr/bin/python3", "-c", STORM, adviser.address(), user="bob", stdout=subprocess.PIPE) as storm:
        try:
            assert storm.stdout.readline() == "held\n"
            number = adviser.elastic("-w", "n1")
            cluster.wait(lambda: f"job {number}: running: connected" in adviser.said(), what="the job's connection")
            assert storm.poll() is None
        finally:
            os.kill(child_of(storm.pid), signal.SIGKILL)


def test_whom_jobs_do_not_believe(cluster, request):  # noqa: F811
    other = Adviser(cluster, "bobs", user="bob").start()
    try:
        number = other.elastic()
        cluster.wait(lambda: "neither root, SlurmUser nor this user" in cluster.output(number), what="the job's word of it")
        other.await_nodes(number, 1)
        assert "connected" not in other.said()
    finally:
        other.end()
        cluster.clear()


def test_there_is_no_slurm(tmp_path):
    done = subprocess.run([job.BUILD / "bin/epoprm", "start", "--site", "slurm", "--foreground"], capture_output=True, text=True, timeout=60,
                          check=False, env={"EPOPRM_DIR": str(tmp_path / "state"), "PATH": "/none"})
    assert done.returncode == 1 and "there is no Slurm here" in done.stderr, done
