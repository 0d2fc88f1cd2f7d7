"""What the tests of the join backend share."""

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
