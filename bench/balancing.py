"""A program whose load wanders, that balances itself and that does not, beside the same elements at an even cost.

The ranks sleep for what their elements cost, so that two cores do for four of them, and other work on the machine disturbs
little, and say what the busiest one's have cost over the mean, which no other work disturbs. Each round runs all kinds in
turn. A quarter of the elements costs ten times as much as the others, and goes on all the time, so that what was even does
not stay so. The first seconds, in which the first blocks become right, are told by themselves.
"""
import json
import pathlib
import statistics
import subprocess
import tempfile

RANKS, ELEMENTS, NANOSECONDS, BYTES = 4, 1200, 40000, 8192
WANDERS, FIRST, SECONDS = 2, 15, 20  # elements in a second; seconds that do not count, and that do
WAYS = {"even": (), "none": (), "1.2": ("--balance", "1.2"), "1.1": ("--balance", "1.1")}


def one_run(build, mpiexec, way, first, seconds):
    """How long an iteration took, and the stalls of its balances."""
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "profile.json"
        command = [mpiexec, "-n", RANKS, build / "bin/epop", "--driver", "profile", "--output", file, *WAYS[way],
                   build / "bench/wandering.so", "even" if way == "even" else "uneven", ELEMENTS, NANOSECONDS, BYTES,
                   WANDERS, first, seconds]
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=5 * (first + seconds) + 60, check=True, stdin=subprocess.DEVNULL)
        told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
        stalls = [one["stall"] for one in json.loads(file.read_text())["adaptations"] if one["state"] == "committed"]
    return {"iteration": told["seconds"] / told["iterations"], "imbalance": told["imbalance"],
            "with_first": told["with_first"], "stalls": stalls}


def bench(build, mpiexec, quick, note):
    seconds = (4, 4) if quick else (FIRST, SECONDS)
    rounds = [{way: one_run(build, mpiexec, way, *seconds) for way in WAYS} for _ in range(1 if quick else 2)]
    for way in WAYS:
        runs = [one[way] for one in rounds]
        line = {"iteration_ms": statistics.median(run["iteration"] for run in runs) * 1e3,
                "imbalance": statistics.median(run["imbalance"] for run in runs),
                "with_first": statistics.median(run["with_first"] for run in runs),
                "over_even": statistics.median(one[way]["iteration"] / one["even"]["iteration"] for one in rounds),
                "balances": statistics.median(len(run["stalls"]) for run in runs)}
        stalls = [stall for run in runs for stall in run["stalls"]]
        if stalls:
            line.update(stall_ms=statistics.median(stalls) * 1e3, longest_ms=max(stalls) * 1e3)
        note(bench="balance", way=way, ranks=RANKS, wanders=WANDERS, **line, rounds=len(runs))
