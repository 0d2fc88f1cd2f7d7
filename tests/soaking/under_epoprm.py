"""A workload under epoprm, and the processes of it that a fault can strike."""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

import hosts
import job
from soaking import invariants
from soaking.victims import parent, words

LIMIT = 180  # seconds for whatever is waited for


class Broken(Exception):
    """Something does not hold; what."""


def environment_of(pid):
    try:
        rows = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    return dict(row.decode(errors="replace").split("=", 1) for row in rows if b"=" in row)


def name_of(pid):
    return os.path.basename(words(pid)[0].decode(errors="replace"))


class Manager:
    """epoprm on four nodes, in a directory of its own, and jobs that it is given."""

    def __init__(self, options=("--local", "4"), policy="ers,firm=0,period=1,worth=1,upper=0.9,lower=0.5"):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="epop-soak-rm-"))
        (self.directory / "run").mkdir(mode=0o700)
        self.options = [*options, "--policy", policy]
        self.space = job.Space(self.directory)
        self.environment = self.space.environment({"EPOPRM_DIR": self.directory / "rm", "EPOP_RUNTIME_DIR": self.directory / "run"})
        self.known, self.hit = [], set()
        self.prepare()
        self.start()

    def prepare(self):
        """What has to be there before the daemon."""

    @property
    def journal(self):
        return self.directory / "rm/journal.db"

    def command(self, *arguments):
        return [job.BUILD / "bin/epoprm", *map(str, arguments)]

    def epoprm(self, *arguments, check=True):
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=60, check=False,
                              env=self.environment, stdin=subprocess.DEVNULL)
        if check and done.returncode:
            raise Broken(f"epoprm {' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr.strip()}")
        return done

    def start(self):
        self.epoprm("start", *self.options)

    def submit(self, ranks, *arguments):
        """synthetic with these; the job's number."""
        number = int(self.epoprm("submit", "--ranks", ranks, "--time", "60s", "--", job.program("synthetic"), *arguments).stdout)
        self.known.append(number)
        return number

    def rows(self, query, *values):
        """Of the journal."""
        with contextlib.closing(sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True, timeout=10)) as journal:
            return journal.execute(query, values).fetchall()

    def history(self, number):
        """What happened to a job, by the second."""
        rows = self.rows("SELECT time, kind, text FROM event WHERE job=? ORDER BY id", number)
        return "; ".join(f"{at - rows[0][0]:.1f} {kind} {text}" for at, kind, text in rows)

    def waiting(self):
        """Numbers of the jobs that have not ended."""
        return [number for number, in self.rows("SELECT number FROM job WHERE ended < 0")]

    def wait_until_all_ended(self):
        self.wait_until(lambda: not self.waiting(), lambda: f"jobs {self.waiting()} do not end\n{self.epoprm('queue').stdout}")

    @staticmethod
    def wait_until(condition, why):
        end = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > end:
                raise Broken(why())
            time.sleep(0.2)

    def processes(self):
        """All of the daemon, of attendants and of jobs: {pid: environment}."""
        return {pid: environment_of(pid) for pid in self.space.processes()}

    def close(self):
        """Ends all, however it stands."""
        self.epoprm("stop", "--jobs", check=False)
        for pid in self.processes():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            self.space.close()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    # ---- Victims

    def daemon(self):
        """Not what it has forked, which looks like it until its exec."""
        found = [pid for pid in self.processes() if name_of(pid) == "epoprm" and b"start" in words(pid)]
        return [pid for pid in found if parent(pid) not in found]

    def _of_jobs(self):
        return {pid: number for pid, variables in self.processes().items()
                if (number := variables.get("EPOP_BATCH_JOB", "").removeprefix("epoprm:")).isdigit()}

    def find(self, what):
        """Processes of that kind, each with its job."""
        jobs = self._of_jobs()
        attendants = {pid for pid in self.processes() if name_of(pid) == "attend"}
        first = {pid for pid in jobs if name_of(pid).startswith("mpiexec") and parent(pid) in attendants}
        ranks = {pid: launcher_of(pid) for pid in jobs if name_of(pid) == "epop"}
        found = {"attendant": [pid for pid in attendants],
                 "mpiexec": list(first),
                 "rank 0": [pid for pid, launcher in ranks.items() if launcher in first and jobs and environment_of(pid).get("PMI_RANK") == "0"],
                 "rank": [pid for pid, launcher in ranks.items() if launcher in first and environment_of(pid).get("PMI_RANK") != "0"],
                 "joiner": [pid for pid, launcher in ranks.items() if launcher and launcher not in first]}[what]
        return [(pid, int(jobs[pid]) if pid in jobs else attended(pid)) for pid in found]


