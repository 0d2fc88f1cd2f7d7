"""Seeded workloads of short jobs for four nodes: one description, for epopsim and for programs/synthetic."""
import random

NODES = 4

# DMR's three codes in small: each is submitted at the size at which it ends soonest, as users do, where its efficiency is 0.4 to
# 0.6. Speedups at 1 .. 4 nodes, with straight lines between.
APPLICATIONS = {
    "cg": {"nodes": 4, "speedups": [1, 1.5, 1.65, 1.7], "mib": 8},
    "jacobi": {"nodes": 4, "speedups": [1, 1.6, 1.9, 2.0], "mib": 16},
    "nbody": {"nodes": 3, "speedups": [1, 1.6, 1.8, 1.8], "mib": 1},
}
ITERATION = 0.1  # seconds of one, on one node
LIMIT = 60  # seconds: Slurm counts in minutes


def speedup(application, nodes):
    return APPLICATIONS[application]["speedups"][nodes - 1]


def drawn(count, seed, interarrival=1.5, shortest=2.0, longest=6.0):
    """Jobs by their submission: application, submit, seconds at the wanted nodes."""
    draw, now, jobs = random.Random(seed), 0.0, []
    for number in range(count):
        name = draw.choice(sorted(APPLICATIONS))
        jobs.append({"id": number + 1, "application": name, "submit": round(now, 3),
                     "seconds": round(draw.uniform(shortest, longest), 2)})
        now += draw.expovariate(1 / interarrival)
    return jobs


def iterations(job):
    name = job["application"]
    return max(1, round(job["seconds"] * speedup(name, APPLICATIONS[name]["nodes"]) / ITERATION))


def workload(jobs, malleable, overhead=0.0, least=False):
    """By schema/workload.schema.json. overhead: seconds for which a job holds its nodes besides its iterations, at any size,
    and that epopsim has no option for. least: malleable jobs ask for one node to begin with."""
    rows = []
    for job in jobs:
        application = APPLICATIONS[job["application"]]
        phases = [{"name": "iterate", "iterations": iterations(job), "seconds": ITERATION,
                   "speedup": {"model": "table", "points": points(application)}}]
        if overhead:
            phases.insert(0, {"name": "startup", "kind": "rigid", "seconds": overhead,
                              "speedup": {"model": "amdahl", "serial": 1}})
        size = {"kind": "malleable", "min": 1, "max": application["nodes"]} if malleable else {"kind": "rigid"}
        rows.append({"id": job["id"], "name": job["application"], "submit": job["submit"], "nodes": 1 if malleable and least else application["nodes"],
                     "bytes": application["mib"] * 2**20, "limit": LIMIT, "phases": phases, **size})
    return {"schema": "epop.workload", "version": 1, "name": f"{len(rows)} short jobs", "machine": {"nodes": NODES}, "jobs": rows}


def points(application):
    return [{"nodes": nodes, "speedup": value} for nodes, value in enumerate(application["speedups"], 1)]


def wanted(job):
    return APPLICATIONS[job["application"]]["nodes"]


def seconds(job, nodes):
    """What its iterations take at so many nodes."""
    return iterations(job) * ITERATION / speedup(job["application"], nodes)


def words(job):
    """The arguments of programs/synthetic."""
    application = APPLICATIONS[job["application"]]
    return [f"mib={application['mib']}", "phase=iterate", f"iterations={iterations(job)}", f"seconds={ITERATION}",
            "speedup=table:" + ",".join(f"{point['nodes']}={point['speedup']}" for point in points(application))]
