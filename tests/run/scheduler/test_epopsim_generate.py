"""epopsim generate: the published model's sizes, run times and arrivals, the same for a seed, and read by epopsim itself."""

import json
import math

import job
import pytest

EPOPSIM = job.BUILD / "bin/epopsim"


def generate(space, *options):
    result = space.start([EPOPSIM, "generate", *options]).wait()
    assert result.status == 0 and result.err == "", result
    return result.out


def jobs_of(text):
    """(submit, seconds, nodes) each."""
    rows = [line.split() for line in text.splitlines() if not line.startswith(";")]
    assert all(len(row) == 18 for row in rows)
    return [(int(row[1]), int(row[3]), int(row[7])) for row in rows]


@pytest.fixture
def many(space):
    return jobs_of(generate(space, "--nodes", "128", "--jobs", "20000"))


def share(jobs, holds):
    return sum(map(holds, jobs)) / len(jobs)


def is_power(nodes):
    return nodes & (nodes - 1) == 0


def test_sizes(many):
    """29 % serial, 67 % powers of two besides; of the parallel ones 1 in 8 is in the second stage, 33 to 128 nodes."""
    parallel = [each for each in many if each[2] > 1]
    assert share(many, lambda each: each[2] == 1) == pytest.approx(0.2927, abs=0.015)
    assert share(parallel, lambda each: is_power(each[2])) == pytest.approx(0.6686 / (1 - 0.2927), abs=0.03)
    assert share(parallel, lambda each: each[2] > 45) == pytest.approx(0.125 * 0.75 + 0.02, abs=0.03)
    assert min(each[2] for each in parallel) == 2 and max(each[2] for each in parallel) == 128


def mean_log(jobs):
    return sum(math.log(each[1]) for each in jobs) / len(jobs)


def test_run_times(many):
    """The mean of the logarithm is p a1 b1 + (1 - p) a2 b2, p = 0.6986 - 0.003 nodes: large jobs are longer."""
    for nodes in (1, 16, 128):
        p = 0.6986 - 0.003 * nodes
        found = mean_log([each for each in many if each[2] == nodes])
        assert found == pytest.approx(p * 6.57 * 0.823 + (1 - p) * 639.1 * 0.0156, abs=0.25), nodes
    assert 1 <= min(each[1] for each in many) and max(each[1] for each in many) <= math.exp(12)


def test_arrivals(many):
    """In order, most around two in the afternoon, fewest before dawn."""
    times = [each[0] for each in many]
    hours = [time // 3600 % 24 for time in times]
    assert times == sorted(times)
    assert 4 * share(hours, lambda hour: hour in (4, 5)) < share(hours, lambda hour: hour in (13, 14))


def test_the_seed_decides(space):
    one, again = (generate(space, "--jobs", "50", "--seed", "7") for _ in range(2))
    assert one == again and jobs_of(one) != jobs_of(generate(space, "--jobs", "50", "--seed", "8"))
    assert jobs_of(generate(space, "--jobs", "20", "--seed", "7")) == jobs_of(one)[:20]


def test_a_trace_of_that_load(space):
    path = space.directory / "drawn.swf"
    path.write_text(generate(space, "--nodes", "256", "--jobs", "200", "--load", "0.8"))
    result = space.start([EPOPSIM, "--describe", path]).wait()
    assert "machine      256 nodes" in result.out and "jobs         200," in result.out, result
    [load] = [float(line.split()[1]) for line in result.out.splitlines() if line.startswith("load")]
    assert load == pytest.approx(0.8, rel=0.001)
    result = space.start([EPOPSIM, "--quiet", "--json", "--policy", "easy", "--malleable", "0.5", path]).wait()
    assert json.loads(result.out)["runs"][0]["metrics"]["done"] == 200


@pytest.mark.parametrize("words, what", [(["more"], '"more"'), (["--nodes", "1"], "--nodes"), (["--seed", "x"], "--seed")])
def test_what_is_refused(space, words, what):
    result = space.start([EPOPSIM, "generate", *words]).wait()
    assert result.status == 2 and result.out == "" and result.err.count("\n") == 1 and what in result.err, result


def test_its_options_are_those_of_the_page(space):
    text = space.start([EPOPSIM, "generate", "--help"]).wait().out
    section = (job.ROOT / "docs/man/epopsim.1").read_text().split(".Cm generate\n")[2]
    for name in ("nodes", "jobs", "load", "seed"):
        assert f"--{name}" in text and f"Fl -{name}" in section
