"""Resizes of a running job: what the window gives (which the program itself checks), who may ask and when, what is
refused, and joining ranks that are slow or fail."""

import json
import re

import executables
import job
import pytest
from scenario import DONE, NO_JOB, REFUSED, TIMEOUT, USAGE, Scenario, Switch


def window_lines(result):
    return re.findall(r"window \d+: (\d+) -> (\d+), (\d+) stay, (\d+) leave, (\d+) join, .*new ranks ([-\d ]+)\n",
                      result.out)


# ---- Worlds


def test_expand_and_shrink(space):
    it = Scenario(space, start=1, ranks=4)
    assert it.resize(4) == "done: 1 -> 4"
    assert it.resize(1) == "done: 4 -> 1"
    assert it.resize(2) == "done: 1 -> 2"
    assert it.resize("+1") == "done: 2 -> 3"
    assert it.resize("-2") == "done: 3 -> 1"
    result = it.stop(ranks=1, windows=5)
    assert window_lines(result) == [
        ("1", "4", "1", "0", "3", "0 1 2 3"), ("4", "1", "1", "3", "0", "0 -1 -1 -1"), ("1", "2", "1", "0", "1", "0 1"),
        ("2", "3", "2", "0", "1", "0 1 2"), ("3", "1", "1", "2", "0", "0 -1 -1")]


def test_migrate(space):
    """Ranks leave and others join in one adaptation."""
    it = Scenario(space, start=3, ranks=5)
    assert it.resize(3, "--release-ranks", "1") == "done: 3 -> 3"
    assert it.resize(3, "--release-ranks", "1,2") == "done: 3 -> 3"
    assert it.resize(4, "--release-ranks", "2") == "done: 3 -> 4"
    assert it.resize(2, "--release-ranks", "1") == "done: 4 -> 2"  # rank 3 leaves too: the highest
    assert it.done("resize", "--release-ranks", "1", "--wait") == "done: 2 -> 1"
    result = it.stop(ranks=1, windows=5)
    assert window_lines(result) == [
        ("3", "3", "2", "1", "1", "0 -1 1 2"), ("3", "3", "1", "2", "2", "0 -1 -1 1 2"),
        ("3", "4", "2", "1", "2", "0 1 -1 2 3"),
        ("4", "2", "2", "2", "0", "0 -1 1 -1"), ("2", "1", "1", "1", "0", "0 -1")]


def test_six_processes(space):
    it = Scenario(space, "work=5000", start=6, ranks=6)
    assert it.resize(2) == "done: 6 -> 2"
    assert it.resize(6) == "done: 2 -> 6"
    it.stop(ranks=6, windows=2)


def test_the_present_size(space):
    it = Scenario(space, start=2, ranks=2)
    assert it.resize(2) == "done: 2 -> 2; the job has 2 ranks already"
    it.stop(ranks=2, windows=0)


# ---- Who joins is as good as new


def inits(result):
    return re.findall(r"init (\w+) rank (\d) of (\d) argc (\d+) inits (\d+) in process (\d+)", result.out)


def test_leaving_and_joining_again(space):
    it = Scenario(space, "memory=1", start=2, ranks=2)
    for size in (1, 2, 1, 2):
        it.resize(size)
    result = it.stop(ranks=2, windows=4)
    found = inits(result)
    assert len(found) == 4 and len({pid for *_, pid in found}) == 2
    for status, rank, size, argc, count, _ in found:
        assert (argc, count) == ("2", "1"), result
        assert status == "new" and size == "2" or (status, rank, size) == ("joining", "0", "1"), result


