"""Heat in a plate, which is cooled at its edges:

    mpiexec -n 2 python3 heat.py [SIDE [STEPS]]
    epopctl resize 4
"""

import sys

import epop
import numpy
from mpi4py import MPI

side = int(sys.argv[1]) if len(sys.argv) > 1 else 200
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
heat = epop.Grid("heat", (side, side))

if epop.is_new():
    rows, columns = (first + numpy.arange(count) for first, count in zip(heat.first, heat.inner.shape))
    heat.inner[...] = 1000 * numpy.outer(rows == side // 2, columns == side // 2)


def report(step):
    total = MPI.COMM_WORLD.reduce(heat.inner.sum())
    if epop.rank() == 0:
        print(f"heat {total:.6f} after {step} steps, {epop.size()} processes")


for step in epop.elastic(steps):
    if step % 1000 == 0:
        report(step)
    heat.exchange()
    u = heat.local
    heat.inner[...] += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])

report(steps)
