#!/usr/bin/env python3
"""The same jobs, rigid and malleable, in epopsim, under epoprm (on this machine; on a list of hosts) and in a real Slurm of four nodes.

    bench/elastic.py [--jobs N] [--seed S] [--sites epopsim,local,hosts,slurm] [--kinds rigid,malleable] [--policy P]

The jobs are programs/synthetic, which sleep: four nodes on two cores take as long as four nodes. For all but epopsim the tree has
to be built with an MPICH that joins processes, and EPOP_BUILD and MPIEXEC to say so (docs/internals/scheduling.md has the commands).
Prints a table, and a JSON line for each run. epopsim comes last, once for each real site, with what that needed besides the
jobs' iterations (measured by rigid jobs of the whole machine), and for its resizes.
"""
import argparse
import json
import os
import statistics
import sys
import time

import sites
import workloads

POLICY = "ers,firm=0,period=2,worth=3,upper=0.8,lower=0.5"  # for jobs of seconds: evaluated every 2 s, down to an efficiency of 0.55


def metrics(jobs, records):
    """By the formulas of docs/reference/simulator.md, wherever the jobs ran. What a job takes alone is that of its iterations."""
    first, last = min(each["submit"] for each in records), max(each["end"] for each in records)
    alone = [max(workloads.seconds(job, workloads.wanted(job)), 10) for job in jobs]
    return {"makespan": last - first,
            "mean_wait": statistics.mean(each["start"] - each["submit"] for each in records),
            "mean_slowdown": statistics.mean(max(1, (each["end"] - each["submit"]) / run) for each, run in zip(records, alone)),
            "utilisation": sum(each["node_seconds"] for each in records) / (workloads.NODES * (last - first)),
            "resizes": sum(each["resizes"] for each in records)}


def overhead(site):
    """Seconds besides its iterations for which a job of all nodes holds them: four of them, one after the other."""
    jobs = [{"id": number, "application": "jacobi", "submit": 0, "seconds": 1} for number in range(1, 5)]
    records = site.play(jobs, malleable=False)
    took = max(each["end"] for each in records) - min(each["start"] for each in records)
    return took / len(jobs) - workloads.seconds(jobs[0], workloads.NODES)


def steps(resizes):
    """Of those that committed: medians, and the longest time from the decision to the commit."""
    if not resizes:
        return {}
    median = {key: round(statistics.median(each[key] for each in resizes), 3) for key in resizes[0]}
    found = {"latency": median["agreed"], "cost": median["stalled"]} if "agreed" in median else {"latency": median["committed"]}
    return {**found, "committed": median["committed"], "committed_most": round(max(each["committed"] for each in resizes), 3)}


def show(result):
    print(f"{result['site']:16} {result['kind']:10} {result['makespan']:9.1f} s {result['mean_wait']:8.1f} s "
          f"{result['mean_slowdown']:9.2f} {100 * result['utilisation']:9.0f} % {result['resizes']:8}", flush=True)


def play(site, jobs, kinds, found):
    for kind in kinds:
        result = {"site": site.name, "kind": kind, **metrics(jobs, site.play(jobs, kind == "malleable")),
                  "load": round(os.getloadavg()[0], 1)}
        found.append(result)
        show(result)


def run(options):
    """The results of all sites that are asked for, and what was measured for the simulator."""
    jobs = workloads.drawn(options.jobs, options.seed, options.interarrival)
    names, found, measured = options.sites.split(","), [], {}
    print(f"{'site':16} {'jobs':10} {'makespan':>11} {'mean wait':>10} {'slowdown':>9} {'utilisation':>11} {'resizes':>8}")
    for make in (sites.Local, sites.Hosts, sites.Slurm):
        if make.name not in names:
            continue
        site = make(options.policy)
        try:
            costs = {"overhead": round(overhead(site), 3)}
            play(site, jobs, options.kinds.split(","), found)
            measured[make.name] = {**costs, **steps(site.resizes)}
        finally:
            site.close()
    if "epopsim" in names:
        for name, costs in (measured or {"local": {}}).items():
            known = {key: costs[key] for key in ("overhead", "latency", "cost") if key in costs}
            site = sites.Simulated(options.policy, **known, least=name == "slurm", name=f"epopsim ({name})")
            play(site, jobs, options.kinds.split(","), found)
    return found, measured


def short(jobs):
    """For `make bench`."""
    options = argparse.Namespace(jobs=jobs, seed=4, interarrival=1.5, sites="local,epopsim", kinds="rigid,malleable", policy=POLICY)
    return run(options)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--interarrival", type=float, default=1.5, metavar="SECONDS", help="mean, between two submissions")
    parser.add_argument("--sites", default="epopsim,hosts,slurm")
    parser.add_argument("--kinds", default="rigid,malleable")
    parser.add_argument("--policy", default=POLICY, help="of the malleable ones")
    parser.add_argument("--workload", metavar="FILE", help="write what epopsim would read (malleable), and end")
    options = parser.parse_args()
    if options.workload:
        jobs = workloads.drawn(options.jobs, options.seed, options.interarrival)
        with open(options.workload, "w", encoding="utf-8") as file:
            json.dump(workloads.workload(jobs, True), file, indent=1)
        return 0
    begin = time.monotonic()
    found, measured = run(options)
    for result in found:
        print(json.dumps({"bench": "elastic", "jobs": options.jobs, "seed": options.seed, **result}))
    print(json.dumps({"bench": "elastic", "measured": measured, "took": round(time.monotonic() - begin)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
