"""The check driver: what it prints, and that it runs no block."""

import json
import re
import shutil
import subprocess

import job
import pytest
from schemas import validate

DOUBLE = job.program("branches")


def check(space, path, *options, **how):
    return space.epop("--driver", "check", *options, path, **how)


def test_table(space):
    result = check(space, DOUBLE)
    assert result.status == 0 and result.err == "", result
    lines = result.out.splitlines()
    assert lines[0] == "program 'branches': valid, 8 elements"
    assert lines[1].split() == ["pc", "type", "name", "blocks", "sizes", "preferred"]
    rows = [re.split(r"\s{2,}", line) for line in lines[2:10]]
    assert rows[0] == ["0", "INIT", "start", "init"]
    assert rows[1] == ["1", "EP", "evaluate", "exec adapt loop", "any size"]
    assert rows[2] == ["2", "BRANCH", "choose", "branch"]
    assert rows[7] == ["7", "RP", "report", "exec", "any size"]
    starts = {line.index(row[1]) for line, row in zip(lines[2:10], rows)}
    assert starts == {lines[1].index("type")}  # aligned


def test_sizes_preferred_and_finalizer(space):
    result = check(space, job.test_program("ruled"))
    rows = [re.split(r"\s{2,}", line) for line in result.out.splitlines()]
    assert ["1", "EP", "square", "exec adapt loop progress", "squares, at most 16, weak scaling", "9"] in rows
    assert ["2", "RP", "report", "exec", "multiples of 2"] in rows
    assert rows[-1] == ["finalizer: pc 2 (report)"]


def test_json(space):
    result = check(space, job.test_program("ruled"), "--format", "json")
    value = json.loads(result.out)
    assert value["sizes"] == {"kind": "multiple", "factor": 2}
    assert value["finalizer"] == 2
    assert value["elements"][1]["sizes"] == {"kind": "square", "max": 16, "preferred": 9}
    assert value["elements"][1]["progress"] is True
    assert value["elements"][2]["sizes"] is None
    assert [element.get("scaling") for element in value["elements"]] == [None, "weak", None]


def edges(dot, style):
    found = re.findall(r"e(\d+) -> e(\d+)( \[style=dashed\])?;", dot)
    return {(int(a), int(b)) for a, b, dashed in found if bool(dashed) == style}


def test_dot(space):
    result = check(space, job.program("branches"), "--format=dot")
    assert result.out.startswith('digraph "branches" {') and result.out.rstrip().endswith("}")
    # The elastic phase loops; what is no branch goes on to the next.
    assert edges(result.out, False) == {(0, 1), (1, 1), (1, 2), (3, 4), (5, 6), (7, 8)}
    # A branch may go anywhere but to INIT.
    assert edges(result.out, True) == {(branch, target) for branch in (2, 4, 6) for target in range(1, 9)}


@pytest.mark.skipif(not shutil.which("dot"), reason="graphviz is not installed")
def test_graphviz_reads_it(space):
    text = check(space, job.program("branches"), "--format", "dot").out
    assert "<svg" in subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, timeout=30).stdout


def test_unknown_format(space):
    result = check(space, DOUBLE, "--format", "xml")
    assert result.status == 2
    assert result.err == "epop: the driver 'check' refuses --format xml; it takes text|json|dot (see epop --help)\n"


@pytest.mark.parametrize("form", ["text", "json", "dot"])
def test_runs_no_block(space, form):
    """Its INIT would fail, its blocks would end the process."""
    result = check(space, job.test_program("explosive"), "--format", form)
    assert result.status == 0 and "boom" not in result.out + result.err, result
    assert space.epop(job.test_program("explosive")).status == 1  # the control case


def test_needs_no_mpi(space):
    """A program with MPI, no launcher: no relaunch either."""
    result = check(space, DOUBLE, env={"EPOP_MPIEXEC": "/nowhere/mpiexec"})
    assert result.status == 0 and result.err == "", result


def test_one_process_of_a_launch_prints(space):
    result = check(space, DOUBLE, ranks=3)
    assert result.status == 0 and result.out.count("valid, 8 elements") == 1, result


def look(space, path, *arguments, ranks, options=()):
    return space.epop("--driver", "check", "--data", *options, path, *arguments, ranks=ranks)


def data_rows(result):
    lines = result.out.splitlines()
    heading = next(number for number, line in enumerate(lines) if line.startswith("data "))
    return [line.split() for line in lines[heading + 1:]]


