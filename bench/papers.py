#!/usr/bin/env python3
"""The evaluations of papers, with their parameters scaled to this machine: the papers' figures beside those from here, and whether
they agree. Called by `make papers`.

    bench/papers.py [--quick] [--kept] [--only ITEM,...] [--report FILE] [compres2017] [huber2021] [martin2023] [survey]

Needs an MPI that can start processes (make DEVICE=ch3:sock papers). Results go to bench/results/papers as JSON lines, and from there
to docs/internals/papers.md; with --report also to a file for epop-report.
"""
import argparse
import json
import os
import pathlib
import sys

import keeping
import papers
from jobs import end_at_sigterm
from papers import documents, page, results

BUILD = (keeping.ROOT / os.environ.get("EPOP_BUILD", "build")).resolve()
MPIEXEC = os.environ.get("MPIEXEC", "mpiexec.mpich")


def shown(row):
    return "  ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items())


def measure(paper, names, here, device):
    """The rows of these measurements, by their names; those that this machine cannot do are left out."""
    found = {}
    for name in names:
        print(f"== {paper.name}: {name}", flush=True)
        rows = []
        try:
            for row in paper.measurements[name](here):
                rows.append(results.line(paper, name, device, row))
                print(shown(row), flush=True)
            found[name] = rows
        except papers.Unable as reason:
            print(f"   {reason}")
    return found


def chosen(paper, only):
    """Its items of these names, or all."""
    names = only.split(",") if only else []
    wrong = [name for name in names if not paper.item(name)]
    if wrong:
        sys.exit(f"bench/papers.py: {paper.name} has no item '{wrong[0]}', but {', '.join(item.name for item in paper.items)}")
    return [item for item in paper.items if not names or item.name in names]


def needed(items):
    return list(dict.fromkeys(name for item in items for name in item.needs))


def play(paper, options):
    """(origins, rows) of what was measured now, and kept before."""
    items = chosen(paper, options.only)
    origins, rows = results.kept(paper) if options.kept or not options.quick else ({}, [])
    if not options.kept:
        origin = keeping.origin(BUILD)
        for name, found in measure(paper, needed(items), papers.Here(BUILD, MPIEXEC, options.quick), keeping.device(BUILD)).items():
            rows = [row for row in rows if row["item"] != name] + found
            origins[name] = origin
            if not options.quick:
                results.keep(paper, name, origin, found)
    for item in items:
        print(f"\n{page.section(item, rows)}\n", flush=True)
    return origins, rows


def rewritten(made, options):
    """Writes the page anew, or with --check only says that it would change."""
    before = options.page.read_text()
    after = page.changed(before, made)
    if not options.check:
        options.page.write_text(after)
    print(f"== {options.page.name} {'is as it was' if before == after else 'changes'}")
    return 1 if options.check and before != after else 0


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and sizes: to see that it works; nothing is kept")
    parser.add_argument("--kept", action="store_true", help="measure nothing: what was kept is shown, and the page written from it")
    parser.add_argument("--check", action="store_true", help="with --kept: write nothing; end with 1 if the page would change")
    parser.add_argument("--only", metavar="ITEM,...", help="these items of the paper")
    parser.add_argument("--list", action="store_true", help="the papers and their items")
    parser.add_argument("--report", metavar="FILE", type=pathlib.Path, help="of one paper, for epop-report")
    parser.add_argument("--page", type=pathlib.Path, default=page.PAGE, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", choices=[*papers.NAMES, []], metavar="PAPER", help=f"all, or some of {', '.join(papers.NAMES)}")
    options = parser.parse_args()
    options.names = options.names or list(papers.NAMES)
    if (options.only or options.report) and len(options.names) > 1:
        parser.error("--only and --report are for one paper")
    if options.check and not options.kept:
        parser.error("--check needs --kept")
    return options


def show_list(names):
    for paper in map(papers.named, names):
        print(f"{paper.name}: {paper.by}, {paper.title}")
        for item in paper.items:
            print(f"    {item.name:12} {item.of}: {item.title}")


def main():
    options = parsed()
    end_at_sigterm()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    if options.list:
        return show_list(options.names)
    made = {}
    try:
        for paper in map(papers.named, options.names):
            origins, rows = play(paper, options)
            made[paper.name] = page.text(paper, origins, rows)
            if options.report:
                options.report.write_text(json.dumps(documents.of(paper, origins, rows), indent=1) + "\n")
    except (keeping.Malformed, OSError) as wrong:
        return f"bench/papers.py: {wrong}"
    return 0 if options.quick else rewritten(made, options)


if __name__ == "__main__":
    sys.exit(main())
