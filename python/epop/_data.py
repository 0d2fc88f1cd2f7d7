"""Data that is described: it moves in windows, is saved in checkpoints, and is there again at a restart."""

import ctypes
import math
from ctypes import byref, c_int, c_int64, c_void_p

import numpy
from mpi4py import MPI
from mpi4py.util.dtlib import from_numpy_dtype

from . import _library
from ._job import add, is_new, place, types
from ._library import Error, allocate, call, called_back, library, release


def _handle(datatype):
    """MPI's number for it."""
    return c_int.from_address(MPI._addressof(datatype)).value


def _type_of(dtype, inner=()):
    """The MPI datatype of one element, which is `inner` numbers where it is an array itself; it stays until MPI ends."""
    try:
        datatype = from_numpy_dtype(dtype)
    except (TypeError, ValueError, KeyError) as why:
        raise Error(f"elements of type {dtype} cannot be moved: {why}") from None
    if datatype.Get_envelope()[-1] == MPI.COMBINER_DUP:  # one of MPI's own, which it is a copy of
        own = datatype.Get_contents()[-1][0]
        datatype.Free()
        if not inner:
            return own
        datatype = own
    made = datatype.Create_contiguous(math.prod(inner)) if inner else datatype
    types.append(made.Commit())
    return made


def _view(address, dtype, shape):
    """The array that lies there."""
    count = math.prod(shape)
    if not address or not count:
        return numpy.empty(shape if not count else (0, *shape[1:]), dtype)
    bytes_there = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return numpy.frombuffer(bytes_there, dtype, count).reshape(shape)


def _flags(constant, scratch):
    return _library.CONSTANT * bool(constant) | _library.SCRATCH * bool(scratch)


C_TYPES = {"f4": "float", "f8": "double", "b1": "bool",
           **{f"{sign}{size}": f"{word}int{8 * size}_t" for sign, word in (("i", ""), ("u", "u")) for size in (1, 2, 4, 8)}}


def _declared(kinds):
    """The members of a structure, as C has them; None: some cannot be said so."""
    words = [(C_TYPES.get(array.dtype.str[1:]), key, "".join(f"[{count}]" for count in array.shape)) for key, array in kinds]
    sayable = all(word and key.isascii() and len(key) < 64 and array.dtype.isnative for (word, key, _), (_, array) in zip(words, kinds))
    return "; ".join(f"{word} {key}{counts}" for word, key, counts in words) if sayable else None


class Values:
    """Numbers and small arrays that are the same on all ranks: `p = epop.Values("parameters", time=0.0, k=numpy.zeros(3))`, then
    `p.time += 1`. Integers have 64 bits."""

    def __init__(self, name, **values):
        if not values:
            raise Error(f"'{name}' has no values")
        kinds = [(key, numpy.asarray(value)) for key, value in values.items()]
        if any(array.dtype.hasobject or not array.size for _, array in kinds):
            raise Error(f"'{name}' may have numbers and arrays of numbers")
        self.__dict__["name"] = name
        self.__dict__["_record"] = numpy.zeros((), numpy.dtype([(key, array.dtype, array.shape) for key, array in kinds], align=True))
        self.__dict__["_members"] = _declared(kinds)
        for key, array in kinds:
            self._record[key] = array
        add(self, name)

    def __getattr__(self, key):
        try:
            value = self.__dict__["_record"][key]
        except (KeyError, ValueError):
            raise AttributeError(f"'{self.__dict__.get('name')}' has no value '{key}'") from None
        return value if value.shape else value.item()

    def __setattr__(self, key, value):
        if key not in self._record.dtype.names:
            raise AttributeError(f"'{self.name}' has no value '{key}'")
        self._record[key] = value

    def describe(self, description):
        library.epop_describe_values(description, self.name.encode(), self._record.ctypes.data, self._record.nbytes)
        if self._members:
            library.epop_describe_members(description, self.name.encode(), self._members.encode())


class Part:
    """What all data that is dealt out has: this rank's part, in memory that the library replaces in a window."""

    def __init__(self, name, dtype, flags):
        self.name, self.dtype, self.flags = name, numpy.dtype(dtype), flags
        self.address = c_void_p()
        add(self, name)

    def make(self, count, size):
        """Room for this rank's part, where the job begins."""
        if is_new():
            self.address.value = allocate(count, size)


