"""epopctl measure: the loops of an executable, which says nothing of them."""

import csv
import io
import itertools
import json
import re

import executables as plain
import job
import pytest
import reports
from schemas import validate


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return plain.compile_c(plain.source("loops"), tmp_path_factory.mktemp("loops") / "loops", "-g", "-O0", *plain.LINKED)


def line(mark):
    """Where a mark stands: file and line, as epopctl has them."""
    text = plain.source("loops").read_text().splitlines()
    number, = [number for number, has in enumerate(text, 1) if re.search(rf"/\* {mark} \*/", has)]
    return f"loops.c:{number}"


NEW_ASKERS = (f"new-{number}" for number in itertools.count())


def measure(space, asker=None):
    """Since that asker asked last; without one: since measuring began."""
    answer = space.epopctl("measure", "--json", "--asker", asker or next(NEW_ASKERS))
    assert answer.status == 0, answer
    result = json.loads(answer.out)
    validate("control", result, "measure")
    return result


def ask(space, asker=None):
    return measure(space, asker)["loops"]


def begins_at(loops, mark):
    return [loop for loop in loops if loop["head"].get("line") == line(f"BEGIN {mark}")]


class Watched:
    """The program, measured until each of some loops has made so many turns."""

    def __init__(self, space, program, ranks, **how):
        self.space = space
        self.end, self.second = space.directory / "end", space.directory / "second"
        self.running = plain.start(space, program, self.end, self.second, ranks=ranks, **how)

    def until(self, condition):
        return job.wait_for(lambda: ask(self.space), 100, condition)

    def finish(self):
        self.second.touch()
        self.end.touch()
        result = self.running.wait()
        assert (result.status, result.err) == (0, ""), result


def turned(loops, *marks, size, turns=12):
    """Each of them has made so many turns."""
    return all(any(loop["size"] == size and loop["iterations"] >= turns for loop in begins_at(loops, mark)) for mark in marks)


MANY = 100  # turns, beside which those are few that a rank makes between the answers of the first rank and of the last


def test_loops_of_all_and_of_some_ranks(space, program):
    it = Watched(space, program, 4)
    loops = it.until(lambda loops: len(loops) == 3 and turned(loops, "first", "exchange", "alone", size=4, turns=MANY))
    (first,), (exchange,), (alone,) = (begins_at(loops, mark) for mark in ("first", "exchange", "alone"))
    assert (first["ranks"], exchange["ranks"], alone["ranks"]) == ("0-3", "0-3", "0"), loops
    assert "within" not in first and exchange["within"] == alone["within"] == first["number"], loops
    assert (first["head"]["mpi"], first["head"]["function"], first["head"]["from_function"]) == ("MPI_Allreduce", "first", "main")
    assert exchange["tail"]["line"] == line("END exchange") and alone["tail"]["line"] == line("BEGIN alone")
    # Of four turns the last does not come back to the first call.
    turns = first["iterations"]
    assert exchange["iterations"] == pytest.approx(3 * turns, rel=0.25) and alone["iterations"] == pytest.approx(2 * turns, rel=0.25), loops
    assert first["loop_seconds"] > exchange["loop_seconds"] > 0 and first["loop_seconds"] > first["mpi_seconds"] > 0, loops
    it.finish()


def test_a_program_that_goes_over_to_another_loop(space, program):
    """A function that both call MPI by is no part of a loop around them."""
    it = Watched(space, program, 2)
    before = it.until(lambda loops: turned(loops, "first", size=2))
    it.second.touch()
    job.wait_for(lambda: ask(space), 40, lambda loops: any("second" == loop["head"].get("function") for loop in loops))
    ask(space, "after")
    loops = job.wait_for(lambda: ask(space, "after"), 40,
                         lambda loops: any(loop["head"].get("function") == "second" and loop["iterations"] for loop in loops))
    second, = (loop for loop in loops if loop["head"]["function"] == "second")
    assert "within" not in second and second["number"] not in [loop["number"] for loop in before], loops
    assert second["head"]["mpi"] == "MPI_Barrier" and second["tail"]["mpi"] == "MPI_Bcast", loops
    assert begins_at(loops, "first")[0]["iterations"] == 0, loops
    it.finish()


def counting(space, condition):
    """The loop that counts, as soon as it meets the condition."""
    def look():
        result = measure(space)
        return next((loop for loop in result["loops"] if loop["number"] == result.get("loop")), None)
    return job.wait_for(look, 40, lambda loop: loop and condition(loop))


