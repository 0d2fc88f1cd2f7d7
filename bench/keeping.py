"""Results of benchmarks, as JSON lines."""
import functools
import re
import subprocess


@functools.cache
def mpi(build):
    """The MPI library of a tree, as epop names it: "MPICH 4.0.2, device ch4:ucx"."""
    done = subprocess.run([build / "bin/epop", "--version"], stdout=subprocess.PIPE, text=True, check=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    return re.search(r"^.*, device [^;\s]+", done.stdout, flags=re.M).group()


def device(build):
    return mpi(build).rpartition(" ")[2]
