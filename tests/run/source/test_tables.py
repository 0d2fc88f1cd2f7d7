"""docs/internals/performance.md has the tables that bench/tables.py makes of bench/results, which are those that benchmarks print."""

import json
import os
import re
import subprocess
import sys

import job
import pytest

sys.path.append(str(job.ROOT / "bench"))  # behind the helpers: some of its modules have names of theirs

import keeping  # noqa: E402
import tables  # noqa: E402

PAGE = tables.PAGE.read_text()
ON_THE_PAGE = re.findall(r"^<!-- bench: ([\w-]+) -->$", PAGE, flags=re.M)
KEPT = sorted(keeping.FOLDER.glob("*.jsonl"))
WALK = {"bench": "walk", "ranks": 1, "iteration_us": 10, "epop_ns": 12345.6, "by_hand_ns": 10000, "ratio": 1.23456, "device": "ch4:ucx"}
METHOD = {"bench": "methods", "change": "2->4", "method": "pool", "stall_ms": 1.5, "device": "ch3:sock"}
A_PAGE = """# Figures

<!-- bench: probe -->

| old |
|-----|
| 1   |

<!-- bench: walk -->

Between.

<!-- bench: trace -->

| by hand |
|---|
| 2 |
"""


@pytest.fixture(name="run")
def fixture_run(space, tmp_path):
    """bench/tables.py with a page of its own and a file of these lines."""
    page, results = tmp_path / "page.md", tmp_path / "results.jsonl"
    page.write_text(A_PAGE)

    def run(*lines, options=()):
        results.write_text("".join(line + "\n" for line in lines))
        return space.start([sys.executable, "-B", job.ROOT / "bench/tables.py", results, "--page", page, *options]).wait(), page.read_text()
    return run


# ---- The page and what is kept ----

def test_the_page_is_what_is_kept(space):
    """bench/tables.py writes it anew."""
    result = space.start([sys.executable, "-B", job.ROOT / "bench/tables.py", "--check"]).wait()
    assert (result.status, result.out) == (0, "no table changes\n"), result


def test_all_tables_are_on_the_page():
    assert sorted(ON_THE_PAGE) == sorted(tables.TABLES)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_a_file_says_where_it_is_from(path):
    first = json.loads(path.read_text().splitlines()[0])
    assert {"machine", "mpi"} < set(first) and ("note" in first or {"commit", "date"} < set(first)), first
    results = keeping.read(path)
    assert results and {keeping.file_of(result) for result in results} == {path.name}
    assert all(map(tables.is_for_the_page, results))


# ---- Writing tables ----

def test_a_table_of_which_there_are_results_is_written(run):
    result, page = run(json.dumps(WALK))
    assert (result.status, result.out) == (0, "walk\n"), result
    table = "| iteration | ranks | `epop`, ns | by hand, ns | ratio |\n" \
            "|-----------|-------|------------|-------------|-------|\n" \
            "| 10 us     | 1     | 12,346     | 10,000      | 1.235 |\n"
    assert page == A_PAGE.replace("<!-- bench: walk -->\n\n", f"<!-- bench: walk -->\n\n{table}\n")


def test_without_results_all_stays(run):
    result, page = run('{"machine": "any"}', json.dumps({"bench": "feathers", "device": "ch4:ucx"}), json.dumps({**WALK, "device": "ch9:hens"}))
    assert (result.status, result.out, page) == (0, "no table changes\n", A_PAGE), result


def test_a_check_writes_nothing(run):
    result, page = run(json.dumps(WALK), options=["--check"])
    assert (result.status, result.out, page) == (1, "walk\n", A_PAGE), result


@pytest.mark.parametrize("line, said", [
    ("{'bench': 1", ":2: this is no result, which has a 'bench' and a 'device': {'bench': 1"),
    ("[1]", ":2: this is no result, which has a 'bench' and a 'device': [1]"),
    ('{"machine": "any"}', ":2: this is no result, which has a 'bench' and a 'device': {\"machine\": \"any\"}"),
    ('{"bench": "walk", "device": "ch4:ucx"}', "bench/tables.py: the table 'walk': a result has no 'iteration_us'"),
    (json.dumps({**WALK, "ratio": "much"}), "bench/tables.py: the table 'walk': a result has what is no figure: "),
])
def test_a_malformed_result(run, line, said):
    result, page = run(json.dumps({"note": "where it is from"}), line)
    assert result.status == 1 and said in result.err and result.err.count("\n") == 1, result
    assert (result.out, page) == ("", A_PAGE)


