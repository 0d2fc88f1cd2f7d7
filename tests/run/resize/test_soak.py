"""A short soak (tests/soak.py, `make soak` for a long one) with what this MPI can do."""

import subprocess
import sys

import pytest

import job
import joining

SOAK = job.ROOT / "tests/soak.py"
SOAK_RECOVER = job.ROOT / "tests/soak_recover.py"
SOAK_LARGE = job.ROOT / "tests/soak_large.py"


LIMIT = 600  # seconds, of what takes ten to sixty on a quiet machine


def soak(*arguments, script=SOAK):
    running = subprocess.Popen([sys.executable, "-B", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True)
    try:
        out, _ = running.communicate(timeout=LIMIT)
    finally:
        running.terminate()  # then it ends its jobs, too
        running.wait(LIMIT)
    if "no namespaces here" in out:
        pytest.skip(out.strip())
    assert running.returncode == 0 and "all right" in out, out


@joining.needed
@pytest.mark.parametrize("backend", ["join", "spawn"])
@pytest.mark.parametrize("program", ["ledger", "gauss"])
def test_processes_start_and_end(program, backend):
    soak("--backend", backend, "--resizes", "20", "--most", "6", "--program", program)


@joining.needed
@pytest.mark.parametrize("program", ["ledger", "gauss"])
def test_processes_park(program):
    soak("--options=--leave park", "--resizes", "20", "--most", "6", "--program", program)


@joining.needed
@pytest.mark.parametrize("ways", ["", "--spawn-strategy single --spawn-async"], ids=["plain", "single-async"])
@pytest.mark.parametrize("program", ["ledger", "gauss", "cannon"])
def test_baseline(program, ways):
    """All ranks are replaced ten times."""
    soak("--backend", "spawn", f"--options=--spawn-method baseline {ways}", "--resizes", "10", "--most", "6", "--program", program)


@pytest.mark.parametrize("program", ["ledger", "gauss"])
def test_pool(program):
    soak("--backend", "pool", "--resizes", "20", "--most", "3", "--program", program)


@joining.needed
def test_many_ranks():
    soak("--starts", "1", "--ranks", "128", "--growths", "1", "--sizes", "64,32", script=SOAK_LARGE)


@joining.needed
@pytest.mark.parametrize("fault, mode", [("pause epopctl", ""), ("pause rank 0", ""), ("pause rank", "--no-ahead"), ("pause rank 0", "--no-ahead"),
                                         ("pause rank", "--leave park"), ("pause rank 0", "--leave park")])
def test_faults(fault, mode):
    """Those that change nothing, wherever they strike."""
    soak("--faults", "--only", fault, "--resizes", "5", "--most", "4", "--seed", "2", "--program", "ledger", f"--options={mode}")


def test_a_soak_that_finds_something(tmp_path):
    """The control case: a launcher that fails."""
    broken = tmp_path / "mpiexec"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    done = subprocess.run(["env", f"MPIEXEC={broken}", sys.executable, "-B", SOAK, "--resizes", "1"],
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 1 and "FAILED, seed" in done.stdout, done.stdout


@joining.needed
@pytest.mark.parametrize("program, site", [("gauss", "here"), ("ledger", "hosts")])
def test_recover(program, site):
    """Something is killed three times, among resizes."""
    soak("--program", program, "--site", site, "--kills", "3", "--seed", "1", script=SOAK_RECOVER)
