#!/usr/bin/env python3
"""Writes the tables of docs/internals/performance.md from results of benchmarks.

    bench/tables.py [RESULTS...] [--page FILE] [--check]

RESULTS are files of JSON lines, as bench/run.py writes them; without any it is those in bench/results. A table stands behind a
comment that names it, `<!-- bench: walk -->`. One of which there are no results stays as it is; one with figures of two MPI libraries
wants the results of both.

How figures look is under Figures; each table is one function, which makes the heads and rows from the results.
"""
import argparse
import pathlib
import re
import sys

import keeping
from studies import table

PAGE = keeping.ROOT / "docs/internals/performance.md"
DEBIAN, SOCK = "ch4:ucx", "ch3:sock"  # of Debian 12, and of the same version
FORKY, OPEN_MPI = "MPICH 5.0.2 ch4:ucx", "Open MPI 6.0.0rc2"

# With which MPI the page has them; all others with Debian's.
DEVICES = {"measure": (DEBIAN, SOCK), "redist": (DEBIAN, SOCK, FORKY), "elastic": (), "libraries": (SOCK, FORKY, OPEN_MPI),
           **dict.fromkeys(("methods", "meeting", "ahead", "balance", "latency", "latency-slurm", "psets", "amr", "redist-hosts"), (SOCK,))}


# ---- Figures ----


def number(value, digits=3):
    """Of three significant digits; nothing for what was not measured."""
    if value is None:
        return ""
    value += 0  # of -0.0, too
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def ratio(value, places=2):
    if value is None:
        return ""
    return f"{value:.{places}f}" if 0.01 <= value < 10 else number(value, 3 if value > 1 else 1)


def time(ns):
    """Nanoseconds, in the unit that suits them."""
    if ns is None:
        return ""
    unit, size = next((each for each in (("s", 1e9), ("ms", 1e6), ("us", 1e3)) if ns >= each[1]), ("ns", 1))
    return f"{number(ns / size)} {unit}"


def ms(seconds):
    return number(None if seconds is None else 1e3 * seconds)


def iteration(result):
    """Its length."""
    return time(1e3 * result["iteration_us"]) if result["iteration_us"] else "empty"


def beside(value, other):
    """With the other one in brackets, if there is one."""
    return f"{value} ({other})" if value and other else value


def both(*texts):
    return ", ".join(filter(None, texts))


def span(values):
    """Lowest and highest."""
    if not values:
        return ""
    low, high = ratio(min(values)), ratio(max(values))
    return low if low == high else f"{low} to {high}"


def arrow(change):
    return change.replace("->", " -> ")


# ---- Results ----


def of(results, bench, **fields):
    """Those of a benchmark that have such fields."""
    return [result for result in results if result["bench"] == bench and fields.items() <= result.items()]


def one(results, **fields):
    """The only one that has such fields, or one of which nothing is known."""
    return next((result for result in results if fields.items() <= result.items()), {})


def having(results, key):
    return [result for result in results if key in result]


def distinct(results, *keys):
    """What they have of these, each once, in the order of the results."""
    return list(dict.fromkeys(tuple(result[key] for key in keys) for result in results))


def ways(result):
    """Of expand and shrink, which are two results."""
    return result["case"].removesuffix(" expand").removesuffix(" shrink")


def in_both_ways(results, name):
    """The ratios of expand and shrink."""
    return both(*(ratio(one(results, case=f"{name} {way}").get("ratio")) for way in ("expand", "shrink")))


# ---- Single processes and iterations ----


def probe(results):
    return ["iteration", "probe", "MPI_Bcast", "ratio"], [
        [iteration(each), time(each["probe_ns"]), time(each["bcast_ns"]), number(each["bcast_over_probe"])]
        for each in of(results, "probe")]


def walk(results):
    return ["iteration", "ranks", "`epop`, ns", "by hand, ns", "ratio"], [
        [iteration(each), each["ranks"], number(each["epop_ns"]), number(each["by_hand_ns"]), ratio(each["ratio"], 3)]
        for each in of(results, "walk")]


