"""epop-report on the command line: what it refuses, and that tables and drawings have the profile's figures."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import job
import profiles
import pytest
from reports import REPORT, check_drawings, check_refused, draw, needed, numbers, report, shapes, table

pytestmark = needed
DRAWN = ["world", "resizes", "phases", "loops", "functions", "scaling", "efficiency", "graph", "traffic", "timeline"]
TABLES = [*DRAWN[:7], "fit", *DRAWN[7:]]


# ---- What it refuses: one line, exit status 2 ----

BAD = {
    "empty": (b"", "is empty"),
    "text": (b"hello\n", "is not JSON: line 1"),
    "comma": (b'{\n"schema": "epop.profile",,\n}', "is not JSON: line 2"),
    "cut": (json.dumps(profiles.example()).encode()[:500], "is not whole"),
    "latin": (b'{"schema": "epop.profile",\n"job": "caf\xe9"}', "line 2 is not UTF-8"),
    "number": (b"7", "is not a profile"),
    "other": (b'{"schema": "epop.program", "version": 1}', "is not a profile, but epop.program"),
    "trace": (b'{"traceEvents": []}', "looks like a trace"),
    "array": (b'[{"ph": "X"}]', "looks like a trace"),
    "older": (b'{"schema": "epop.profile", "version": 1}', "version 1; this epop-report reads version 2"),
    "newer": (b'{"schema": "epop.profile", "version": 3}', "version 3"),
    "unversioned": (b'{"schema": "epop.profile"}', "without a version"),
    "hollow": (b'{"schema": "epop.profile", "version": 2}', "is not a valid profile"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(space, name):
    content, words = BAD[name]
    path = space.directory / "prof.json"
    path.write_bytes(content)
    check_refused(space, path, words)


@pytest.mark.parametrize("path", sorted(profiles.EXAMPLES.parent.glob("invalid/*.json")), ids=lambda path: path.stem)
def test_what_the_schema_refuses(space, path):
    result = report(space, path)
    assert result.status == 2 and result.err.count("\n") == 1 and "profile" in result.err, result


def test_the_place_of_a_mistake_is_told(space):
    profile = profiles.example()
    profile["elements"][1]["worlds"][0]["size"] = "two"
    result = report(space, profiles.write(space.directory, profile))
    assert "/elements/1/worlds/0/size must be integer" in result.err, result


@pytest.mark.parametrize("arguments,words", [
    ([], "which profile or schedule?"),
    (["no-such.json"], "no-such.json cannot be read: No such file"),
    (["/"], "Is a directory"),
    (["a", "b", "c"], '"c"'),
    (["--format", "pdf", "a"], '"pdf"'),
    (["--chart", "world", "a"], "--chart needs --format"),
    (["--width", "7", "a"], "--width"),
    (["--colour", "a"], "--colour"),
    (["a", "-o"], "-o"),
    (["--format", "svg", "a", "-o", "-"], "standard output"),
])
def test_wrong_usage(space, arguments, words):
    result = report(space, *arguments)
    assert result.status == 2 and words in result.err and result.err.count("\n") == 1, result


def test_no_such_chart(space):
    path = profiles.write(space.directory, profiles.example())
    result = report(space, path, "--format", "csv", "--chart", "worl")
    assert result.status == 2 and "worl is none of the charts" in result.err, result


@pytest.mark.parametrize("place", ["no/such/folder/out.html", "/dev/full"])
def test_what_cannot_be_written(space, place):
    path = profiles.write(space.directory, profiles.example())
    result = report(space, path, "-o", place)
    assert result.status == 1 and place in result.err and result.err.count("\n") == 1, result


def test_nothing_is_left_of_a_page_that_cannot_be_put_in_its_place(space):
    path = profiles.write(space.directory, profiles.example())
    (space.directory / "there").mkdir()
    assert report(space, path, "-o", "there").status == 1
    assert sorted(entry.name for entry in space.directory.iterdir()) == ["prof.json", "there"]


# ---- Ways to call it ----

def test_default_places(space):
    path = profiles.write(space.directory, profiles.example())
    assert report(space, path).status == 0
    assert (space.directory / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert report(space, path, "--format", "csv").status == 0
    assert sorted(entry.name for entry in (space.directory / "report").iterdir()) == sorted(f"{name}.csv" for name in TABLES)
    umask = os.umask(0o022)
    os.umask(umask)
    assert (space.directory / "report.html").stat().st_mode & 0o777 == 0o666 & ~umask


def test_standard_input(space):
    path = profiles.write(space.directory, profiles.example())
    with path.open() as stream:
        result = space.start([REPORT, "-", "--format", "csv", "--chart", "phases"], stdin=stream).wait()
    assert result.status == 0 and result.out == report(space, path, "--format", "csv", "--chart", "phases").out, result


def test_help_names_the_charts(space):
    result = report(space, "--help")
    listed = re.search(r"Charts: (.*)\.", result.out).group(1)
    assert result.status == 0 and re.sub(r" \(.*?\)", "", listed).split(", ") == TABLES, result
    assert report(space, "--version").out.startswith("epop-report ")


# ---- Tables: the profile's figures ----

@pytest.fixture
def resized(space):
    profile = profiles.example()
    return profile, profiles.write(space.directory, profile)


def test_table_of_phases(space, resized):
    profile, path = resized
    rows = table(space, path, "phases")
    expected = [(element["pc"], world["size"], world["iterations"], world["loop_time"]["total"], world["mpi_time"]["total"],
                 world["loop_time"]["max"]) for element in profile["elements"] for world in element["worlds"]]
    assert numbers(rows, "pc", "size", "iterations", "time_s", "mpi_s", "max_s") == expected and len(rows) > 3
    assert numbers(rows, "mpi_share", "mtct") == [
        (world["mpi_share"], world["mtct"]) for element in profile["elements"] for world in element["worlds"]]
    assert {row["phase"] for row in rows} == {element["name"] for element in profile["elements"] if element["worlds"]}


def test_table_of_loops(space, resized):
    """Each by its phase, number and size; one without a line by its place."""
    profile, path = resized
    rows = table(space, path, "loops")
    loops = sorted((element["pc"], loop["number"], world["size"], loop["ranks"], loop["iterations"], loop["loop_time"]["total"], loop["mpi_time"]["total"])
                   for element in profile["elements"] for world in element["worlds"] for loop in world.get("loops", []))
    assert numbers(rows, "pc", "number", "size", "ranks", "iterations", "time_s", "mpi_s") == loops and len(loops) > 1
    assert [(row["phase"], row["within"], row["loop"], row["begins_with"]) for row in rows] == [
        ("relax", "", "heat.c:40", "MPI_Irecv"), ("relax", "1", "heat.so+0x1a2b", "MPI_Irecv")]


def test_table_of_the_world(space, resized):
    profile, path = resized
    rows = table(space, path, "world")
    worlds = [row for row in rows if row["event"] == "world"]
    assert numbers(worlds, "time_s", "size") == [(it["time"], it["size"]) for it in profile["world"]]
    stalls = [float(row["stall_s"]) for row in rows if row["event"] == "committed"]
    assert stalls == [it["stall"] for it in profile["adaptations"] if it["state"] == "committed"]
    assert sum(row["event"] == "refused" for row in rows) == len(profile["refusals"])
    assert numbers(rows, "time_s") == sorted(numbers(rows, "time_s"))


def test_table_of_resizes(space, resized):
    profile, path = resized
    rows = table(space, path, "resizes")
    assert [int(row["id"]) for row in rows] == [it["id"] for it in profile["adaptations"]]
    for row, adaptation in zip(rows, profile["adaptations"]):
        times = adaptation["times"]
        for column, begin, end in (("prepare_s", "requested", "prepared"), ("agree_s", "prepared", "agreed"),
                                   ("connect_s", "agreed", "opened"), ("window_s", "opened", "committed")):
            if times[begin] is None or times[end] is None:
                assert row[column] == ""
            else:
                assert float(row[column]) == pytest.approx(times[end] - times[begin])
        assert row["reason"] == (adaptation["reason"] or "")
        assert row["sent_bytes"] == ("" if adaptation["bytes"] is None else str(adaptation["bytes"]["sent"]))


def test_table_of_functions(space, resized):
    profile, path = resized
    calls, time = {}, {}
    for world in (world for element in profile["elements"] for world in element["worlds"]):
        for entry in world["mpi"]:
            calls[entry["function"]] = calls.get(entry["function"], 0) + entry["calls"]
            time[entry["function"]] = time.get(entry["function"], 0) + entry["time"]
    rows = table(space, path, "functions")
    assert {row["function"]: int(row["calls"]) for row in rows} == calls and len(calls) > 2
    assert {row["function"]: float(row["time_s"]) for row in rows} == pytest.approx(time)
    assert numbers(rows, "time_s") == sorted(numbers(rows, "time_s"), reverse=True)


def test_table_of_traffic(space, resized):
    profile, path = resized
    expected = {}
    for flow in (flow for adaptation in profile["adaptations"] for flow in adaptation["traffic"]):
        pair = (flow["from"], flow["to"])
        expected[pair] = expected.get(pair, 0) + flow["bytes"]
    rows = table(space, path, "traffic")
    assert {(int(row["from"]), int(row["to"])): int(row["bytes"]) for row in rows} == expected and len(expected) > 2


def test_the_matrix_names_the_arrays(space, resized):
    _, path = resized
    page = space.directory / "page.html"
    assert space.start([REPORT, path, "-o", page]).wait().status == 0
    said = re.search(r"By described array: [^<]*", page.read_text()).group()
    assert said.replace("\u00a0", " ") == "By described array: k 1 MiB (1 MiB ahead of the windows), u 1 MiB."


def test_recoveries(space):
    """Said in the sentence, and listed with the resizes: from what, and why."""
    profile = json.loads((profiles.EXAMPLES / "recovered.json").read_text())
    path = profiles.write(space.directory, profile)
    rows = [row for row in table(space, path, "world") if row["event"] == "recovered"]
    assert numbers(rows, "size", "iteration", "stall_s") == [(it["size"], it["iterations"], it["seconds"]) for it in profile["recoveries"]]
    assert [float(row["time_s"]) for row in rows] == pytest.approx([it["time"] - profile["started"] for it in profile["recoveries"]])
    assert rows[0]["reason"].startswith("from memory 5, ") and rows[0]["reason"].endswith(profile["recoveries"][0]["reason"])
    page = space.directory / "page.html"
    assert space.start([REPORT, path, "-o", page]).wait().status == 0
    assert "it died and was started again 2 times: 10 iterations" in page.read_text().replace("\u00a0", " ")


def test_table_of_processes(space, resized):
    profile, path = resized
    expected = [(process["process"], process["pid"], rank["begin"], rank["end"])
                for process in profile["processes"] for rank in process["ranks"]]
    assert numbers(table(space, path, "timeline"), "process", "pid", "begin_s", "end_s") == expected


def test_table_of_the_graph(space, resized):
    profile, path = resized
    rows = table(space, path, "graph")
    assert [(int(row["pc"]), row["element"], row["type"]) for row in rows] == \
        [(element["pc"], element["name"], element["type"]) for element in profile["elements"]]
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1)


def test_efficiency_and_fit(space):
    """The law that a program was made by is found."""
    path = profiles.write(space.directory, profiles.scaled())
    program, phase, other = table(space, path, "fit")
    assert (float(phase["s"]), float(phase["p"])) == pytest.approx((0.2, 0.8)) and int(phase["sizes"]) == 8
    assert float(phase["serial_fraction"]) == pytest.approx(0.2) == pytest.approx(float(program["serial_fraction"]))
    assert float(other["serial_fraction"]) == pytest.approx(0.001 / 0.011)
    assert phase["verdict"].startswith("the fit is within")
    for row in table(space, path, "scaling"):
        assert float(row["fit_s"]) == pytest.approx(float(row["time_per_iteration_s"]))
    rows = [row for row in table(space, path, "efficiency") if row["phase"] == "whole program"]
    assert [float(row["efficiency"]) for row in rows] == pytest.approx(
        [1 / (0.2 * size + 0.8) for size in (1, 2, 3, 4, 6, 8, 12, 16)])


def test_one_world_size_has_no_fit_and_says_so(space):
    path = profiles.write(space.directory, profiles.without_resizes())
    rows = table(space, path, "fit")
    assert all(row["s"] == "" and "no fit" in row["verdict"] for row in rows) and len(rows) == 2
    assert table(space, path, "resizes") == [] == table(space, path, "traffic")


def test_names_with_everything_in_them(space):
    name = 'a,b "c"\n\u00e4\u6f22\U0001f600'
    path = profiles.write(space.directory, profiles.named("program", name))
    assert name in {row["phase"] for row in table(space, path, "phases")}


def test_a_name_that_comes_twice_has_its_pc(space):
    profile = profiles.example()
    for element in profiles.phases(profile):
        element["name"] = "same"
    rows = table(space, profiles.write(space.directory, profile), "graph")
    assert [row["element"] for row in rows if "same" in row["element"]] == ["1 same", "3 same"]


# ---- Drawings ----

@pytest.fixture(params=["resized", "scaled", "large", "hostile"])
def drawings(request, space):
    profile = {"resized": profiles.example, "scaled": profiles.scaled, "large": profiles.large,
               "hostile": lambda: profiles.named(profiles.HOSTILE, profiles.HOSTILE)}[request.param]()
    return draw(space, profiles.write(space.directory, profile))


def test_drawings_are_whole(drawings):
    check_drawings(drawings, DRAWN, least=5)


def test_texts_stand_where_they_belong_in_any_program(drawings):
    """As centred by their own position: librsvg and others know no dominant-baseline."""
    for name, path in drawings.items():
        texts = shapes(ElementTree.parse(path).getroot(), "text")
        assert all(text.get("dy") == "0.35em" and text.get("dominant-baseline") is None for text in texts), name


def drawn_texts(space, profile, chart):
    """[(text, where it begins)]"""
    result = report(space, profiles.write(space.directory, profile), "--format", "svg", "--chart", chart)
    place = re.compile(r"translate\(([-\d.]+) ")
    return [("".join(text.itertext()), float(place.match(text.get("transform", "translate(0 "))[1]))
            for text in shapes(ElementTree.fromstring(result.out), "text")]


def test_a_legend_has_room_for_a_wide_font(space):
    begins = dict(drawn_texts(space, profiles.example(), "resizes"))
    assert begins["agree"] - begins["prepare (ranks compute on)"] > 168 + 14  # its width in DejaVu Sans, and the next symbol


@pytest.mark.parametrize("chart", ["scaling", "efficiency"])
def test_every_size_has_its_mark(space, chart):
    sizes = (1, 2, 3, 4, 6, 8, 12, 16)
    begins = dict(drawn_texts(space, profiles.scaled(sizes), chart))
    places = [begins[str(size)] for size in sizes]
    assert places == sorted(places)
    steps = [places[i] - places[0] for i in (1, 3, 5, 7)]  # 2, 4, 8, 16: equally far apart
    assert steps == pytest.approx([steps[0] * i for i in (1, 2, 3, 4)], rel=0.01)


def test_a_drawing_of_another_width(space, resized):
    result = report(space, resized[1], "--format", "svg", "--chart", "world", "--width", "400")
    assert ElementTree.fromstring(result.out).get("width") == "400"


def bars(root, colour):
    """The lengths of the bars of a colour, drawn as "M x y l length 0 l 0 height ..."."""
    paths = (path.get("d") for path in shapes(root, "path") if path.get("fill") == colour)
    return [float(match.group(1)) for match in (re.match(r"M[\d.]+ [\d.]+l([\d.]+) 0l0 ", path) for path in paths) if match]


def test_bars_are_as_long_as_their_figures(space):
    profile = profiles.scaled()
    result = report(space, profiles.write(space.directory, profile), "--format", "svg", "--chart", "phases", "--width", "1000")
    root = ElementTree.fromstring(result.out)
    first, second = profiles.phases(profile)[:2]
    times = [sum(world["loop_time"]["total"] for world in phase["worlds"]) * 0.75 for phase in (first, second)]
    lengths = sorted(bars(root, "#0072b2"), reverse=True)
    assert lengths[0] / lengths[1] == pytest.approx(times[0] / times[1], rel=0.15), lengths
    assert max(bars(root, "#d55e00")) == pytest.approx(lengths[0] / 3, rel=0.02)


def test_nothing_to_draw_is_said(space):
    path = profiles.write(space.directory, profiles.without_resizes())
    result = report(space, path, "--format", "svg", "--chart", "traffic")
    assert result.status == 1 and "nothing to draw" in result.err and result.err.count("\n") == 1, result
    assert report(space, path, "--format", "svg").status == 0
    assert not (space.directory / "report/traffic.svg").exists() and (space.directory / "report/world.svg").exists()


def test_serial_program(space):
    path = profiles.write(space.directory, profiles.example("serial"))
    assert report(space, path, "--format", "svg").status == 0
    assert table(space, path, "functions") == []


# ---- Real files ----

JOBS = {
    "ledger": [job.program("ledger"), "elements=1000", "iterations=1000000"],
    "gauss": [job.example("gauss"), "--random", "600", "--block", "8"],
    "cannon": [job.example("cannon"), "--random", "300", "--panel", "16"],
}


def measure(space, name):
    """The profile and the trace of one run; of ledger, resized three times and stopped."""
    it = space.start_epop("--start", "1", "--driver", "profile,trace", "--output", "prof.json", "--trace-output", "trace.json",
                          *JOBS[name], ranks=2)
    if name == "ledger":
        space.wait_until_all_are_here()
        for command in (["resize", "2", "--wait"], ["resize", "1", "--wait"], ["resize", "2", "--wait"], ["stop"]):
            result = space.epopctl(*command)
            assert result.status == 0, result
    result = it.wait()
    assert result.status == 0, result
    return space.directory / "prof.json", space.directory / "trace.json"


@pytest.mark.parametrize("name", JOBS)
def test_files_of_a_real_job(space, name):
    profile_path, trace_path = measure(space, name)
    profile = profiles.checked(json.loads(profile_path.read_text()))
    assert report(space, profile_path, trace_path, "-o", "page.html").status == 0
    result = report(space, profile_path, trace_path, "--format", "csv", "--chart", "timeline")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    phases = {element["name"] for element in profile["elements"] if element["worlds"]}
    assert {row["what"] for row in rows} <= phases | {"resize"} and len(rows) > 1
    assert {row["pid"] for row in rows} <= {str(process["pid"]) for process in profile["processes"]}
    assert all(0 <= float(row["begin_s"]) <= float(row["end_s"]) <= profile["duration"] + 0.5 for row in rows)
    done = [it for it in profile["adaptations"] if it["state"] == "committed"]
    assert len(done) == (3 if name == "ledger" else 0)
    resizes = [row for row in rows if row["kind"] == "resize"]
    assert sorted({row["process"] for row in resizes}) == (["0", "1"] if done else [])
    assert len([row for row in resizes if row["process"] == "0"]) == len(done)
    for row, adaptation in zip((row for row in resizes if row["process"] == "0"), done):
        assert float(row["end_s"]) == pytest.approx(adaptation["times"]["committed"], abs=1), (row, adaptation)


def test_traces_that_are_refused(space):
    profile_path, trace_path = measure(space, "ledger")
    other = profiles.write(space.directory, profiles.example(), "other.json")
    result = report(space, other, trace_path)
    assert result.status == 2 and "trace.json is of another run" in result.err and result.err.count("\n") == 1, result
    result = report(space, profile_path, profile_path)
    assert result.status == 2 and "is a profile; the second file is a trace" in result.err, result
    trace_path.write_text(trace_path.read_text()[:3000])
    result = report(space, profile_path, trace_path)
    assert result.status == 2 and "is not whole" in result.err, result


# ---- It needs nothing where it runs ----

def test_runs_without_node_and_python(space):
    """With an empty PATH, and without a variable."""
    path = profiles.write(space.directory, profiles.example())
    environment = {name: None for name in space.environment() if name != job.MARKER}
    result = report(space, path, "-o", "page.html", env={**environment, "PATH": space.directory})
    assert result.status == 0 and (space.directory / "page.html").stat().st_size > 100000, result


# ---- What it needs where it is built ----

@pytest.mark.parametrize("there,words", [(["node"], "there is no npm"), ([], "there is no node"),
                                         (["node", "npm"], "could not fetch")])
def test_a_build_that_cannot_fetch_says_so(space, there, words):
    """With an empty cache, and commands that fail."""
    tools = space.directory / "tools"
    tools.mkdir()
    for name in ("bash", "cat", "cut", "dirname", "mkdir", "mktemp", "cp", "rm", "sha256sum", "timeout"):
        (tools / name).symlink_to(shutil.which(name))
    for name in there:
        (tools / name).symlink_to(shutil.which("false"))
    environment = {"PATH": tools, "EPOP_CACHE": space.directory / "cache"}
    result = space.start([job.ROOT / "report/web/modules.sh"], env=environment).wait()
    assert result.status == 1 and words in result.err and "make REPORT=no" in result.err, result
    assert result.err.count("\n") == 1 and result.out == "", result


def test_the_lock_file_names_no_registry():
    lock = json.loads((job.ROOT / "report/web/package-lock.json").read_text())["packages"]
    assert len(lock) > 5 and not any("resolved" in package for package in lock.values())
    assert all("integrity" in package for name, package in lock.items() if name)


def test_the_rest_is_built_without_it():
    plan = subprocess.run(["make", "-n", "-B", "REPORT=no", "all"], cwd=job.ROOT, capture_output=True, text=True, timeout=120)
    assert plan.returncode == 0 and 'bin/epop"\n' in plan.stdout and "report/" not in plan.stdout, plan.stderr


@pytest.mark.parametrize("options, built", [((), True), (("REPORT=no",), False)])
def test_the_demo_builds_what_its_last_page_needs(options, built):
    plan = subprocess.run(["make", "-n", "-B", *options, "demo"], cwd=job.ROOT, capture_output=True, text=True, timeout=120)
    assert plan.returncode == 0 and ("bin/epop-report" in plan.stdout) == built, plan.stderr
