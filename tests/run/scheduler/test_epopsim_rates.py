"""epopsim: a network and a file system that jobs share. Times by hand, and by a model that looks at every transfer at every change."""

import json

import job
import pytest
from schemas import validate
from test_epopsim import NASA, epopsim, refused

EXAMPLE = job.ROOT / "schema/examples/workload/valid/rates.json"


def workload(space, machine, jobs, name="rates.json", **more):
    path = space.directory / name
    path.write_text(json.dumps({"schema": "epop.workload", "version": 1, "machine": machine, "jobs": jobs, **more}))
    return path


def phase(iterations=1, **moves):
    """An iteration takes a second on a node."""
    return {"iterations": iterations, "seconds": 1, **moves}


def one(phase, submit=0, nodes=1, **more):
    """So many nodes, on which it computes as fast as on one."""
    return {"nodes": nodes, "submit": submit, "phases": [{**phase, "speedup": {"model": "amdahl", "serial": 1}}], **more}


def simulated(space, path, *words, policy="easy"):
    result = epopsim(space, "-q", "--policy", policy, "-o", "-", *words, path)
    assert result.status == 0, result
    value = json.loads(result.out)
    validate("schedule", value)
    return value


def ends(space, path, *words, policy="easy"):
    [run] = simulated(space, path, *words, policy=policy)["runs"]
    return [entry["end"] for entry in run["jobs"]]


# ---- By hand ----

def test_a_job_alone(space):
    """10 iterations: a second, 20 bytes on the network, and 60 in the file system after every 4, the last 2 half as many."""
    path = workload(space, {"nodes": 2, "network": 40, "file_system": 10}, [one(phase(10, network=20, file_system={"bytes": 60, "every": 4}))])
    [run] = simulated(space, path)["runs"]
    assert run["jobs"][0]["end"] == pytest.approx(10 + 10 * 20 / 40 + 2.5 * 60 / 10)
    assert run["jobs"][0]["slowdown"] == 1
    assert run["metrics"]["network_utilisation"] == pytest.approx(200 / (40 * 30))
    assert run["metrics"]["file_system_utilisation"] == pytest.approx(150 / (10 * 30))


def test_two_at_once_take_twice_as_long_to_move(space):
    alone = workload(space, {"nodes": 2, "file_system": 10}, [one(phase(5, file_system=30))], "alone.json")
    both = workload(space, {"nodes": 2, "file_system": 10}, [one(phase(5, file_system=30)) for _ in range(2)])
    assert ends(space, alone) == pytest.approx([5 + 5 * 3])
    assert ends(space, both) == pytest.approx([5 + 5 * 6] * 2)


@pytest.mark.parametrize("rate", ["network", "file_system"])
def test_who_ends_gives_its_share_at_once(space, rate):
    """Job 2 has 5 of 10 bytes a second from 1 to 11; job 1 the same, and 10 for its last 50 bytes."""
    path = workload(space, {"nodes": 2, rate: 10}, [one(phase(**{rate: 100})), one(phase(**{rate: 50}))])
    assert ends(space, path) == pytest.approx([16, 11])


def test_rates_are_shared_by_nodes(space):
    """One node beside three: a quarter, until these have moved their bytes."""
    path = workload(space, {"nodes": 4, "network": 8}, [one(phase(network=100)), one(phase(network=60), nodes=3)])
    assert ends(space, path) == pytest.approx([1 + 10 + 80 / 8, 1 + 10])


def test_a_link_bounds_a_node(space):
    """Whether others move anything or not; with 5 nodes there are 8 bytes a second for each."""
    path = workload(space, {"nodes": 8, "network": 40, "link": 10}, [one(phase(network=300), nodes=2), one(phase(network=240), submit=5, nodes=3)])
    first = 1 + 5 + 10  # 20 a second until the second one has computed, then 16, with 40 left at 16
    assert ends(space, path) == pytest.approx([first + 40 / 20, 6 + 10])
    alone = workload(space, {"nodes": 8, "link": 10}, [one(phase(file_system=300), nodes=2)], "alone.json")
    assert ends(space, alone) == pytest.approx([1 + 15])