def by_calls(results, *keys):
    """Ratios to run, on 1 and 2 ranks, for each length of iterations and number of MPI calls in them."""
    for us, calls in distinct(results, "iteration_us", "mpi_calls"):
        those = [one(results, iteration_us=us, mpi_calls=calls, ranks=ranks) for ranks in (1, 2)]
        yield [iteration(those[0] or those[1]), calls, *(ratio(each.get(key), 3) for key in keys for each in those)]


def trace(results):
    return (["iteration", "MPI calls", "trace, 1 rank", "2 ranks", "profile, 1 rank", "2 ranks"],
            list(by_calls(of(results, "trace"), "trace_ratio", "profile_ratio")))


def measure(results):
    return ["iteration", "ranks", "without", "off adds", "on adds"], [
        [iteration(each), each["ranks"], time(each["none_ns"]), time(each["off_added_ns"]), time(each["on_added_ns"])]
        for each in having(of(results, "measure", device=DEBIAN), "none_ns")]


def loops(results):
    return ["sites", "a new call", "a known one", "the dissertation's", "comparing a loop"], [
        [each["nodes"], time(each["detect_ns"]), time(each["verify_ns"]), THEIRS.get(each["nodes"], ""), time(each["compare_ns"])]
        for each in having(of(results, "loops"), "nodes")]


def loops_calls(results):
    return ["call", "bytes", "not measured", "measured", "and followed", "ratio"], [
        [each["call"], number(each["bytes"], 9) if each["bytes"] else "", time(each["off_ns"]), time(each["on_ns"]), time(each["followed_ns"]),
         ratio(each["ratio"])] for each in having(of(results, "loops"), "call")]


def tune(results):
    return ["job", "ranks", "as it is", "with the search", "ratio", "with `--tuned`", "ratio", "search", "sure", "changed"], [
        [each["case"], each["ranks"], f"{number(each['plain_s'])} s", f"{number(each['tuned_s'])} s", ratio(each["ratio"]),
         f"{number(each['again_s'])} s", ratio(each["again_ratio"]), f"{100 * each['share']:.0f} %",
         f"{each['sure']} of {each['rounds']}", each["found"]] for each in of(results, "tune")]


def measure_jobs(results):
    return (["iteration", "MPI calls", "1 rank", "2 ranks"],
            list(by_calls(having(of(results, "measure", device=DEBIAN), "mpi_calls"), "ratio")))


def measure_reports(results):
    return ["MPI", "ranks", "median", "95 %", "longest"], [
        [name, each["ranks"], number(each["median_ms"]), number(each["p95_ms"]), number(each["longest_ms"])]
        for device, name in ((SOCK, SOCK), (DEBIAN, "Debian's"))
        for each in having(of(results, "measure", device=device), "reports")]


def debug(results):
    those, rows = of(results, "debug"), []
    for us, in distinct(those, "iteration_us"):
        each = [one(those, iteration_us=us, ranks=ranks) for ranks in (1, 2, 4)]
        rows.append([iteration({"iteration_us": us}), *(beside(ratio(result.get("ratio")), added(result)) for result in each)])
    return ["iteration", "1 rank: ratio (added)", "2 ranks", "4 ranks"], rows


def added(result):
    """In long iterations it is lost in the noise."""
    return time(1e3 * result["added_us"]) if result.get("iteration_us", 1000) < 1000 else ""


def interpose(results):
    those = of(results, "interpose")
    return ["call", "without", "a wrapper adds"], [
        [name, time(one(those, case=name)["without_ns"]), both(*(time(each["added_ns"]) for each in of(those, "interpose", case=name)))]
        for name, in distinct(those, "case")]


# ---- Resizes ----


