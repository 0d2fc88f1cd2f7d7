"""A program that crashes: one report in the job, with the place and the functions, and the end everywhere, soon."""

import os
import pathlib
import signal
import time

import pytest

import job
import joining
from joining import JoinScenario
from scenario import DONE, Scenario
from executables import LINKED, compile_c, source, start

LIMIT = 5  # seconds, from the crash to the end

NAMES = {"segv": "SIGSEGV (Segmentation fault) at address 0x0", "bus": "SIGBUS (Bus error) at address 0x",
         "fpe": "SIGFPE (Floating point exception) by the instruction at 0x", "abort": "SIGABRT (Aborted)",
         "ill": "SIGILL (Illegal instruction)", "overflow": "SIGSEGV (Stack overflow) at address 0x",
         "null": "SIGSEGV (Segmentation fault) at address 0x0",
         "sent": "SIGFPE (Floating point exception), pid"}
PLACES = {"init": "element 0 'prepare' (INIT), iteration 0", "exec": "element 1 'work' (EP), iteration 3",
          "loop": "element 1 'work' (EP), iteration 3", "branch": "element 2 'turn' (BRANCH), iteration 0",
          "thread": "element 1 'work' (EP), iteration 3"}
BLOCKS = {"init": "init", "exec": "work", "loop": "more", "branch": "turn"}


def report(text, place, how, rank=None, of=2):
    """The report's lines: there is one, and it says all this."""
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if "SIG" in line and line.startswith("epop: ")]
    assert len(heads) == 1 and text.count("epop: ") == 1, text
    head, *frames = lines[heads[0]:]
    assert head.startswith(f"epop: scenario: {place}, ") and f": {NAMES[how]}" in head, text
    if rank is not None:
        assert f", rank {rank} of {of}: " in head, text
    return head, [line for line in frames if line.startswith("  ")]


def frame(frames, function, line=True):
    """There is a frame of it, with the line in the source."""
    found = [text for text in frames if text.split()[1] == function]
    assert found and (not line or " at crash.c:" in found[0]), frames


def run(space, *arguments, ranks=2, **how):
    begin = time.monotonic()
    result = space.epop(job.test_program("crash"), *arguments, ranks=ranks, **how)
    assert result.status != 0, result
    return result, time.monotonic() - begin


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("where", BLOCKS)
def test_blocks(space, where, rank):
    """On one rank, the other one waiting for it in MPI."""
    result, took = run(space, f"where={where}", f"rank={rank}", "iterations=3" if where == "branch" else "at=3")
    head, frames = report(result.err, PLACES[where], "segv", rank)
    frame(frames, BLOCKS[where])
    frame(frames, "main", line=False)
    assert space.in_time(took, LIMIT) and "in another thread" not in head, took


@pytest.mark.parametrize("how", [name for name in NAMES if name != "sent"])
def test_signals(space, how):
    """On all ranks: the first is heard."""
    result, took = run(space, "where=exec", f"how={how}")
    _, frames = report(result.err, PLACES["exec"], how)
    if how == "overflow":
        frame(frames, "recurse")
        assert any("more of the same" in line for line in frames), frames
    else:
        frame(frames, "work")
    assert space.in_time(took, LIMIT), took


@pytest.mark.parametrize("how", ["fpe", "overflow"])
def test_another_thread(space, how):
    result, _ = run(space, "where=thread", f"how={how}", "rank=1")
    head, frames = report(result.err, PLACES["thread"], how, 1)
    assert "in another thread" in head
    frame(frames, "recurse" if how == "overflow" else "thread_main")


def test_no_crash(space):
    """The control case."""
    result = space.epop(job.test_program("crash"), "where=exec", "rank=7", "iterations=20", ranks=2)
    assert result.status == 0 and result.err == "", result


@pytest.mark.parametrize("driver", ["run", "driver_trace"])
def test_under_any_driver(space, driver):
    name = driver if driver == "run" else job.test_program(driver)
    result = space.epop("--driver", name, job.test_program("crash"), "where=exec", "rank=1", ranks=2, limit=30)
    assert result.status != 0
    report(result.err, PLACES["exec"], "segv", 1)


