"""A loop until the file END is there, whose faults the second argument chooses: plain.py END [FAULT]"""

import atexit
import os
import sys

import epop
from mpi4py import MPI

world = MPI.COMM_WORLD
fault = sys.argv[2] if len(sys.argv) > 2 else ""
counts = epop.Values("counts", steps=0, windows=0)
atexit.register(lambda: print("an exit handler runs"))


def moves(window):
    """What is not described goes through the window's communicators."""
    old = window.all.bcast(counts.steps if window.old_rank == 0 else None, 0)
    sizes = window.staying + window.leaving, window.staying + window.joining
    told = window.before.size if window.old_rank >= 0 else None, window.after.size if window.new_rank >= 0 else None
    if old != counts.steps or any(is_told not in (None, size) for size, is_told in zip(sizes, told)):
        print("WRONG: in the window", old, counts.steps, sizes, told)
    if fault == "window" and window.old_rank == 1:
        raise ValueError("this block is wrong")
    counts.windows += 1


try:
    for step in epop.elastic(10 ** 9, moves=moves):
        counts.steps += 1
        if counts.steps != step + 1 or world.allreduce(1) != epop.size():
            print("WRONG: in step", step)
        if fault == "exception" and step == 100 and epop.rank() == 1:
            raise KeyError("in a step")
        if fault == "exit" and step == 100 and epop.rank() == 1:
            sys.exit(7)
        if fault == "nested":
            epop.elastic(3)
        if fault == "late":
            epop.Values("late", number=1)
        if world.bcast(os.path.exists(sys.argv[1]), 0):
            break
    if epop.rank() == 0:
        print(f"{epop.size()} processes after {counts.windows} windows")
finally:
    print("the script ends")