def resize(results):
    those, rows = of(results, "resize"), []
    for change, in distinct(those, "change"):
        each = [one(those, change=change, megabytes=megabytes) for megabytes in (0, 64)]
        rows.append([arrow(change), *(both(*(number(result.get(key)) for result in each))
                                      for key in ("stall_ms", "request_to_commit_ms", "by_hand_ms", "relaunch_ms", "relaunch_over_stall"))])
    return ["change", "stall", "request to commit", "by MPI alone", "relaunch", "relaunch / stall"], rows


METHODS = {"join": "join", "join at the gate": "join at the gate", "pool": "pool", "merge": "merge plain",
           "merge async": "merge plain async", "baseline": "baseline plain", "baseline async": "baseline plain async"}


def stall(result):
    over = "" if result.get("method") == "merge plain" else ratio(result.get("stall_over_merge_plain"))
    return beside(number(result.get("stall_ms")), over)


def methods(results):
    those = of(results, "methods")
    return ["change", *METHODS], [[arrow(change), *(stall(one(those, change=change, method=method)) for method in METHODS.values())]
                                  for change, in distinct(those, "change")]


def meeting(results):
    those = of(results, "meeting")
    return ["change", "join", "pool", "merge"], [
        [arrow(change), *(stall(one(those, change=change, method=method)) for method in ("join", "pool", "merge plain"))]
        for change, in distinct(those, "change")]


LIBRARIES = {SOCK: "MPICH 4.0.2, ch3:sock", FORKY: "MPICH 5.0.2, ch4:ucx", OPEN_MPI: "Open MPI 6.0.0rc2, PRRTE"}
LIBRARIES_WAYS = ("join", "pool", "merge", "baseline")


def libraries(results):
    """Stall and, in brackets, the time from request to commit."""
    rows = []
    for change, in distinct(of(results, "libraries"), "change"):
        for device, title in LIBRARIES.items():
            those = of(results, "libraries", device=device, change=change)
            if those:
                rows.append([arrow(change), title, *(libraries_cell(one(those, method=METHODS[name])) for name in LIBRARIES_WAYS)])
    return ["change", "MPI", *LIBRARIES_WAYS], rows


def libraries_cell(result):
    return beside(number(result.get("stall_ms")), number(result.get("request_to_commit_ms"))) or "-"


def grows(change):
    old, new = map(int, change.split("->"))
    return new > old


def methods_commit(results):
    """When growing: a shrink takes no longer than its stall, and a look at it."""
    names, those = ["join", "pool", "merge", "baseline"], of(results, "methods")
    return ["change", *names], [
        [arrow(change), *(number(one(those, change=change, method=METHODS[name]).get("request_to_commit_ms")) for name in names)]
        for change, in distinct(those, "change") if grows(change)]


def methods_single(results):
    """Over the stall of the same method in which all ranks spawn."""
    those, rows = of(results, "methods"), []
    for title, suffix in (("at once", ""), ("by a helper thread", " async")):
        ratios = [each["stall_ms"] / one(those, change=each["change"], method=f"{name} plain{suffix}")["stall_ms"]
                  for name in ("merge", "baseline") for each in of(those, "methods", method=f"{name} single{suffix}")]
        if ratios:
            rows.append([title, span(ratios)])
    return ["rank 0 alone spawns", "stall / all spawn"], rows


def pair(results, key, figure):
    """Of both changes, where it was measured."""
    return both(*(figure(result.get(key)) for result in results)) or "-"


def ahead(results):
    those, rows = of(results, "ahead", way="none") + of(results, "ahead", way="ahead"), []
    for mib, constant, data in distinct(those, "mib", "constant", "data"):
        each = [one(those, mib=mib, constant=constant, data=data, change=change) for change in ("2->4", "4->2")]
        moved = [{"seconds": result["ahead_ms"] / 1e3} for result in each if result.get("ahead_ms")]
        title = f"{mib} MiB, {constant} %" + (", sparse rows" if data == "rows" else "")
        rows.append([title if mib else "none", pair(each, "stall_ms", number),
                     pair(each, "over_window", ratio), pair(each, "least_over_window", ratio), pair(each, "iterations_over_before", ratio),
                     pair(moved, "seconds", number)])
    return ["data, constant", "stall in ms", "stall / with `--no-ahead-data`", "least", "iterations / before", "data moves for, in s"], rows


