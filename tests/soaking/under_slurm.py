"""A workload in a real Slurm of four nodes, and what of it a fault can strike."""

import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import job
from soaking import invariants
from soaking.under_epoprm import Broken, environment_of, name_of, wait_for_end

sys.path.insert(0, str(job.ROOT / "tests/slurm"))

from cluster import Cluster  # noqa: E402

SAVED = 10  # seconds until slurmctld has surely written what it knows
LIMIT = 240  # seconds for whatever is waited for
SCRIPT = "mpiexec -n {ranks} -ppn 1 epop --quiet synthetic phase=a iterations={count} seconds=0.1 speedup=amdahl:0.2 mib=0.5\n"

# slurmctld, slurmd and the adviser may die without any job that runs being struck.
FAULTS = ("slurmctld", "slurmd", "rank 0", *["companion"] * 3, "node", "srun", "adviser")


class Soak:
    def __init__(self, seed, adviser=True, faults=FAULTS, say=print):
        self.draw, self.say, self.faults = random.Random(seed), say, faults
        mpich = pathlib.Path(job.MPIEXEC).resolve().parent.parent
        self.cluster = Cluster(epop=job.BUILD, mpich=mpich, accounting=True)
        self.known, self.hit, self.struck, self.submitted = [], set(), {}, {}
        self.crowd = 2
        self.advised, self.adviser = adviser, None
        if adviser:
            self.start_adviser()

    def close(self):
        self.cluster.close()

    def start_adviser(self):
        self.adviser = self.cluster.start("head", "epoprm", "start", "--site", "slurm", "--foreground", "--policy", "ers,period=1,worth=1,upper=0.9,lower=0.5",
                                          stdout=open(self.cluster.directory / "log/adviser", "a", encoding="utf-8"), stderr=subprocess.STDOUT)

    # ---- Jobs

    def submit(self):
        rigid = self.draw.random() < 0.3 or not self.advised
        most, count = self.draw.choice([1, 2, 3, 4]) if rigid else 4, self.draw.randint(40, 200)
        ranks = most if rigid else 1
        comment = [] if rigid else ["--comment", f"epop:min=1,max={most}"]
        text = SCRIPT.format(ranks=ranks, count=count)
        number = self.again(lambda: self.cluster.sbatch(text, "-N", str(ranks), "--exclusive", "-t", "2", "--no-requeue", *comment))
        self.known.append(number)
        self.submitted[number] = time.monotonic()

    @staticmethod
    def again(command):
        """While slurmctld is not there, or comes up."""
        end = time.monotonic() + LIMIT
        while True:
            try:
                return command()
            except AssertionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def queue(self, *options):
        return self.again(lambda: self.cluster.jobs(*options))

    def feed(self):
        """At times jobs wait, and at times nodes are idle, which go to those that run."""
        if self.draw.random() < 0.1:
            self.crowd = self.draw.choice([1, 2, 3, 6])
        while sum(not row[0].startswith("epop-") for row in self.queue("-t", "PD,R").values()) < self.crowd:
            self.submit()

    # ---- Faults

    def processes(self):
        """Of the users, on all nodes: {pid: (node, environment)}."""
        return {pid: (node, environment_of(pid)) for node in self.cluster.nodes for pid in self.cluster.users_pids(node)}

    def struck_with(self, variables, running):
        """The job of a process; of a companion's, the one that it is for."""
        number = int(variables.get("SLURM_JOB_ID", 0))
        core = re.match(r"epop-(\d+)", running.get(number, ("",))[0])
        return int(core[1]) if core else number

    def strike_process(self, wanted, running):
        found = [(pid, variables) for pid, (_, variables) in self.processes().items() if wanted(pid, variables)]
        if not found:
            return None
        pid, variables = self.draw.choice(sorted(found, key=lambda each: each[0]))
        number = self.struck_with(variables, running)
        self.hit.add(number)
        os.kill(pid, signal.SIGKILL)
        return f"of job {number}"

    def strike_companion(self, running):
        found = sorted(number for number, row in running.items() if row[0].startswith("epop-"))
        if not found:
            return None
        number = self.draw.choice(found)
        self.again(lambda: self.cluster.run("head", "scancel", str(number)))
        return f"job {number} ({running[number][0]})"

    def jobs_on(self, node, running):
        """Numbers of the users' jobs that have this node, or a companion there."""
        hosts = {number: self.cluster.run("head", "scontrol", "show", "hostnames", row[2]).stdout.split()
                 for number, row in running.items() if row[2]}
        return {self.struck_with({"SLURM_JOB_ID": number}, running) for number, names in hosts.items() if node in names}

    def strike_node(self, running):
        node = self.draw.choice(self.cluster.nodes)
        self.hit |= self.jobs_on(node, running)
        self.cluster.kill_host(node)
        self.hit |= self.jobs_on(node, self.queue("-t", "R,CF"))
        time.sleep(self.draw.uniform(0, 1))
        self.cluster.start_host(node)
        return node

    def strike_slurmd(self, running):
        """A job that is just being started there does not find it."""
        node = self.draw.choice(self.cluster.nodes)
        self.cluster.kill_daemon(f"slurmd.{node}")
        self.hit |= self.jobs_on(node, self.queue("-t", "R,CF")) - self.jobs_on(node, running)
        self.cluster.start_daemon(f"slurmd.{node}")
        return node

    def strike_slurmctld(self, _running):
        """It writes its state every few seconds: what it was told just before is lost, jobs and numbers, whoever submits them."""
        self.hit |= {number for number, when in self.submitted.items() if time.monotonic() - when < SAVED}
        self.cluster.kill_daemon("slurmctld")
        time.sleep(self.draw.uniform(0, 0.5))
        self.cluster.start_daemon("slurmctld")
        return ""

    def strike_adviser(self, _running):
        found = [pid for pid in self.cluster.users_pids("head") if name_of(pid) == "epoprm"]
        for pid in found:
            os.kill(pid, signal.SIGKILL)
            wait_for_end(pid)
        if found:
            self.start_adviser()
        return "" if found else None

    def strike(self):
        what, running = self.draw.choice(self.faults), self.queue("-t", "R")
        by_process = {"rank 0": lambda pid, variables: name_of(pid) == "epop" and variables.get("PMI_RANK") == "0",
                      "srun": lambda pid, variables: name_of(pid) == "srun"}
        try:
            how = (self.strike_process(by_process[what], running) if what in by_process
                   else getattr(self, f"strike_{what}")(running))
        except ProcessLookupError:
            return  # it has ended
        if how is not None:
            self.struck[what] = self.struck.get(what, 0) + 1
            self.say(f"{sum(self.struck.values())}: {what} {how}")

    # ---- The run

    def run(self, faults):
        while sum(self.struck.values()) < faults:
            self.feed()
            time.sleep(self.draw.uniform(0, 3))  # a resize takes its time, too
            self.strike()
        self.wait_until_all_ended()
        self.say(f"{(self.cluster.directory / 'log/adviser').read_text().count(' committed: ')} resizes by advice")
        self.check()

    def wait_until_all_ended(self):
        """Nodes, too: that of a job that was struck is cleaned up by Slurm first."""
        end = time.monotonic() + LIMIT
        while self.queue("-t", "PD,R,CF,CG") or set(self.again(self.cluster.node_states).values()) != {"idle"}:
            if time.monotonic() > end:
                return  # the accounts say it
            time.sleep(0.5)

    def accounts(self):
        done = self.again(lambda: self.cluster.run("head", "sacct", "-a", "-n", "-P", "-X", "-D", "-S", "now-2hours", "-o",
                                                   "JobIDRaw,State,Start,End,NodeList", env={"SLURM_TIME_FORMAT": "%s"}, user="root"))
        rows = []
        for line in done.stdout.splitlines():
            number, state, begin, end, nodes = line.split("|")
            begin, end = (int(text) if text.isdigit() else 0 for text in (begin, end))
            names = self.cluster.run("head", "scontrol", "show", "hostnames", nodes).stdout.split() if nodes.startswith("n") else []
            rows.append((int(number), state.split()[0], begin, end, names))
        return rows

    def check(self):
        """Raises Broken with what does not hold."""
        wrong = invariants.of_slurm(self.accounts(), self.cluster.node_states(), self.queue("-t", "PD,R,CF,CG"), self.hit, self.known,
                                    runaway="slurmctld" in self.struck)
        for node in self.cluster.nodes:
            wrong += [f"{node}: process {pid} is left: {text}" for pid, text in self.cluster.users_pids(node).items()]
        for number in set(self.known) - self.hit:
            if not re.search(r"synthetic: (\d+) of \1 iterations, (\d+) of \2 elements right", self.cluster.output(number)):
                wrong.append(f"job {number} did not do its work: {self.cluster.output(number)[-300:]!r}")
        if wrong:
            raise Broken("\n".join(wrong))
