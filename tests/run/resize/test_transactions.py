"""An adaptation happens on every rank or on none: whatever goes wrong on the joiners' side before they are connected,
the job goes on at its old size, the requester hears why, and the next resize works."""

import os
import pathlib
import re
import resource
import shutil
import signal
import tempfile
import time

import pytest

import job
import joining
from joining import JoinScenario
from scenario import DONE, REFUSED, TIMEOUT, Switch

pytestmark = joining.needed


def check_unhurt(it, windows=0):
    """Two ranks still compute, nobody of the joiners is left, and the next resizes work."""
    assert it.size() == 2
    it.resize(4)
    it.resize(2)
    it.wait_for_status(lambda status: len(status["processes"]) == 2)
    it.stop(ranks=2, windows=windows + 2)


def fails(it, *parts, prepare=0):
    """A resize to 4 fails in time, for the reason given. prepare: the time limit that it may run into."""
    begin = time.monotonic()
    result = it.ctl("resize", "4", "--wait", limit=job.EPOPCTL_LIMIT)
    took = time.monotonic() - begin
    assert result.status in (REFUSED, TIMEOUT), f"{result}\n{it.it.out}{it.it.err}"
    assert it.space.in_time(took, 20 + prepare), took
    for part in parts:
        assert part in result.err, result
    return result


# ---- The launcher

LAUNCHER = {
    "fails": ("exit 7", "the launcher of the joining processes ended with status 7"),
    "does nothing": ("exit 0", "the launcher of the joining processes ended with status 0"),
    "hangs": ("exec sleep 100", "not ready in time"),
    "cannot be ended": ("trap '' INT TERM; while :; do sleep 1; done", "not ready in time"),
    "starts one process too few": ("set -- $(echo $* | sed 's/-n 2 /-n 1 /')", "not ready in time"),
    "starts something else": ("exec true", "the launcher of the joining processes ended"),
}


@pytest.mark.parametrize("fault", LAUNCHER)
def test_launcher(space, fault):
    line, reason = LAUNCHER[fault]
    prepare = space.patience(3)
    it = JoinScenario(space, options=("--prepare-timeout", prepare))
    it.launcher.spoil(line)
    fails(it, reason, prepare=prepare)
    it.launcher.repair()
    check_unhurt(it)


def test_launcher_without_a_fault(space):
    """The control case."""
    it = JoinScenario(space, options=("--prepare-timeout", "30"))
    it.launcher.spoil(":")
    it.resize(4)
    it.resize(2)
    check_unhurt(it, windows=2)


def test_too_few_descriptors(space):
    """Where MPI in rank 0's process could not open a connection the job would end."""
    it = JoinScenario(space, options=("--no-pmix",)) # the gateway's connection would come while it counts
    pid = it.wait_until_here()["processes"][0]["pid"]
    used = len(os.listdir(f"/proc/{pid}/fd"))
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 11, hard))
    reason = it.refused("resize", "4", "--wait")
    assert re.fullmatch(rf"rank 0's process may have {used + 11} files and connections open, has \d+, "
                        r"and needs up to 12 more \(ulimit -n\)", reason), reason
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
    check_unhurt(it)


@pytest.mark.parametrize("hard, says", [(300, True), (2000, False)])
def test_a_job_that_may_need_more_connections_than_it_can_have_says_so(space, hard, says):
    result = space.start(["sh", "-c", f'ulimit -n {hard}; exec "$@"', "sh", job.MPIEXEC, "-n", "1", job.BUILD / "bin/epop", "--backend", "join",
                          "--max", "400", job.program("rigid")]).wait()
    line = f"the job may have 400 processes, and this one {hard - 100} connections at most"
    assert result.status == 0 and (line in result.err) == says, result


def test_host_that_cannot_be_reached(space):
    it = JoinScenario(space, options=("--prepare-timeout", space.patience(10)))
    result = it.ctl("resize", "+2", "--hosts", "no-such-host.invalid", "--wait")
    assert result.status in (REFUSED, TIMEOUT), result
    check_unhurt(it)


