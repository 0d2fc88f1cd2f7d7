"""Programs that pack what they describe: by their pack block in windows and checkpoints of every kind; and what is said of one
that packs in its windows alone."""

import signal

import executables
import job
import pytest

PACKED = job.test_program("packed")
ITSELF = {"EPOP_TEST_PACKED": "itself"}
NOTE = "epop: note: described items 'atoms' is empty in this checkpoint, and was not before; "


def start(space, *arguments, options=(), ranks=4, **how):
    running = space.start_epop("--backend", "pool", "--checkpoint-dir", space.directory, *options, PACKED, space.directory / "end",
                               *arguments, ranks=ranks, **how)
    space.wait_until_running(running)
    space.wait_until_all_are_here()
    return running


def ctl(space, *words, status=0):
    result = space.epopctl(*words)
    assert result.status == status, result
    return result


def end(space, running, ranks):
    (space.directory / "end").touch()
    result = running.wait()
    assert result.status == 0 and result.out == f"1000 atoms right on {ranks} ranks\n", result
    return result


def files(space):
    return sorted(space.directory.glob("*.h5"))


@pytest.mark.parametrize("options", [(), ("--checkpoint-async",), ("--driver", "debug")], ids=["file", "async", "debug"])
def test_resized_saved_and_restarted(space, options):
    running = start(space, options=["--start", "2", *options])
    for size in 4, 1, 3:
        ctl(space, "resize", size, "--wait")
        ctl(space, "checkpoint", "--wait")
    result = end(space, running, 3)
    assert result.err == "" and len(files(space)) > 1, result
    for file in files(space):
        again = space.epop("--backend", "pool", "--restart", file, PACKED, space.directory / "end", ranks=2)
        assert (again.status, again.out, again.err) == (0, "1000 atoms right on 2 ranks\n", ""), again


def test_saved_in_memory(space):
    """The process of rank 1 dies; from the copy in memory all goes on."""
    running = space.start_epop("--recover", 1, "-n", 2, "--checkpoint-memory", "0.1", PACKED, space.directory / "end")
    space.wait_until_running(running)
    status = space.wait_for_status(lambda status: "checkpoint" in status, running=running)
    pid = next(one["pid"] for one in status["processes"] if one["rank"] == 1)
    job.send_signal(pid, signal.SIGKILL)
    running.wait_for_line(r"epop: recovered \(1 of 1\) on 2 ranks from checkpoint \d+ in memory", stream="err")
    (space.directory / "end").touch()
    result = running.wait()
    assert result.status == 0 and "1000 atoms right on 2 ranks\n" in result.out, result


def test_packed_in_windows_alone(space):
    """Resizes are right, and the checkpoint has nothing: that is said once."""
    running = start(space, options=["--start", "2"], env=ITSELF)
    ctl(space, "resize", "3", "--wait")
    ctl(space, "checkpoint", "--wait")
    ctl(space, "checkpoint", "--wait")
    result = end(space, running, 3)
    assert result.err.count(NOTE) == result.err.count("\n") == 1, result


def test_pack_fails_in_a_checkpoint(space):
    """There is none, and the job goes on."""
    running = start(space, "fault=7", ranks=2)
    said = ctl(space, "checkpoint", "--wait", status=1)
    assert "rank 0: its pack block returned 7" in said.err, said
    end(space, running, 2)
    assert not files(space)


def test_pack_fails_in_a_window(space):
    running = start(space, "fault=7", options=["--start", "2"])
    space.epopctl("resize", "3", "--wait")
    result = running.wait()
    assert result.status != 0 and "epop: the pack block returned 7 on rank 0\n" in result.err, result
    assert "its adapt block returned 7" in result.err, result


def test_check_names_the_block(space):
    result = space.epop("--driver", "check", PACKED)
    assert "blocks of the program: describe pack rebuild release\n" in result.out, result


def test_executable(space, tmp_path):
    binary = executables.compile_c(executables.source("adapt_packed"), tmp_path / "packed", *executables.LINKED)
    places = {"EPOP_CHECKPOINT_DIR": space.directory}
    running = executables.start(space, binary, space.directory / "end", ranks=3, env=places)
    ctl(space, "checkpoint", "--wait")
    space.resize(2)
    ctl(space, "checkpoint", "--wait")
    end(space, running, 2)
    for file in files(space):
        again = space.start([job.MPIEXEC, "-n", 3, binary, space.directory / "end"], env={"EPOP_RESTART": file}).wait()
        assert (again.status, again.out, again.err) == (0, "1000 atoms right on 3 ranks\n", ""), again
