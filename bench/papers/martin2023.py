"""I. Martín-Álvarez, J. I. Aliaga, M. Castillo, S. Iserte, R. Mayo: Dynamic spawning of MPI processes applied to malleability (2023).

Ways of spawning processes: *baseline* replaces all ranks, *merge* keeps them; under *single* one rank spawns, under *async* a helper
thread does while the ranks compute. Each row has the sizes `from` and `to`, and `way`; in seconds `rt` (how long the reconfiguration
takes), `ct` (how long the iterations took that were done meanwhile), and `it` (how many these were). `iteration` is what one takes
at `from`.
"""
import itertools
import math
import os
import statistics
import tempfile
import time

import ahead
import methods
from papers import Chart, Claim, Finding, Item, Paper, Unable, column, of, share, value
from papers.fitting import fit
from tables import number, ratio

SIZES = {"paper": (1, 10, 20, 40, 80, 120), "here": (1, 2, 4, 8, 16, 24)}  # those at the same place stand beside each other
QUICK = (1, 2, 4)
WAYS = {"baseline": "baseline plain", "baseline single": "baseline single", "merge": "merge plain", "merge single": "merge single"}
EXTRA = {"join": "join"}  # EPOP's own, of which the paper has nothing
GROWING, SHRINKING = tuple(WAYS), ("baseline", "baseline single", "merge")
SEQUENTIAL = {"strong": {"paper": 4, "here": 0.4}, "weak": {"paper": 0.2, "here": 0.05}}  # seconds of an iteration on one rank
AFTER = {"strong": 97, "weak": 27}  # iterations behind the reconfiguration, and 3 before it
BEFORE = 3

# ---- The paper's figures: (from, to), and of each way the seconds, or (rt, ct, it) ----

