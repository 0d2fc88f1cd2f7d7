"""Constant data that moves ahead of the window: how long a resize stops a program, by the part of its data that is
constant, beside the same with everything in the window and beside none; and how much longer its iterations take while
data moves.

Each round starts a job of each kind in turn, so that all of them meet the machine in the same moods. The ranks compute
all the time, and add up a number in each iteration. The iterations before the request are what the others are compared
with; the cost of starting processes is not in it, as it is the same without data.
"""
import array
import mmap
import os
import pathlib
import statistics
import time

from jobs import Job

WAYS = {"ahead": (), "window": ("--no-ahead-data",)}
SIZES = (2, 4, 2)
NONE = "none", 0, 0, "vectors"


def iterations(path):
    """(when, how long) of each."""
    numbers = array.array("d", pathlib.Path(path).read_bytes())
    return list(zip(numbers[::2], numbers[1::2]))


def mean_between(times, begin, end):
    """Of the iterations that lie in between; None: there is none."""
    found = [took for when, took in times if when >= begin and when + took <= end]
    return statistics.mean(found) if found else None


def warm(mib):
    """Has memory for that much at hand: a virtual machine may have given what was free for seconds back to its host."""
    if mib:
        with mmap.mmap(-1, mib * 2**20) as memory:
            memory.write(b"1" * len(memory))


def one_job(build, mpiexec, options, mib, percent, data, steps):
    """For each change: its stall, the seconds that data moved ahead, and how much longer iterations took meanwhile."""
    file = build / f"bench/ahead-{os.getpid()}"
    job = Job(build, [mpiexec, "-n", SIZES[0], build / "bin/epop", *options, build / "bench/constants.so", mib,
                      percent, steps, file, data])
    try:
        waits = []
        for size in SIZES[1:]:
            warm(4 * mib)
            time.sleep(0.3)
            waits.append(time.time())
            job.resize(size)
        time.sleep(0.3)
        adaptations = job.status()["adaptations"]
    finally:
        job.end()
    times, found = iterations(file), []
    file.unlink()
    for asked, done in zip(waits, adaptations):
        at = done["times"]
        before = mean_between(times, asked - 0.3, asked)
        moving = mean_between(times, at["ahead"], at["prepared"]) if "ahead" in at else None
        found.append({"stall": done["stall"], "moved": at["prepared"] - at["ahead"] if "ahead" in at else 0,
                      "slower": moving / before if moving and before else None,
                      "bytes": done["bytes"], "ahead": done.get("ahead", 0)})
    return found


def kinds(quick):
    """(way, MiB, percent that is constant, what that is)"""
    yield NONE
    for percent in (90,) if quick else (0, 50, 90, 100):
        yield from ((way, 64, percent, "vectors") for way in WAYS)
    yield from ((way, 64, 90, "rows") for way in WAYS)


def middle(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def stall_of(found, change, *kind):
    return middle(result["stall"] for result in found[change, kind])


def least(found, change, mib, percent, data):
    """Over the stall with all in the window: that without data, and the part of what data adds that changes."""
    none, all_of_it = stall_of(found, change, *NONE), stall_of(found, change, "window", mib, percent, data)
    return (none + (1 - percent / 100) * (all_of_it - none)) / all_of_it


def collect(build, mpiexec, rounds, rate, those):
    """Of each change and kind, the results of so many rounds. rate: steps of work in a microsecond."""
    found = {}
    for turn in range(rounds):
        for kind in those[:: -1 if turn % 2 else 1]:  # who comes first meets a machine that has rested
            way, *what = kind
            for change, result in zip(("2->4", "4->2"), one_job(build, mpiexec, WAYS.get(way, ()), *what, int(2000 * rate))):
                found.setdefault((change, kind), []).append(result)
    return found


def summarize(found, note):
    for (change, (way, mib, percent, data)), results in found.items():
        beside = found.get((change, ("window", mib or 64, percent, data)), results)
        line = {"stall_ms": stall_of(found, change, way, mib, percent, data) * 1e3,
                "over_window": middle(a["stall"] / b["stall"] for a, b in zip(results, beside)),
                "over_none": middle(a["stall"] / b["stall"] for a, b in zip(results, found[change, NONE])),
                "ahead_ms": middle(result["moved"] for result in results) * 1e3}
        if way == "ahead":
            line["least_over_window"] = least(found, change, mib, percent, data)
        slower = middle(result["slower"] for result in results)
        if slower:
            line["iterations_over_before"] = slower
        note(bench="ahead", change=change, way=way, mib=mib, constant=percent, data=data, **line, rounds=len(results))


def bench(build, mpiexec, quick, note, rate):
    summarize(collect(build, mpiexec, 4 if quick else 8, rate, list(kinds(quick))), note)
