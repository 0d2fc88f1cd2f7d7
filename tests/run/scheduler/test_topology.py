"""epopsim --topology, --spread-cost and --speeds: where jobs run, how long, what is told of it, and what makes no sense."""

import json

import job
import pytest
from schemas import validate

EPOPSIM = job.BUILD / "bin/epopsim"
NASA = job.ROOT / "scheduler/examples/NASA-iPSC-1993-3.1-cln.swf.gz"
PAIR = "SwitchName=s1 Nodes=n[0-3]\nSwitchName=s2 Nodes=m[0-3]\nSwitchName=top Switches=s[1-2]\n"


def epopsim(space, *arguments):
    return space.start([EPOPSIM, "-q", *arguments]).wait()


def trace(space, *jobs):
    """(submit, run time, nodes) each, on 8 nodes."""
    path = space.directory / "trace.swf"
    path.write_text("; MaxProcs: 8\n" + "".join(f"{number} {submit} -1 {run} {size} -1 -1 {size} {run} -1 1 1 1 -1 -1 -1 -1 -1\n"
                                                for number, (submit, run, size) in enumerate(jobs, 1)))
    return path


def topology(space, text=PAIR):
    path = space.directory / "topology.conf"
    path.write_text(text)
    return path


def played(space, *arguments):
    """The only run, with its options; it is as the schema says."""
    result = epopsim(space, "-o", "out.json", *arguments)
    assert result.status == 0, result
    schedule = json.loads((space.directory / "out.json").read_text())
    validate("schedule", schedule)
    [run] = schedule["runs"]
    return run, schedule["options"]


def places(run):
    return [[stay[2] for stay in one["stays"]] for one in run["jobs"]]


def times(run):
    return [(one["start"], one["end"]) for one in run["jobs"]]


def test_jobs_are_kept_below_one_switch(space):
    jobs = trace(space, (0, 100, 3), (0, 100, 3), (0, 50, 1), (0, 50, 1), (200, 10, 6))
    run, options = played(space, "--policy", "easy", jobs)
    assert places(run) == [["0-2"], ["3-5"], ["6"], ["7"], ["0-5"]] and "topology" not in options and "spread" not in run["metrics"]
    run, options = played(space, "--policy", "easy", "--topology", topology(space), jobs)
    assert places(run) == [["0-2"], ["4-6"], ["3"], ["7"], ["0-5"]]
    assert options["topology"].endswith("topology.conf") and run["metrics"]["spread"] == 1
    metrics = epopsim(space, "--policy", "easy", "--topology", "topology.conf", "--json", jobs)
    validate("metrics", json.loads(metrics.out))
    shown = epopsim(space, "--policy", "easy", "--topology", "topology.conf", jobs)
    assert "spread" in shown.out.split() and "spread" not in epopsim(space, "--policy", "easy", jobs).out, shown


def test_what_a_job_has_for_want_of_room_is_told(space):
    """The third is below both switches, though one would do; the fourth must be."""
    run, _ = played(space, "--policy", "easy", "--topology", topology(space), trace(space, (0, 100, 3), (0, 100, 3), (0, 100, 2), (200, 100, 8)))
    assert places(run)[2:] == [["3,7"], ["0-7"]]
    assert [one["spread"] for one in run["jobs"]] == [1, 1, 2, 1] and run["metrics"]["spread"] == 1.25


def test_policies_see_switches(space):
    policy = space.directory / "own.py"
    policy.write_text("#!/usr/bin/python3\nimport epop_policy\ndef decide(state, plan):\n"
                      "    text = '%s %s' % ([node.leaf for node in state.nodes], [(one.name, one.parent) for one in state.switches])\n"
                      "    for job in state.running: text += ' %d' % job.leaves\n"
                      "    for job in state.waiting: plan.start(job, job.wanted, text)\n"
                      "epop_policy.run(decide)\n")
    policy.chmod(0o755)
    run, _ = played(space, "--policy", policy, "--topology", topology(space), trace(space, (0, 100, 5), (1, 100, 2)))
    seen = "[0, 0, 0, 0, 1, 1, 1, 1] [('s1', 2), ('s2', 2), ('top', -1)]"
    assert [one["reason"] for one in run["decisions"]] == [seen, f"{seen} 2"]


def test_a_run_can_be_replayed(space):
    switches = "".join(f"SwitchName=s{i} Nodes=n[{8 * i}-{8 * i + 7}]\n" for i in range(16)) + "SwitchName=top Switches=s[0-15]\n"
    words = ["--jobs", "300", "--load", "0.9", "--malleable", "0.5", "--policy", "gain", "--topology", topology(space, switches), NASA]
    run, _ = played(space, *words)
    assert 1 < run["metrics"]["spread"] < 16
    result = epopsim(space, "--replay", "out.json", *words)
    assert result.status == 0, result
    result = epopsim(space, "--replay", "out.json", *words[:-3], NASA)
    assert result.status == 1 and "the replay differs" in result.err, result


