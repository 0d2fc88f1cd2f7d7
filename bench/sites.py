"""Where bench/elastic.py plays a workload: in epopsim, under epoprm on this machine and on a list of hosts, and in a real Slurm of four nodes.

Each gives a record for each job: submit, start, end (seconds, of any origin), resizes, and node_seconds that it held.
"""
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import workloads

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = (ROOT / os.environ.get("EPOP_BUILD", "build")).resolve()
MPIEXEC = os.environ.get("MPIEXEC", "mpiexec.mpich")
END = re.compile(r"synthetic: (-?\d+) of (\d+) iterations, (\d+) of (\d+) elements right, (\d+) resizes")
LIMIT = 900  # seconds for a whole workload


class Failed(Exception):
    """A site did not do its work."""


def resizes_of(name, text):
    """From what a job printed; whether it did all of its work is seen there, too."""
    match = END.search(text)
    if not match or match[1] != match[2] or match[3] != match[4]:
        raise Failed(f"job {name} did not do its work: {text[-500:]!r}")
    return int(match[5])


def in_time(jobs, submit):
    """Calls submit(job) for each at its time; when each was submitted, since 1970."""
    begin, times = time.time(), []
    for job in jobs:
        time.sleep(max(0, begin + job["submit"] - time.time()))
        times.append(time.time())
        submit(job)
    return times


def wait_until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {LIMIT} s")
        time.sleep(0.2)


class Simulated:
    """In virtual time. overhead, latency, cost: as measured at a real site. least: jobs begin at their least size, as they do in
    Slurm."""

    def __init__(self, policy, overhead=0.0, latency=0.1, cost=0.02, least=False, name="epopsim"):
        self.policy, self.overhead, self.least, self.name = policy, overhead, least, name
        self.options = ["--latency", latency, "--resize-cost", cost]

    def play(self, jobs, malleable):
        text = json.dumps(workloads.workload(jobs, malleable, self.overhead, self.least))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([BUILD / "bin/epopsim", "--quiet", "--output", "-", "--policy",
                                   self.policy if malleable else "easy", *map(str, self.options), file.name],
                                  stdout=subprocess.PIPE, text=True, check=True, timeout=120, stdin=subprocess.DEVNULL)
        [run] = json.loads(done.stdout)["runs"]
        return [self.record(run, job) for job in run["jobs"]]

    @staticmethod
    def record(run, job):
        """What it held: from each decision on the larger of two sizes, until the resize is over."""
        steps = [(each["time"], each["to"]) for each in run["decisions"]
                 if each["job"] == job["id"] and each["kind"] in ("start", "resize")]
        ends = [when for when, _ in steps[1:]] + [job["end"]]
        return {"submit": job["submit"], "start": job["start"], "end": job["end"], "resizes": job["resizes"],
                "node_seconds": sum((end - begin) * nodes for (begin, nodes), end in zip(steps, ends))}

    def close(self):
        pass


class Local:
    """Under epoprm: four nodes of one slot on this machine."""

    name = "local"

    def __init__(self, policy, options=("--local", str(workloads.NODES))):
        self.policy, self.options = policy, options
        self.resizes = []  # seconds of the steps of each
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="epop-elastic-"))
        self.environment = {**os.environ, "EPOPRM_DIR": str(self.directory / "rm"), "EPOP_RUNTIME_DIR": str(self.directory / "run"),
                            "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        (self.directory / "run").mkdir(mode=0o700)

    def command(self, *words):
        done = subprocess.run(self.words([BUILD / "bin/epoprm", *map(str, words)]), capture_output=True, text=True, timeout=60, check=False,
                              env=self.environment, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Failed(f"epoprm {words[0]}: {done.stderr.strip()}")
        return done.stdout

    @staticmethod
    def words(command):
        """That run a command where the daemon is."""
        return command

    def submit(self, job, malleable):
        most = workloads.wanted(job)
        self.command("submit", "--ranks", f"1-{most}" if malleable else most, "--time", f"{workloads.LIMIT}s", "--name",
                     job["application"], "-o", self.directory / f"out.{job['id']}", "--",
                     BUILD / "lib/epop/programs/synthetic.so", *workloads.words(job))

    def rows(self, query):
        journal = sqlite3.connect(f"file:{self.directory}/rm/journal.db?mode=ro", uri=True, timeout=10)
        journal.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in journal.execute(query)]
        finally:
            journal.close()

    def play(self, jobs, malleable):
        shutil.rmtree(self.directory / "rm", ignore_errors=True)
        for output in self.directory.glob("out.*"):
            output.unlink()
        self.command("start", *self.options, "--policy", self.policy if malleable else "easy")
        try:
            submitted = in_time(jobs, lambda job: self.submit(job, malleable))
            wait_until(lambda: not self.rows("SELECT 1 FROM job WHERE ended < 0"), "epoprm's jobs")
        finally:
            self.command("stop", "--jobs")
        return [self.record(job, when, row) for job, when, row in zip(jobs, submitted, self.rows("SELECT * FROM job ORDER BY number"))]

    def record(self, job, submitted, row):
        stays = self.rows(f"SELECT begin, end, nodes FROM stay WHERE job = {row['number']}")
        for resize in self.rows(f"SELECT * FROM resize WHERE job = {row['number']} AND outcome = 'done'"):
            self.resizes.append({"agreed": resize["agreed"] - resize["decided"], "stalled": resize["committed"] - resize["agreed"],
                                 "committed": resize["committed"] - resize["decided"]})
        return {"submit": submitted, "start": row["started"], "end": row["ended"],
                "resizes": resizes_of(row["number"], (self.directory / f"out.{job['id']}").read_text()),
                "node_seconds": sum((stay["end"] - stay["begin"]) * len(stay["nodes"].split(",")) for stay in stays)}

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)


