"""The trace driver: what is in the file, that it is bounded, and that it is there however the job ends."""

import json
import os
import re
import signal

import pytest

import job
import joining
import scenario
import traces

SERIAL = job.program("serial")


TRACE = ("--driver", "trace", "--trace-output", "t.json")


def traced(space, *arguments, **how):
    """A pool of three, on two ranks, that is traced into t.json."""
    return scenario.Scenario(space, *arguments, start=2, ranks=3, options=TRACE, **how)


def trace_of(space, name="t.json"):
    return traces.Trace(space.directory / name).check()


def summary(text):
    """The line that says what was written."""
    lines = [line for line in text.splitlines() if line.startswith("epop: trace: ")]
    assert len(lines) == 1, text
    return lines[0]


def end(running):
    """Stops it; what it printed."""
    running.done("stop")
    return running.it.wait()


def run(space, *arguments, ranks=2, program="scenario_window", options=(), **how):
    """From start to end under the trace driver: the Result."""
    return space.start_epop(*TRACE, *options, job.test_program(program), *arguments, ranks=ranks, **how).wait()


# ---- What is in it ----

def test_a_pool_that_is_resized(space):
    running = traced(space, "work=500")
    for size in (3, 1, 3):
        running.resize(size)
    reason = running.refused("resize", "7")
    result = end(running)
    assert result.status == 0, result
    trace = trace_of(space)
    assert trace.processes() == [0, 1, 2] and trace.world_sizes() == [2, 3, 1, 3]
    assert trace.about["partial"] and trace.about["reason"] == "epopctl stop" and "partial: epopctl stop" in summary(result.err)
    assert trace.requests() == [f"{what} {change}" for change in ("2 -> 3", "3 -> 1", "1 -> 3")
                                for what in ("requested", "prepared", "agreed", "committed")] + ["refused"]
    assert [event["args"]["reason"] for event in trace.of("i", name="refused")] == [reason]
    ranks = {number: [event["name"] for event in trace.slices("rank", pid=number)] for number in trace.processes()}
    assert ranks == {0: ["rank 0 of 2", "rank 0 of 3", "rank 0 of 1", "rank 0 of 3"],
                     1: ["rank 1 of 2", "rank 1 of 3", "rank 1 of 3"],
                     2: ["rank 2 of 3", "rank 2 of 3"]}


def test_a_balance(space):
    """The program asks for it in its fifth iteration."""
    result = run(space, "cuts", "120", "300", "40", "0", "5", program="uneven", ranks=3)
    assert result.status == 0, result
    trace = trace_of(space)
    assert set(trace.world_sizes()) == {3}
    assert trace.requests() == [f"{what} balance 3 -> 3" for what in ("requested", "prepared", "agreed", "committed")]
    [committed] = trace.of("i", name="committed balance 3 -> 3")
    assert committed["args"]["by"] == "program" and committed["args"]["imbalance"] > 1.5, committed


def test_the_steps_of_an_adaptation(space):
    running = traced(space, "work=500")
    running.resize(3)
    running.resize(1)
    end(running)
    trace = trace_of(space)
    by_process = {(number, adaptation): sorted(event["name"] for event in trace.slices("adaptation", pid=number)
                                               if event["args"]["adaptation"] == adaptation)
                  for number in trace.processes() for adaptation in (1, 2)}
    old = ["adapt", "adaptation", "commit", "connect", "hold", "move"]
    new = ["adapt", "adaptation", "commit", "connect", "move", "wait for the window"]
    assert by_process == {(0, 1): old, (1, 1): old, (2, 1): new, (0, 2): old, (1, 2): old, (2, 2): old}
    assert all((event["args"]["from"], event["args"]["to"]) == ((2, 3), (3, 1))[event["args"]["adaptation"] - 1]
               for event in trace.slices("adaptation") if event["args"]["adaptation"])


