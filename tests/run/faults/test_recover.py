"""epop --recover: a job that dies by a fault is started again; one that ends by itself, or is told to, is not."""

import contextlib
import json
import os
import pathlib
import re
import signal
import time

import executables
import job
import joining
import pytest
from schemas import validate

DIED = r"epop: recovered \((\d+) of (\d+)\) on (\d+) ranks? from (.*); lost: (\d+) iterations?, ([\d.]+) s; " \
       r"it stood still for ([\d.]+) s \((.*)\)"
RIGHT = "100 iterations, sum 4950"
ENDLESS = "iterations=1000000"


@pytest.fixture(name="started")
def fixture_started(space):
    """Starts a job of 2 under --recover; afterwards nothing of it may be in shared memory."""
    places = set()

    def start(*arguments, times=2, ranks=2, program=job.test_program("dies"), options=(), **how):
        running = space.start_epop("--recover", times, "-n", ranks, *options, program, *arguments, limit=60, **how)
        job.wait_for(lambda: named(space, "mpiexec.hydra") or not running.running(), pause=0)
        places.add(memory_of(space))
        return running
    yield start
    left = [path for path in places if path and path.exists()]
    assert not left, left


def recoveries(result):
    return [(int(match[1]), match[4]) for match in re.finditer(DIED, result.err)]


