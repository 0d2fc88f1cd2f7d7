"""examples/gauss: the solution checked here, independently of the program; bad input; resizes in mid-elimination."""

import ast
import json
import os
import pathlib
import random
import struct

import job
import pytest

GAUSS = job.example("gauss")
DATA = pathlib.Path(os.environ.get("EPOP_TEST_DATA", job.ROOT / "../shared/data"))


def write_mtx(path, rows, form="coordinate", symmetric=False):
    """A matrix, given as a list of rows, as a Matrix Market file."""
    lines = [f"%%MatrixMarket matrix {form} real {'symmetric' if symmetric else 'general'}"]
    n, m = len(rows), len(rows[0])
    entries = [(i, j) for j in range(m) for i in range(j if symmetric else 0, n)]
    if form == "array":
        lines += [f"{n} {m}"] + [repr(rows[i][j]) for i, j in entries]
    else:
        entries = [(i, j) for i, j in entries if rows[i][j] != 0]
        lines += [f"{n} {m} {len(entries)}"] + [f"{i + 1} {j + 1} {rows[i][j]!r}" for i, j in entries]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_npy(path, shape, values):
    header = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
                     + struct.pack(f"<{len(values)}d", *values))
    return path


def read_npy(path):
    """The numbers of a .npy file of one dimension."""
    raw = path.read_bytes()
    length = struct.unpack("<H", raw[8:10])[0]
    header = ast.literal_eval(raw[10:10 + length].decode())
    assert header["descr"] == "<f8" and len(header["shape"]) == 1
    return struct.unpack(f"<{header['shape'][0]}d", raw[10 + length:])


def random_rows(n, seed=1):
    """A random matrix whose diagonal is zero, so that nothing works without exchanges of rows."""
    rng = random.Random(seed)
    return [[0.0 if i == j else rng.uniform(-1, 1) for j in range(n)] for i in range(n)]


def product(rows, x):
    return [sum(a * v for a, v in zip(row, x)) for row in rows]


def solve(space, *arguments, ranks=2, **how):
    """Runs it with --json, to a good end; what it printed."""
    result = space.epop(GAUSS, *arguments, "--json", ranks=ranks, **how)
    assert result.status == 0, result
    return json.loads(result.out)


def check_solution(rows, b, x):
    off = max(abs(v - w) for v, w in zip(product(rows, x), b))
    size = max(sum(map(abs, row)) for row in rows) * max(map(abs, x))
    assert off <= 16 * 2.2e-16 * len(rows) * size


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 37])
def test_solution_is_right(space, n, ranks):
    rows = random_rows(n) if n > 1 else [[-4.0]]
    b = [float(i % 5 - 2) for i in range(n)]
    x_path = space.directory / "x.npy"
    solve(space, write_mtx(space.directory / "a.mtx", rows), write_mtx(space.directory / "b.mtx", [[v] for v in b], "array"),
          "--block", "5", "--output", x_path, ranks=ranks)
    check_solution(rows, b, read_npy(x_path))


@pytest.mark.parametrize("block", ["1", "3", "7", "20", "64"])
def test_any_block_size(space, block):
    rows, x_path = random_rows(20), space.directory / "x.npy"
    solve(space, write_mtx(space.directory / "a.mtx", rows, "array"), "--block", block, "--output", x_path)
    known = [1 + i % 7 for i in range(20)]
    assert max(abs(v - w) for v, w in zip(read_npy(x_path), known)) < 1e-9


def test_npy_input(space):
    rows, b = random_rows(12), [1.0] * 12
    x_path = space.directory / "x.npy"
    solve(space, write_npy(space.directory / "a.npy", (12, 12), sum(rows, [])),
          write_npy(space.directory / "b.npy", (12,), b), "--block", "4", "--output", x_path)
    check_solution(rows, b, read_npy(x_path))


@pytest.mark.parametrize("form", ["coordinate", "array"])
def test_symmetric_files(space, form):
    rows = [[float(min(i, j) + 1) for j in range(9)] for i in range(9)]
    got = solve(space, write_mtx(space.directory / "a.mtx", rows, form, symmetric=True), "--block", "2")
    assert got["error"] < 1e-10


def test_random_does_not_depend_on_ranks(space):
    one, two = (solve(space, "--random", 150, "--block", "16", ranks=ranks) for ranks in (1, 2))
    assert one["scaled_residual"] < 1 and two["scaled_residual"] < 1
    assert abs(one["error"] - two["error"]) < 1e-10


def test_multipliers_that_add_up(space):
    """Much of L is -1: the inverse of a block of it is huge, and a product with that is worthless."""
    n, wide, rng = 200, 64, random.Random(3)
    above = [[rng.randint(-1, 1) if j < wide else rng.uniform(-0.5, 0.5) for j in range(i + 1, n)] for i in range(n)]
    upper = [[0.0] * i + [1.0] + [float(v) for v in row] for i, row in enumerate(above)]
    rows = [[upper[i][j] - sum(upper[k][j] for k in range(min(i, j + 1))) for j in range(n)] for i in range(n)]
    got = solve(space, write_mtx(space.directory / "a.mtx", rows, "array"), "--block", "128", ranks=1)
    assert got["scaled_residual"] < 1


@pytest.mark.parametrize("name", ["bcsstk13", "olm1000"])
def test_matrices_of_others(space, name):
    path = DATA / (name + ".mtx")
    if not path.exists():
        pytest.skip(f"{path} is not there; EPOP_TEST_DATA names the folder of the matrices")
    got = solve(space, path)
    assert got["residual"] < 1e-10 * got["n"]
    assert got["scaled_residual"] < 16


