#!/usr/bin/env python3
"""What policies do to whole machines: the tables of docs/internals/scheduling.md, by epopsim.

    bench/studies.py [bursts] [trace] [costs] [neighbours] [moves] [checkpoints] [deadlines] [figures] [balance]

Virtual time and seeded: the figures are the same on every machine. A test compares those that take seconds with the
page.
"""
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = (ROOT / os.environ.get("EPOP_BUILD", "build")).resolve()
EXAMPLES = ROOT / "scheduler/examples"
TRACE = EXAMPLES / "NASA-iPSC-1993-3.1-cln.swf.gz"


def simulate(workload, *options):
    """The metrics of each policy that is named, or of all; by the policy as it was given."""
    done = subprocess.run([BUILD / "bin/epopsim", "--quiet", "--json", *map(str, options), workload],
                          stdout=subprocess.PIPE, text=True, check=True, timeout=600, stdin=subprocess.DEVNULL)
    runs = json.loads(done.stdout)["runs"]
    return {",".join(filter(None, [run["policy"], run["policy_options"]])): run["metrics"] for run in runs}


def table(heads, rows):
    """In Markdown, the columns filled up, so that the page reads as text, too."""
    cells = [[str(cell) for cell in row] for row in [heads, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def share(value):
    return f"{100 * value:.0f} %"


def bursts():
    """Jobs that come quickly: how many of them are malleable decides."""
    rows = []
    for count in (50, 100, 200, 400):
        easy = simulate(EXAMPLES / "bursts.json", "--jobs", count, "--malleable", 0, "--policy", "easy")["easy"]
        row = [count, f"{easy['makespan']:.0f} s"]
        for malleable in (0.25, 0.5, 0.75, 1):
            gain = simulate(EXAMPLES / "bursts.json", "--jobs", count, "--malleable", malleable,
                            "--policy", "gain")["gain"]
            row.append(f"{gain['makespan']:.0f} s ({gain['makespan'] / easy['makespan']:.2f})")
        rows.append(row)
    return table(["jobs", "`easy`, rigid", "`gain`, 25 % malleable", "50 %", "75 %", "100 %"], rows)


def trace():
    """The NASA trace, at its own load and at 0.9."""
    rows = []
    for load in ([], ["--load", 0.9]):
        for malleable in (0, 0.25, 0.5, 1):
            for policy, metrics in simulate(TRACE, *load, "--malleable", malleable).items():
                if policy == "easy" and malleable:
                    continue  # to which all jobs are rigid
                rows.append([load[1] if load else "its own", share(malleable), f"`{policy}`",
                             f"{metrics['mean_slowdown']:.2f}", f"{metrics['mean_wait']:.0f} s",
                             share(metrics["utilisation"]), share(metrics["efficiency"]), metrics["resizes"],
                             f"{metrics['makespan'] / 86400:.2f} d"])
    return table(["load", "malleable", "policy", "mean bounded slowdown", "mean wait", "utilisation", "efficiency",
                  "resizes", "makespan"], rows)


def costs():
    """What is left of it when a resize costs more: bursts of 100 jobs, and the first 3000 jobs of the trace at 0.9."""
    rows = []
    cases = [("bursts", EXAMPLES / "bursts.json", ["--jobs", 100]),
             ("trace", TRACE, ["--jobs", 3000, "--load", 0.9, "--malleable", 1])]
    baseline = {name: simulate(path, *options, "--policy", "easy")["easy"] for name, path, options in cases}
    for cost in (0.01, 0.1, 1, 10, 30, 100, 200, 1000, 10000):
        row = [f"{cost} s"]
        for name, path, options in cases:
            easy = baseline[name]
            gain = simulate(path, *options, "--policy", "gain", "--resize-cost", cost, "--latency", 0)["gain"]
            key = "makespan" if name == "bursts" else "mean_slowdown"
            row += [f"{gain[key] / easy[key]:.2f}", gain["resizes"], f"{gain['stalled'] / 3600:.2f} h"]
        rows.append(row)
    return table(["a resize costs", "bursts: makespan / `easy`", "resizes", "node hours lost",
                  "trace: slowdown / `easy`", "resizes", "node hours lost"], rows)


def checkpoints():
    """The bursts of 100 jobs, with checkpoints on a file system that they share."""
    rows = []
    for rate in (None, 80, 40, 20, 10, 5, 2):
        share_of = lambda metrics: share(metrics["file_system_utilisation"]) if rate else "-"
        options = (EXAMPLES / "checkpoints.json", "--file-system", f"{rate or 0}G")
        easy = simulate(*options, "--malleable", 0, "--policy", "easy")["easy"]
        all_bytes = easy["file_system_utilisation"] * easy["makespan"] if rate else 0
        row = [f"{rate} GB/s" if rate else "no bound", f"{all_bytes:.0f} s", f"{easy['makespan']:.0f} s", share_of(easy)]
        for metrics in simulate(*options, "--policy", "ers,gain").values():
            row += [f"{metrics['makespan']:.0f} s ({metrics['makespan'] / easy['makespan']:.2f})", share_of(metrics)]
        rows.append(row)
    return table(["file system", "all bytes", "`easy`, rigid", "in use", "`ers`", "in use", "`gain`", "in use"], rows)


def drawn_deadlines(known):
    """300 jobs for 64 nodes: half of them malleable, a fifth with a deadline, if that is known to the scheduler."""
    size = lambda nodes: {"nodes": nodes, "scale": [0.3, 2], "phases": [
        {"name": "compute", "iterations": 100, "seconds": 5.4 * nodes,
         "speedup": {"model": "downey", "parallelism": 2 * nodes, "sigma": 0.5}}]}
    kinds = ({"kind": "rigid"}, {"kind": "malleable", "min": 1, "max": 32, "bytes": 8e9})
    wishes = ((4, {}), (1, {"deadline": 1200} if known else {"name": "wished"}))
    mix = [{**size(nodes), **kind, **wish, "weight": weight} for nodes in (2, 8, 16) for kind in kinds for weight, wish in wishes]
    return {"schema": "epop.workload", "version": 1, "machine": {"nodes": 64},
            "random": {"count": 300, "interarrival": 105, "mix": mix}}


def deadlines():
    """What the knowledge of deadlines brings, in eight workloads."""
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        paths = [pathlib.Path(directory) / name for name in ("known.json", "unknown.json")]
        for path, known in zip(paths, (True, False)):
            path.write_text(json.dumps(drawn_deadlines(known)))
        for policy in ("easy", "ers", "gain", "gain,firm=0"):
            jobs = [[job for seed in range(1, 9) for job in runs(path, policy, options=("--seed", str(seed)))[0]["jobs"]] for path in paths]
            wished = [i for i, job in enumerate(jobs[0]) if "deadline" in job]
            late = [[max(0, each[i]["end"] - jobs[0][i]["deadline"]) for i in wished] for each in jobs]
            missed = [[one for one in each if one > 1e-3] for each in late]
            others = [statistics.mean(job["slowdown"] for i, job in enumerate(each) if "deadline" not in jobs[0][i]) for each in jobs]
            rows.append([f"`{policy}`", len(wished), *(f"{len(each)}, by {statistics.mean(each):.0f} s" for each in reversed(missed)),
                         f"{others[1]:.2f}", f"{others[0]:.2f}"])
    return table(["policy", "with a deadline", "missed, not known", "missed, known", "slowdown of the others, not known", "known"], rows)


def runs(workload, *policies, options=()):
    """The schedule of each policy, whole."""
    words = [word for policy in policies for word in ("--policy", policy)]
    done = subprocess.run([BUILD / "bin/epopsim", "--quiet", "--output", "-", *words, *options, EXAMPLES / workload],
                          stdout=subprocess.PIPE, text=True, check=True, timeout=600, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)["runs"]


def sizes(run, name):
    """Of the job, one after the other, each with its time in minutes."""
    [number] = [job["id"] for job in run["jobs"] if job["name"] == name]
    own = [each for each in run["decisions"] if each["job"] == number and each["kind"] in ("start", "resize")]
    return ", ".join(f"{each['to']} ({each['time'] / 60:.0f} min)" for each in own)


LEAF = 8  # nodes


def leaves_of(nodes):
    """How many leaf switches so many are below, and how many there are, of "0-3,7"."""
    numbers = [range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1) for part in nodes.split(",")]
    return len({node // LEAF for part in numbers for node in part}), sum(map(len, numbers))


def spread(run):
    """As the simulator's figure, where it knows of no switches; of what jobs hold, and not of what they compute on."""
    done = []
    for job in run["jobs"]:
        stays = [(end - begin, *leaves_of(nodes)) for begin, end, nodes in job["stays"]]
        least = sum(seconds * -(-count // LEAF) for seconds, _, count in stays)
        if job["outcome"] == "done":
            done.append(sum(seconds * leaves for seconds, leaves, _ in stays) / least)
    return sum(done) / len(done)


def switches(directory, count, size):
    """A file of so many leaf switches of so many nodes each, below switches of four."""
    path = pathlib.Path(directory) / "topology.conf"
    path.write_text("".join(f"SwitchName=s{i} Nodes=n[{size * i}-{size * (i + 1) - 1}]\n" for i in range(count))
                    + "".join(f"SwitchName=i{i} Switches=s[{4 * i}-{4 * i + 3}]\n" for i in range(count // 4)))
    return path


def neighbours():
    """Leaf switches of jobs: the first 3000 of the trace at 0.9, half of them malleable, below 16 switches of 8 nodes."""
    policies = ("easy", "ers", "gain")
    words = ["--jobs", "3000", "--load", "0.9", "--malleable", "0.5"]
    blind = [spread(run) for run in runs(TRACE.name, *policies, options=words)]
    with tempfile.TemporaryDirectory() as directory:
        near = simulate(TRACE, *words, "--policy", ",".join(policies), "--topology", switches(directory, 16, LEAF))
    return table(["policy", "spread, by number alone", "by switches"],
                 [[f"`{policy}`", f"{blind[i]:.2f}", f"{near[policy]['spread']:.2f}"] for i, policy in enumerate(policies)])


def moves():
    """What moves bring: windows of 600 drawn jobs on 256 nodes below 16 switches, half of them malleable."""
    rows = []
    for load in (0.5, 0.7, 0.9):
        for cost in (0.02, 0.05, 0.1):
            kept, moved = zip(*(moved_window(load, cost, seed) for seed in range(1, 13)))
            mean = lambda done, key: sum(one[key] for one in done) / len(done)  # noqa: E731
            ratio = lambda key: math.exp(sum(math.log(one[key] / other[key]) for one, other in zip(moved, kept)) / len(kept))  # noqa: E731
            rows.append([load, f"{100 * cost:.0f} %", f"{mean(kept, 'spread'):.2f}", f"{mean(moved, 'spread'):.2f}",
                         *(f"{ratio(key):.3f}" for key in ("mean_response", "mean_slowdown", "efficiency")),
                         f"{mean(kept, 'resizes'):.0f}", f"{mean(moved, 'resizes'):.0f}"])
    return table(["load", "a switch too many costs", "spread, `gather=0`", "`gain`", "mean response", "mean slowdown", "efficiency",
                  "resizes, `gather=0`", "`gain`"], rows)


def moved_window(load, cost, seed):
    """The metrics of gain with moves, and without."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "drawn.swf"
        path.write_text(subprocess.run([BUILD / "bin/epopsim", "generate", "--nodes", "256", "--jobs", "600", "--load", str(load), "--seed", str(seed)],
                                       stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout)
        metrics = simulate(path, "--malleable", 0.5, "--topology", switches(directory, 16, 16), "--spread-cost", cost,
                           "--policy", "gain,gather=0,gain")
    return metrics["gain,gather=0"], metrics["gain"]


def figures():
    """The dissertation's figures 14.7 and 14.8: Gauss and Cannon beside each other on 32 nodes."""
    rows = []
    for workload, title in (("gauss-cannon-4096.json", "14.7: Cannon 4096^2"), ("gauss-cannon-1024.json", "14.8: Cannon 1024^2")):
        [run] = runs(workload, "ers,firm=0")
        rows.append([title, sizes(run, "gauss"), sizes(run, "cannon")])
    return table(["figure", "nodes of Gauss (from)", "nodes of Cannon (from)"], rows)


def balance():
    """The dissertation's figure 14.9: three Cannons with and without time balancing."""
    rows = []
    for run, title in zip(runs("three-cannon.json", "easy", "ers,firm=0,balance=no,fill=no", "ers,firm=0,balance=no", "ers,firm=0", "gain"),
                          ("`easy`", "`ers,firm=0`, neither balancing nor filling", "`ers,firm=0`, filling alone", "`ers,firm=0`, both", "`gain`")):
        metrics = run["metrics"]
        idle = 32 * metrics["makespan"] * (1 - metrics["utilisation"]) / 3600
        [third] = [job for job in run["jobs"] if job["name"] == "fifteen"]
        rows.append([title, f"{idle:.2f} h", f"{third['wait']:.0f} s", f"{metrics['makespan']:.0f} s", metrics["resizes"]])
    return table(["policy", "idle node hours", "wait of the third", "makespan", "resizes"], rows)


STUDIES = {"bursts": bursts, "trace": trace, "costs": costs, "neighbours": neighbours, "moves": moves, "checkpoints": checkpoints,
           "deadlines": deadlines, "figures": figures, "balance": balance}


def main():
    names = sys.argv[1:] or list(STUDIES)
    wrong = [name for name in names if name not in STUDIES]
    if wrong:
        sys.exit(f"studies.py: there is no study '{wrong[0]}', but {', '.join(STUDIES)}")
    for name in names:
        print(f"## {name}: {STUDIES[name].__doc__.splitlines()[0]}\n\n{STUDIES[name]()}\n", flush=True)


if __name__ == "__main__":
    main()
