"""epopsim: workloads and bad input, tables and JSON, policies that misbehave, and how it ends."""

import gzip
import itertools
import json
import os
import pty
import signal

import job
import pytest
from schemas import validate

EPOPSIM = job.BUILD / "bin/epopsim"
NASA = job.ROOT / "scheduler/examples/NASA-iPSC-1993-3.1-cln.swf.gz"
EXAMPLES = job.ROOT / "schema/examples/workload"
PHASES = EXAMPLES / "valid/phases.json"
PUBLISHED = ["min", "pref", "average", "keeppref", "dmr"]
BAD = job.BUILD / "tests/policies/bad.so"


def epopsim(space, *arguments, **how):
    return space.start([EPOPSIM, *arguments], **how).wait()


def refused(result, *words, status=2):
    """One line that says it, and nothing else."""
    assert result.status == status and result.out == "", result
    assert result.err.startswith("epopsim: ") and result.err.count("\n") == 1, result
    for word in words:
        assert word in result.err, result


ALL_RIGID = "note: all jobs are rigid: --malleable SHARE lets policies resize them\n"


def swf(*jobs, header="; MaxProcs: 16\n"):
    """(number, submit, run time, processors) each."""
    rows = [f"{number} {submit} -1 {run} {size} -1 -1 {size} {run} -1 1 1 1 -1 -1 -1 -1 -1" for number, submit, run, size in jobs]
    return header + "\n".join(rows) + "\n"


def trace(space, *jobs, name="trace.swf"):
    path = space.directory / name
    path.write_text(swf(*jobs))
    return path


def rows(text):
    """A table by its columns' names."""
    lines = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


# ---- It runs ----

def test_a_small_trace_by_hand(space):
    """The second job waits for the first, the third fits beside it: 0-10, 10-30, 1-9."""
    path = trace(space, (1, 0, 10, 12), (2, 1, 20, 16), (3, 1, 8, 4))
    result = epopsim(space, "--policy", "easy", "--tsv", path)
    assert result.status == 0 and result.err == ALL_RIGID, result
    [row] = rows(result.out)
    assert row["policy"] == "easy" and float(row["makespan"]) == 30 and float(row["mean_wait"]) == 3
    assert float(row["utilisation"]) == pytest.approx((120 + 320 + 32) / (16 * 30))


def test_the_standard_input(space):
    path = trace(space, (1, 0, 10, 4))
    with open(path) as text:
        result = epopsim(space, "--policy", "easy", "-", stdin=text)
    assert result.status == 0 and "easy" in result.out, result


def test_gzip_or_not_is_the_same(space):
    path = trace(space, (1, 0, 10, 12), (2, 1, 20, 16))
    packed = space.directory / "packed"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    plain = epopsim(space, "--policy", "easy", "--tsv", path)
    assert plain.status == 0
    strip = lambda text: [[row["makespan"], row["mean_wait"]] for row in rows(text)]
    assert strip(epopsim(space, "--policy", "easy", "--tsv", packed).out) == strip(plain.out)


def test_the_table_has_the_usual_policies(space):
    result = epopsim(space, PHASES)
    known = [line.split()[0] for line in epopsim(space, "--list-policies").out.splitlines() if not line.startswith(" ")]
    names = ["easy", "ers", "gain"]
    assert result.status == 0 and known == [*names, *PUBLISHED], result
    lines = result.out.splitlines()
    assert lines[0].split()[:2] == ["policy", "makespan/s"] and "energy/MJ" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == names
    assert all("(" in line for line in lines[2:]) and "(" not in lines[1]


def starts(space, *words):
    """Of each policy that is named: {job: when it starts}; and how many resizes there are."""
    result = epopsim(space, "-q", *words, "-o", "starts.json")
    assert result.status == 0, result
    runs = json.loads((space.directory / "starts.json").read_text())["runs"]
    return [({job["id"]: job["start"] for job in run["jobs"]}, run["metrics"]["resizes"]) for run in runs]