TABLE_1 = """
1 10 .316 .313 .284 .289    1 20 .861 1.035 .716 .721    1 40 .861 .995 .799 .809    1 80 .989 1.075 .932 1.211
1 120 .912 1.029 .992 1.023    10 20 1.286 1.654 .477 .486    10 40 1.213 1.635 .766 .743    10 80 1.293 1.693 .861 .888
10 120 1.315 1.636 .891 .915    20 40 1.304 1.991 .790 .821    20 80 1.407 1.932 .864 .958    20 120 1.413 1.870 1.089 1.071
40 80 1.429 2.022 .894 .877    40 120 1.526 2.113 .923 .942    80 120 1.522 2.316 .906 .996"""
TABLE_2 = """
10 1 .200 .205 .001    20 1 .400 .427 .001    20 10 .933 1.220 .001    40 1 .400 .423 .030    40 10 .883 1.165 .025
40 20 1.271 1.740 .116    80 1 .388 .418 .217    80 10 .881 1.189 .181    80 20 1.262 1.826 .149    80 40 1.415 2.039 .148
120 1 .375 .424 .231    120 10 .953 1.251 .148    120 20 1.229 1.776 .178    120 40 1.300 2.102 .351    120 80 1.529 2.235 .156"""
TABLE_3 = """
1 10 .355 4.026 1 .345 4.025 1 .307 4.015 1 .320 4.025 1    1 20 .900 4.086 1 1.099 4.069 1 .853 4.019 1 .991 4.016 1
1 40 .942 4.264 1 1.009 4.228 1 .877 4.024 1 .980 4.014 1    1 80 1.001 4.054 1 1.596 4.275 1 .891 4.060 1 1.113 4.070 1
1 120 .966 4.246 1 1.037 4.132 1 .898 4.054 1 1.124 4.086 1    10 20 1.317 2.312 2 2.676 4.240 6 .799 1.114 2 1.030 1.391 3
10 40 1.308 2.122 3 2.292 3.708 6 .915 1.462 3 1.367 1.742 4    10 80 1.463 2.159 3 2.322 3.678 5 1.085 1.496 3 1.456 1.799 4
10 120 1.356 2.123 3 2.555 3.227 5 1.130 1.570 3 1.444 1.804 4    20 40 1.386 1.946 3 3.049 3.769 7 .895 1.065 3 1.259 1.588 5
20 80 1.486 1.874 3 3.131 3.857 7 1.018 1.136 3 1.392 1.839 6    20 120 1.429 1.971 3 3.197 3.929 8 1.069 1.536 3 1.640 2.126 7
40 80 1.621 1.861 5 3.233 3.651 12 .926 1.170 5 1.247 1.457 8    40 120 1.499 1.940 5 2.850 3.169 11 .980 1.199 5 1.196 1.416 9
80 120 1.727 1.943 7 2.943 3.205 23 .934 1.059 7 1.231 1.304 16"""
TABLE_4 = """
10 1 .347 .417 1 .456 .818 2 .021 .401 1    20 1 .568 .837 2 .813 1.229 4 .024 .211 1    20 10 1.077 1.567 3 1.980 2.652 5 .021 .209 1
40 1 .502 .690 3 .700 .925 5 .146 .233 1    40 10 1.101 1.361 5 1.735 1.985 8 .150 .297 2    40 20 1.440 1.758 5 2.452 2.780 10 .164 .245 1
80 1 .544 .640 5 .625 .730 8 .103 .168 2    80 10 1.090 1.266 8 1.673 1.881 17 .138 .244 2    80 20 1.426 1.620 8 2.280 2.442 17 .235 .297 2
80 40 1.418 1.716 8 2.618 2.872 21 .180 .286 2    120 1 .516 .592 6 .569 .654 9 .337 .402 4    120 10 1.170 1.269 11 1.466 1.589 19 .352 .477 3
120 20 1.368 1.518 11 2.217 2.401 26 .315 .386 3    120 40 1.479 1.721 11 2.541 2.707 27 .358 .452 4    120 80 1.696 1.868 11 3.195 3.473 38 .324 .407 4"""
TABLE_5 = """
1 10 .375 .418 2 .359 .419 2 .291 .420 2 .313 .420 2    1 20 .914 1.020 5 1.050 1.217 6 .836 1.009 5 .980 1.013 5
1 40 - 1.026 5 1.118 1.215 6 .837 1.018 5 .918 1.020 5    1 80 .955 1.023 5 1.086 1.210 6 .880 1.026 5 1.047 1.219 6
1 120 .935 1.028 5 1.108 1.246 6 .917 1.030 5 1.140 1.271 6    10 20 1.203 1.530 4 2.199 2.813 9 .746 1.000 4 .932 1.088 5
10 40 1.219 1.811 5 2.026 2.682 9 .997 1.255 5 1.152 - 6    10 80 1.338 1.789 5 2.273 2.924 9 .950 1.268 5 1.343 1.755 7
10 120 1.262 1.778 5 2.272 2.984 9 .981 1.332 4 1.413 1.648 7    20 40 1.393 1.911 3 3.184 3.932 8 .872 1.104 3 1.314 1.618 5
20 80 1.567 2.446 4 3.025 3.809 7 .998 1.235 3 1.365 1.724 6    20 120 1.393 1.841 3 3.107 4.043 7 .985 1.191 3 1.549 1.842 7
40 80 1.496 2.002 3 3.407 4.341 9 .942 1.201 3 1.317 1.698 5    40 120 1.609 2.473 4 3.468 4.220 9 1.052 1.231 3 1.499 1.807 6
80 120 1.941 2.693 4 3.780 4.514 8 .989 1.291 3 1.394 1.763 6"""
TABLE_6 = """
10 1 .349 .414 2 .433 .619 3 .020 .201 1    20 1 .438 .778 2 .798 1.233 3 .015 .203 1    20 10 1.086 1.546 3 1.751 2.405 5 .016 .204 1
40 1 .665 .865 2 .869 1.351 4 .142 .284 1    40 10 1.227 1.577 3 1.943 2.511 5 .174 .296 1    40 20 1.417 2.077 3 2.463 3.446 6 .176 .309 1
80 1 .575 .874 2 .901 1.327 4 .317 .606 2    80 10 1.107 1.581 3 1.883 2.481 6 .298 .484 1    80 20 1.376 1.998 3 2.884 3.646 7 .291 .593 2
80 40 1.669 2.501 4 2.973 3.946 7 .257 .491 1    120 1 .630 .884 2 .976 1.366 4 .322 .600 2    120 10 1.153 1.547 3 2.129 2.730 6 .330 .606 2
120 20 1.368 1.984 3 2.728 3.462 6 .343 .711 2    120 40 1.605 2.119 3 3.068 3.890 7 .353 .720 2    120 80 1.700 2.406 3 3.551 4.348 8 .281 .672 2"""