@pytest.mark.parametrize("fault", ["handler", "ours"])
def test_a_handler_of_the_programs_own(space, fault):
    """Is left alone; the other signals are still reported."""
    how = "fpe" if fault == "handler" else "abort"
    result = space.epop(job.test_program("crash"), "where=exec", f"how={how}", "handler=1", ranks=1)
    if fault == "handler":
        assert result.status == 7 and "handled" in result.out and "SIGFPE" not in result.err, result
    else:
        report(result.err, PLACES["exec"], how, 0, of=1)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_adapt_block(space, rank):
    """On a rank that stays, on one that leaves, on one that joins."""
    it = Scenario(space, "where=adapt", "at=0", f"rank={rank if rank < 2 else -1}", program="crash", start=2, ranks=3)
    it.wait_until_here()
    waiting = it.start_ctl("resize", "3" if rank == 2 else "1", "--wait")
    result = it.it.wait()
    assert result.status != 0
    head, frames = report(result.err, "element 1 'work' (EP)", "segv")
    frame(frames, "adapt")
    assert waiting.wait().status != DONE


@pytest.mark.parametrize("was", ["standby", "rank"])
def test_a_process_that_stands_by(space, was):
    """Has no rank (any more), and goes by its number in the job."""
    it = Scenario(space, program="crash", start=2 if was == "standby" else 3, ranks=3)
    it.wait_until_here()
    if was == "rank":
        it.resize(2)
    process, = [one for one in it.status()["processes"] if one["state"] == "standby"]
    os.kill(process["pid"], signal.SIGFPE)
    result = it.it.wait()
    assert result.status != 0
    heads = [line for line in result.err.splitlines() if line.startswith("epop: ")]
    assert len(heads) == 1 and heads[0].startswith("epop: process 2, while no program runs in it: " + NAMES["sent"]), result


def test_without_mpi(space):
    """Ends with the signal, as the shell expects it."""
    result = space.epop(job.test_program("faults"), env={"EPOP_TEST_FAULT": "segv"})
    assert result.status == -signal.SIGSEGV, result
    head, *frames = result.err.splitlines()
    assert head.startswith("epop: faults: element 1 'work' (EP), iteration 2, rank 0 of 1: SIGSEGV")
    assert any(line.split()[1] == "work" for line in frames), frames


# ---- Before the program runs, and after


LOADING = {"constructor": "in a constructor of", "get_program": "in get_program of",
           "elements": "reading what get_program returned in"}


def loading_report(result, where, frame_of=None):
    """Said once at least, by whoever crashed: there is no job yet that could settle on one."""
    if result.status == -signal.SIGPIPE or (result.status == 255 and "demux engine error" in result.err):
        return  # mpiexec has died or failed, and what it had read of its processes with it (docs/reference/faults.md)
    path = job.test_program("crash_load")
    head = f"epop: while the program was loaded, {LOADING[where]} {path}: SIGSEGV (Segmentation fault) at address 0x"
    lines = result.err.splitlines()
    assert any(line.startswith(head) for line in lines), result
    assert all(line.startswith(head) for line in lines if line.startswith("epop: ")), result
    if frame_of:
        assert any(line.startswith("  #") and line.split()[1] == frame_of for line in lines), result


@pytest.mark.parametrize("driver", ["run", "check"])
@pytest.mark.parametrize("where", LOADING)
def test_while_it_is_loaded(space, where, driver):
    result = space.epop("--driver", driver, job.test_program("crash_load"), env={"EPOP_TEST_FAULT": where})
    assert result.status == -signal.SIGSEGV, result
    loading_report(result, where, {"constructor": "construct", "get_program": "get_program"}.get(where))


@pytest.mark.parametrize("rank", [None, "0", "1"])
@pytest.mark.parametrize("where", ["constructor", "get_program"])
def test_while_it_is_loaded_in_a_launch(space, where, rank):
    env = {"EPOP_TEST_FAULT": where, **({"EPOP_TEST_RANK": rank} if rank else {})}
    result = space.epop(job.test_program("crash_load"), ranks=2, env=env)
    assert result.status != 0
    loading_report(result, where)


def test_it_is_loaded(space):
    """The control case."""
    result = space.epop(job.test_program("crash_load"), ranks=2)
    assert result.status == 0 and "SIG" not in result.err, result


