"""examples/cannon: products checked here, independently of the program; bad input; resizes in mid-multiplication."""

import array
import ast
import json
import os
import random
import struct

import job
import pytest

CANNON = job.example("cannon")


def write_npy(path, rows, fortran=False):
    """A matrix, given as a list of rows of numbers (lists or arrays)."""
    values = array.array("d")
    for line in zip(*rows) if fortran else rows:
        values.extend(line)
    return write_raw(path, {"descr": "<f8", "fortran_order": fortran, "shape": (len(rows), len(rows[0]))}, values)


def write_raw(path, header, values):
    text = repr(header).encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + array.array("d", values).tobytes())
    return path


def read_npy(path):
    """The rows of a .npy file in C order."""
    raw = path.read_bytes()
    start = 10 + struct.unpack("<H", raw[8:10])[0]
    header = ast.literal_eval(raw[10:start].decode())
    assert header["descr"] == "<f8" and not header["fortran_order"]
    rows, cols = header["shape"]
    values = array.array("d", raw[start:])
    assert len(values) == rows * cols
    return [values[i * cols:(i + 1) * cols].tolist() for i in range(rows)]


def random_rows(rows, cols, seed):
    rng = random.Random(seed)
    return [[rng.uniform(-1, 1) for _ in range(cols)] for _ in range(rows)]


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def assert_close(got, wanted, inner):
    assert [len(row) for row in got] == [len(row) for row in wanted]
    assert max(abs(x - y) for r, s in zip(got, wanted) for x, y in zip(r, s)) <= 4 * 2.3e-16 * inner * inner


def multiply(space, *arguments, ranks=1, **how):
    """Runs it with --json, to a good end; what it printed."""
    result = space.epop(CANNON, *arguments, "--json", ranks=ranks, **how)
    assert result.status == 0, result
    return json.loads(result.out)


# ---- Products ------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("m, k, n, panel", [(1, 1, 1, 256), (8, 8, 8, 2), (5, 7, 3, 1), (3, 20, 1, 3), (17, 13, 31, 4),
                                            (1, 9, 6, 256)])
def test_product_is_right(space, m, k, n, panel, ranks):
    a, b = random_rows(m, k, 1), random_rows(k, n, 2)
    c_path = space.directory / "C.npy"
    got = multiply(space, write_npy(space.directory / "A.npy", a), write_npy(space.directory / "B.npy", b), c_path,
                   "--panel", panel, "--verify", ranks=ranks)
    assert (got["m"], got["k"], got["n"], got["ranks"]) == (m, k, n, ranks) and got["residual"] <= 1
    assert_close(read_npy(c_path), product(a, b), k)


def test_nine_ranks(space):
    a, b = random_rows(10, 11, 3), random_rows(11, 8, 4)
    c_path = space.directory / "C.npy"
    multiply(space, write_npy(space.directory / "A.npy", a), write_npy(space.directory / "B.npy", b), c_path,
             "--panel", "2", ranks=9)
    assert_close(read_npy(c_path), product(a, b), 11)


@pytest.mark.parametrize("fortran_a, fortran_b", [(True, False), (False, True), (True, True)])
def test_fortran_order(space, fortran_a, fortran_b):
    a, b = random_rows(6, 9, 5), random_rows(9, 7, 6)
    c_path = space.directory / "C.npy"
    multiply(space, write_npy(space.directory / "A.npy", a, fortran_a),
             write_npy(space.directory / "B.npy", b, fortran_b), c_path, "--panel", "2", ranks=4)
    assert_close(read_npy(c_path), product(a, b), 9)


def test_a_count_that_is_no_square_starts_on_fewer(space):
    result = space.epop(CANNON, "--random", "50", "--json", ranks=2)
    assert result.status == 0, result
    assert json.loads(result.out)["ranks"] == 1


def test_random_does_not_depend_on_ranks(space):
    paths = [space.directory / name for name in ("C1.npy", "C4.npy")]
    for path, ranks in zip(paths, (1, 4)):
        multiply(space, "--random", "40,50,30", "--panel", "7", path, ranks=ranks)
    assert_close(read_npy(paths[0]), read_npy(paths[1]), 50)


