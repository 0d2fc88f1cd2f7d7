#!/usr/bin/env python3
"""All benchmarks, each beside its alternative in the same run. Called by `make bench`.

    bench/run.py [--quick] [probe] [interpose] [walk] [trace] [measure] [loops] [tune] [debug] [resize] [methods] [meeting] [libraries] [ahead] [balance] [redist] [redist-hosts] [described] [blocks] [checkpoint] [memory] [cannon] [gauss] [amr] [scheduler] [elastic] [latency] [psets] [scale]

Without names it is those of which the page has results with the MPI library of this tree, as the others say nothing new; with an MPI
library that the page does not know it is all.

Prints a table; the same as JSON lines goes to BUILD/bench/results.jsonl, and without --quick to bench/results when a benchmark has
ended, from which the tables of docs/internals/performance.md are written anew. Compare the ratios: absolute times belong to this machine at this moment.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import ahead
import balancing
import elastic
import evolving
import hosting
import keeping
import latency
import measuring
import methods
import psets
import saving
import sites
import tables
import tuning
from jobs import Job, end_at_sigterm, printed

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = (ROOT / os.environ.get("EPOP_BUILD", "build")).resolve()
MPIEXEC = os.environ.get("MPIEXEC", "mpiexec.mpich")
EPOP = BUILD / "bin/epop"
EXAMPLES, BENCH = BUILD / "lib/epop/examples", BUILD / "bench"
RESULTS = BENCH / "results.jsonl"

results = []


def note(**fields):
    """One result: a line of the file, with the device of the MPI library, and of the table."""
    results.append({**fields, "device": keeping.device(BUILD)})
    with open(RESULTS, "a", encoding="utf-8") as file:
        file.write(json.dumps(results[-1]) + "\n")
    print("  ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in fields.items()),
          flush=True)


def lines(ranks, *command, limit=300):
    """The JSON lines that `command` prints on `ranks` ranks."""
    return printed(MPIEXEC, ranks, *command, limit=limit)


def alternate(rounds, ours, theirs, key="seconds"):
    """Both in turn; the medians, and the median of the ratios ours / theirs of the same round."""
    pairs = [(ours()[key], theirs()[key]) for _ in range(rounds)]
    return (statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs),
            statistics.median(a / b for a, b in pairs))


def bench_probe(quick):
    for result in lines(2, BENCH / "probe"):
        note(**result)


def bench_interpose(quick):
    for result in lines(2, BENCH / "interpose"):
        note(**result)


def steps_per_us():
    iterations, steps = 1000, 100000
    best = min(lines(1, BENCH / "loop_plain", iterations, steps)[0]["seconds"] for _ in range(3))
    return iterations * steps / best / 1e6


def bench_walk(quick):
    rate = steps_per_us()
    for us, iterations in ((10, 100000), (1, 500000)):
        arguments = (iterations, int(us * rate))
        for ranks in (1, 2):
            ours, theirs, ratio = alternate(
                3 if quick else 11, lambda: lines(ranks, EPOP, BENCH / "loop.so", *arguments)[0],
                lambda: lines(ranks, BENCH / "loop_plain", *arguments)[0])
            note(bench="walk", ranks=ranks, iteration_us=us, epop_ns=ours / iterations * 1e9,
                 by_hand_ns=theirs / iterations * 1e9, ratio=ratio)


def bench_debug(quick):
    """What the roll calls of the debug driver add to an iteration, and the factor that makes."""
    rate = steps_per_us()
    for us, iterations, sizes in ((10, 20000, (1, 2, 4)), (1000, 500, (1, 2)), (10000, 100, (1, 2))):
        arguments = (iterations, int(us * rate))
        for ranks in sizes:
            ours, theirs, ratio = alternate(
                3 if quick else 7, lambda: lines(ranks, EPOP, "--driver", "debug", BENCH / "loop.so", *arguments)[0],
                lambda: lines(ranks, EPOP, BENCH / "loop.so", *arguments)[0])
            note(bench="debug", ranks=ranks, iteration_us=us, added_us=(ours - theirs) / iterations * 1e6, ratio=ratio)


def bench_trace(quick):
    """The trace and the profile driver, with the checkpoints of --output, beside run; without MPI calls, and with one per iteration."""
    rate = steps_per_us()
    drivers = {"run": (), "profile": ("--driver", "profile", "--output", BENCH / "prof.json"),
               "trace": ("--driver", "trace", "--trace-output", BENCH / "trace.json")}
    for us, iterations in ((10, 50000), (1, 250000)):
        for calls in (0, 1):
            for ranks in (1, 2):
                rounds = [{name: lines(ranks, EPOP, "--quiet", *options, BENCH / "loop.so", iterations, int(us * rate), 0,
                                       calls)[0]["seconds"] for name, options in drivers.items()}
                          for _ in range(3 if quick else 21)]
                ratios = {f"{name}_ratio": statistics.median(each[name] / each["run"] for each in rounds)
                          for name in ("trace", "profile")}
                note(bench="trace", ranks=ranks, iteration_us=us, mpi_calls=calls,
                     run_ns=statistics.median(each["run"] for each in rounds) / iterations * 1e9, **ratios)


def bench_loops(quick):
    for result in lines(2, BENCH / "loops"):
        note(**result)


def bench_tune(quick):
    tuning.bench(BUILD, MPIEXEC, quick, note)


def bench_measure(quick):
    """Measuring on demand: in one process, in whole jobs, and how soon the reports are there."""
    for ranks in (1, 2):
        for result in lines(ranks, BENCH / "measure"):
            note(ranks=ranks, **result)
    measuring.bench_jobs(BUILD, MPIEXEC, steps_per_us(), 3 if quick else 11, note)
    for ranks in (2, measuring.RANKS):
        measuring.bench_reports(BUILD, MPIEXEC, ranks, 21 if quick else 101, note)


def relaunch(size, bytes_):
    """The alternative without malleability: end the job, start another one of the new size. Without writing the data
    to files and reading it again, so less than what it really costs."""
    begin = time.monotonic()
    lines(size, EPOP, BENCH / "loop.so", 1, 1, bytes_)
    return time.monotonic() - begin


def by_hand(old, new, size, rounds):
    """ms that the communicators of a window and its bytes take with MPI alone."""
    done = lines(max(old, new), BENCH / "by_hand", old, new, size, rounds)[0]
    return done["communicators_ms"] + done["alltoallv_ms"]


def bench_resize(quick):
    rate = steps_per_us()
    rounds = 3 if quick else 11
    for small, large in ((1, 2), (2, 4)):
        for megabytes in (0, 64):
            size = megabytes * 2**20
            # Iterations of 1 ms: the stall holds up to one iteration of waiting for the slowest rank.
            job = Job(BUILD, [MPIEXEC, "-n", large, EPOP, "--start", small, BENCH / "loop.so", 10**9, int(1000 * rate),
                              size])
            try:
                ways = {(small, large): [], (large, small): []}
                again = {small: [], large: []}
                for _ in range(rounds):
                    ways[small, large].append(job.resize(large))
                    ways[large, small].append(job.resize(small))
            finally:
                job.end()
            for _ in range(rounds):
                for to in again:
                    again[to].append(relaunch(to, size))
            for (old, new), times in ways.items():
                stall = statistics.median(t[0] for t in times)
                total = statistics.median(t[1] for t in times)
                restart = statistics.median(again[new])
                note(bench="resize", backend="pool", change=f"{old}->{new}", megabytes=megabytes, stall_ms=stall * 1e3,
                     request_to_commit_ms=total * 1e3, by_hand_ms=by_hand(old, new, size, rounds), relaunch_ms=restart * 1e3,
                     relaunch_over_stall=restart / stall,
                     cores=os.cpu_count())


def bench_methods(quick):
    methods.bench(BUILD, MPIEXEC, quick, note)


def bench_meeting(quick):
    methods.bench_meeting(BUILD, MPIEXEC, quick, note)


def bench_libraries(quick):
    methods.bench_libraries(BUILD, MPIEXEC, quick, note)


def bench_ahead(quick):
    if methods.can_grow(BUILD, MPIEXEC):
        ahead.bench(BUILD, MPIEXEC, quick, note, steps_per_us())


def bench_balance(quick):
    balancing.bench(BUILD, MPIEXEC, quick, note)


def bench_redist(quick):
    for memory, mib in (("fresh", 16), ("reused", 16)) if quick else (("fresh", 64), ("reused", 8), ("reused", 64)):
        for ranks in (2, 4):
            for result in lines(ranks, BENCH / "redist", mib, 5 if quick else 31 if mib == 8 else 15, "", memory, limit=600):
                note(**result, memory=memory, mib=mib)


def bench_redist_hosts(quick):
    """Half of the ranks on one host and half on another, which only root can make. Where MPI opens connections by names of hosts."""
    with hosting.two_hosts() as printed_there:
        for mib in () if not printed_there else (16,) if quick else (8, 64):
            for ranks in (2, 4):
                for result in printed_there(MPIEXEC, ranks, BENCH / "redist", mib, 5 if quick else 31 if mib == 8 else 15, "", "reused", limit=600):
                    note(**{**result, "bench": "redist-hosts"}, memory="reused", mib=mib)


def bench_blocks(quick):
    for ranks in (2, 4):
        for result in lines(ranks, BENCH / "blocks", 100 if quick else 160, limit=600):
            note(**result)


def bench_checkpoint(quick):
    """On the disk that the tree is on. The slower ranks are those that share a processor."""
    if not (BENCH / "checkpoint").exists():
        print("   needs parallel HDF5: libhdf5-mpich-dev")
        return
    with tempfile.TemporaryDirectory(dir=BENCH) as directory:
        for ranks, mib in ((2, 16), (4, 16)) if quick else ((2, 64), (2, 256), (4, 64)):
            for result in lines(ranks, BENCH / "checkpoint", directory, mib, 3 if quick else 7, limit=600):
                note(**result, ratio=result["checkpoint"] / result["mpi_io"])


def bench_memory(quick):
    saving.bench(BUILD, quick, note)


def bench_described(quick):
    for ranks in (2, 4):
        for result in lines(ranks, BENCH / "described", 5 if quick else 31, limit=600):
            note(**result)


def bench_cannon(quick):
    order = 1024 if quick else 2048
    rounds = 3 if quick else 7
    for ranks in (1, 4):
        ours, theirs, ratio = alternate(
            rounds, lambda: lines(ranks, EPOP, EXAMPLES / "cannon.so", "--random", order, "--repeat", 3, "--json")[0],
            lambda: lines(ranks, BENCH / "pdgemm", order)[0], key="gflops")
        note(bench="cannon", n=order, ranks=ranks, cannon_gflops=ours, pdgemm_gflops=theirs, ratio=ratio)


def bench_gauss(quick):
    order = 1024 if quick else 2048
    rounds = 3 if quick else 7
    for ranks in (1, 2):
        ours, theirs, ratio = alternate(
            rounds, lambda: lines(ranks, EPOP, EXAMPLES / "gauss.so", "--random", order, "--json")[0],
            lambda: lines(ranks, BENCH / "pdgesv", order)[0], key="gflops")
        note(bench="gauss", n=order, ranks=ranks, gauss_gflops=ours, pdgesv_gflops=theirs, ratio=ratio)


def bench_amr(quick):
    evolving.bench(BUILD, MPIEXEC, quick, note)


def used_by(words, stdin):
    """Seconds of the processor, and MiB of memory at most, that a command takes."""
    child = subprocess.Popen(words, stdin=stdin, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, words)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def bench_scheduler(quick):
    """No ranks: what decides knows no MPI."""
    done = subprocess.run([BENCH / "scheduler"], stdout=subprocess.PIPE, text=True, timeout=600, check=True)
    for line in done.stdout.splitlines():
        note(**json.loads(line))
    jobs = 10000 if quick else 100000
    with tempfile.TemporaryFile() as trace:
        subprocess.run([BUILD / "bin/epopsim", "generate", "--nodes", "10000", "--jobs", str(jobs)], stdout=trace, timeout=600, check=True)
        for policy in ("easy", "ers", "gain", "gain,firm=0"):
            trace.seek(0)
            seconds, mib = used_by([BUILD / "bin/epopsim", "-q", "--load", "0.85", "--malleable", "0.5", "--policy", policy, "-"], trace)
            note(bench="workload", policy=policy, jobs=jobs, seconds=seconds, mib=mib)


def with_checkpoints(trace, every):
    """The trace's jobs in iterations of a second, as a workload in JSON: after so many they write their share of a GB a node in ten
    minutes. And how often they do, all together."""
    jobs, transfers = [], 0
    for number, submit, _, seconds, nodes in (line.split()[:5] for line in trace if not line.startswith(";")):
        iterations = max(1, round(float(seconds)))
        transfers += -(-iterations // every)
        jobs.append({"id": int(number), "submit": float(submit), "nodes": int(nodes),
                     "phases": [{"iterations": iterations, "seconds": int(nodes), "file_system": {"bytes": 1e9 * int(nodes) * every / 600, "every": every}}]})
    return {"schema": "epop.workload", "version": 1, "machine": {"nodes": 10000, "file_system": 1e11}, "jobs": jobs}, transfers


def bench_rates(quick):
    """What transfers at shared rates cost the simulator: no ranks."""
    jobs = 1000 if quick else 100000
    done = subprocess.run([BUILD / "bin/epopsim", "generate", "--nodes", "10000", "--jobs", str(jobs)], stdout=subprocess.PIPE, text=True, timeout=600, check=True)
    for every, rate in ((600, "0"), (600, "100G"), (60, "100G")):
        workload, transfers = with_checkpoints(done.stdout.splitlines(), every)
        with tempfile.TemporaryFile("w+") as file:
            json.dump(workload, file)
            file.seek(0)
            seconds, mib = used_by([BUILD / "bin/epopsim", "-q", "--load", "0.85", "--file-system", rate, "--policy", "easy", "-"], file)
        note(bench="rates", jobs=jobs, transfers=transfers if rate != "0" else 0, seconds=seconds, mib=mib)


def bench_elastic(quick):
    """Jobs that sleep, rigid and malleable, under epoprm and in the simulator; bench/elastic.py has more of it."""
    for result in elastic.short(4 if quick else 10):
        note(**result)


def bench_latency(quick):
    """From a scheduler's decision to the commit, and the same resizes by hand; bench/latency.py has it in a real Slurm, too."""
    for result in latency.run(2 if quick else 10, ["hosts", "by-hand"]) if methods.can_grow(BUILD, MPIEXEC) else ():
        note(**result)