class Hosts(Local):
    """The same on a list of hosts, which are network namespaces here; the daemon is on one more."""

    name = "hosts"

    def __init__(self, policy):
        sys.path.insert(0, str(ROOT / "tests/run/helpers"))
        import hosts  # not needed by the other sites
        import job
        nodes = [f"n{number + 1}" for number in range(workloads.NODES)]
        super().__init__(policy, ("--hosts", ",".join(f"{node}:1" for node in nodes), "--launcher", "ssh", "--launcher-exec", hosts.START))
        self.space = job.Space(self.directory)
        self.net = hosts.Hosts(self.space, ["head", *nodes])
        self.environment = self.space.environment(self.net.environment(
            {name: self.environment[name] for name in ("EPOPRM_DIR", "EPOP_RUNTIME_DIR")}))

    def words(self, command):
        return list(map(str, self.net.command("head", command)))

    def close(self):
        self.space.close()
        super().close()


RIGID = """
echo "begin $(date +%s.%N)"
mpiexec -n {ranks} -ppn 1 epop --quiet {arguments}
echo "end $(date +%s.%N)"
"""


class Slurm:
    """Real: FCFS with backfill for rigid jobs; malleable ones get their minimum, and companions by the adviser's advice."""

    name = "slurm"

    def __init__(self, policy, accounting=False):
        sys.path.insert(0, str(ROOT / "tests/slurm"))
        from cluster import Cluster  # not needed by the other sites
        self.policy, self.resizes = policy, []
        prefix = pathlib.Path(shutil.which(MPIEXEC)).resolve().parent.parent
        self.cluster = Cluster(epop=BUILD, mpich=prefix, accounting=accounting)
        self.adviser = None

    def submit(self, job, malleable):
        ranks = 1 if malleable else workloads.wanted(job)
        arguments = " ".join(["synthetic", *workloads.words(job)])
        options = ["-N", str(ranks), "--exclusive", "-t", "1", "-J", job["application"]]
        if malleable:
            options += ["--comment", f"epop:min=1,max={workloads.wanted(job)}"]
        job["number"] = self.cluster.sbatch(RIGID.format(ranks=ranks, arguments=arguments), *options)

    def play(self, jobs, malleable):
        jobs, sampled, stopped = [dict(job) for job in jobs], [], threading.Event()
        sampler = threading.Thread(target=self.sample, args=(sampled, stopped), daemon=True)
        if malleable:
            self.start_adviser()
        sampler.start()
        try:
            submitted = in_time(jobs, lambda job: self.submit(job, malleable))
            wait_until(lambda: not self.cluster.jobs("-t", "PD,R,CG"), "Slurm's jobs")
        finally:
            stopped.set()
            sampler.join(timeout=10)
            self.stop_adviser()
        records = [self.record(job, when) for job, when in zip(jobs, submitted)]
        self.share_out(records, sampled)
        return records

    def sample(self, sampled, stopped):
        """How many nodes are held, all along: companions are jobs of their own."""
        while not stopped.wait(0.2):
            held = [state.rstrip("*") not in ("idle", "down") for state in self.cluster.node_states().values()]
            sampled.append((time.time(), sum(held)))

    @staticmethod
    def share_out(records, sampled):
        """The utilisation is of all jobs together; a part for each."""
        total = sum((after[0] - before[0]) * before[1] for before, after in zip(sampled, sampled[1:]))
        for record in records:
            record["node_seconds"] = total / len(records)

    def record(self, job, submitted):
        text = self.cluster.output(job["number"])
        times = dict(re.findall(r"^(begin|end) ([0-9.]+)$", text, re.MULTILINE))
        if len(times) != 2:
            raise Failed(f"Slurm's job {job['number']}: {text[-500:]!r}")
        return {"submit": submitted, "start": float(times["begin"]), "end": float(times["end"]),
                "resizes": resizes_of(job["number"], text)}

    def start_adviser(self):
        self.adviser = self.cluster.start("head", "epoprm", "start", "--site", "slurm", "--foreground", "--policy", self.policy,
                                          stdout=open(self.cluster.directory / "log/adviser", "w", encoding="utf-8"), stderr=subprocess.STDOUT)

    def stop_adviser(self):
        if self.adviser:
            self.cluster.run("head", "epoprm", "stop", check=False)
            self.adviser.wait(timeout=30)
            said = (self.cluster.directory / "log/adviser").read_text()
            self.resizes += [{"committed": float(each)} for each in re.findall(r"committed: .* in ([0-9.]+) s", said)]
            self.adviser = None

    def close(self):
        self.cluster.close()