def test_saved_matrices_are_the_random_ones(space):
    a, b, c, d = (space.directory / name for name in ("A.npy", "B.npy", "C.npy", "D.npy"))
    assert space.epop(CANNON, "--random", "20,30,10", "--seed", "7", "--save", a, b, ranks=4).status == 0
    assert (len(read_npy(a)), len(read_npy(b))) == (20, 30)
    multiply(space, a, b, c)
    multiply(space, "--random", "20,30,10", "--seed", "7", d)
    assert c.read_bytes() == d.read_bytes()
    assert_close(read_npy(c), product(read_npy(a), read_npy(b)), 30)


def test_repeated_multiplications_start_anew(space):
    paths = [space.directory / name for name in ("once.npy", "thrice.npy")]
    for path, repeats in zip(paths, (1, 3)):
        assert multiply(space, "--random", "33", "--repeat", repeats, path, "--verify")["repeats"] == repeats
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_an_older_result_is_replaced(space):
    c_path = space.directory / "C.npy"
    c_path.write_bytes(b"x" * 100000)
    multiply(space, "--random", "5", c_path)
    assert len(read_npy(c_path)) == 5


def test_report_for_people(space):
    result = space.epop(CANNON, "--random", "50", "--verify", ranks=1)
    assert result.status == 0
    assert "GFLOP/s" in result.out and "verified" in result.out and "residual" in result.out


def test_help(space):
    result = space.epop(CANNON, "--help", ranks=4)
    assert result.status == 0 and result.out.count("--panel W") == 1 and "multiplied" not in result.out


# ---- What is refused -------------------------------------------------------------


def expect_refused(space, arguments, reason, ranks=4):
    result = space.epop(CANNON, *arguments, ranks=ranks)
    assert result.status != 0, result
    lines = [line for line in result.err.splitlines() if line.startswith("cannon: ")]
    assert len(lines) == 1 and reason in lines[0], result


@pytest.mark.parametrize("header, reason", [
    ({"descr": "<f4", "fortran_order": False, "shape": (3, 3)}, "'<f4'"),
    ({"descr": ">f8", "fortran_order": False, "shape": (3, 3)}, "'>f8'"),
    ({"descr": "<i8", "fortran_order": False, "shape": (3, 3)}, "'<i8'"),
    ({"descr": "<f8", "fortran_order": False, "shape": (3, 3, 1)}, "3 dimensions"),
    ({"descr": "<f8", "fortran_order": False, "shape": (9,)}, "a vector"),
    ({"descr": "<f8", "fortran_order": False, "shape": (3, 4)}, "truncated"),
    ({"descr": "<f8", "shape": (3, 3)}, "is missing"),
    ({"descr": "<f8", "fortran_order": False, "shape": (1, 9)}, "the inner dimensions differ"),
])
def test_bad_matrix(space, header, reason):
    bad = write_raw(space.directory / "bad.npy", header, range(9))
    good = write_raw(space.directory / "good.npy", {"descr": "<f8", "fortran_order": False, "shape": (3, 3)}, range(9))
    expect_refused(space, [bad, good], reason)
    if "inner" not in reason:
        expect_refused(space, [good, bad], "bad.npy", ranks=1)


def test_file_that_is_no_npy(space):
    bad = space.directory / "bad.npy"
    bad.write_text("1 2\n3 4\n")
    expect_refused(space, [bad, bad], "it is no .npy file")
    expect_refused(space, [space.directory / "none.npy", bad], "none.npy: No such file")
    expect_refused(space, [space.directory, bad], "no regular file")


@pytest.mark.parametrize("name", ["missing/C.npy", "."])
def test_output_that_cannot_be_written(space, name):
    """It is found out before the multiplication."""
    result = space.epop(CANNON, "--random", "9", space.directory / name, ranks=4)
    assert result.status != 0 and result.err.count("cannot be written") == 1 and "multiplied" not in result.out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_output_without_permission(space):
    c_path = space.directory / "C.npy"
    c_path.touch(0o400)
    expect_refused(space, ["--random", "9", c_path], "Permission denied")


