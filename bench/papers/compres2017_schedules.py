"""What the scheduler of the dissertation does (chapters 9, 10 and 14.3), by the policy ers in epopsim, and under epoprm with real programs.

Rows: of each job of a case, at which `time` (seconds) it has how many `nodes`; and a row of figures for each case.
"""
import json
import subprocess

import methods
import studies
from papers import Chart, Claim, Finding, Item, Unable, column, nodes, of, share, value
from papers.fitting import solve
from tables import number, ratio

# ---- In virtual time ----

# The wanted MTCT by nodes: on nodes of 28 cores the same problem is smaller for each core.
PHASE_2 = {"4096": {1: .004, 8: .02, 16: .04, 28: .08, 31: .09}, "1024": {1: .05, 2: .12, 4: .4, 8: 1.2, 16: 3, 31: 8}}


def example(name):
    return json.loads((studies.EXAMPLES / name).read_text())


def on_phase_2(workload, order):
    for application in workload["applications"].values():
        if "sizes" in application:
            application["sizes"] = {"square_processes": {"cores": 28}}
    speedup = workload["applications"]["cannon"]["phases"][0]["speedup"]
    speedup["points"] = [{"nodes": count, "speedup": count / (1 + mtct) if count > 1 else 1, "mtct": mtct} for count, mtct in PHASE_2[order].items()]
    return workload


def simulate(here, workload, policy):
    done = subprocess.run([here.build / "bin/epopsim", "--quiet", "--policy", policy, "--output", "-", "-"], input=json.dumps(workload), text=True,
                          stdout=subprocess.PIPE, check=True, timeout=120)
    return json.loads(done.stdout)["runs"][0]


def steps(run, case):
    """Of all jobs: the sizes that they were given, and when they ended."""
    for job in run["jobs"]:
        name = job["name"]
        for each in run["decisions"]:
            if each["job"] == job["id"] and each["kind"] in ("start", "resize"):
                yield {**case, "job": name, "time": each["time"], "nodes": each["to"]}
        yield {**case, "job": name, "time": job["end"], "nodes": 0}


def figures(run, case, machine):
    metrics, last = run["metrics"], max(run["jobs"], key=lambda job: job["submit"])
    return {**case, "idle": machine * metrics["makespan"] * (1 - metrics["utilisation"]) / 3600, "wait": last["start"] - last["submit"],
            "makespan": metrics["makespan"], "resizes": metrics["resizes"]}


def interaction(here):
    """Figures 14.7 and 14.8."""
    for figure, order in (("14.7", "4096"), ("14.8", "1024")):
        for phase in (1, 2):
            workload = example(f"gauss-cannon-{order}.json")
            run = simulate(here, workload if phase == 1 else on_phase_2(workload, order), "ers,firm=0")
            yield from steps(run, {"figure": figure, "phase": phase})


POLICIES = {"14.9": (("no balancing", "ers,firm=0,balance=no"), ("balancing", "ers,firm=0")),
            "14.10": (("no balancing", "ers,firm=0,upper=0.5,balance=no"), ("balancing", "ers,firm=0,upper=0.5"),
                      ("no balancing, lower 0.1", "ers,firm=0,upper=0.5,lower=0.1,balance=no"), ("balancing, lower 0.1", "ers,firm=0,upper=0.5,lower=0.1"))}


def balance(here):
    """Figures 14.9 and 14.10."""
    for figure, policies in POLICIES.items():
        for phase in (1, 2):
            for title, policy in policies:
                workload = example("three-cannon.json")
                case = {"figure": figure, "phase": phase, "policy": title}
                run = simulate(here, workload if phase == 1 else on_phase_2(workload, "4096"), policy)
                yield from steps(run, case)
                yield figures(run, case, 32)


# ---- Balancing and filling by themselves: figures 10.7 to 10.9 ----


def scaling(name, count, seconds, kind="malleable", submit=0, most=32):
    """A job that speeds up in a straight line."""
    points = [{"nodes": 1, "speedup": 1, "mtct": 0.001}, {"nodes": 32, "speedup": 32, "mtct": 0.004}]
    size = {"min": 1, "max": most} if kind == "malleable" else {}
    return {"name": name, "kind": kind, "submit": submit, "nodes": count, **size, "bytes": 1e6,
            "phases": [{"iterations": 600, "seconds": count * seconds / 600, "speedup": {"model": "table", "points": points}}]}


