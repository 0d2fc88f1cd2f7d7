"""Stopping a job for a debugger: --break, and epopctl break, step and continue."""

import re
import shlex
import signal
import time

import job
import pytest
from joining import JoinScenario, needed
from scenario import DONE, REFUSED, Scenario, Switch, cpu_seconds

DEBUG = ["--driver", "debug"]
NEEDED = needed


def start(space, *arguments, breaks=(), ranks=3, start=2, **how):
    options = [*DEBUG, *how.pop("options", [])]
    for place in breaks:
        options += ["--break", place]
    return Scenario(space, *arguments, start=start, ranks=ranks, options=options, **how)


def state_of(space):
    directory = space.directory / "state"
    directory.mkdir()
    return directory


def iterations(directory):
    """Of every process that has taken part, by its own account."""
    return {int(path.name): int.from_bytes(path.read_bytes(), "little") for path in directory.iterdir()}


def attach_lines(text):
    """{rank: (pid, gdb's command line)} of what was printed last."""
    lines = re.findall(r"rank (\d+) on \S+: (gdb -p (\d+) .*)", text)
    return {int(rank): (int(pid), shlex.split(line)) for rank, line, pid in lines}


def wait_until_stopped(it, *ranks):
    """And until it is told how to attach to these: that comes through the launcher, line by line."""
    it.it.wait_for_line("epop: stopped before ", stream="err")
    for rank in ranks:
        it.it.wait_for_line(f"epop:   rank {rank} on ", stream="err")
    return it.wait_for_state("stopped")


def stop(it, **counts):
    """Ends it; what is on stderr are the stops."""
    it.done("stop")
    result = it.it.wait()
    assert result.status == 0, result
    assert all(line.startswith(("epop: stopped before ", "epop:   rank ")) for line in result.err.splitlines()), result
    it.check_counts(result, counts.get("ranks"), counts.get("windows"), counts.get("iterations"))
    return result


# ---- --break


def test_break_at_the_start(space):
    directory = state_of(space)
    it = start(space, f"state={directory}", breaks=["work:5"])
    status = wait_until_stopped(it, 0, 1)
    assert status["element"]["iteration"] == 5 and status["breaks"] == ["work:5"]
    counts = iterations(directory)
    assert len(counts) == 2 and set(counts.values()) == {5}, counts
    cpu = {pid: cpu_seconds(pid) for pid in counts}
    time.sleep(0.5)  # the time in which nothing may happen
    assert max(cpu_seconds(pid) - before for pid, before in cpu.items()) <= 0.1
    assert iterations(directory) == counts
    assert set(pid for pid, _ in attach_lines(it.it.err).values()) == set(counts)
    assert it.done("continue") == "going on"
    it.wait_for_status(lambda status: status["state"] == "running" and status["element"]["iteration"] > 6)
    stop(it, ranks=2, windows=0)


def test_no_break(space):
    """The control: without one nothing stops."""
    it = start(space)
    it.wait_for_status(lambda status: status["element"]["iteration"] > 6)
    assert it.status()["breaks"] == []
    it.stop(ranks=2)


def test_step(space):
    directory = state_of(space)
    it = start(space, f"state={directory}", breaks=["1:3"])
    wait_until_stopped(it)
    for number in (4, 5, 6):
        assert it.done("step").startswith(f"stopped before work, iteration {number}\nrank 0 on ")
        assert set(iterations(directory).values()) == {number}
    it.done("continue")
    stop(it)


def test_a_break_for_one_rank(space):
    directory = state_of(space)
    it = start(space, f"state={directory}", breaks=["work:5@1"])
    wait_until_stopped(it, 1)
    pid = attach_lines(it.it.err)[1][0]
    it.wait_for_status(lambda status: sorted(iterations(directory).values()) == [5, 6])
    assert iterations(directory)[pid] == 5
    assert it.done("step").startswith("stopped before work, iteration 6\n")
    assert set(iterations(directory).values()) == {6}
    it.done("continue")
    stop(it, ranks=2)


def test_breaks_for_two_ranks(space):
    it = start(space, breaks=["work:4@1", "work:4@0"])
    wait_until_stopped(it)
    it.wait_for_status(lambda status: set(attach_lines(it.it.err)) == {0, 1})
    it.done("continue")
    it.wait_for_status(lambda status: status["element"]["iteration"] > 5)
    stop(it)