def rows_of(text, ways, keys):
    """What stands in such a text; a hyphen is a figure that cannot be read."""
    numbers = [None if word == "-" else float(word) for word in text.split()]
    for line in zip(*[iter(numbers)] * (2 + len(ways) * len(keys))):
        for way, figures in zip(ways, zip(*[iter(line[2:])] * len(keys))):
            yield {"from": int(line[0]), "to": int(line[1]), "way": way, **dict(zip(keys, figures))}


def scaled(item, growing, shrinking):
    """Those of a benchmark that runs on, with what an iteration takes."""
    one = SEQUENTIAL[item]["paper"]
    for row in (*rows_of(growing, GROWING, ("rt", "ct", "it")), *rows_of(shrinking, SHRINKING, ("rt", "ct", "it"))):
        yield {"item": item, **row, "iteration": one / row["from"] if item == "strong" else one, "one": one}


SYNC = [{"item": "sync", **row} for row in (*rows_of(TABLE_1, GROWING, ("rt",)), *rows_of(TABLE_2, SHRINKING, ("rt",)))]
STRONG, WEAK = list(scaled("strong", TABLE_3, TABLE_4)), list(scaled("weak", TABLE_5, TABLE_6))

# ---- Measuring ----


def tour(sizes):
    """A path from the first size back to it that has each change between two of them once."""
    first, *rest = sizes
    for far in rest[1:]:
        yield from (first, far)
    yield first
    if rest:
        yield from tour(rest)
        yield first


def needs_spawn(here):
    if not methods.works(here.build, here.mpiexec):
        raise Unable("needs an MPI that can spawn and connect: make DEVICE=ch3:sock papers")


def sizes_here(here):
    return QUICK if here.quick else SIZES["here"]


def middle(found, **more):
    """Of each way and change, {(way, old, new): [rows]}, the medians."""
    for (way, old, new), rows in found.items():
        if not (new < old and way == "merge single"):  # where nothing is spawned it makes no difference who would have done it
            yield {"from": old, "to": new, "way": way, **{key: statistics.median(row[key] for row in rows) for key in rows[0]},
                   **more, "rounds": len(rows)}


def sync(here):
    """The ranks stand still meanwhile, so it is all the same what they compute."""
    needs_spawn(here)
    path, found = list(tour(sizes_here(here))), {}
    for _ in range(here.rounds(7)):
        for way, method in {**WAYS, **EXTRA}.items():
            results = {}
            methods.one_round(here.build, here.mpiexec, method, path, results)
            for (old, new), those in results.items():
                found.setdefault((way, old, new), []).extend({"rt": result["stall"]} for those in those.values() for result in those)
    return middle(found)


def meanwhile(times, at, lasts):
    """From the iterations, (when, how long): how many began between the request and the hold of the ranks or were running then, how
    long these took, and what one takes otherwise. The last one before the hold may have been made longer by nothing else."""
    during = [took for when, took in times if when + took > at["requested"] and when < at["agreed"]]
    before = [took for when, took in times if when + took <= at["requested"]][-BEFORE:]
    return {"rt": at["prepared"] - at["requested"] + lasts, "ct": sum(during), "it": len(during), "iteration": statistics.mean(before or [math.nan])}


def one_tour(here, method, path, scaling, one, steps):
    """What each resize of a job is like that computes meanwhile. It goes on for some iterations before each."""
    with tempfile.TemporaryDirectory(prefix="epop-papers-") as directory:
        file = os.path.join(directory, "times")
        job = methods.MethodJob(here.build, here.mpiexec, method, path, (here.build / "bench/paced.so", scaling, one, steps, file))
        try:
            done = []
            for old, new in zip(path, path[1:]):
                wait_for(file, BEFORE)
                done.append((old, new, job.adapt(new)))
                job.resident()
            return [(old, new, meanwhile(ahead.iterations(file), each["times"], each["times"]["committed"] - each["times"]["agreed"]))
                    for old, new, each in done]
        finally:
            job.end()


def written(file):
    return os.path.getsize(file) // 16 if os.path.exists(file) else 0


def wait_for(file, more):
    """Until so many more iterations are over."""
    wanted, deadline = written(file) + more + 1, time.monotonic() + 120
    while written(file) < wanted:
        if time.monotonic() > deadline:
            raise RuntimeError("the job computes no more")
        time.sleep(0.002)


def asynchronous(here, scaling, sizes, one, steps, rounds):
    path, found = list(tour(sizes)), {}
    for _ in range(rounds):
        for way, method in {**{way: f"{method} async" for way, method in WAYS.items()}, **EXTRA}.items():
            for old, new, result in one_tour(here, method, path, scaling, one, steps):
                found.setdefault((way, old, new), []).append(result)
    return middle(found, one=one)