def machine(count, *jobs):
    return {"schema": "epop.workload", "version": 1, "machine": {"nodes": count}, "jobs": list(jobs)}


WAITS = scaling("waits", 28, 60, "rigid", 1)
CASES = {"10.7": ([(16, 300), (16, 600)], [WAITS]), "10.8": ([(8, 300), (10, 600), (14, 900)], [WAITS]), "10.9": ([(8, 600), (8, 900)], [])}


def balanced(jobs, idle=0):
    """The dissertation's linear system: the nodes with which all end together, from (nodes, seconds left)."""
    count = len(jobs)
    matrix = [[1 / jobs[i][1] if j == i else -1 / jobs[i + 1][1] if j == i + 1 else 0 for j in range(count)] for i in range(count - 1)]
    factors = solve([*matrix, [own for own, _ in jobs]], [0] * (count - 1) + [sum(own for own, _ in jobs) + idle])
    return [factor * own for factor, (own, _) in zip(factors, jobs)]


def first_resizes(run):
    """{job: nodes} at the first evaluation."""
    found = {}
    for each in run["decisions"]:
        if each["kind"] == "resize" and each["time"] < 61:
            found[each["job"]] = each["to"]
    return found


def balancing(here):
    for figure, (sizes, others) in CASES.items():
        jobs = [scaling(str(place), count, seconds, most=24 if figure == "10.9" else 32) for place, (count, seconds) in enumerate(sizes)]
        # By balancing alone: with filling, the first of two jobs to be asked has all idle nodes.
        runs = {"off": simulate(here, machine(32, *jobs, *others), "ers,firm=0,balance=no,fill=no"),
                "on": simulate(here, machine(32, *jobs, *others), "ers,firm=0,balance=no" if figure == "10.9" else "ers,firm=0,fill=no")}
        for way, run in runs.items():
            yield from steps(run, {"figure": figure, "way": way})
            yield {**figures(run, {"figure": figure, "way": way}, 32),
                   "apart": max(each["end"] for each in run["jobs"][:len(sizes)]) / min(each["end"] for each in run["jobs"][:len(sizes)]) - 1}
        wanted = balanced([(count, seconds - 60) for count, seconds in sizes]) if others else [None] * len(sizes)
        decided = first_resizes(runs["on"])
        for place, (count, seconds) in enumerate(sizes):
            job = runs["on"]["jobs"][place]
            yield {"figure": figure, "of": place, "had": count, "left": seconds - 60, "solved": wanted[place], "decided": decided.get(job["id"], count)}


# ---- Six jobs on four nodes: figures 10.1 and 10.10 ----

SIX = ((3, 4), (3, 4), (2, 3), (4, 2), (1, 2), (1, 2))  # nodes, and units of time
MINUTE = 60


def six_jobs(here):
    """Static by easy, elastic by ers; a unit is a minute."""
    points = [{"nodes": 1, "speedup": 1, "mtct": 0.001}, {"nodes": 4, "speedup": 3.99, "mtct": 0.004}]
    for kind, policy in (("rigid", "easy"), ("malleable", "ers,firm=0")):
        jobs = [{"name": str(place), "kind": kind, "nodes": count, **({"min": 1, "max": count} if kind == "malleable" else {}), "bytes": 1e6, "limit": 1.02 * units * MINUTE,
                 "phases": [{"iterations": 60 * units, "seconds": count * MINUTE / 60, "speedup": {"model": "table", "points": points}}]}
                for place, (count, units) in enumerate(SIX, 1)]
        run = simulate(here, machine(4, *jobs), policy)
        yield from steps(run, {"site": "epopsim", "kind": kind})
        yield from starts(run["jobs"], {"site": "epopsim", "kind": kind}, MINUTE)


def starts(jobs, case, unit):
    """When each began and ended, in units since the first submission."""
    first = min(job["submit"] for job in jobs)
    for job in jobs:
        yield {**case, "of": job["name"], "start": (job["start"] - first) / unit, "end": (job["end"] - first) / unit}


def needs_join(here):
    if not methods.works(here.build, here.mpiexec):
        raise Unable("needs an MPI that can start processes: make DEVICE=ch3:sock papers")


def six_real(here):
    """The same under epoprm, where a unit is some seconds."""
    needs_join(here)
    unit = 1 if here.quick else 3
    for kind, policy in (("rigid", "easy"), ("malleable", f"ers,firm=0,period={unit},worth=2")):
        jobs = [nodes.synthetic(str(place), count, units * unit, 1 if kind == "malleable" else count, count) for place, (count, units) in enumerate(SIX, 1)]
        records = play(policy, 4, jobs)
        yield from real_steps(records, {"site": "epoprm", "kind": kind})
        yield from starts(records, {"site": "epoprm", "kind": kind}, unit)