def test_a_table_that_nobody_makes():
    with pytest.raises(keeping.Malformed, match="a table 'hens'"):
        tables.changed(A_PAGE + "\n<!-- bench: hens -->\n\n", [])


# ---- What a benchmark ends with ----

def test_results_are_kept(tmp_path):
    """Each in the place of its benchmark and device, and those of which there is no table nowhere."""
    page, folder = tmp_path / "page.md", tmp_path / "results"
    page.write_text(A_PAGE)
    keeping.keep([{**WALK, "ranks": 4}, {**WALK, "ranks": 8}], {"machine": "old"}, folder)
    assert tables.keep([WALK, METHOD, {**WALK, "device": "ch3:sock"}], {"machine": "any"}, folder, page) == ["walk"]
    kept = {path.name: [json.loads(line) for line in path.read_text().splitlines()] for path in folder.iterdir()}
    assert kept == {"walk.ch4-ucx.jsonl": [{"machine": "any"}, WALK], "methods.ch3-sock.jsonl": [{"machine": "any"}, METHOD]}
    assert keeping.read_all(folder) == [METHOD, WALK] and "| 12,346 " in page.read_text()


def test_the_origin_of_results():
    assert {key: bool(value) for key, value in keeping.origin(job.BUILD).items()} == dict.fromkeys(("machine", "mpi", "commit", "date"), True)
    assert re.fullmatch(r"(MPICH [\d.]+ )?ch\d:\w+", keeping.device(job.BUILD))


# ---- Figures ----

@pytest.mark.parametrize("value, text", [(None, ""), (0, "0"), (-0.0, "0"), (0.012345, "0.0123"), (1.3, "1.3"), (99.96, "100"), (104.4, "104"), (12345.6, "12,346")])
def test_numbers(value, text):
    assert tables.number(value) == text


@pytest.mark.parametrize("value, text", [(None, ""), (0.0041, "0.004"), (0.995, "0.99"), (1, "1.00"), (9.005, "9.01"), (13.27, "13.3"), (425, "425")])
def test_ratios(value, text):
    assert tables.ratio(value) == text


@pytest.mark.parametrize("ns, text", [(None, ""), (-0.2, "-0.2 ns"), (1.3, "1.3 ns"), (1700, "1.7 us"), (9.2e5, "920 us"), (1e6, "1 ms"), (2.5e9, "2.5 s")])
def test_times(ns, text):
    assert tables.time(ns) == text


@pytest.mark.parametrize("device, those", [("ch4:ucx", ["walk", "redist"]), ("ch3:sock", ["redist", "latency"]), ("ch4:ofi", ["walk", "redist", "latency"])])
def test_which_are_measured_without_names(device, those):
    assert tables.measured_with(device, ["walk", "redist", "latency"]) == those


def test_a_benchmark_that_is_not_built(tmp_path):
    """One line each instead of a traceback, and those that are there run all the same."""
    def bench(tree, *names):
        return subprocess.run([sys.executable, job.ROOT / "bench/run.py", "--quick", *names], capture_output=True, text=True, timeout=120,
                              check=False, env={**os.environ, "EPOP_BUILD": str(tree), "MPIEXEC": job.MPIEXEC})

    result = bench(tmp_path, "probe")
    assert result.returncode == 2 and f"{tmp_path} has no epop" in result.stderr, result
    (tmp_path / "bin").mkdir()
    (tmp_path / "bench").mkdir()
    (tmp_path / "bin/epop").symlink_to(job.BUILD / "bin/epop")
    result = bench(tmp_path, "probe", "scale")
    assert result.returncode == 1 and "not done: probe, scale" in result.stdout, result
    for name in ("probe", "scale"):
        assert f"{name}: {tmp_path}/bench/{name} is not there: make all benches" in result.stderr, result
    assert "Traceback" not in result.stderr