WAYS_TO_BALANCE = {"even": "none: each costs what they do in the mean", "none": "none", "1.2": "`--balance 1.2`", "1.1": "`--balance 1.1`"}


def balance(results):
    rows = []
    for result in of(results, "balance"):
        stall = f"{number(result['stall_ms'])}, {number(result['longest_ms'])}" if "stall_ms" in result else "-"
        rows.append([WAYS_TO_BALANCE[result["way"]], number(result["iteration_ms"]), ratio(result["over_even"]),
                     ratio(result["imbalance"]), ratio(result["with_first"]), number(result["balances"]), stall])
    return ["balances", "iteration in ms", "over even costs", "by the costs alone", "with the first 15 s", "balances in 35 s",
            "stall in ms, longest"], rows


def psets(results):
    those = of(results, "psets")
    spawned, phases = of(those, "psets", loop="MPI_Comm_spawn"), ("query", "operation", "accept", "communicator", "total")
    return ["change", *phases, "elastic MPI", "ratio", "end later", "`MPI_Comm_spawn`"], [
        [arrow(each["change"]), *(number(each[f"{phase}_ms"]) for phase in phases), number(each["elastic_mpi_ms"]),
         ratio(each["ratio"]), ratio(each.get("late_ratio")), number(one(spawned, change=each["change"]).get("total_ms"))]
        for each in sorted(of(those, "psets", loop="synthetic"), key=lambda each: not grows(each["change"]))]


def psets_water(results):
    changes, rows = of(results, "psets", loop="water"), []
    for title, growing in (("growing, over elastic MPI", True), ("shrinking, over elastic MPI", False)):
        rows.append([title, span([each["ratio"] for each in changes if grows(each["change"]) == growing])])
    still = one(results, bench="psets", loop="water, no change")
    return ["shallow water", "ratio"], changes and [*rows, ["its iteration, over plain MPI", ratio(still.get("ratio"))]]


# ---- Data ----

AIM = 1.1  # of redistribution over MPI_Alltoallv


def redist(results, mib=64):
    those = of(results, "redist", memory="reused", mib=mib)
    columns = [(device, ranks) for device in (DEBIAN, SOCK) for ranks in (2, 4)]
    names = [name for name in dict.fromkeys(map(ways, those)) if name != "csr"]
    return ["layout", "2 ranks", "4 ranks", "ch3:sock, 2 ranks", "4 ranks"], [
        [name.replace("2d", "2D"), *(in_both_ways(of(those, "redist", device=device, ranks=ranks), name) for device, ranks in columns)]
        for name in names]


def redist_small(results):
    return redist(results, mib=8)


def redist_hosts(results):
    those = of(results, "redist-hosts")
    columns = [(mib, ranks) for mib in (8, 64) for ranks in (2, 4)]
    names = [name for name in dict.fromkeys(map(ways, those)) if name != "csr"]
    return ["layout", "8 MiB, 2 ranks", "4 ranks", "64 MiB, 2 ranks", "4 ranks"], [
        [name.replace("2d", "2D"), *(in_both_ways(of(those, "redist-hosts", mib=mib, ranks=ranks), name) for mib, ranks in columns)]
        for name in names]