def play(policy, count, jobs, malleable=True):
    site = nodes.Nodes(policy, count)
    site.policy = policy
    try:
        return site.play(jobs, malleable)
    finally:
        site.close()


def real_steps(records, case):
    first = min(record["submit"] for record in records)
    for record in records:
        for stay in record["stays"]:
            yield {**case, "job": record["name"], "time": stay["begin"] - first, "nodes": len(stay["nodes"])}
        yield {**case, "job": record["name"], "time": record["end"] - first, "nodes": 0}


# ---- Real programs: figures 14.7 and 14.8 under epoprm ----

NODES = 12
THRESHOLDS = {"0.1 and 0.01": "", "0.5 and 0.2": ",upper=0.5,lower=0.2"}  # those there, and others for this machine


def interaction_real(here):
    """Gauss takes 8 of 12 nodes and Cannon the largest square of the rest; an evaluation each second."""
    needs_join(here)
    gauss = nodes.program("gauss", "--random", "2048" if here.quick else "8192")
    for figure, order, repeats in (("14.7", 1024 if here.quick else 4096, 20), ("14.8", 512 if here.quick else 1024, 20 if here.quick else 100)):
        cannon = nodes.program("cannon", "--random", str(order), "--repeat", str(repeats))
        jobs = [{"name": name, "ranks": ranks, "submit": 0, "words": words, "time": "600s"} for name, ranks, words in (("gauss", "1-8", gauss), ("cannon", "1-9", cannon))]
        for title, thresholds in list(THRESHOLDS.items())[:1 if here.quick else 2]:
            records = play(f"ers,firm=0,period=1,worth=1{thresholds}", NODES, jobs)
            yield from real_steps(records, {"figure": figure, "thresholds": title})
            yield from ({"figure": figure, "thresholds": title, "of": record["name"], "done": record["done"]} for record in records)


# ---- Orders of nodes: figure 9.2 ----


def orders(here):
    """Eight nodes: a malleable job starts beside a rigid one that has the first nodes, and gets them when that has ended."""
    needs_join(here)
    first, second = nodes.synthetic("first", 4, 2, 4, 4), nodes.synthetic("second", 4, 4 if here.quick else 8, 2, 6)
    third = nodes.synthetic("third", 3, 2, 3, 3, submit=0.5)
    for record in play("gain,stay=1", 8, [first, second, third]):
        begin = min(stay["begin"] for stay in record["stays"])
        for stay in record["stays"]:
            yield {"job": record["name"], "time": stay["begin"] - begin, "order": " ".join(map(str, stay["nodes"]))}
        yield {"of": record["name"], "right": nodes.is_right(record["text"])}


MEASUREMENTS = {"interaction": interaction, "balance": balance, "balancing": balancing, "six": six_jobs, "six_real": six_real,
                "interaction_real": interaction_real, "orders": orders}

# ---- Tables ----


def sizes(rows, job, **case):
    """One after the other."""
    return [row["nodes"] for row in of(rows, job=job, **case) if row["nodes"]]


def arrows(values):
    return " -> ".join(map(str, values))


# The paper's, as far as the text names them.
TOLD = [{"item": "interaction", "figure": figure, "phase": phase, "job": job, "told": told} for figure, phase, job, told in (
    ("14.7", 1, "gauss", "16 to 1 in 4 steps"), ("14.7", 1, "cannon", "16 to 28 in 2 steps, then 31"), ("14.7", 2, "gauss", "16 to 1"), ("14.7", 2, "cannon", "16"),
    ("14.8", 1, "gauss", "16 to 1"), ("14.8", 1, "cannon", "16 to 2 in 3 steps"), ("14.8", 2, "gauss", "16 to 1"), ("14.8", 2, "cannon", "16 to 1"))]


def interaction_table(theirs, ours):
    rows = []
    for row in TOLD:
        case = {key: row[key] for key in ("figure", "phase")}
        simulated = arrows(sizes(of(ours, item="interaction"), row["job"], **case))
        real = [arrows(sizes(of(ours, item="interaction_real"), row["job"], figure=row["figure"], thresholds=title)) for title in THRESHOLDS]
        rows.append([row["figure"], row["phase"], row["job"], row["told"], simulated, *(real if row["phase"] == 1 else [""] * len(real))])
    return ["figure", "Phase", "job", "paper", "epopsim", *(f"epoprm, real, {title}" for title in THRESHOLDS)], rows