def sleeping(scaling):
    """Ranks sleep for most of an iteration: there are more of them than cores."""
    def measure(here):
        needs_spawn(here)
        return asynchronous(here, scaling, sizes_here(here), SEQUENTIAL[scaling]["here"], 0, here.rounds(5))

    return measure


STEPS = 2e7  # some 50 ms


def busy(here):
    """Ranks compute all the time, as there; of few sizes, as there are two cores."""
    needs_spawn(here)
    return asynchronous(here, "weak", QUICK[:2] if here.quick else QUICK, 0, STEPS, here.rounds(5))


# ---- Tables ----


def change(row):
    return row["from"], row["to"]


def both(theirs, ours):
    """The changes beside each other, in the paper's order: those between sizes at the same places."""
    places = dict(zip(SIZES["here"], SIZES["paper"]))
    pairs = column(theirs, "from", "to")
    back = {(places[old], places[new]): (old, new) for old, new in column(ours, "from", "to") if old in places and new in places}
    return [(pair, back.get(pair)) for pair in pairs]


def named(pair):
    return f"{pair[0]} -> {pair[1]}" if pair else ""


def cell(rows, pair, way, show):
    found = [row for row in rows if pair and change(row) == pair and row["way"] == way]
    return show(found[0]) if found else ""


def side_by_side(ways, show, growing):
    """A column of the paper and one from here for each way."""
    def made(theirs, ours):
        those = [row for row in theirs if (row["to"] > row["from"]) == growing]
        pairs = both(those, [row for row in ours if (row["to"] > row["from"]) == growing])
        own = [way for way in EXTRA if any(row["way"] == way for row in ours)]
        heads = ["paper", *ways, "here", *ways, *own]
        rows = [[named(a), *(cell(those, a, way, show) for way in ways), named(b), *(cell(ours, b, way, show) for way in (*ways, *own))]
                for a, b in pairs]
        return heads, rows

    return made


def seconds(row):
    return number(row.get("rt"))


def with_iterations(row):
    return f"{number(row.get('rt'))} / {number(row.get('ct'))} / {number(row.get('it'))}"


def growing(rows):
    return [row for row in rows if row["to"] > row["from"]]


def shrinking(rows):
    return [row for row in rows if row["to"] < row["from"]]


def by_change(rows):
    """{(from, to): {way: row}}"""
    found = {}
    for row in rows:
        if row["way"] in WAYS:
            found.setdefault(change(row), {})[row["way"]] = row
    return found


# ---- Claims ----


def below(one, other, factor=1.0, key="rt", where=growing):
    """One way takes less than so much of the other."""
    def check(rows):
        return share(each[one][key] < factor * each[other][key] for each in by_change(where(rows)).values()
                     if each.get(one, {}).get(key) is not None and each.get(other, {}).get(key) is not None)

    return check


def fastest(ways, where, key="rt"):
    def check(rows):
        return share(min(each, key=lambda way: each[way][key] if each[way][key] is not None else math.inf) in ways
                     for each in by_change(where(rows)).values())

    return check


def most(one, other, where):
    """How many times as long the one takes at most."""
    def check(rows):
        found = [each[one]["rt"] / each[other]["rt"] for each in by_change(where(rows)).values() if one in each and other in each]
        return Finding(max(found) >= 2, f"up to {ratio(max(found))} times") if found else None

    return check


def extra_iterations(rows):
    """Those that a rank which spawns alone leaves time for."""
    found = [each[f"{way} single"]["it"] >= each[way]["it"] for each in by_change(rows).values() for way in ("baseline", "merge")
             if way in each and f"{way} single" in each]
    return share(found)


def alphas(rows, item):
    """{(from, to): {way: how many times as long it takes while the ranks compute}}"""
    sync_rows = by_change(of(rows, item="sync"))
    return {pair: {way: row["rt"] / sync_rows[pair][way]["rt"] for way, row in each.items() if row["rt"] is not None and way in sync_rows.get(pair, {})}
            for pair, each in by_change(of(rows, item=item)).items()}


def omegas(rows, item):
    """The same of an iteration, over one at the same size."""
    return {pair: {way: row["ct"] / row["it"] / row["iteration"] for way, row in each.items() if row["ct"] is not None and row["it"]}
            for pair, each in by_change(of(rows, item=item)).items()}


