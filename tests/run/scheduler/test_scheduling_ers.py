"""ers beside EASY backfilling: which sizes MTCT decides about, and which it does not. As published it does about all."""

import json

import job
import pytest

EPOPSIM = job.BUILD / "bin/epopsim"


def sizes(space, policy, *jobs):
    """Of the last job, one after the other."""
    path = space.directory / "jobs.json"
    path.write_text(json.dumps({"schema": "epop.workload", "version": 1, "machine": {"nodes": 16}, "jobs": jobs}))
    result = space.start([EPOPSIM, "--quiet", "--output", "-", "--policy", policy, path]).wait()
    assert result.status == 0 and result.err == "", result
    [run] = json.loads(result.out)["runs"]
    return [each["to"] for each in run["decisions"] if each["job"] == len(jobs) and each["kind"] in ("start", "resize")]


def malleable(serial, submit=0):
    """Four nodes wanted of 1 to 16; MTCT is `serial` for each node but the first."""
    return {"submit": submit, "kind": "malleable", "nodes": 4, "min": 1, "max": 16, "limit": 10000,
            "phases": [{"iterations": 10000, "seconds": 4, "speedup": {"model": "amdahl", "serial": serial}}]}


@pytest.mark.parametrize("policy", ["ers", "ers,firm=0"])
def test_an_efficient_job_grows_beyond_what_is_wanted(space, policy):
    assert sizes(space, policy, malleable(0.001)) == [4, 8, 16]


def test_an_inefficient_job_keeps_what_is_wanted(space):
    assert sizes(space, "ers", malleable(0.2)) == [4]
    assert sizes(space, "ers,firm=0", malleable(0.2)) == [4, 2, 1]


def test_it_starts_on_less_and_gets_what_is_wanted_back(space):
    """And more, as gain would give it; of that it keeps what it computes well with."""
    first = {"submit": 0, "kind": "rigid", "nodes": 14, "phases": [{"seconds": 14 * 9000}]}
    found = sizes(space, "ers,keep=0", first, malleable(0.04, submit=1))
    assert found[0] == 2 and max(found) >= 8 and found[-1] == 4, found