def test_limits_are_by_the_time_alone(space):
    """Users who are exact know nothing of others."""
    jobs = [one(phase(file_system=100)), one(phase(file_system=100))]
    path = workload(space, {"nodes": 2, "file_system": 10}, jobs)
    assert ends(space, path) == pytest.approx([21, 21])
    [run] = simulated(space, path, "--kill-at-limit")["runs"]
    assert [(entry["outcome"], round(entry["end"], 3)) for entry in run["jobs"]] == [("failed", 11)] * 2
    assert "limits       exact" in epopsim(space, "--describe", path).out


# ---- Without rates, and options ----

def test_bytes_without_a_rate_are_nothing(space):
    """Nor are rates that no job uses: the same decisions at the same times, to the last digit."""
    jobs = [one(phase(50), submit=10 * number, nodes=4, kind="malleable", min=1, max=8) for number in range(6)]
    moving = [{**entry, "phases": [{**entry["phases"][0], "network": 1e12, "file_system": {"bytes": 1e15, "every": 7}}]} for entry in jobs]
    plain = simulated(space, workload(space, {"nodes": 8}, jobs), policy="gain")
    free = simulated(space, workload(space, {"nodes": 8}, moving), policy="gain")
    zero = simulated(space, workload(space, {"nodes": 8, "network": 0, "file_system": 5, "link": 0}, moving), "--file-system", "0", policy="gain")
    unused = simulated(space, workload(space, {"nodes": 8, "file_system": 5}, jobs), policy="gain")
    assert plain == free == zero and plain["runs"][0]["metrics"]["resizes"] > 0
    assert [unused["runs"][0][what] for what in ("jobs", "decisions")] == [plain["runs"][0][what] for what in ("jobs", "decisions")]
    assert unused["runs"][0]["metrics"].pop("file_system_utilisation") == 0


def test_options_go_before_the_workload(space):
    given = simulated(space, EXAMPLE, "--network", "25G", "--file-system", "0.5T", "--link", "1e9")["machine"]
    assert [given[what] for what in ("network", "file_system", "link")] == [25e9, 5e11, 1e9]
    kept = simulated(space, EXAMPLE, "--network", "500M")["machine"]
    assert [kept[what] for what in ("network", "file_system", "link")] == [5e8, 2e10, 1.25e10]
    path = workload(space, {"nodes": 2}, [one(phase(file_system=3e4))])
    assert ends(space, path, "--file-system", "10k") == pytest.approx([4])  # its limit, too
    assert ends(space, path, "--file-system", "10k", "--kill-at-limit") == pytest.approx([4])


def test_jobs_of_a_trace_move_what_a_resize_moves(space):
    """And nothing else: a rate of the file system is for nothing."""
    words = ["--jobs", "500", "--load", "0.9", "--malleable", "1", "--bytes-per-node", "1e9", "--network", "20G", "--link", "2G"]
    [run] = simulated(space, NASA, *words, policy="ers,firm=0")["runs"]
    metrics, resizes = run["metrics"], [entry["resizes"] * entry["wanted"] for entry in run["jobs"]]
    assert metrics["network_utilisation"] * 20e9 * metrics["makespan"] == pytest.approx(1e9 * sum(resizes)) and sum(resizes) > 100
    result = epopsim(space, "--policy", "easy", "--jobs", "50", "--file-system", "1G", NASA)
    assert "note: no phase moves bytes in the file system: --file-system changes nothing\n" in result.err, result


def test_the_bytes_of_a_resize_share_the_network(space):
    """Job 1 wants 2 nodes and gets 4 when job 2, which is alone on the network, ends: 60 bytes of its at 12 a second, or 4 beside job 3."""
    grows = one(phase(40), nodes=2, kind="malleable", min=2, max=4, bytes=60)
    grows["phases"][0]["speedup"] = {"model": "linear"}
    for other, stall in ((one(phase(), nodes=4), 5), (one(phase(4, network=1e5), nodes=4), 15)):
        path = workload(space, {"nodes": 8, "network": 12}, [grows, one(phase(3), nodes=2), other])
        value = simulated(space, path, "--resize-cost", "0", "--latency", "0", policy="min")
        [job] = [entry for entry in value["runs"][0]["jobs"] if entry["id"] == 1]
        assert job["resizes"] == 1 and job["stalled"] == pytest.approx(stall), job