def larger(values, item, limit=1.0):
    def check(rows):
        return share((found > limit for each in values(rows, item).values() for found in each.values()), 0.66)

    return check


def orders(values, item, one, other):
    def check(rows):
        return share((each[one] <= each[other] for each in values(rows, item).values() if one in each and other in each), 0.66)

    return check


# ---- Which way is best: equation 7 ----


def executions(rows, item):
    """{(from, to): {way: seconds of the whole benchmark, and of the change in it}}, by equation 7, by which an asynchronous change takes
    as long as the iterations meanwhile."""
    found = {}
    for row in (row for row in rows if row["item"] in ("sync", item) and row["way"] in WAYS):
        old, new = change(row)
        one = value(rows, "one", item=item)
        length = {size: one / size if item == "strong" else one for size in (old, new)}
        is_sync = row["item"] == "sync"
        took, done = (row["rt"], 0) if is_sync else (row["ct"], row["it"])
        if took is not None:
            name = row["way"] if is_sync else f"{row['way']} async"
            found.setdefault((old, new), {})[name] = {"seconds": BEFORE * length[old] + took + max(0, AFTER[item] - done) * length[new], "took": took}
    return found


def best(rows, item, view):
    """{(from, to): way}. The site's view: among those whose change takes 10 % longer than the shortest at most."""
    chosen = {}
    for pair, ways in executions(rows, item).items():
        least = min(each["took"] for each in ways.values())
        allowed = {way: each for way, each in ways.items() if view == "program" or each["took"] <= 1.1 * least}
        chosen[pair] = min(allowed, key=lambda way: allowed[way]["seconds"])
    return chosen


def best_is(item, view, where, test):
    def check(rows):
        return share((test(way) for pair, way in best(rows, item, view).items() if where(*pair)), 0.6)

    return check


def grid(item):
    """As figures 8 and 9, in both views: from by to."""
    def made(theirs, ours):
        heads = ["view", "from \\ to", *(f"{there}; {here}" for there, here in zip(*SIZES.values()))]
        rows = []
        for view in ("program", "site"):
            found = {"paper": best(theirs, item, view), "here": best(ours, item, view) if ours else {}}
            for place, sizes in enumerate(heads[2:]):
                rows.append([view, sizes, *(grid_cell(found, place, other) for other in range(len(heads) - 2))])
        return heads, rows

    return made


def grid_cell(found, old, new):
    """The paper's choice and the one from here, of sizes at these places."""
    return "; ".join(filter(None, (short(found[side].get((SIZES[side][old], SIZES[side][new]))) for side in found))) or "-"


def short(way):
    """In few letters: B, BS, M, MS, and a behind the asynchronous ones."""
    return way and "".join(word[0].upper() for word in way.replace(" async", "").split()) + ("a" if way.endswith("async") else "")


# ---- Equations 1 to 6 ----


def spawns(rows):
    """T_spw(np, n) as a + b n + c np, fitted to baseline, which does nothing else (equation 1)."""
    points = [((1, each["baseline"]["to"], each["baseline"]["from"]), each["baseline"]["rt"]) for each in by_change(of(rows, item="sync")).values()]
    factors = fit(points) if len(points) >= 3 else None
    return lambda ranks, count: sum(a * b for a, b in zip(factors, (1, count, ranks))) if factors else None


def equations(rows):
    """Rows of figures: equation, what it says, and the values that follow from it."""
    changes, cost = by_change(of(rows, item="sync")), spawns(rows)
    if not changes or cost(1, 1) is None:
        return {}
    grown = [each for pair, each in changes.items() if pair[1] > pair[0]]
    found = {
        "1": [each["baseline"]["rt"] / cost(*pair) for pair, each in changes.items()],
        "2": [each["merge"]["rt"] / cost(each["merge"]["from"], each["merge"]["to"] - each["merge"]["from"]) for each in grown],
        "3": [each["merge"]["rt"] / each["baseline"]["rt"] for pair, each in changes.items() if pair[1] < pair[0]],
        "4": [(each["baseline single"]["rt"] - cost(1, pair[1])) / each["baseline"]["rt"] for pair, each in changes.items()],
        "5": [(each["merge single"]["rt"] - cost(1, pair[1] - pair[0])) / each["merge"]["rt"] for pair, each in changes.items() if "merge single" in each],
    }
    meant = [(row["it"], math.ceil(row["rt"] / (row["ct"] / row["it"]))) for row in rows
             if row["item"] in ("strong", "weak") and row["way"] in WAYS and row["rt"] is not None and row["ct"] is not None and row["it"]]
    return {**found, "6": [real / predicted for real, predicted in meant if predicted]}


