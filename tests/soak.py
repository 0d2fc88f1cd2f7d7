#!/usr/bin/env python3
"""Random resizes of running jobs, for a long time: `ledger`, which checks every element in every iteration, `gauss` and
`cannon`, whose residual is checked at the end of each run. Nothing may grow: memory, descriptors, processes.

    tests/soak.py [--resizes N] [--most RANKS] [--seed S] [--backend join|pool|spawn] [--options "OPTIONS of epop"]
                  [--program ledger|gauss|cannon]

Ledger's job is one for all resizes. 40 times it is brought back to one rank and measured. Over the second half of these
measurements rank 0's memory over the number of tools that have attached, joining processes and epopctls, is fitted by a line,
whose slope has to be below RSS_KB_PER_TOOL; descriptors of rank 0 and processes of the job may not be more at the end than
in the middle. Of gauss, which ends and is started again, no
process may be left after each end.
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
MEASUREMENTS = 40
# What rank 0's process may keep of a tool that has attached, in KiB: PMIx 4.2.2 keeps 5 (docs/performance.md). In a short
# soak the heap is still filling its holes: there the slope is printed, and judged only where it would be seen in any run.
RSS_KB_PER_TOOL, RSS_KB_PER_TOOL_IN_SHORT, SHORT = 7, 30, 400
PROGRAMS = {
    "ledger": lambda: [job.program("ledger"), "iterations=1000000000", "elements=20000", "work=300", "skew=1500"],
    "gauss": lambda: [job.example("gauss"), "--random", "4000", "--block", "2", "--json"],
    "cannon": lambda: [job.example("cannon"), "--random", "300,40000,300", "--panel", "2", "--verify", "--json"],
}
# Those that end: in which phase they are resized, and what must be small at the end.
PHASE = {"gauss": "eliminate", "cannon": "multiply"}
RESIDUAL = {"gauss": lambda result: result["scaled_residual"] < 16, "cannon": lambda result: result["residual"] <= 1}


class Failed(Exception):
    """The soak found something."""


def resident_kb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


class Run:
    """One job at a time, of a program and a backend; one that ends is started again."""

    def __init__(self, space, program, backend, options, most):
        self.space, self.program, self.backend, self.options, self.most = space, program, backend, options, most
        self.parks = backend == "pool" or "park" in " ".join(options)
        self.replaces = "baseline" in " ".join(options)
        self.ended = self.tools = 0
        self.start()

    def ctl(self, *arguments, limit=30):
        self.tools += 1
        return self.space.epopctl(*arguments, limit=limit)

    def start(self):
        lent = self.backend == "pool"
        self.it = self.space.start_epop("--backend", self.backend, *self.options, *(["--start", "1"] if lent else []),
                                        *PROGRAMS[self.program](), ranks=self.most if lent else 1,
                                        limit=100000)
        self.resizes, self.size, self.peak = 0, 1, 1
        self.wait_until_computing()

    def status(self):
        """None when no job is there."""
        result = self.ctl("status", "--json")
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
        if self.program not in PHASE:
            return False
        status = self.status()
        progress = status and status["progress"]
        return not status or not status["element"] or status["element"]["name"] != PHASE[self.program] or (
            progress and progress["iteration"] > 0.8 * progress["bound"])

    def resize(self, rng):
        """One, wherever the program is then."""
        while True:
            if self.near_its_end():
                self.finish()
                self.start()
            size, named = self.choose(rng)
            result = self.ask_for(size, named)
            if result.status == 0:
                break
            if not self.came_too_late(result):
                raise Failed(f"{self.size} -> {size} {named}: {result}\n{self.report()}")
        self.count(size, len(named[1].split(",")) if named else 0)

    def count(self, size, leaving=0):
        """That resize, and the processes that were started for it."""
        if self.replaces:
            self.tools += size
        elif self.parks:
            self.tools += max(0, size - self.peak) if self.backend != "pool" else 0
        else:
            self.tools += max(0, size - (self.size - leaving))
        self.peak = max(self.peak, size)
        self.size = size
        self.resizes += 1

    def ask_for(self, size, named):
        """A job that hangs is looked at before it is ended."""
        try:
            return self.ctl("resize", str(size), "--wait", *named, limit=60)
        except job.TimeLimit as limit:
            text = json.dumps(self.status())
            raise Failed(f"{self.size} -> {size} {named}: {limit}--- status\n{text}\n{self.report()}") from None

    def came_too_late(self, result):
        """The program had left the phase by then: no failure, another run is asked."""
        late = ("has ended", "is ending", "no job is running")
        if self.program not in PHASE or not any(text in result.err for text in late):
            return False
        self.finish()
        self.start()
        return True

    def choose(self, rng):
        """Another size; at times ranks are named that leave, and others may join in the same adaptation."""
        if self.program == "cannon":
            return rng.choice([n * n for n in range(1, self.most) if n * n <= self.most and n * n != self.size]), []
        if self.size < 3 or rng.random() < 0.7:
            return rng.choice([n for n in range(1, self.most + 1) if n != self.size]), []
        leaving = rng.sample(range(1, self.size), rng.randint(1, self.size // 2))
        staying = self.size - len(leaving)
        # Those that park cannot join in the same adaptation: in the pool it is refused, else the job would have more
        # processes at times than ever before, which looks like growth.
        most = self.most - len(leaving) if self.parks else self.most
        return rng.randint(staying, max(staying, most)), ["--release-ranks", ",".join(map(str, leaving))]

    def finish(self):
        """A good end, and right numbers."""
        if self.program == "ledger":
            self.ctl("stop", "--wait")
        result = self.it.wait(120)
        if result.status != 0 or not self.is_right(result):
            raise Failed(f"{result}")
        end = time.monotonic() + 20
        while self.space.processes() and time.monotonic() < end:
            time.sleep(0.05)
        if self.space.processes():
            raise Failed(f"left at the end: {self.space.processes()}\n{result}")
        self.ended += 1

    def is_right(self, result):
        if self.program == "ledger":
            return "elements right" in result.out and f"{self.resizes} resizes" in result.out
        lines = [line for line in result.out.splitlines() if line.startswith("{")]
        return bool(lines) and RESIDUAL[self.program](json.loads(lines[-1])) and (
            json.loads(lines[-1])["resizes"] == self.resizes)

    def present(self):
        """Processes that run the program, or are about to go."""
        return sum(process["state"] != "hosting" for process in self.status()["processes"])

    def measure(self):
        """What may not grow, of rank 0 and of the job at the present size."""
        zero = self.status()["processes"][0]["pid"]
        return {"rss": resident_kb(zero), "fds": len(os.listdir(f"/proc/{zero}/fd")),
                "processes": len(self.space.processes())}


def slope(points):
    """Of the line through (x, y) with the least squares, and its standard error."""
    xs, ys = zip(*points)
    fit = statistics.linear_regression(xs, ys)
    mean, left = statistics.mean(xs), sum((y - fit.intercept - fit.slope * x) ** 2 for x, y in points)
    spread = sum((x - mean) ** 2 for x in xs)
    return fit.slope, (left / max(1, len(points) - 2) / spread) ** 0.5


def judge(measured, resizes):
    """The second half of the measurements, each at the same size."""
    half = measured[len(measured) // 2:]
    steep, error = slope([(m["tools"], m["rss"]) for m in half])
    limit = RSS_KB_PER_TOOL if resizes >= SHORT else RSS_KB_PER_TOOL_IN_SHORT
    tools, kb = half[-1]["tools"] - half[0]["tools"], half[-1]["rss"] - half[0]["rss"]
    print(f"  rss of rank 0: {half[0]['rss']} KiB in the middle, {half[-1]['rss']} at the end: "
          f"{kb / max(1, half[-1]['resizes'] - half[0]['resizes']):.1f} a resize, {tools} tools attached meanwhile, "
          f"{steep:.2f} +- {error:.2f} KiB each (limit {limit})")
    grown = ["rss"] if steep > limit else []
    for what, slack in (("fds", 2), ("processes", 1)):
        print(f"  {what}: {half[0][what]} in the middle, {half[-1][what]} at the end")
        if half[-1][what] > half[0][what] + slack:
            grown.append(what)
    if grown:
        raise Failed(f"grown: {', '.join(grown)}")


def settle(run):
    """To one rank, where nothing but the job itself is left; those that left may take a moment."""
    if run.size != 1:
        result = run.ctl("resize", "1", "--wait", limit=60)
        if result.status != 0:
            raise Failed(f"{run.size} -> 1: {result}\n{run.report()}")
        run.count(1)
    end = time.monotonic() + 20
    while not run.parks and run.present() > 1 and time.monotonic() < end:
        time.sleep(0.05)
    # epopctl, and a launcher that is just ending, may still be counted.
    samples = [run.measure() for _ in range(3)]
    return {what: min(sample[what] for sample in samples) for what in samples[0]}


def soak(directory, program, options, most):
    backend, resizes, seed, own = options.backend, options.resizes, options.seed, options.options.split()
    rng = random.Random(seed)
    space = job.Space(directory)
    begin, limit = time.monotonic(), 60 + SECONDS_PER_RESIZE * resizes
    measured = []
    every = max(1, resizes // MEASUREMENTS)
    print(f"{program}, {' '.join([backend, *own])}: {resizes} resizes between 1 and {most} ranks, seed {seed}",
          flush=True)
    try:
        run = Run(space, program, backend, own, most)
        for done in range(1, resizes + 1):
            run.resize(rng)
            if program == "ledger" and done % every == 0:
                measured.append(settle(run) | {"resizes": run.resizes, "tools": run.tools})
            if done % 50 == 0:
                print(f"  {done} resizes, {time.monotonic() - begin:.0f} s", flush=True)
            if time.monotonic() - begin > limit:
                raise Failed(f"{done} resizes took over {limit} s")
        run.finish()
        if measured:
            judge(measured, resizes)
        print(f"  {resizes} resizes in {time.monotonic() - begin:.0f} s, {run.ended} jobs", flush=True)
    finally:
        space.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resizes", type=int, default=1000)
    parser.add_argument("--most", type=int, help="ranks; 16, for the pool 3")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--backend", default="join", choices=["join", "pool", "spawn"])
    parser.add_argument("--options", default="", metavar="OPTIONS", help="of epop: --leave park, or those of the backend spawn")
    parser.add_argument("--program", choices=sorted(PROGRAMS))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # ends its jobs too
    most = options.most or (3 if options.backend == "pool" else 16)
    for program in [options.program] if options.program else ("ledger", "gauss"):
        with tempfile.TemporaryDirectory(prefix="epop-soak-") as directory:
            try:
                soak(directory, program, options, most)
            except (Failed, AssertionError) as failure:
                print(f"FAILED, seed {options.seed}: {failure}", flush=True)
                return 1
    print("all right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