def test_published_policies_are_easy_with_rigid_jobs(space):
    easy, *others = starts(space, "--jobs", "2000", "--load", "0.9", "--policy", ",".join(["easy", *PUBLISHED]), NASA)
    assert easy[1] == 0 and all(other == easy for other in others)


@pytest.mark.parametrize("share", ["0.5", "1"])
def test_published_policies_come_to_rest(space, share):
    """Nodes that one job gives for another do not go back and forth while that one waits. All jobs of all kinds are done."""
    for _, resizes in starts(space, "--jobs", "1000", "--load", "0.95", "--malleable", share, "--policy", ",".join(PUBLISHED), NASA):
        assert 50 < resizes < 10000, resizes


def test_policies_with_options(space):
    """What has no '=' begins a policy."""
    result = epopsim(space, "--policy", "easy,ers,upper=0.2", "--policy", "easy", "--tsv", PHASES)
    assert [row["policy"] for row in rows(result.out)] == ["easy", "ers,upper=0.2", "easy"], result


@pytest.mark.parametrize("path", sorted((EXAMPLES / "valid").glob("*.json")), ids=lambda path: path.stem)
def test_valid_examples_run(space, path):
    result = epopsim(space, "-q", "--policy", "easy,ers", path)
    assert result.status == 0 and result.err == "", result


def test_the_schedule_is_by_its_schema(space):
    result = epopsim(space, "--jobs", "300", "--malleable", "0.5", "--load", "1.2", "--output", "out.json", NASA)
    assert result.status == 0, result
    value = json.loads((space.directory / "out.json").read_text())
    validate("schedule", value)
    assert value["machine"]["nodes"] == 128 and value["workload"]["jobs"] == 300
    assert value["options"]["load"] == 1.2 and value["options"]["malleable"] == 0.5
    assert any("no run time" in note for note in value["workload"]["notes"])
    for run in value["runs"]:
        assert len(run["jobs"]) == 300 == run["metrics"]["done"]
        assert all(decision["reason"] for decision in run["decisions"])


def test_the_schedule_instead_of_the_table(space):
    result = epopsim(space, "--policy", "easy", "-o", "-", PHASES)
    assert result.status == 0, result
    validate("schedule", json.loads(result.out))


def test_the_metrics_are_by_their_schema(space):
    result = epopsim(space, "--json", PHASES)
    assert result.status == 0, result
    value = json.loads(result.out)
    validate("metrics", value)
    assert value["options"]["load"] is None and value["options"]["limit_factor"] is None
    assert value["runs"][0]["policy"] == "easy" and value["runs"][0]["metrics"]["joules"] > 0


def test_the_same_seed_gives_the_same(space):
    words = ["--jobs", "400", "--malleable", "0.5", "--limit-factor", "3", "--noise", "0.1", "--load", "1", NASA]
    outs = [epopsim(space, "--seed", seed, "-o", "-", *words).out for seed in ("5", "5", "6")]
    assert outs[0] and outs[0] == outs[1] != outs[2]


def test_random_jobs_follow_the_seed(space):
    path = EXAMPLES / "valid/random.json"
    outs = [epopsim(space, "--policy", "easy", "-o", "-", *words, path).out
            for words in ([], ["--seed", "3"], ["--seed", "4"])]
    starts = [[entry["submit"] for entry in json.loads(out)["runs"][0]["jobs"]] for out in outs]
    assert starts[0] == starts[1] != starts[2] and len(starts[0]) == 50


def test_the_highest_priority_comes_first(space):
    """One job at a time fits: those that wait start by priority, then as they came; only one that overtakes its
    betters is backfilled, and nobody does."""
    phases = [{"name": "all", "iterations": 10, "seconds": 4}]
    jobs = [{"id": number, "submit": number, "nodes": 4, "phases": phases, **more}
            for number, more in ((1, {}), (2, {}), (3, {"priority": -1}), (4, {"priority": 5}), (5, {"priority": 5}), (6, {}))]
    workload = space.directory / "ranked.json"
    workload.write_text(json.dumps({"schema": "epop.workload", "version": 1, "machine": {"nodes": 4}, "jobs": jobs}))
    for policy in ("easy", "gain", "ers"):
        result = epopsim(space, "--policy", policy, "-o", "-", workload)
        assert result.status == 0, result
        [schedule] = json.loads(result.out)["runs"]
        began = {one["id"]: one["start"] for one in schedule["jobs"]}
        assert sorted(began, key=began.get) == [1, 4, 5, 2, 6, 3], (policy, began)
        assert schedule["metrics"]["backfilled"] == 0, policy
        assert [one.get("priority") for one in schedule["jobs"]] == [None, None, -1, 5, 5, None], policy


