"""D. Huber: Towards dynamic resource management with MPI sessions and PMIx (master's thesis, TU München 2021), chapter 8.

Resource changes of a synthetic loop and of a shallow-water loop. Rows are in seconds. A change has `start`, the ranks without it, and
`delta`, those that it adds or removes; `adds` says which.
"""
import statistics

import methods
import psets
from papers import Chart, Claim, Finding, Item, Paper, Unable, column, grows, of, share, value
from tables import number, ratio

STARTS, LIMIT, DELTA = (2, 4, 6), 8, 2  # a fourteenth of those there: 28, 56, 84, and 112
PHASES = {"query": "1, query", "operation": "2, sets", "accept": "3, accept", "communicator": "communicator"}

# ---- The paper's figures ----

ADDED = [(28, 1.445, 1.670, .01156, 1.209), (56, 1.642, 1.692, .01689, 1.417), (84, 1.606, 1.690, .01849, 1.375)]
REMOVED = [(28, .08827, .00729), (56, .10880, .01113), (84, .12586, .01485)]
CHANGES = [{"item": "changes", "start": 28, "delta": delta, "adds": True, "blocking": blocking, "total": total, "started": started, "session": session}
           for delta, waiting, going_on, started, session in ADDED for blocking, total in ((True, waiting), (False, going_on))]
CHANGES += [{"item": "changes", "start": 28, "delta": delta, "adds": False, "blocking": False, "total": total, "query": query}
            for delta, total, query in REMOVED]
# Lowest and highest, as the text has them.
RANGES = [{"item": "changes", "phase": phase, "adds": adds, "least": least, "most": highest} for adds, phase, least, highest in (
    (True, "query", .005, .011), (True, "operation", .0008, .0015), (True, "accept", .073, .135), (True, "communicator", .029, .035),
    (False, "accept", .050, .060))]
PARTS = [{"item": "series", "adds": True, "part": part, "least": least, "middle": (least + highest) / 2, "most": highest} for part, least, highest in (
    ("first", .0485, .0538), ("pending", .0003, .0004), ("last", .0550, .0705))]
PARTS += [{"item": "series", "adds": False, "ranks": ranks, "overhead": overhead} for ranks, overhead in ((84, .11278), (56, .1087), (28, .0714))]
WATER = [{"item": "water", "ranks": ranks, "gain": gain, "overhead": overhead, "data": data, "pays": pays} for ranks, gain, overhead, data, pays in (
    (56, .5037, .1868, .385, .37), (84, .2533, .285, .240, 1.13), (112, .1068, .3319, .181, 3.11))]

# ---- Measuring ----


def needs_join(here):
    if not methods.works(here.build, here.mpiexec):
        raise Unable("needs an MPI that can start processes: make DEVICE=ch3:sock papers")


def in_seconds(took, keys):
    return {key: took[f"{key}_ms"] / 1e3 for key in keys}


def changes(here):
    """Each number of ranks, and each that are added to it and removed again; while it waits, and going on meanwhile."""
    needs_join(here)
    for start in STARTS[:1] if here.quick else STARTS:
        for delta in range(DELTA, LIMIT - start + 1, DELTA):
            for wait in (10, 0):
                for old, new, took in psets.changes(here.build, here.mpiexec, "psets", "synthetic", here.rounds(15, 2), delta, start, wait):
                    yield {"start": start, "delta": delta, "adds": new > old, "blocking": wait > 0,
                           **in_seconds(took, ("total", *PHASES, "started", "session"))}


def parts(rows):
    """Of the overhead of additions: in the first iteration of each, in those in which it is pending, and in the last one."""
    found, present = {"first": [], "pending": [], "last": []}, []
    for row in rows:
        if row["pending"]:
            present.append(row["overhead_ms"] / 1e3)
        elif present:
            found["first"].append(present[0])
            found["pending"] += present[1:]
            found["last"].append(row["overhead_ms"] / 1e3)
            present = []
    return found


def removals(iterations, start):
    """{ranks that stay: overhead of the change to them}"""
    found, began, overhead = {}, start, 0
    for row in iterations:
        overhead += row["overhead_ms"] / 1e3
        if row["ranks"] != began:
            found[row["ranks"]] = overhead
            began, overhead = row["ranks"], 0
    return found