def test_the_table_has_what_the_machine_has(space):
    heads = epopsim(space, "-q", "--policy", "easy", EXAMPLE).out.splitlines()[0]
    assert "network/%" in heads and "file system/%" in heads
    heads = epopsim(space, "-q", "--policy", "easy", "--network", "0", EXAMPLE).out.splitlines()[0]
    assert "network/%" not in heads and "file system/%" in heads
    described = epopsim(space, "--describe", EXAMPLE).out
    assert "32 nodes, a network of 100 GB/s, a file system of 20 GB/s, 12.5 GB/s to and from a node\n" in described


def test_a_replay_says_that_rates_differ(space):
    assert epopsim(space, "-q", "--policy", "ers", "-o", "run.json", EXAMPLE).status == 0
    assert epopsim(space, "-q", "--replay", "run.json", EXAMPLE).status == 0
    other = epopsim(space, "--file-system", "1G", "--link", "0", "--replay", "run.json", EXAMPLE)
    assert "recorded with --file-system 2e+10, this is with --file-system 1000000000\n" in other.err, other
    assert "recorded with --link 1.25e+10, this is without --link\n" in other.err and other.status == 1, other


# ---- What policies make of it ----

def decided(space, policy, network):
    """Two malleable jobs of 2000 iterations of a second on 16 of 32 nodes. Job 1 moves 2 GB after each."""
    jobs = [{"id": number, "kind": "malleable", "nodes": 16, "min": 1, "max": 32, "phases": [{"iterations": 2000, "seconds": 16, **moves}]}
            for number, moves in ((1, {"network": 2e9}), (2, {}))]
    [run] = simulated(space, workload(space, {"nodes": 32}, jobs), "--network", network, policy=policy)["runs"]
    return [(decision["job"], decision["to"], decision["reason"]) for decision in run["decisions"] if decision["kind"] == "resize"]


def test_ers_takes_nodes_from_who_waits_for_the_network(space):
    """0.2 s of 1.2 s; what it gives back goes to the job that computes."""
    assert decided(space, "ers,firm=0", "0") == []
    assert decided(space, "ers,firm=0", "10G")[0] == (1, 8, "MTCT 0.2 above 0.1")
    assert decided(space, "ers,firm=0", "10G")[1][:2] == (2, 24)


def test_gain_expects_less_of_nodes_that_wait_for_the_network(space):
    """Twice the nodes, when job 2 has ended: with 0.2 s of 1.2 s on the network they are taken to bring 1.7 times the speed."""
    assert [decision[:2] for decision in decided(space, "gain", "10G")] == [(1, 32)]
    assert "1.70 times as fast" in decided(space, "gain", "10G")[0][2]
    assert "1.96 times as fast" in decided(space, "gain", "100G")[0][2]


# ---- Against a model of its own ----