def redist_bounds(results):
    """What the ratios of the tables stand against: of each column the cases above the aim, and the bounds that were measured."""
    rows = []
    for title, bench, device in (("Debian's", "redist", DEBIAN), ("ch3:sock", "redist", SOCK), ("ch3:sock, two hosts", "redist-hosts", SOCK),
                                 (FORKY, "redist", FORKY)):
        for mib, ranks in ((mib, ranks) for mib in (8, 64) for ranks in (2, 4)):
            those = having(of(results, bench, device=device, memory="reused", mib=mib, ranks=ranks), "again_ratio")
            if those:
                ratios = [each["ratio"] for each in those]
                rows.append([title, mib, ranks, span(ratios), f"{sum(value > AIM for value in ratios)} of {len(ratios)}",
                             span([each["again_ratio"] for each in those]),
                             span([each["processor_ratio"] for each in those]) if device == SOCK else ""])
    return ["MPI", "MiB", "ranks", "ratio", f"above {AIM}", "MPI_Alltoallv over itself", "processor time"], rows


def redist_spans(results):
    fresh, rows = of(results, "redist", memory="fresh"), []
    layouts = [each["ratio"] for each in fresh if ways(each) != "csr"]
    matrices = [each["ratio"] for each in of(results, "redist") if ways(each) == "csr"]
    if layouts and matrices:
        rows = [[f"into fresh memory, all {len(layouts)} cases, over MPI_Alltoallv", span(layouts)],
                ["a CSR matrix of 7 nonzeros a row, by one call, over two of one array each", span(matrices)]]
    return ["what", "ratio"], rows


def described(results):
    those, rows = of(results, "described"), []
    for title, is_one in (("1 or 10", lambda count: count <= 10), ("100", lambda count: count > 10)):
        rows.append([title, span([each["ratio"] for each in those if is_one(each["arrays"])])])
    return ["arrays", "described, over by hand"], those and rows


BLOCKS = {"3D": "3d", "slabs": "3d in slabs", "3D, no ghosts": "3d without ghosts"}


def blocks(results):
    those = of(results, "blocks")
    return ["grid", "2 ranks", "4 ranks"], those and [
        [title, *(in_both_ways(of(those, "blocks", ranks=ranks), name) for ranks in (2, 4))] for title, name in BLOCKS.items()]


def blocks_spans(results):
    """By number of ranks: over the other ways to do it by hand."""
    moved = having(of(results, "blocks"), "ratio_alltoallw")
    ghosts = having(of(results, "blocks"), "by_hand_seconds")
    small = of(ghosts, "blocks", case="ghosts of a tenth")
    kinds = {"`MPI_Alltoallv`, over itself": [(each, each["again_ratio"]) for each in having(moved, "again_ratio")],
             "packing what is sent, alone, over `MPI_Alltoallv`": [(each, each["packing_ratio"]) for each in having(moved, "packing_ratio")],
             "redistribution, over `MPI_Alltoallw` with subarrays": [(each, each["ratio_alltoallw"]) for each in moved],
             "`epop_halo_exchange`, over 26 pairs of messages": [(each, over_hand(each)) for each in ghosts if each not in small],
             "the same on a cube of side 16": [(each, over_hand(each)) for each in small]}
    rows = [[title, *(span([value for each, value in found if each["ranks"] == ranks]) for ranks in (2, 4))]
            for title, found in kinds.items() if found]
    return ["what", "2 ranks", "4 ranks"], rows


def over_hand(result):
    """With more digits than the benchmark prints."""
    return result["seconds"] / result["by_hand_seconds"]


def checkpoint(results):
    keys = ("mpi_io", "checkpoint", "ratio", "parallel_hdf5", "behind", "copy")
    return ["ranks", "MiB of each", "MPI-IO", "checkpoint", "over MPI-IO", "parallel HDF5", "written behind: stall", "copy"], [
        [each["ranks"], each["mib"], *(number(each[key]) for key in keys)] for each in of(results, "checkpoint")]


def memory(results):
    return ["MiB of each rank", "constant", "saved", "stall"], [
        [each["mib"], f"{each['constant']} %", f"{number(each['saved_mib'])} MiB", f"{number(each['stall_ms'])} ms"] for each in of(results, "memory")]


