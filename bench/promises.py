#!/usr/bin/env python3
"""How policies compare with easy in many windows of jobs, and which first reservations they keep.

    bench/promises.py [--windows N] [--jobs N] [--shares S,...] [--limit-factor F] [--trace FILE] [--each] POLICY ...

Windows are drawn by `epopsim generate`, or are parts of a trace, one after the other; their loads go round from 0.5 to
1.2. Seeded: the figures are the same on every machine.
"""
import argparse
import concurrent.futures
import gzip
import json
import math
import os
import subprocess

import studies

LOADS = (0.5, 0.7, 0.85, 0.9, 1.0, 1.2)
WORSE = 1.03
KEPT = 1  # seconds: as late as that is on time
EPOPSIM = studies.BUILD / "bin/epopsim"


def lines_of(trace):
    """Of jobs alone."""
    text = (gzip.open if trace.endswith(".gz") else open)(trace, "rt").read()
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(";")]


def window(number, options, trace):
    """A trace of so many jobs, as text."""
    if trace:
        first = number * options.jobs % max(1, len(trace) - options.jobs)
        return "; MaxProcs: %d\n" % options.nodes + "\n".join(trace[first:first + options.jobs]) + "\n"
    command = [EPOPSIM, "generate", "--nodes", str(options.nodes), "--jobs", str(options.jobs), "--seed", str(number + 1)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout


def lateness(run):
    """Of each job that was promised a start: (seconds late, seconds that it was promised to wait)."""
    starts = {job["id"]: job["start"] for job in run["jobs"]}
    first = {}
    for each in run["decisions"]:
        if each["kind"] == "reserve":
            first.setdefault(each["job"], each)
    return [(starts[job] - each["at"], each["at"] - each["time"]) for job, each in first.items() if starts.get(job) is not None]


def simulate(number, share, options, trace):
    """Of each policy: (mean bounded slowdown over that of easy, lateness)."""
    words = [word for policy in ("easy", *options.policies) for word in ("--policy", policy)]
    command = [EPOPSIM, "--quiet", "--output", "-", *words, "--load", str(LOADS[number % len(LOADS)]), "--malleable",
               share, "--seed", str(number + 1), *(["--limit-factor", options.limit_factor] if options.limit_factor else []), "-"]
    done = subprocess.run(command, input=window(number, options, trace), stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    easy, *runs = json.loads(done.stdout)["runs"]
    return [(run["metrics"]["mean_slowdown"] / easy["metrics"]["mean_slowdown"], lateness(run)) for run in runs]


def row(policy, share, found):
    """Figures of one policy at one share over all windows."""
    ratios = sorted(ratio for ratio, _ in found)
    late = [(by, wait) for _, jobs in found for by, wait in jobs if by > KEPT]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    beyond = max((by / max(wait, 1) for by, wait in late), default=0)
    return [f"`{policy}`", studies.share(float(share)), f"{mean:.2f}", f"{sum(ratio > WORSE for ratio in ratios)} of {len(ratios)}",
            f"{ratios[-1]:.2f}", f"{len(late)} of {sum(len(jobs) for _, jobs in found)}",
            f"{max((by for by, _ in late), default=0) / 3600:.1f} h", f"{beyond:.2f}"]


HEADS = ["policy", "malleable", "slowdown / `easy`", "windows > 3 % worse", "worst", "starts later than first promised",
         "the latest", "of the wait promised"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policies", nargs="+", metavar="POLICY")
    parser.add_argument("--windows", type=int, default=99)
    parser.add_argument("--jobs", type=int, default=300, help="of a window")
    parser.add_argument("--nodes", type=int, help="of the machine: 256, of a trace 128")
    parser.add_argument("--shares", default="0.25,0.5,1", help="of jobs that are malleable")
    parser.add_argument("--limit-factor")
    parser.add_argument("--trace")
    parser.add_argument("--each", action="store_true", help="print the windows that are worse, too")
    options = parser.parse_args()
    options.nodes = options.nodes or (128 if options.trace else 256)
    trace = lines_of(options.trace) if options.trace else None
    rows = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for share in options.shares.split(","):
            found = list(pool.map(lambda number: simulate(number, share, options, trace), range(options.windows)))
            for place, policy in enumerate(options.policies):
                rows.append(row(policy, share, [each[place] for each in found]))
                for number, each in enumerate(found):
                    if options.each and each[place][0] > WORSE:
                        print(policy, share, "window", number, "load", LOADS[number % len(LOADS)], f"{each[place][0]:.3f}")
    print(studies.table(HEADS, rows))


if __name__ == "__main__":
    main()