def model_ends(machine, jobs, starts):
    """Rigid jobs that move `bytes` in the file system after every iteration."""
    state = [{"left": entry["phases"][0]["iterations"], "at": start + 1, "bytes": 0, "end": None} for entry, start in zip(jobs, starts)]
    now = 0.0
    while any(each["end"] is None for each in state):
        moving = [(each, entry) for each, entry in zip(state, jobs) if each["bytes"] > 0]
        nodes = sum(entry["nodes"] for _, entry in moving)
        level = min(machine["link"], machine["file_system"] / nodes) if nodes else 0
        soonest = min([each["bytes"] / (level * entry["nodes"]) for each, entry in moving] + [each["at"] - now for each in state if each["at"] is not None])
        now += soonest
        for each, entry in moving:
            each["bytes"] -= level * entry["nodes"] * soonest
        for each, entry in zip(state, jobs):
            if each["at"] is not None and each["at"] <= now + 1e-9:
                each["at"], each["bytes"] = None, entry["phases"][0]["file_system"]
            elif each["at"] is None and each["end"] is None and each["bytes"] <= 1e-6:
                each["bytes"], each["left"] = 0, each["left"] - 1
                each["end"] = now if each["left"] == 0 else None
                each["at"] = None if each["left"] == 0 else now + 1
    return [each["end"] for each in state]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ends_are_as_if_every_transfer_were_looked_at(space, seed):
    drawn = lambda number, most: 1 + (number * 7919 + seed * 104729) % most
    machine = {"nodes": 40, "file_system": 100, "link": 12}
    jobs = [one(phase(drawn(number, 9), file_system=10 * drawn(number + 3, 17)), submit=drawn(number, 50), nodes=drawn(number + 5, 12))
            for number in range(40)]
    [run] = simulated(space, workload(space, machine, jobs))["runs"]
    jobs = [jobs[entry["id"] - 1] for entry in run["jobs"]]
    expected = model_ends(machine, jobs, [entry["start"] for entry in run["jobs"]])
    assert [entry["end"] for entry in run["jobs"]] == pytest.approx(expected, abs=1e-5)
    assert run["metrics"]["file_system_utilisation"] > 0.6


@pytest.mark.parametrize("policy", ["ers", "gain", "dmr"])
def test_resizes_lose_no_byte(space, policy):
    """Malleable jobs, whose transfers are interrupted: each byte is moved once."""
    jobs = [one(phase(400, network=2e9, file_system={"bytes": 2e11, "every": 30}), submit=20 * number, nodes=8, kind="malleable", min=2, max=16)
            for number in range(12)]
    for entry in jobs:
        entry["phases"][0].update(seconds=8, speedup={"model": "downey", "parallelism": 16, "sigma": 0.5})
    machine = {"nodes": 32, "network": 2e10, "file_system": 2e10, "link": 5e9}
    [run] = simulated(space, workload(space, machine, jobs), policy=policy)["runs"]
    metrics = run["metrics"]
    assert metrics["done"] == 12 and metrics["resizes"] > 0, metrics
    assert metrics["network_utilisation"] * 2e10 * metrics["makespan"] == pytest.approx(12 * 400 * 2e9)
    assert metrics["file_system_utilisation"] * 2e10 * metrics["makespan"] == pytest.approx(12 * 400 / 30 * 2e11)


# ---- Bad input ----

BAD_PHASES = [
    ({"network": "1G"}, "phases[0].network: is no number"),
    ({"file_system": -1}, "phases[0].file_system: is -1"),
    ({"file_system": {"every": 5}}, "phases[0].file_system.bytes: is missing"),
    ({"file_system": {"bytes": 5, "every": 0}}, "phases[0].file_system.every: is 0"),
    ({"file_system": {"bytes": 5, "per_node": 1}}, 'phases[0].file_system: unknown key "per_node"; there are bytes, every'),
    ({"iterations": 5e8, "network": 1}, 'phases[0].network: bytes are moved 5e+08 times, which is above 1e+06: give a larger "every"'),
]


@pytest.mark.parametrize("change,words", BAD_PHASES, ids=[words for _, words in BAD_PHASES])
def test_bad_bytes(space, change, words):
    refused(epopsim(space, workload(space, {"nodes": 2}, [one(phase(**change) if "iterations" in change else {**phase(), **change})])), words)


@pytest.mark.parametrize("option", ["--network", "--file-system", "--link"])
@pytest.mark.parametrize("value", ["", "-1", "fast", "10GB", "1Gk", "0x10", "inf", "1e19", "10 G"])
def test_a_bad_rate(space, option, value):
    refused(epopsim(space, f"{option}={value}", EXAMPLE), f'{option}: "{value}" is no number of bytes per second, as 25e9, 25G or 0')


def test_a_bad_rate_of_the_machine(space):
    path = workload(space, {"nodes": 2, "file_system": -5}, [one(phase())])
    refused(epopsim(space, path), "machine.file_system: is -5")
