"""Probes and windows without a loop of EPOP's, and two loops, one after the other: by_hand.py END"""

import os
import sys

import epop
from mpi4py import MPI

world = MPI.COMM_WORLD
end = sys.argv[1]
first = epop.Values("first", step=0)


def is_there(name):
    return world.bcast(os.path.exists(name), 0)


while True:
    if epop.probe():
        with epop.window() as window:
            sums = window.all.allreduce(1)
        if sums != window.staying + window.leaving + window.joining:
            print("WRONG: who is in the window")
        if window.status == epop.LEAVING:
            print("a process leaves by itself")
            sys.exit()
    first.step += 1
    if is_there(end):
        break
print(f"rank {world.rank} of {world.size} ends")