def one_series(here, start, limit):
    """The iterations of the first round, and what follows from those of all rounds."""
    rounds = [psets.series(here.build, here.mpiexec, "synthetic", 60 if here.quick else 120, DELTA, 8000000, start, limit, 10)[0]
              for _ in range(here.rounds(5))]
    adds = limit > start
    for row in rounds[0]:
        yield {"adds": adds, "iteration": row["iteration"], "ranks": row["ranks"], "pending": row["pending"],
               **in_seconds(row, ("overhead", "work", "sync"))}
    for name in ("first", "pending", "last") if adds else ():
        found = [each for iterations in rounds for each in parts(iterations)[name]]
        if found:
            yield {"adds": True, "part": name, "least": min(found), "middle": statistics.median(found), "most": max(found)}
    for ranks in removals(rounds[0], start) if not adds else ():
        yield {"adds": False, "ranks": ranks, "overhead": statistics.median(removals(iterations, start)[ranks] for iterations in rounds)}


def series(here):
    """Up to the limit, and down again."""
    needs_join(here)
    start, limit = (2, 4) if here.quick else (STARTS[0], LIMIT)
    yield from one_series(here, start, limit)
    yield from one_series(here, limit, start)


def quiet(iterations, ranks):
    """What one takes at this size while nothing is pending."""
    found = [row["work_ms"] + row["sync_ms"] for row in iterations if row["ranks"] == ranks and not row["pending"] and not row["overhead_ms"]]
    return statistics.median(found) / 1e3 if found else None


def water(here):
    """What each change of the shallow-water loop costs and gains, as parts of an iteration before it."""
    needs_join(here)
    iterations, size, limit = (60, 512, 2) if here.quick else (120, 2048, 4)
    found = {}
    for _ in range(here.rounds(3)):
        for ranks, row in costs(*psets.series(here.build, here.mpiexec, "water", iterations, 1, size, 1, limit, 10)):
            found.setdefault(ranks, []).append(row)
    for ranks, rows in found.items():
        row = {key: statistics.median(each[key] for each in rows) for key in rows[0]}
        gain, cost = 1 - row["after"] / row["before"], (row["spent"] + row["data"]) / row["before"]
        yield {"ranks": ranks, **row, "gain": gain, "overhead": cost, "pays": cost / gain if gain > 0 else None}


def costs(iterations, done):
    """(ranks behind it, times) of each change that has iterations before and behind it."""
    for change in done:
        before, after = quiet(iterations, change["from"]), quiet(iterations, change["to"])
        if before and after:
            spent = sum(row["overhead_ms"] for row in iterations if of_change(row, change, iterations)) / 1e3
            yield change["to"], {"before": before, "after": after, "spent": spent, "data": change["data_ms"] / 1e3}


def of_change(row, change, iterations):
    """Was it pending then, or did it end with that?"""
    first = next(each["iteration"] for each in iterations if each["ranks"] == change["to"])
    return row["iteration"] == first or (row["pending"] and row["ranks"] == change["from"])


# ---- Tables ----


def ms(seconds):
    return "" if seconds is None else number(1e3 * seconds)


def by_delta(adds, columns):
    """Changes from the least number of ranks; columns: (head, key, blocking)."""
    def made(theirs, ours):
        rows = []
        for paper, here in ((28, 2), (56, 4), (84, 6)):
            cells = []
            for _, key, blocking in columns:
                cells += [ms(value(of(theirs, start=28, adds=adds, blocking=blocking), key, delta=paper)),
                          ms(value(of(ours, start=STARTS[0], adds=adds, blocking=blocking), key, delta=here))]
            rows.append([f"{paper}; {here}", *cells])
        heads = [head for title, _, _ in columns for head in (f"{title}, paper", "here")]
        return ["processes (paper; here)", *heads], rows

    return made


def bounds(rows, phase, adds):
    """Lowest and highest: of the text, or of all changes."""
    told = of(rows, phase=phase, adds=adds)
    found = [row[phase] for row in of(rows, adds=adds, blocking=False) if phase in row and "session" in row]
    return (told[0]["least"], told[0]["most"]) if told else (min(found), max(found)) if found else None


def span(limits):
    return f"{ms(limits[0])} to {ms(limits[1])}" if limits else ""


def phases(adds):
    def made(theirs, ours):
        return ["phase, ms", "paper", "here"], [[title, span(bounds(theirs, phase, adds)), span(bounds(ours, phase, adds))]
                                                for phase, title in PHASES.items()]

    return made


