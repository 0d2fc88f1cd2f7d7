"""A soak without faults: nothing may grow."""

import random
import statistics
import time

import job
from soaking.run import Failed, Run

SECONDS_PER_RESIZE = 10
GONE = {"fds": 2, "processes": 1}  # what goes with processes that leave, and how many more there may be at the end
MEASUREMENTS = 40
# What rank 0's process may keep of a process or client that has attached, in KiB. In a short soak the heap is
# still filling its holes: there the slope is printed, and judged only where it would be seen in any run.
RSS_KB_PER_TOOL, RSS_KB_PER_TOOL_IN_SHORT, SHORT = 2, 30, 400


def slope(points):
    """Of the line through (x, y) with the least squares, and its standard error."""
    xs, ys = zip(*points)
    fit = statistics.linear_regression(xs, ys)
    mean, left = statistics.mean(xs), sum((y - fit.intercept - fit.slope * x) ** 2 for x, y in points)
    spread = sum((x - mean) ** 2 for x in xs)
    return fit.slope, (left / max(1, len(points) - 2) / spread) ** 0.5


def judge(measured, resizes, kept):
    """The second half of the measurements, each at the same size. kept: KiB of each process by MPI itself."""
    half = measured[len(measured) // 2:]
    steep, error = slope([(m["tools"], m["rss"]) for m in half])
    limit = kept + (RSS_KB_PER_TOOL if resizes >= SHORT else RSS_KB_PER_TOOL_IN_SHORT)
    tools, kb = half[-1]["tools"] - half[0]["tools"], half[-1]["rss"] - half[0]["rss"]
    print(f"  rss of rank 0: {half[0]['rss']} KiB in the middle, {half[-1]['rss']} at the end: "
          f"{kb / max(1, half[-1]['resizes'] - half[0]['resizes']):.1f} a resize, {tools} tools attached meanwhile, "
          f"{steep:.2f} +- {error:.2f} KiB each (limit {limit})")
    grown = ["rss"] if steep > limit else []
    for what, slack in GONE.items():
        print(f"  {what}: {half[0][what]} in the middle, {half[-1][what]} at the end")
        if half[-1][what] > half[0][what] + slack:
            grown.append(what)
    if grown:
        raise Failed(f"grown: {', '.join(grown)}")


def bring_to(run, size):
    if run.size != size:
        result = run.ctl("resize", str(size), "--wait", limit=60)
        if result.status != 0:
            raise Failed(f"{run.size} -> {size}: {result}\n{run.report()}")
        run.count(size)


def least(run):
    """epopctl may still be counted."""
    samples = [run.measure() for _ in range(3)]
    return {what: min(sample[what] for sample in samples) for what in samples[0]}


def settle(run, measured):
    """At one rank, where nothing but the job itself is left. Those that left, and their launcher, may take a moment: no longer
    than until there is as little as at any time before."""
    bring_to(run, 1)
    end = time.monotonic() + 20
    while True:
        sample = least(run)
        more = [what for what, slack in GONE.items() if any(sample[what] > before[what] + slack for before in measured)]
        if run.parks or (run.present() <= 1 and not more) or time.monotonic() > end:
            return sample
        time.sleep(0.05)


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
        if run.parks and program == "ledger":
            bring_to(run, most)  # all processes that it will ever have are there before something is measured
        for done in range(1, resizes + 1):
            run.resize(rng)
            if program == "ledger" and done % every == 0:
                measured.append(settle(run, measured) | {"resizes": run.resizes, "tools": run.tools})
            if done % 50 == 0:
                print(f"  {done} resizes, {time.monotonic() - begin:.0f} s", flush=True)
            if time.monotonic() - begin > limit:
                raise Failed(f"{done} resizes took over {limit} s")
        run.finish()
        if measured:
            judge(measured, resizes, 0 if backend == "pool" else space.kept())
        print(f"  {resizes} resizes in {time.monotonic() - begin:.0f} s, {run.ended} jobs", flush=True)
    finally:
        space.close()