def scalapack(results):
    return ["programs", "ranks", "EPOP", "ScaLAPACK", "ratio"], [
        [f"{ours} / {theirs}", each["ranks"], number(each[f"{ours}_gflops"]), number(each[f"{theirs}_gflops"]), number(each["ratio"])]
        for ours, theirs in (("cannon", "pdgemm"), ("gauss", "pdgesv")) for each in of(results, ours)]


def amr(results):
    return ["ranks", "time, s", "rank seconds", "of which idle", "rank steps", "blocks per rank, at most"], [
        [each["ranks"] or f"those it asks for, at most {each['most_ranks']}", number(each["seconds"]), number(each["rank_seconds"]),
         f"{number(100 * (1 - each['busy_seconds'] / each['rank_seconds']), 2)} %", number(each["rank_steps"], 9), number(each["fullest"])]
        for each in of(results, "amr")]


# ---- Schedulers, and many processes ----


def scheduler(results):
    return ["policy", "first", "decisions in it", "next"], [
        [f"`{each['policy']}`", both(number(each["first_ms"]), number(each["first_most_ms"])), each["first_decisions"],
         both(number(each["next_ms"]), number(each["next_most_ms"]))] for each in of(results, "scheduler")]


def workload(results):
    return ["policy", "jobs", "processor time, s", "memory, MiB"], [
        [f"`{each['policy']}`", f"{each['jobs']:,}", number(each["seconds"]), number(each["mib"])] for each in of(results, "workload")]


def rates(results):
    return ["jobs", "transfers", "processor time, s", "memory, MiB"], [
        [f"{each['jobs']:,}", f"{each['transfers']:,}", number(each["seconds"]), number(each["mib"])] for each in of(results, "rates")]


SITES = {"epoprm --local 4": "`epoprm --local 4`", "Slurm, the adviser": "Slurm, joiners by srun",
         "by hand, join": "`epopctl resize --wait`, join", "by hand, spawn": "`epopctl resize --wait`, spawn"}


def latency(results):
    those, changes = having(of(results, "latency") + of(results, "latency-slurm"), "nodes"), ("+1", "+2", "+3", "-1", "-2", "-3")
    rows = []
    for site, title in SITES.items():
        found = [each for each in those if each["site"] == site]
        if found:
            cells = [one(found, nodes=change) for change in changes]
            rows.append([title, number(max(each["load"] for each in found)),
                         *(both(ms(each.get("committed")), ms(each.get("most"))) for each in cells)])
    return ["times in ms", "load", *changes], rows


def latency_parts(results):
    """What of a growth under epoprm is whose."""
    those = having(of(results, "latency"), "nodes")
    rows = []
    for change in ("+1", "+2", "+3"):
        grown = one(those, site="epoprm --local 4", nodes=change)
        alone = one(those, site="a start alone", nodes=change)
        if "prepared" in grown and alone:
            rows.append([change, *(ms(each) for each in (
                grown["committed"], alone["launcher"], alone["init"], grown["prepared"] - alone["launcher"] - alone["init"],
                grown["agreed"] - grown["prepared"], grown["committed"] - grown["agreed"], alone["init_all"]))])
    return ["times in ms", "in all", "launcher", "MPI_Init", "EPOP, until all are connected", "until the ranks hold", "window",
            "MPI_Init by itself"], rows


SCALES = {"attach": "attach", "grow": "grow by a quarter", "agreement": "agreement", "measure": "measurement",
          "shrink": "shrink by a half", "loss": "a host is lost"}


def scale(results):
    """Those of many, and the exponents."""
    those = [each for each in of(results, "scale") if each.get("members", 0) >= 1000]
    rows = [[f"{each['members']:,}, {each['hosts']}",
             *(beside(number(each[f"{name}_ms"]), number(each.get(f"{name}_cpu_ms"))) for name in SCALES), f"{number(each['kib_per_member'])} KiB"]
            for each in those]
    for each in having(of(results, "scale"), "fit"):
        rows.append(["exponent", *(beside(ratio(each.get(f"b_{name}_ms")), ratio(each.get(f"b_{name}_cpu_ms"))) for name in SCALES), ""])
    return ["members, hosts", *SCALES.values(), "memory of process 0, each"], rows


