"""A Slurm of four nodes for the tests of a file: what tests/slurm/cluster.py makes, with the EPOP tree under test."""

import pathlib
import sys

import job
import joining
import pytest

sys.path.insert(0, str(job.ROOT / "tests/slurm"))

from cluster import Cluster, Unavailable  # noqa: E402

needed = joining.needed  # without processes that join there is nothing that Slurm could give


def made(**how):
    """One with these options (Cluster); the test is skipped where there can be none. The caller closes it."""
    mpich = pathlib.Path(job.MPIEXEC).resolve().parent.parent
    try:
        return Cluster(epop=job.BUILD, mpich=mpich, **how)
    except Unavailable as why:
        pytest.skip(f"no Slurm here: {why}")


@pytest.fixture(scope="module")
def cluster():
    it = made()
    yield it
    it.close()