def exponent(results, key):
    """b of the curve a * members ** b through them, by least squares of the logarithms."""
    points = [(math.log(result["members"]), math.log(result[key])) for result in results]
    x, y = (statistics.fmean(values) for values in zip(*points))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def bench_scale(quick):
    """Thousands of members on this machine, in groups of 64 as if each were a host: what they cost process 0 (cpu)."""
    results = []
    with tempfile.TemporaryDirectory() as directory:
        environment = dict(os.environ, EPOP_RUNTIME_DIR=directory, EPOP_CONTROL_ADDRESS="127.0.0.1")
        for members in (64, 256) if quick else (64, 256, 1024, 4096):
            runs = [json.loads(subprocess.run([BENCH / "scale", str(members)], stdout=subprocess.PIPE, text=True, timeout=600,
                                              check=True, env=environment).stdout) for _ in range(1 if quick else 3)]
            results.append({key: value if isinstance(value, str) else statistics.median(run[key] for run in runs)
                            for key, value in runs[0].items()})
            note(**results[-1])
    times = [key for key in results[0] if key.endswith("_ms")]
    note(bench="scale", fit="a * members ** b", **{f"b_{key}": exponent(results, key) for key in times})


def psets_changes(*how):
    return ((old, new, {phase: took[phase] for phase in psets.PHASES}) for old, new, took in psets.changes(BUILD, MPIEXEC, *how))