def test_report_for_people(space):
    result = space.epop(GAUSS, "--random", "50", ranks=1)
    assert result.status == 0 and "scaled residual" in result.out and "relative residual" in result.out


# ---- What is refused -------------------------------------------------------

GENERAL = "%%MatrixMarket matrix coordinate real general\n"
SINGULAR = "%%MatrixMarket matrix array real general\n3 3\n1\n4\n7\n2\n5\n8\n3\n6\n9\n"
GOOD = GENERAL + "2 2 2\n1 2 1\n2 1 1\n"


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("text, reason", [
    (SINGULAR, "singular to working precision: no pivot in column 3"),
    (GENERAL + "2 2 1\n1 1 1\n", "singular to working precision: no pivot in column 2"),
    (GENERAL + "2 3 1\n1 1 1\n", "must be square, but is 2 x 3"),
    (GENERAL + "2 2 2\n1 1 1\n", "ends after 1 of 2 entries"),
    (GENERAL + "2 2 1\n1 3 1\n", "outside of 2 x 2"),
    (GENERAL.replace("real", "complex") + "1 1 1\n1 1 1 1\n", "field 'complex' is not supported"),
    ("nonsense\n", "no Matrix Market file"),
    (None, "No such file or directory"),
])
def test_bad_matrix(space, text, reason, ranks):
    path = space.directory / "a.mtx"
    if text:
        path.write_text(text)
    expect_refused(space, [path], reason, ranks)


@pytest.mark.parametrize("b, reason", [
    ("%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n", "b must be 2 x 1"),
    ("%%MatrixMarket matrix array real general\n1 2\n1\n1\n", "b must be 2 x 1"),
    ("%%MatrixMarket matrix array real general\n2 1\n1\n", "ends after 1 of 2 entries"),
])
def test_bad_right_side(space, b, reason):
    a_path, b_path = space.directory / "a.mtx", space.directory / "b.mtx"
    a_path.write_text(GOOD)
    b_path.write_text(b)
    expect_refused(space, [a_path, b_path], reason)


def test_npy_with_nan(space):
    path = write_npy(space.directory / "a.npy", (2, 2), [1.0, 2.0, float("nan"), 1.0])
    expect_refused(space, [path], "not finite")


def test_help(space):
    result = space.epop(GAUSS, "--help", ranks=2)
    assert result.status == 0 and result.out.count("--block NB") == 1 and "residual" not in result.out


@pytest.mark.parametrize("arguments, reason", [
    ([], "no matrix given"),
    (["--random", "0"], "--random"),
    (["--random", "5", "--block", "x"], "--block"),
    (["--random"], "needs a value"),
    (["--bogus"], "unknown option '--bogus'"),
    (["--random", "5", "--output", "/nonexistent/x.npy"], "/nonexistent/x.npy: cannot be written"),
])
def test_bad_arguments(space, arguments, reason):
    expect_refused(space, arguments, reason)


def test_tolerance_decides_what_is_singular(space):
    path = write_mtx(space.directory / "a.mtx", [[1.0, 1.0], [1.0, 1.0 + 1e-9]])
    solve(space, path)
    expect_refused(space, [path, "--tolerance", "1e-6"], "singular")


def expect_refused(space, arguments, reason, ranks=2):
    result = space.epop(GAUSS, *arguments, ranks=ranks)
    assert result.status != 0, result
    lines = [line for line in result.err.splitlines() if line.startswith("gauss: ")]
    assert len(lines) == 1 and reason in lines[0], result


# ---- Resizes ----------------------------------------------------------------

def wait_until_eliminating(space, it):
    """Asks the job where it is until the elimination has begun and all processes have come."""
    space.wait_for_status(lambda status: status["element"] and status["element"]["name"] == "eliminate" and
                          all(process["pid"] for process in status["processes"]), limit=60, running=it)


@pytest.mark.parametrize("start, sizes", [(2, [1, 2]), (1, [3, 2]), (1, [2, 3, 1])])
def test_resizes_in_the_middle(space, start, sizes):
    """The same solution as without resizes, up to rounding errors."""
    fixed, moved = space.directory / "fixed.npy", space.directory / "moved.npy"
    problem = ["--random", "1000", "--block", "2"]
    solve(space, *problem, "--output", fixed, ranks=1)
    ranks = max([start, *sizes])
    it = space.start_slowly("--start", str(start), GAUSS, *problem, "--output", moved, "--json", ranks=ranks, limit=120)
    wait_until_eliminating(space, it)
    for size in sizes:
        space.resize(size)
    space.go_on()
    result = it.wait()
    assert result.status == 0, result
    got = json.loads(result.out)
    assert got["resizes"] == len(sizes) and got["ranks"] == sizes[-1] and got["scaled_residual"] < 16
    assert max(abs(v - w) for v, w in zip(read_npy(moved), read_npy(fixed))) < 1e-8


def test_singular_after_a_resize_is_still_found(space):
    """What counts as zero travels with the columns."""
    n = 900
    rows = [[(n - abs(i - j)) / n if i != n - 1 else 0.0 for j in range(n)] for i in range(n)]
    path = write_mtx(space.directory / "a.mtx", rows, "array")
    it = space.start_epop("--start", "1", "--driver", "debug", "--break", "eliminate:20", GAUSS, path, "--block", "1",
                          ranks=2, limit=120)
    it.wait_for_line("epop: stopped before ", stream="err", timeout=60)  # it holds there until the resize is prepared
    waiting = space.start_epopctl("resize", "2", "--wait")
    space.wait_for_status(lambda status: status["adaptations"] and status["adaptations"][0]["state"] == "prepared")
    assert space.epopctl("continue").status == 0
    assert waiting.wait().status == 0
    result = it.wait()
    assert result.status != 0 and f"no pivot in column {n}" in result.err