def test_a_program_that_stays_in_memory(space, tmp_path):
    """It cannot be loaded afresh, so that who left cannot join again; the others can."""
    import subprocess
    program = tmp_path / "stays.so"
    subprocess.run([*executables.MPICC, "-shared", "-fPIC", "-D_GNU_SOURCE", f"-I{job.ROOT / 'epop_api'}",
                    job.ROOT / "tests/programs/scenario_window.c", "-o", program, "-Wl,-z,nodelete",
                    f"-L{job.BUILD / 'lib'}", "-lepop", f"-Wl,-rpath,{job.BUILD / 'lib'}"], check=True, timeout=60)
    it = Scenario(space, start=2, ranks=3, program=program)
    it.resize(1)
    assert [process["state"] for process in it.status()["processes"]] == ["running", "spent", "standby"]
    assert re.fullmatch("2 more processes are needed, but 1 stands by; 1 that left cannot join again: .* unloaded .*",
                        it.refused("resize", "3"))
    it.resize(2)
    it.stop(ranks=2, windows=2)


# ---- Requests of the program itself


@pytest.mark.parametrize("who", ["all", "0", "1"])
def test_the_program_asks(space, who):
    it = Scenario(space, f"ask=10:3:{who}", f"ask=after1:1:{who if who != '1' else '2'}", "iterations=1", "windows=2",
                  start=2, ranks=3)
    it.finish(ranks=1, windows=2)


@pytest.mark.parametrize("who", ["all", "0"])
def test_the_program_asks_in_a_window(space, who):
    """The request waits until the window is over."""
    it = Scenario(space, f"ask=window:3:{who}", start=1, ranks=3)
    it.resize(2)
    it.wait_for_status(lambda status: status["size"] == 3)
    it.stop(ranks=3, windows=2)


def test_the_program_asks_for_another_rank(space):
    it = Scenario(space, "release=10:1", "iterations=1", "windows=1", start=2, ranks=3)
    result = it.finish(ranks=2, windows=1)
    assert window_lines(result) == [("2", "2", "1", "1", "1", "0 -1 1")]


def test_the_program_asks_in_init(space):
    it = Scenario(space, "ask=init:2:all", "iterations=1", "windows=1", start=1, ranks=2)
    it.finish(ranks=2, windows=1)


@pytest.mark.parametrize("moment", ["29", "end"])
def test_the_program_asks_too_late(space, moment):
    """In the last iteration, and in the phase after it."""
    it = Scenario(space, f"ask={moment}:1:all", "iterations=30", start=2, ranks=2)
    it.finish(ranks=2, windows=0, iterations=30)


def test_the_program_asks_for_what_cannot_be(space):
    it = Scenario(space, "ask=every:9:all", start=2, ranks=2)
    watch = it.start_ctl("watch")
    match, _ = watch.wait_for_line(r"\trefused\t.*\t(.*)$")
    assert match[1] == "9 ranks are more than the 2 processes of this launch"
    it.stop(ranks=2, windows=0)
    assert watch.wait().status == DONE


# ---- Refusals


REFUSALS = {
    ("0",): "0 ranks make no world; the smallest is 1",
    ("5",): "5 ranks are more than the 4 processes of this launch",
    ("-2",): "0 ranks make no world; the smallest is 1",
    ("-7",): "-5 ranks make no world; the smallest is 1",
    ("2", "--release-ranks", "0"): "rank 0 cannot leave: it hosts the job's control",
    ("2", "--release-ranks", "2"): "there is no rank 2",
    ("--release", "elsewhere"): "no rank runs on elsewhere",
    ("3", "--hosts", ""): "'add_hosts' of 'resize' has to be host names with commas between them, not \"\"",
    ("3", "--hosts", "a,-x"): "'add_hosts' of 'resize' has to be host names with commas between them, not \"a,-x\"",
    ("--release", "a, b"): "'release_hosts' of 'resize' has to be host names with commas between them, not \"a, b\"",
    ("3", "--hosts", "elsewhere"): "1 more process is needed, but 0 stand by on elsewhere",
}


def test_refusals(space):
    it = Scenario(space, start=2, ranks=4)
    it.wait_until_here()
    for arguments, reason in REFUSALS.items():
        assert it.refused("resize", *arguments) == reason
        assert it.refused("resize", *arguments, "--wait") == reason
    assert it.refused("resume") == "the job is not paused"
    assert it.refused("cancel") == "no resize is pending"
    assert it.ctl("resize", "many").status == USAGE
    assert space.epopctl("resize", "nobody-1", "2").status == NO_JOB
    it.stop(ranks=2, windows=0)


