"""Results that cannot be written: told before the program runs where that can be known, else by the status that the job ends
with, on every rank."""

import contextlib
import os
import shutil
import signal

import pytest

import job
import joining

SERIAL, WINDOW = job.program("serial"), job.test_program("scenario_window")
OPTION = {"profile": "--output", "trace": "--trace-output"}

each_driver = pytest.mark.parametrize("driver", OPTION)


def options(driver, path):
    return ("--quiet", "--driver", driver, OPTION[driver], path)


def script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def noting(space):
    """An epop that notes with which status each process of the launch ended."""
    return script(space.directory / "epop", f'{job.BUILD}/bin/epop "$@"\nstatus=$?\n'
                  f'echo $status >{space.directory}/status.$PMI_RANK\nexit $status\n')


def noted(space):
    return [path.read_text() for path in sorted(space.directory.glob("status.*"))]


def complaints(result):
    """What epop said; the table of a profile and the line of a trace that was written are none."""
    return [line for line in result.err.splitlines() if line.startswith("epop: ") and " MB, " not in line]


def start(space, driver, *arguments, backend, ranks):
    """Running, with its result in a directory of its own."""
    where = space.directory / "results"
    where.mkdir()
    running = space.start_epop("--backend", backend, "--start", "2", "--no-pmix", *options(driver, where / "r.json"), WINDOW, "work=500",
                               *arguments, ranks=ranks, epop=noting(space))
    running.wait_for_line("init new rank 0 of") # by then drivers have begun
    space.wait_until_all_are_here()
    return running, where


def collectors(space):
    """Processes that write a trace; others may end while they are looked at."""
    return [pid for pid in space.processes() if "--collect-trace" in space.command_line(pid)]


def ends(space, running, gone):
    result = space.stop(running, status=1 if gone else 0)
    if gone:
        assert len(complaints(result)) == 1 and "No such file" in result.err and "r.json" in result.err, result
    else:
        assert complaints(result) == [] and (space.directory / "results/r.json").stat().st_size > 1000, result
    return result


@each_driver
@pytest.mark.parametrize("gone", [True, False])
def test_every_rank_ends_with_status_1(space, driver, gone):
    """Those of the world, one that stands by, and one that has left."""
    running, where = start(space, driver, backend="pool", ranks=3)
    space.resize(1)
    if gone:
        shutil.rmtree(where)
    ends(space, running, gone)
    assert noted(space) == ["1\n" if gone else "0\n"] * 3
    assert not list((space.directory / space.runtime / "epop").iterdir())


@joining.needed
@each_driver
@pytest.mark.parametrize("gone", [True, False])
def test_launches_that_joined_end_with_it(space, driver, gone):
    launcher = joining.Launcher(space)
    launcher.spoil(f'{job.MPIEXEC} "$@"; status=$?; echo $status >{space.directory}/launch; exit $status')
    os.environ["EPOP_MPIEXEC"] = str(launcher.script)
    try:
        running, where = start(space, driver, backend="join", ranks=2)
    finally:
        del os.environ["EPOP_MPIEXEC"]
    space.resize(4)
    if gone:
        shutil.rmtree(where)
    ends(space, running, gone)
    assert noted(space) == ["1\n" if gone else "0\n"] * 2
    assert (space.directory / "launch").read_text() == ("1\n" if gone else "0\n")


@pytest.mark.parametrize("ranks", [None, 2])
def test_a_full_device(space, ranks):
    program = (SERIAL, "9") if ranks is None else (WINDOW, "iterations=5")
    result = space.epop(*options("profile", "/dev/full"), *program, ranks=ranks)
    assert result.status == 1, result
    assert complaints(result) == ["epop: driver 'profile': /dev/full cannot be written: No space left on device"]
    assert space.epop(*options("profile", "/dev/null"), *program, ranks=ranks).status == 0


def test_checkpoints_that_cannot_be_written_are_told_once(space):
    running = space.start_epop(*options("profile", "/dev/full"), "--checkpoint", "0.02", WINDOW, "work=500", ranks=2)
    running.wait_for_line("/dev/full cannot be written", stream="err")
    space.wait_until_all_are_here()
    result = space.stop(running, status=1)
    assert len(complaints(result)) == 2, result


