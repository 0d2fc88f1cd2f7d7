"""Constant data that moves ahead of the window: it is right in every kind of window, and where it cannot be used, is
called off or breaks off, the job goes on as if nobody had tried. The program looks at all elements in each iteration."""

import contextlib
import os
import pathlib
import re
import signal
import socket

import job
import joining
import pytest
from joining import JoinScenario
from scenario import DONE, REFUSED, TIMEOUT, Scenario, Switch

N = 800
CONSTANT = N * (8 + 4 + 8)  # bytes of all but the copies


def pool(space, *arguments, start=2, ranks=4, **how):
    return Scenario(space, *arguments, start=start, ranks=ranks, program="constants", **how)


def last(it):
    return it.status()["adaptations"][-1]


def resized(it, size, *arguments):
    """The record of a resize."""
    it.resize(size, *arguments)
    return last(it)


def go_through(it, *ways):
    """Resizes, in each of which all that is constant came ahead, and nothing but u in the window."""
    for way in ways:
        done = resized(it, *way)
        assert done["ahead"] > 0 and done["bytes"] <= 8 * N, done
    return it


# ---- It comes, and is right


def test_up_and_down(space):
    go_through(pool(space), (4,), (1,), (3,), (2,)).stop(ranks=2, windows=4)


def test_migration(space):
    it = go_through(pool(space, start=3), (3, "--release-ranks", "1"), (3, "--release-ranks", "2"))
    it.stop(ranks=3, windows=2)


def test_little_data(space):
    """Fewer rows than ranks: parts of nothing."""
    it = pool(space, "n=8")
    for size in (4, 1, 2):
        it.resize(size)
    it.stop(ranks=2, windows=3)


def test_data_of_many_chunks(space):
    it = pool(space, "n=400000", "nap=0")
    for size in (4, 3, 2):
        assert resized(it, size)["ahead"] > 4000000
    it.stop(ranks=2, windows=3)


@joining.needed
def test_processes_that_come_and_go(space):
    it = JoinScenario(space, program="constants")
    it.wait_until_here()
    go_through(it, (4,), (1,), (2,)).stop(ranks=2, windows=3)


def test_the_debug_driver_has_nothing_to_say(space):
    go_through(pool(space, options=("--driver", "debug")), (4,), (2,)).stop(ranks=2, windows=2)


# ---- It is not wanted, or there is none


@pytest.mark.parametrize("options, arguments", [(("--no-ahead-data",), ()), ((), ("nothing",))], ids=["option", "none"])
def test_all_moves_in_the_window(space, options, arguments):
    it = pool(space, *arguments, options=options)
    for size in (4, 2):
        done = resized(it, size)
        assert "ahead" not in done and done["bytes"] > 8 * N, done
    it.stop(ranks=2, windows=2)


# ---- While it moves


class Still:
    """A job in which data that goes ahead stands still: see preload_still.c."""

    def __init__(self, space, *arguments, make=pool, options=(), limit=1000, **how):
        self.still = Switch(space, "still").on()
        self.tried = pathlib.Path(f"{self.still}.tried")
        env = {"LD_PRELOAD": job.test_program("preload_still"), "EPOP_TEST_STILL": str(self.still)}
        self.it = make(space, *arguments, env=env, options=("--ahead-limit", str(limit), *options), **how)
        self.it.wait_until_here()

    def begin(self, size=4):
        """A resize whose data is on its way."""
        waiting = self.it.start_ctl("resize", str(size), "--wait")
        job.wait_for(self.tried.exists)
        assert last(self.it)["state"] == "preparing"
        return waiting

    def go_on(self):
        """As if nothing had been."""
        self.still.off()
        go_through(self.it, (3,), (2,)).stop(ranks=2, windows=2)


# ---- What came is of no use in the window


class Prepared:
    """A resize from 3 to 4 whose data has come, while the ranks are still in an iteration before the window."""

    def __init__(self, space, *arguments, options=()):
        self.hold = Switch(space, "hold")
        still = Still(space, f"hold={self.hold}", *arguments, start=3, options=options)
        self.it, self.waiting = still.it, still.begin()
        self.hold.on()
        job.wait_for(pathlib.Path(f"{self.hold}.held").exists)
        still.still.off()
        self.it.wait_for_status(lambda status: status["adaptations"][-1]["state"] == "prepared")

    def committed(self):
        """Lets them go on; its record."""
        self.hold.off()
        assert self.waiting.wait().status == DONE
        return last(self.it)


def test_other_shapes_in_between(space):
    shrink = Switch(space, "shrink")
    prepared = Prepared(space, f"shrink={shrink}")
    shrink.on()
    assert prepared.committed()["bytes"] > 4 * N
    prepared.it.stop(ranks=4, windows=1)


def test_called_off_when_it_has_come(space):
    prepared = Prepared(space)
    prepared.it.done("cancel")
    prepared.hold.off()
    assert prepared.waiting.wait().status == REFUSED
    go_through(prepared.it, (2,), (4,)).stop(ranks=4, windows=2)