# What an insertion took there, section 13.2.1.
THEIRS = {8: "700 ns", 128: "2 us", 1024: "10 us"}

TABLES = {"probe": probe, "loops": loops, "loops-calls": loops_calls, "tune": tune, "walk": walk, "trace": trace, "measure": measure, "measure-jobs": measure_jobs,
          "measure-reports": measure_reports, "debug": debug, "interpose": interpose, "resize": resize, "methods": methods, "meeting": meeting, "libraries": libraries,
          "methods-commit": methods_commit, "methods-single": methods_single, "ahead": ahead, "balance": balance, "psets": psets,
          "psets-water": psets_water, "redist": redist, "redist-small": redist_small, "redist-hosts": redist_hosts, "redist-bounds": redist_bounds, "redist-spans": redist_spans, "described": described, "blocks": blocks,
          "blocks-spans": blocks_spans, "checkpoint": checkpoint, "memory": memory, "scalapack": scalapack, "amr": amr, "scheduler": scheduler, "workload": workload, "rates": rates,
          "latency": latency, "latency-parts": latency_parts, "scale": scale}


# ---- The page ----


def is_for_the_page(result):
    return result["device"] in DEVICES.get(result["bench"], (DEBIAN,))


def measured_with(device, benches):
    """Which of these the page has with that device; all if it knows nothing of it."""
    return [name for name in benches if device in DEVICES.get(name, (DEBIAN,)) or device not in (DEBIAN, SOCK, FORKY, OPEN_MPI)]


def made(name, results):
    """The text of a table; nothing where there are no results of it."""
    if name not in TABLES:
        raise keeping.Malformed(f"the page has a table '{name}', and bench/tables.py makes none of that name")
    try:
        heads, rows = TABLES[name](results)
    except KeyError as missing:
        raise keeping.Malformed(f"the table '{name}': a result has no {missing}") from None
    except (TypeError, ValueError, AttributeError) as wrong:
        raise keeping.Malformed(f"the table '{name}': a result has what is no figure: {wrong}") from None
    return table(heads, rows) + "\n" if rows else ""


def changed(page, results):
    """The page with the tables that can be made, and the names of those that are others than before."""
    those, names = list(filter(is_for_the_page, results)), []

    def renewed(found):
        text = made(found[2], those)
        if not text or text == found[3]:
            return found[0]
        names.append(found[2])
        return found[1] + text + ("" if found[3] else "\n")

    return re.sub(r"^(<!-- bench: ([\w-]+) -->\n\n)((?:\|.*\n)*)", renewed, page, flags=re.M), names


def keep(results, origin, folder=keeping.FOLDER, page=PAGE):
    """What a benchmark ends with: results of which the page has a table go to those that are kept, and the page follows them."""
    keeping.keep([result for result in results if is_for_the_page(result)], origin, folder)
    text, names = changed(page.read_text(), keeping.read_all(folder))
    page.write_text(text)
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", type=pathlib.Path, metavar="RESULTS")
    parser.add_argument("--page", type=pathlib.Path, default=PAGE, metavar="FILE")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if a table would change, and its name")
    options = parser.parse_args()
    try:
        results = [result for path in options.results for result in keeping.read(path)] if options.results else keeping.read_all()
        text, names = changed(options.page.read_text(), results)
    except (keeping.Malformed, OSError) as wrong:
        return f"bench/tables.py: {wrong}"
    if not options.check:
        options.page.write_text(text)
    print("\n".join(names) or "no table changes")
    return 1 if options.check and names else 0


if __name__ == "__main__":
    sys.exit(main())
