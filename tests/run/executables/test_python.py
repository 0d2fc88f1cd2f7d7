"""The package for Python: scripts with mpi4py that are resized, saved, and wrong."""

import os
import re
import shutil
import subprocess

import h5py
import job
import joining
import pages
import pytest
from executables import LONG, wait_until_probed

PYTHON = "/usr/bin/python3"
PACKAGE = job.BUILD / "lib/python3/dist-packages"
SCRIPTS = job.ROOT / "tests/python"
HEAT, CG = (job.ROOT / f"python/examples/{name}.py" for name in ("heat", "cg"))
TEN = (3, 1, 4, 2, 5, 3, 2, 4, 1, 2)


@pytest.fixture(scope="module")
def mpi4py():
    """Where mpi4py with MPICH is."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MPICC", "MPIEXEC")}
    made = subprocess.run([job.ROOT / "python/mpi4py.sh"], capture_output=True, text=True, env=environment, timeout=900, check=False)
    if made.returncode != 0:
        pytest.skip(f"there is no mpi4py with MPICH: {made.stderr.strip().splitlines()[-1:]}")
    return made.stdout.strip()


@pytest.fixture
def python(space, mpi4py):
    """Starts a script of the tests on so many ranks, and waits until it has probed unless it is not to run for long."""
    def start(script, *arguments, ranks=2, runs=True, env=None, package=PACKAGE, others=(mpi4py,)):
        path = os.pathsep.join(map(str, [package, *others]))
        running = space.start([job.MPIEXEC, "-n", ranks, PYTHON, "-B", script if "/" in str(script) else SCRIPTS / script, *arguments],
                              env={"PYTHONPATH": path, "PYTHONUNBUFFERED": None, **(env or {})}, limit=LONG)
        if runs:
            space.wait_until_running(running)
            wait_until_probed(space)
        return running
    return start


def end(space, running, *files):
    """What it prints to its end."""
    for file in files or ("end",):
        (space.directory / file).touch()
    result = running.wait()
    assert result.status == 0 and "WRONG" not in result.out and result.err == "", result
    return result.out


def alone(space, mpi4py, code, status=1, **env):
    """What a process without a launcher says on standard error."""
    path = os.pathsep.join(map(str, [PACKAGE, mpi4py]))
    result = space.start([PYTHON, "-B", "-c", code], env={"PYTHONPATH": path, **env}).wait()
    assert result.status == status, result
    return result.err


# ---- Resizes --------------------------------------------------------------------------------------------


def test_shrink(space, python):
    """Also where no process can join: processes leave with their data moved, and end as Python does."""
    running = python("layouts.py", space.directory / "end", ranks=3)
    for size in (2, 1):
        space.resize(size)
        assert space.status()["size"] == size
    out = end(space, running)
    assert re.search(r"^rank 0 of 1 ends in step \d+$", out, flags=re.M), out


@joining.needed
def test_ten_resizes(space, python):
    """Data of every layout, element by element."""
    running = python("layouts.py", space.directory / "end")
    for size in TEN:
        space.resize(size)
        assert space.status()["size"] == size
    out = end(space, running)
    assert len(re.findall(r"^rank \d of 2 ends in step \d+$", out, flags=re.M)) == 2 and out.count("first step") == 1, out


@joining.needed
def test_what_is_not_described(space, python):
    """It moves in the loop's windows; leaving processes end in the loop, with all that Python does at an end."""
    running = python("plain.py", space.directory / "end")
    for size in (4, 1, 3):
        space.resize(size)
    out = end(space, running)
    assert "3 processes after 3 windows" in out and out.count("an exit handler runs") == out.count("the script ends") == 6, out


@joining.needed
def test_probes_by_hand(space, python):
    running = python("by_hand.py", space.directory / "end")
    for size in (3, 1, 2):
        space.resize(size)
    out = end(space, running)
    assert out.count("a process leaves by itself") == 2 and out.count("of 2 ends") == 2, out


@joining.needed
def test_one_loop_after_the_other(space, python):
    """Who joins in the second one comes by the first."""
    running = python("two_loops.py", space.directory / "end")
    space.resize(3)
    (space.directory / "end.1").touch()
    running.wait_for_line("the second loop begins")
    for size in (4, 2, 3):
        space.resize(size)
    out = end(space, running, "end.2")
    assert out.count("of 3 ends") == 3, out


@joining.needed
def test_the_example(space, python):
    """Resized it computes what it computes without."""
    arguments = (40, 30000)
    running = python(HEAT, *arguments)
    for size in (3, 1, 2):
        space.resize(size)
    lines = running.wait()
    plain = python(HEAT, *arguments, runs=False, ranks=1).wait()
    assert lines.status == plain.status == 0 and lines.err == plain.err == "", (lines, plain)
    resized, rigid = (re.findall(r"heat ([\d.]+) after (\d+) steps", result.out) for result in (lines, plain))
    assert len(rigid) == 31 and [(round(float(heat), 4), step) for heat, step in resized] == \
        [(round(float(heat), 4), step) for heat, step in rigid], (lines, plain)


