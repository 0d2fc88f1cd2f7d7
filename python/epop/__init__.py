"""EPOP for scripts with mpi4py: jobs whose number of processes changes while they run.

    import epop
    import numpy
    from mpi4py import MPI

    u = epop.Array("u", 1000)
    if epop.is_new():
        u.local[:] = numpy.sin(u.indices)
    for step in epop.elastic(100):
        u.local[:] *= 0.5

`mpiexec -n 2 python3 script.py` is resized by `epopctl resize`. docs/guide/python.md is the guide. This package comes before mpi4py.MPI:
it initializes MPI, and ends it with the script.
"""

from ._job import (JOINING, LEAVING, NEW, RESTARTING, STAYING, Status, balance, checkpoint, elastic, is_new, on_pack, probe, rank, request, size,
                   status, window)
from ._data import Array, Cuts, Grid, Items, Matrix, Partition, Rows, Values, block_cyclic  # behind _job, with which MPI begins
from ._library import Error

__all__ = ["Array", "Cuts", "Error", "Grid", "Items", "JOINING", "LEAVING", "Matrix", "NEW", "Partition", "RESTARTING", "Rows", "STAYING", "Status", "Values",
           "balance", "block_cyclic", "checkpoint", "elastic", "is_new", "on_pack", "probe", "rank", "request", "size", "status", "window"]
