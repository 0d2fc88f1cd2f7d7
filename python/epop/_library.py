"""libepop_mpi in this process, and the functions of it that are called here."""

import ctypes
import importlib.util
import os
import pathlib
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint, c_void_p

import mpi4py

NAME = "libepop_mpi.so.0"
HELP = "docs/guide/python.md says how to get it"
BLOCK, CYCLIC, BLOCK_CYCLIC, CUTS = range(4)  # epop_dist_kind
BLOCKS_DIMS = 6
CONSTANT, SCRATCH = 1, 2


class Error(RuntimeError):
    """What EPOP or MPI refuses. Where it says no more, a line on standard error does."""


# ---- The library: before MPI's, so that MPI's functions are found in it ----------------------------

def _open():
    """The library that is loaded already, or the one of the same prefix as this package, or the one that the loader finds."""
    beside = pathlib.Path(__file__).resolve().parents[3] / NAME
    for path, mode in ((NAME, os.RTLD_NOLOAD), (beside, 0), (NAME, 0)):
        try:
            return ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL | mode), mode == os.RTLD_NOLOAD
        except OSError as error:
            why = error
    raise ImportError(f"{NAME} is neither in {beside.parent} nor where the loader looks ({why}): install EPOP, or add the folder lib "
                      "of its prefix to LD_LIBRARY_PATH")


def _look_at_mpi4py():
    """Before it is loaded: with another MPI in the same process everything that follows would be wrong."""
    extension = importlib.util.find_spec("mpi4py.MPI")
    if not extension or not extension.origin:
        raise ImportError(f"mpi4py has no extension mpi4py.MPI; {HELP}")
    names = pathlib.Path(extension.origin).read_bytes()
    if not any(name in names for name in (b"libmpich.so.12\0", b"libmpi.so.12\0")):
        raise ImportError(f"{extension.origin} is not of MPICH, which EPOP's jobs need; {HELP}")


def _begin():
    early = "mpi4py.MPI" in sys.modules
    found, preloaded = _open()
    if early and not preloaded:
        raise ImportError("mpi4py.MPI was imported before epop, so that MPI's functions are not found in libepop_mpi: import epop first")
    if not early:
        _look_at_mpi4py()
    mpi4py.rc.initialize = mpi4py.rc.finalize = False
    return found


library = _begin()

# ---- Its structures and functions -----------------------------------------------------------------


class Dist(ctypes.Structure):
    """epop_dist_t; of its union the member that both kinds fit into."""
    _fields_ = [("kind", c_int), ("ranks", c_int), ("count", c_int64), ("last", c_int64)]


class Dist2d(ctypes.Structure):
    """epop_dist2d_t"""
    _fields_ = [("rows", Dist), ("cols", Dist), ("grid_rows", c_int), ("grid_cols", c_int), ("column_major", c_int)]


DIVIDE = ctypes.CFUNCTYPE(c_int, c_int64, c_int, POINTER(c_int), c_void_p)


class Partition(ctypes.Structure):
    """epop_partition_t"""
    _fields_ = [("count", c_int64), ("owner", c_void_p), ("ranks", c_int), ("divide", DIVIDE), ("context", c_void_p)]


class Blocks(ctypes.Structure):
    """epop_blocks_t"""
    _fields_ = [("dims", c_int), ("count", c_int64 * BLOCKS_DIMS), ("ghosts", c_int * BLOCKS_DIMS), ("periodic", c_int * BLOCKS_DIMS),
                ("grid", c_int * BLOCKS_DIMS)]


class RowArray(ctypes.Structure):
    """epop_row_array_t"""
    _fields_ = [("type", c_int), ("local", c_void_p)]


class Window(ctypes.Structure):
    """epop_window_t"""
    _fields_ = [(name, c_int) for name in ("status", "old_rank", "old_size", "new_rank", "new_size", "staying", "leaving", "joining",
                                           "before", "after", "all", "intercomm")] + [("new_ranks", c_void_p)]


DESCRIBE = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
PACK = ctypes.CFUNCTYPE(c_int, c_void_p)
OWNER = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)