def psets_late(loop, rounds, delta, shrinks):
    """The same ratio where those that leave end when the change is through."""
    if not shrinks:
        return {}
    by_sets, own = ([phases["total_ms"] for old, new, phases in psets_changes(f"{interface}-late", loop, rounds, delta) if new < old]
                    for interface in ("psets", "adapt"))
    return {"late_ratio": by_sets[0] / own[0]}


def bench_psets(quick):
    """Resource changes by process sets, by phases, beside the elastic MPI calls and MPI_Comm_spawn; and sessions that never
    change beside plain MPI. Where the MPI library cannot connect processes there is nothing to grow with."""
    rounds = 2 if quick else 15
    if BUILD.name != "build":
        for loop in ("synthetic", "water"):
            for delta in (1, 2, 4):
                own = {(old, new): phases for old, new, phases in psets_changes("adapt", loop, rounds, delta)}
                for old, new, phases in psets_changes("psets", loop, rounds, delta):
                    note(bench="psets", loop=loop, change=f"{old}->{new}", **phases, elastic_mpi_ms=own[old, new]["total_ms"],
                         ratio=phases["total_ms"] / own[old, new]["total_ms"], **psets_late(loop, rounds, delta, new < old))
        for delta in (1, 2, 4):
            for old, new, phases in psets_changes("spawn", "synthetic", rounds, delta):
                note(bench="psets", loop="MPI_Comm_spawn", change=f"{old}->{new}", total_ms=phases["total_ms"])
    ours, theirs, ratio = alternate(3 if quick else 11, lambda: lines(2, BENCH / "psets", "still", "water", 1, 1)[0],
                                    lambda: lines(2, BENCH / "psets", "still-plain", "water", 1, 1)[0], key="step_ms")
    note(bench="psets", loop="water, no change", sessions_ms=ours, plain_ms=theirs, ratio=ratio)