MEANINGS = {
    "1": "baseline / T_spw as fitted", "2": "merge, growing / T_spw of the new ranks", "3": "merge, shrinking / baseline",
    "4": "baseline single: T_con / baseline", "5": "merge single: T_con and T_mrg / merge", "6": "iterations done / predicted",
}


def quartiles(values):
    if not values:
        return ""
    low, mid, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return f"{ratio(mid)} ({ratio(low)} to {ratio(high)})"


def equation_table(theirs, ours):
    sides = [equations(theirs), equations(ours)]
    return ["equation", "what", "paper", "here"], [[name, what, *(quartiles(side.get(name)) for side in sides)] for name, what in MEANINGS.items()]


def middle_of(name, test, show):
    def check(rows):
        found = equations(rows).get(name)
        return Finding(test(statistics.median(found)), show(statistics.median(found))) if found else None

    return check


# ---- Charts ----


def sides(theirs, ours):
    return {"in the paper": theirs, "here": ours}


def bars(values, unit="s", log="y", y="time"):
    """values(rows): {(from, to): {way: value}}"""
    def made(theirs, ours):
        panels = {}
        for title, rows in sides(theirs, ours).items():
            found = values(rows) if rows else {}
            ways = dict.fromkeys(way for each in found.values() for way in each)
            panels[title] = {way: [(named(pair), each[way]) for pair, each in sorted(found.items()) if each.get(way)] for way in ways}
        return [Chart("dots", "change", y, unit=unit, log=log, panels=panels)]

    return made


def key_of(key, where, item=None):
    """Of all ways that there are, also those that the paper has not."""
    def values(rows):
        found = {}
        for row in where(of(rows, item=item) if item else rows):
            if row.get(key) is not None:
                found.setdefault(change(row), {})[row["way"]] = row[key]
        return found

    return values


def of_item(values, item, where):
    return lambda rows: {pair: each for pair, each in values(rows, item).items() if where([{"from": pair[0], "to": pair[1]}])}


def best_charts(item):
    def made(theirs, ours):
        return [Chart("grid", "to", "from", panels={f"{title}, for the {view}": {"best": [(str(new), str(old), short(way))
                      for (old, new), way in sorted(best(rows, item, view).items())]}
                      for title, rows in sides(theirs, ours).items() if rows for view in ("program", "site")})]

    return made


# ---- Items ----


def factor_table(values, item):
    """Medians of each way, growing and shrinking."""
    def made(theirs, ours):
        rows = []
        for title, where in (("growing", growing), ("shrinking", shrinking)):
            for way in GROWING if where is growing else SHRINKING:
                cells = []
                for side in (theirs, ours):
                    found = [each[way] for each in of_item(values, item, where)(side).values() if way in each] if side else []
                    cells.append(quartiles(found))
                rows.append([title, way, *cells])
        return ["", "way", "paper", "here"], rows

    return made


def factors(name, of_what, item, values, symbol, text, claims, needs):
    theirs = SYNC + (STRONG if item == "strong" else WEAK)
    return Item(name, of_what, f"{symbol}, {item} scaling", text, needs, factor_table(values, item), claims,
                lambda a, b: [chart for where in (growing, shrinking) for chart in bars(of_item(values, item, where), "", "y", symbol)(a, b)], theirs)


def busy_table(theirs, ours):
    """The paper's are those of figure 5 and 7 together."""
    rows = [[named(pair), *(ratio(each.get(way)) for way in GROWING)] for pair, each in omegas(ours, "busy").items()]
    return ["change here", *GROWING], rows


def more_when_busy(rows):
    found = [each for ways in omegas(rows, "busy").values() for each in ways.values()]
    return Finding(statistics.median(found) > 1.05, f"{ratio(statistics.median(found))} in the median") if found else None


def is_async(way):
    return way.endswith("async")


def grew(old, new):
    return new > old


def shrank(old, new):
    return new < old


NOT_OVERSUBSCRIBED = "ranks sleep in their iterations here, so helper threads and new processes take no time from them; busy ranks are in an item of their own."
SEVERAL = "on one host, starting the processes takes nearly all of the time, whoever asks for them, and connecting them little."