def joiners_in_init(it, waiting):
    """Their processes, once all are in INIT."""
    start = 0
    pids = []
    for _ in range(2):
        match, start = it.it.wait_for_line(r"joining in process (\d+)", start=start)
        pids.append(int(match[1]))
    assert waiting.running()
    return pids


def test_launcher_killed_while_joiners_start(space):
    slow = Switch(space, "slow").on()
    it = JoinScenario(space, f"join-waits-while={slow}")
    waiting = it.start_ctl("resize", "4", "--wait")
    pids = joiners_in_init(it, waiting)
    os.kill(it.launcher_of(pids[0]), signal.SIGKILL)
    assert waiting.wait().status == REFUSED
    slow.off()
    check_unhurt(it)


# ---- The program


@pytest.fixture(name="own")
def own_program(tmp_path):
    """A program in a file of its own."""
    return pathlib.Path(shutil.copy(job.test_program("scenario_window"), tmp_path / "own.so"))


def replace(path, content):
    """As an installer does: a new file of that name."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(content)
    fresh.rename(path)


PROGRAM = {
    "removed": (None, "own.so"),
    "not a shared object": (b"nothing", "own.so"),
    "built anew": ("changed", "is not like the others"),
}


@pytest.mark.parametrize("fault", PROGRAM)
def test_program_that_cannot_be_loaded_by_joiners(space, own, fault):
    content, reason = PROGRAM[fault]
    good = own.read_bytes()
    it = JoinScenario(space, program=own)
    if content is None:
        own.unlink()
    else:
        replace(own, good + b"\0" if content == "changed" else content)
    fails(it, reason)
    replace(own, good)
    check_unhurt(it)


# ---- INIT


def test_init_fails(space):
    broken = Switch(space, "broken").on()
    it = JoinScenario(space, f"join-fails-while={broken}")
    fails(it, "INIT", "47")
    broken.off()
    check_unhurt(it)


def test_init_hangs(space):
    slow = Switch(space, "slow").on()
    prepare = space.patience(3)
    it = JoinScenario(space, f"join-waits-while={slow}", options=("--prepare-timeout", prepare))
    fails(it, "not ready in time", prepare=prepare)
    slow.off()
    check_unhurt(it)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("who", [0, 1])
def test_joiner_killed_or_stopped_in_init(space, number, who):
    slow = Switch(space, "slow").on()
    it = JoinScenario(space, f"join-waits-while={slow}", options=("--prepare-timeout", space.patience(4)))
    waiting = it.start_ctl("resize", "4", "--wait")
    job.send_signal(joiners_in_init(it, waiting)[who], number)
    result = waiting.wait()
    assert result.status in (REFUSED, TIMEOUT) and "joining process" in result.err, result
    slow.off()
    check_unhurt(it)


@pytest.mark.parametrize("backend", ["join", "spawn"])
def test_program_ends_while_a_resize_is_pending(space, backend):
    """Asked for in the last iteration: with spawn nobody has been started by then."""
    result = space.epop("--backend", backend, job.test_program("scenario_window"), "iterations=20", "ask=end:4:0", ranks=2,
                        limit=40)
    assert result.status == 0 and "end: 2 ranks, 0 windows" in result.out + result.err, result


# ---- Opening the port, waiting, connecting


@pytest.mark.parametrize("fault", ["open:kill:0", "open:exit:0", "open:stop:0"])
def test_joiner_that_does_not_open_its_port(space, fault):
    prepare = space.patience(4)
    it = JoinScenario(space, options=("--prepare-timeout", prepare))
    it.launcher.preload(fault)
    fails(it, "joining process", prepare=prepare)
    it.launcher.repair()
    check_unhurt(it)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("who", [0, 1])
def test_joiner_killed_or_stopped_while_it_waits(space, number, who):
    """Paused, the job cannot come to the target; the joiners are ready and wait."""
    it = JoinScenario(space)
    it.done("pause")
    waiting = it.start_ctl("resize", "4", "--wait")
    it.wait_for_adaptation("prepared")
    job.send_signal(it.pids("joining")[who], number)
    it.done("resume")
    result = waiting.wait()
    assert result.status in (REFUSED, TIMEOUT) and "joining process" in result.err, result
    check_unhurt(it)


def test_launcher_killed_while_joiners_wait(space):
    it = JoinScenario(space)
    it.done("pause")
    waiting = it.start_ctl("resize", "4", "--wait")
    it.wait_for_adaptation("prepared")
    os.kill(it.launcher_of(it.pids("joining")[0]), signal.SIGKILL)
    assert waiting.wait().status == REFUSED
    it.done("resume")
    check_unhurt(it)


@pytest.mark.parametrize("how", [(), ("--no-ahead",)], ids=["ahead", "at the gate"])
@pytest.mark.parametrize("who", [0, 1])
@pytest.mark.parametrize("what", ["kill", "exit", "stop"])
def test_joiner_that_dies_or_stops_when_it_is_called(space, what, who, how):
    """Before connect completes. The ranks communicate meanwhile."""
    it = JoinScenario(space, f"until={space.directory}/nothing", options=how)
    it.launcher.preload(f"accept:{what}:{who}")
    fails(it, "joining process")
    it.launcher.repair()
    check_unhurt(it)


def test_killed_joiners_leave_nothing_in_shared_memory(space):
    """Though MPICH removes a file of theirs only when all have it. Nobody else's is removed."""
    left = space.directory / "left"
    it = JoinScenario(space, f"until={space.directory}/nothing", env={"EPOP_TEST_LEFT": str(left)})
    with tempfile.NamedTemporaryFile(prefix="mpich_shar_tmp", dir="/dev/shm") as others:
        for moment in ("open:leave:0", "accept:leave:0", "open:leave:0", "accept:leave:1"):
            it.launcher.preload(moment)
            fails(it, "joining process")
            path = left.read_text()
            assert path.startswith("/dev/shm/mpich_shar_tmp"), path
            job.wait_for(lambda path=path: not os.path.exists(path))
            left.unlink()
        assert os.path.exists(others.name)
        it.launcher.repair()
        check_unhurt(it)
        assert os.path.exists(others.name)