def test_a_replay_gives_the_same_decisions(space):
    words = ["--jobs", "300", "--load", "1.2", NASA]
    assert epopsim(space, "--malleable", "0.5", "--output", "run.json", *words).status == 0
    again = epopsim(space, "-q", "--malleable", "0.5", "--replay", "run.json", *words)
    assert again.status == 0 and again.err == "", again
    count = len(json.loads((space.directory / "run.json").read_text())["runs"][0]["decisions"])
    told = epopsim(space, "--malleable", "0.5", "--replay", "run.json", *words)
    assert f"note: easy: {count} decisions, all the same as in run.json\n" in told.err and "recorded" not in told.err, told
    another = epopsim(space, "--policy", "ers", "--latency", "1", "--replay", "run.json", *words)
    assert "note: run.json was recorded with --malleable 0.5, this is without --malleable\n" in another.err, another
    assert "note: run.json was recorded with --latency 0.445, this is with --latency 1\n" in another.err, another
    assert epopsim(space, "--policy", "ers,upper=0.2", "--output", "one.json", *words).status == 0
    one = epopsim(space, "-q", "--replay", "one.json", *words)
    assert one.status == 0 and len(one.out.splitlines()) == 2 and "ers,upper=0.2" in one.out, one
    refused(epopsim(space, "-q", "--policy", "easy", "--replay", "one.json", *words), "easy", "no run", status=1)
    other = epopsim(space, "-q", "--policy", "easy", "--load", "1.3", "--replay", "run.json", "--jobs", "300", NASA)
    refused(other, "easy", status=1)


def ended(space, path, *words, policy="easy"):
    """{job: how and when}; and what is said on standard error, with all notes of the run."""
    result = epopsim(space, "--policy", policy, "-o", "ended.json", *words, path)
    assert result.status == 0, result
    run, = json.loads((space.directory / "ended.json").read_text())["runs"]
    return {job["id"]: (job["outcome"], round(job["end"])) for job in run["jobs"]}, result.err + "".join(event["text"] for event in run["events"])


def test_jobs_are_ended_at_their_limit(space):
    """If that is asked for; one whose limit is exact is done."""
    path = space.directory / "late.swf"
    path.write_text("; MaxProcs: 4\n1 0 -1 100 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n2 0 -1 100 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1\n")
    assert ended(space, path)[0] == {1: ("done", 100), 2: ("done", 200)}
    ends, said = ended(space, path, "--kill-at-limit")
    assert ends == {1: ("failed", 60), 2: ("done", 160)}
    assert "1 of 2 jobs were not done" in said and "job 1 is ended: its limit is used up" in said, said


def test_a_limit_lasts_longer_on_fewer_nodes(space):
    """On one node of four four times as long, until the other nodes are there; on more than its user wanted not shorter."""
    path = space.directory / "shared.json"
    work = lambda number, seconds: {"id": number, "kind": "malleable", "nodes": 4, "min": 1, "max": 8, "limit": 60, "bytes": 0,
                                    "phases": [{"iterations": 1000, "seconds": seconds, "speedup": {"model": "linear"}}]}
    other = {"id": 2, "nodes": 7, "limit": 120, "phases": [{"seconds": 840, "speedup": {"model": "linear"}}]}
    path.write_text(json.dumps({"schema": "epop.workload", "version": 1, "machine": {"nodes": 8}, "jobs": [other, work(1, 2.0), work(3, 0.3)]}))
    ends, _ = ended(space, path, "--kill-at-limit", "--resize-cost", "0", "--latency", "0", policy="min")
    assert ends[2] == ("done", 120), ends
    assert ends[1] == ("failed", 120 + 30), ends
    assert ends[3][0] == "done", ends


