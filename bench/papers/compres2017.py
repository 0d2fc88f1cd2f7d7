"""I. A. Comprés Ureña: Resource-elasticity support for distributed memory HPC applications (dissertation, TU München 2017).

This module has its calls (chapter 12), the detection of loops (13) and the sweeps of two programs (2.2, 10.3, 14.1, 14.2); what its
scheduler does is in compres2017_schedules. Its figures have no numbers but those that the text names.
"""
import json
import os
import statistics
import subprocess
import tempfile

import methods
from jobs import printed
from papers import Chart, Claim, Finding, Item, Paper, Unable, column, compres2017_schedules, grows, of, share, value
from tables import number, ratio, time

CORES = os.cpu_count()


def needs_join(here):
    if not methods.works(here.build, here.mpiexec):
        raise Unable("needs an MPI that can start processes: make DEVICE=ch3:sock papers")


def medians(rows, *keys):
    """Of rows that have the same values of these keys: the medians of all other numbers."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    for those in found.values():
        yield {**those[0], **{key: statistics.median(row[key] for row in those) for key, value in those[0].items()
                              if key not in keys and isinstance(value, float)}}


def seconds(value_of):
    return time(None if value_of is None else 1e9 * value_of)


# ---- Chapter 12: the calls ----

SIZES = (1, 2, 4, 8, 16)


def calls(here):
    """Each number of ranks doubled, and halved again, each in a run of its own, and MPI_Init alone."""
    needs_join(here)
    rows = []
    for _ in range(here.rounds(10)):
        for size in SIZES[:2] if here.quick else SIZES:
            for start, goal in ((size, 2 * size), (2 * size, size), (size, "plain")):
                rows += printed(here.mpiexec, start, here.build / "bench/calls", goal)
    return medians(rows, "call", "part", "from", "to")


def latency(rows, call, part, up=True):
    """{ranks: mean seconds}; of those that are new their number, else that before and behind a change together is doubled."""
    return {row["from"]: row["mean"] for row in of(rows, call=call, part=part) if part == "new" or (row["to"] > row["from"]) == up}


def calls_table(*columns):
    """(head, call, part, whether ranks are added)"""
    def made(theirs, ours):
        found = [latency(ours, call, part, up) for _, call, part, up in columns]
        sizes = sorted({size for each in found for size in each})
        return ["ranks", *(head for head, *_ in columns)], [[size, *(seconds(each.get(size)) for each in found)] for size in sizes]

    return made


def calls_chart(*columns):
    def made(theirs, ours):
        series = {head: sorted(latency(ours, call, part, up).items()) for head, call, part, up in columns}
        return [Chart("lines", "ranks", "time of a call", unit="s", log="xy", panels={"here": series})] if ours else []

    return made


def grows_with_ranks(call, part):
    def check(rows):
        found = sorted(latency(rows, call, part).items())
        return Finding(grows(found), f"{seconds(found[0][1])} to {seconds(found[-1][1])}") if len(found) > 1 else None

    return check


def less(one, other, factor=1.0):
    """One call of some ranks takes less than so much of another one; the medians of all sizes."""
    def check(rows):
        first, second = latency(rows, *one), latency(rows, *other)
        found = [first[size] / second[size] for size in first if size in second]
        middle = statistics.median(found)
        return Finding(middle < factor, f"{ratio(middle)} of it")

    return check


INIT, PROBE, TRUE, BEGIN, COMMIT = "MPI_Init_adapt", "MPI_Probe_adapt", "MPI_Probe_adapt, true", "MPI_Comm_adapt_begin", "MPI_Comm_adapt_commit"
COLUMNS = {
    "12.1": (("new", INIT, "new", True), ("joining", INIT, "joining", True), ("MPI_Init", "MPI_Init", "new", True)),
    "12.2": (("nothing pending", PROBE, "staying", True), ("joining: staying", TRUE, "staying", True), ("leaving: staying", TRUE, "staying", False), ("leaving", TRUE, "leaving", False)),
    "12.3": (("staying", BEGIN, "staying", True), ("joining", BEGIN, "joining", True), ("leaving: staying", BEGIN, "staying", False), ("leaving", BEGIN, "leaving", False)),
    "12.4": (("staying", COMMIT, "staying", True), ("joining", COMMIT, "joining", True), ("leaving: staying", COMMIT, "staying", False)),
}


def call_item(figure, title, text, claims):
    columns = COLUMNS[figure]
    return Item(f"figure{figure}", f"Figure {figure}", title, f"{text} Means of the ranks of a kind, medians of ten runs.", ("calls",), calls_table(*columns), claims, calls_chart(*columns))


CALLS = [
    call_item("12.1", "MPI_Init_adapt", "In processes that are launched, and in those that join as many others.",
              (Claim("it takes as long as MPI_Init, within a quarter", less((INIT, "new"), ("MPI_Init", "new"), 1.25), said=True),
               Claim("it takes longer with more ranks", grows_with_ranks(INIT, "new"), said=True),
               Claim("in joining processes, too", grows_with_ranks(INIT, "joining"), said=True))),
    call_item("12.2", "MPI_Probe_adapt", "When nothing is pending, and the one that says that there is a change to twice as many ranks, or to half.",
              (Claim("it is the fastest call when nothing is pending", less((PROBE, "staying"), (COMMIT, "staying"), 1), said=True),
               Claim("that which says so is much slower", less((PROBE, "staying"), (TRUE, "staying"), 0.1), said=True))),
    call_item("12.3", "MPI_Comm_adapt_begin", "From a number of ranks to its double, and back.",
              (Claim("it takes staying ranks far less than the new ones initialize", less((BEGIN, "staying"), (INIT, "joining"), 0.5), said=True),
               Claim("it takes longer with more ranks", grows_with_ranks(BEGIN, "staying"), said=True,
                     why="the ranks are connected before the window, so begin has nothing to do in those that stay."))),
    call_item("12.4", "MPI_Comm_adapt_commit", "The same changes.",
              (Claim("it is faster than begin", less((COMMIT, "staying"), (BEGIN, "staying")), said=True,
                     why="begin has nothing to do in ranks that stay, and commit is where they wait for each other."),
               Claim("it takes less than a hundredth of the initialization", less((COMMIT, "staying"), (INIT, "joining"), 0.01), said="very fast"))),
]

# ---- Chapter 13: finding loops ----

TOLD = [{"item": "sites", "ranks": 2, "operation": operation, "nodes": nodes, "seconds": took} for operation, nodes, took in (
    ("insert", 8, 700e-9), ("insert", 128, 2e-6), ("insert", 1024, 10e-6), ("reduce", 8, 5e-6), ("reduce", 1024, 500e-6))]
OPERATIONS = {"insert": "detect_ns", "verify": "verify_ns", "reduce": "compare_ns"}


def sites(here):
    """A new call, a known one, and comparing a loop, by the size of the graph and the number of ranks."""
    for ranks in (2, 4) if here.quick else (2, 4, 8, 16):
        for row in printed(here.mpiexec, ranks, here.build / "bench/loops", "sites", 3 if here.quick else 100):
            for operation, key in OPERATIONS.items():
                yield {"ranks": ranks, "operation": operation, "nodes": row["nodes"], "seconds": row[key] / 1e9}


def gathering(here):
    """What a measurement of all members costs process 0, which puts their loops together."""
    for members in (64, 128) if here.quick else (64, 128, 256, 512, 1024):
        with tempfile.TemporaryDirectory() as directory:
            environment = dict(os.environ, EPOP_RUNTIME_DIR=directory, EPOP_CONTROL_ADDRESS="127.0.0.1")
            done = subprocess.run([here.build / "bench/scale", str(members)], stdout=subprocess.PIPE, text=True, timeout=600, check=True, env=environment)
        yield {"members": members, "seconds": json.loads(done.stdout)["measure_cpu_ms"] / 1e3}


def mpi_calls(here):
    """Calls in a loop of 32 sites: not measured, measured and followed."""
    for ranks, rounds in ((2, here.rounds(100, 2)), (4, here.rounds(10, 1))):
        for row in printed(here.mpiexec, ranks, here.build / "bench/loops", "calls", rounds, limit=1800):
            if row["bytes"]:
                yield {"ranks": ranks, "call": row["call"], "bytes": row["bytes"], **{key: row[f"{key}_ns"] / 1e9 for key in ("off", "on", "followed")}}


def of_operation(rows, operation, ranks=2):
    return {row["nodes"]: row["seconds"] for row in of(rows, operation=operation, ranks=ranks)}


def sites_table(theirs, ours):
    columns = [of_operation(theirs, "insert"), of_operation(ours, "insert"), of_operation(ours, "verify"), of_operation(theirs, "reduce"), of_operation(ours, "reduce")]
    nodes = sorted({each for found in columns for each in found})
    return ["sites", "insertion, paper", "here", "known call, here", "reduction, paper", "comparison, here"], [
        [each, *(seconds(found.get(each)) for found in columns)] for each in nodes]


def sites_chart(theirs, ours):
    def series(rows):
        return {operation: sorted(of_operation(rows, operation).items()) for operation in OPERATIONS if of_operation(rows, operation)}

    panels = {title: series(rows) for title, rows in (("in the paper", theirs), ("here", ours)) if rows}
    return [Chart("lines", "sites of the loop", "time", unit="s", log="xy", panels=panels)]


def grows_with_sites(operation, factor):
    """From the smallest graph to the largest: by so much at least."""
    def check(rows):
        found = of_operation(rows, operation)
        if len(found) < 2:
            return None
        more = found[max(found)] / found[min(found)]
        return Finding(more >= factor, f"{ratio(more)} times from {min(found)} to {max(found)}")

    return check


def verification_is_cheaper(rows):
    insert, verify = of_operation(rows, "insert"), of_operation(rows, "verify")
    return share(verify[nodes] < insert[nodes] for nodes in verify if nodes in insert) if verify else None


def at_most(operation, limit):
    def check(rows):
        found = of_operation(rows, operation)
        return Finding(max(found.values()) <= limit, f"{seconds(max(found.values()))} at most")

    return check


LARGE = (256, 512, 1024)


def ranks_table(theirs, ours):
    those = of(ours, item="sites")
    sizes = column(those, "ranks")
    rows = [[operation, nodes, *(seconds(of_operation(those, operation, ranks).get(nodes)) for ranks in sizes)] for operation in OPERATIONS for nodes in LARGE]
    gathered = of(ours, item="gathering")
    rows += [["gathering all", f"{row['members']} members", seconds(row["seconds"])] + [""] * (len(sizes) - 1) for row in gathered]
    return ["operation", "sites", *(f"{ranks} ranks" for ranks in sizes or [2])], rows if ours else []


def ranks_chart(theirs, ours):
    those = of(ours, item="sites")
    series = {f"{operation}, {nodes} sites": [(row["ranks"], row["seconds"]) for row in of(those, operation=operation, nodes=nodes)] for operation in ("insert", "reduce") for nodes in LARGE}
    gathered = {"gathering": [(row["members"], row["seconds"]) for row in of(ours, item="gathering")]}
    return [Chart("lines", "ranks", "time", unit="s", log="xy", panels={"here": series}), Chart("lines", "members", "time", unit="s", log="xy", panels={"here": gathered})] if ours else []


def flat_in_ranks(operation):
    """Up to one rank for each core, where none takes the time of another; and beyond, where the fastest round is undisturbed."""
    def check(rows):
        those = of(rows, item="sites", operation=operation, nodes=LARGE[-1])
        found = [row["seconds"] for row in those]
        return Finding(max(found) < 2 * min(found), f"at most {ratio(max(found) / min(found))} times as long") if len(found) > 1 else None

    return check


def gathering_grows(rows):
    found = [(row["members"], row["seconds"]) for row in of(rows, item="gathering")]
    return Finding(grows(found), f"{seconds(found[0][1])} to {seconds(found[-1][1])}") if len(found) > 1 else None


def mpi_table(theirs, ours):
    rows = []
    for ranks, call, size in column(ours, "ranks", "call", "bytes"):
        row = of(ours, ranks=ranks, call=call, bytes=size)[0]
        rows.append([ranks, call, size, seconds(row["off"]), seconds(row["on"]), seconds(row["followed"]), ratio(row["followed"] / row["off"])])
    return ["ranks", "call", "bytes", "not measured", "measured", "and followed", "ratio"], rows


def mpi_chart(theirs, ours):
    panels = {f"{call}, {ranks} ranks": {name: [(row["bytes"], row[key]) for row in of(ours, call=call, ranks=ranks)] for key, name in (("off", "not measured"), ("followed", "followed"))}
              for ranks, call in column(ours, "ranks", "call")}
    return [Chart("lines", "bytes", "time of a call", unit="s", log="xy", panels=panels)] if ours else []


def extra(rows, large):
    return [row["followed"] / row["off"] for row in rows if (row["bytes"] > 4096) == large and row["ranks"] == 2]


def little_when_large(rows):
    found = statistics.median(extra(rows, True))
    return Finding(found < 1.1, f"{ratio(found)} times in the median")


def more_when_small(rows):
    small, large = statistics.median(extra(rows, False)), statistics.median(extra(rows, True))
    return Finding(small > large, f"{ratio(small)} and {ratio(large)} times")


LOOPS = [
    Item("figure13.2", "Figure 13.2", "Finding loops, by the size of the graph", "An insertion is a call that is followed for the first time; a reduction compares the loops of ranks.",
         ("sites",), sites_table,
         (Claim("an insertion takes longer in larger graphs", grows_with_sites("insert", 2), why="a call is found by its address in a table, in a number of steps that does not depend on others."),
          Claim("it takes 10 us at most", at_most("insert", 10.5e-6)),
          Claim("a reduction takes much longer in larger graphs", grows_with_sites("reduce", 5)),
          Claim("a known call costs less than a new one", verification_is_cheaper, said=True)), sites_chart, TOLD),
    Item("figure13.3", "Figure 13.3", "Finding loops, by the number of processes", "Large graphs. What each rank does by itself, and what process 0 needs to measure all members of a job.",
         ("sites", "gathering"), ranks_table,
         (Claim("an insertion does not depend on the processes", flat_in_ranks("insert"), said=True),
          Claim("what takes all of them together takes longer with more", gathering_grows, said=True)), ranks_chart),
    Item("figure13.4", "Figure 13.4", "What following costs MPI calls", "In a loop of 32 sites; 4 ranks share two cores.", ("mpi_calls",), mpi_table,
         (Claim("calls of more than 4096 bytes take hardly longer, by less than a tenth", little_when_large, said=True),
          Claim("small ones are affected more", more_when_small, said=True)), mpi_chart),
]

# ---- Sweeps: orders and ranks ----

PROGRAMS = {"cannon": ((256, 512, 1024, 2048), (1, 4, 9, 16)), "gauss": ((256, 512, 1024, 2048), (1, 2, 4, 8, 16))}


def one_sweep(here, program, order, ranks, file):
    """Of the phase that computes: seconds of a rank and of one multiplication or elimination."""
    repeats = ("--repeat", 1 if here.quick else 5) if program == "cannon" else ()
    subprocess.run([here.mpiexec, "-n", str(ranks), here.build / "bin/epop", "--quiet", "--driver", "profile", "--output", file,
                    here.build / f"lib/epop/examples/{program}.so", "--random", str(order), *map(str, repeats), "--json"],
                   check=True, timeout=600, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with open(file, encoding="utf-8") as text:
        elements = json.load(text)["elements"]
    world = next(world for element in elements if element["type"] == "EP" for world in element["worlds"])
    loop, mpi = (world[key]["mean"] / world["visits"] for key in ("loop_time", "mpi_time"))
    return {"compute": loop - mpi, "mpi": mpi, "total": loop}


def sweep(program):
    def measure(here):
        orders, sizes = PROGRAMS[program]
        with tempfile.TemporaryDirectory(prefix="epop-papers-") as directory:
            for order in orders[:2] if here.quick else orders:
                for ranks in sizes[:2] if here.quick else sizes:
                    runs = [one_sweep(here, program, order, ranks, os.path.join(directory, "profile.json")) for _ in range(here.rounds(5))]
                    took = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
                    yield {"order": order, "ranks": ranks, **took, "mtct": took["mpi"] / took["compute"],
                           "efficiency": order * order / took["total"] / min(ranks, CORES)}

    return measure


def sweep_table(theirs, ours):
    """An order each, with the efficiency over its best one."""
    rows = []
    for row in ours:
        best = max(each["efficiency"] for each in of(ours, order=row["order"]))
        rows.append([row["order"], row["ranks"], seconds(row["compute"]), seconds(row["mpi"]), ratio(row["mtct"]), f"{number(row['efficiency'])}", ratio(row["efficiency"] / best)])
    return ["order", "ranks", "compute", "MPI", "MTCT", "elements / s / core", "over the best"], rows


def sweep_chart(theirs, ours):
    def panel(key):
        return {f"order {order}": [(row["ranks"], row[key]) for row in of(ours, order=order)] for order in column(ours, "order")}

    kinds = (("compute", "time", "s"), ("mpi", "MPI time", "s"), ("total", "time in all", "s"), ("efficiency", "elements / s / core", ""), ("mtct", "MTCT", ""))
    return [Chart("lines", "ranks", name, unit=unit, log="xy", panels={"here": panel(key)}) for key, name, unit in kinds] if ours else []


def series_of(rows, key):
    return {order: [(row["ranks"], row[key]) for row in of(rows, order=order)] for order in column(rows, "order")}


def compute_falls(rows):
    return share(each[-1][1] < each[0][1] for each in series_of(rows, "compute").values())


def mtct_grows(rows):
    return share(grows(each, 0.8) for each in series_of(rows, "mtct").values())


def is_efficient(row, rows):
    return row["efficiency"] >= 0.7 * max(each["efficiency"] for each in of(rows, order=row["order"]))


def efficient_below(rows):
    return share(is_efficient(row, rows) for row in rows if row["mtct"] < 0.1)


def inefficient_above(rows):
    return share(not is_efficient(row, rows) for row in rows if row["mtct"] > 1)


def larger_scale_further(rows):
    """The efficiency on most ranks, over the best one."""
    most = max(column(rows, "ranks"))
    found = [(row["order"], row["efficiency"] / max(each["efficiency"] for each in of(rows, order=row["order"]))) for row in of(rows, ranks=most)]
    return Finding(grows(found, 0.8), ", ".join(f"{order}: {ratio(part)}" for order, part in found)) if len(found) > 1 else None


def never_efficient(rows):
    return share((row["mtct"] > 0.1 for row in rows if row["ranks"] > 1), 1)


SHARED = "two cores do the work of all ranks, and what a rank waits for its core in the midst of computing counts as computing."

SWEEPS = [
    Item("sweep-cannon", "Figures 2.5, 10.6 and 14.2", "Cannon, by order and ranks",
         "What the phase that multiplies takes a rank. MTCT is MPI over compute time. A core has one process there; here two cores have all, so efficiency is that of a core in use.",
         ("cannon",), sweep_table,
         (Claim("the more ranks, the less each computes", compute_falls, said=True, why=SHARED),
          Claim("the more ranks, the higher MTCT", mtct_grows, said=True, why=SHARED),
          Claim("while MTCT is below 0.1, the program is efficient (at 70 % of its best)", efficient_below, said=True, why=SHARED),
          Claim("where MPI takes longer than computing, it is not", inefficient_above, said=True,
                why="ranks that wait give their core to others, which compute meanwhile, so a core can be in use though each rank waits."),
          Claim("larger matrices can use more ranks", larger_scale_further, said=True)), sweep_chart),
    Item("sweep-gauss", "Figure 14.6", "Gauss, by order and ranks", "The same of the phase that eliminates.", ("gauss",), sweep_table,
         (Claim("MTCT is never below 0.1 on several ranks", never_efficient, said=True,
                why="this elimination shares out blocks of columns in turn, where the dissertation's has blocks of rows."),
          Claim("the more ranks, the higher MTCT", mtct_grows, said=True)), sweep_chart),
]

PAPER = Paper(
    "compres2017", "Resource-elasticity support for distributed memory HPC applications", "I. A. Comprés Ureña (TU München 2017)",
    "SuperMUC, up to 64 hosts of 16 (Phase 1) or 28 cores (Phase 2)",
    {"calls": calls, "sites": sites, "gathering": gathering, "mpi_calls": mpi_calls, "cannon": sweep("cannon"), "gauss": sweep("gauss"),
     **compres2017_schedules.MEASUREMENTS},
    [*CALLS, *LOOPS, *SWEEPS, *compres2017_schedules.ITEMS])
