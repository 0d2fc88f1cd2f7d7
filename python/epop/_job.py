"""This process in its job: from MPI's beginning to its end, windows, and the elastic loop."""

import atexit
import collections.abc
import ctypes
import enum
import io
import os
import pathlib
import sys
import sysconfig
from ctypes import byref, c_int

from . import _library
from ._library import Error, call, called_back, library


class Status(enum.IntEnum):
    """What a process is to the job."""
    NEW = 2  # started with the job
    JOINING = 3  # started for a resize, until the end of its window
    STAYING = 4
    LEAVING = 5
    RESTARTING = 6  # started with a job that goes on from a checkpoint


NEW, JOINING, STAYING, LEAVING, RESTARTING = Status

# ---- Beginning and end ------------------------------------------------------------------------------


def _name():
    """What the job is called: as the script, without its ending."""
    name = pathlib.Path(sys.argv[0] if sys.argv else "").stem
    return name if name and not name.startswith("-") else "python"


def _help_joining_processes():
    """They are started by the interpreter's own path, which tells it nothing of a virtual environment."""
    if sys.prefix != sys.base_prefix:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), sysconfig.get_path("purelib")]))


def _begin():
    status = c_int()
    _help_joining_processes()
    call("epop_mpi_script", _name().encode())
    call("MPI_Init_adapt", None, None, byref(status))
    call("epop_mpi_leave", 0)  # Python has to end, too
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # a process may be ended at any time, and would take its lines along
    return Status(status.value)


_start = _begin()

from mpi4py import MPI  # noqa: E402  pylint: disable=wrong-import-position  it finds MPI initialized

if MPI._sizeof(MPI.Comm) != ctypes.sizeof(c_int):
    raise ImportError(f"{MPI.__file__} has other handles than EPOP's MPICH; {_library.HELP}")

_pid = os.getpid()  # a child that is forked has no part in the job
_exit = sys.exit
_exit_status = None
types = []  # that are freed at the end


def _exit_and_note(status=None, /):
    global _exit_status
    _exit_status = status
    _exit(status)


sys.exit = _exit_and_note


def _end():
    """Without MPI_Finalize in a process that fails: that would wait for the others, which wait for this one. The job ends."""
    fails = hasattr(sys, "last_type") or _exit_status
    if os.getpid() == _pid and not fails and not _library.is_finalized():
        while types:
            types.pop().Free()
        library.MPI_Finalize()


atexit.register(_end)

# ---- Where this process is ----------------------------------------------------------------------------


class Place:
    """By which its data is laid out: the rank, or -1, and the number of ranks."""

    def __init__(self):
        self.rank, self.size = (-1, 0) if _start in (JOINING, RESTARTING) else (MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size)
        self.status = _start

    def take(self, rank, size):
        self.rank, self.size = rank, size


place = Place()


def status():
    """What this process is: NEW, JOINING or RESTARTING before the first probe, later as the last window said."""
    return place.status


def is_new():
    """This process began with the job: it makes the data, which comes from elsewhere to all others."""
    return _start == NEW


def rank():
    """This process's rank in the present world."""
    return MPI.COMM_WORLD.rank


def size():
    """How many ranks the present world has."""
    return MPI.COMM_WORLD.size


# ---- Described data -------------------------------------------------------------------------------------

_described = []  # what has describe(description), in order
_is_described = False


def add(entry, name):
    """Lists the entry with what is described. Local; in the same order on all ranks, before the first probe."""
    if _is_described:
        raise Error(f"'{name}' comes behind the first probe or loop: describe all data before")
    if any(name == other.name for other in _described):
        raise Error(f"there is described data called '{name}' already")
    _described.append(entry)


@called_back(_library.DESCRIBE)
def _describe(_, description):
    for entry in _described:
        entry.describe(description)


_pack = None


@called_back(_library.PACK, failed=1)
def _packed(_):
    if _pack:
        _pack()
    return 0


def on_pack(function):
    """Sets the function that copies what lies elsewhere into described data, before a checkpoint or a window."""
    global _pack
    _pack = function
    return function


def _describe_once():
    """At the first probe; where a job goes on from a checkpoint the data comes with it."""
    global _is_described
    if _is_described:
        return
    _is_described = True
    call("epop_mpi_pack", _packed)
    call("epop_mpi_describe", _describe, None)
    if _start == RESTARTING:
        place.take(rank(), size())


# ---- Probes and windows -----------------------------------------------------------------------------------

def probe():
    """Is a resize pending? If so a window has to follow. All ranks probe equally often. A job that is told to stop ends here, by
    SystemExit in each process."""
    _describe_once()
    pending, now = c_int(), c_int()
    call("MPI_Probe_adapt", byref(pending), byref(now), None)
    if not pending.value and now.value == LEAVING and _library.is_finalized():
        raise SystemExit(0)
    return bool(pending.value)