@pytest.mark.parametrize("place,where", [("report:1", "element 3 'report', iteration 1"),
                                         ("again", "element 2 'again', iteration 0"),
                                         ("work:2", "element 1 'work', iteration 2")])
def test_every_kind_of_element(space, place, where):
    """Once per visit, and the program ends as it does without."""
    visits = 1 if place.startswith("report") else 3
    it = space.start_epop(*DEBUG, "--break", place, job.test_program("wrong_answers"), ranks=2)
    line = 0
    for _ in range(visits):
        _, line = it.wait_for_line(f"epop: stopped before {re.escape(where)} ", stream="err", start=line)
        assert space.epopctl("continue", "wrong_answers").status == DONE
    result = it.wait()
    assert result.status == 0 and result.err.count("stopped before") == visits, result


@pytest.mark.parametrize("place,why", [
    ("nowhere", "has no element 'nowhere'; see epop --driver check"), ("7", "has no element '7'"),
    ("0", "INIT is no place to stop at"), ("", "a place to stop at is PHASE[:ITERATION][@RANK], not ''"),
    ("work:x", "has no element 'work:x'"), ("x" * 200, "a place to stop at is"),
])
def test_a_break_that_cannot_be(space, place, why):
    result = space.epop(*DEBUG, "--break", place, job.test_program("scenario_window"), ranks=2)
    assert result.status == 2 and result.err.count("\n") == 1 and why in result.err, result


# ---- epopctl break


def test_break_from_outside(space):
    it = start(space)
    assert it.done("break", "work@0") == "set"
    wait_until_stopped(it)
    at = it.status()["element"]["iteration"]
    it.done("continue")
    it.wait_for_status(lambda status: status["element"]["iteration"] > at + 20)  # of this visit it was the one stop
    it.done("pause")  # so that it is not past the next place before that is set
    waiting = it.start_ctl("break", f"work:{it.status()['element']['iteration'] + 5}", "--wait")
    it.wait_for_status(lambda status: len(status["breaks"]) == 2)
    it.done("resume")
    stopped = waiting.wait().out
    assert re.match(r"stopped before work, iteration \d+\nrank 0 on \S+: gdb -p \d+ -ex 'tbreak \*0x\w+'\nrank 1 on ",
                    stopped), stopped
    assert it.status()["breaks"][0] == "work@0"
    assert it.done("break", "work@0", "--remove") == "removed"
    assert len(it.status()["breaks"]) == 1
    assert it.refused("break", "work@0", "--remove") == "there is no such break"
    it.done("continue")
    stop(it)


def test_refusals(space):
    it = start(space)
    assert it.refused("step") == it.refused("continue") == "the ranks are not stopped; epopctl break stops them"
    assert it.refused("break", "nowhere") == "scenario has no element 'nowhere'; see epop --driver check"
    assert it.done("break", "work:1000000@9") == "set; there is no such rank yet"
    it.stop()


@pytest.mark.parametrize("command", [("break", "work"), ("step",), ("continue",)], ids=lambda c: c[0])
def test_a_job_without_the_driver(space, command):
    it = Scenario(space, start=2, ranks=2)
    assert it.refused(*command) == "the job does not run under the debug driver; start it with --driver debug"
    it.stop()


def test_epopctl_that_is_killed(space):
    it = start(space)
    waiting = it.start_ctl("break", "work:1000000", "--wait")
    it.wait_for_status(lambda status: status["breaks"] == ["work:1000000"])
    assert it.refused("break", "work:999999", "--wait") == "another epopctl waits for the next stop"
    waiting.kill()
    it.done("break", "work@1")
    wait_until_stopped(it)
    stepping = it.start_ctl("step")
    stepping.kill()
    it.wait_for_state("stopped")
    it.done("continue")
    stop(it)


def test_the_end_while_epopctl_waits(space):
    it = start(space)
    waiting = it.start_ctl("break", "work:1000000", "--wait")
    it.wait_for_status(lambda status: status["breaks"] == ["work:1000000"])
    it.stop()
    result = waiting.wait()
    assert result.status == REFUSED and result.err == "epopctl: the job was told to stop\n", result