def test_who_sent_how_much_to_whom(space):
    """The ledger's elements, by the redistribution itself: 6000 of 4 bytes in blocks."""
    running = space.start_epop(*TRACE, "--backend", "pool", "--start", 2, job.program("ledger"), "iterations=100000000",
                               "work=200", "elements=6000", ranks=3)
    space.wait_until_running()
    space.resize(3)
    space.resize(1)
    space.stop(running)
    trace = trace_of(space)
    arrows = {(event["args"]["adaptation"], event["args"]["from"], event["args"]["to"]): event["args"]["bytes"]
              for event in trace.of("s")}
    large = {arrow: count for arrow, count in arrows.items() if count > 1000}
    each = large[1, 0, 1]  # of 3000 elements in two blocks 1000 have to move up
    assert set(large) == {(1, 0, 1), (1, 1, 2), (2, 1, 0), (2, 2, 0)} and each % 1000 == 0
    assert large == {(1, 0, 1): each, (1, 1, 2): 2 * each, (2, 1, 0): 2 * each, (2, 2, 0): 2 * each}
    for move in trace.slices("adaptation", "move"):
        for direction, here, there in (("sent", "from", "to"), ("received", "to", "from")):
            assert move["args"][direction] == {
                f"process {event['args'][there]}": event["args"]["bytes"] for event in trace.of("s")
                if event["args"]["adaptation"] == move["args"]["adaptation"] and event["args"][here] == move["pid"]}


def test_elements_and_iterations(space):
    result = run(space, "iterations=50", "work=100")
    assert result.status == 0, result
    trace = trace_of(space)
    assert not trace.about["partial"] and "reason" not in trace.about and "partial" not in summary(result.err)
    for number in (0, 1):
        elements = trace.slices("element", pid=number)
        assert [(event["name"], event["args"]["pc"]) for event in elements] == [("start", 0), ("work", 1), ("report", 2)]
        iterations = [event for event in trace.slices("iteration", pid=number) if event["args"]["pc"] == 1]
        assert [event["args"]["iteration"] for event in iterations] == list(range(50))
        assert all(event["dur"] >= 100 for event in iterations)
        assert trace.process(number)["iterations"] == 51  # and one of the report


def lies_in(event, other):
    return other["ts"] <= event["ts"] and event["ts"] + event["dur"] <= other["ts"] + other["dur"] + 0.001  # of rounding


def test_loops_in_a_phase(space):
    """An iteration has a stay of 2 turns and one of the last, and in each turn one of 4 that are measured."""
    result = run(space, "iterations=6", "sleep=100", program="inner_loops")
    assert result.status == 0, result
    trace = trace_of(space)
    for number in (0, 1):
        stays = trace.slices("loop", pid=number)
        assert {event["tid"] for event in stays} == {number + 257 * traces.TRACK}
        assert {event["args"]["pc"] for event in stays} == {1}
        outer, inner = ([event for event in stays if event["args"]["call"] == call] for call in ("MPI_Allreduce", "MPI_Barrier"))
        assert [event["args"]["iterations"] for event in outer] == [2] * 6
        assert [event["args"]["iterations"] for event in inner] == [4] * 18
        assert all(event["dur"] >= 4 * 100 and event["args"]["mtct"] >= 0 for event in inner)
        assert all(re.fullmatch(r"inner_loops\.c:\d+-\d+", event["name"]) for event in outer), outer
        assert all(re.fullmatch(r"inner_loops\.c:\d+", event["name"]) for event in inner), inner
        assert all(any(lies_in(event, iteration) for iteration in trace.slices("iteration", pid=number)) for event in stays)
        assert trace.process(number)["kept"]["loops"] == {"seen": 24, "kept": 24, "one_in": 1}


@pytest.mark.parametrize("threshold,shown", [("0", True), ("0.0ns", True), ("3600s", False)])
def test_calls_of_mpi(space, threshold, shown):
    result = run(space, "iterations=20", "work=0", options=("--trace-mpi", threshold))
    assert result.status == 0, result
    trace = trace_of(space)
    for number in (0, 1):
        calls = trace.slices("mpi", pid=number)
        assert bool(calls) == shown
        assert len([call for call in calls if call["name"] == "MPI_Allreduce"]) == (2 if shown else 0)
        assert trace.process(number)["mpi_calls"] >= 2 and trace.process(number)["mpi_time_us"] > 0


def test_a_program_without_mpi(space):
    result = space.epop("--driver", "trace", SERIAL, "9")
    assert result.status == 0, result
    trace = trace_of(space, "serial.trace.json")
    assert trace.processes() == [0] and trace.world_sizes() == [1] and not trace.about["partial"]
    assert trace.slices("element")


