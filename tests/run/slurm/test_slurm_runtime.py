"""A job in a Slurm allocation that gains and loses hosts: where joining processes come up and how, what is left behind by
whatever is killed, and that epopctl finds the job from other hosts."""

import json
import re
import signal

import job
import joining
import pytest
from slurm import LONG, cluster, elastic, needed  # noqa: F401

pytestmark = needed


def mpiexec_of_joiners(cluster):  # noqa: F811
    """Of those that run on n1, by their numbers here."""
    return [pid for pid, text in cluster.users_pids("n1").items() if re.match(r"\S*mpiexec.* -hosts ", text)]


def end(pids):
    """All at once: none does anything when another has died."""
    assert pids
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            job.send_signal(pid, number)


def addresses(cluster, it):  # noqa: F811
    """The job's files; those of others may be there, too."""
    return list((cluster.directory / "home/alice/.local/state/epop/run").glob(f"*-slurm-{it.number}-*"))


def process_numbers(cluster, host):  # noqa: F811
    """Which namespace the process numbers of that host are of, as an address file says it."""
    return cluster.run(host, "sh", "-c", "echo $(readlink /proc/self/ns/pid) $(cat /proc/sys/kernel/random/boot_id)").stdout.strip()


def sruns(cluster):  # noqa: F811
    """It is two processes, each of which would end the step if the other died alone."""
    return [pid for pid, text in cluster.users_pids("n1").items() if text.startswith("srun") and "--leash" in text]


def test_without_hosts_they_come_up_on_the_jobs_own_nodes(elastic, cluster):  # noqa: F811
    it = elastic(nodes=2, first="n1,n2")
    it.resize("4")
    assert it.ranks() == [("n1", it.number)] + 3 * [("n2", it.number)]
    it.resize("+2")
    assert it.hosts() == ["n1", "n2", "n2", "n2", "n1", "n1"]
    for rank in (1, 5):
        environment = it.environment(rank)
        assert environment["SLURM_JOB_ID"] == str(it.number) and environment["SLURM_STEP_NODELIST"] == it.hosts()[rank]
        assert "SLURM_SUBMIT_DIR" not in environment  # of the batch script: only what srun says is there
    it.resize("1")
    assert list(cluster.jobs()) == [it.number]


def test_other_hosts_become_companions_in_the_order_that_they_are_named(elastic, cluster):  # noqa: F811
    it = elastic()
    it.resize("+3", "--hosts", "n3:2,n2:1")
    assert it.hosts() == ["n1", "n3", "n3", "n2"]
    jobs = {job: row for job, row in cluster.jobs().items() if job != it.number}
    assert [(row[0], row[1]) for row in jobs.values()] == 2 * [(f"epop-{it.number}", "RUNNING")]
    assert [jobs[number][2] for _, number in it.ranks()[1:]] == ["n3", "n3", "n2"]
    it.resize("+1", "--hosts", "n2")  # a step of the companion that is there
    assert it.ranks()[4] == it.ranks()[3] and len(cluster.jobs()) == 3
    assert it.environment(3)["SLURM_JOB_NODELIST"] == "n2"
    it.resize("--release", "n3")
    cluster.wait(lambda: cluster.node_states()["n3"] == "idle", what="n3 to be given back")
    assert it.hosts() == ["n1", "n2", "n2"] and "srun" not in it.output()


def test_hosts_are_in_the_jobs_that_a_request_names(elastic, cluster):  # noqa: F811
    it = elastic()
    two, three = (cluster.sbatch("exec sleep 1000", "-N1", "--exclusive", "-w", node) for node in ("n2", "n3"))
    for number in (two, three):
        cluster.wait_for_state(number, "RUNNING")
    it.resize("+2", "--hosts", "n3,n2", "--slurm-job", f"n2={two},n3={three}")
    assert it.ranks() == [("n1", it.number), ("n3", three), ("n2", two)]
    steps = cluster.run("head", "squeue", "-s", "-h", "-o", "%i").stdout.split()
    assert f"{two}.0" in steps and f"{three}.0" in steps and len(cluster.jobs()) == 3
    it.resize("--release", "n2,n3")
    cluster.run("n1", "scancel", str(two), str(three))
    cluster.wait_for_state(two, "CANCELLED")
    refused = it.resize("+1", "--hosts", "n2", "--slurm-job", str(two), check=False)
    assert refused.returncode == 1 and "its 'srun' ended with status" in refused.stderr, refused


def test_what_a_request_says_of_jobs_is_checked(elastic):  # noqa: F811
    it = elastic()
    for words, status, reason in ((("--slurm-job", "17"), 2, "goes with --hosts"), (("--hosts", "n2", "--slurm-job", "n3=17"), 1, "n3"),
                                  (("--hosts", "n2", "--slurm-job", "0"), 2, "neither a job's number"),
                                  (("--hosts", "n2", "--slurm-job", "n2=x"), 2, "neither a job's number")):
        refused = it.resize("+1", *words, check=False)
        assert refused.returncode == status and reason in refused.stderr, refused


