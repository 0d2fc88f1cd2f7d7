"""Results of benchmarks, as JSON lines. Those that a page is made from are kept in bench/results/BENCH.DEVICE.jsonl, whose first
line says where and when they were measured."""
import datetime
import functools
import json
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "bench/results"


class Malformed(Exception):
    """Nothing can be made of a result."""


@functools.cache
def mpi(build):
    """The MPI library of a tree, as epop names it: "MPICH 4.0.2, device ch4:ucx"."""
    done = subprocess.run([build / "bin/epop", "--version"], stdout=subprocess.PIPE, text=True, check=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    return re.search(r"^.*, device [^;\s]+", done.stdout, flags=re.M).group()


def device(build):
    """What results are kept by: of the MPICH that the page is about its device alone, else the library, too, as "MPICH 5.0.2 ch4:ucx"."""
    library, _, name = mpi(build).rpartition(", device ")
    if library.startswith("MPICH 4.0."):
        return name
    return library if name == "unknown" else f"{library} {name}"


# ---- Reading ----


def parsed(line):
    """The object of a line, or nothing."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def read(path):
    """The results in a file; what says where they come from may be its first line."""
    return read_with_origin(path)[1]


def read_with_origin(path):
    results, origin = [], {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = parsed(line)
        if {"bench", "device"} <= set(found):
            results.append(found)
        elif not found or number > 1 or "bench" in found:
            raise Malformed(f"{path}:{number}: this is no result, which has a 'bench' and a 'device': {line[:60]}")
        else:
            origin = found
    return origin, results


def read_all(folder=FOLDER):
    return [result for path in sorted(folder.glob("*.jsonl")) for result in read(path)]


# ---- Keeping ----


def processor():
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), flags=re.M)
    return found.group(1) if found else platform.machine()


def commit():
    try:
        done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def origin(build):
    """Where and when results are from: the first line of a file."""
    return {"machine": f"{os.cpu_count()} cores, {processor()}, {platform.freedesktop_os_release()['PRETTY_NAME']}",
            "mpi": mpi(build), "commit": commit(), "date": datetime.date.today().isoformat()}


def file_of(result):
    return f"{result['bench']}.{re.sub('[ :]', '-', result['device'])}.jsonl"


def keep(results, first, folder=FOLDER):
    """Instead of what was there of the same benchmarks and the same device."""
    lines = {}
    for result in results:
        lines.setdefault(file_of(result), []).append(result)
    for name, those in lines.items():
        write(folder / name, first, those)


def write(path, first, results):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in (first, *results)))