class HostsManager(Manager):
    """The same on a list of hosts, each with an address of its own. The daemon is on another one, which stays."""

    nodes = ("n1", "n2", "n3", "n4")
    silence = 3  # seconds until jobs take a host to have gone; some are away for longer, some for less

    def __init__(self, **how):
        super().__init__(("--hosts", ",".join(f"{name}:1" for name in self.nodes), "--launcher", "ssh", "--launcher-exec", hosts.SSH), **how)

    def prepare(self):
        try:
            self.net = hosts.Hosts(self.space, ["head", *self.nodes])
        except hosts.Unavailable:
            self.space.close()
            raise
        self.environment |= {key: str(value) for key, value in self.net.environment({"EPOP_HOST_SECONDS": self.silence}).items()}

    def command(self, *arguments):
        return list(map(str, self.net.command("head", super().command(*arguments))))

    def processes(self):
        """Not the hosts themselves."""
        found = super().processes()
        return {pid: variables for pid, variables in found.items() if pid not in self.net.holders()}

    def jobs_on(self, node):
        """Also those that only grow onto it, or leave it."""
        return {number for number, in self.rows("SELECT job FROM holding WHERE node = ?", node)}

    def missed(self):
        """Nodes that epoprm does not take to be there."""
        return [name for name, in self.rows("SELECT name FROM node WHERE state != 'up'")]


def attended(pid):
    """The job of an attendant: its directory's name."""
    directory = pathlib.Path(words(pid)[2].decode()) if len(words(pid)) > 2 else pathlib.Path("0")
    return int(directory.name) if directory.name.isdigit() else 0


def launcher_of(pid):
    """The mpiexec over a process; 0: none."""
    while pid > 1:
        pid = parent(pid)
        if name_of(pid).startswith("mpiexec"):
            return pid
    return 0


FAULTS = (*["daemon"] * 4, "mpiexec", "rank 0", "rank", "joiner", "attendant")  # the death of the daemon strikes no job


