"""One job under one policy, whose sizes are the same at all sites: it is efficient on two nodes at most."""

import json

import job

# MTCT by size: 1: 0, 2: 0.2, 3: 5, 4: 9. The policy shrinks from 4, tries 3, and comes back to 2.
POLICY = "ers,firm=0,period=2,values=3,worth=1,upper=2,lower=0.7"
POINTS = {1: 1, 2: 1.67, 3: 0.5, 4: 0.4}
SECONDS = 0.4
SIZES = [4, 2, 3, 1, 2]


def program(iterations):
    """Arguments of synthetic."""
    speedup = ",".join(f"{nodes}={times}" for nodes, times in POINTS.items())
    return ["phase=only", f"iterations={iterations}", f"seconds={SECONDS}", f"speedup=table:{speedup}"]


def simulated(space, directory, iterations):
    """Its sizes in the simulator, in order."""
    phase = {"name": "only", "iterations": iterations, "seconds": SECONDS,
             "speedup": {"model": "table", "points": [{"nodes": nodes, "speedup": times} for nodes, times in POINTS.items()]}}
    file, output = directory / "workload.json", directory / "schedule.json"
    file.write_text(json.dumps({"schema": "epop.workload", "version": 1, "name": "one", "machine": {"nodes": 4}, "jobs": [
        {"name": "one", "kind": "malleable", "nodes": 4, "min": 1, "max": 4, "limit": 300, "phases": [phase]}]}))
    result = space.start([job.BUILD / "bin/epopsim", "-q", "--policy", POLICY, "-o", output, file]).wait()
    assert result.status == 0, result
    decisions = json.loads(output.read_text())["runs"][0]["decisions"]
    return [one["to"] for one in decisions if one["kind"] in ("start", "resize")]
