"""One suite of scenarios for all interfaces by which a program can be resized: EPOP's blocks, the elastic MPI calls, both
generations of process sets, and re-initialization. The programs compute the same, tests/conformance/ring.h."""

import json
import os
import signal
import subprocess

import pytest

import job
import joining
from executables import LINKED, MPICC

pytestmark = joining.needed

INTERFACES = ["blocks", "adapt", "psets", "successor", "reinit"]
WITH_SESSIONS = ["psets", "successor", "reinit"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return Built(tmp_path_factory.mktemp("conformance"))


class Built:
    """The programs, each compiled when it is first wanted."""

    def __init__(self, directory):
        self._directory = directory

    def __getitem__(self, name):
        plugin = name == "blocks"
        binary = self._directory / (name + (".so" if plugin else ""))
        if not binary.exists():
            flags = ["-fPIC", "-shared", f"-L{job.BUILD / 'lib'}", "-lepop"] if plugin else LINKED
            subprocess.run([*MPICC, "-std=gnu11", "-Wall", "-Werror", f"-I{job.ROOT / 'epop_api'}",
                                job.ROOT / "tests/conformance" / f"{name}.c", "-o", binary, *flags], check=True, timeout=60)
        return binary


class Ring:
    """A running program of the suite."""

    def __init__(self, space, built, interface, ranks):
        self.space, self.interface = space, interface
        self.end = space.directory / "end"
        command = [job.MPIEXEC, "-n", ranks]
        if interface == "blocks":
            command += [job.BUILD / "bin/epop", "--backend", "join"]
        self.running = space.start([*command, built[interface], self.end], limit=120)
        space.wait_until_running(self.running)

    def hold(self):
        """No change is accepted from here on."""
        if self.interface in WITH_SESSIONS:
            self.end.with_suffix(".hold").touch()
        else:
            assert self.space.epopctl("pause").status == 0

    def go_on(self):
        if self.interface in WITH_SESSIONS:
            self.end.with_suffix(".hold").unlink()
        else:
            assert self.space.epopctl("resume").status == 0

    def resize(self, size, *arguments):
        self.space.resize(size, *arguments)
        assert self.space.status()["size"] == size

    def cancel(self):
        """While processes are being connected it is too late."""
        job.wait_for(lambda: self.space.epopctl("cancel").status == 0)

    def wait_for(self, condition):
        return self.space.wait_for_status(condition)

    def finish(self, size):
        self.end.touch()
        result = self.running.wait()
        assert result.status == 0 and f"right at the end, {size} processes" in result.out, result
        assert "WRONG" not in result.out and result.err == "", result
        return result


@pytest.fixture(params=INTERFACES)
def interface(request):
    return request.param


def test_nothing_changes(space, built, interface):
    Ring(space, built, interface, 2).finish(2)


def test_grow_and_shrink(space, built, interface):
    ring = Ring(space, built, interface, 2)
    for size in (3, 4, 1, 3, 2):
        ring.resize(size)
    assert ring.finish(2).out.count("now ") == 5


def test_both_at_once(space, built, interface):
    """A process is replaced, and then another one by two."""
    ring = Ring(space, built, interface, 3)
    before = {process["pid"] for process in space.status()["processes"]}
    ring.resize(3, "--release-ranks", "1")
    ring.resize(4, "--release-ranks", "1")
    after = {process["pid"] for process in space.status()["processes"] if process["rank"] >= 0}
    assert len(after) == 4 and len(after & before) == 1, (before, after)
    ring.finish(4)


def test_refusals(space, built, interface):
    """Sizes that are none, a rank that cannot leave, a second change beside the first; nothing of it is felt."""
    ring = Ring(space, built, interface, 2)
    for arguments in (("0",), ("1000",), ("2", "--release-ranks", "0"), ("1", "--release-ranks", "7")):
        refused = space.epopctl("resize", *arguments, "--wait")
        assert refused.status == 1 and refused.err.startswith("epopctl: "), refused
    ring.hold()
    assert space.epopctl("resize", 3).status == 0
    assert "is pending" in space.epopctl("resize", 4).err
    ring.go_on()
    ring.wait_for(lambda it: it["size"] == 3)
    ring.resize(2)
    ring.finish(2)


def test_called_off(space, built, interface):
    """By epopctl cancel, when the new processes are ready; the next change is carried out."""
    ring = Ring(space, built, interface, 2)
    ring.hold()
    assert space.epopctl("resize", 4).status == 0
    ring.wait_for(lambda it: sum(process["state"] == "joining" for process in it["processes"]) == 2)
    ring.cancel()
    ring.go_on()
    ring.resize(3)
    ring.finish(3)


@pytest.mark.parametrize("way", ["kill", "exit", "crash"])
def test_a_new_process_ends_before_it_is_ready(space, built, interface, way):
    """The change fails, twice; without the fault the same is carried out."""
    ring = Ring(space, built, interface, 2)
    fault = ring.end.with_suffix("." + way)
    fault.touch()
    for _ in range(2):
        failed = space.epopctl("resize", 3, "--wait")
        assert failed.status == 1 and space.status()["size"] == 2, failed
    fault.unlink()
    ring.resize(3)
    ring.end.touch()
    result = ring.running.wait()
    assert result.status == 0 and "right at the end, 3 processes" in result.out and "WRONG" not in result.out, result


def test_a_new_process_dies_when_it_is_ready(space, built, interface):
    """It waits for the others, which are held, and is killed; the others never hear of it."""
    ring = Ring(space, built, interface, 2)
    ring.hold()
    assert space.epopctl("resize", 3).status == 0
    state = ring.wait_for(lambda it: any(process["state"] == "joining" and process["pid"] for process in it["processes"]) and
                          (interface == "reinit" or it["adaptations"][-1]["state"] == "prepared")) # connected, or not to be
    os.kill(next(process["pid"] for process in state["processes"] if process["state"] == "joining"), signal.SIGKILL)
    ring.wait_for(lambda it: it["adaptations"] and it["adaptations"][-1]["state"] == "failed")
    ring.go_on()
    ring.resize(3)
    ring.end.touch()
    result = ring.running.wait()
    assert result.status == 0 and "right at the end, 3 processes" in result.out and "WRONG" not in result.out, result


@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_of_the_job_dies(space, built, interface, rank):
    """Nobody can do without it: the job ends, with a status that is not 0, and nothing of it is left."""
    ring = Ring(space, built, interface, 2)
    ring.resize(3)
    pids = {process["rank"]: process["pid"] for process in space.status()["processes"]}
    os.kill(pids[rank], signal.SIGKILL)
    result = ring.running.wait()
    assert result.status != 0 and "right at the end" not in result.out, result
    for pid in pids.values():
        joining.wait_for_end_of(pid)


@pytest.mark.parametrize("interface", WITH_SESSIONS)
def test_states(space, built, interface):
    """Each change is announced, pending where processes come, and then finalized or aborted."""
    ring = Ring(space, built, interface, 2)
    watch = space.start_epopctl("watch", "--json")
    job.wait_for(lambda: space.epopctl("resize", 0).status == 1 and watch.out) # it sees what is refused
    ring.resize(3)
    ring.resize(2)
    ring.hold()
    assert space.epopctl("resize", 3).status == 0
    ring.cancel()
    ring.go_on()
    ring.finish(2)
    events = [json.loads(line) for line in watch.wait().out.splitlines()]
    states = [(event["adaptation"], event["change"], event["state"]) for event in events if event["event"] == "change"]
    whole = [(1, "ADD", "ANNOUNCED"), (1, "ADD", "PENDING"), (1, "ADD", "FINALIZED"), (2, "SUB", "ANNOUNCED"),
             (2, "SUB", "FINALIZED"), (3, "ADD", "ANNOUNCED"), (3, "ADD", "ABORTED")]
    assert states == whole, states