@pytest.mark.parametrize("limit", [6, None])
def test_a_limit_on_the_size_of_files(space, limit):
    """RLIMIT_FSIZE in MiB: too little for the trace, but not for what else the job has in files."""
    limited = script(space.directory / "limited", f'{f"ulimit -f {limit << 11}" if limit else ""}\n'
                     f'exec {job.BUILD}/bin/epop "$@"\n')
    result = space.epop(*options("trace", "r.json"), "--trace-mpi", "0", WINDOW, "iterations=100000",
                        "work=0", ranks=3, epop=limited)
    assert result.status == (1 if limit else 0), result
    assert complaints(result) == (["epop: trace: cannot write r.json: File too large"] if limit else [])
    assert (space.directory / "r.json").stat().st_size > (6 << 20) or limit
    assert not list(space.directory.glob("r.json.*"))


def test_a_trace_whose_writer_was_killed(space):
    running, where = start(space, "trace", backend="pool", ranks=2)
    collector = collectors(space)
    assert len(collector) == 1
    os.kill(collector[0], signal.SIGKILL)
    result = space.stop(running, status=1)
    assert noted(space) == ["1\n"] * 2, result
    assert complaints(result) == ["epop: trace: the process that writes it was killed: there is no trace"]
    assert not list((space.directory / space.runtime / "epop").iterdir())


# ---- Told at the start ----


@each_driver
@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("output,why", [("nowhere/r.json", "No such file"), ("a-directory", "directory"), ("/proc/r.json", "")])
def test_before_anything_runs(space, driver, ranks, output, why):
    (space.directory / "a-directory").mkdir()
    program = (SERIAL, "9") if ranks is None else (WINDOW, "iterations=5")
    result = space.epop(*options(driver, output), *program, ranks=ranks)
    assert result.status == 2 and result.out == "" and len(complaints(result)) == 1, result
    assert why in result.err and output in result.err and f"driver '{driver}'" in result.err


# ---- What killed jobs leave behind ----


def kill_at_once(processes):
    for number in signal.SIGSTOP, signal.SIGKILL: # nobody is to see another one go, and end by itself
        for pid in processes:
            with contextlib.suppress(ProcessLookupError): # a helper that has done its work by now
                job.send_signal(pid, number)
    for pid in processes:
        joining.wait_for_end_of(pid)


def kill_all(space, running):
    """A traced job, with all that belongs to it."""
    kill_at_once(space.processes())
    running.wait()


def left(space):
    return sorted(path.name.split(".")[0] for path in (space.directory / space.runtime / "epop").iterdir() if path.is_dir())


def test_files_of_killed_jobs_are_swept_by_the_next_one(space):
    running, _ = start(space, "trace", backend="pool", ranks=2)
    kill_all(space, running)
    assert "work" in left(space)
    result = space.epop(*options("trace", "r.json"), SERIAL, "9")
    assert result.status == 0 and complaints(result) == [] and "work" not in left(space), result


def test_files_of_killed_jobs_are_swept_by_epopctl_and_those_of_others_are_not(space):
    running, where = start(space, "trace", backend="pool", ranks=2)
    kill_all(space, running)
    shutil.rmtree(where)
    running, where = start(space, "trace", backend="pool", ranks=2)
    assert left(space).count("work") == 1 # the second job has seen to it
    collector = collectors(space)
    assert space.epopctl("list").status == 0 and left(space).count("work") == 1
    others = [pid for pid in space.processes() if pid not in collector]
    job.send_signal(collector[0], signal.SIGSTOP)
    kill_at_once(others)
    assert space.epopctl("list").status == 0 and left(space).count("work") == 1 # the collector has it
    os.kill(collector[0], signal.SIGKILL)
    joining.wait_for_end_of(collector[0])
    assert space.epopctl("list").status == 0 and left(space) == []


def test_buffers_that_find_no_room(space):
    limited = script(space.directory / "limited", f'ulimit -f {6 << 11}\nexec {job.BUILD}/bin/epop "$@"\n')
    result = space.epop(*options("trace", "r.json"), "--trace-buffer", "8M", WINDOW, "iterations=5", ranks=1, epop=limited)
    assert result.status == 1 and "1 ranks, 0 windows, 5 iterations" in result.out, result
    assert len(complaints(result)) == 1 and "File too large: there will be no trace" in result.err, result