def test_faults_by_a_script(space):
    (space.directory / "faults").write_text("at 5 node 3 fails # it does\n\nat 50 node 3 returns\n")
    path = trace(space, (1, 0, 20, 16))
    result = epopsim(space, "--policy", "easy", "--script", "faults", "--json", path)
    assert result.status == 0, result
    metrics = json.loads(result.out)["runs"][0]["metrics"]
    assert metrics["requeues"] == 1 and metrics["makespan"] == 70


def test_a_job_that_cannot_be_done_is_told(space):
    (space.directory / "faults").write_text("at 5 node 3 fails\n")
    path = trace(space, (1, 10, 20, 16), (2, 11, 20, 4))
    refused(epopsim(space, "-q", "--policy", "easy", "--script", "faults", path), "easy at 31: job 1 ", "waits for 16 nodes", status=1)


BAD_FAULTS = ["at -1 node 3 fails", "at x node 3 fails", "at 1 node 3", "at 1 node 3 fails now", "node 3 fails", "at 1 node -3 fails",
              "resize of job 7", "resize 0 of job 7 refused", "resize of job x refused", "resize of 7 refused"]


@pytest.mark.parametrize("line", BAD_FAULTS)
def test_a_bad_script(space, line):
    (space.directory / "faults").write_text(f"# once\n\n{line} # here\n")
    refused(epopsim(space, "-q", "--script", "faults", PHASES), "faults:3: ", "at 120 node 3 fails")


@pytest.mark.parametrize("line,said", [("at 1 node 32 fails", "no node 32"), ("resize of job 3 refused", "no job 3")])
def test_a_script_for_another_workload(space, line, said):
    (space.directory / "faults").write_text(line)
    refused(epopsim(space, "-q", "--script", "faults", PHASES), "faults:1: there is " + said)


def test_a_resize_that_is_refused(space):
    words = ["-q", "--policy", "ers", "--json", "--jobs", "50", "--load", "1.5", "--malleable", "1", NASA]
    result = epopsim(space, "-o", "plain.json", *words)
    plain = json.loads(result.out)["runs"][0]["metrics"]
    jobs = json.loads((space.directory / "plain.json").read_text())["runs"][0]["jobs"]
    (space.directory / "faults").write_text("".join(f"resize of job {entry['id']} refused\n" for entry in jobs))
    faulty = json.loads(epopsim(space, "--script", "faults", *words).out)["runs"][0]["metrics"]
    assert plain["refused"] == 0 < plain["resizes"] and faulty["refused"] > 0 and faulty["done"] == 50


def test_what_cannot_be_simulated_is_told(space):
    path = trace(space, (1, 0, 10, 4), (2, 1, 0, 4), (3, 2, -1, 4))
    result = epopsim(space, "--policy", "easy", path)
    assert result.status == 0 and result.err == (
        "note: 2 of 3 lines left out: no run time (0 or not known; cancelled before they ran)\n" + ALL_RIGID), result
    assert epopsim(space, "-q", "--policy", "easy", path).err == ""


def test_description(space):
    result = epopsim(space, "--describe", "--load", "0.9", "--malleable", "0.25", "--limit-factor", "2", NASA)
    assert result.status == 0 and result.err == "", result
    for words in ("128 nodes", "load         0.900", "4517 malleable (25 %)", "no run time", "nodes wanted", "####"):
        assert words in result.out, result
    before = epopsim(space, "-v", "--policy", "easy", "--jobs", "100", NASA)
    assert before.status == 0 and "nodes wanted" in before.err and "nodes wanted" not in before.out, before


def test_power(space):
    result = epopsim(space, "--policy", "easy", "--watts", "100,300", "--tsv", trace(space, (1, 0, 10, 4)))
    [row] = rows(result.out)
    assert float(row["joules"]) == 10 * (4 * 300 + 12 * 100) and float(row["peak_watts"]) == 2400