def _communicator(handle):
    """mpi4py's object for it, which does not own it."""
    comm = MPI.Intracomm()
    c_int.from_address(MPI._addressof(comm)).value = handle
    return comm


class Window:
    """A resize in progress: `with epop.window() as w:`. All described data has moved when it begins; what the block moves besides goes
    through the communicators `before`, `after` and `all`, which end with it. `status` is this process's; `staying`, `leaving` and
    `joining` are numbers of ranks; `old_rank`, `old_size`, `new_rank`, `new_size` say where it was and will be (-1: nowhere). An
    exception in it ends the job."""

    def __enter__(self):
        numbers = [c_int() for _ in range(5)]
        window = _library.Window()
        _describe_once()
        call("MPI_Comm_adapt_begin", *map(byref, numbers))
        call("epop_mpi_window", byref(window))
        for name in ("old_rank", "old_size", "new_rank", "new_size", "staying", "leaving", "joining"):
            setattr(self, name, getattr(window, name))
        self.before, self.after, self.all = (_communicator(getattr(window, name)) for name in ("before", "after", "all"))
        self.status = place.status = Status(NEW + window.status)
        if _pack and self.status != JOINING:
            _pack()
        call("epop_redist_described", byref(window), _describe, None)
        place.take(window.new_rank, window.new_size)
        return self

    def __exit__(self, kind, exception, trace):
        if kind is None:
            call("MPI_Comm_adapt_commit")
            return
        sys.excepthook(kind, exception, trace)
        sys.last_type = kind  # whoever catches it, the window cannot be closed any more
        _exit_and_note(1)


def window():
    """The window of the resize that is pending, for `with`. Collective over staying, leaving and joining processes."""
    return Window()


# ---- Requests -----------------------------------------------------------------------------------------------

def request(size):
    """Asks for a world of so many ranks, as `epopctl resize` does. Local; the same from several ranks counts once."""
    call("epop_request_resize", size)


def balance():
    """Asks for a balance, as `epopctl balance` does. Local."""
    call("epop_request_balance")


def checkpoint():
    """Asks for a checkpoint, as `epopctl checkpoint` does. Local."""
    call("epop_request_checkpoint")


# ---- The loop -------------------------------------------------------------------------------------------------

class _Position:
    """Where the script is in its elastic loops; described as the first of its values."""
    name = "epop.loop"

    def __init__(self):
        self.values = (ctypes.c_int64 * 2)(-1, 0)
        self.begun = self.active = -1  # loops that were begun here, and the one that runs
        self.arrived = False  # by a window, whose probe is that of the present step

    def describe(self, description):
        library.epop_describe_values(description, self.name.encode(), byref(self.values), ctypes.sizeof(self.values))

    @property
    def loop(self):
        return self.values[0]

    @property
    def step(self):
        return self.values[1]

    def take(self, loop, step):
        self.values[:] = (loop, step)


_position = _Position()
_described.append(_position)


def _resize(moves):
    with window() as it:
        if moves:
            moves(it)
    if it.status == LEAVING:
        raise SystemExit(0)
    if it.status == JOINING:
        library.epop_mpi_first_probe(1)  # the next one of all


def _probe_in_loop(moves):
    """Was there a resize?"""
    if not probe():
        return False
    _resize(moves)
    return True


def elastic(steps=sys.maxsize, moves=None, rebuild=None):
    """Goes through `steps`, a range or another sequence, or a number of steps (none: without end), and resizes the job between two of them: described data
    moves, and joining processes go on at the same step. Processes that leave end here, by SystemExit. Between loops that follow each
    other joining processes come by, too, without a step.

    `moves(window)` is called in each window, to move what is not described; `rebuild()` before the first step and behind each resize or
    restart, to make what depends on the world. All ranks go through the same steps."""
    steps = range(steps) if isinstance(steps, int) else steps
    if not isinstance(steps, collections.abc.Sequence):
        raise TypeError(f"an elastic loop goes through a range, another sequence or a number of steps, and not {type(steps).__name__}")
    if _position.active >= 0:
        raise Error("an elastic loop cannot begin in another one")
    return _loop(steps, moves, rebuild)


def _loop(steps, moves, rebuild):
    here = _position
    here.begun += 1
    here.active = number = here.begun
    try:
        _describe_once()
        if _start == JOINING and not place.size:
            here.arrived = _probe_in_loop(moves)
        if here.loop > number:
            return
        if here.loop < number:
            here.take(number, 0)
        changed = True
        while True:
            if not here.arrived:
                changed |= _probe_in_loop(moves)
            here.arrived = False
            if here.step >= len(steps):
                return
            if changed and rebuild:
                rebuild()
            changed = False
            if len(steps) < sys.maxsize:
                library.epop_mpi_progress(here.step, len(steps))
            yield steps[here.step]
            here.take(number, here.step + 1)
    finally:
        here.active = -1