@joining.needed
def test_the_sparse_example(space, python):
    """Up to the order of its sums."""
    pytest.importorskip("scipy.sparse")
    arguments = (60, 200)
    running = python(CG, *arguments)
    for size in (3, 1, 2):
        space.resize(size)
    results = running.wait(), python(CG, *arguments, runs=False, ranks=1).wait()
    assert [(result.status, result.err) for result in results] == [(0, "")] * 2, results
    resized, rigid = ([(int(number), float(total)) for number, total in re.findall(r"system (\d+): sum ([\d.]+) ", result.out)]
                      for result in results)
    assert [number for number, _ in resized] == list(range(200)) and resized == pytest.approx(rigid, rel=1e-6), results


# ---- The job ------------------------------------------------------------------------------------------------


def test_the_job_is_called_as_the_script(space, python):
    running = python("plain.py", space.directory / "end")
    status = space.status()
    assert re.fullmatch(r"plain-\d+", status["job"]) and status["program"] == "plain", status
    shown = dict(line.split("\t", 1) for line in space.epopctl("status").out.splitlines() if "\t" in line)
    assert shown["arguments"] == f"-B {SCRIPTS}/plain.py {space.directory}/end", shown
    end(space, running)


def test_the_script_says_which_sizes_it_accepts(space, python):
    """Before the import, by which the job begins; its user may say it instead."""
    script = space.directory / "sizes.py"
    script.write_text("import os\nos.environ.setdefault('EPOP_SIZES', 'power-of-two')\n" + (SCRIPTS / "plain.py").read_text())
    running = python(script, space.directory / "end", ranks=4)
    assert space.epopctl("resize", 3, "--wait").out.startswith("done: 4 -> 2; rounded down from 3 to 2"), running
    end(space, running)
    result = python(script, space.directory / "end", ranks=2, runs=False, env={"EPOP_SIZES": "odd"}).wait()
    assert result.status != 0 and "2" in result.err and "odd" in result.err, result


def test_stop(space, python):
    """The script ends as Python scripts do."""
    result = space.stop(python("plain.py", space.directory / "end"))
    assert result.out.count("the script ends") == result.out.count("an exit handler runs") == 2 and result.err == "", result


def test_without_a_launcher(space, mpi4py):
    assert alone(space, mpi4py, "import epop\nfor step in epop.elastic(3): pass\nassert step == 2 and epop.size() == 1", status=0) == ""


def test_the_page_does_what_it_says(space, tree, mpi4py):
    runner = pages.Runner(space, tree)
    runner.env["PYTHONPATH"] = f"{tree}/lib/python3/dist-packages:{mpi4py}"
    runner.run(job.ROOT / "docs/guide/python.md")
    assert re.search(r"^step 0: sum \d+, \d processes$", runner.transcript, flags=re.M), runner.transcript


# ---- Checkpoints -------------------------------------------------------------------------------------------


def save(space, running):
    saved = space.epopctl("checkpoint", "--wait")
    assert saved.status == 0, saved
    space.stop(running)
    file, = space.directory.glob("*.h5")
    return file


@pytest.mark.parametrize("ranks", [1, 3])
def test_restart(space, python, ranks):
    """On another number of ranks."""
    stopped = space.directory / "end"
    file = save(space, python("layouts.py", stopped))
    assert file.name.startswith("layouts-"), file
    running = python("layouts.py", stopped, ranks=ranks, env={"EPOP_RESTART": file})
    out = end(space, running)
    assert len(re.findall(rf"^rank \d of {ranks} ends in step [1-9]\d*$", out, flags=re.M)) == ranks and "first step" not in out, out


def test_h5py_reads_what_was_saved(space, python):
    """Values as the script calls them, sparse rows as scipy does."""
    stopped = space.directory / "end"
    file = save(space, python("layouts.py", stopped))
    with h5py.File(file) as it:
        values = it.attrs["values/values"]
        assert values.dtype.names == ("number", "real", "few", "truth") and values["few"].size == 4 and values["truth"] in (0, 1), values
        assert values.dtype["number"] == "<i8" and values.dtype["real"] == "<f8", values.dtype
        assert set(it["A"]) == {"starts", "columns", "values"}


def test_restart_in_the_second_loop(space, python):
    stopped = space.directory / "end"
    (space.directory / "end.1").touch()
    file = save(space, python("two_loops.py", stopped))
    (space.directory / "end.1").unlink()
    running = python("two_loops.py", stopped, ranks=1, env={"EPOP_RESTART": file})
    assert "rank 0 of 1 ends" in end(space, running, "end.2")


# ---- What is wrong ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault, line", [("exception", "KeyError: 'in a step'"), ("exit", "rank 1 called exit(7)")])
def test_one_rank_fails(space, python, fault, line):
    """The others wait for it in MPI; the job ends."""
    result = python("plain.py", space.directory / "end", fault, runs=False).wait()
    assert result.status == 1 and line in result.err, result