def test_a_power_cap(space):
    """Every policy keeps it, also one that knows nothing of watts; a cap below what idle nodes draw cannot be kept."""
    path = trace(space, (1, 0, 10, 12), (2, 0, 10, 4))
    cap = ["--watts", "100,300", "--power-cap"]
    result = epopsim(space, *cap, "4200", "--malleable", "1", path)
    assert result.status == 0 and "note" not in result.err, result
    assert result.out.splitlines()[0].split()[-3:] == ["energy/MJ", "peak/kW", "CPU/s"]
    for policy in ("easy", "ers", "gain"):
        for watts, malleable in itertools.product(("4200", "4800"), ("0", "1")):
            [row] = rows(epopsim(space, *cap, watts, "--policy", policy, "--malleable", malleable, "--tsv", path).out)
            assert float(row["peak_watts"]) <= float(watts), (policy, row)
            assert float(row["makespan"]) == 10 or malleable == "1" or watts == "4200", (policy, row)
    refused(epopsim(space, *cap, "1599", path), "power cap of 1599 W", "16 idle nodes draw 1600 W")
    for policy in ("easy", "gain"):
        stuck = epopsim(space, "-q", *cap, "3000", "--policy", policy, path)
        refused(stuck, "job 1 job waits for 12 nodes, 16 of 16 are idle", "under the power cap of 3000 W", status=1)


def test_a_policy_has_one_name(space):
    """As it was given."""
    path = trace(space, (1, 0, 10, 4))
    for how in ("crash", "nothing", "nonsense"):
        refused(epopsim(space, "-q", "--policy", f"{BAD},how={how}", path), f"policy {BAD},how={how} ", status=1)


def test_the_examples_of_the_installation_run(space):
    for path in (job.ROOT / "scheduler/examples").glob("*.json"):
        assert epopsim(space, "-q", "--policy", "easy", path).status == 0, path


def test_help_and_version(space):
    result = epopsim(space, "--help")
    assert result.status == 0 and result.out.startswith("Usage: epopsim") and result.err == ""
    assert max(map(len, result.out.splitlines())) <= 120
    assert epopsim(space, "--version").out.startswith("epopsim ")


# ---- The real trace ----

def test_the_whole_trace(space):
    result = epopsim(space, "--policy", "easy", "--tsv", NASA, limit=240)
    assert result.status == 0, result
    [row] = rows(result.out)
    assert row["jobs"] == row["done"] == "18066" and 0.4 < float(row["utilisation"]) < 0.5


def test_two_thousand_jobs_under_every_policy(space):
    result = epopsim(space, "--jobs", "2000", "--load", "0.9", "--malleable", "1", "--tsv", NASA, limit=240)
    assert result.status == 0, result
    assert {row["done"] for row in rows(result.out)} == {"2000"}


# ---- Bad input ----