# ---- Stopped, and something else


def test_stop_while_stopped(space):
    it = start(space, breaks=["work:5"])
    wait_until_stopped(it)
    stop(it, ranks=2, windows=0)


def test_sigterm_while_stopped(space):
    it = start(space, breaks=["work:5"])
    wait_until_stopped(it)
    it.it.signal(signal.SIGTERM)
    result = it.it.wait()
    assert result.status == 0 and "end: 2 ranks" in result.out, result


def test_a_resize_waits_while_the_ranks_are_stopped(space):
    """And a break in the iteration of the resize holds the joining rank as well."""
    directory = state_of(space)
    it = start(space, f"state={directory}", breaks=["work:5", "work:6"])
    wait_until_stopped(it)
    it.done("resize", "3")
    it.wait_for_status(lambda status: status["adaptations"][0]["state"] == "prepared")
    assert it.status()["size"] == 2 and {count for count in iterations(directory).values() if count} == {5}
    assert it.done("step").startswith("stopped before work, iteration 6\n")
    assert it.status()["size"] == 3 and it.status()["adaptations"][0]["iteration"] == 6
    assert set(attach_lines(it.done("step"))) == {0, 1, 2}
    it.done("continue")
    assert it.done("break", "work@2", "--wait").count("\n") == 1
    it.done("continue")
    stop(it, ranks=3, windows=1)


def test_the_time_limit_stands_still_while_stopped(space):
    slow = Switch(space, "slow").on()
    it = start(space, f"join-waits-while={slow}", start=1, ranks=2, options=["--prepare-timeout", "2"])
    it.wait_until_here()
    it.done("break", "work", "--wait")
    it.done("resize", "2")
    it.it.wait_for_line("joining in process")
    time.sleep(2.5)
    assert it.status()["adaptations"][0]["state"] == "preparing"
    slow.off()
    it.wait_for_status(lambda status: status["adaptations"][0]["state"] == "prepared")
    it.done("continue")
    it.wait_for_status(lambda status: status["size"] == 2)
    stop(it, ranks=2, windows=1)


def test_the_time_limit_runs_while_not_stopped(space):
    """The control."""
    slow = Switch(space, "slow").on()
    it = start(space, f"join-waits-while={slow}", start=1, ranks=2, options=["--prepare-timeout", "0.5"])
    it.wait_until_here()
    it.done("resize", "2")
    it.wait_for_status(lambda status: status["adaptations"][0]["state"] == "failed")
    slow.off()
    it.stop(ranks=1, windows=0)


@NEEDED
def test_a_process_that_joins(space):
    it = JoinScenario(space, options=[*DEBUG, "--break", "work@2"])
    it.done("resize", "3")
    wait_until_stopped(it, 2)
    rank, (pid, _) = next(iter(attach_lines(it.it.err).items()))
    assert rank == 2 and pid == it.rank_pid(2)
    it.done("continue")
    it.resize(2)
    it.done("stop")
    assert it.it.wait().status == 0


# ---- gdb


def test_gdb(space):
    """The line that is printed attaches to a stopped rank; let go on, it comes into the program's block."""
    it = start(space, breaks=["work:5"])
    wait_until_stopped(it, 1)
    attached = space.directory / "attached"
    pid, line = attach_lines(it.it.err)[1]
    gdb = space.start([*line, "-batch", "-nx", "-ex", "set debuginfod enabled off", "-ex", "bt",
                       "-ex", f"shell touch '{attached}'", "-ex", "continue", "-ex", "bt", "-ex", "detach"], limit=120)
    while not attached.exists():
        assert gdb.running(), gdb.wait()
        time.sleep(0.05)
    it.done("continue")
    result = gdb.wait()
    stopped, running = result.out.split("hit Temporary breakpoint", 1)
    assert re.search(r"#\d+ .* in member_rollcall ", stopped) and re.search(r"#\d+ .* in walk_from_start ", stopped), result
    assert re.search(r"#0 +work \(data=", running) and "scenario_window.c" in running, result
    assert f"process {pid}" in result.out, result
    stop(it, ranks=2, windows=0)