def balance_table(theirs, ours):
    rows = [[row["figure"], row["phase"], row["policy"], f"{row['idle']:.2f} h", f"{row['wait']:.0f} s", f"{row['makespan']:.0f} s", row["resizes"]]
            for row in ours if "makespan" in row]
    return ["figure", "Phase", "policy", "idle node hours", "wait of the third", "makespan", "resizes"], rows


def balancing_table(theirs, ours):
    rows = [[row["figure"], row["of"], row["had"], row["left"], number(row["solved"]), row["decided"]] for row in ours if "decided" in row]
    return ["figure", "job", "nodes", "seconds left", "nodes by the linear system", "decided"], rows


def six_table(theirs, ours):
    rows = []
    for site, kind in column(ours, "site", "kind"):
        those = [row for row in of(ours, site=site, kind=kind) if "start" in row]
        rows.append([site, "static" if kind == "rigid" else "elastic", *(f"{row['start']:.1f} to {row['end']:.1f}" for row in those),
                     number(max(row["end"] for row in those))])
    return ["site", "jobs", *(f"job {place}" for place in range(1, 7)), "makespan"], rows


def orders_table(theirs, ours):
    return ["job", "second", "nodes, in the order of its ranks"], [[row["job"], f"{row['time']:.1f}", row["order"]] for row in ours if "order" in row]


# ---- Claims ----


def halved(job, case, to):
    """To so many nodes, each step to half or less, as the program accepts."""
    def check(rows):
        found = sizes(of(rows, item="interaction"), job, **case)
        return Finding(found[-1] == to and all(b <= a / 2 for a, b in zip(found, found[1:])), arrows(found)) if found else None

    return check


def at_the_end(test, job, case, item="interaction"):
    def check(rows):
        found = sizes(of(rows, item=item), job, **case)
        return Finding(test(found), arrows(found)) if found else None

    return check


def figure(rows, key, **case):
    return value([row for row in rows if "makespan" in row], key, **case)


def shorter(key, case, titles=("no balancing", "balancing")):
    """Or less, with balancing."""
    def check(rows):
        without, with_it = (figure(rows, key, policy=title, **case) for title in titles)
        return Finding(with_it < 0.99 * without, f"{number(with_it)} of {number(without)}") if without is not None else None

    return check


def no_resizes(case):
    def check(rows):
        found = figure(rows, "resizes", policy="balancing", **case)
        return None if found is None else Finding(found == 0, f"{found} resizes")

    return check


def same_as_before(rows):
    """Phase 1 with the higher threshold."""
    before, after = ([(row["job"], row["time"], row["nodes"]) for row in of(rows, figure=name, phase=1, policy="balancing") if "job" in row] for name in ("14.9", "14.10"))
    return Finding(before == after, f"{len(after)} steps") if after else None


def as_solved(name):
    def check(rows):
        return share((abs(row["decided"] - row["solved"]) <= 1.01 for row in of(rows, figure=name) if "decided" in row), 1)

    return check


def end_together(name):
    def check(rows):
        apart = value([row for row in rows if "apart" in row], "apart", figure=name, way="on")
        return None if apart is None else Finding(apart < 0.05, f"{ratio(100 * apart)} % apart")

    return check


def better(key, name):
    def check(rows):
        off, on = (figure(rows, key, figure=name, way=way) for way in ("off", "on"))
        return Finding(on < off, f"{number(on)} of {number(off)}") if off is not None else None

    return check


def in_order(kind, site, wanted=True):
    """Jobs start in their order."""
    def check(rows):
        found = [row["start"] for row in of(rows, site=site, kind=kind) if "start" in row]
        is_ordered = all(b >= a - 0.05 for a, b in zip(found, found[1:]))
        return Finding(is_ordered == wanted, ", ".join(f"{each:.1f}" for each in found)) if found else None

    return check


def sooner(site):
    def check(rows):
        found = {kind: max((row["end"] for row in of(rows, site=site, kind=kind) if "end" in row), default=0) for kind in ("rigid", "malleable")}
        return Finding(found["malleable"] < found["rigid"], f"{number(found['malleable'])} of {number(found['rigid'])}") if found["rigid"] else None

    return check


