"""Measuring on demand: what it costs a whole job, and how soon a report is there.

A job that is measured from its first iterations on, beside one that is asked for its status instead, so that either meets
an epopctl. Its program prints what the fastest 100 iterations in a row took, as what disturbs a loop only ever makes it
slower. The reports are asked for on one connection (bench/ask.c).
"""
import json
import os
import statistics
import subprocess
import tempfile
import time

from jobs import Job

MEASURED, PLAIN = ("measure", "--keep", "3600"), ("status",)
RANKS = 32
PROGRAM = ("iterations=1000000000", "work=1000", "elements=1000")  # its ranks sleep for most of an iteration of 1 ms


def iteration_ns(build, mpiexec, ranks, ask, *arguments):
    """At best, in a job of the loop that is asked that once, as soon as it answers."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:  # a process may last longer than mpiexec
        environment = dict(os.environ, EPOP_RUNTIME_DIR=directory)
        process = subprocess.Popen([str(mpiexec), "-n", str(ranks), str(build / "bin/epop"), "--quiet",
                                    str(build / "bench/loop.so"), *map(str, arguments)], env=environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while subprocess.run([str(build / "bin/epopctl"), *ask], env=environment, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, check=False).returncode:
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise RuntimeError("the job did not answer")
        out, _ = process.communicate(timeout=300)
    return json.loads(out)["fastest_100"] / 100 * 1e9


def bench_jobs(build, mpiexec, steps_per_us, rounds, note):
    iterations = 100000
    for calls in (0, 1):
        arguments = (iterations, int(10 * steps_per_us), 0, calls)
        for ranks in (1, 2):
            pairs = [[iteration_ns(build, mpiexec, ranks, ask, *arguments) for ask in (MEASURED, PLAIN)]
                     for _ in range(rounds)]
            note(bench="measure", ranks=ranks, iteration_us=10, mpi_calls=calls,
                 measured_ns=statistics.median(a for a, _ in pairs), plain_ns=statistics.median(b for _, b in pairs),
                 ratio=statistics.median(a / b for a, b in pairs))


def bench_reports(build, mpiexec, ranks, count, note):
    job = Job(build, [mpiexec, "-n", ranks, build / "bin/epop", "--quiet", build / "lib/epop/programs/ledger.so",
                      *PROGRAM])
    try:
        done = subprocess.run([str(build / "bench/ask"), str(count)], env=job.environment, stdout=subprocess.PIPE,
                              text=True, timeout=300, check=True)
    finally:
        job.end()
    times = sorted(json.loads(done.stdout)[1:])  # the first one switches it on
    note(bench="measure", ranks=ranks, reports=len(times), median_ms=statistics.median(times),
         p95_ms=times[int(0.95 * len(times))], longest_ms=times[-1], ranks_per_core=ranks / os.cpu_count())
