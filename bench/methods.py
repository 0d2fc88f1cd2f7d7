"""Ways of changing the number of ranks, compared in one run: join and pool, and MPI_Comm_spawn in its alternatives, eight
to expand and six to shrink.

The stall is the longest that a staying rank stands still, from its hold at the target until it goes on. Under baseline no
rank stays: there it is the time from the hold of the first old rank until the first new one goes on. Either is a time in
which the program does not compute.

Every round starts a job of each method in turn, lets it grow in steps and shrink back, so that all of them meet the
machine in the same moods. The ranks of the job sleep for most of an iteration of 1 ms: there are more of them than
processors, and what is measured is the resize, not the wait for a processor.
"""
import os
import pathlib
import statistics
import subprocess
import time

from jobs import Job

MERGE = ("--backend", "spawn")
BASELINE = (*MERGE, "--spawn-method", "baseline")
SINGLE, ASYNC = ("--spawn-strategy", "single"), ("--spawn-async",)


def alternatives(name, method):
    return {f"{name} plain": method, f"{name} single": method + SINGLE, f"{name} plain async": method + ASYNC,
            f"{name} single async": method + SINGLE + ASYNC}


METHODS = {
    "join": ("--backend", "join"),
    "join at the gate": ("--backend", "join", "--no-ahead"),
    "pool": ("--backend", "pool", "--start"),
    **alternatives("merge", MERGE),
    **alternatives("baseline", BASELINE),
}
# Where nothing is spawned it makes no difference who would have done it.
SAME_IN_A_SHRINK = ("merge single", "merge single async")
REFERENCE = "merge plain"
PROGRAM = ("iterations=1000000000", "work=1000", "elements=1000")
# Ranks that do not talk to each other drift apart by some iterations, and a resize waits for the last one. Those of most
# programs cannot.
MEETING, MEET = ("iterations=1000000000", "work=4000", "elements=1000", "meet=1"), ("join", "pool", REFERENCE)


class MethodJob(Job):
    """A job of `path[0]` ranks that will have the other sizes of the path."""

    def __init__(self, build, mpiexec, method, path, program=(), arguments=PROGRAM):
        options, ranks = METHODS[method], path[0]
        if method == "pool":
            options, ranks = (*options, path[0]), max(path)
        super().__init__(build, [mpiexec, "-n", ranks, build / "bin/epop", *options,
                                 *(program or (build / "lib/epop/programs/ledger.so", *arguments))])

    def resident(self):
        """How many processes of epop there are; those that are about to end are given a second for it."""
        expected = len(self.status()["processes"])
        deadline = time.monotonic() + 1
        while True:
            found = sum(map(self._is_ours, pathlib.Path("/proc").iterdir()))
            if found == expected or time.monotonic() > deadline:
                return found

    def _is_ours(self, entry):
        try:
            return ((entry / "comm").read_text() == "epop\n" and (entry / "stat").read_text().split()[2] != "Z"
                    and f"EPOP_RUNTIME_DIR={self.directory.name}".encode() in (entry / "environ").read_bytes())
        except OSError:
            return False

    def measure(self, size):
        stall, total = self.resize(size)
        return {"stall": stall, "total": total, "resident": self.resident()}


def one_round(build, mpiexec, method, path, found, arguments=PROGRAM):
    job = MethodJob(build, mpiexec, method, path, arguments=arguments)
    try:
        for old, new in zip(path, path[1:]):
            result = job.measure(new)
            if new > old or method not in SAME_IN_A_SHRINK:
                found.setdefault((old, new), {}).setdefault(method, []).append(result)
    finally:
        job.end()


# What differs between MPI libraries: with few ranks, as those that wait spin with most.
LIBRARIES = ("join", "pool", REFERENCE, "baseline plain")


def works(build, mpiexec, method=REFERENCE):
    """Can this MPI do that? For the default it has to spawn and connect."""
    options = METHODS[method] if method != "pool" else METHODS["pool"][:-1]
    done = subprocess.run([str(mpiexec), "-n", "1", str(build / "bin/epop"), *options,
                           str(build / "lib/epop/programs/rigid.so")], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, check=False)
    return done.returncode == 0


def can_grow(build, mpiexec):
    """The same, and if not a line says what could."""
    able = works(build, mpiexec)
    if not able:
        print("   needs an MPI that can spawn and connect: make DEVICE=ch3:sock bench")
    return able


def middle(results, key):
    return statistics.median(result[key] for result in results)


def table(name, found):
    """One result per change and method, to print and to keep."""
    for (old, new), methods in sorted(found.items(), key=lambda item: (item[0][0] > item[0][1], item[0])):
        reference = middle(methods[REFERENCE], "stall") if REFERENCE in methods else None
        for method, results in methods.items():
            stall = middle(results, "stall")
            yield {"bench": name, "change": f"{old}->{new}", "method": method, "stall_ms": stall * 1e3,
                   "stall_over_merge_plain": reference and stall / reference,
                   "request_to_commit_ms": middle(results, "total") * 1e3,
                   "resident": int(middle(results, "resident")), "rounds": len(results),
                   "ranks_per_core": max(old, new) / os.cpu_count()}


def bench(build, mpiexec, quick, note):
    if not can_grow(build, mpiexec):
        return
    sizes, found = (2, 4, 8, 16) if quick else (2, 4, 8, 16, 32), {}
    for _ in range(3 if quick else 11):
        for method in METHODS:
            one_round(build, mpiexec, method, (*sizes, *reversed(sizes[:-1])), found)
    for line in table("methods", found):
        note(**line)


def bench_meeting(build, mpiexec, quick, note):
    """Those of a program whose ranks meet in every iteration."""
    if not can_grow(build, mpiexec):
        return
    found = {}
    for _ in range(3 if quick else 11):
        for method in MEET:
            one_round(build, mpiexec, method, (2, 4, 8, 16, 8, 4, 2), found, MEETING)
    for line in table("meeting", found):
        note(**line)


def bench_libraries(build, mpiexec, quick, note):
    """Those that this MPI can."""
    able, found = [method for method in LIBRARIES if works(build, mpiexec, method)], {}
    for _ in range(3 if quick else 7):
        for method in able:
            one_round(build, mpiexec, method, (1, 2, 4, 2, 1), found)
    for line in table("libraries", found):
        note(**line)
