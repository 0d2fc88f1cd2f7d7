"""A Poisson problem by conjugate gradients, with a sparse matrix whose rows are dealt out so that the nonzeros are balanced:

    mpiexec -n 2 python3 cg.py [SIDE [SYSTEMS]]
    epopctl resize 3
"""

import sys

import epop
import numpy
import scipy.sparse
from mpi4py import MPI

world = MPI.COMM_WORLD
side = int(sys.argv[1]) if len(sys.argv) > 1 else 100
systems = int(sys.argv[2]) if len(sys.argv) > 2 else 10
count = side * side
rows = epop.Cuts("rows", count, weights="A")
A = epop.Rows("A", count, layout=rows)
x, r, p = (epop.Array(name, count, layout=rows) for name in "xrp")
state = epop.Values("state", rho=0.0, system=0, iteration=0)


def dot(a, b):
    return world.allreduce(a @ b)


def begin_system():
    x.local[:], r.local[:] = 0, state.system + 1
    p.local[:] = r.local
    state.rho, state.iteration = dot(r.local, r.local), 0


def of_this_world():
    """The matrix of this rank's rows, and how many rows each rank has."""
    global matrix, counts
    starts, columns, values = A.local
    counts = numpy.diff(rows.starts)
    matrix = scipy.sparse.csr_matrix((values, columns, starts), (len(starts) - 1, count))


def everywhere(vector):
    whole = numpy.empty(count)
    world.Allgatherv(vector, (whole, counts))
    return whole


if epop.is_new():
    line = scipy.sparse.diags([-1, 2, -1], [-1, 0, 1], (side, side))
    A.local = scipy.sparse.kronsum(line, line, "csr")[rows.starts[world.rank]:rows.starts[world.rank + 1]]
    begin_system()

for step in epop.elastic(rebuild=of_this_world):
    q = matrix @ everywhere(p.local)
    alpha = state.rho / dot(p.local, q)
    x.local[:] += alpha * p.local
    r.local[:] -= alpha * q
    before, state.rho = state.rho, dot(r.local, r.local)
    p.local[:] = r.local + state.rho / before * p.local
    state.iteration += 1
    if state.rho > 1e-16 * count:
        continue
    total = world.allreduce(x.local.sum())
    if world.rank == 0:
        print(f"system {state.system}: sum {total:.4f} in {state.iteration} iterations, {world.size} processes")
    state.system += 1
    if state.system == systems:
        break
    begin_system()
