"""The evaluations of papers, measured here: what an item of one is, and what is said of it.

A *measurement* gives rows, which are kept as JSON lines. An *item*, a table or figure of the paper, shows rows of one or more
measurements beside the paper's own, which have the same keys, and has claims: each is a function of such rows, so that the paper's
figures and those from here are judged by the same code.
"""
import dataclasses
import importlib

NAMES = ("compres2017", "huber2021", "martin2023", "survey")


@dataclasses.dataclass
class Finding:
    """What some rows say of a claim."""
    holds: bool
    text: str


@dataclasses.dataclass
class Claim:
    text: str
    check: object  # (rows) -> Finding, or None: these rows say nothing of it
    said: object = None  # where the paper has no figures of it, but says that it is so (True, or in which words), or not (False)
    why: str = ""  # it is not so here; shown only then


@dataclasses.dataclass
class Chart:
    """A picture of rows: panels of series of points. draw: lines or steps over x; dots, whose points are (name, value), drawn in rows; or
    grid, whose points are (x, y, word). unit, x_unit: s, or none. log: "x", "y" or "xy", for logarithmic axes."""
    draw: str
    x: str
    y: str
    unit: str = ""
    x_unit: str = ""
    log: str = ""
    panels: dict = dataclasses.field(default_factory=dict)  # {title: {series: [points]}}


@dataclasses.dataclass
class Item:
    """text: what it is, for the page. needs: measurements. table(theirs, ours): heads, and rows of cells. charts(theirs, ours): Charts."""
    name: str
    of: str
    title: str
    text: str
    needs: tuple
    table: object
    claims: tuple = ()
    charts: object = lambda theirs, ours: []
    theirs: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Paper:
    """measurements: {name: function(here) that gives rows}."""
    name: str
    title: str
    by: str
    machine: str
    measurements: dict
    items: list

    def item(self, name):
        return next((item for item in self.items if item.name == name), None)


@dataclasses.dataclass
class Here:
    """What measures. note(**row) takes a row that a measurement has made meanwhile, to be shown at once."""
    build: object
    mpiexec: str
    quick: bool

    def rounds(self, full, quick=1):
        return quick if self.quick else full


class Unable(Exception):
    """What a measurement needs is not here."""


def named(name):
    return importlib.import_module(f"papers.{name}").PAPER


# ---- Judging ----


@dataclasses.dataclass
class Judgement:
    claim: Claim
    theirs: object  # Finding
    ours: object  # Finding, or None: nothing was measured

    @property
    def agrees(self):
        return None if self.ours is None else self.theirs.holds == self.ours.holds

    @property
    def why(self):
        return self.claim.why if self.agrees is False else ""


def judge(item, ours):
    """Each of its claims."""
    judgements = []
    for claim in item.claims:
        theirs = claim.check(item.theirs) if item.theirs else None
        if theirs is None:
            theirs = Finding(bool(claim.said), claim.said if isinstance(claim.said, str) else "says so" if claim.said else "denies it")
        judgements.append(Judgement(claim, theirs, claim.check(ours) if ours else None))
    return judgements


def share(cases, least=0.75):
    """It is so in most cases, which are true or false."""
    cases = list(cases)
    return Finding(sum(cases) >= least * len(cases), f"{sum(cases)} of {len(cases)}") if cases else None


def grows(pairs, tolerance=0.9):
    """y grows with x, but for noise: no step falls below so much of the one before, and the last is above the first."""
    ys = [y for _, y in sorted(pairs)]
    return len(ys) > 1 and ys[-1] > ys[0] and all(b >= tolerance * a for a, b in zip(ys, ys[1:]))


def of(rows, **fields):
    return [row for row in rows if fields.items() <= row.items()]


def column(rows, *keys):
    """What they have of these, each once, in their order; a key alone gives values, several give tuples."""
    found = dict.fromkeys(tuple(row[key] for key in keys) for row in rows if all(key in row for key in keys))
    return [each[0] for each in found] if len(keys) == 1 else list(found)


def value(rows, key, **fields):
    """Of the only row with these fields, or None."""
    return next((row.get(key) for row in of(rows, **fields)), None)
