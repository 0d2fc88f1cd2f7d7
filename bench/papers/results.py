"""Results of papers' measurements: bench/results/papers/PAPER.MEASUREMENT.jsonl, whose first line says where and when they were measured."""
import keeping

FOLDER = keeping.FOLDER / "papers"


def path_of(paper, measurement, folder=FOLDER):
    return folder / f"{paper.name}.{measurement}.jsonl"


def line(paper, measurement, device, row):
    return {"bench": paper.name, "item": measurement, **rounded(row), "device": device}


def rounded(row):
    """Six digits are more than any of them has."""
    return {key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in row.items()}


def keep(paper, measurement, origin, rows, folder=FOLDER):
    keeping.write(path_of(paper, measurement, folder), origin, rows)


def kept(paper, measurements=None, folder=FOLDER):
    """(origins by measurement, rows of all): of those that have been measured."""
    origins, rows = {}, []
    for measurement in measurements or paper.measurements:
        path = path_of(paper, measurement, folder)
        if path.exists():
            origins[measurement], found = keeping.read_with_origin(path)
            rows += found
    return origins, rows
