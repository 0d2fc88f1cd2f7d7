"""Signals that the program waits for are the program's: no thread of epop takes them. SIGTERM and SIGINT end the job, once
though they come more than once."""

import contextlib
import os
import signal

import job
import pytest
from scenario import Scenario, Switch

ROUNDS = 10


def start(space, options, number):
    it = space.start_epop(*options, job.test_program("scenario_signals"), f"iterations={ROUNDS}", f"signal={number}", ranks=2)
    match, seen = it.wait_for_line(r"^init new rank 0 of 2 in process (\d+)")
    return it, int(match[1])


@pytest.mark.parametrize("options", [[], ["--driver", "profile"], ["--driver", "trace"], ["--driver", "debug"],
                                     ["--watchdog", "60"]], ids=lambda words: words[-1] if words else "run")
@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2], ids=lambda number: number.name)
def test_a_program_that_waits_by_sigwait(space, number, options):
    """Blocked in its own thread alone; in a thread that does not block it, it would be lost or end the job. MPICH has a
    handler for SIGUSR1."""
    it, pid = start(space, options, int(number))
    seen = 0
    for round in range(1, ROUNDS + 1):
        _, seen = it.wait_for_line(rf"^waits {round}$", start=seen)
        os.kill(pid, number)
    result = it.wait()
    assert result.status == 0 and "signal" not in result.err, result


# ---- The end


def all_of(it):
    """mpiexec, its proxy, and the processes of the job: who Slurm signals when it ends a job."""
    pids = [process["pid"] for process in it.wait_until_here()["processes"]]
    return [it.it.pid, job.parent(pids[0]), *pids]


@pytest.mark.parametrize("order", ["from mpiexec on", "from the last rank on"])
@pytest.mark.parametrize("round", range(6))
def test_all_are_told_to_end_at_once(space, order, round):
    """Each process is then told by mpiexec, too: that is one request, and the finalizer runs."""
    it = Scenario(space, "work=5000", start=2, ranks=3)
    for pid in all_of(it)[:: 1 if order == "from mpiexec on" else -1]:
        with contextlib.suppress(ProcessLookupError):  # the job has ended by what the others were told
            os.kill(pid, signal.SIGTERM)
    it.finish(ranks=2, windows=0)


def test_all_are_told_again_later(space):
    """In an iteration that lasts: it ends at once."""
    long = Switch(space, "long").on()
    it = Scenario(space, f"work-waits-while={long}", start=2, ranks=2)
    pids = all_of(it)
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
    it.wait_for_state("stopping")
    job.signal_again(pids[0], signal.SIGTERM)
    result = it.it.wait()
    assert result.status != 0 and "end:" not in result.out, result
    assert result.err.startswith("epop: told to end for a second time (SIGTERM)"), result