def series_table(theirs, ours):
    rows = []
    for part, title in (("first", "adding: first iteration"), ("pending", "adding: while it is pending"), ("last", "adding: last iteration")):
        limits = [next(((row["least"], row["most"]) for row in of(side, part=part)), None) for side in (theirs, ours)]
        rows.append([title, *map(span, limits)])
    for paper, here in zip(of(theirs, adds=False), (6, 4, 2)):
        own = value([row for row in ours if "iteration" not in row], "overhead", adds=False, ranks=here)
        rows.append([f"removing: {paper['ranks']}; {here} ranks stay", ms(paper["overhead"]), ms(own)])
    return ["overhead, ms", "paper", "here"], rows


def water_table(theirs, ours):
    rows = []
    for place, row in enumerate(theirs):
        own = ours[place] if place < len(ours) else {}
        cells = [(percent(row[key]), percent(own.get(key))) for key in ("gain", "overhead")]
        rows.append([f"{row['ranks']}; {own.get('ranks', '')}", *(cell for pair in cells for cell in pair), ratio(row["pays"]), ratio(own.get("pays")) or ("never" if own else "")])
    return ["ranks (paper; here)", "gain, paper", "here", "overhead, paper", "here", "pays after iterations, paper", "here"], rows


def percent(part):
    return "" if part is None else f"{number(100 * part)} %"


# ---- Claims ----


def first(rows, adds, blocking=False):
    """{delta: row} from the least number of ranks."""
    start = min(column(rows, "start"))
    return {row["delta"]: row for row in of(rows, start=start, adds=adds, blocking=blocking)}


def slower_going_on(rows):
    waiting, going_on = first(rows, True, True), first(rows, True)
    return share(going_on[delta]["total"] > waiting[delta]["total"] for delta in waiting)


def part(key, adds, test, blocking=False):
    """Of the total."""
    def check(rows):
        parts_of = [row[key] / row["total"] for row in first(rows, adds, blocking).values() if key in row]
        middle = statistics.median(parts_of)
        return Finding(test(middle), f"{percent(middle)} of it")

    return check


def grows_by(key, adds):
    def check(rows):
        found = [(delta, row[key]) for delta, row in first(rows, adds).items()]
        return Finding(grows(found), " to ".join(ms(seconds) for _, seconds in (found[0], found[-1])) + " ms") if len(found) > 1 else None

    return check


def less_than_adding(rows):
    added, removed = first(rows, True), first(rows, False)
    parts_of = [removed[delta]["total"] / added[delta]["total"] for delta in removed]
    return Finding(max(parts_of) < 0.25, f"at most {percent(max(parts_of))} of it")


def is_most(adds):
    """Phase 3, by the highest values."""
    def check(rows):
        limits = {phase: bounds(rows, phase, adds) for phase in PHASES}
        known = {phase: each[1] for phase, each in limits.items() if each}
        return Finding(max(known, key=known.get) == "accept", f"{ms(known['accept'])} of {ms(sum(known.values()))} ms") if len(known) > 1 else None

    return check


def is_least(rows):
    limits = {phase: bounds(rows, phase, True)[1] for phase in PHASES}
    return Finding(min(limits, key=limits.get) == "operation", f"{ms(limits['operation'])} ms at most")


def measured(rows):
    return [row for row in rows if "session" in row and not row["blocking"]]


def spread(phase, adds, key):
    """How many times as long it takes at most by one of the numbers, the other being the same."""
    def check(rows):
        known = of(measured(rows), adds=adds) if any(phase in row for row in rows) else []
        other = {"start": "delta", "delta": "start"}[key]
        ratios = []
        for fixed in column(known, other):
            found = [row[phase] for row in of(known, **{other: fixed})]
            ratios += [max(found) / min(found)] if len(found) > 1 else []
        return Finding(max(ratios) < 2, f"at most {ratio(max(ratios))} times as long") if ratios else None

    return check


def grows_in(phase):
    def check(rows):
        known = of(measured(rows), adds=True)
        found = [(row["delta"], row[phase]) for row in known if row["start"] == min(column(known, "start"))] if any(phase in row for row in known) else []
        return Finding(grows(found), f"{ms(found[0][1])} to {ms(found[-1][1])} ms") if len(found) > 1 else None

    return check


def less_in_accept(rows):
    removed, added = bounds(rows, "accept", False), bounds(rows, "accept", True)
    return Finding(removed[1] < added[1], f"{ms(removed[1])} of {ms(added[1])} ms") if removed and added else None


