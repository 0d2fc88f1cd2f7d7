#!/usr/bin/env python3
"""From a scheduler's decision to the commit: a malleable job that gives way to short jobs of 1, 2 and 3 nodes and takes the nodes back.

    bench/latency.py [--rounds N] [--sites hosts,by-hand,slurm] [--keep]

The job is programs/synthetic with iterations of 20 ms. hosts: epoprm --local 4, with the steps that its journal has, and with what
mpiexec and MPI_Init take alone for as many processes (bench/start.c). slurm: the adviser beside a real Slurm of four nodes on this
machine, joiners by srun; with what the parts of a growth take by themselves.
by-hand: the same growths by `epopctl resize --wait`, with its own start, of a job with the backends join and spawn.
The tree has to be built with an MPICH that joins processes (docs/internals/performance.md has the commands). Prints a line for each kind
of resize, with the machine's load, as JSON. --keep: it goes to bench/results and that page, as from bench/run.py.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import keeping
import sites
import tables
from jobs import end_at_sigterm

POLICY = "gain,stay=1"
LONG = ["phase=a", "iterations=100000000", "seconds=0.02"]
STEPS = ("asked", "prepared", "agreed", "committed")
PARTS = {"sinfo": ["sinfo", "-h", "-n", "n2", "-o", "%c"],
         "srun, a step of the job": ["srun", "--overlap", "--mpi=none", "--quiet", "-N1", "-n1", "-w", "n1", "true"],
         "srun, a companion": ["env", "-u", "SLURM_JOB_ID", "-u", "SLURM_JOBID", "srun", "--exclusive", "--immediate=2", "--mpi=none", "--quiet", "-N1", "-n1", "-w", "n2", "true"],
         "mpiexec, on its own host": ["mpiexec", "-launcher", "fork", "-n", "1", "true"]}


def until(condition, what, limit=60):
    end = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > end:
            raise sites.Failed(f"{what}: not within {limit} s")
        time.sleep(0.02)
    return value


def summary(site, nodes, found):
    """One kind of resize: medians of the steps, and the longest."""
    committed = [each["committed"] for each in found]
    steps = {step: statistics.median(each[step] for each in found) for step in STEPS[:-1] if step in found[0]}
    return {"bench": "latency", "site": site, "nodes": f"{nodes:+d}", "resizes": len(found), **steps,
            "committed": statistics.median(committed), "most": max(committed), "load": round(os.getloadavg()[0], 1)}


def kinds(site, resizes):
    """resizes: (nodes more, seconds since the decision of each step)."""
    return [summary(site, nodes, [steps for more, steps in resizes if more == nodes])
            for nodes in sorted({more for more, _ in resizes}, key=lambda n: (n < 0, abs(n)))]


# ---- epoprm --local 4


def start_alone(count, *words):
    """Seconds: until the last of so many processes began, and from there until MPI was up in all."""
    begin = time.time()
    done = subprocess.run([sites.MPIEXEC, "-n", str(count), sites.BUILD / "bench/start", *words], capture_output=True, text=True,
                          timeout=60, check=True, stdin=subprocess.DEVNULL)
    began, up = (max(map(float, column)) for column in zip(*map(str.split, done.stdout.splitlines())))
    return began - begin, up - began


def starts(count, found):
    launcher, init = start_alone(count)
    found.setdefault(count, []).append((launcher, init, start_alone(count, "all")[1]))


def hosts(rounds):
    alone = {}
    site = sites.Local(POLICY)
    try:
        site.command("start", *site.options, "--policy", site.policy)
        try:
            site.command("submit", "--ranks", "1-4", "-o", site.directory / "out", "--", site_program(), *LONG)
            for turn in range(rounds):
                for nodes in (1, 2, 3):
                    until(lambda: held(site, 1) == 4, "four nodes of the job")
                    starts(nodes, alone)
                    site.command("submit", "--ranks", nodes, "--nodes", nodes, "--time", "10s", "-o", site.directory / "short", "--",
                                 site_program(), "phase=a", "iterations=5", "seconds=0.02")
                    until(lambda: not site.rows("SELECT 1 FROM job WHERE ended < 0 AND number > 1"), "the short job")
            until(lambda: held(site, 1) == 4, "four nodes of the job")
            rows = site.rows("SELECT * FROM resize WHERE outcome = 'done'")
        finally:
            site.command("stop", "--jobs")
    finally:
        site.close()
    return [(row["to_nodes"] - row["from_nodes"], {step: row[step] - row["decided"] for step in STEPS}) for row in rows], alone


def starts_alone(alone):
    """The medians, for each number of processes."""
    return [{"bench": "latency", "site": "a start alone", "nodes": f"{count:+d}", "starts": len(found),
             **{part: statistics.median(column) for part, column in zip(("launcher", "init", "init_all"), zip(*found))}}
            for count, found in sorted(alone.items())]


def site_program():
    return sites.BUILD / "lib/epop/programs/synthetic.so"


def held(site, job):
    return len(site.rows(f"SELECT node FROM holding WHERE job = {job}")) if not site.rows("SELECT 1 FROM resize WHERE outcome = ''") else 0


# ---- Without a scheduler


def by_hand(backend, rounds):
    """(nodes more, seconds): those of the commands, on this machine."""
    found = []
    with tempfile.TemporaryDirectory(prefix="epop-latency-") as directory:
        environment = {**os.environ, "EPOP_RUNTIME_DIR": directory, "EPOP_MPIEXEC": sites.MPIEXEC}
        job = subprocess.Popen([sites.MPIEXEC, "-n", "1", sites.BUILD / "bin/epop", "--quiet", "--backend", backend, site_program(), *LONG],
                               env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def ctl(*words):
            return subprocess.run([sites.BUILD / "bin/epopctl", *words], env=environment, capture_output=True, timeout=60, check=False)

        try:
            until(lambda: ctl("status").returncode == 0, "the job")
            for _ in range(rounds):
                for nodes in (1, 2, 3):
                    for change in (f"+{nodes}", f"-{nodes}"):
                        begin = time.monotonic()
                        ctl("resize", "--wait", change).check_returncode()
                        found.append((int(change), {"committed": time.monotonic() - begin}))
        finally:
            ctl("stop")
            job.wait(timeout=60)
    return found


# ---- Slurm


def parts(site):
    """What each takes alone, in a job on n1."""
    words = "\n".join(f"for i in 1 2 3 4 5 6 7; do a=$(date +%s%N); {' '.join(command)} >/dev/null; b=$(date +%s%N); echo \"{name}|$((b - a))\"; done"
                      for name, command in PARTS.items())
    number = site.cluster.sbatch(words.replace("%c", "'%c'") + "\necho over\n", "-N1", "--exclusive", "-w", "n1", "-t", "5")
    until(lambda: "over" in site.cluster.output(number), "the parts")
    found = re.findall(r"^(.*)\|(\d+)$", site.cluster.output(number), re.MULTILINE)
    return {name: statistics.median(int(ns) / 1e9 for other, ns in found if other == name) for name in PARTS}


def slurm(rounds):
    site = sites.Slurm(POLICY)
    try:
        alone = parts(site)
        site.start_adviser()
        log = site.cluster.directory / "log/adviser"
        until(lambda: "takes requests" in log.read_text(), "the adviser")
        site.cluster.sbatch(f"exec mpiexec -n 1 epop --quiet synthetic {' '.join(LONG)}\n", "-N1", "--exclusive", "--comment", "epop:min=1,max=4")
        for turn in range(rounds):
            for nodes in (1, 2, 3):
                until(lambda: list(site.cluster.node_states().values()).count("allocated") == 4, "four nodes of the job")
                number = site.cluster.sbatch("sleep 0.2\n", f"-N{nodes}", "--exclusive", "-t1", user="bob")
                until(lambda: site.cluster.state(number) == "COMPLETED", "the short job")
        until(lambda: list(site.cluster.node_states().values()).count("allocated") == 4, "four nodes of the job")
        until(lambda: re.findall(r"committed: \d -> (\d)", log.read_text())[-1] == "4", "the last commit")
        found = re.findall(r"committed: (\d) -> (\d) nodes in ([0-9.]+) s", log.read_text())
    finally:
        site.stop_adviser()
        site.close()
    return [(int(to) - int(before), {"committed": float(seconds)}) for before, to, seconds in found], alone


def run(rounds, names):
    results = []
    if "hosts" in names:
        resizes, alone = hosts(rounds)
        results += kinds("epoprm --local 4", resizes) + starts_alone(alone)
    if "by-hand" in names:
        for backend in ("join", "spawn"):
            results += kinds(f"by hand, {backend}", by_hand(backend, rounds))
    if "slurm" in names:
        resizes, alone = slurm(rounds)
        results += [{**each, "bench": "latency-slurm"} for each in kinds("Slurm, the adviser", resizes)]
        results += [{"bench": "latency-slurm", "site": "Slurm", "part": part, "seconds": seconds} for part, seconds in alone.items()]
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--sites", default="hosts,by-hand,slurm")
    parser.add_argument("--keep", action="store_true", help="with the page's table; hosts and by-hand belong together")
    options = parser.parse_args()
    end_at_sigterm()
    results = [{**{key: round(value, 4) if isinstance(value, float) else value for key, value in result.items()},
                "device": keeping.device(sites.BUILD)} for result in run(options.rounds, options.sites.split(","))]
    for result in results:
        print(json.dumps(result), flush=True)
    if options.keep:
        tables.keep(results, keeping.origin(sites.BUILD))
    return 0


if __name__ == "__main__":
    sys.exit(main())