def starts_smaller_and_grows(site):
    def check(rows):
        those = of(rows, site=site, kind="malleable")
        found = [name for place, name in enumerate(column([row for row in those if "job" in row], "job"))
                 if (had := sizes(those, name)) and had[0] < SIX[place][0] and any(b > a for a, b in zip(had, had[1:]))]
        return Finding(bool(found), f"job {', '.join(found)}" if found else "none") if those else None

    return check


def out_of_order(rows):
    found = [row["order"] for row in rows if "order" in row]
    lists = [list(map(int, each.split())) for each in found]
    return Finding(any(each != sorted(each) for each in lists), next((text for text, each in zip(found, lists) if each != sorted(each)), "none"))


def all_right(rows):
    return share((row["right"] for row in rows if "right" in row), 1)


# ---- Charts ----


def step_chart(title_of, unit="s"):
    """A panel for each case, with a line for each job."""
    def made(theirs, ours):
        panels = {}
        for row in ours:
            if "job" in row and "nodes" in row:
                panels.setdefault(title_of(row), {}).setdefault(row["job"], []).append((row["time"], row["nodes"]))
        return [Chart("steps", "time", "nodes", x_unit=unit, panels=panels)] if panels else []

    return made


def orders_chart(theirs, ours):
    return [Chart("grid", "rank", "job", panels={"nodes by rank": {"node": [(str(rank), f"{row['job']}, {row['time']:.1f} s", node) for row in ours if "order" in row
                                                                           for rank, node in enumerate(row["order"].split())]}})] if ours else []


# ---- Items ----

TWO_CORES = "two cores do the work of all nodes, so ranks wait for each other's time on a core, which counts as MPI time."