BAD_LINES = {
    "1 0 -1 10 4\n": ":2: field 6 (CPU time) is missing",
    "1 0 -1 ten 4 -1 -1 4 9 -1 1 1 1 -1 -1 -1 -1 -1\n": ":2: field 4 (run time) is \"ten\"",
    "1 -9 -1 9 4 -1 -1 4 9 -1 1 1 1 -1 -1 -1 -1 -1\n": ":2: field 2 (submit time) is negative",
    "1 0 -1 9 4 -1 -1 99 9 -1 1 1 1 -1 -1 -1 -1 -1\n": ":2: field 8 (requested processors) is 99, and the machine has 16",
    "1 0 -1 -5 4 -1 -1 4 9 -1 1 1 1 -1 -1 -1 -1 -1\n": ":2: field 4 (run time) is -5, below 0",
    "1 0 -1 5 -2 -1 -1 4 9 -1 1 1 1 -1 -1 -1 -1 -1\n": ":2: field 5 (used processors) is -2, below 0",
    "1 0 -1 5 4 -1 -1 -4 9 -1 1 1 1 -1 -1 -1 -1 -1\n": ":2: field 8 (requested processors) is -4, below 0",
    "1 0 -1 5 4 -1 -1 4 -9 -1 1 1 1 -1 -1 -1 -1 -1\n": ":2: field 9 (requested time) is -9, below 0",
    "1 0 -1 -1 4 -1 -1 4 9 -1 1 1 1 -1 -1 -1 -1 -1\n": "of 1 lines, 1 have no run time",
    "": "has no job: is it a trace",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_bad_trace(space, line):
    path = space.directory / "bad.swf"
    path.write_text("; MaxProcs: 16\n" + line)
    refused(epopsim(space, path), "bad.swf", BAD_LINES[line])


def test_a_machine_that_is_too_small(space):
    refused(epopsim(space, "--nodes", "8", trace(space, (1, 0, 10, 16))), "and the machine has 8: give --nodes 16 or more, or leave it out")


def test_a_trace_that_goes_backwards(space):
    refused(epopsim(space, trace(space, (1, 9, 10, 4), (2, 8, 10, 4))), "trace.swf:3", "is 8, before line 2's 9", "sort")


def test_files_that_are_none(space):
    refused(epopsim(space, "missing.swf"), "missing.swf: cannot be opened")
    refused(epopsim(space, space.directory), "cannot be read")
    cut = space.directory / "cut.gz"
    cut.write_bytes(NASA.read_bytes()[:5000])
    refused(epopsim(space, cut), "cut.gz", "damaged or cut off")


JSON = {"schema": "epop.workload", "version": 1, "machine": {"nodes": 4}, "jobs": [{"nodes": 2, "phases": [{"seconds": 1}]}]}
BAD_JSON = [
    ({"jobs": [JSON["jobs"][0], {"nodes": 2}]}, "jobs[1]: has no phases"),
    ({"jobs": [{**JSON["jobs"][0], "submit": -1}]}, "jobs[0].submit: is -1"),
    ({"jobs": [{**JSON["jobs"][0], "nodes": 5}]}, "jobs[0].nodes: is 5, and the machine has 4"),
    ({"jobs": [{**JSON["jobs"][0], "sumbit": 1}]}, 'jobs[0]: unknown key "sumbit"; there are id, submit'),
    ({"jobs": [{"nodes": 2, "phases": [{"seconds": "1"}]}]}, "jobs[0].phases[0].seconds: is no number"),
    ({"jobs": [{"nodes": 2, "phases": [{"seconds": 1, "speedup": {"model": "best"}}]}]},
     'jobs[0].phases[0].speedup.model: is "best"; there are linear, amdahl, downey, table'),
    ({"jobs": [{"nodes": 2, "application": "x"}]}, 'jobs[0].application: there is no application "x"'),
    ({"jobs": [{**JSON["jobs"][0], "kind": "malleable", "sizes": [1, 4]}]}, "jobs[0].nodes: is 2, a size that"),
    ({"jobs": [{**JSON["jobs"][0], "id": 1}, {**JSON["jobs"][0], "id": 1}]}, "two jobs have the id 1"),
    ({"jobs": [{**JSON["jobs"][0], "kind": "mall\ne\x1bble"}]}, 'jobs[0].kind: is "mall?e?ble"'),
    ({"machine": {}}, "machine.nodes: is missing"),
    ({"random": {"count": 1, "interarrival": 1, "mix": [{"application": "x"}]}}, 'random.mix[0].application: there is no'),
    ({"applications": {"a": {"nodes": -1}}}, "applications.a.nodes: is -1"),
]


@pytest.mark.parametrize("change,words", BAD_JSON, ids=[words for _, words in BAD_JSON])
def test_bad_json(space, change, words):
    path = space.directory / "bad.json"
    path.write_text(json.dumps({**JSON, **change}))
    refused(epopsim(space, path), "bad.json: ", words)


def test_json_that_is_not_utf_8(space):
    path = space.directory / "bad.json"
    path.write_bytes(b'{\n"schema": "\xff"}')
    refused(epopsim(space, path), "bad.json:2: this is not UTF-8")


def test_no_json(space):
    path = space.directory / "bad.json"
    path.write_text('{\n"schema": 1,\n]')
    refused(epopsim(space, path), "bad.json:3: no JSON")


@pytest.mark.parametrize("path", sorted((EXAMPLES / "invalid").glob("*.json")), ids=lambda path: path.stem)
def test_what_the_schema_refuses_is_refused(space, path):
    refused(epopsim(space, path), path.name)


BAD_USAGE = [
    ([], "which workload?"),
    (["a", "b"], 'one workload, and then "b"'),
    (["--load", "high", "x"], '--load: "high" is no number'),
    (["--load", "0x1", "x"], '--load: "0x1" is no number'),
    (["--resize-cost", "0x1", "x"], "--resize-cost"),
    (["--policy", "ers,period=0x10", str(NASA)], "period"),
    (["--policy", "gain,stay=0x10", str(NASA)], "stay"),
    (["--speedup", "amdahl,serial=0x1", "x"], "--speedup"),
    (["--load", "0", "x"], "--load"),
    (["--jobs", "0", "x"], "no whole number from 1 on"),
    (["--malleable", "1.1", "x"], "--malleable"),
    (["--malleable", "0.6", "--moldable", "0.6", "x"], "more than all jobs"),
    (["--speedup", "best", "x"], "is no model of speedup"),
    (["--resize-cost", "1,2,3,4", "x"], "--resize-cost"),
    (["--resize-cost", "-1", "x"], "--resize-cost"),
    (["--watts", "5", "x"], "--watts"),
    (["--seed", "-1", "x"], "--seed"),
    (["--policy", "upper=1", "x"], "--policy"),
    (["--feathers", "x"], 'unknown option "--feathers"'),
    (["--load"], "--load needs a value"),
    (["--json", "--tsv", "x"], "not both"),
    (["--power-cap", "100", str(NASA)], "give --watts"),
    (["--policy", "best", str(NASA)], "no policy 'best'; there are easy"),
    (["--policy", "./missing.so", str(NASA)], "missing.so"),
    (["--policy", "easy,x=1", str(NASA)], "it has no option x"),
    (["--script", "missing", str(NASA)], "missing"),
    (["--replay", "missing", str(NASA)], "missing"),
    (["--replay", str(PHASES), str(NASA)], "is no recorded run"),
]


@pytest.mark.parametrize("words,said", BAD_USAGE, ids=[" ".join(words)[:40] or "nothing" for words, _ in BAD_USAGE])
def test_wrong_usage(space, words, said):
    refused(epopsim(space, "-q", *words), said)


# ---- Policies that misbehave ----

@pytest.mark.parametrize("how", ["crash", "abort", "exit"])
def test_a_policy_that_dies(space, how):
    result = epopsim(space, "-q", "--policy", f"{BAD},how={how}", trace(space, (1, 0, 10, 4)))
    refused(result, "bad.so", status=1)


@pytest.mark.parametrize("how", ["spin", "wait"])
def test_a_policy_that_does_not_return(space, how):
    result = epopsim(space, "-q", "--patience", "0.1", "--policy", f"{BAD},how={how}", trace(space, (1, 0, 10, 4)))
    refused(result, "bad.so", "does not return" if how == "spin" else "not return", status=1)


def test_a_policy_that_does_nothing(space):
    """Jobs wait, and nothing can ever happen."""
    result = epopsim(space, "-q", "--policy", f"{BAD},how=nothing", trace(space, (1, 0, 10, 4)))
    refused(result, "bad", status=1)


@pytest.mark.parametrize("how", ["nonsense"])
def test_a_policy_that_plans_nonsense(space, how):
    result = epopsim(space, "-q", "--policy", f"{BAD},how={how}", trace(space, (1, 0, 10, 4)))
    refused(result, "bad", status=1)


# ---- How it ends ----

def test_a_symbolic_link_stays_one(space):
    """Also one to another folder: what it points to is replaced."""
    (space.directory / "results").mkdir()
    target, link = space.directory / "results/run.json", space.directory / "link.json"
    target.write_text("old")
    link.symlink_to("results/run.json")
    result = epopsim(space, "--policy", "easy", "-o", "link.json", str(PHASES))
    assert result.status == 0 and link.is_symlink(), result
    assert json.loads(target.read_text())["schema"] == "epop.schedule"
    assert [path.name for path in target.parent.iterdir()] == ["run.json"]


def test_an_output_that_cannot_be_written(space):
    refused(epopsim(space, "-q", "--policy", "easy", "--output", "no/such/file", PHASES), "no/such/file: cannot be written", status=1)
    with open("/dev/full", "w") as full:
        ended = space.start(["sh", "-c", 'exec "$@" > /dev/full', "sh", EPOPSIM, "-q", "--policy", "easy", PHASES]).wait()
        assert full
    assert ended.status == 1 and "cannot write" in ended.err, ended


def test_a_reader_that_goes(space):
    """No message, and no hang."""
    result = space.start(["bash", "-c", f"{EPOPSIM} -q --policy easy --output - --jobs 3000 {NASA} | head -c 100 | wc -c"]).wait()
    assert result.out.strip() == "100" and result.err == "", result


def test_an_interrupt_ends_it(space):
    running = space.start([EPOPSIM, "-q", "--policy", f"{BAD},how=spin", trace(space, (1, 0, 10, 4))])
    wait_for_cpu(running)
    running.signal(signal.SIGINT)
    assert running.wait().status == -signal.SIGINT


def wait_for_cpu(running):
    """Until it computes: the policy that never returns was called."""
    while running.running():
        fields = open(f"/proc/{running.pid}/stat").read().rsplit(")", 1)[1].split()
        if int(fields[11]) >= 5:  # ticks of 10 ms
            return
    raise AssertionError(running.wait())


def on_terminal(space, *arguments, **environment):
    """What standard error has, where that is a terminal."""
    primary, secondary = pty.openpty()
    command = " ".join(map(str, [EPOPSIM, *arguments]))
    running = space.start(["sh", "-c", f"exec {command} 2> {os.ttyname(secondary)}"], env=environment)
    result = running.wait()
    os.close(secondary)
    text = b""
    while True:
        try:
            part = os.read(primary, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(primary)
    assert result.status == 0, result
    return text.decode()


def test_progress_is_shown_on_a_terminal_only(space):
    words = ["--policy", "easy", "--jobs", "3000", NASA]
    assert "jobs  day" in on_terminal(space, *words, TERM="xterm")
    assert "jobs  day" not in on_terminal(space, *words, TERM="dumb")
    assert "jobs  day" not in on_terminal(space, "-q", *words, TERM="xterm")
    assert "jobs  day" not in epopsim(space, *words, env={"TERM": "xterm"}).err


# ---- The page ----

def test_the_table_of_the_page(space):
    """All but the policies' CPU time, which is another each time."""
    page = (job.ROOT / "docs/reference/simulator.md").read_text()
    command, shown = page.split("```text\n$ epopsim ")[1].split("```")[0].split("\n", 1)
    result = space.start([EPOPSIM, *command.split()], cwd=job.ROOT).wait()
    cells = lambda text: [line.split()[:-1] for line in text.splitlines()]
    assert cells(result.out) == cells(shown), result


def test_the_workload_of_the_page_runs(space):
    """As it stands there, and with the jobs that are drawn in place of its own."""
    page = (job.ROOT / "docs/reference/simulator.md").read_text()
    whole, part = [block.split("```")[0] for block in page.split("```json\n")[1:3]]
    value = json.loads(whole)
    validate("workload", value)
    path = space.directory / "page.json"
    path.write_text(whole)
    assert epopsim(space, path).status == 0
    value.pop("jobs")
    value.update(json.loads("{" + part + "}"))
    validate("workload", value)
    path.write_text(json.dumps(value))
    result = epopsim(space, "--policy", "easy", "--tsv", path)
    assert result.status == 0 and rows(result.out)[0]["done"] == "400", result
