"""What drivers hand from every process to process 0 (hooks record, write, checkpoint and adapted), whatever becomes of the
job."""

import contextlib
import os
import pathlib
import re
import signal
import time

import job
import pytest
from scenario import Scenario, Switch

DRIVER = job.test_program("driver_records")


def options(space, *more):
    return ("--driver", DRIVER, "--records", space.directory / "records", *more)


class Written:
    """What the driver wrote: for whom, how it ended, adaptations, refusals and the records, as (process, text)."""

    def __init__(self, space):
        self.text = (space.directory / "records").read_text()
        head = re.match(r"job (\S+) (\w+) size (\d+) backend (\S+): (.*)\n", self.text)
        self.job, self.end, self.size, self.backend, self.reason = head.groups()
        self.adaptations = re.findall(r"^adaptation (.*)$", self.text, flags=re.M)
        self.refusals = re.findall(r"^refused: (.*)$", self.text, flags=re.M)
        self.records = [(int(process), text) for process, text in
                        re.findall(r"^record (\d+): (.*)$", self.text, flags=re.M)]

    def kinds(self):
        """(process, "last" or "present") of every record."""
        return [(process, text.split()[0]) for process, text in self.records]

    def iterations(self):
        return [int(re.search(r"iterations (\d+)", text)[1]) for _, text in self.records]

    def moved(self):
        """{adaptation: [(process, least, {other: (sent, received)})]}"""
        found = {}
        for process, text in self.records:
            for number, least, rest in re.findall(r"\[(\d+) \S+ least (\d+)([^\]]*)\]", text):
                others = {int(a): (int(b), int(c)) for a, b, c in re.findall(r"(\d+):(\d+):(\d+)", rest)}
                found.setdefault(int(number), []).append((process, int(least), others))
        return found


def wait_for_checkpoint(space, condition):
    """The first checkpoint that meets the condition."""
    return job.wait_for(lambda: (space.directory / "records").exists() and Written(space), 30, lambda written: written and condition(written))


# ---- Jobs that end well


@pytest.mark.parametrize("ranks", [1, 3])
def test_every_rank_is_heard_at_the_end(space, ranks):
    result = space.epop(*options(space), job.program("rigid"), "1000", ranks=ranks)
    assert result.status == 0 and result.err == "", result
    written = Written(space)
    assert (written.end, written.size, written.reason) == ("ended", str(ranks), "")
    assert written.job.startswith("rigid-") and written.backend in ("pool", "join")
    assert written.kinds() == [(process, "last") for process in range(ranks)]
    assert len(set(written.iterations())) == 1 and written.iterations()[0] > 0


def test_a_program_without_mpi(space):
    assert space.epop(*options(space), job.program("serial")).status == 0
    written = Written(space)
    assert (written.end, written.backend, written.kinds()) == ("ended", "-", [(0, "last")])


def test_a_program_without_mpi_under_a_launcher_is_recorded_once(space):
    result = space.epop(*options(space), "--quiet", job.program("serial"), ranks=2)
    assert result.status == 0 and Written(space).kinds() == [(0, "last")]


def test_records_that_need_several_messages(space):
    assert space.epop(*options(space, "--long"), job.program("rigid"), "1000", ranks=2).status == 0
    written = Written(space)
    assert written.kinds() == [(0, "last"), (1, "last")]
    assert [text.count("x") for _, text in written.records] == [199999, 199999]


def test_those_that_left_are_heard_and_those_that_came_back_twice(space):
    it = Scenario(space, start=1, ranks=3, options=options(space))
    for size in (3, 1, 2):
        it.resize(size)
    assert it.refused("resize", "4").startswith("4 ranks are more")
    it.stop(ranks=2, windows=3)
    written = Written(space)
    assert (written.end, written.reason) == ("stopped", "epopctl stop")
    assert written.kinds() == [(0, "last"), (1, "last"), (1, "last"), (2, "last")]
    assert written.adaptations == ["1 1->3 committed by epopctl: ", "2 3->1 committed by epopctl: ",
                                   "3 1->2 committed by epopctl: "]
    assert len(written.refusals) == 1 and written.refusals[0].startswith("4 ranks are more")


# ---- What an adaptation moved


def moved_by_the_ledger(elements, before, after):
    """Its elements in blocks, 8 bytes each, whose owner changes."""
    def owner(element, size):
        share, more = divmod(elements, size)
        return element // (share + 1) if element < more * (share + 1) else (element - more) // share
    return 8 * sum(owner(element, before) != owner(element, after) for element in range(elements))


def test_bytes_are_those_that_had_to_move(space):
    elements, sizes = 1000, [1, 2, 3, 1]
    it = space.start_epop("--start", "1", *options(space), job.program("ledger"), f"elements={elements}",
                          "iterations=1000000", "dist=block", ranks=3)
    space.wait_until_all_are_here()
    for size in sizes[1:]:
        space.resize(size)
    assert space.epopctl("stop").status == 0 and it.wait().status == 0
    moved = Written(space).moved()
    assert list(moved) == [1, 2, 3]
    for number, rows in moved.items():
        sent = {(process, other): counts[0] for process, _, others in rows for other, counts in others.items()}
        received = {(other, process): counts[1] for process, _, others in rows for other, counts in others.items()}
        assert {k: v for k, v in sent.items() if v} == {k: v for k, v in received.items() if v}
        least = moved_by_the_ledger(elements, *sizes[number - 1:number + 1])
        assert sum(sent.values()) == sum(needed for _, needed, _ in rows)
        assert sum(sent.values()) == least