def hardly_any_while_pending(rows):
    limits = {row["part"]: row for row in rows if "part" in row}
    if set(limits) < {"first", "pending", "last"}:
        return None
    pending, ends = limits["pending"]["middle"], max(limits["first"]["middle"], limits["last"]["middle"])
    return Finding(pending < 0.2 * ends, f"{ms(pending)} of {ms(ends)} ms")


def less_with_fewer(rows):
    found = [(row["ranks"], row["overhead"]) for row in of(rows, adds=False) if "iteration" not in row]
    return Finding(grows(found, 0.5), ", ".join(ms(overhead) for _, overhead in found) + " ms") if len(found) > 1 else None


def iterations_of(rows, adds=True):
    return [row for row in of(rows, adds=adds) if "iteration" in row]


def scales(rows):
    """Of the fastest iterations at each size, in which no other rank had the core."""
    least = {}
    for row in iterations_of(rows):
        least[row["ranks"]] = min(row["work"], least.get(row["ranks"], row["work"]))
    sizes = sorted(least)
    if len(sizes) < 2:
        return None
    parallel = least[sizes[0]] * sizes[0] / (least[sizes[-1]] * sizes[-1])
    return Finding(parallel > 0.8, f"efficiency {ratio(parallel)} from {sizes[0]} to {sizes[-1]} ranks")


def waits_more_at_first(rows):
    found = []
    for adds in (True, False):
        those = iterations_of(rows, adds)
        usual = {ranks: statistics.median(row["sync"] for row in those if row["ranks"] == ranks) for ranks in column(those, "ranks")}
        found += [row["sync"] > usual[row["ranks"]] for before, row in zip(those, those[1:]) if row["ranks"] != before["ranks"]]
    return share(found)


def each_gains(rows):
    return Finding(all(row["gain"] > 0 for row in rows), ", ".join(percent(row["gain"]) for row in rows)) if rows else None


def gains_less(rows):
    gains = [row["gain"] for row in rows]
    return Finding(gains == sorted(gains, reverse=True), ", ".join(map(percent, gains))) if len(gains) > 1 else None


def pays_later(rows):
    found = [row["pays"] if row["pays"] is not None else float("inf") for row in rows]
    return Finding(found == sorted(found), ", ".join(ratio(each) if each < 1e9 else "never" for each in found)) if len(found) > 1 else None


CORES = "there are two cores, so that a third rank has none of its own."

# ---- Charts ----


def phase_chart(adds):
    def made(theirs, ours):
        panels = {f"here, {title}": {f"{'from' if adds else 'to'} {start} ranks": [(row["delta"], row[phase]) for row in of(measured(ours), adds=adds, start=start)]
                                     for start in column(measured(ours), "start")} for phase, title in PHASES.items()}
        told = {"in the paper": {title: [(limit, row[limit]) for row in of(theirs, phase=phase, adds=adds) for limit in ("least", "most")]
                                 for phase, title in PHASES.items() if of(theirs, phase=phase, adds=adds)}}
        charts = [Chart("dots", "lowest and highest", "time", unit="s", log="y", panels=told)]
        return charts + ([Chart("lines", "processes added" if adds else "processes removed", "time", unit="s", panels=panels)] if ours else [])

    return made


def total_chart(adds):
    def made(theirs, ours):
        def of_side(rows):
            kinds = ((True, "blocking"), (False, "non-blocking")) if adds else ((False, "removing"),)
            return {name: [(delta, row["total"]) for delta, row in first(rows, adds, blocking).items()] for blocking, name in kinds}

        panels = {"in the paper": of_side(theirs), **({"here": of_side(ours)} if ours else {})}
        return [Chart("lines", "processes", "time of a change", unit="s", panels=panels)]

    return made


def series_chart(theirs, ours):
    told = {"in the paper": {"lowest": [(row["part"], row["least"]) for row in theirs if "part" in row],
                             "highest": [(row["part"], row["most"]) for row in theirs if "part" in row]}}
    charts = [Chart("dots", "iteration of a change", "overhead", unit="s", log="y", panels=told)]
    for adds, title in ((True, "adding"), (False, "removing")):
        rows = iterations_of(ours, adds)
        if rows:
            panels = {f"here, {title}": {key: [(row["iteration"], row[key]) for row in rows] for key in ("work", "sync", "overhead")},
                      f"here, {title}: ranks": {"ranks": [(row["iteration"], row["ranks"]) for row in rows]}}
            charts += [Chart("lines", "iteration", "time", unit="s", panels=dict(list(panels.items())[:1])),
                       Chart("steps", "iteration", "ranks", panels=dict(list(panels.items())[1:]))]
    return charts


