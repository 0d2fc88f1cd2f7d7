"""Nothing is left of many resizes: EPOP_TEST_CYCLES of them, 2 -> 8 -> 2, a few if that is not set."""

import contextlib
import os
import pathlib
import re
import time

import job
import joining

pytestmark = joining.needed

CYCLES = int(os.environ.get("EPOP_TEST_CYCLES", "8"))


def listening(pid):
    """The sockets of a process that wait for connections."""
    sockets = set()
    for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # it is closed by now
            sockets.add(os.readlink(path))

    def read():
        tables = [line.split() for table in ("tcp", "tcp6")
                  for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]]
        return sorted(words[1] for words in tables if words[3] == "0A" and f"socket:[{words[9]}]" in sockets)
    return job.steady(read)


def memory(pid):
    """Resident, in KiB."""
    return int(pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().split("Rss:")[1].split()[0])


def files_below(*folders):
    return sorted(str(path) for folder in folders for path in pathlib.Path(folder).rglob("*"))


def segments(space):
    """Of shared memory, that processes of this space have now: other jobs on this machine have others."""
    found = set()
    for pid in space.processes():
        try:
            maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
        except OSError:
            continue
        found |= set(re.findall(r"/dev/shm/\S+", maps))
    return found


def used(space, zero, scratch, seen):
    """What could be left behind. seen: segments of shared memory that there were."""
    return {"processes": len(space.processes()),
            "descriptors of rank 0": len(os.listdir(f"/proc/{zero}/fd")),
            "threads of rank 0": len(os.listdir(f"/proc/{zero}/task")),
            "ports of rank 0": len(listening(zero)),
            "zombies": sum(1 for line in children_of(zero) if line == "Z"),
            "shared memory": [path for path in seen if os.path.exists(path)],
            "files": files_below(space.runtime, scratch)}


def children_of(pid):
    """The states of a process's children."""
    children = []
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended by now
            children += (thread / "children").read_text().split()
    for child in children:
        with contextlib.suppress(OSError):
            yield pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]


def more(now, before):
    """What there is now, and was not before."""
    return {what: found for what, found in now.items() if (
        set(found) - set(before[what]) if isinstance(found, list) else found > before[what])}


def grown(before, space, *how, limit=20):
    """What is left for good: a launcher ends a moment after its processes, a thread after its disconnect."""
    end = time.monotonic() + limit
    while True:
        left = more(used(space, *how), before)
        if not left or time.monotonic() > end:
            return left


def cycle(space, seen):
    for size in (8, 2):
        space.resize(size)
        seen |= segments(space)


def test_nothing_is_left(space, tmp_path):
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    running = space.start_epop("--backend", "join", "--no-pmix", job.program("ledger"), *joining.ENDLESS, ranks=2, limit=3600,
                               env={"TMPDIR": scratch})
    status = space.wait_for_status(lambda status: True)
    zero = [process["pid"] for process in status["processes"] if process["rank"] == 0][0]
    at_first = len(space.processes())
    seen = segments(space)
    for _ in range(3):
        cycle(space, seen)
    job.wait_for(lambda: len(space.processes()) == at_first)
    before = used(space, zero, scratch, seen)
    resident = memory(zero)
    for _ in range(CYCLES):
        cycle(space, seen)
    assert grown(before, space, zero, scratch, seen) == {}
    assert memory(zero) - resident < 2048 + (40 + 6 * space.kept()) * CYCLES  # it was 80 when tools were kept
    result = space.stop(running)
    assert f"{2 * CYCLES + 6} resizes" in result.out, result
