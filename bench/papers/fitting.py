"""Least squares of a few unknowns."""


def solve(matrix, right):
    """The solution of a small system, by elimination with pivots; None: it has none, or many."""
    rows = [[*line, value] for line, value in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if abs(rows[i][i]) < 1e-12:
            return None
        rows[i] = [each / rows[i][i] for each in rows[i]]
        for r, row in enumerate(rows):
            if r != i:
                rows[r] = [a - row[i] * b for a, b in zip(row, rows[i])]
    return [row[-1] for row in rows]


def fit(points):
    """points: (inputs, value); the factors of the inputs with the least sum of squares relative to the values."""
    scaled = [([each / value for each in inputs]) for inputs, value in points]
    count = len(scaled[0]) if scaled else 0
    matrix = [[sum(line[i] * line[j] for line in scaled) for j in range(count)] for i in range(count)]
    return solve(matrix, [sum(line[i] for line in scaled) for i in range(count)])