TABLES = [
    Item("table1", "Table 1", "Growing while ranks stand still", "Seconds from the first rank that stands still to the first that goes on; join is EPOP's "
         "own way, for comparison.", ("sync",), side_by_side(GROWING, seconds, True),
         (Claim("merge is the fastest way, by itself or single", fastest(("merge", "merge single"), growing)),
          Claim("merge takes less than baseline where more than one rank is there before", lambda rows: below("merge", "baseline")([row for row in rows if row["from"] > 1])),
          Claim("baseline takes at least twice as long as merge somewhere", most("baseline", "merge", growing)),
          Claim("a single spawning rank makes baseline slower", below("baseline", "baseline single"), why=SEVERAL),
          Claim("a single spawning rank makes no large difference under merge",
                lambda rows: share(abs(each["merge single"]["rt"] / each["merge"]["rt"] - 1) <= 0.3 for each in by_change(growing(rows)).values()))),
         bars(key_of("rt", growing)), SYNC),
    Item("table2", "Table 2", "Shrinking while ranks stand still", "The same for shrinking. Under merge nothing is spawned.", ("sync",),
         side_by_side(SHRINKING, seconds, False),
         (Claim("merge is the fastest way", fastest(("merge",), shrinking)),
          Claim("merge takes less than half of baseline", below("merge", "baseline", 0.5, where=shrinking)),
          Claim("a single spawning rank makes baseline slower", below("baseline", "baseline single", where=shrinking), why=SEVERAL)),
         bars(key_of("rt", shrinking)), SYNC),
]
for title, item, paper, numbers in (("strong", "strong", STRONG, "3 4"), ("weak", "weak", WEAK, "5 6")):
    for table, where, ways, verb in zip(numbers.split(), (growing, shrinking), (GROWING, SHRINKING), ("Growing", "Shrinking")):
        TABLES.append(Item(
            f"table{table}", f"Table {table}", f"{verb} while ranks compute, {title} scaling",
            f"Each cell has the seconds of the reconfiguration, those of the iterations done meanwhile, and their number. An iteration takes {SEQUENTIAL[item]['paper']} s "
            f"there and {SEQUENTIAL[item]['here']} s here{' on one rank, and less on more' if item == 'strong' else ''}.",
            (item,), side_by_side(ways, with_iterations, where is growing),
            (Claim("merge is the fastest way, by itself or single", fastest(("merge", "merge single"), where)),
             Claim("the iterations done meanwhile take longer than the reconfiguration",
                   lambda rows, where=where: share(row["ct"] > row["rt"] for row in where(rows) if row["way"] in WAYS and row["ct"] is not None and row["rt"] is not None),
                   why="the end of a change, in which the ranks stand still, is part of the reconfiguration, and iterations are short beside it."),
             Claim("with a single spawning rank at least as many iterations are done meanwhile", lambda rows, where=where: extra_iterations(where(rows)), why=SEVERAL)),
            bars(key_of("rt", where)), paper))

FACTORS = [
    factors("figure4", "Figure 4", "strong", alphas, "alpha", "How many times as long a reconfiguration takes while the ranks compute. Median and quartiles of all changes.",
            (Claim("it takes longer", larger(alphas, "strong"), why=NOT_OVERSUBSCRIBED),), ("sync", "strong")),
    factors("figure5", "Figure 5", "strong", omegas, "omega", "How many times as long an iteration takes meanwhile.",
            (Claim("it takes longer", larger(omegas, "strong", 1.05), why=NOT_OVERSUBSCRIBED),
             Claim("less under merge than under baseline", orders(omegas, "strong", "merge", "baseline"), why=NOT_OVERSUBSCRIBED)), ("strong",)),
    factors("figure6", "Figure 6", "weak", alphas, "alpha", "As figure 4.",
            (Claim("it takes longer", larger(alphas, "weak"), why=NOT_OVERSUBSCRIBED),), ("sync", "weak")),
    factors("figure7", "Figure 7", "weak", omegas, "omega", "As figure 5.",
            (Claim("it takes longer", larger(omegas, "weak", 1.05), why=NOT_OVERSUBSCRIBED),
             Claim("less under merge than under baseline", orders(omegas, "weak", "merge", "baseline"), why=NOT_OVERSUBSCRIBED)), ("weak",)),
    Item("busy", "Figures 5 and 7", "omega of ranks that compute", "As there, ranks compute without a pause, on 1, 2 and 4 ranks here.", ("busy",), busy_table,
         (Claim("an iteration takes longer meanwhile", more_when_busy, said=True),),
         lambda theirs, ours: [Chart("dots", "change", "omega", panels={"here": {way: [(named(pair), each[way]) for pair, each in omegas(ours, "busy").items() if way in each]
                                                                                for way in GROWING}})] if ours else []),
]


