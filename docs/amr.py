#!/usr/bin/env python3
"""The pictures of docs/examples/amr.md, from a run of examples/amr that wrote both of these files:

    docs/amr.py LOG MESHES        (options --log and --meshes)

amr-mesh.svg has the mesh of the first, the middle and the last step in MESHES, amr-ranks.svg what was there in each step.
"""

import csv
import pathlib
import sys

PICTURES = pathlib.Path(__file__).resolve().parent / "pictures"
COLOURS = ["#4e79a7", "#f28e2b", "#76b7b2", "#e15759", "#edc948", "#59a14f", "#b07aa1", "#9c755f", "#ff9da7", "#86bcb6"]
HEAD = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12">\n'
        '<rect width="100%" height="100%" fill="#fff"/>\n')


def write(name, width, height, parts):
    (PICTURES / name).write_text(HEAD.format(width=width, height=height) + "\n".join(parts) + "\n</svg>\n")


# ---- The mesh

SIDE = 256  # of a square


def square(level, x, y):
    """As part of a path; y goes up."""
    width = SIDE >> level
    return f"M{x * width} {SIDE - (y + 1) * width}h{width}v{width}h-{width}z"


def mesh_at(step, leaves, left):
    """The blocks of each rank in its colour; darker where most of the disc is."""
    ranks = sorted({leaf["rank"] for leaf in leaves})
    parts = [f'<g transform="translate({left} 24)" stroke="#fff" stroke-width=".5">']
    for rank in ranks:
        path = "".join(square(leaf["level"], leaf["x"], leaf["y"]) for leaf in leaves if leaf["rank"] == rank)
        parts.append(f'<path fill="{COLOURS[rank % len(COLOURS)]}" d="{path}"/>')
    disc = "".join(square(leaf["level"], leaf["x"], leaf["y"]) for leaf in leaves if leaf["mean"] > 0.5)
    parts += [f'<path fill="#000" fill-opacity=".4" d="{disc}"/></g>',
              f'<text x="{left}" y="16">step {step}: {len(leaves)} blocks, {len(ranks)} ranks</text>']
    return parts


def draw_meshes(path):
    steps = {}
    with open(path, encoding="utf-8") as file:
        for step, level, x, y, rank, mean in csv.reader(file, delimiter="\t"):
            steps.setdefault(int(step), []).append(
                {"level": int(level), "x": int(x), "y": int(y), "rank": int(rank), "mean": float(mean)})
    order = sorted(steps)
    chosen = [order[0], order[(len(order) - 1) // 2], order[-1]]
    parts = [part for n, step in enumerate(chosen) for part in mesh_at(step, steps[step], 8 + n * (SIDE + 16))]
    write("amr-mesh.svg", 3 * SIDE + 48, SIDE + 32, parts)


# ---- What was there over time

WIDTH, HEIGHT, LEFT, ABOVE = 700, 110, 60, 24


def curve(rows, key, most, top, colour, dashes=""):
    """As steps, one point for each change."""
    points, last = [], None
    for row in rows:
        x, y = LEFT + WIDTH * row["step"] / rows[-1]["step"], top + HEIGHT * (1 - row[key] / most)
        if y != last:
            points.append(f"V{y:.1f}" if points else f"M{x:.1f} {y:.1f}")
            points.insert(-1, f"H{x:.1f}") if len(points) > 1 else None
            last = y
    points.append(f"H{LEFT + WIDTH}")
    return f'<path fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dashes}" d="{"".join(points)}"/>'


def axis(top, most, name):
    return [f'<path stroke="#999" fill="none" d="M{LEFT} {top}v{HEIGHT}h{WIDTH}"/>',
            f'<text x="{LEFT}" y="{top - 8}">{name}</text>',
            f'<text x="{LEFT - 6}" y="{top + 10}" text-anchor="end">{most:g}</text>',
            f'<text x="{LEFT - 6}" y="{top + HEIGHT}" text-anchor="end">0</text>']


def draw_ranks(path):
    with open(path, encoding="utf-8") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file, delimiter="\t")]
    blocks, ranks = max(row["blocks"] for row in rows), max(max(row["ranks"], row["asked"]) for row in rows)
    below = ABOVE + HEIGHT + 40
    parts = [*axis(ABOVE, blocks, "blocks"), curve(rows, "blocks", blocks, ABOVE, COLOURS[0]),
             *axis(below, ranks, "ranks, and dashed those that the program asks for"),
             curve(rows, "ranks", ranks, below, COLOURS[5]), curve(rows, "asked", ranks, below, COLOURS[3], "4 3"),
             f'<text x="{LEFT + WIDTH}" y="{below + HEIGHT + 16}" text-anchor="end">step {rows[-1]["step"]:g}</text>']
    write("amr-ranks.svg", LEFT + WIDTH + 20, below + HEIGHT + 24, parts)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw_ranks(sys.argv[1])
    draw_meshes(sys.argv[2])
