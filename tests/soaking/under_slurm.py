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

LIMIT = 240  # seconds for whatever is waited for
SCRIPT = "mpiexec -n {ranks} -ppn 1 epop --quiet synthetic phase=a iterations={count} seconds=0.1 speedup=amdahl:0.2 mib=0.5\n"

POLICY = "gain,stay=1,stay-costs=0"  # a resize whenever there is one to be had
KEEP = "MinJobAge=7200"  # slurmctld knows every job of the run until its end, unless a kill made it forget it
AIM = 2  # seconds that a fault waits for a resize to begin

# slurmctld, slurmd and the adviser may die without any job that runs being struck.
FAULTS = ("slurmctld", "slurmd", "rank 0", *["rank"] * 2, *["companion"] * 3, "node", *["srun"] * 2, *["adviser"] * 2)


def stage(state):
    return {"PENDING": 0, "CONFIGURING": 1, "RUNNING": 1, "COMPLETING": 2}.get(state, 3)


class Soak:
    def __init__(self, seed, adviser=True, faults=FAULTS, say=print):
        self.draw, self.say, self.faults = random.Random(seed), say, faults
        mpich = pathlib.Path(job.MPIEXEC).resolve().parent.parent
        self.cluster = Cluster(epop=job.BUILD, mpich=mpich, accounting=True, lines=[KEEP])
        self.known, self.hit, self.struck = [], set(), {}
        self.behind = set()  # jobs that a slurmctld which was killed had in an earlier state
        self.numbers = 0  # the first that slurmctld gives out
        self.within = self.seen = 0  # faults within a resize; resizes that had begun before
        self.crowd = 2
        self.advised, self.adviser = adviser, None
        if adviser:
            self.start_adviser()

    def close(self):
        self.cluster.close()

    def start_adviser(self):
        self.adviser = self.cluster.start("head", "epoprm", "start", "--site", "slurm", "--foreground", "--policy", POLICY,
                                          stdout=open(self.cluster.directory / "log/adviser", "a", encoding="utf-8"), stderr=subprocess.STDOUT)

    # ---- Jobs

    def submit(self, elastic):
        """Rigid ones are short: they take nodes from the elastic one, and give them back."""
        rigid = self.draw.random() < (0.8 if elastic else 0.2) or not self.advised
        most, count = self.draw.choice([1, 2]) if rigid else 4, self.draw.randint(10, 30) if rigid else self.draw.randint(150, 250)
        ranks = most if rigid else 1
        comment = [] if rigid else ["--comment", f"epop:min=1,max={most}"]
        text = SCRIPT.format(ranks=ranks, count=count)
        number = self.again(lambda: self.cluster.sbatch(text, "-N", str(ranks), "--exclusive", "-t", "5" if not rigid else "1", "--no-requeue", *comment))
        assert number not in self.known, f"number {number} was given out twice"
        self.known.append(number)

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
        if self.draw.random() < 0.2:
            self.crowd = self.draw.choice([1, 1, 2, 3])
        rows = [row for row in self.queue("-t", "PD,R").values() if not row[0].startswith("epop-")]
        for _ in range(len(rows), self.crowd):
            self.submit(any("epop:" in row[5] for row in rows))

    # ---- Faults

    def processes(self):
        """Of the users, on all nodes: {pid: (node, environment)}."""
        return {pid: (node, environment_of(pid)) for node in self.cluster.nodes for pid in self.cluster.users_pids(node)}

    def struck_with(self, variables, running):
        """The job of a process; of a companion's, and of the srun that has it, the one that it is for."""
        number = int(variables.get("EPOP_STEP", "").partition(" ")[0] or variables.get("SLURM_JOB_ID", 0))
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
        """It writes what it knows within 5 s, by a thread of its own: what came after that is forgotten. A job of a user is struck by
        this if slurmctld, started again, does not know it or is behind what it said of it; so is the one whose companion that is."""
        if "unknown" in self.again(self.cluster.node_states).values():
            return None  # it has only just come back, and starts nothing before it has heard of the nodes, 5 s later
        before = self.queue("-t", "all")
        self.cluster.kill_daemon("slurmctld")
        for _, variables in self.processes().values():  # those that came since
            if (number := int(variables.get("SLURM_JOB_ID", 0))) and number not in before:
                before[number] = (variables.get("SLURM_JOB_NAME", ""), "RUNNING")
        time.sleep(self.draw.uniform(0, 0.5))
        self.new_numbers()
        self.cluster.start_daemon("slurmctld")
        after = self.queue("-t", "all")
        lost = {number for number in {*before, *self.known} if number not in after}
        behind = {number for number, row in before.items() if number in after and stage(after[number][1]) < stage(row[1])}
        self.behind |= behind
        self.hit |= {self.struck_with({"SLURM_JOB_ID": number}, before) for number in lost | behind}
        return f"(forgot {sorted(lost)}, is behind with {sorted(behind)})" if lost or behind else ""

    def new_numbers(self):
        """slurmctld gives the numbers of jobs that it forgot to others. A slurmd that still has the first one refuses the second, which is
        cancelled, and its node drained: "Duplicate jobid". That is Slurm's own affair, and FirstJobId avoids it."""
        path = self.cluster.directory / "slurm.conf"
        text = re.sub(r"^FirstJobId=.*\n", "", path.read_text(), flags=re.MULTILINE)
        self.numbers += 1000  # also if there were only companions since the last time
        path.write_text(f"{text}FirstJobId={self.numbers}\n")

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
                      "rank": lambda pid, variables: name_of(pid) == "epop" and variables.get("PMI_RANK", "0") != "0",
                      "srun": lambda pid, variables: name_of(pid) == "srun"}
        try:
            how = (self.strike_process(by_process[what], running) if what in by_process
                   else getattr(self, f"strike_{what}")(running))
        except ProcessLookupError:
            return  # it has ended
        if how is not None:
            self.struck[what] = self.struck.get(what, 0) + 1
            self.within += self.resizing()
            self.say(f"{sum(self.struck.values())}: {what} {how}{', in a resize' if self.resizing() else ''}")

    # ---- The run

    def told(self, step):
        """How often the adviser said that of a resize."""
        return (self.cluster.directory / "log/adviser").read_text().count(f" {step}: ")

    def resizing(self):
        """A resize was decided since the fault before."""
        return self.advised and self.told("decision") > self.seen

    def aim(self):
        """Half of the faults at the next resize, the others at any time."""
        self.seen = self.told("decision")
        end = time.monotonic() + (AIM if self.advised and self.draw.random() < 0.7 else 0)
        while time.monotonic() < end and not self.resizing():
            time.sleep(0.05)
        time.sleep(self.draw.uniform(0, 1))

    def run(self, faults, limit=float("inf")):
        end = time.monotonic() + limit
        while sum(self.struck.values()) < faults and time.monotonic() < end:
            self.feed()
            self.aim()
            self.strike()
        self.wait_until_all_ended()
        if self.advised:
            self.say(f"{', '.join(f'{self.told(step)} {step}' for step in ('decision', 'committed', 'refused'))}; {self.within} faults within a resize")
        self.check()

    def wait_until_all_ended(self):
        """Nodes, too: that of a job that was struck is cleaned up by Slurm first."""
        end = time.monotonic() + LIMIT
        while self.queue("-t", "PD,R,CF,CG") or set(self.again(self.cluster.node_states).values()) != {"idle"}:
            if time.monotonic() > end:
                return  # the accounts say it
            time.sleep(0.5)
            self.cancel_the_dead()

    def cancel_the_dead(self):
        """Struck jobs of which nothing runs on any node: slurmctld may take them to run until their time is over."""
        alive = {number for _, variables in self.processes().values() for number in
                 (int(variables.get("SLURM_JOB_ID", 0)), self.struck_with(variables, {}))}
        for number in set(self.queue("-t", "R")) & self.hit - alive:
            self.again(lambda number=number: self.cluster.run("head", "scancel", str(number)))

    def accounts(self):
        """Of slurmdbd: (job, state, begin, end, nodes, submitted)."""
        done = self.again(lambda: self.cluster.run("head", "sacct", "-a", "-n", "-P", "-X", "-D", "-S", "now-2hours", "-o",
                                                   "JobIDRaw,State,Start,End,NodeList,Submit", env={"SLURM_TIME_FORMAT": "%s"}, user="root"))
        return [self.account(*line.split("|")) for line in done.stdout.splitlines()]

    def records(self):
        """Of slurmctld itself, the same: every job that it was not made to forget."""
        done = self.again(lambda: self.cluster.run("head", "scontrol", "-o", "show", "jobs", env={"SLURM_TIME_FORMAT": "%s"}, user="root"))
        jobs = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in done.stdout.splitlines()]
        return [self.account(*(row.get(key, "") for key in ("JobId", "JobState", "StartTime", "EndTime", "NodeList", "SubmitTime")))
                for row in jobs if "JobId" in row]

    def account(self, number, state, begin, end, nodes, submitted):
        begin, end, submitted = (int(text) if text.isdigit() else 0 for text in (begin, end, submitted))
        names = self.cluster.run("head", "scontrol", "show", "hostnames", nodes).stdout.split() if nodes.startswith("n") else []
        return (int(number), state.split()[0], begin, end, names, submitted)

    def check(self):
        """Raises Broken with what does not hold."""
        accounts = self.accounts()
        if "slurmctld" in self.struck:
            accounts, closed, runaway = invariants.closed_by(self.records(), accounts)
            self.say(f"rows that slurmdbd never heard the end of: {closed} closed as slurmctld has them, {runaway} of jobs that it forgot")
        wrong = invariants.of_slurm([row[:5] for row in accounts], self.cluster.node_states(), self.queue("-t", "PD,R,CF,CG"), self.hit, self.known,
                                    self.behind)
        for node in self.cluster.nodes:
            wrong += [f"{node}: process {pid} is left: {text}" for pid, text in self.cluster.users_pids(node).items()]
        for number in sorted(set(self.known) - self.hit):
            if not re.search(r"synthetic: (\d+) of \1 iterations, (\d+) of \2 elements right", self.cluster.output(number)):
                wrong.append(f"job {number} did not do its work: {self.cluster.output(number)[-300:]!r}")
        if wrong:  # why Slurm takes a node out, if it does
            raise Broken("\n".join(wrong) + "\n" + self.cluster.run("head", "sinfo", "-R", "-h", "-o", "%N: %E").stdout)
