"""Traces across hosts: what processes elsewhere did comes in, and one clock goes for all."""

import pytest

import hosts
import joining
import traces
from joining import end, start_at

pytestmark = joining.needed
AHEAD = 1000  # seconds


@pytest.fixture(name="host", params=["one clock", "ahead", "behind"])
def fixture_host(request, space):
    """A second host whose monotonic clock is like that of the first, or far from it."""
    clocks = {"ahead": {"n2": AHEAD}, "behind": {"n1": AHEAD}}.get(request.param)
    try:
        it = hosts.Hosts(space, ["n1", "n2"], clocks).at("n1")
    except hosts.Unavailable as why:
        pytest.skip(f"no namespaces here: {why}")
    it.offset = {"ahead": -AHEAD, "behind": AHEAD}.get(request.param, 0)
    return it


def traced(host, *arguments):
    return start_at(host, "--driver", "trace", "--trace-output", "t.json", "--trace-mpi", "0", *arguments)


def trace_of(host):
    return traces.Trace(host.net.space.directory / "t.json").check()


def check_clock(process, offset):
    """What was read is the truth, give or take the uncertainty that is named."""
    assert process["same_clock"] == (offset == 0)
    for reading in process["clock"]:
        assert abs(reading["offset_us"] - offset * 1e6) <= reading["uncertainty_us"] < 1e6
    assert len(process["clock"]) == (1 if offset == 0 else 2)


def test_a_job_that_grows_onto_another_host_and_comes_back(host):
    running = traced(host)
    host.resize("4", "--hosts", "n2")
    host.resize("2", "--release", "n2")
    host.resize("3", "--hosts", "n2")
    end(host, running)
    trace = trace_of(host)
    by_host = {process["process"]: process["host"] for process in trace.about["processes"]}
    assert by_host == {0: "n1", 1: "n1", 2: "n2", 3: "n2", 4: "n2"} and trace.world_sizes() == [2, 4, 2, 3]
    for number, name in by_host.items():
        process = trace.process(number)
        check_clock(process, host.offset if name == "n2" else 0)
        assert process["finished"] and trace.slices("iteration", pid=number) and trace.slices("mpi", pid=number)
    check_windows(trace)


def check_windows(trace):
    """Nobody can be through an adapt block of described data before all have begun it: on one clock that shows. Nobody
    leaves a world before it was there."""
    for adaptation in (1, 2, 3):
        blocks = [block for block in trace.slices("adaptation", "adapt") if block["args"]["adaptation"] == adaptation]
        assert len(blocks) >= 3
        arrows = [event for event in trace.of("s") if event["args"]["adaptation"] == adaptation]
        assert any(event["args"]["from"] < 2 <= event["args"]["to"] or event["args"]["to"] < 2 <= event["args"]["from"]
                   for event in arrows)
        slack = max([reading["uncertainty_us"] for process in trace.about["processes"] for reading in process["clock"]])
        assert max(block["ts"] for block in blocks) <= min(block["ts"] + block["dur"] for block in blocks) + slack
    ends = [event["ts"] + event["dur"] for event in trace.slices()]
    assert max(ends) < AHEAD / 2 * 1e6  # no process is that far from the others