def test_a_checkpoint_when_it_has_come(space):
    """The ranks save, and adapt, at the same probe."""
    prepared = Prepared(space, options=("--checkpoint-dir", space.directory / "saved"))
    prepared.it.done("checkpoint")
    assert prepared.committed()["ahead"] > 0
    assert list((space.directory / "saved").iterdir())
    prepared.it.stop(ranks=4, windows=1)


def test_another_visit_in_between(space):
    """The next visit of the phase has other blocks. What is constant may be another thing in it."""
    leave = Switch(space, "leave")
    prepared = Prepared(space, f"leave={leave}")
    leave.on()
    done = prepared.committed()
    assert "ahead" not in done and done["bytes"] > 8 * N
    prepared.it.stop(ranks=4, windows=1)


def test_a_write_to_a_constant_array_is_named(space):
    write = Switch(space, "write")
    prepared = Prepared(space, f"write={write}", "blind", options=("--driver", "debug"))
    write.on()
    prepared.hold.off()
    result = prepared.it.it.wait()
    assert result.status == 1
    assert re.search(r"rank 2 of 3: described array 'cyclic' is EPOP_CONSTANT, but this rank has changed it", result.err), result


# ---- It is called off, or breaks off, while it moves


@pytest.mark.parametrize("size", [4, 1])
def test_what_is_late_is_waited_for_in_the_window(space, size):
    still = Still(space, limit=0.1)
    waiting = still.it.start_ctl("resize", str(size), "--wait")
    still.it.wait_for_status(lambda status: [one["state"] for one in status["adaptations"]] == ["window"])
    assert still.tried.exists()
    still.still.off()
    assert waiting.wait().status == DONE
    done = last(still.it)
    assert done["ahead"] > 0 and done["bytes"] <= 8 * N, done
    still.it.stop(ranks=size, windows=1)


@pytest.mark.parametrize("size", [4, 1])
def test_cancelled_while_it_moves(space, size):
    still = Still(space)
    waiting = still.begin(size)
    still.it.done("cancel")
    assert waiting.wait().status == REFUSED
    still.go_on()


def test_the_job_is_stopped_while_it_moves(space):
    still = Still(space)
    waiting = still.begin()
    still.it.stop(ranks=2, windows=0)
    assert waiting.wait().status == REFUSED


def test_the_program_ends_while_it_moves(space):
    end = Switch(space, "end")
    still = Still(space, f"end={end}")
    waiting = still.begin()
    end.on()
    still.it.finish(ranks=2, windows=0)
    assert waiting.wait().status == REFUSED


def test_the_phase_ends_while_it_moves(space):
    """Then it moves in the window, in a later visit."""
    leave = Switch(space, "leave")
    still = Still(space, f"leave={leave}")
    waiting = still.begin()
    leave.on()
    assert waiting.wait().status == DONE
    done = last(still.it)
    assert done["state"] == "committed" and "ahead" not in done
    still.it.stop(ranks=4, windows=1)


def listening(pid):
    """Where it listens on TCP: {(address, port)}."""
    sockets = set()
    for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # it is closed by now
            sockets.add(os.readlink(path))

    def read():
        rows = [line.split() for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
        return {row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets}
    found = [place.split(":") for place in job.steady(read)]
    return {(socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)) for address, port in found}


def test_strangers_change_nothing(space):
    """Some of whom say something."""
    still = Still(space)
    pids = [process["pid"] for process in still.it.status()["processes"]]
    before = set().union(*map(listening, pids))
    waiting = still.begin()
    strangers = [socket.create_connection(at) for at in set().union(*map(listening, pids)) - before for _ in range(5)]
    assert len(strangers) == 5 * 4
    for stranger in strangers[::2]:
        stranger.sendall(b"epopdata" + bytes(100))
    still.still.off()
    assert waiting.wait().status == DONE
    for stranger in strangers:
        stranger.close()
    done = last(still.it)
    assert done["ahead"] > 0 and done["bytes"] <= 8 * N, done
    still.it.stop(ranks=4, windows=1)


def by_join(space, *arguments, **how):
    return JoinScenario(space, *arguments, program="constants", **how)


@joining.needed
def test_a_joiner_dies_while_it_moves(space):
    still = Still(space, make=by_join)
    waiting = still.begin()
    os.kill(still.it.pids("joining")[0], signal.SIGKILL)
    assert waiting.wait().status == REFUSED
    still.go_on()


@joining.needed
def test_a_joiner_hangs_while_it_moves(space):
    """It is to be connected as soon as the resize has waited long enough for the data."""
    still = Still(space, make=by_join, limit=space.patience(1))  # in which it has to be seen, and stopped
    waiting = still.begin()
    job.send_signal(still.it.pids("joining")[0], signal.SIGSTOP)
    assert waiting.wait().status == TIMEOUT
    still.go_on()


@joining.needed
def test_a_rank_dies_while_it_moves(space):
    still = Still(space, make=by_join)
    still.begin()
    os.kill(still.it.rank_pid(1), signal.SIGKILL)
    assert still.it.it.wait().status != 0
