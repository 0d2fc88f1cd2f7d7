"""What the tests of the join backend share."""

import os
import select
import subprocess

import pytest

import job

# The ledger's arguments for a run that lasts until it is stopped.
ENDLESS = ("iterations=100000000", "work=500", "elements=10000")


def _can_join():
    """Tried, as --backend auto does."""
    done = subprocess.run([job.MPIEXEC, "-n", "1", str(job.BUILD / "bin/epop"), "--backend", "join",
                           job.program("rigid")], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode == 0, done.stderr


WORKS, _why = _can_join()
needed = pytest.mark.skipif(not WORKS, reason=f"no join here: {_why.strip()}")


def wait_for_end_of(pid, limit=10):
    """Waits until the process has ended, even if nobody has asked for its exit status yet."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], limit)[0], f"{pid} still runs"
    finally:
        os.close(descriptor)