class Soak:
    """Jobs come all the time; faults strike one after the other; at the end the accounts are read."""

    faults = FAULTS

    def __init__(self, manager, seed, say=print):
        self.manager, self.draw, self.say = manager, random.Random(seed), say
        self.crowd = 6
        self.struck, self.known, self.hit = {}, manager.known, manager.hit
        self.unattended = set()  # jobs whose attendant was struck

    def close(self):
        self.manager.close()

    def submit(self):
        rigid = self.draw.random() < 0.3
        most = self.draw.choice([1, 2, 3, 4])
        phase = [f"iterations={self.draw.randint(10, 60)}", "seconds=0.1", "speedup=amdahl:0.2", "mib=0.5"]
        self.manager.submit(str(most) if rigid else f"1-{most}", "phase=a", *phase)

    def feed(self):
        """At times jobs wait, and at times nodes are idle, which go to those that run."""
        if self.draw.random() < 0.1:
            self.crowd = self.draw.choice([1, 2, 3, 6])
        while len(self.manager.waiting()) < self.crowd:
            self.submit()

    def strike(self):
        """What was struck, or None if there was none of it."""
        what = self.draw.choice(self.faults)
        if what == "node":
            return self.strike_node()
        found = [(pid, 0) for pid in self.manager.daemon()] if what == "daemon" else self.manager.find(what)
        if not found:
            return None
        pid, number = self.draw.choice(sorted(found))
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            return None  # it has ended
        if what == "daemon":
            wait_for_end(pid)
            self.manager.start()
        else:
            self.hit.add(number)
            if what == "attendant":
                self.unattended.add(number)
        return self.count(what, f"of job {number}" if number else "")

    def count(self, what, more):
        self.struck[what] = self.struck.get(what, 0) + 1
        self.say(f"{sum(self.struck.values())}: {what} {more}".rstrip())
        return what

    def strike_node(self):
        return None

    def step(self):
        """What goes on between two faults."""

    def calm_down(self):
        """After the last fault."""

    def run(self, faults, limit=float("inf")):
        """Raises Broken with what does not hold."""
        end = time.monotonic() + limit
        while sum(self.struck.values()) < faults and time.monotonic() < end:
            self.feed()
            time.sleep(self.draw.uniform(0, 1))
            self.step()
            self.strike()
        self.calm_down()
        self.manager.wait_until_all_ended()
        return self.check()

    def check(self):
        wrong = invariants.of_journal(self.manager.journal, self.hit, self.known)
        wrong += [f"job {number} hung until its time limit: {self.manager.history(number)}" for number, in
                  self.manager.rows("SELECT number FROM job WHERE reason LIKE 'time limit%'")]
        wrong += [f"job {number} lost its attendant by itself" for number, in
                  self.manager.rows("SELECT number FROM job WHERE reason LIKE 'its attendant was killed%'") if number not in self.unattended]
        self.manager.epoprm("stop")
        wrong += self.left()
        if wrong:
            raise Broken("\n".join(wrong))

    def left(self):
        """Processes that run although all has ended. An attendant may stay for a few seconds."""
        end = time.monotonic() + 20
        while (found := self.manager.processes()) and time.monotonic() < end:
            time.sleep(0.1)
        return [f"process {pid} is left: {b' '.join(words(pid)).decode(errors='replace')}" for pid in found]


class HostsSoak(Soak):
    """Hosts die, too, and come back some seconds later."""

    faults = (*FAULTS, *["node"] * 3)
    most_away, longest_away = 2, 6  # how many at a time, and for how many seconds

    def __init__(self, manager, seed, say=print):
        super().__init__(manager, seed, say)
        self.away = {}  # when they come back
        self.outages = []  # (node, when, until)

    def strike_node(self):
        """All jobs that have it are struck."""
        here = [name for name in self.manager.nodes if name not in self.away]
        if len(self.away) >= self.most_away:
            return None
        node, silently = self.draw.choice(here), self.draw.random() < 0.5
        jobs = self.manager.jobs_on(node)
        begin = time.time()
        self.manager.net.power_off(node, silently)
        jobs |= self.manager.jobs_on(node)
        self.hit |= jobs
        self.away[node] = (begin, time.monotonic() + self.draw.uniform(0, self.longest_away))
        return self.count("node", f"{node}{', silently' if silently else ''}, of jobs {sorted(jobs)}")

    def step(self):
        for node, (begin, back) in list(self.away.items()):
            if time.monotonic() >= back:
                self.come_back(node, begin)

    def come_back(self, node, begin):
        self.manager.net.power_on(node)
        self.outages.append((node, begin, time.time()))
        del self.away[node]

    def calm_down(self):
        """All hosts are there: epoprm finds them by itself, and uses them."""
        for node, (begin, _) in list(self.away.items()):
            self.come_back(node, begin)
        self.manager.submit(str(len(self.manager.nodes)), "phase=a", "iterations=1", "seconds=0.1")
        self.manager.wait_until_all_ended()
        self.manager.wait_until(lambda: not self.manager.missed(), lambda: f"nodes {self.manager.missed()} do not come back")

    def check(self):
        """A job that was started on a host that had just died was struck, too: nobody could know."""
        for node, begin, until in self.outages:
            late = {number for number, nodes, since in self.manager.rows("SELECT job, nodes, begin FROM stay")
                    if node in nodes.split(",") and begin <= since <= until} - self.hit
            if late:
                self.say(f"{node}: jobs {sorted(late)} were started there while it was away")
            self.hit |= late
        super().check()


def wait_for_end(pid):
    end = time.monotonic() + 20
    while pathlib.Path(f"/proc/{pid}/cwd").exists():
        if time.monotonic() > end:
            raise Broken(f"process {pid} does not end")
        time.sleep(0.01)