def test_a_busy_host_is_had_at_once_or_not_at_all(elastic, cluster):  # noqa: F811
    it = elastic()
    busy = cluster.sbatch("exec sleep 1000", "-N1", "--exclusive", "-w", "n2")
    cluster.wait_for_state(busy, "RUNNING")
    for host, why in (("n2", "Unable to allocate resources: "), ("n9", "Unable to allocate resources: Invalid node name specified")):
        refused = it.resize("+1", "--hosts", host, check=False)
        assert refused.returncode == 1 and f"on {host}: its 'srun' ended with status 1: error: {why}" in refused.stderr, refused
    cluster.wait(lambda: sorted(cluster.jobs()) == sorted((it.number, busy)), what="the end of what waited in the queue")
    assert it.hosts() == ["n1"]


def test_a_companion_that_waits_goes_with_its_launcher(elastic, cluster):  # noqa: F811
    it = elastic(env={"EPOP_COMPANION": "--immediate=1000 --time=30"})
    busy = cluster.sbatch("exec sleep 1000", "-N1", "--exclusive", "-w", "n2")
    cluster.wait_for_state(busy, "RUNNING")
    resize = cluster.start("n1", "epopctl", "resize", "+1", "--hosts", "n2", "--wait", stderr=-1)
    cluster.wait(lambda: len(cluster.jobs()) == 3, what="a companion in the queue")
    end(mpiexec_of_joiners(cluster))
    cluster.wait(lambda: len(cluster.jobs()) == 2, what="its end")
    assert "ended with status" in resize.communicate(timeout=60)[1] and it.hosts() == ["n1"]


def test_an_allocation_does_not_outlive_its_srun(elastic, cluster):  # noqa: F811
    it = elastic()
    it.resize("+1", "--hosts", "n2")
    end(sruns(cluster))
    cluster.wait(lambda: not sruns(cluster), what="srun's end")
    assert it.hosts() == ["n1", "n2"] and cluster.node_states()["n2"] == "allocated"
    it.resize("--release", "n2")
    cluster.wait(lambda: cluster.node_states()["n2"] == "idle", what="n2 to be given back")
    assert it.hosts() == ["n1"]


def test_sigterm_makes_the_host_leave(elastic, cluster):  # noqa: F811
    it = elastic()
    it.resize("+3", "--hosts", "n2,n3:2")
    two = dict(it.ranks())["n2"]
    cluster.run("n4", "scancel", str(two))
    cluster.wait(lambda: it.hosts() == ["n1", "n3", "n3"], what="the end of the ranks on n2")
    cluster.wait(lambda: cluster.node_states()["n2"] == "idle", what="n2 to be given back")
    assert "is gone" not in it.output()
    it.resize("+1", "--hosts", "n2")
    assert it.hosts() == ["n1", "n3", "n3", "n2"]


def test_sigterm_ends_processes_that_stand_by(elastic, cluster):  # noqa: F811
    it = elastic(epop="--leave park")
    it.resize("+2", "--hosts", "n2,n3")
    two = dict(it.ranks())["n2"]
    it.resize("--release", "n2")
    cluster.wait(lambda: "standby" in it.ctl("status").stdout, what="a process that stands by")  # it says so when it has left
    assert cluster.users_pids("n2")
    cluster.run("n4", "scancel", str(two))
    cluster.wait(lambda: not cluster.users_pids("n2"), what="the end of those on n2")
    assert it.hosts() == ["n1", "n3"] and "srun: error" not in it.output()


def test_a_rigid_job_preempts_companions(elastic, cluster):  # noqa: F811
    it = elastic(env={"EPOP_COMPANION": "--partition=elastic"})
    it.resize("+3", "--hosts", "n2,n3,n4")
    rigid = cluster.sbatch("exec sleep 1000", "-N2", "--exclusive", "-w", "n2,n3")
    cluster.wait_for_state(rigid, "RUNNING")
    cluster.wait(lambda: it.hosts() == ["n1", "n4"], what="ranks on n1 and n4 alone")
    cluster.run("n1", "scancel", str(rigid))


def test_nothing_outlives_the_launcher_of_joiners(elastic, cluster):  # noqa: F811
    it = elastic()
    it.resize("+2", "--hosts", "n2,n3")
    end(mpiexec_of_joiners(cluster))
    cluster.wait(lambda: not cluster.jobs(), what="the end of all jobs")
    assert cluster.state(it.number) == "FAILED"