def named(space, name, **environment):
    """The processes of that name, which have these in their environment."""
    wanted = {f"{key}={value}".encode() for key, value in environment.items()}
    found = []
    for pid in space.processes():
        with contextlib.suppress(OSError):  # it has ended by now
            if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name and \
                    wanted <= set(pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")):
                found.append(pid)
    return found


def await_init(running, times=1):
    """Both ranks have begun, so often."""
    for rank in (0, 1):
        start = 0
        for _ in range(times):
            _, start = running.wait_for_line(f"init new rank {rank}", start=start)


def victims(space, what):
    if what == "mpiexec":
        return named(space, "mpiexec.hydra")
    if what == "proxy":
        return named(space, "hydra_pmi_proxy")
    return named(space, "epop", PMI_RANK=what)


# ---- Faults

def test_without_a_fault(started):
    result = started().wait()
    assert result.status == 0 and RIGHT in result.out and recoveries(result) == [], result


@pytest.mark.parametrize("what", ["1", "0", "mpiexec", "proxy"])
def test_killed(space, started, what):
    """Found dead within 2 s, and running again 2 s later."""
    running = started(ENDLESS)
    await_init(running)
    killed = time.monotonic()
    for pid in victims(space, what):
        os.kill(pid, signal.SIGKILL)
    match, _ = running.wait_for_line(DIED, stream="err")
    runs = time.monotonic()
    assert match[1] == "1" and match[4] == "the beginning", match[0]
    assert space.in_time(float(match[7]), 2), match[0]
    assert space.in_time(runs - killed - float(match[7]), 2), match[0]
    await_init(running, 2)
    running.signal(signal.SIGTERM)
    result = running.wait()
    assert result.status == 0 and len(recoveries(result)) == 1, result


@pytest.mark.parametrize("what", ["1", "0", "mpiexec"])
def test_killed_before_it_has_begun(space, started, what):
    """As soon as there is such a process; the job takes long enough to be met."""
    running = started("iterations=1000")
    for pid in job.wait_for(lambda: victims(space, what), 30, running=running, pause=0):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    result = running.wait()
    assert result.status == 0 and "1000 iterations, sum 499500" in result.out, result
    assert recoveries(result) == [(1, "the beginning")], result


@pytest.mark.parametrize("how, rank", [("kill", 1), ("kill", 0), ("segv", 1)])
def test_ends_as_it_would_have(space, started, how, rank):
    """Once; the second time it goes through."""
    result = started(f"how={how}", f"rank={rank}", f"once={space.directory}/was").wait()
    assert result.status == 0 and RIGHT in result.out, result
    assert recoveries(result) == [(1, "the beginning")], result


def test_as_often_as_it_may(started):
    result = started("how=kill", times=2).wait()
    assert result.status != 0 and len(recoveries(result)) == 2, result
    assert "started again 2 times, which is all that --recover 2 allows" in result.err, result


def test_killed_while_it_is_started_again(space, started):
    """mpiexec is killed before the new ranks are there."""
    running = started(ENDLESS, times=3)
    await_init(running)
    first = victims(space, "mpiexec")
    os.kill(first[0], signal.SIGKILL)
    second = job.wait_for(lambda: [pid for pid in victims(space, "mpiexec") if pid not in first], 30, running=running, pause=0)
    with contextlib.suppress(ProcessLookupError):
        os.kill(second[0], signal.SIGKILL)
    running.wait_for_line(r"epop: recovered \([23] of 3\)", stream="err")
    await_init(running, 2)
    running.signal(signal.SIGTERM)
    assert running.wait().status == 0


# ---- With what a checkpoint had

FIVE = job.program("five")
MANY = 1000000  # steps, until it is stopped


def five(started, elements, steps, memory="0.1", directory=None):
    """Steps of a millisecond at least, each of which looks whether all before it is there: or the status is 1."""
    options = ("--checkpoint-memory", memory) if memory else ()
    if directory:
        options += ("--checkpoint-dir", directory)
    return started(elements, steps, program=FIVE, options=options)


def memory_of(space):
    """Where the job's checkpoints in memory lie on this host."""
    for pid in space.processes():
        with contextlib.suppress(OSError, KeyError):
            words = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
            return pathlib.Path(dict(word.split("=", 1) for word in words if "=" in word)["EPOP_MEMORY"])
    return None


def await_saved(space, running):
    """All ranks have their part of a checkpoint, which is not of the beginning."""
    space.wait_for_status(lambda status: status.get("checkpoint", {}).get("level") == "memory" and status["checkpoint"]["iteration"] > 0,
                          running=running)


def await_part(space, running):
    """Rank 1 is writing its part of a checkpoint."""
    job.wait_for(lambda: (place := memory_of(space)) and list(place.glob("[0-9]*-1-2.part")), 30, running=running, pause=0)


def recovered(space, running):
    """What it goes on from after its only fault; then it is stopped."""
    match, _ = running.wait_for_line(DIED, stream="err")
    result = space.stop(running)
    assert len(recoveries(result)) == 1, result
    return match[4]


@pytest.mark.parametrize("what", ["1", "0", "mpiexec"])
def test_goes_on_from_memory(space, started, what):
    running = five(started, 1000, MANY)
    await_saved(space, running)
    os.kill(victims(space, what)[0], signal.SIGKILL)
    assert re.fullmatch(r"checkpoint \d+ in memory", recovered(space, running))
    assert int(re.findall(r"five: from step (\d+) on 2 ranks", running.err)[-1]) > 0, running.err


def test_killed_while_it_is_saved(space, started):
    """Half of a checkpoint is there: it goes on from the one before, or from the beginning."""
    running = five(started, 2000000, MANY, memory="0.05")
    await_part(space, running)
    os.kill(victims(space, "1")[0], signal.SIGKILL)
    assert recovered(space, running)


SAVED, ELEMENTS = job.test_program("saved"), 2000
FEW = 8 * (ELEMENTS + 11 * 13 + 11)  # bytes of what changes: blocks, a matrix, a table
ALL = FEW + 4 * ELEMENTS             # and of what is constant in a visit


def test_what_is_constant_is_saved_once(space, started):
    """At each size, and in each visit."""
    on = space.directory / "on"
    running = started(f"n={ELEMENTS}", f"steps={MANY}", f"until={on}", ranks=3, program=SAVED,
                      options=("--start", "2", "--checkpoint-memory", "0.02"))
    space.wait_until_running(running)
    watch = space.start_epopctl("watch", "--json")

    def bytes_of_next(start):
        match, end = watch.wait_for_line(r'"event":"checkpointed".*"bytes":(\d+)', start=start)
        return int(match[1]), end

    assert bytes_of_next(0)[0] in (ALL, FEW)
    space.resize(3)
    _, at = watch.wait_for_line('"event":"committed"')
    for expected in (ALL, FEW, FEW):
        told, at = bytes_of_next(at)
        assert told == expected, watch.out
    on.touch()
    _, at = watch.wait_for_line(f'"bytes":{ALL}\\b', start=at)
    assert bytes_of_next(at)[0] == FEW, watch.out
    space.stop(running)


def test_what_is_constant_comes_back(space, started):
    """From checkpoints that have it by a link, in two visits, between which it changes: the sum at the end is that without faults."""
    arguments = (f"n={ELEMENTS}", "steps=1000")
    alone = space.epop(SAVED, *arguments, "nap=0", ranks=2)
    running = started(*arguments, "nap=1000", times=3, program=SAVED, options=("--checkpoint-memory", "0.02"))
    start = 0
    for visit in (1, 4):
        space.wait_for_status(lambda status, visit=visit: (status.get("element") or {}).get("visit") == visit and
                              (status.get("checkpoint") or {}).get("bytes") == FEW, running=running)
        os.kill(victims(space, "1")[0], signal.SIGKILL)
        match, start = running.wait_for_line(DIED, stream="err", start=start)
        assert "in memory" in match[4], match[0]
    result = running.wait()
    assert result.status == 0 and result.out.splitlines()[-1] == alone.out.splitlines()[-1], (result, alone)


def flip(path):
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        byte = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([byte[0] ^ 0x10]))