@pytest.mark.parametrize("how", ["thread", "timer"])
def test_what_an_unloaded_program_left_running(space, how):
    """Its code is gone: the report says so, and of which program it was."""
    it = Scenario(space, "where=left", f"how={how}", program="crash", start=3, ranks=3)
    it.wait_until_here()
    it.start_ctl("resize", "2")
    result = it.it.wait()
    assert result.status != 0
    heads = [line for line in result.err.splitlines() if line.startswith("epop: ")]
    assert len(heads) == 1, result
    assert heads[0].startswith(f"epop: process 2, in code of {job.test_program('crash')}, which is unloaded, and of which "
                               "a thread, timer or handler still runs: SIGSEGV"), result


def core_files(directory):
    return list(pathlib.Path(directory).glob("core*"))


@pytest.mark.skipif(not pathlib.Path("/proc/sys/kernel/core_pattern").read_text().startswith("core"),
                    reason="core files go elsewhere on this machine")
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("wanted", [True, False])
def test_core_file(space, wanted, rank):
    """With `ulimit -c` the process that crashed, and only that, leaves one."""
    limit = "unlimited" if wanted else "0"
    begin = time.monotonic()
    result = space.start(["sh", "-c", f'ulimit -c {limit}; exec "$@"', "sh", job.MPIEXEC, "-n", "2",
                          job.BUILD / "bin/epop", job.test_program("crash"), "where=exec", f"rank={rank}"]).wait()
    assert result.status != 0 and space.in_time(time.monotonic() - begin, LIMIT + 10 * wanted)
    report(result.err, PLACES["exec"], "segv", rank)
    assert len(core_files(space.directory)) == wanted
    for path in core_files(space.directory):
        path.unlink()


# ---- Several launches


def gone(space, it, begin):
    result = it.it.wait()
    left, took = space._wait_gone(20), time.monotonic() - begin
    assert result.status != 0 and not left and space.in_time(took, LIMIT), f"{took} s, left: {left}\n{result}"
    return result


@joining.needed
@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_in_any_launch(space, rank):
    """Two ranks of the first launch, two that joined: by a signal from outside, as from a hardware fault."""
    it = JoinScenario(space, program="crash")
    it.resize(4)
    begin = time.monotonic()
    os.kill(it.rank_pid(rank), signal.SIGFPE)
    result = gone(space, it, begin)
    head, frames = report(result.err, "element 1 'work' (EP)", "sent", rank, of=4)
    assert frames


@joining.needed
def test_a_joiner_that_crashes_in_init(space):
    """Is reported, and the job goes on without it."""
    it = JoinScenario(space, "where=joining", "rank=1", "iterations=100000000", program="crash")
    reason = it.refused("resize", "4", "--wait")
    assert "joining process" in reason
    it.wait_for_status(lambda status: status["size"] == 2 and status["state"] == "running")
    _, frames = report(it.it.err, PLACES["init"], "segv", 1)
    frame(frames, "init")
    assert it.status()["size"] == 2
    it.done("stop", "--wait")
    assert it.it.wait().status == 0


# ---- Executables with the elastic MPI calls


@pytest.fixture(scope="module")
def executable(tmp_path_factory):
    return compile_c(source("adapt_hang"), tmp_path_factory.mktemp("crash") / "plain", *LINKED)


def test_executable(space, executable):
    go = space.directory / "go"
    running = start(space, executable, go, "none", "crash", ranks=3)
    go.touch()
    running.wait_for_line(r"epop: plain: element 0 'main' \(EP\), iteration \d+, rank 1 of 3: SIGSEGV ", stream="err")
    assert running.wait().status != 0


def test_executable_in_a_later_world(space, executable):
    go = space.directory / "go"
    running = start(space, executable, go, "none", "crash", ranks=3)
    space.resize(2)
    go.touch()
    running.wait_for_line(r"iteration \d+, rank 1 of 2: SIGSEGV ", stream="err")
    assert running.wait().status != 0


def test_executable_that_has_left(space, executable):
    (space.directory / "go.left").touch()
    running = start(space, executable, space.directory / "go", ranks=3)
    space.epopctl("resize", 2)
    running.wait_for_line(r"iteration \d+, process 2, which has left the world: SIGSEGV ", stream="err")
    space.epopctl("stop", "--force")
    running.wait()


@joining.needed
def test_executable_that_has_not_joined(space, executable):
    (space.directory / "go.joining").touch()
    running = start(space, executable, space.directory / "go", ranks=2)
    assert space.epopctl("resize", 3, "--wait").status != DONE
    running.wait_for_line("iteration 0, process 2, which has not joined yet: SIGSEGV ", stream="err")
    space.stop(running)