def reason(why):
    """Why a benchmark could not go on, in a line: what of the tree is not there, or which command failed."""
    if isinstance(why, sites.Failed):
        return str(why)
    if isinstance(why, FileNotFoundError):
        words = [why.filename]
    else:
        words = [str(word) for word in why.cmd]
    missing = [word for word in words if pathlib.Path(word).is_relative_to(BUILD) and not pathlib.Path(word).exists()]
    if missing:
        return f"{missing[0]} is not there: make all benches, for the MPI library of this tree"
    if isinstance(why, FileNotFoundError):
        return f"{words[0]} is not there"
    status = f"took longer than {why.timeout} s" if isinstance(why, subprocess.TimeoutExpired) else f"ended with status {why.returncode}"
    return f"{' '.join(words)} {status}"


def run_bench(name, function, quick):
    """False: it did not come to its end, and a line says why."""
    print(f"== {name}", flush=True)
    begin = time.monotonic()
    try:
        function(quick)
    except (FileNotFoundError, subprocess.CalledProcessError, subprocess.TimeoutExpired, sites.Failed) as why:
        print(f"   {name}: {reason(why)}", file=sys.stderr, flush=True)
        return False
    print(f"   {time.monotonic() - begin:.0f} s", flush=True)
    return True


def main():
    benches = {"probe": bench_probe, "interpose": bench_interpose, "walk": bench_walk, "trace": bench_trace, "measure": bench_measure,
               "loops": bench_loops, "tune": bench_tune,
               "debug": bench_debug, "resize": bench_resize, "methods": bench_methods, "meeting": bench_meeting, "libraries": bench_libraries, "ahead": bench_ahead, "balance": bench_balance, "redist": bench_redist, "redist-hosts": bench_redist_hosts, "described": bench_described, "blocks": bench_blocks,
               "checkpoint": bench_checkpoint, "memory": bench_memory,
               "cannon": bench_cannon, "gauss": bench_gauss, "amr": bench_amr, "scheduler": bench_scheduler, "rates": bench_rates, "elastic": bench_elastic,
               "latency": bench_latency, "psets": bench_psets, "scale": bench_scale}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller matrices: to see that it works; nothing is kept")
    parser.add_argument("benches", nargs="*", choices=[*benches, []], help="which; without any those that the page has with this MPI library")
    options = parser.parse_args()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    if not EPOP.exists() or not BENCH.is_dir():
        parser.error(f"{BUILD} has no {'benchmarks' if EPOP.exists() else 'epop'}: make all benches; EPOP_BUILD says which tree it is")
    end_at_sigterm()
    RESULTS.write_text("")
    origin, changed, failed = keeping.origin(BUILD), [], []
    for name in options.benches or tables.measured_with(keeping.device(BUILD), benches):
        before = len(results)
        if not run_bench(name, benches[name], options.quick):
            failed.append(name)
        elif not options.quick:
            changed += tables.keep(results[before:], origin)
    print(f"== results as JSON lines: {RESULTS}")
    if not options.quick:
        print(f"== tables of {tables.PAGE.relative_to(ROOT)} that changed: {', '.join(dict.fromkeys(changed)) or 'none'}")
    if failed:
        print(f"== not done: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
