"""Spawning that fails calls the resize off: the job goes on at its old size, the requester hears why, and the next resize
works. With each way of spawn."""

import shutil

import pytest

import job
import joining
from joining import ENDLESS, each_spawning, end, start
from scenario import Switch

pytestmark = joining.needed


def check_unhurt(space, running):
    """At its old size, and the next resizes work: one that the first ranks make, and one that those after them make.
    Joiners that were called off are on their way out for a moment."""
    status = space.wait_for_status(lambda status: status["element"] and status["state"] == "running" and status["size"] == 2 and all(
        process["state"] == "running" for process in status["processes"]))
    iteration = status["element"]["iteration"]
    space.wait_for_status(lambda status: status["element"]["iteration"] > iteration)
    space.resize(4)
    space.resize(2)
    assert "elements right in" in end(space, running).out


@each_spawning
@pytest.mark.parametrize("faulty", [True, False])
def test_spawn_returns_an_error(space, backend, faulty):
    fault = Switch(space, "fault")
    running = start(space, *ENDLESS, backend=backend, env={"EPOP_TEST_SPAWN_FAILS": fault,
                                                           "LD_PRELOAD": job.test_program("preload_spawn")})
    if faulty:
        fault.on()
        for size in (3, 4):
            assert "could not spawn the joining processes" in space.resize(size, status=1).err
        fault.off()
    check_unhurt(space, running)


@each_spawning
def test_spawn_fails_when_all_have_been_replaced_or_joined(space, backend):
    """The ranks that spawn are not those that started."""
    fault = Switch(space, "fault")
    running = start(space, *ENDLESS, backend=backend, env={"EPOP_TEST_SPAWN_FAILS": fault,
                                                           "LD_PRELOAD": job.test_program("preload_spawn")})
    space.resize(3)
    fault.on()
    assert "could not spawn" in space.resize(4, status=1).err
    fault.off()
    space.resize(4)
    end(space, running)


@each_spawning
def test_program_is_missing(space, backend):
    path, away = space.directory / "ledger.so", space.directory / "away.so"
    shutil.copy(job.program("ledger"), path)
    running = space.start_epop(*backend, path, *ENDLESS, ranks=2)
    space.wait_until_running()
    path.rename(away)
    assert "ledger.so" in space.resize(4, status=1).err
    away.rename(path)
    check_unhurt(space, running)


@each_spawning
def test_epop_is_missing(space, backend):
    """Refused before anything is tried: the process manager would not tell."""
    epop, away = space.directory / "epop", space.directory / "away"
    shutil.copy(job.BUILD / "bin/epop", epop)
    running = space.start_epop(*backend, job.program("ledger"), *ENDLESS, ranks=2, epop=epop,
                               env={"LD_LIBRARY_PATH": job.BUILD / "lib"})
    space.wait_until_running()
    epop.rename(away)
    assert "epop cannot be started: No such file" in space.resize(4, status=1).err
    away.rename(epop)
    check_unhurt(space, running)


def start_to_hang(space, backend):
    return start(space, *ENDLESS, backend=backend, options=("--prepare-timeout", "1", "--finish-timeout", "1"),
                 env={"EPOP_TEST_SPAWN_HANGS": Switch(space, "hang").on(), "LD_PRELOAD": job.test_program("preload_spawn")})


@pytest.mark.parametrize("backend", [joining.SPAWN, joining.BASELINE, joining.BASELINE + joining.SINGLE],
                         ids=["merge", "baseline", "baseline-single"])
def test_spawn_hangs(space, backend):
    """All ranks are in it."""
    running = start_to_hang(space, backend)
    space.epopctl("resize", 4, "--wait")
    result = running.wait()
    assert result.status != 0 and "did not come together for an adaptation in time" in result.err, result


@pytest.mark.parametrize("backend", [backend + joining.ASYNC for backend in (joining.SPAWN, joining.BASELINE)],
                         ids=["merge", "baseline"])
def test_spawn_hangs_beside_the_ranks(space, backend):
    """They go on, and at the end what may come is not waited for longer than is said."""
    running = start_to_hang(space, backend)
    assert "not ready in time" in space.resize(4, status=4).err
    iteration = space.wait_for_status(lambda status: status["size"] == 2)["element"]["iteration"]
    space.wait_for_status(lambda status: status["element"]["iteration"] > iteration)
    assert "elements right in" in end(space, running).out


def slots(space, backend, number):
    running = space.start([job.MPIEXEC, "-usize", str(number), "-n", "2", job.BUILD / "bin/epop", *backend,
                           job.program("ledger"), *ENDLESS])
    space.wait_until_running()
    return running


@pytest.mark.parametrize("backend, needed", [(joining.SPAWN, 4), (joining.BASELINE, 6)], ids=["merge", "baseline"])
def test_slots(space, backend, needed):
    """Baseline needs old and new ones at a time."""
    running = slots(space, backend, needed - 1)
    assert "not enough slots" in space.resize(4, status=1).err
    space.resize(3)
    end(space, running)


@pytest.mark.parametrize("backend, needed", [(joining.SPAWN, 4), (joining.BASELINE, 7)], ids=["merge", "baseline"])
def test_slots_that_suffice(space, backend, needed):
    running = slots(space, backend, needed)
    check_unhurt(space, running)
