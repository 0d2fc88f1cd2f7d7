"""What epopsim writes, computed again from the trace: nodes, the work of every job through all its resizes, the figures."""

import gzip
import json

import job
import pytest

EPOPSIM = job.BUILD / "bin/epopsim"
NASA = job.ROOT / "scheduler/examples/NASA-iPSC-1993-3.1-cln.swf.gz"
POLICIES = ["easy", "ers", "gain"]


@pytest.fixture(scope="module")
def trace():
    """Run time and processors of each job."""
    with gzip.open(NASA, "rt") as lines:
        rows = [line.split() for line in lines if not line.startswith(";")]
    return {int(row[0]): (float(row[3]), int(row[4])) for row in rows}


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    path = tmp_path_factory.mktemp("schedules") / "schedule.json"
    policies = [word for policy in POLICIES for word in ("--policy", policy)]
    space = job.Space(path.parent)
    result = space.start([EPOPSIM, "--quiet", "--jobs", "2000", "--load", "0.9", "--malleable", "1", "--speedup", "linear",
                          "--resize-cost", "2,0.01,1e-9", "--latency", "3", "--bytes-per-node", "1e9", *policies,
                          "--output", path, NASA]).wait()
    space.close()
    assert result.status == 0, result
    return json.loads(path.read_text())


def run_of(document, policy):
    [run] = [run for run in document["runs"] if run["policy"] == policy]
    return run


def numbers(text):
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def stays(run):
    """Of all jobs: node, begin, end."""
    return sorted((node, begin, end) for entry in run["jobs"] for begin, end, text in entry["stays"] for node in numbers(text))


def node_seconds(entry, options):
    """What the job has done, with linear speedup: at each size for as long as it computed there."""
    sizes = [(begin, len(list(numbers(text)))) for begin, end, text in entry["stays"]]
    done, begin = 0, sizes[0][0]
    for (_, size), (at, other) in zip(sizes, sizes[1:]):
        still = (options["resize_base"] + options["resize_per_node"] * max(size, other)
                 + options["resize_per_byte"] * 1e9 * entry["wanted"] / min(size, other))
        stop, go = (at + options["latency"], at + options["latency"] + still) if other > size else (at - still, at)
        done, begin = done + (stop - begin) * size, go
    return done + (entry["end"] - begin) * sizes[-1][1]


@pytest.mark.parametrize("policy", POLICIES)
def test_no_node_has_two_jobs(document, policy):
    held = stays(run_of(document, policy))
    assert [pair for pair in zip(held, held[1:]) if pair[0][0] == pair[1][0] and pair[1][1] < pair[0][2] - 1e-9] == []
    assert {node for node, _, _ in held} <= set(range(document["machine"]["nodes"]))


@pytest.mark.parametrize("policy", POLICIES)
def test_jobs_do_their_work(document, trace, policy):
    """A job that ends with a resize under way, which never came to be, has a stay more than it has resizes."""
    run, seen = run_of(document, policy), 0
    for entry in run["jobs"]:
        seconds, nodes = trace[entry["id"]]
        if seconds > 0 and len(entry["stays"]) == entry["resizes"] + 1:
            assert node_seconds(entry, document["options"]) == pytest.approx(seconds * nodes, rel=1e-6), entry
            seen += entry["resizes"] > 0
    assert seen > 50 or policy == "easy"


@pytest.mark.parametrize("policy", POLICIES)
def test_figures(document, trace, policy):
    run = run_of(document, policy)
    jobs, metrics = run["jobs"], run["metrics"]
    assert len(jobs) == metrics["jobs"] == metrics["done"] == 2000
    waits = [entry["start"] - entry["submit"] for entry in jobs]
    slowdowns = sorted(max(1, (entry["end"] - entry["submit"]) / max(trace[entry["id"]][0], 10)) for entry in jobs)
    makespan = max(entry["end"] for entry in jobs) - min(entry["submit"] for entry in jobs)
    held = sum(end - begin for _, begin, end in stays(run))
    assert min(waits) >= 0
    assert metrics["mean_wait"] == pytest.approx(sum(waits) / 2000)
    assert metrics["mean_slowdown"] == pytest.approx(sum(slowdowns) / 2000)
    assert metrics["p95_slowdown"] == pytest.approx(slowdowns[1899])
    assert metrics["makespan"] == pytest.approx(makespan)
    assert metrics["utilisation"] == pytest.approx(held / (makespan * document["machine"]["nodes"]))
    assert metrics["resizes"] == sum(entry["resizes"] for entry in jobs)