@pytest.mark.parametrize("damage", [flip, lambda path: os.truncate(path, os.path.getsize(path) - 1)], ids=["flipped", "cut"])
@pytest.mark.parametrize("file", ["0", "head"])
def test_memory_is_damaged(space, started, damage, file):
    """Every checkpoint that there is, while both ranks stand still and so none comes or goes: one line, and it begins anew."""
    running = five(started, 1000, MANY)
    await_saved(space, running)
    ranks = [*victims(space, "1"), *victims(space, "0")]
    for rank in ranks:
        job.send_signal(rank, signal.SIGSTOP)
    for part in memory_of(space).glob("[0-9]*-0-2"):
        damage(part / file)
    for rank in ranks:
        with contextlib.suppress(ProcessLookupError):  # mpiexec has ended it
            os.kill(rank, signal.SIGKILL)
    assert recovered(space, running) == "the beginning"
    assert re.search(r"epop: note: checkpoint \d+ in memory is damaged: .*-0-2.*; another one is looked for", running.err), running.err


def test_a_file_is_newer(space, started):
    """The one that was made in memory is older than the one in the file."""
    running = five(started, 1000, MANY, memory="1000", directory=space.directory)
    space.wait_until_running(running)
    assert space.epopctl("checkpoint", "--wait").status == 0
    os.kill(victims(space, "1")[0], signal.SIGKILL)
    assert recovered(space, running) == "checkpoint 1 in a file"


def test_other_runs_of_the_program_do_not_count(space, started):
    """A file that was there before belongs to another run."""
    before = five(started, 1000, MANY, memory=None, directory=space.directory)
    space.wait_until_running(before)
    assert space.epopctl("checkpoint", "--wait").status == 0 and space.epopctl("stop", "--wait").status == 0
    assert before.wait().status == 0
    running = five(started, 1000, MANY, memory=None, directory=space.directory)
    space.wait_until_running(running)
    os.kill(victims(space, "1")[0], signal.SIGKILL)
    match, _ = running.wait_for_line(DIED, stream="err")
    assert match[4] == "the beginning", match[0]
    space.stop(running)


def test_memory_without_a_supervisor(space):
    result = space.epop("--checkpoint-memory", "1", FIVE, 1000, 10, ranks=2)
    assert result.status == 0 and "--checkpoint-memory does nothing here" in result.err, result


# ---- No faults

OWN = {"error": (1, "returned 43"), "exit": (1, "called exit(3)"), "_exit": (4, "called _exit(4)"), "abort": (5, "")}


@pytest.mark.parametrize("how, rank", [("error", 1), ("exit", 0), ("_exit", 0), ("_exit", 1), ("abort", 1)])
def test_an_error_of_the_program(started, how, rank):
    result = started(f"how={how}", f"rank={rank}").wait()
    status, text = OWN[how]
    assert result.status == status and text in result.err and recoveries(result) == [], result
    assert len(re.findall("init new rank 0", result.out)) == 1, result


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end(started, number):
    running = started(ENDLESS)
    await_init(running)
    running.signal(number)
    result = running.wait()
    assert recoveries(result) == [], result
    assert (result.status == 0) == (number == signal.SIGTERM), result


@pytest.mark.parametrize("how", [["stop"], ["stop", "--force"]])
def test_stopped(space, started, how):
    running = started(ENDLESS)
    await_init(running)
    assert space.epopctl(*how).status == 0
    result = running.wait()
    assert recoveries(result) == [] and (result.status == 0) == (len(how) == 1), result


def test_what_cannot_be_loaded(started):
    result = started(program="./no_such_program.so").wait()
    assert result.status == 2 and recoveries(result) == [], result