def best_item(figure, item, claims):
    return Item(f"figure{figure}", f"Figure {figure}", f"The best way, {item} scaling",
                f"By equation 7, for a benchmark of {BEFORE} iterations before the change and {AFTER[item]} behind it. To the program the best way is that with the shortest "
                "execution; to the site it is that among those whose change takes 10 % longer than the shortest at most. The paper's sizes and choice come first in each "
                "cell. B baseline, M merge, S single, a asynchronous.",
                ("sync", item), grid(item), claims, best_charts(item), SYNC + (STRONG if item == "strong" else WEAK))


BEST = [
    best_item(8, "strong", (
        Claim("program: merge is best for growing", best_is("strong", "program", grew, lambda way: way.startswith("merge"))),
        Claim("program: a synchronous way is best for growing", best_is("strong", "program", grew, lambda way: not is_async(way)),
              why="processes start while the ranks compute, at hardly any cost to them, and the ranks stand still for the end of it alone."),
        Claim("program: an asynchronous way is best for shrinking", best_is("strong", "program", shrank, is_async)),
        Claim("site: merge is best for growing", best_is("strong", "site", grew, lambda way: way.startswith("merge"))),
        Claim("site: merge is best for shrinking", best_is("strong", "site", shrank, lambda way: way.startswith("merge"))))),
    best_item(9, "weak", (
        Claim("program: an asynchronous way is best for growing", best_is("weak", "program", grew, is_async)),
        Claim("program: merge is best for shrinking", best_is("weak", "program", shrank, lambda way: way.startswith("merge"))),
        Claim("site: synchronous merge is best for growing", best_is("weak", "site", grew, lambda way: way.startswith("merge") and not is_async(way)),
              why="where a change takes many iterations, the last of them adds less than the 10 % that are allowed."),
        Claim("site: merge is best for shrinking", best_is("weak", "site", shrank, lambda way: way.startswith("merge"))))),
]

EQUATIONS = Item(
    "equations", "Equations 1 to 6", "What a reconfiguration consists of",
    "T_spw(NP, n), the time to spawn n processes from NP ranks, is fitted to baseline as a + b n + c NP. What the equations say of the other ways follows from it. "
    "Median and quartiles of all changes.", ("sync", "strong", "weak"), equation_table,
    (Claim("1: spawning depends on both numbers in a straight line, within 30 %", middle_of("1", lambda v: 0.7 < v < 1.3, lambda v: f"{ratio(v)} of the line")),
     Claim("2: merging costs little beside spawning the new ranks", middle_of("2", lambda v: v < 1.5, lambda v: f"{ratio(v)} times the spawn")),
     Claim("3: a split costs less than half of a spawn", middle_of("3", lambda v: v < 0.5, lambda v: f"{ratio(v)} of it")),
     Claim("4: with a single spawning rank, connecting costs something", middle_of("4", lambda v: v > 0.05, lambda v: f"{ratio(v)} of baseline"), why=SEVERAL),
     Claim("6: the number of iterations done is the predicted one", middle_of("6", lambda v: 0.8 <= v <= 1.25, lambda v: f"{ratio(v)} of it in the median"),
           why="iterations that were running at the request, or until all ranks held, count here.")),
    lambda theirs, ours: [Chart("dots", "equation", "ratio", log="y", panels={title: {"median": [(name, abs(statistics.median(found))) for name, found in equations(rows).items() if found]}
                                                                             for title, rows in sides(theirs, ours).items() if rows})], SYNC + STRONG + WEAK)

PAPER = Paper(
    "martin2023", "Dynamic spawning of MPI processes applied to malleability", "I. Martín-Álvarez, J. I. Aliaga, M. Castillo, S. Iserte, R. Mayo (2023)",
    "6 hosts of 20 cores, MPICH 3.4.3, 1 to 120 ranks",
    {"sync": sync, "strong": sleeping("strong"), "weak": sleeping("weak"), "busy": busy},
    [*TABLES, *FACTORS, *BEST, EQUATIONS])