def water_chart(theirs, ours):
    panels = {title: {key: [(row["ranks"], row[key]) for row in rows] for key in ("gain", "overhead")}
              for title, rows in (("in the paper", theirs), ("here", ours)) if rows}
    return [Chart("lines", "ranks behind the change", "part of an iteration", panels=panels)]


# ---- Items ----

ITEMS = [
    Item("table8.2", "Table 8.2", "Adding processes",
         "Milliseconds of a change that adds processes to 28 or 2: blocking, in which the program waits for them, and non-blocking, in which it goes on; until the last of them "
         "has been started; and the longest initialization of one.", ("changes",),
         by_delta(True, (("blocking", "total", True), ("non-blocking", "total", False), ("started", "started", False), ("initialization", "session", False))),
         (Claim("non-blocking takes longer", slower_going_on),
          Claim("most of the time the new processes initialize", part("session", True, lambda p: p > 0.5)),
          Claim("starting them is a small part", part("started", True, lambda p: p < 0.25),
                why="here they are started by another mpiexec, not by a daemon that runs, and initialize in a tenth of the time."),
          Claim("more processes take longer to start", grows_by("started", True))), total_chart(True), CHANGES),
    Item("table8.3", "Table 8.3", "Removing processes", "Milliseconds of the change, and until the program hears of it.", ("changes",),
         by_delta(False, (("total", "total", False), ("announced", "query", False))),
         (Claim("it takes less than a quarter of adding", less_than_adding),
          Claim("removing more takes longer", grows_by("total", False)),
          Claim("it is announced early", part("query", False, lambda p: p < 0.25))), total_chart(False), CHANGES),
    Item("figure8.1", "Figure 8.1", "A series of changes",
         "A program that goes on while processes are added, by 28 from 28 to 112 there and by 2 from 2 to 8 here, a change every 10 iterations; and removed again. Lowest and highest.",
         ("series",), series_table,
         (Claim("while a change is pending, an iteration has hardly any overhead", hardly_any_while_pending),
          Claim("removing has less overhead the fewer ranks stay", less_with_fewer),
          Claim("the work scales", scales, said=True),
          Claim("ranks wait longer for each other right behind a change", waits_more_at_first, said=True,
                why="of more ranks than cores some wait for their turn in each iteration.")), series_chart, PARTS),
    Item("figure8.2", "Figure 8.2", "The phases of adding",
         "Each number of ranks, and each that are added to it, up to 112 there and 8 here; non-blocking.", ("changes",), phases(True),
         (Claim("phase 3 takes most", is_most(True)), Claim("phase 2 takes least", is_least),
          Claim("phase 3 takes longer for more processes", grows_in("accept"), said=True),
          Claim("the ranks before are no matter to phase 3", spread("accept", True, "start"), said=True),
          Claim("nor are the processes to the communicator", spread("communicator", True, "delta"), said=True,
                why="it takes some milliseconds, in which each rank needs its turn on one of two cores.")), phase_chart(True), RANGES),
    Item("figure8.3", "Figure 8.3", "The phases of removing", "The same back.", ("changes",), phases(False),
         (Claim("phase 3 takes less than in adding", less_in_accept),
          Claim("how many are removed is no matter to phase 3", spread("accept", False, "delta"), said=True)), phase_chart(False), RANGES),
    Item("figure8.4", "Figure 8.4", "Shallow water",
         "The shallow-water loop goes on while processes are added, 28 to 112 there and 1 to 4 here. Gain and overhead are parts of an iteration before the change.", ("water",), water_table,
         (Claim("each change makes iterations shorter", each_gains, why=CORES), Claim("each gains less than the one before", gains_less, why=CORES),
          Claim("each pays later than the one before", pays_later, why=CORES)), water_chart, WATER),
]

PAPER = Paper("huber2021", "Towards dynamic resource management with MPI sessions and PMIx", "D. Huber (TU München 2021)", "4 hosts of 28 cores, Open MPI with PRRTE, 28 to 112 ranks",
              {"changes": changes, "series": series, "water": water}, ITEMS)