@pytest.mark.parametrize("call", [*range(2, 38, 4), 37, 1000])
def test_joiner_that_dies_in_the_midst_of_connecting(space, call):
    """While the roots of both sides exchange their tables, in some 40 reads and writes. The last one is the control
    case: it has connected by then."""
    if "ch3:sock" not in space.mpi():
        pytest.skip("the calls are those of ch3:sock")
    it = JoinScenario(space, f"until={space.directory}/nothing")
    it.launcher.preload(f"accept:call{call}:0")
    if call == 1000:
        it.resize(4)
        it.launcher.repair()
        it.resize(2)
        check_unhurt(it, windows=2)
    else:
        fails(it, "joining process")
        it.launcher.repair()
        check_unhurt(it)


@pytest.mark.parametrize("fault", ["accept:late:0", "accept:late:1", "merge:late:0", "accept:kill:7"])
def test_joiner_that_is_only_late(space, fault):
    """The control case, the last one with a fault for a rank that there is not."""
    it = JoinScenario(space)
    it.launcher.preload(fault)
    it.resize(4)
    it.resize(2)
    check_unhurt(it, windows=2)


def test_several_faults_one_after_the_other(space):
    """What failed before leaves nothing behind that the next one meets."""
    broken = Switch(space, "broken").on()
    it = JoinScenario(space, f"join-fails-while={broken}")
    fails(it, "INIT")
    broken.off()
    it.launcher.preload("accept:kill:0")
    fails(it, "joining process")
    it.launcher.spoil("exit 3")
    fails(it, "status 3")
    it.launcher.preload("accept:kill:1")
    fails(it, "joining process")
    it.launcher.repair()
    check_unhurt(it)
    assert space.epopctl("list").status == DONE