def test_names_that_json_has_to_escape(space):
    result = run(space, program="odd_names", ranks=1)
    assert result.status == 0, result
    assert [event["name"] for event in trace_of(space).slices("element")] == \
        ['a "quoted" \\ name', "tab\tand\x01", "naïve 測定", "latin ?"]


# ---- Bounds ----

def test_many_iterations_are_sampled(space):
    """A buffer has room for some hundred of them; those that are kept lie evenly over the run, alike on all ranks."""
    result = run(space, "iterations=100000", "work=0", options=("--trace-buffer", "64K"))
    assert result.status == 0, result
    trace = trace_of(space)
    shown = []
    for number in (0, 1):
        iterations = [event for event in trace.slices("iteration", pid=number) if event["args"]["pc"] == 1]
        one_in = {event["args"]["one_in"] for event in iterations}
        assert len(one_in) == 1 and len(iterations) > 100
        steps = {b["args"]["iteration"] - a["args"]["iteration"] for a, b in zip(iterations, iterations[1:])}
        assert steps == one_in and trace.process(number)["iterations"] == 100001
        shown.append({event["args"]["iteration"] for event in iterations})
        assert f"of 200002 iterations one in {max(one_in)}" in summary(result.err)
    assert min(shown, key=len) <= max(shown, key=len)


def test_the_file_stays_below_its_limit(space):
    result = run(space, "iterations=20000", "work=0", options=("--trace-limit", "100K"))
    assert result.status == 0 and "iterations one in" in summary(result.err), result
    trace = trace_of(space)
    assert (space.directory / "t.json").stat().st_size < 110000 and trace.about["limit"] == 102400
    assert trace.about["dropped"] == 0 and len(trace.slices("iteration")) > 100
    control = run(space, "iterations=20000", "work=0")
    assert "one in" not in summary(control.err) and (space.directory / "t.json").stat().st_size > 1000000, control


@pytest.mark.parametrize("option,value", [
    ("--trace-mpi", "10 parsecs"), ("--trace-mpi", "-1us"), ("--trace-mpi", "us"), ("--trace-limit", "1K"),
    ("--trace-limit", "64X"), ("--trace-buffer", "2G"), ("--trace-buffer", "nan"), ("--trace-output", "")])
def test_values_that_are_refused(space, option, value):
    result = space.epop("--driver", "trace", option, value, SERIAL)
    assert result.status == 2 and result.err.count("\n") == 1, result
    assert f"the driver 'trace' refuses {option} {value}" in result.err, result


@pytest.mark.parametrize("output,why", [("nowhere/t.json", "No such file"), ("/dev/null", "not a regular file")])
@pytest.mark.parametrize("ranks", [None, 2])
def test_a_place_that_cannot_be_written_to(space, output, why, ranks):
    """Found before the program runs."""
    program = SERIAL if ranks is None else job.test_program("scenario_window")
    result = space.epop("--driver", "trace", "--trace-output", output, program, "iterations=1", ranks=ranks)
    assert result.status == 2 and "init" not in result.out, result
    scenario.only_line(result.err, "trace", output, why)


# ---- However the job ends ----

def test_a_block_that_fails(space):
    result = run(space, "work=500", "ask=2:1:0", "fault=error:all", options=("--backend", "pool"))
    assert result.status == 1, result
    trace = trace_of(space)
    assert trace.about["partial"] and "adapt block returned 43" in trace.about["reason"]
    assert any(process.get("failure") == 43 for process in trace.about["processes"])
    assert any(event["args"].get("unfinished") for event in trace.slices("element", "work"))


def all_iterate(running):
    """Until all ranks are past the last window; their pids."""
    window = running.status()["adaptations"][-1]["iteration"]
    places = job.wait_for(lambda: json.loads(running.done("where", "--json"))["processes"],
                          meets=lambda places: all((place.get("element") or {}).get("iteration", 0) > window for place in places))
    return [place["pid"] for place in sorted(places, key=lambda place: place["rank"])]


def test_a_rank_that_is_killed_in_a_loop(space):
    """The stays that were not over are there, as far as they came."""
    run(space, "iterations=9", "kill=4", program="inner_loops", ranks=1)
    stays = [event for event in trace_of(space).slices("loop") if "unfinished" in event["args"]]
    assert [(event["args"]["call"], event["args"]["iterations"]) for event in stays] == [("MPI_Allreduce", 2), ("MPI_Barrier", 2)]


