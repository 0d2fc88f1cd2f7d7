#!/usr/bin/env python3
"""Jobs of many ranks, again and again: none may fail to start, to grow or to end, and ledger checks every element in every
iteration.

    tests/soak_large.py [--starts N] [--ranks R] [--growths N] [--sizes 128,64] [--load]

A start: `mpiexec -n R epop ledger.so`, until it computes; then it is stopped. A growth: from one rank to these sizes, one
after the other, where this MPI can start processes. --load: beside processes that keep every core busy.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "run/helpers")]

import job  # noqa: E402
from soaking.run import Failed  # noqa: E402

LEDGER = ("iterations=1000000000", "elements=20000", "work=300")
LIMIT = 180  # seconds for each step, of what takes a few on a quiet machine


def computes(space):
    result = space.epopctl("status", "--json", limit=LIMIT)
    status = json.loads(result.out) if result.status == 0 else {}
    return status.get("state") == "running" and all(process["pid"] for process in status["processes"])


def start(space, ranks, *options):
    """A job that computes, and the seconds that this took."""
    begin = time.monotonic()
    running = space.start_epop(*options, job.program("ledger"), *LEDGER, ranks=ranks, limit=3 * LIMIT)
    while not computes(space):
        if not running.running() or time.monotonic() - begin > LIMIT:
            raise Failed(f"the job does not start\n--- stdout\n{running.out}--- stderr\n{running.err}")
    return running, time.monotonic() - begin


def end(space, running):
    space.epopctl("stop", "--wait", limit=LIMIT)
    result = running.wait(LIMIT)
    if result.failed:
        raise Failed(f"the job failed\n{result!r}")


def one_start(space, options):
    running, seconds = start(space, options.ranks)
    end(space, running)
    return seconds


def one_growth(space, options):
    running, _ = start(space, 1, "--backend", "join", "--max", str(max(options.sizes)))
    begin = time.monotonic()
    for size in options.sizes:
        result = space.epopctl("resize", str(size), "--wait", limit=LIMIT)
        if result.status:
            raise Failed(f"no resize to {size}\n{result!r}\n--- stderr of the job\n{running.err}")
    seconds = time.monotonic() - begin
    end(space, running)
    return seconds


def repeat(space, what, count, once, options):
    times = []
    for done in range(1, count + 1):
        times.append(once(space, options))
        if done == count or done % 10 == 0:
            print(f"  {done} {what}, median {statistics.median(times):.1f} s, longest {max(times):.1f} s", flush=True)


def sizes(text):
    return [int(size) for size in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--ranks", type=int, default=200)
    parser.add_argument("--growths", type=int, default=50)
    parser.add_argument("--sizes", type=sizes, default=[128, 64])
    parser.add_argument("--load", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # ends its jobs too
    with tempfile.TemporaryDirectory(prefix="epop-soak-") as directory:
        space = job.Space(directory)
        try:
            load = [space.start(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() if options.load else 0)]
            repeat(space, f"starts of {options.ranks} ranks", options.starts, one_start, options)
            repeat(space, f"growths 1 -> {' -> '.join(map(str, options.sizes))}", options.growths, one_growth, options)
            for busy in load:
                busy.kill()
        except (Failed, AssertionError) as failure:
            print(f"FAILED: {failure}", flush=True)
            return 1
        finally:
            space.close()
    print("all right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
