"""Data of every layout, compared element by element in each step, until the file END is there: layouts.py END [STEPS]"""

import os
import sys

import epop
import numpy
from mpi4py import MPI

LENGTH = 1003
world = MPI.COMM_WORLD


def wrong(what):
    print(f"WRONG: {what} on rank {world.rank} of {world.size}, {epop.status().name}", flush=True)


def mine(item, size):
    return item["key"] * size // LENGTH


cuts = epop.Cuts("cuts", LENGTH, weights="by cuts")
sparse_cuts = epop.Cuts("sparse cuts", LENGTH, weights="A")


def divide(count, size):
    """As no other layout does."""
    return numpy.arange(count) * 7 // 5 % size


partition = epop.Partition("partition", LENGTH, divide)
blocks = epop.Partition("blocks", LENGTH)
values = epop.Values("values", number=0, real=0.5, few=numpy.zeros((2, 2)), truth=True)
arrays = [epop.Array("block", LENGTH), epop.Array("cyclic", LENGTH, int, "cyclic"),
          epop.Array("block-cyclic", (LENGTH, 3), numpy.float32, epop.block_cyclic(7)), epop.Array("by cuts", LENGTH, numpy.int64, cuts),
          epop.Array("owned", (LENGTH, 2), layout=partition), epop.Array("owned in blocks", LENGTH, layout=blocks),
          epop.Array("pairs", LENGTH, [("a", float), ("b", numpy.int32, 2)]), epop.Array("few", 2, complex)]
table = epop.Array("table", (5, 4), numpy.int16, "replicated")
constant = epop.Array("constant", LENGTH, constant=True)
scratch = epop.Array("scratch", LENGTH, scratch=True)
matrices = [epop.Matrix("matrix", (37, 23)), epop.Matrix("by columns", (23, 37), numpy.int32, epop.block_cyclic(4), "cyclic", order="F"),
            epop.Matrix("in one row", (5, 41), columns=epop.block_cyclic(3), grid=(1, 0))]
grid = epop.Grid("grid", (17, 23), ghosts=(1, 2), periodic=(True, False))
items = epop.Items("items", [("key", numpy.int64), ("weight", float)], mine)
rows = epop.Rows("A", LENGTH, layout=sparse_cuts)


def fill(array, step):
    """What it has to be: made of the global indices and the step."""
    if array.dtype.names:
        made = numpy.empty(len(array.indices), array.dtype)
        made["a"], made["b"] = array.indices / 3 + step, array.indices[:, None] + (step, 2 * step)
        return made
    return (array.indices.reshape(-1, *[1] * (len(array.shape) - 1)) + numpy.zeros(array.shape[1:]) + step).astype(array.dtype)


def matrix_values(matrix, step):
    return (matrix.row_indices[:, None] * 100 + matrix.column_indices + step).astype(matrix.dtype)


def grid_values(step):
    y, x = (first + numpy.arange(count) for first, count in zip(grid.first, grid.inner.shape))
    return y[:, None] * 100. + x + step


def sparse(here):
    """Row i has i % 5 elements."""
    lengths = here % 5
    starts = numpy.concatenate([[0], numpy.cumsum(lengths)])
    owner = numpy.repeat(here, lengths)
    return starts, owner * 7 % LENGTH, owner / 2.


def sparse_rows():
    return sparse_cuts.starts[world.rank] + numpy.arange(sparse_cuts.starts[world.rank + 1] - sparse_cuts.starts[world.rank])


def make():
    for array in arrays:
        array.local[...] = fill(array, 0)
    for matrix in matrices:
        matrix.local[...] = matrix_values(matrix, 0)
    table.local[...] = numpy.arange(20).reshape(5, 4)
    constant.local[...] = constant.indices * 2
    grid.local[...] = -1
    grid.inner[...] = grid_values(0)
    keys = numpy.arange(world.rank, LENGTH, world.size)
    made = numpy.empty(len(keys), items.dtype)
    made["key"], made["weight"] = keys, keys / 4
    items.local = made
    rows.local = sparse(sparse_rows())


def compare(step):
    for array in arrays:
        if array.local.shape[0] != len(array.indices) or not numpy.array_equal(array.local, fill(array, step)):
            wrong(f"'{array.name}' in step {step}")
    for matrix in matrices:
        if not numpy.array_equal(matrix.local, matrix_values(matrix, step)) or world.allreduce(matrix.local.size) != matrix.shape[0] * matrix.shape[1]:
            wrong(f"'{matrix.name}' in step {step}")
    if not numpy.array_equal(partition.owner, divide(LENGTH, world.size)) or not numpy.array_equal(blocks.indices, arrays[0].indices):
        wrong("a partition")
    if sum(world.allgather(len(arrays[1].local))) != LENGTH or not numpy.array_equal(table.local, numpy.arange(20).reshape(5, 4)):
        wrong("the count, or the table")
    if not numpy.array_equal(constant.local, constant.indices * 2) or scratch.local.any():
        wrong("the constant array, or scratch")
    if not numpy.array_equal(grid.inner, grid_values(step)):
        wrong(f"the grid in step {step}")
    there = numpy.concatenate(world.allgather(items.local))
    if sorted(there["key"]) != list(range(LENGTH)) or (there["weight"] != there["key"] / 4).any():
        wrong("the items")
    if not all(numpy.array_equal(a, b) for a, b in zip(rows.local, sparse(sparse_rows()))):
        wrong("the sparse rows")
    if (values.number, values.real, values.few.tolist(), values.truth) != (step, 0.5 + step, [[0, step], [0, 0]], True):
        wrong(f"the values in step {step}: {values.number}, {values.real}")


def go_on(step):
    for array in arrays:
        array.local[...] = fill(array, step + 1)
    for matrix in matrices:
        matrix.local[...] = matrix_values(matrix, step + 1)
    grid.inner[...] += 1
    values.number += 1
    values.real += 1
    values.few[0, 1] += 1


def resized():
    if epop.status() in (epop.JOINING, epop.STAYING) and (items.local["key"] * world.size // LENGTH != world.rank).any():
        wrong("the owners of items")
    if grid.local.size and (grid.local[0, 0] != -1 and grid.first[1] == 0):
        wrong("the grid's boundary")


if epop.is_new():
    make()
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 10 ** 9
for step in epop.elastic(steps, rebuild=resized):
    compare(step)
    if world.bcast(os.path.exists(sys.argv[1]), 0):
        break
    go_on(step)
    items.exchange()
    if step == 0 and world.rank == 0:
        print("first step")
print(f"rank {world.rank} of {world.size} ends in step {step}")