# ---- Arrays by their first index ------------------------------------------------------------------------

class BlockCyclic:
    """A layout: blocks of so many indices, one after the other to the ranks in turn."""

    def __init__(self, block):
        self.dist = library.epop_dist_block_cyclic
        self.block = block


def block_cyclic(block):
    """The layout with blocks of so many indices, dealt out in turn."""
    if block < 1:
        raise Error(f"a block has at least 1 index, and not {block}")
    return BlockCyclic(block)


class Cuts:
    """A layout of consecutive blocks of any lengths, made anew in each resize: of even lengths, or so that the numbers in the array that
    `weights` names, or the elements of those sparse rows, are balanced. `starts`: where the ranks' blocks begin, and the count."""

    def __init__(self, name, count, weights=None, starts=None):
        self.name, self.weights = name, weights
        self.count = count
        self.dist = _library.Dist(_library.CUTS, 0, 0, 0)
        if is_new():
            self.dist = self._given(starts) if starts is not None else library.epop_dist_even_cuts(count, place.size)
        add(self, name)

    def _given(self, starts):
        starts = numpy.asarray(starts, numpy.int64)
        rises = len(starts) == place.size + 1 and starts[0] == 0 and starts[-1] == self.count and (numpy.diff(starts) >= 0).all()
        if not rises:
            raise Error(f"the cuts '{self.name}' are {place.size + 1} numbers that rise from 0 to {self.count}")
        address = allocate(len(starts), 8)
        _view(address, starts.dtype, starts.shape)[:] = starts
        return _library.Dist(_library.CUTS, place.size, self.count, address)

    @property
    def starts(self):
        """A copy."""
        return _view(self.dist.last, numpy.dtype(numpy.int64), (self.dist.ranks + 1,)).copy()

    def describe(self, description):
        library.epop_describe_cuts(description, self.name.encode(), byref(self.dist), self.weights.encode() if self.weights else None)


class Partition:
    """A layout in which a function says who owns which index: `divide(count, size)` gives the rank of each as an array, as METIS does, and
    is called on one rank; None: consecutive blocks. `owner`: what it said last, the same on all ranks."""

    def __init__(self, name, count, divide=None):
        self.name, self.count, self._divide = name, count, divide
        self._callback = called_back(_library.DIVIDE, failed=-1)(self._fill) if divide else _library.DIVIDE()
        self.partition = _library.Partition(count, None, 0, self._callback, None)
        if is_new():
            call("epop_partition_divide", byref(self.partition))
        add(self, name)

    def _fill(self, count, size, owner, _):
        ranks = numpy.asarray(self._divide(count, size))
        if ranks.shape != (count,) or ranks.dtype.kind not in "iu" or not ((ranks >= 0) & (ranks < size)).all():
            raise Error(f"divide of the partition '{self.name}' gives an array of {count} ranks below {size}")
        numpy.ctypeslib.as_array(owner, (count,))[:] = ranks
        return 0

    @property
    def owner(self):
        """A copy."""
        return _view(self.partition.owner, numpy.dtype(numpy.int32), (self.count,)).copy()

    @property
    def indices(self):
        """This rank's, ascending."""
        here = numpy.empty(self.local_count() if self.partition.owner else 0, numpy.int64)
        if here.size:
            library.epop_partition_local(byref(self.partition), place.rank, here.ctypes.data)
        return here

    def local_count(self):
        """How many indices this rank has."""
        return library.epop_partition_local(byref(self.partition), place.rank, None) if place.rank >= 0 else 0

    def describe(self, description):
        library.epop_describe_partition(description, self.name.encode(), byref(self.partition))


def _dist_of(layout, count):
    """The distribution that a layout means; that of cuts is theirs, which changes."""
    if layout == "block":
        return library.epop_dist_block(count)
    if layout == "cyclic":
        return library.epop_dist_cyclic(count)
    if isinstance(layout, BlockCyclic):
        return library.epop_dist_block_cyclic(count, layout.block)
    if isinstance(layout, Cuts) and layout.count == count:
        return layout.dist
    raise Error(f"layout is 'block', 'cyclic', 'replicated', epop.block_cyclic(...), or epop.Cuts or epop.Partition of {count} indices, and "
                f"not {layout!r}")