# ---- Around it

def test_the_supervisor_is_killed(space, started):
    """What it started is told to stop."""
    running = started(ENDLESS)
    await_init(running)
    running.signal(signal.SIGKILL)
    assert running.wait().status == -signal.SIGKILL
    for pid in space.processes():
        joining.wait_for_end_of(pid)
    assert started().wait().status == 0  # which removes what that one could not


def test_under_a_launcher_it_does_nothing(space):
    result = space.epop("--recover", 2, job.test_program("dies"), "how=error", ranks=2)
    assert result.status == 1 and "--recover does nothing under a launcher" in result.err, result


@pytest.mark.parametrize("memory", ["0.02", None])
def test_an_executable(space, started, memory):
    """Started by mpiexec without epop. Its first probe behind the fault says so, once on each rank."""
    program = executables.compile_c(executables.source("adapt_fault"), space.directory / "fault", *executables.LINKED)
    running = started(program=program, options=("--checkpoint-memory", memory) if memory else ())
    if memory:
        await_saved(space, running)
    else:
        space.wait_until_running(running)
    os.kill(named(space, "fault", PMI_RANK=1)[0], signal.SIGKILL)
    result = running.wait()
    told = sorted(re.findall(r"rank (\d): fault (\d) before step (\d+)", result.out))
    assert result.status == 0 and [one[:2] for one in told] == [("0", "1"), ("1", "1")], result
    steps = {int(step) for _, _, step in told}
    assert len(steps) == 1 and (memory or steps == {0}), result


@pytest.mark.parametrize("number, rank, failed", [(signal.SIGSEGV, 1, "1 failed: 1"), (signal.SIGSEGV, 0, "1 failed: 0"), (signal.SIGKILL, 0, "0 failed:")])
def test_the_first_probe_tells_who_died(space, started, number, rank, failed):
    """By the published probe that has room for them; once, on each rank. Nobody knows what became of process 0 if it had no time to say it."""
    program = executables.compile_c(executables.source("probe_fault"), space.directory / "fault", *executables.LINKED)
    running = started(program=program, ranks=3)
    space.wait_until_running(running)
    os.kill(named(space, "fault", PMI_RANK=rank)[0], number)
    result = running.wait()
    told = re.findall(r"^rank (\d): (.*)$", result.out, flags=re.M)
    for each in "012":
        assert [text for who, text in told if who == each] == [f"pending 2, status 4, {failed}", *2 * ["pending 0, status 4, 0 failed:"]], result
    assert result.status == 0 and len(recoveries(result)) == 1, result


@pytest.mark.parametrize("option, behind", [("--checkpoint-async", True), ("--checkpoint-keep=2", None)])
def test_an_executable_has_the_options_for_checkpoints(space, started, option, behind):
    """Which epop hands on, as mpiexec starts it without epop."""
    saved = space.directory / "saved"
    running = started("1000", "1000000000", program=job.BUILD / "plain/heat_adapt", options=(option, "--checkpoint-dir", saved))
    space.wait_until_running(running)
    assert space.epopctl("checkpoint", "--wait").status == 0
    told = space.status()["checkpoint"]
    assert told.get("behind") is behind and pathlib.Path(told["path"]).parent == saved, told
    space.stop(running)


def test_profile_and_trace(space, started):
    """Those of the second start list what was before it."""
    outputs = ("--driver", "profile,trace", "--output", space.directory / "profile.json", "--trace-output", space.directory / "trace.json")
    running = started(1000, MANY, program=FIVE, options=("--checkpoint-memory", "0.1", *outputs))
    await_saved(space, running)
    os.kill(victims(space, "1")[0], signal.SIGKILL)
    assert "in memory" in recovered(space, running)
    result = running.wait()
    profile, trace = (validate(name, json.loads((space.directory / f"{name}.json").read_text())) for name in ("profile", "trace"))
    assert profile["recoveries"] == trace["otherData"]["recoveries"] and len(profile["recoveries"]) == 1
    it = profile["recoveries"][0]
    assert it["from"] == "memory" and it["time"] < profile["started"] < it["time"] + it["seconds"], profile
    assert [event["name"] for event in trace["traceEvents"] if event["name"].startswith("recovered")] == [f"recovered from memory {it['number']}"]
    assert re.search(rf"^memory {it['number']} +2 +{it['iterations']} .*{re.escape(it['reason'][:40])}", result.err, flags=re.M), result
