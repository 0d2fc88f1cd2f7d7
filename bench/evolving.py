"""examples/amr, which asks for ranks as its mesh grows, beside the same solver on each fixed number of ranks.

There are fewer cores than ranks here, so that wall time says nothing. What counts is CPU time: a step is taken to last as long as
its slowest rank computes, and each rank is paid for so long. Messages cost nothing by that.
"""
import csv
import json
import pathlib
import subprocess
import tempfile

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9)
BLOCKS = 160  # for a rank at most


def arguments(quick):
    steps = 640 if quick else 5120
    return ["--levels", 5 if quick else 6, "--steps", steps, "--period", steps]


def measured(command, log):
    """What one run prints, and its steps."""
    log.unlink(missing_ok=True)
    result = subprocess.run([str(word) for word in [*command, "--log", log]], capture_output=True, text=True, check=True, timeout=300)
    with open(log, encoding="utf-8") as file:
        return json.loads(result.stdout), [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file, delimiter="\t")]


def figures(steps):
    return {"seconds": sum(step["slowest"] for step in steps),
            "rank_seconds": sum(step["slowest"] * step["ranks"] for step in steps),
            "busy_seconds": sum(step["mean"] * step["ranks"] for step in steps),
            "rank_steps": int(sum(step["ranks"] for step in steps)),
            "fullest": max(step["blocks"] / step["ranks"] for step in steps[len(steps) // 10:]),
            "most_ranks": int(max(step["ranks"] for step in steps))}


def bench(build, mpiexec, quick, note):
    with tempfile.TemporaryDirectory() as folder:
        log, options = pathlib.Path(folder) / "log", arguments(quick)
        ends = set()
        for size in SIZES[:2] if quick else SIZES:
            said, steps = measured([mpiexec, "-n", size, build / "plain/amr_rigid", *options], log)
            ends.add(said["checksum"])
            note(bench="amr", ranks=size, resizes=0, **figures(steps))
        said, steps = measured([mpiexec, "-n", 1, build / "bin/epop", "--quiet", "amr", *options, "--blocks", BLOCKS], log)
        ends.add(said["checksum"])
        assert len(ends) == 1, "the result depends on the ranks"
        note(bench="amr", ranks=0, resizes=said["resizes"], **figures(steps))