ITEMS = [
    Item("interaction", "Figures 14.7 and 14.8", "Gauss and Cannon beside each other",
         "Gauss of order 4096 and Cannon of 4096 (14.7) or 1024 (14.8) on 32 nodes, of 16 cores (Phase 1) or 28 (Phase 2), in epopsim, whose applications have the MTCT of the text. "
         "And both programs for real on 12 nodes of one rank under epoprm: Gauss of 8192 and the same Cannons, with an evaluation each second, and the thresholds of MTCT of the "
         "dissertation, or others.", ("interaction", "interaction_real"), interaction_table,
         (Claim("Gauss is halved to one node, in all cases", lambda rows: share(
             (sizes(of(rows, item="interaction"), "gauss", figure=name, phase=phase) == [16, 8, 4, 2, 1] for name in ("14.7", "14.8") for phase in (1, 2)), 1), said=True),
          Claim("the large Cannon grows to 31 nodes on Phase 1", at_the_end(lambda found: found[-1] == 31 and found == sorted(found), "cannon", {"figure": "14.7", "phase": 1}), said=True),
          Claim("it stays as it is on Phase 2", at_the_end(lambda found: found == [16], "cannon", {"figure": "14.7", "phase": 2}), said=True),
          Claim("the small Cannon is halved to 2 nodes on Phase 1", halved("cannon", {"figure": "14.8", "phase": 1}, 2), said=True),
          Claim("to 1 on Phase 2", halved("cannon", {"figure": "14.8", "phase": 2}, 1), said=True),
          Claim("real Gauss goes down to one node (thresholds 0.1 and 0.01)", lambda rows: share(
              (min(found) == 1 for name in ("14.7", "14.8")
               if (found := sizes(of(rows, item="interaction_real"), "gauss", figure=name, thresholds="0.1 and 0.01"))), 1), said=True,
                why="alone on two ranks it has an MTCT of 0.08 here, so two are kept when it is undisturbed."),
          Claim("the real large Cannon grows (thresholds 0.5 and 0.2)", at_the_end(lambda found: max(found) > found[0], "cannon", {"figure": "14.7", "thresholds": "0.5 and 0.2"},
                                                                                     "interaction_real"), said=True, why=TWO_CORES),
          Claim("the real small Cannon shrinks (0.1 and 0.01)", at_the_end(lambda found: min(found) < found[0], "cannon", {"figure": "14.8", "thresholds": "0.1 and 0.01"}, "interaction_real"),
                said=True, why="on one host an exchange of blocks costs little beside their product, also where they are small."),
          Claim("all real programs end well", lambda rows: share((row["done"] for row in rows if "done" in row), 1), said=True)),
         step_chart(lambda row: f"{row['figure']}, Phase {row['phase']}, epopsim" if "phase" in row else f"{row['figure']}, epoprm, {row['thresholds']}")),
    Item("balance", "Figures 14.9 and 14.10", "Time balancing of three Cannons",
         "Cannons of 5, 10 and 15 minutes; the third waits for 28 of 32 nodes. In 14.10 the upper threshold is 0.5; there are also runs in which the lower one is 0.1.", ("balance",), balance_table,
         (Claim("14.9, Phase 1: balancing leaves less idle", shorter("idle", {"figure": "14.9", "phase": 1}), said=True),
          Claim("14.9, Phase 1: it shortens the third one's wait", shorter("wait", {"figure": "14.9", "phase": 1}), said=True),
          Claim("14.9, Phase 1: it shortens the makespan", shorter("makespan", {"figure": "14.9", "phase": 1}), said=True),
          Claim("14.9, Phase 2: there is no balancing", no_resizes({"figure": "14.9", "phase": 2}), said=True),
          Claim("14.10, Phase 1: the schedule is the same", same_as_before, said=True),
          Claim("14.10, Phase 2: now there is balancing, and the wait is shorter", shorter("wait", {"figure": "14.10", "phase": 2}), said=True,
                why="a job may grow when its MTCT is below the lower threshold, of which the text says nothing here; with 0.1 there, balancing has this effect."),
          Claim("14.10, Phase 2: with a lower threshold of 0.1, it is", shorter("wait", {"figure": "14.10", "phase": 2}, ("no balancing, lower 0.1", "balancing, lower 0.1")),
                said="it is"),
          Claim("14.10, Phase 2: with that, the makespan is shorter, too", shorter("makespan", {"figure": "14.10", "phase": 2}, ("no balancing, lower 0.1", "balancing, lower 0.1")),
                said="it is")),
         step_chart(lambda row: f"{row['figure']}, Phase {row['phase']}, {row['policy']}")),
    Item("balancing", "Figures 10.7 to 10.9", "Time balancing and resource filling by themselves",
         "Two and three jobs that scale well and are balanced while another one waits for 28 of 32 nodes; and two jobs that idle nodes are given to. At the first evaluation, after a minute.",
         ("balancing",), balancing_table,
         (Claim("10.7: two jobs get the nodes of the linear system, but for rounding", as_solved("10.7"), said=True),
          Claim("10.7: they end together", end_together("10.7"), said=True),
          Claim("10.8: three jobs get them", as_solved("10.8"), said=True),
          Claim("10.8: they end together", end_together("10.8"), said=True),
          Claim("10.8: the makespan is shorter", better("makespan", "10.8"), said=True),
          Claim("10.9: filling leaves less idle", better("idle", "10.9"), said=True)),
         step_chart(lambda row: f"{row['figure']}, {'with' if row['way'] == 'on' else 'without'}")),
    Item("six", "Figures 10.1 and 10.10", "Six jobs, static and elastic",
         "Six jobs on four nodes, of " + ", ".join(f"{count} x {units}" for count, units in SIX) + " nodes and units of time, submitted at once in this order. Static by `easy`, elastic by `ers`. From "
         "when to when each runs, in units: of a minute in epopsim, of three seconds under epoprm.", ("six", "six_real"), six_table,
         (Claim("static: later jobs start before earlier ones", in_order("rigid", "epopsim", False), said=True),
          Claim("elastic: jobs start in their order", in_order("malleable", "epopsim"), said=True),
          Claim("elastic: the makespan is shorter", sooner("epopsim"), said=True),
          Claim("elastic: a job starts on fewer nodes and grows", starts_smaller_and_grows("epopsim"), said=True),
          Claim("under epoprm: static jobs start out of order", in_order("rigid", "epoprm", False), said=True),
          Claim("under epoprm: elastic ones in their order", in_order("malleable", "epoprm"), said=True),
          Claim("under epoprm: the makespan is shorter", sooner("epoprm"), said=True)),
         step_chart(lambda row: f"{row['site']}, {'static' if row['kind'] == 'rigid' else 'elastic'}")),
    Item("orders", "Figure 9.2", "Nodes that are not in order",
         "Eight nodes under epoprm: jobs come, go and grow, so that one has nodes of lower numbers behind its own. It has to compute the same.", ("orders",), orders_table,
         (Claim("a job has nodes that are not in order", out_of_order, said=True), Claim("all jobs have their data right at the end", all_right, said=True)), orders_chart),
]
