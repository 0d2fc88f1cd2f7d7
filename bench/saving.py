"""Checkpoints in memory: for how long the ranks stand still, and how much each saves, where nothing of the data is constant,
and where most of it is. The first checkpoint, which saves all, does not count.
"""
import json
import statistics
import subprocess

from jobs import Job

RANKS, EVERY, STEPS = 2, 0.1, 100000


def checkpoints(build, mib, constant, count):
    """So many of a job with `mib` MiB on each rank, of which that percentage is constant."""
    job = Job(build, [build / "bin/epop", "--quiet", "--recover", 1, "-n", RANKS, "--checkpoint-memory", EVERY,
                      build / "bench/constants.so", RANKS * mib, constant, STEPS, "/dev/null"])
    watch = subprocess.Popen([str(job.epopctl), "watch", "--json"], env=job.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, text=True)
    try:
        found = []
        for line in watch.stdout:
            event = json.loads(line)
            if event["event"] == "checkpointed" and event["checkpoint"]["number"] > 1:
                found.append(event["checkpoint"])
            if len(found) == count:
                return found
        raise RuntimeError("the job ended too soon")
    finally:
        watch.kill()
        watch.communicate()
        job.end()


def bench(build, quick, note):
    for mib in (16,) if quick else (64, 256):
        for constant in (0, 90):
            found = checkpoints(build, mib, constant, 3 if quick else 15)
            note(bench="memory", ranks=RANKS, mib=mib, constant=constant, checkpoints=len(found),
                 saved_mib=statistics.median(one["bytes"] for one in found) / RANKS / 2**20,
                 stall_ms=statistics.median(one["stall"] for one in found) * 1e3)
