"""Signals that the program waits for are the program's: no thread of epop takes them."""

import os
import signal

import job
import pytest

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