PROTOTYPES = {  # the arguments; the result is an int unless RESULTS has another
    "MPI_Init_adapt": [c_void_p, c_void_p, POINTER(c_int)], "MPI_Probe_adapt": [POINTER(c_int), POINTER(c_int), c_void_p],
    "MPI_Comm_adapt_begin": [POINTER(c_int)] * 5, "MPI_Comm_adapt_commit": [], "MPI_Finalize": [], "MPI_Finalized": [POINTER(c_int)],
    "epop_mpi_script": [c_char_p], "epop_mpi_leave": [c_int], "epop_mpi_first_probe": [c_int], "epop_mpi_progress": [c_int64, c_int64], "epop_mpi_window": [POINTER(Window)],
    "epop_mpi_describe": [DESCRIBE, c_void_p], "epop_mpi_pack": [PACK], "epop_redist_described": [POINTER(Window), DESCRIBE, c_void_p],
    "epop_request_resize": [c_int], "epop_request_checkpoint": [], "epop_request_balance": [], "epop_status": [], "epop_result_text": [c_int],
    "epop_dist_block": [c_int64], "epop_dist_cyclic": [c_int64], "epop_dist_block_cyclic": [c_int64, c_int64],
    "epop_dist_even_cuts": [c_int64, c_int], "epop_dist_local_count": [Dist, c_int, c_int],
    "epop_dist_global": [Dist, c_int, c_int, c_int64], "epop_grid_near_square": [c_int, POINTER(c_int), POINTER(c_int)],
    "epop_partition_divide": [POINTER(Partition)], "epop_partition_local": [POINTER(Partition), c_int, c_void_p],
    "epop_blocks_local": [POINTER(Blocks), c_int, c_int, POINTER(c_int64), POINTER(c_int64)],
    "epop_halo_exchange": [POINTER(Blocks), c_int, c_void_p],
    "epop_items_exchange": [c_void_p, POINTER(c_int64), c_int, OWNER, c_void_p],
    "epop_describe_values": [c_void_p, c_char_p, c_void_p, c_size_t],
    "epop_describe_members": [c_void_p, c_char_p, c_char_p],
    "epop_describe_array": [c_void_p, c_char_p, c_void_p, c_int, Dist, c_uint],
    "epop_describe_replicated": [c_void_p, c_char_p, c_void_p, c_int, c_int64, c_uint],
    "epop_describe_blocks": [c_void_p, c_char_p, c_void_p, c_int, POINTER(Blocks), c_uint],
    "epop_describe_items": [c_void_p, c_char_p, c_void_p, POINTER(c_int64), c_int, OWNER, c_void_p, c_uint],
    "epop_describe_matrix": [c_void_p, c_char_p, c_void_p, c_int, POINTER(Dist2d), c_uint],
    "epop_describe_partition": [c_void_p, c_char_p, POINTER(Partition)],
    "epop_describe_owned": [c_void_p, c_char_p, c_void_p, c_int, POINTER(Partition), c_uint],
    "epop_describe_cuts": [c_void_p, c_char_p, POINTER(Dist), c_char_p],
    "epop_describe_csr": [c_void_p, c_char_p, c_void_p, c_int, Dist, POINTER(RowArray), c_int, c_uint],
}
RESULTS = {"epop_result_text": c_char_p, "epop_dist_local_count": c_int64, "epop_dist_global": c_int64,
           "epop_partition_local": c_int64, "epop_grid_near_square": None,
           **dict.fromkeys(("epop_dist_block", "epop_dist_cyclic", "epop_dist_block_cyclic", "epop_dist_even_cuts"), Dist),
           **{name: None for name in PROTOTYPES if name.startswith("epop_describe_")}}

for _name, _arguments in PROTOTYPES.items():
    _function = getattr(library, _name)
    _function.argtypes, _function.restype = _arguments, RESULTS.get(_name, c_int)

_raised = []  # in a function that C called, which cannot hand it on


def called_back(kind, failed=None):
    """Makes a function of that kind for C. An exception in it is raised again by call(); C gets `failed`."""
    def decorate(function):
        def guarded(*arguments):
            try:
                return function(*arguments)
            except BaseException as exception:
                _raised.append(exception)
                return failed
        return kind(guarded)
    return decorate


def call(name, *arguments):
    """Calls the function of that name, whose result is an error code; Error unless that is 0."""
    code = getattr(library, name)(*arguments)
    if _raised:
        exception = _raised.pop(0)
        _raised.clear()
        raise exception
    if code:
        of_mpi = name.startswith(("MPI_", "epop_mpi_"))
        raise Error(f"{name}: " + (f"MPI's error {code}" if of_mpi else library.epop_result_text(code).decode()))


# ---- Memory that the library may free ---------------------------------------------------------------

_c = ctypes.CDLL(None)
_c.calloc.argtypes, _c.calloc.restype = [c_size_t, c_size_t], c_void_p
_c.free.argtypes, _c.free.restype = [c_void_p], None


def allocate(count, size):
    """The address of so many elements of that size, all bytes 0; None for none."""
    if not count * size:
        return None
    address = _c.calloc(count, size)
    if not address:
        raise MemoryError(f"no memory for {count * size} bytes")
    return address


def release(address):
    """Frees what allocate() or the library gave; None is nothing."""
    _c.free(address)


def is_finalized():
    """MPI has ended."""
    flag = c_int()
    library.MPI_Finalized(byref(flag))
    return bool(flag.value)