@pytest.mark.parametrize("text, said", [(PAIR + "Switch=s3\n", "4: \"Switch=s3\" has no place here"), (PAIR + "SwitchName=s1 Switches=top\n", "4: switch s1 is there already"),
                                        (PAIR[:PAIR.index("SwitchName=s2")], " it names 4 nodes, and the machine has 8"), ("", " there is no switch in it"),
                                        (PAIR.replace("m[0-3]", "m[0-"), "2: \"m[0-\" is no list of names")])
def test_files_that_make_no_sense(space, text, said):
    result = epopsim(space, "--policy", "easy", "--topology", topology(space, text), trace(space, (0, 1, 1)))
    assert result.status == 2 and result.out == "" and result.err.count("\n") == 1, result
    assert result.err.startswith("epopsim: ") and f"topology.conf:{said}" in result.err, result
    result = epopsim(space, "--policy", "easy", "--topology", "nowhere", trace(space, (0, 1, 1)))
    assert result.status == 2 and "nowhere: No such file" in result.err, result


# ---- Moves ----

FREE = ["--resize-cost", "0", "--latency", "0"]


def spread(space, speedup):
    """Two jobs of three nodes, and one of two, which gets what they leave below the two switches. The first ends after 100 s."""
    path = space.directory / "spread.json"
    rigid = lambda number, seconds: {"id": number, "nodes": 3, "limit": 10000, "phases": [{"seconds": 3 * seconds, "speedup": {"model": "linear"}}]}  # noqa: E731
    path.write_text(json.dumps({"schema": "epop.workload", "version": 1, "machine": {"nodes": 8}, "jobs": [
        rigid(1, 100), rigid(2, 5000),
        {"id": 3, "kind": "malleable", "nodes": 2, "min": 2, "max": 3, "limit": 10000, "bytes": 0,
         "phases": [{"name": "solve", "iterations": 1000, "seconds": 2, "speedup": speedup}]}]}))
    return path


def test_a_job_that_is_moved_is_faster(space):
    """It takes 1.5 s for an iteration until it is moved, and then 1 s."""
    policy = space.directory / "own.py"
    policy.write_text("#!/usr/bin/python3\nimport epop_policy\ndef decide(state, plan):\n"
                      "    for job in state.waiting: plan.start(job, job.wanted, 'it fits')\n"
                      "    for job in state.running:\n"
                      "        if hasattr(job, 'moved'): plan.move(job, f'{job.moved.nodes} {job.moved.leaves} {job.moved.saves:.3f} {state.spread_cost} {plan.idle}')\n"
                      "epop_policy.run(decide)\n")
    policy.chmod(0o755)
    path = spread(space, {"model": "linear"})
    run, options = played(space, "--policy", policy, "--topology", topology(space), "--spread-cost", "0.5", *FREE, path)
    assert options["spread_cost"] == 0.5
    assert [one["reason"] for one in run["decisions"][3:]] == ["3 1 0.333 0.5 3", "gives back what it has moved away from"]
    assert places(run) == [["0-2"], ["4-6"], ["3,7", "0,3"]]
    assert times(run)[2] == (0, pytest.approx(100 + 1000 - 100 / 1.5))
    assert run["jobs"][2]["resizes"] == 2 and run["metrics"]["spread"] > 1
    result = epopsim(space, "--policy", policy, "--topology", "topology.conf", "--spread-cost", "0.5", *FREE, "--replay", "out.json", path)
    assert result.status == 0, result


def test_gain_moves_jobs_where_that_pays(space):
    """A third node is worth too little. Without a cost of being spread, and where a move costs more than it saves, nothing is moved."""
    def moves(*words, policy="gain"):
        run, _ = played(space, "--policy", policy, "--topology", topology(space), *words, spread(space, {"model": "amdahl", "serial": 0.95}))
        reasons = [one["reason"] for one in run["decisions"] if one["kind"] == "resize"]
        assert len(reasons) % 2 == 0 and all("gives back" in one for one in reasons[1::2]), reasons
        return reasons[::2]
    [one] = moves("--spread-cost", "0.5")
    assert one.startswith("moves by 1 node, from 2 leaf switches to 1: 1.500 times as fast, ")
    assert len(moves("--spread-cost", "0.05")) == 1
    assert moves() == moves("--spread-cost", "0.5", policy="gain,gather=0") == []
    assert moves("--spread-cost", "0.05", "--resize-cost", "1000") == []
    assert moves("--spread-cost", "0.5", "--resize-cost", "100") and not moves("--spread-cost", "0.5", "--resize-cost", "100", policy="gain,factor=20")