# ---- Jobs that do not


def test_sigterm(space):
    it = Scenario(space, start=2, ranks=2, options=options(space))
    os.kill(it.pid, signal.SIGTERM)
    assert it.it.wait().status == 0
    written = Written(space)
    assert (written.end, written.reason, written.kinds()) == ("stopped", "SIGTERM", [(0, "last"), (1, "last")])


@pytest.mark.parametrize("rank", [0, 1])
def test_a_block_that_fails(space, rank):
    """The other rank hangs in a barrier: its control thread answers for it."""
    result = space.epop(*options(space), job.test_program("mpi_faults"), ranks=2,
                        env={"EPOP_TEST_FAULT": "exec", "EPOP_TEST_RANK": rank})
    assert result.status == 1
    written = Written(space)
    assert written.end == "failed" and "its exec block returned" in written.reason and f"rank {rank} of 2" in written.reason
    assert written.kinds() == [(0, "present"), (1, "present")] and written.iterations()[rank] == 2
    assert written.iterations()[1 - rank] in (1, 2)  # it may not have come out of the barrier yet that the first one has left
    assert written.reason in result.err


def process_0(space):
    """None while it is not there yet."""
    for pid in space.processes():
        with contextlib.suppress(OSError):
            if b"PMI_RANK=0" in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                return pid
    return None


@pytest.mark.parametrize("still", [0, 1.5])
def test_a_moment_in_which_nothing_moves(space, still):
    """A process that answers in time is heard, also if process 0 sees it only when its own time was over: here it is
    stopped for longer than it waits."""
    asked = space.directory / "asked"
    running = space.start_epop(*options(space, "--slow", asked), job.test_program("mpi_faults"), ranks=2,
                               env={"EPOP_TEST_FAULT": "exec", "EPOP_TEST_RANK": 1})
    zero = None
    while not asked.exists():
        assert running.running(), running.wait()
        zero = zero or process_0(space)
    zero = zero or process_0(space)
    if zero:  # else it was too quick for this test, as it may still be
        with contextlib.suppress(ProcessLookupError):
            job.send_signal(zero, signal.SIGSTOP)
            time.sleep(still)  # nothing may happen meanwhile
            os.kill(zero, signal.SIGCONT)
    assert running.wait().status == 1
    assert Written(space).kinds() == [(0, "present"), (1, "present")]


def test_a_block_that_fails_without_mpi(space):
    result = space.epop(*options(space), job.test_program("faults"), env={"EPOP_TEST_FAULT": "exec"})
    assert result.status == 1
    written = Written(space)
    assert written.end == "failed" and "its exec block returned" in written.reason
    assert written.kinds() == [(0, "present")] and written.iterations() == [2]


def test_mpi_abort(space):
    result = space.epop(*options(space), job.test_program("abort"), "7", ranks=2)
    assert result.status == 7, result
    written = Written(space)
    assert (written.end, written.reason) == ("failed", "rank 1 called MPI_Abort with code 7")
    assert written.kinds() == [(0, "present"), (1, "present")]


def test_those_that_left_are_heard_on_a_failure_too(space):
    die = Switch(space, "die")
    it = Scenario(space, f"die=abort:0:{die}", start=3, ranks=3, options=options(space))
    it.resize(1)
    die.on()
    assert it.it.wait().status == 9
    written = Written(space)
    assert written.kinds()[0] == (0, "present") and (1, "last") in written.kinds() and (2, "last") in written.kinds()


def test_a_kill_leaves_the_last_checkpoint(space):
    """The launcher kills all others at once."""
    die = Switch(space, "die")
    it = Scenario(space, f"die=kill:1:{die}", start=2, ranks=2, options=options(space, "--every", "0.1"))
    wait_for_checkpoint(space, lambda written: min(written.iterations(), default=0) > 0 and len(written.records) == 2)
    die.on()
    assert it.it.wait().status != 0
    written = Written(space)
    assert written.end in ("running", "failed") and written.kinds() == [(0, "present"), (1, "present")]


def test_checkpoints_go_on_and_the_end_replaces_them(space):
    it = Scenario(space, start=2, ranks=2, options=options(space, "--every", "0.05"))
    first = wait_for_checkpoint(space, lambda written: min(written.iterations(), default=0) > 0 and len(written.records) == 2)
    assert first.end == "running" and first.kinds() == [(0, "present"), (1, "present")]
    it.resize(1)
    later = wait_for_checkpoint(space, lambda written: (1, "last") in written.kinds())
    assert later.kinds()[:2] == [(0, "present"), (1, "last")] and later.end == "running"
    it.stop()
    assert Written(space).kinds() == [(0, "last"), (1, "last")] and Written(space).end == "stopped"