@pytest.mark.parametrize("arguments, reason", [
    ([], "give A.npy and B.npy"),
    (["A.npy"], "give A.npy and B.npy"),
    (["a", "b", "c", "d"], "too many files"),
    (["--random", "0"], "--random 0"),
    (["--random", "3,4"], "--random 3,4"),
    (["--random", "9", "--panel", "0"], "--panel 0"),
    (["--random", "9", "--panel"], "--panel needs a value"),
    (["--random", "9", "--repeat", "1000"], "--repeat 1000"),
    (["--random", "9", "--seed", "x"], "--seed x"),
    (["--random", "9", "a", "b"], "only the result is a file"),
    (["--save", "a", "b"], "--save"),
    (["--random", "9", "--save", "a"], "--save needs"),
    (["--bogus"], "unknown option --bogus"),
])
def test_bad_arguments(space, arguments, reason):
    expect_refused(space, arguments, reason, ranks=1)


# ---- Resizes -----------------------------------------------------------------------

INNER = 2000  # with narrow panels: hundreds of iterations


def integer_rows(rows, cols, seed):
    """Whole numbers: their product has no rounding errors, so that the order of the additions does not show."""
    rng = random.Random(seed)
    pattern = array.array("d", [rng.randrange(-9, 10) for _ in range(cols + 1000)])
    return [pattern[rng.randrange(1000):][:cols] for _ in range(rows)]


def write_problem(space):
    return (write_npy(space.directory / "A.npy", integer_rows(400, INNER, 1)),
            write_npy(space.directory / "B.npy", integer_rows(INNER, 300, 2)))


def wait_until_computing(space, it):
    """Until the job is in the multiplication and has done some of it."""
    space.wait_for_status(lambda status: status["element"] and status["element"]["name"] == "multiply" and status["element"]["iteration"] > 0,
                          limit=60, running=it)


@pytest.mark.parametrize("start, sizes", [(4, [1, 4]), (1, [4, 1])])
def test_resizes_in_the_middle(space, start, sizes):
    """Byte for byte the result of a run without resizes."""
    a, b = write_problem(space)
    fixed, moved = space.directory / "fixed.npy", space.directory / "moved.npy"
    multiply(space, a, b, fixed, ranks=1)
    it = space.start_slowly("--start", str(start), CANNON, a, b, moved, "--panel", "2", "--verify", "--json", ranks=4,
                            limit=120)
    wait_until_computing(space, it)
    for size in sizes:
        space.resize(size)
    space.go_on()
    result = it.wait()
    assert result.status == 0, result
    got = json.loads(result.out)
    assert got["resizes"] == len(sizes) and got["ranks"] == sizes[-1] and got["residual"] <= 1
    assert moved.read_bytes() == fixed.read_bytes()


def test_a_size_that_is_no_square_is_rounded_down(space):
    it = space.start_slowly("--start", "1", CANNON, "--random", f"400,{INNER},300", "--panel", "2", "--json", ranks=4,
                            limit=120)
    wait_until_computing(space, it)
    result = space.epopctl("resize", "3")
    space.go_on()
    assert result.status in (0, 1) and "1" in result.out + result.err, result
    assert json.loads(it.wait().out)["resizes"] == 0


def test_a_wrong_product_is_noticed(space):
    """While the job is paused an element of A changes: verification reads A again, and sees that C is not A * B."""
    a, b = write_problem(space)
    c_path = space.directory / "C.npy"
    it = space.start_slowly(CANNON, a, b, c_path, "--panel", "2", "--verify", ranks=1, limit=120)
    wait_until_computing(space, it)
    assert space.epopctl("pause").status == 0
    space.go_on()
    with open(a, "r+b") as file:
        file.seek(-8, os.SEEK_END)
        file.write(struct.pack("<d", 100.0))
    assert space.epopctl("resume").status == 0
    result = it.wait()
    assert result.status != 0 and "the product is wrong" in result.err, result
    assert not c_path.exists()


def test_stop_writes_nothing(space):
    c_path = space.directory / "C.npy"
    it = space.start_slowly(CANNON, "--random", f"400,{INNER},300", c_path, "--panel", "2", ranks=1, limit=120)
    wait_until_computing(space, it)
    assert space.epopctl("stop").status == 0
    assert "stopped before the product was complete" in it.wait().err
    assert not c_path.exists()