def test_the_loop_that_counts(space, program):
    """It is that around the others, until the program is in another one: status and top have it, too."""
    it = Watched(space, program, 2)
    first = counting(space, lambda loop: loop["head"].get("line") == line("BEGIN first"))
    status = space.status()
    validate("control", status, "status")
    assert status["loop"]["number"] == first["number"] and status["loop"]["head"]["line"] == line("BEGIN first"), status
    assert re.search(rf"^loop\t{line('BEGIN first')}", space.epopctl("status").out, re.M)
    assert line("BEGIN first") in space.epopctl("top", "--once").out
    it.second.touch()
    second = counting(space, lambda loop: loop["head"].get("function") == "second")
    assert second["number"] != first["number"]
    space.resize(1)
    assert counting(space, lambda loop: loop["size"] == 1)["number"] == second["number"]
    it.finish()


def test_a_loop_is_the_same_at_another_size(space, program):
    it = Watched(space, program, 3)
    before, = begins_at(it.until(lambda loops: turned(loops, "first", size=3)), "first")
    space.resize(2)
    loops = it.until(lambda loops: turned(loops, "first", size=2))
    after, = (loop for loop in begins_at(loops, "first") if loop["size"] == 2)
    assert after["number"] == before["number"] and after["ranks"] == "0-1", loops
    it.finish()


def test_a_program_that_cannot_be_read_has_places(space, program, tmp_path):
    """Without debug information and symbols there are the file and the offset in it."""
    bare = tmp_path / "bare"
    plain.subprocess.run(["strip", "-o", bare, program], check=True)
    it = Watched(space, bare, 2)
    loops = it.until(lambda loops: any(loop["iterations"] > 3 for loop in loops))
    assert all("line" not in loop["head"] and loop["head"]["place"].startswith(f"{bare}+0x") for loop in loops), loops
    table = space.epopctl("measure").out
    assert "\nbare+0x" in table, table
    it.finish()


def test_how_a_rank_calls_mpi(space, program):
    """As a table, a graph for dot, and JSON, which are the same; the first of them begins to measure."""
    it = Watched(space, program, 2)
    lines = [row.split("\t") for row in space.epopctl("loops", "--rank", "1").out.splitlines()]
    assert lines[0] == ["CALL", "MPI", "LINE", "FUNCTION", "FROM", "H", "B", "RE", "RV", "TAIL", "HEAD", "SECONDS"]
    rows = {row[2]: row for row in lines[1:]}
    head, shared = rows[line("BEGIN first")], rows[line("SHARED")]
    assert head[1] == "MPI_Allreduce" and head[3] == "first" and head[5:7] == ["1", "0"] and head[9] == shared[0], lines
    assert shared[3] == "exists" and shared[5:7] == ["0", "1"] and shared[10] == head[0] and int(shared[8]) >= 1, lines
    graph = json.loads(space.epopctl("loops", "--json").out)
    validate("control", graph, "graph")
    assert graph["rank"] == 0 and graph["calls"][0]["site"]["line"] == line("BEGIN first") and graph["calls"][0]["begins"], graph
    dot = space.epopctl("loops", "--dot").out
    assert dot.startswith('digraph "rank 0" {\n') and dot.endswith("}\n") and f"MPI_Allreduce\\n{line('BEGIN first')}\\n" in dot, dot
    back, = (each for each in graph["steps"] if each["to"] == 0)
    assert re.search(rf'^  n{back["from"]} -> n0 \[label="\d+", constraint=false, style=bold\];$', dot, re.M), dot
    for wrong, why in ((("--rank", "2"), "there is no rank 2: the job has 2"), (("--rank", "-1"), "--rank")):
        result = space.epopctl("loops", *wrong)
        assert result.status != 0 and why in result.err, result
    it.finish()


def test_a_program_of_phases_has_no_calls_to_show(space):
    running = space.start_epop("synthetic", "phase=a", "iterations=100000000", "seconds=0.01", ranks=1)
    space.wait_until_running(running)
    result = space.epopctl("loops")
    assert result.status == 1 and "a program of phases is not followed" in result.err, result
    assert space.epopctl("stop", "--force").status == 0


# ---- Programs without any elastic call, under epop

SYSTEMS = ("-g", "24x24", "-s", "6")


@pytest.fixture(scope="module")
def cg(tmp_path_factory):
    return plain.compile_c(job.ROOT / "programs/plain/cg.c", tmp_path_factory.mktemp("cg") / "cg", "-g", "-O0", "-lm")