def _indices(layout, dist, rank, size, count):
    """The global index of each of the `count` that `rank` of `size` has."""
    here = numpy.arange(count)
    if not count:
        return here
    if isinstance(layout, BlockCyclic) or layout == "cyclic":
        block = layout.block if isinstance(layout, BlockCyclic) else 1
        return (here // block * size + rank) * block + here % block
    return here + library.epop_dist_global(dist, rank, size, 0)


class Array(Part):
    """An array that is dealt out by its first index. `local` is this rank's part, with the element of index `indices[i]` in `local[i]`; it
    is taken anew behind each probe. `layout` is "block", "cyclic", epop.block_cyclic(n), epop.Cuts, epop.Partition, or "replicated": then
    every rank has all of it. `constant`: it does not change, and may move ahead of a window. `scratch`: work space, all 0 behind each window."""

    def __init__(self, name, shape, dtype=float, layout="block", constant=False, scratch=False):
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.layout = layout
        self.owned = isinstance(layout, Partition) and layout.count == self.shape[0]
        if layout != "replicated" and not self.owned:
            _dist_of(layout, self.shape[0])
        super().__init__(name, dtype, _flags(constant, scratch))
        self.type = _type_of(self.dtype, self.shape[1:])
        self.make(self._count(), self.dtype.itemsize * math.prod(self.shape[1:]))

    @property
    def dist(self):
        return _dist_of(self.layout, self.shape[0])

    def _count(self):
        if self.layout == "replicated":
            return self.shape[0]
        if self.owned:
            return self.layout.local_count()
        return library.epop_dist_local_count(self.dist, place.rank, place.size) if place.rank >= 0 else 0

    @property
    def local(self):
        """This rank's part."""
        return _view(self.address.value, self.dtype, (self._count(), *self.shape[1:]))

    @property
    def indices(self):
        """The global index of each element of `local`."""
        if self.layout == "replicated":
            return numpy.arange(self.shape[0])
        return self.layout.indices if self.owned else _indices(self.layout, self.dist, place.rank, place.size, self._count())

    def describe(self, description):
        name, kind = self.name.encode(), _handle(self.type)
        if self.layout == "replicated":
            library.epop_describe_replicated(description, name, byref(self.address), kind, self.shape[0], self.flags)
        elif self.owned:
            library.epop_describe_owned(description, name, byref(self.address), kind, byref(self.layout.partition), self.flags)
        else:
            library.epop_describe_array(description, name, byref(self.address), kind, self.dist, self.flags)


# ---- Matrices ---------------------------------------------------------------------------------------------------

class Matrix(Part):
    """A matrix that is dealt out by rows and columns on a grid of ranks, as ScaLAPACK's are: `rows` and `columns` are "block", "cyclic" or
    epop.block_cyclic(n). `local` is this rank's block, with the element of row `row_indices[i]` and column `column_indices[j]` in
    `local[i, j]`. `grid`: the rows and columns of ranks, in row order; (0, 0): nearest to square, a single 0: as fits. `order` is "C", or "F"
    where blocks are stored by columns."""

    def __init__(self, name, shape, dtype=float, rows="block", columns="block", grid=(0, 0), order="C", constant=False, scratch=False):
        self.shape, self.layouts, self.order = tuple(shape), (rows, columns), order
        if order not in ("C", "F") or isinstance(rows, Cuts) or isinstance(columns, Cuts):
            raise Error(f"the matrix '{name}' has the order 'C' or 'F', and no cuts")
        self.dist = _library.Dist2d(_dist_of(rows, self.shape[0]), _dist_of(columns, self.shape[1]), *grid, order == "F")
        super().__init__(name, dtype, _flags(constant, scratch))
        self.type = _type_of(self.dtype)
        self.make(math.prod(self._extent()), self.dtype.itemsize)

    @property
    def grid(self):
        """Rows and columns of ranks, now."""
        rows, columns = self.dist.grid_rows, self.dist.grid_cols
        if not rows and not columns:
            found = c_int(), c_int()
            library.epop_grid_near_square(max(place.size, 1), byref(found[0]), byref(found[1]))
            return tuple(number.value for number in found)
        return rows or place.size // columns, columns or place.size // rows

    def _parts(self):
        """Along rows and columns: the distribution, this rank's place in the grid, or -1, and the grid's length."""
        rows, columns = self.grid
        there = 0 <= place.rank < rows * columns
        return ((self.dist.rows, place.rank // columns if there else -1, rows), (self.dist.cols, place.rank % columns if there else -1, columns))

    def _extent(self):
        extent = tuple(library.epop_dist_local_count(*part) for part in self._parts())
        return extent if math.prod(extent) else (0, 0)

    @property
    def local(self):
        """This rank's block."""
        extent = self._extent() if self.address.value else (0, 0)
        return _view(self.address.value, self.dtype, extent[::-1]).T if self.order == "F" else _view(self.address.value, self.dtype, extent)

    def _along(self, which):
        return _indices(self.layouts[which], *self._parts()[which], self._extent()[which])

    @property
    def row_indices(self):
        """The global index of each row of `local`."""
        return self._along(0)

    @property
    def column_indices(self):
        """The global index of each column of `local`."""
        return self._along(1)

    def describe(self, description):
        library.epop_describe_matrix(description, self.name.encode(), byref(self.address), _handle(self.type), byref(self.dist), self.flags)


# ---- Grids with ghosts ----------------------------------------------------------------------------------------

class Grid(Part):
    """An array of 1 to 6 dimensions, dealt out in blocks on a grid of ranks, with `ghosts` layers around each. `local` is this rank's block
    with them, `inner` without, `first` the global index of its first element in each dimension. At the end of a dimension that is not
    `periodic` the ghosts are the boundary, which moves with the block. `ghosts`, `periodic` and `ranks`, the number of ranks along each
    dimension (0: as fits), are one value for all dimensions or one for each."""

    def __init__(self, name, shape, dtype=float, ghosts=1, periodic=False, ranks=0, scratch=False, constant=False):
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        dims = len(self.shape)
        if not 1 <= dims <= _library.BLOCKS_DIMS:
            raise Error(f"the grid '{name}' has 1 to {_library.BLOCKS_DIMS} dimensions, and not {dims}")
        self.blocks = _library.Blocks(dims)
        self.blocks.count[:dims] = self.shape
        for field, given in (("ghosts", ghosts), ("periodic", periodic), ("grid", ranks)):
            getattr(self.blocks, field)[:dims] = [int(value) for value in numpy.broadcast_to(given, dims)]
        self.ghosts = tuple(self.blocks.ghosts[:dims])
        super().__init__(name, dtype, _flags(constant, scratch))
        self.type = _type_of(self.dtype)
        self.make(math.prod(self._extent()), self.dtype.itemsize)

    def _place(self):
        """The first index and the count in each dimension."""
        first, count = (c_int64 * _library.BLOCKS_DIMS)(), (c_int64 * _library.BLOCKS_DIMS)()
        if place.rank >= 0:
            call("epop_blocks_local", byref(self.blocks), place.rank, place.size, first, count)
        return tuple(first[:len(self.shape)]), tuple(count[:len(self.shape)])

    def _extent(self):
        count = self._place()[1]
        return tuple(n + 2 * ghosts for n, ghosts in zip(count, self.ghosts)) if math.prod(count) else (0,) * len(count)

    @property
    def first(self):
        """The global index of the first element of `inner`."""
        return self._place()[0]

    @property
    def local(self):
        """This rank's block with its ghosts."""
        extent = self._extent()
        return _view(self.address.value, self.dtype, extent if self.address.value else (0,) * len(extent))

    @property
    def inner(self):
        """Its own elements, a part of `local`."""
        return self.local[tuple(slice(ghosts, -ghosts if ghosts else None) for ghosts in self.ghosts)]

    def exchange(self):
        """Refreshes the ghosts from all neighbours. Collective over the world."""
        call("epop_halo_exchange", byref(self.blocks), _handle(self.type), self.address)

    def describe(self, description):
        library.epop_describe_blocks(description, self.name.encode(), byref(self.address), _handle(self.type), byref(self.blocks),
                                     self.flags)


# ---- Items ------------------------------------------------------------------------------------------------------

class Items(Part):
    """Elements that belong where a function says: `owner(items, size)` gives the rank of each, and depends on nothing else. `local` has
    this rank's, and is set to any others; they are in no order."""

    def __init__(self, name, dtype, owner):
        self.count = c_int64()
        self.owner = owner
        self._owners = None  # those of all items here, while the library asks for one after the other
        self._callback = called_back(_library.OWNER, failed=-1)(self._owner_of)
        super().__init__(name, dtype, 0)
        self.type = _type_of(self.dtype)

    @property
    def local(self):
        """This rank's items."""
        return _view(self.address.value, self.dtype, (self.count.value,))

    @local.setter
    def local(self, items):
        items = numpy.array(items, self.dtype).ravel()  # a copy: they may be a part of what is freed
        release(self.address)
        self.address.value, self.count.value = allocate(len(items), self.dtype.itemsize), len(items)
        self.local[:] = items

    def _owner_of(self, item, size, _):
        known = self._owners  # which another thread may forget
        if known is None or known[0] != size:
            known = self._owners = size, numpy.broadcast_to(self.owner(self.local, size), self.count.value).tolist()
        return known[1][(item - self.address.value) // self.dtype.itemsize]

    def exchange(self):
        """Sends items whose owner is another rank there. Collective over the world."""
        self._owners = None
        call("epop_items_exchange", byref(self.address), byref(self.count), _handle(self.type), self._callback, None)

    def describe(self, description):
        self._owners = None
        library.epop_describe_items(description, self.name.encode(), byref(self.address), byref(self.count), _handle(self.type),
                                    self._callback, None, 0)


# ---- Sparse rows ------------------------------------------------------------------------------------------------

class Rows:
    """A sparse matrix in CSR form, whose `count` rows are dealt out in blocks, or by epop.Cuts: `local` is (starts, columns, values) of
    this rank's rows, as scipy.sparse.csr_array takes them; columns are global. It is set to three arrays, or to a CSR matrix of scipy."""

    def __init__(self, name, count, dtype=float, layout="block", index=numpy.int32, constant=False):
        if layout != "block" and not isinstance(layout, Cuts):
            raise Error("sparse rows are in blocks, or by epop.Cuts")
        self.name, self.rows, self.layout, self.flags = name, count, layout, _flags(constant, False)
        self.dtypes = [numpy.dtype(index), numpy.dtype(index), numpy.dtype(dtype)]
        self.types = [_type_of(kind) for kind in self.dtypes]
        self.addresses = (c_void_p * 3)()
        add(self, name)
        if is_new():
            self.local = numpy.zeros(self._count() + 1), [], []

    @property
    def dist(self):
        return _dist_of(self.layout, self.rows)

    def _count(self):
        return library.epop_dist_local_count(self.dist, place.rank, place.size) if place.rank >= 0 else 0

    @property
    def local(self):
        """Starts, columns and values of this rank's rows."""
        starts = _view(self.addresses[0], self.dtypes[0], (self._count() + 1,))
        elements = int(starts[-1]) if starts.size else 0
        return starts, *(_view(self.addresses[i], self.dtypes[i], (elements,)) for i in (1, 2))

    @local.setter
    def local(self, rows):
        if hasattr(rows, "indptr"):
            rows = rows.indptr, rows.indices, rows.data
        arrays = [numpy.array(array, dtype).ravel() for array, dtype in zip(rows, self.dtypes)]
        starts, columns, values = arrays
        if len(starts) != self._count() + 1 or starts[0] or not starts[-1] == len(columns) == len(values):
            raise Error(f"'{self.name}' has {self._count()} rows here: as many starts and one more, from 0 to the number of elements")
        for i, array in enumerate(arrays):
            release(self.addresses[i])
            self.addresses[i] = allocate(len(array), array.itemsize)
            _view(self.addresses[i], array.dtype, array.shape)[:] = array

    def describe(self, description):
        at = [ctypes.addressof(self.addresses) + i * ctypes.sizeof(c_void_p) for i in range(3)]
        arrays = (_library.RowArray * 2)(*((_handle(self.types[i]), at[i]) for i in (1, 2)))
        library.epop_describe_csr(description, self.name.encode(), at[0], _handle(self.types[0]), self.dist, arrays, 2, self.flags)
        library.epop_describe_members(description, self.name.encode(), b"columns, values")