def test_a_second_request(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=3)
    assert it.done("resize", "2") == "accepted: 1 -> 2"
    reason = "adaptation 1 (1 -> 2) is pending; try again when it is through, or cancel it"
    assert it.refused("resize", "3") == reason
    assert it.refused("resize", "3", "--wait") == reason
    waiting = it.ctl("resize", "3", "--wait", "--timeout", "0")
    assert waiting.status in (REFUSED, TIMEOUT)
    slow.off()
    it.wait_for_status(lambda status: status["size"] == 2)
    it.resize(3)
    it.stop(ranks=3, windows=2)


def test_withdrawn(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=2)
    waiting = it.start_ctl("resize", "2", "--wait")
    it.it.wait_for_line("joining in process")
    it.done("cancel")
    result = waiting.wait()
    assert result.status == REFUSED and result.err == "epopctl: withdrawn\n"
    slow.off()
    it.resize(2)
    it.stop(ranks=2, windows=1)


# ---- Joining ranks that fail or hang


def prepare(space):
    """Long enough for one that does not hang, to load the program and run INIT also on a machine that is busy."""
    return ["--prepare-timeout", space.patience(3)]


def test_a_joining_rank_fails(space):
    fault = Switch(space, "fault").on()
    it = Scenario(space, f"join-fails-while={fault}", start=1, ranks=3)
    reason = it.refused("resize", "3", "--wait")
    assert reason.startswith("a joining process (pid ") and "init block returned 47" in reason
    fault.off()
    assert it.resize(3) == "done: 1 -> 3"  # the same without the fault
    it.stop(ranks=3, windows=1)


def test_a_joining_rank_hangs(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=3, options=prepare(space))
    result = it.ctl("resize", "2", "--wait")
    assert result.status == TIMEOUT and result.err == "epopctl: the joining processes were not ready in time\n", result
    slow.off()
    assert it.resize(2) == "done: 1 -> 2"
    it.stop(ranks=2, windows=1)


def test_a_joining_rank_hangs_until_after_the_end(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=2, ranks=3, options=[*prepare(space), "--finish-timeout", "0.2"])
    assert it.ctl("resize", "3", "--wait").status == TIMEOUT
    it.it.wait_for_line("joining in process")
    it.done("stop")
    result = it.it.wait()
    assert result.status == 0 and "end: 2 ranks, 0 windows" in result.out, result
    assert re.fullmatch(r"epop: note: a process that is still in INIT of a resize that was called off \(pid \d+ on \S+\) did not come to "
                        "the end, and was ended with the job\n", result.err), result


def test_a_hanging_rank_does_not_keep_another_from_joining(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=3, options=prepare(space))
    it.wait_until_here()
    assert it.ctl("resize", "2", "--wait").status == TIMEOUT
    match, seen = it.it.wait_for_line(r"joining in process (\d+)")
    waiting = it.start_ctl("resize", "2", "--wait")
    other, _ = it.it.wait_for_line(r"joining in process (\d+)", start=seen)
    assert other[1] != match[1]
    slow.off()
    waiting.wait()
    it.resize(2)
    it.stop(ranks=2)


# ---- Two adaptations keep their distance


@pytest.mark.parametrize("interval", [0, 3])
def test_min_interval(space, interval):
    it = Scenario(space, start=1, ranks=2, options=["--min-interval", str(interval)])
    it.resize(2)
    it.resize(1)
    first, second = it.status()["adaptations"]
    times = second["times"]
    apart, held = times["agreed"] - first["times"]["committed"], times["agreed"] - times["prepared"]
    assert apart >= interval and (interval or space.in_time(held, 3)), json.dumps([first, second])
    it.stop(ranks=1, windows=2)