def turns(out):
    """Of the inner loop, as the program has them."""
    return sum(int(number) for number in re.findall(r"^system \d+: (\d+) iterations", out, re.M))


def profiled(space, cg, ranks, output):
    result = space.start_epop("--driver", "profile", "--output", output, cg, *SYSTEMS, ranks=ranks).wait()
    assert (result.status, result.err) == (0, ""), result
    written = json.loads(output.read_text())
    validate("control", written, "measure")
    return result.out, written["loops"]


def test_the_profile_of_a_program_that_cannot_be_resized(space, cg):
    """All of its laps but each loop's last; nothing is kept on its way."""
    output = space.directory / "loops.json"
    out, loops = profiled(space, cg, 2, output)
    outer, = (loop for loop in loops if "within" not in loop)
    inner, = (loop for loop in loops if loop.get("within") == outer["number"])
    assert outer["ranks"] == inner["ranks"] == "0-1" and 4 <= outer["iterations"] <= 6, loops
    assert turns(out) - 2 * 6 <= inner["iterations"] <= turns(out), (out, loops)
    assert inner["loop_seconds"] <= outer["loop_seconds"], loops
    shown = space.epopctl("measure", "--from", output)
    assert shown.status == 0 and re.search(rf"^cg\.c:\d+-\d+\t\w+\t{outer['number']}\t-\t2\t0-1\t", shown.out, re.M), shown


def test_the_efficiency_of_its_loops(space, cg):
    outputs = [space.directory / f"{ranks}.json" for ranks in (1, 2)]
    rates = [next(loop["rate"] for loop in profiled(space, cg, ranks, output)[1] if "within" not in loop)
             for ranks, output in zip((1, 2), outputs)]
    lines = [line.split("\t") for line in space.epopctl("measure", "--from", ",".join(map(str, outputs))).out.splitlines()]
    assert lines[0] == ["LOOP", "CALL", "SIZE", "RANKS", "ITERATIONS", "RATE", "MTCT", "SPEEDUP", "EFFICIENCY"]
    first = [line for line in lines[1:] if line[0] == lines[1][0]]
    assert [line[2] for line in first] == ["1", "2"] and first[0][7:] == ["1", "1"], lines
    assert abs(float(first[1][8]) - rates[1] / rates[0] / 2) < 0.01 * rates[1] / rates[0], (lines, rates)


def test_a_program_that_is_looked_at(space, cg):
    """Without a file its loops are shown at the end; meanwhile it is a job like others, but stays at its size."""
    running = space.start_epop("--driver", "profile", cg, "-g", "24x24", "-s", "100000000", ranks=2, limit=100)
    space.wait_until_running(running)
    counting(space, lambda loop: loop["ranks"] == "0-1" and loop["head"].get("line", "").startswith("cg.c:"))
    status = space.status()
    assert status["element"]["type"] == "RP" and status["loop"]["head"]["line"].startswith("cg.c:"), status
    refused = space.epopctl("resize", "1")
    assert refused.status != 0 and "accepts neither 1 ranks" in refused.err, refused
    assert space.epopctl("stop", "--force").status == 0
    assert running.wait().status != 0


def test_loops_are_shown_at_the_end(space, cg):
    result = space.start_epop("--driver", "profile", cg, *SYSTEMS, ranks=2).wait()
    assert result.status == 0 and turns(result.out) > 0
    assert re.search(r"^LOOP\tCALL\tNUMBER\t", result.err, re.M) and re.search(r"^cg\.c:\d+-\d+\t\w+\t1\t", result.err, re.M), result.err


def test_preloaded_without_epop(space, cg):
    output = space.directory / "loops.json"
    env = {"LD_PRELOAD": plain.PRELOADED, "EPOP_WATCH": output}
    result = space.start([job.MPIEXEC, "-n", "2", *(word for name, value in env.items() for word in ("-genv", name, str(value))), cg, *SYSTEMS]).wait()
    assert (result.status, result.err) == (0, ""), result
    assert [loop["ranks"] for loop in json.loads(output.read_text())["loops"] if "within" not in loop] == ["0-1"]


def test_the_profile_of_one_that_can_be_resized(space, program):
    output, end, second = (space.directory / name for name in ("loops.json", "end", "second"))
    running = space.start_epop("--driver", "profile", "--output", output, program, end, second, ranks=2)
    space.wait_until_running(running)
    counting(space, lambda loop: loop["head"].get("line") == line("BEGIN first"))
    space.resize(1)
    second.touch()
    counting(space, lambda loop: loop["size"] == 1 and loop["head"].get("function") == "second")
    end.touch()
    result = running.wait()
    assert (result.status, result.err) == (0, ""), result
    loops = json.loads(output.read_text())["loops"]
    assert {loop["size"] for loop in loops} == {1, 2}, loops