def test_an_exception_in_a_window(space, python):
    running = python("plain.py", space.directory / "end", "window")
    assert space.epopctl("resize", 1, "--wait").status != 0
    result = running.wait()
    assert result.status != 0 and "ValueError: this block is wrong" in result.err, result


@pytest.mark.parametrize("fault, line", [("nested", "an elastic loop cannot begin in another one"),
                                         ("late", "'late' comes behind the first probe or loop: describe all data before")])
def test_not_in_a_loop(space, python, fault, line):
    result = python("plain.py", space.directory / "end", fault, ranks=1, runs=False).wait()
    assert result.status == 1 and f"Error: {line}" in result.err, result


@pytest.mark.parametrize("code, line", [
    ("epop.Array('a', 10); epop.Array('a', 20)", "there is described data called 'a' already"),
    ("epop.Array('a', 10, layout='diagonal')", "layout is 'block', 'cyclic', 'replicated', epop.block_cyclic(...), or epop.Cuts or epop.Partition of 10 "),
    ("epop.Array('a', 10, layout=epop.Cuts('c', 11))", "or epop.Cuts or epop.Partition of 10 indices"),
    ("epop.Array('a', 10, layout=epop.Partition('p', 11))", "or epop.Cuts or epop.Partition of 10 indices"),
    ("epop.Partition('p', 10, lambda count, size: [size] * count)", "divide of the partition 'p' gives an array of 10 ranks below 1"),
    ("epop.Partition('p', 10, lambda count, size: [0, 0])", "divide of the partition 'p' gives an array of 10 ranks below 1"),
    ("epop.Partition('p', 10, lambda count, size: 1 / 0)", "ZeroDivisionError"),
    ("epop.Matrix('M', (3, 3), order='A')", "the matrix 'M' has the order 'C' or 'F', and no cuts"),
    ("epop.Matrix('M', (3, 3), rows=epop.Partition('p', 3))", "layout is 'block', 'cyclic'"),
    ("epop.Array('a', 10, object)", "elements of type object cannot be moved"),
    ("epop.Cuts('c', 10, starts=[0, 7])", "the cuts 'c' are 2 numbers that rise from 0 to 10"),
    ("epop.Values('v')", "'v' has no values"),
    ("epop.Values('v', text=object())", "'v' may have numbers and arrays of numbers"),
    ("epop.Values('v', a=1).b = 2", "'v' has no value 'b'"),
    ("epop.Grid('g', (2,) * 7)", "the grid 'g' has 1 to 6 dimensions, and not 7"),
    ("epop.Rows('A', 3).local = [0, 1], [2], [3]", "'A' has 3 rows here: as many starts and one more"),
    ("epop.block_cyclic(0)", "a block has at least 1 index, and not 0"),
    ("epop.elastic(iter([1]))", "an elastic loop goes through a range, another sequence or a number of steps, and not list_iterator"),
    ("with epop.window(): pass", "MPI_Comm_adapt_begin"),
])
def test_refused(space, mpi4py, code, line):
    err = alone(space, mpi4py, f"import epop\n{code}")
    assert [said for said in err.splitlines() if re.match(r"[\w.]*Error: ", said) and line in said], err


def test_mpi4py_came_first(space, mpi4py):
    err = alone(space, mpi4py, "from mpi4py import MPI\nimport epop")
    assert "ImportError: mpi4py.MPI was imported before epop" in err and "import epop first" in err, err


def test_preloaded_either_may_come_first(space, mpi4py):
    code = "from mpi4py import MPI\nimport epop\nfor step in epop.elastic(2): pass\n"
    assert alone(space, mpi4py, code, status=0, LD_PRELOAD=job.BUILD / "lib/libepop_mpi.so.0") == ""


def test_an_mpi4py_of_another_mpi(space, python):
    """It is not even loaded."""
    package = space.directory / "mpi4py"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "MPI.so").write_bytes(b"\x7fELF ... libmpi.so.40\0")
    (space.directory / "script.py").write_text("import epop\n")
    result = python(space.directory / "script.py", ranks=1, runs=False, others=(space.directory,)).wait()
    assert f"ImportError: {package}/MPI.so is not of MPICH" in result.err, result


def test_no_library(space, python):
    package = space.directory / "lib/python3/dist-packages"
    shutil.copytree(PACKAGE / "epop", package / "epop")
    (space.directory / "script.py").write_text("import epop\n")
    result = python(space.directory / "script.py", ranks=1, runs=False, package=package).wait()
    assert f"ImportError: libepop_mpi.so.0 is neither in {space.directory}/lib nor where the loader looks" in result.err, result
    found = python(space.directory / "script.py", ranks=1, runs=False, package=package, env={"LD_LIBRARY_PATH": job.BUILD / "lib"}).wait()
    assert found.status == 0 and found.err == "", found
