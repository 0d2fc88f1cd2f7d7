"""One elastic loop after the other, until there are END.1 and END.2: two_loops.py END"""

import os
import sys

import epop
from mpi4py import MPI

world = MPI.COMM_WORLD
seen = epop.Values("seen", first=0, second=0)
for step in epop.elastic(10 ** 9):
    seen.first += 1
    if world.bcast(os.path.exists(sys.argv[1] + ".1"), 0):
        break
if world.rank == 0 and epop.size() > 0 and epop.is_new():
    print("the second loop begins")
for step in epop.elastic(range(0, 10 ** 9, 5)):
    if step != 5 * seen.second:
        print("WRONG: step", step, seen.second)
    seen.second += 1
    if world.bcast(os.path.exists(sys.argv[1] + ".2"), 0):
        break
print(f"rank {world.rank} of {world.size} ends")