@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_that_is_killed(space, victim):
    """Also process 0, which holds the job together. What all did until then is there."""
    running = traced(space, "work=500")
    running.resize(3)
    os.kill(all_iterate(running)[victim], signal.SIGKILL)
    result = running.it.wait()
    assert result.status != 0, result
    trace = wait_for_trace(space)
    assert trace.about["partial"] and trace.about["reason"] and trace.world_sizes() == [2, 3]
    for number in trace.processes():
        assert not trace.process(number)["finished"]
        assert [event["args"].get("unfinished") for event in trace.slices("element", "work", number)] == [True]
        assert trace.slices("iteration", pid=number) and trace.slices("adaptation", "commit", number)
    assert not list((space.directory / space.runtime / "epop").glob("work.*"))


def wait_for_trace(space):
    """The launcher may be gone a little before the trace is there."""
    joins_end = [pid for pid in space.processes()]
    for pid in joins_end:
        joining.wait_for_end_of(pid)
    return trace_of(space)


def test_a_valid_file_from_the_beginning(space):
    (space.directory / "t.json").write_text("of another job")
    running = traced(space, "work=500")
    early = traces.Trace(space.directory / "t.json")
    assert early.events == [] and early.about["partial"] and "still runs" in early.about["reason"]
    end(running)
    assert trace_of(space).slices()


# ---- Join ----

@joining.needed
def test_processes_that_come_and_go(space):
    """Under join those that leave end: nobody takes over their number, and what they did is there."""
    running = joining.JoinScenario(space, "work=500", options=TRACE)
    for size in (4, 1, 2):
        running.resize(size)
    running.done("stop")
    result = running.it.wait()
    assert result.status == 0, result
    trace = trace_of(space)
    assert trace.processes() == [0, 1, 2, 3, 4] and trace.world_sizes() == [2, 4, 1, 2]
    assert [event["name"] for event in trace.slices("rank", pid=1)] == ["rank 1 of 2", "rank 1 of 4"]
    assert [event["name"] for event in trace.slices("rank", pid=4)] == ["rank 1 of 2"]
    assert all(process["finished"] and process["same_clock"] for process in trace.about["processes"])
    assert len({process["pid"] for process in trace.about["processes"]}) == 5


# ---- Spawn ----

ROUTE = (2, 3, 1, 2)


def spawned(space, backend, *options):
    """Resized along the route; how it ended."""
    running = joining.start(space, *joining.ENDLESS, backend=backend, options=options)
    for size in ROUTE[1:]:
        space.resize(size)
    space.wait_for_status(lambda status: status["element"]["iteration"] > 0)
    assert space.epopctl("stop", "--wait").status == 0
    return running.wait()


@joining.needed
@joining.each_spawning
def test_processes_that_are_spawned(space, backend):
    """Beside a profile. Under merge old processes stay, and the highest end; under baseline each world has its own."""
    result = spawned(space, backend, "--driver", "profile,trace", "--output", "p.json", "--trace-output", "t.json", "--quiet")
    assert result.status == 0 and "partial: epopctl stop" in summary(result.err), result
    trace = trace_of(space)
    assert trace.world_sizes() == list(ROUTE)
    ranks = [[event["name"] for event in trace.slices("rank", pid=number)] for number in trace.processes()]
    if backend in joining.MERGING.values():
        assert ranks == [["rank 0 of 2", "rank 0 of 3", "rank 0 of 1", "rank 0 of 2"], ["rank 1 of 2", "rank 1 of 3"],
                         ["rank 2 of 3"], ["rank 1 of 2"]]
    else:
        assert ranks == [[f"rank {rank} of {size}"] for size in ROUTE for rank in range(size)]
    assert all(process["finished"] for process in trace.about["processes"])
    arrows = {(event["args"]["adaptation"], event["args"]["from"], event["args"]["to"]) for event in trace.of("s")}
    assert {adaptation for adaptation, _, _ in arrows} == {1, 2, 3}
    profile = json.loads((space.directory / "p.json").read_text())
    assert [adaptation["to"] for adaptation in profile["adaptations"]] == list(ROUTE[1:])