def test_a_move_that_makes_no_sense(space):
    policy = space.directory / "own.py"
    policy.write_text("#!/usr/bin/python3\nimport epop_policy, types\ndef decide(state, plan):\n"
                      "    for job in state.waiting: plan.start(job, job.wanted, 'it fits')\n"
                      "    for job in state.running: plan.move(types.SimpleNamespace(id=job.id, nodes=1, moved=types.SimpleNamespace(nodes=1)), '')\n"
                      "epop_policy.run(decide)\n")
    policy.chmod(0o755)
    result = epopsim(space, "--policy", policy, "--topology", topology(space), trace(space, (0, 100, 3), (1, 100, 3)))
    assert result.status == 1 and "move job 1: there is nowhere that it could be moved to" in result.err, result
    result = epopsim(space, "--policy", "easy", "--spread-cost", "0.1", trace(space, (0, 100, 3)))
    assert result.status == 2 and result.err.startswith("epopsim: --spread-cost needs switches: give --topology FILE"), result


# ---- Speeds ----

def test_a_job_computes_at_the_speed_of_its_slowest_node(space):
    """The first takes fast nodes, the second as well as it can, the third does not fit on fast ones alone."""
    jobs = trace(space, (0, 100, 4), (0, 100, 4), (1000, 100, 6))
    run, options = played(space, "--policy", "easy", "--speeds", "n[0-3]=0.5", jobs)
    assert places(run) == [["4-7"], ["0-3"], ["0-5"]] and times(run) == [(0, 100), (0, 200), (1000, 1200)]
    assert options["speeds"] == "n[0-3]=0.5"
    run, _ = played(space, "--policy", "easy", "--speeds", "n[0-3]=0.5,m3=4", "--topology", topology(space), jobs)
    assert places(run)[:2] == [["4-7"], ["0-3"]] and times(run)[0] == (0, 100)


def test_speed_comes_before_neighbours(space):
    """Two fast nodes of two switches, and then two slow ones of one."""
    run, _ = played(space, "--policy", "easy", "--speeds", "n1=2,m2=2", "--topology", topology(space), trace(space, (0, 100, 2), (0, 100, 3)))
    assert places(run) == [["1,6"], ["0,2-3"]] and times(run) == [(0, 50), (0, 100)]


def test_a_resize_changes_the_speed(space):
    """The second has done 100 s of 250 on a fast node, when it grows onto two slow ones: the rest takes 150 / (3 * 0.5) s."""
    path = space.directory / "two.json"
    work = lambda number, kind, nodes, most, seconds: {  # noqa: E731
        "id": number, "kind": kind, "nodes": nodes, "max": most, "limit": 1000, "bytes": 0,
        "phases": [{"iterations": 100, "seconds": seconds / 100, "speedup": {"model": "linear"}}]}
    path.write_text(json.dumps({"schema": "epop.workload", "version": 1, "machine": {"nodes": 3},
                                "jobs": [work(1, "rigid", 2, 2, 100), work(2, "malleable", 1, 3, 250)]}))
    policy = space.directory / "own.py"
    policy.write_text("#!/usr/bin/python3\nimport epop_policy\ndef decide(state, plan):\n"
                      "    for job in state.waiting: plan.start(job, job.wanted, f'{[node.speed for node in state.nodes]}')\n"
                      "    for job in state.running:\n"
                      "        if plan.idle and job.kind == 'malleable' and job.state == 'runs': plan.resize(job, job.nodes + plan.idle, f'{job.speed}')\n"
                      "epop_policy.run(decide)\n")
    policy.chmod(0o755)
    run, _ = played(space, "--policy", policy, "--resize-cost", "0", "--latency", "0", "--speeds", "n1=0.5,n2=0.5", path)
    assert [one["reason"] for one in run["decisions"]] == ["[1, 0.5, 0.5]", "[1, 0.5, 0.5]", "1"]
    assert places(run) == [["1-2"], ["0", "0-2"]]
    assert times(run) == [(0, 100), (0, pytest.approx(200))]


@pytest.mark.parametrize("text, said", [("n8=2", "there is no node n8"), ("n1=fast", "\"n1=fast\" is not NODE=SPEED"), ("n1=0", "is not NODE=SPEED"), ("", "is not NODE=SPEED")])
def test_speeds_that_make_no_sense(space, text, said):
    result = epopsim(space, "--policy", "easy", "--speeds", text, trace(space, (0, 1, 1)))
    assert result.status == 2 and result.err.startswith("epopsim: --speeds: ") and said in result.err and result.err.count("\n") == 1, result