def test_epopctl_from_other_hosts(elastic, cluster):  # noqa: F811
    it = elastic()
    for host in ("n4", "head"):
        assert it.status(host)["batch"] == f"slurm:{it.number}"
        running = f"synthetic-slurm-{it.number}-[0-9]+\\s+running"
        cluster.wait(lambda: re.search(running, it.ctl("list", host=host).stdout), what="a job that runs")
    it.resize("+1", "--hosts", "n2")
    it.ctl("stop", "--force", host="n4")
    cluster.wait(lambda: not cluster.jobs(), what="the end of all jobs")
    it.ctl("list", check=False)  # Slurm may have killed what would have removed them
    assert not addresses(cluster, it)


def test_an_address_of_another_host_is_not_removed(elastic, cluster):  # noqa: F811
    it = elastic()
    path, = addresses(cluster, it)
    other = path.with_name("synthetic-slurm-999-1.json")
    address = json.loads(path.read_text())
    address.update(job="synthetic-slurm-999-1", batch="slurm:999", pid=1, start_time="1",
                   uri="unix:n2:/nowhere;tcp:10.214.0.2:1", host="n2", namespace=process_numbers(cluster, "n2"))
    cluster.run("head", "sh", "-c", f"umask 077; cat >{other}", stdin=json.dumps(address))
    assert re.search(r"slurm-999-1\s+unreachable", it.ctl("list", host="n1").stdout) and other.exists()
    assert json.loads(it.ctl("status", "--json", host="n3").stdout)["job"] == address["job"].replace("999-1", path.stem.split("slurm-")[1])
    it.ctl("list", host="n2")  # its own: its process is gone
    assert not other.exists() and path.exists()


def test_a_job_of_another_batch_system(cluster):  # noqa: F811
    it = cluster.start("n2", "mpiexec", "-n", "1", "epop", "--backend", "join", *LONG, env={"EPOP_BATCH_JOB": "epoprm:17"})
    cluster.wait(lambda: cluster.run("n3", "epopctl", "status", "epoprm:17", check=False).returncode == 0)
    assert json.loads(cluster.run("n3", "epopctl", "status", "--json").stdout)["batch"] == "epoprm:17"
    cluster.run("n3", "epopctl", "stop", "epoprm:17", "--wait")
    assert it.wait(60) == 0


IN_AN_ALLOCATION = """
epoprm start --policy ers,period=1,worth=1,lower=1000,upper=2000 && epoprm nodes
long=$(epoprm submit --ranks 1-8 --time 5m -- {epop}/lib/epop/programs/synthetic.so phase=a iterations=1000000 seconds=0.02)
until epopctl status epoprm:$long --json | grep -q '"size":[[:space:]]*8,'; do sleep 0.1; done
short=$(epoprm submit --ranks 4 --time 1m -- sh -c 'hostname; sleep 0.5')
until epoprm queue --all | grep -q "^$short.*DONE"; do sleep 0.1; done
epoprm why $long
cat ~/.local/state/epop/epoprm/jobs/$short/output
epoprm stop --jobs
"""


def test_epoprm_in_an_allocation(cluster):  # noqa: F811
    """It rules the nodes of the Slurm job that it is started in, one of which a job gives to another."""
    number = cluster.sbatch(IN_AN_ALLOCATION.format(epop=cluster.epop), "-N2", "--exclusive", "-w", "n2,n3")
    cluster.wait_for_state(number, "COMPLETED", "FAILED")
    out = cluster.output(number)
    assert out.startswith("epoprm rules 2 nodes of 4 slots (n2, n3)"), out
    began = re.search(r"decision\t[12] nodes? \((.*?)\)", out)[1]  # on one, where the first look at the other takes longer
    last = "n2" if began == "n3" else "n3"
    assert re.search(rf"committed\t2 -> 1 nodes \({last}\)", out) and out.endswith(f"{last}\n" * 4), out
    cluster.wait(lambda: not any(cluster.users_pids(node) for node in cluster.nodes), what="the end of all processes")
    cluster.clear()


def runs(cluster, number):  # noqa: F811
    """All processes of that job have attached."""
    done = cluster.run("n1", "epopctl", "status", f"slurm:{number}", "--json", check=False)
    status = json.loads(done.stdout) if done.returncode == 0 else {}
    return status.get("state") == "running" and all(process["pid"] for process in status["processes"])


@pytest.mark.parametrize("nodes", [1, 2])
def test_the_job_itself_is_cancelled(cluster, nodes):  # noqa: F811
    """Slurm signals all of it, and mpiexec passes that on: it stops at its next iteration, and its finalizer runs."""
    words = " ".join(map(str, ("ledger", *joining.ENDLESS)))
    number = cluster.sbatch(f"exec mpiexec -n {2 * nodes} epop --backend pool {words}\n", f"-N{nodes}", "--exclusive", "-wn1" if nodes == 1 else "-wn1,n2")
    cluster.wait(lambda: runs(cluster, number), what="all processes of the job")
    cluster.run("head", "scancel", str(number))
    cluster.wait(lambda: number not in cluster.jobs(), what="its end")
    assert "right in" in cluster.output(number), cluster.output(number)