def test_what_is_no_program_to_look_at(space, cg):
    """Other drivers and options; a file that cannot be written, which is said before the run; files that are not of loops; a program without MPI is left as it is."""
    result = space.start_epop("--driver", "trace", cg, ranks=2).wait()
    assert result.status == 2 and result.err.count("drivers for executables are run and profile") == 1, result
    result = space.start_epop("--driver", "profile", "--output", "/nowhere/loops.json", cg, *SYSTEMS, ranks=2).wait()
    assert result.status == 1 and result.err.count("cannot be written to '/nowhere/loops.json': No such file") == 1 and not result.out, result
    result = space.start_epop("--start", "1", cg, *SYSTEMS, ranks=2).wait()
    assert result.status == 2 and result.err.count("for which --start means nothing") == 1 and not result.out, result
    (space.directory / "text").write_text("none")
    for name, why in (("none.json", "cannot read"), ("text", "is no file of what was measured")):
        result = space.epopctl("measure", "--from", space.directory / name)
        assert result.status == 1 and why in result.err, result
    result = space.start_epop("/bin/sh", "-c", "echo hello; sleep 0.5", ranks=2).wait()
    assert (result.status, result.out, result.err) == (0, "hello\nhello\n", ""), result


# ---- The report


@pytest.fixture(name="written")
def fixture_written(space, cg):
    output = space.directory / "loops.json"
    profiled(space, cg, 2, output)
    return output


@reports.needed
def test_the_report_of_loops(space, written):
    """The page, the drawings and the tables have what the file has, with places by their names."""
    loops, graph = (json.loads(written.read_text())[name] for name in ("loops", "graph"))
    result = reports.report(space, written, "-o", "page.html")
    assert (result.status, result.err) == (0, ""), result
    page = (space.directory / "page.html").read_text()
    assert "How a rank calls MPI" in page and "<title>cg: EPOP report</title>" in page and ">cg.c:" in page
    table = list(csv.DictReader(io.StringIO(reports.report(space, written, "--format", "csv", "--chart", "loops").out)))
    assert [(row["number"], row["ranks"], row["iterations"]) for row in table] == \
        [(str(loop["number"]), loop["ranks"], str(loop["iterations"])) for loop in loops], table
    calls = list(csv.DictReader(io.StringIO(reports.report(space, written, "--format", "csv", "--chart", "calls").out)))
    assert [(row["mpi"], int(row["revisits"]) + 1) for row in calls] == [(call["site"]["mpi"], call["visits"]) for call in graph["calls"]], calls
    drawing = reports.report(space, written, "--format", "svg", "--chart", "calls").out
    counts = [str(step["count"]) for step in graph["steps"] if step["to"] <= step["from"]]
    assert counts and all(f"{count}\u00d7" in drawing.replace("\u202f", "") for count in counts) and "Allreduce cg.c:" in drawing, (counts, drawing)


@reports.needed
@pytest.mark.parametrize("spoil, why", [
    (lambda it: it["loops"][0].pop("head"), "has a loop that is none"),
    (lambda it: it["loops"][0].update(iterations=-1), "has a loop that is none"),
    (lambda it: it["graph"]["steps"][0].update(to=1000), "has a step in its graph that is none"),
    (lambda it: it["graph"]["calls"][0].update(visits=0), "has a call in its graph that is none"),
    (lambda it: it["graph"].pop("steps"), "has a graph that is none"),
    (lambda it: it.update(version=2), "is no version of what executables are measured to do"),
])
def test_loops_that_are_none(space, written, spoil, why):
    spoilt = json.loads(written.read_text())
    spoil(spoilt)
    written.write_text(json.dumps(spoilt))
    result = reports.report(space, written)
    assert result.status == 2 and why in result.err and result.err.count("\n") == 1, result


@reports.needed
def test_loops_without_a_graph(space, written):
    """As epopctl measure --json has them; and they have no trace."""
    measured = json.loads(written.read_text())
    del measured["graph"], measured["program"], measured["job"]
    written.write_text(json.dumps(measured))
    assert reports.report(space, written, "-o", "page.html").status == 0
    assert "No calls were followed" in (space.directory / "page.html").read_text()
    result = reports.report(space, written, written)
    assert result.status == 2 and "is one file too many" in result.err, result
