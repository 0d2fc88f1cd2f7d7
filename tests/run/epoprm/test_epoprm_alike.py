"""The same policy decides alike on the same program, on real nodes and in the simulator; and it comes to an end with it."""

import json

import pytest

import job
import ruling

# MTCT by size: 1: 0, 2: 0.2, 3: 5, 4: 9. The policy shrinks from 4, tries 3, and comes back to 2.
POLICY = "ers,period=2,values=3,worth=1,upper=2,lower=0.7"
POINTS = {1: 1, 2: 1.67, 3: 0.5, 4: 0.4}
SECONDS, ITERATIONS = 0.4, 80


def simulated(space, tmp_path):
    """The sizes that the job has in the simulator, in order."""
    phase = {"name": "only", "iterations": ITERATIONS, "seconds": SECONDS,
             "speedup": {"model": "table", "points": [{"nodes": nodes, "speedup": times} for nodes, times in POINTS.items()]}}
    file, output = tmp_path / "workload.json", tmp_path / "schedule.json"
    file.write_text(json.dumps({"schema": "epop.workload", "version": 1, "name": "one", "machine": {"nodes": 4}, "jobs": [
        {"name": "one", "kind": "malleable", "nodes": 4, "min": 1, "max": 4, "limit": 300, "phases": [phase]}]}))
    result = space.start([job.BUILD / "bin/epopsim", "-q", "--policy", POLICY, "-o", output, file]).wait()
    assert result.status == 0, result
    decisions = json.loads(output.read_text())["runs"][0]["decisions"]
    return [one["to"] for one in decisions if one["kind"] in ("start", "resize")]


@pytest.fixture(name="daemon")
def fixture_daemon(space):
    yield from ruling.ruled(ruling.Daemon(space, "--local", "4", policy=POLICY).start())


def test_a_size_that_was_inefficient_is_not_tried_again(daemon, space, tmp_path):
    """With samples of the last size alone it would go back and forth to its end."""
    speedup = "table:" + ",".join(f"{nodes}={times}" for nodes, times in POINTS.items())
    number = daemon.submit(job.program("synthetic"), "phase=only", f"iterations={ITERATIONS}", f"seconds={SECONDS}", f"speedup={speedup}", ranks=(1, 4))
    daemon.wait_end(number)
    rows = daemon.rows("SELECT * FROM resize WHERE job=? ORDER BY id", number)
    sizes = [4] + [row["to_nodes"] for row in rows]
    assert sizes == simulated(space, tmp_path) == [4, 2, 3, 1, 2], "\n".join(event["text"] for event in daemon.events(number))
