#!/usr/bin/env python3
"""Random resizes of running jobs, for a long time: `ledger`, which checks every element in every iteration, and `gauss`,
whose residual is checked at the end of each run. Afterwards nothing may have grown: memory, descriptors, processes.

    tests/soak.py [--resizes N] [--most RANKS] [--seed S] [--backend join|pool] [--program ledger|gauss]
"""

import argparse
import json
import os
import pathlib
import random
import signal
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "run"))

import job  # noqa: E402

SECONDS_PER_RESIZE = 10
# Rank 0 keeps a few bytes for each process there ever was, and its heap has holes; a leak is 50 kB and more per resize.
SLACK_KB, SLACK_KB_PER_RESIZE = 3000, 8
PROGRAMS = {
    "ledger": lambda: [job.program("ledger"), "iterations=1000000000", "elements=20000", "work=300", "skew=1500"],
    "gauss": lambda: [job.example("gauss"), "--random", "4000", "--block", "2", "--json"],
}


class Failed(Exception):
    """The soak found something."""


def resident_kb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


class Run:
    """One job at a time, of a program and a backend; gauss ends, and is started again."""

    def __init__(self, space, program, backend, most):
        self.space, self.program, self.backend, self.most = space, program, backend, most
        self.ended = 0
        self.start()

    def start(self):
        lent = self.backend == "pool"
        self.it = self.space.start_epop("--backend", self.backend, *(["--start", "1"] if lent else []),
                                        *PROGRAMS[self.program](), ranks=self.most if lent else 1,
                                        limit=100000)
        self.resizes, self.size = 0, 1
        self.wait_until_computing()

    def status(self):
        """None when no job is there."""
        result = self.space.epopctl("status", "--json")
        return json.loads(result.out) if result.status == 0 else None

    def wait_until_computing(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.it.running():
            status = self.status()
            if status and status["element"] and status["element"]["type"] == "EP" and all(
                    process["pid"] for process in status["processes"]):
                return
        raise Failed(f"the job does not start\n{self.report()}")

    def report(self):
        return f"--- stdout\n{self.it.out}--- stderr\n{self.it.err}"

    def near_its_end(self):
        """Gauss eliminates faster and faster: the last part leaves no time for a resize."""
        if self.program != "gauss":
            return False
        status = self.status()
        progress = status and status["progress"]
        return not status or not status["element"] or status["element"]["name"] != "eliminate" or (
            progress and progress["iteration"] > 0.8 * progress["bound"])

    def resize(self, rng):
        """One, wherever the program is then."""
        if self.near_its_end():
            self.finish()
            self.start()
        size, named = self.choose(rng)
        result = self.space.epopctl("resize", str(size), "--wait", *named, limit=60)
        if result.status != 0:
            raise Failed(f"{self.size} -> {size} {named}: {result}\n{self.report()}")
        self.size = size
        self.resizes += 1

    def choose(self, rng):
        """Another size; at times ranks are named that leave, and others may join in the same adaptation."""
        if self.size < 3 or rng.random() < 0.7:
            return rng.choice([n for n in range(1, self.most + 1) if n != self.size]), []
        leaving = rng.sample(range(1, self.size), rng.randint(1, self.size // 2))
        staying = self.size - len(leaving)
        # In the pool those that leave cannot join in the same adaptation.
        most = self.most - len(leaving) if self.backend == "pool" else self.most
        return rng.randint(staying, max(staying, most)), ["--release-ranks", ",".join(map(str, leaving))]

    def finish(self):
        """A good end, and right numbers."""
        if self.program == "ledger":
            self.space.epopctl("stop", "--wait")
        result = self.it.wait(120)
        if result.status != 0 or not self.is_right(result):
            raise Failed(f"{result}")
        self.ended += 1

    def is_right(self, result):
        if self.program == "ledger":
            return "elements right" in result.out and f"{self.resizes} resizes" in result.out
        lines = [line for line in result.out.splitlines() if line.startswith("{")]
        return bool(lines) and json.loads(lines[-1])["scaled_residual"] < 16

    def measure(self):
        """What may not grow, of rank 0 and of the job at the present size."""
        zero = self.status()["processes"][0]["pid"]
        return {"rss": resident_kb(zero), "fds": len(os.listdir(f"/proc/{zero}/fd")),
                "processes": len(self.space.processes())}


def compare(middle, late, rss_slack_kb):
    """The medians of measurements at the same size, in the middle and at the end."""
    grown = []
    for what, slack in (("rss", rss_slack_kb), ("fds", 2), ("processes", 1)):
        before, after = (statistics.median(m[what] for m in part) for part in (middle, late))
        print(f"  {what}: {before:g} in the middle, {after:g} at the end")
        if after > before + slack:
            grown.append(what)
    if grown:
        raise Failed(f"grown: {', '.join(grown)}")


def settle(run):
    """To one rank, where nothing but the job itself is left; those that left may take a moment."""
    if run.size != 1:
        result = run.space.epopctl("resize", "1", "--wait", limit=60)
        if result.status != 0:
            raise Failed(f"{run.size} -> 1: {result}\n{run.report()}")
        run.size = 1
        run.resizes += 1
    end = time.monotonic() + 5
    while run.backend == "join" and len(run.status()["processes"]) > 1 and time.monotonic() < end:
        time.sleep(0.05)
    # epopctl, and a launcher that is just ending, may still be counted.
    samples = [run.measure() for _ in range(3)]
    return {what: min(sample[what] for sample in samples) for what in samples[0]}


def soak(directory, program, backend, resizes, most, seed):
    rng = random.Random(seed)
    space = job.Space(directory)
    begin, limit = time.monotonic(), 60 + SECONDS_PER_RESIZE * resizes
    measured = []
    every = max(1, resizes // 20)
    print(f"{program}, {backend}: {resizes} resizes between 1 and {most} ranks, seed {seed}", flush=True)
    try:
        run = Run(space, program, backend, most)
        for done in range(1, resizes + 1):
            run.resize(rng)
            if program == "ledger" and done % every == 0:
                measured.append(settle(run))
            if done % 50 == 0:
                print(f"  {done} resizes, {time.monotonic() - begin:.0f} s, {run.size} ranks", flush=True)
            if time.monotonic() - begin > limit:
                raise Failed(f"{done} resizes took over {limit} s")
        run.finish()
        if measured:
            third = max(1, len(measured) // 3)
            compare(measured[third:2 * third], measured[-third:], SLACK_KB + SLACK_KB_PER_RESIZE * resizes)
    finally:
        space.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resizes", type=int, default=1000)
    parser.add_argument("--most", type=int, help="ranks; 16, for the pool 3")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--backend", default="join", choices=["join", "pool"])
    parser.add_argument("--program", choices=sorted(PROGRAMS))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # ends its jobs too
    most = options.most or (16 if options.backend == "join" else 3)
    for program in [options.program] if options.program else sorted(PROGRAMS, reverse=True):
        with tempfile.TemporaryDirectory(prefix="epop-soak-") as directory:
            try:
                soak(directory, program, options.backend, options.resizes, most, options.seed)
            except (Failed, AssertionError) as failure:
                print(f"FAILED, seed {options.seed}: {failure}", flush=True)
                return 1
    print("all right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
