"""A short soak (tests/soak.py, `make soak` for a long one) with what this MPI can do."""

import subprocess
import sys

import pytest

import job
import joining

SOAK = job.ROOT / "tests/soak.py"


def soak(*arguments, limit):
    done = subprocess.run([sys.executable, "-B", SOAK, *arguments], capture_output=True, text=True, timeout=limit,
                          check=False)
    assert done.returncode == 0 and "all right" in done.stdout, done.stdout + done.stderr


@joining.needed
@pytest.mark.parametrize("backend", ["join", "spawn"])
@pytest.mark.parametrize("program", ["ledger", "gauss"])
def test_processes_start_and_end(program, backend):
    soak("--backend", backend, "--resizes", "20", "--most", "6", "--program", program, limit=90)


@joining.needed
@pytest.mark.parametrize("program", ["ledger", "gauss"])
def test_processes_park(program):
    soak("--options=--leave park", "--resizes", "20", "--most", "6", "--program", program, limit=90)


@joining.needed
@pytest.mark.parametrize("ways", ["", "--spawn-strategy single --spawn-async"], ids=["plain", "single-async"])
@pytest.mark.parametrize("program", ["ledger", "gauss", "cannon"])
def test_baseline(program, ways):
    """All ranks are replaced ten times."""
    soak("--backend", "spawn", f"--options=--spawn-method baseline {ways}", "--resizes", "10", "--most", "6",
         "--program", program, limit=240)


@pytest.mark.parametrize("program", ["ledger", "gauss"])
def test_pool(program):
    soak("--backend", "pool", "--resizes", "20", "--most", "3", "--program", program, limit=60)


def test_a_soak_that_finds_something(tmp_path):
    """The control case: a launcher that fails."""
    broken = tmp_path / "mpiexec"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    done = subprocess.run(["env", f"MPIEXEC={broken}", sys.executable, "-B", SOAK, "--resizes", "1"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "FAILED, seed" in done.stdout, done.stdout