def test_data(space):
    """INIT runs, on all ranks; nothing behind it does."""
    result = look(space, job.program("five"), "10", ranks=3)
    assert result.status == 0 and "after" not in result.out, result
    assert result.out.startswith("program 'five': valid, 2 elements\n"), result
    assert data_rows(result) == [["step", "values", "24", "8"], ["sums", "array", "80", "32"]]


def test_packed_data(space):
    """As its pack block makes it; the file at which it ends is never there."""
    result = look(space, job.test_program("packed"), "never", ranks=2)
    assert result.status == 0 and data_rows(result) == [["step", "values", "16", "8"], ["atoms", "items", "16000", "8000"]], result
    fault = look(space, job.test_program("packed"), "never", "fault=7", ranks=2)
    assert fault.status == 1 and "rank 0: its pack block" not in fault.out and "its pack block returned an error" in fault.err, fault


def test_data_as_json(space):
    result = look(space, job.program("five"), "10", ranks=2, options=["--format", "json"])
    assert result.status == 0 and result.err.count("note") == 0, result
    value = json.loads(result.out)
    validate("program", value)
    step, sums = value["data"]
    assert step == {"name": "step", "kind": "values", "bytes": 16, "most": 8, "constant": False, "scratch": False}
    assert sums == {"name": "sums", "kind": "array", "bytes": 80, "most": 40, "constant": False, "scratch": False}


def test_says_what_cannot_be_unloaded(space):
    result = check(space, job.test_program("resident"))
    assert result.status == 0 and "resident.so stays in memory after it is closed" in result.err, result
    assert "thread-local variables with destructors" in result.err, result
    assert check(space, job.test_program("resident"), "--quiet").err == ""


def test_what_prints_for_the_whole_process_stays(space):
    """libquadmath is in each sprintf of another thread; the program that brought it goes."""
    opened = subprocess.run(["ldd", job.example("gauss")], capture_output=True, text=True, check=True).stdout
    if "libquadmath.so" not in opened:
        pytest.skip("BLAS comes without libquadmath here")
    log = space.directory / "loaded"
    result = check(space, job.example("gauss"), env={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)})
    assert result.status == 0, result
    gone = re.findall(r"file=(\S+) \[0\];  destroying link map", "".join(one.read_text() for one in space.directory.glob("loaded.*")))
    assert job.example("gauss") in gone and not [name for name in gone if "libquadmath" in name], gone


CXX = """
#include <iostream>
#include <regex>
#include <epop/program.h>
static int init(int *, char ***, void **) { return !std::regex_match("aa", std::regex("a+")); }
extern "C" EPOP_EXPORT epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("cxx");
    epop_add_init(program, "start", init);
    return program;
}
"""


def recipe():
    """That of docs/guide/troubleshooting.md: the map, and the option that names it."""
    text = (job.ROOT / "docs/guide/troubleshooting.md").read_text()
    script = re.search(r"`only.map`:\n\n```text\n(.*?)```", text, re.S)[1]
    return script, re.search(r"prog.cpp (-Wl,--version-script=only.map)", text)[1]


STAYS = {"plain": ([], "it defines GNU-unique symbols, as _Z"),
         "no-gnu-unique": (["-fno-gnu-unique"], "a library that stays, as libstdc++ does, may use symbols of it, as _Z"),
         "nodelete": (["recipe", "-Wl,-z,nodelete"], "it is linked with -z nodelete"),
         "recipe": (["recipe"], None)}


@pytest.mark.parametrize("how", STAYS)
def test_cxx_that_cannot_be_unloaded(space, how):
    options, reason = STAYS[how]
    script, option = recipe()
    (space.directory / "only.map").write_text(script)
    (space.directory / "prog.cpp").write_text(CXX)
    options = [option if one == "recipe" else one for one in options]
    subprocess.run(["g++", "-shared", "-fPIC", f"-I{job.ROOT / 'epop_api'}", "prog.cpp", *options, "-o", "prog.so"],
                   cwd=space.directory, check=True, timeout=60)
    result = check(space, "./prog.so")
    gcc = int(subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, check=True).stdout.split(".")[0])
    can_be = how == "recipe" or (how == "no-gnu-unique" and gcc >= 16) # whose libstdc++ takes none of its symbols
    assert result.status == 0 and (result.err == "" if can_be else reason in result.err), result
