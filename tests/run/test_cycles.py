"""Nothing is left of many resizes: EPOP_TEST_CYCLES of them, 2 -> 8 -> 2, a few if that is not set."""

import json
import os
import pathlib
import tempfile
import time

import job
import joining

pytestmark = joining.needed

CYCLES = int(os.environ.get("EPOP_TEST_CYCLES", "8"))


def listening(pid):
    """The sockets of a process that wait for connections."""
    sockets = {os.readlink(path) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir() if path.exists()}
    tables = [line.split() for table in ("tcp", "tcp6")
              for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]]
    return sorted(words[1] for words in tables if words[3] == "0A" and f"socket:[{words[9]}]" in sockets)


def memory(pid):
    """Resident, in KiB."""
    return int(pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().split("Rss:")[1].split()[0])


def files_below(*folders):
    return sorted(str(path) for folder in folders for path in pathlib.Path(folder).rglob("*"))


def shared_memory(space):
    """Segments of this space's processes, or of nobody any more: not those of other jobs on this machine."""
    ours, others = set(space.processes()), ""
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) not in ours:
            try:
                others += (entry / "maps").read_text()
            except OSError:
                pass
    return [path for path in files_below("/dev/shm") if path not in others]


def used(space, zero, scratch):
    """What could be left behind: by this space's processes, or by nobody any more."""
    return {"processes": len(space.processes()),
            "descriptors of rank 0": len(os.listdir(f"/proc/{zero}/fd")),
            "threads of rank 0": len(os.listdir(f"/proc/{zero}/task")),
            "ports of rank 0": len(listening(zero)),
            "zombies": sum(1 for line in children_of(zero) if line == "Z"),
            "shared memory": shared_memory(space),
            "files": files_below(space.runtime, scratch)}


def children_of(pid):
    """The states of a process's children."""
    for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            try:
                yield pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                pass


def settled(space, zero, scratch, wanted, limit=10):
    """What is used, once it is as wanted: the last launcher ends a moment after its processes."""
    end = time.monotonic() + limit
    while True:
        now = used(space, zero, scratch)
        if now == wanted or time.monotonic() > end:
            return now


def cycle(space):
    for size in (8, 2):
        result = space.epopctl("resize", size, "--wait")
        assert result.status == 0, result


def test_nothing_is_left(space, tmp_path):
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    running = space.start_epop("--backend", "join", job.program("ledger"), *joining.ENDLESS, ranks=2, limit=3600,
                               env={"TMPDIR": scratch})
    end = time.monotonic() + 20
    while space.epopctl("status").status and time.monotonic() < end:
        pass
    status = json.loads(space.epopctl("status", "--json").out)
    zero = [process["pid"] for process in status["processes"] if process["rank"] == 0][0]
    at_first = len(space.processes())
    for _ in range(3):
        cycle(space)
    end = time.monotonic() + 10
    while len(space.processes()) > at_first and time.monotonic() < end:
        pass
    before = used(space, zero, scratch)
    assert before["processes"] == at_first
    resident = memory(zero)
    for _ in range(CYCLES):
        cycle(space)
    assert settled(space, zero, scratch, before) == before
    assert memory(zero) - resident < 2048 + 80 * CYCLES  # KiB; 400 a cycle if PMIx keeps what it knows of each tool
    space.epopctl("stop", "--wait")
    result = running.wait(30)
    assert result.status == 0 and f"{2 * CYCLES + 6} resizes" in result.out, result
