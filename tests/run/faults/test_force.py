"""epopctl stop --force ends a job whatever its ranks do; and no rank that hangs keeps the rest from being ended."""

import json
import os
import signal
import time

import job
import joining
import pytest
from scenario import DONE, TIMEOUT, Switch, only_line
from executables import LINKED, compile_c, source

LIMIT = 10 # seconds until a job is ended
PROGRAM = job.test_program("hangs")
HANGS = ("0:recv", "1:loop") # ranks 0 and 1; rank 2 is stopped by a test
GROWS = joining.WORKS        # then the last ranks are in a launch of their own


class Hanging:
    """Four ranks of hangs.c, two of them joined where that can be; of an executable where one is given."""

    def __init__(self, space, *ranks, where="work", executable=None, size=4, options=()):
        self.space, self.go, self.fail = space, Switch(space, "go"), Switch(space, "fail")
        self.hangs, self.in_init = len(ranks), where == "init"
        first = 2 if GROWS and where == "work" else size
        words = [f"go={self.go}", f"fail={self.fail}", f"where={where}", *(f"rank={rank}" for rank in ranks)]
        if executable:
            self.it = space.start([job.MPIEXEC, "-n", first, executable, self.go, *ranks])
        else:
            backend = ("--backend", "join") if GROWS and where != "init" else ("--backend", "pool")
            self.it = space.start_epop(*backend, *options, PROGRAM, *words, ranks=first)
        if where == "init":
            self.it.wait_for_line("init new rank 0 of")
        self.places = self.wait_until(lambda places: len(places) == first and all(map(self.is_there, places)))
        if first < size:
            space.resize(size)
            self.places = self.wait_until(lambda places: len(places) == size and all(map(self.is_there, places)))

    def is_there(self, place):
        """It has begun, and waits for nobody any more: one that is stopped before that would keep the others in INIT."""
        return place["pid"] and (self.in_init or (place["element"] or {}).get("iteration", 0) > 0)

    def wait_for_state(self, state):
        self.space.wait_for_status(lambda status: status["state"] == state)

    def where(self):
        result = self.space.epopctl("where", "--json", "--timeout", "2")
        return json.loads(result.out)["processes"] if result.status == DONE else []

    def wait_until(self, condition):
        return job.wait_for(self.where, 30, condition)

    def hang(self):
        """From here on nothing moves."""
        self.go.on()
        return self.wait_for_hangs()

    def wait_for_hangs(self):
        start = 0
        for _ in range(self.hangs):
            _, start = self.it.wait_for_line("^hangs: ", start=start)
        return self

    def stop_rank(self, rank):
        job.send_signal(self.pid(rank), signal.SIGSTOP)
        return self

    def pid(self, rank):
        return next(one["pid"] for one in self.places if one["rank"] == rank)

    def force(self, *arguments):
        """And all is gone when it comes back; the line that it says."""
        begin = time.monotonic()
        result = self.space.epopctl("stop", "--force", *arguments)
        left = set(self.space.processes()) & {one["pid"] for one in self.places}
        assert result.status == DONE and result.err == "" and not left and not self.it.running(), f"{left}\n{result}"
        self.check_ended(begin)
        return result

    def check_ended(self, begin):
        ended = self.it.wait()
        left = self.space._wait_gone(20)
        took = time.monotonic() - begin
        assert ended.status != 0 and left == [] and self.space.in_time(took, LIMIT), f"{took} s, left {left}\n{ended}"
        return ended


# ---- By force


def test_control_case(space):
    """Nobody hangs: stop does it."""
    it = Hanging(space)
    assert space.epopctl("stop", "--wait").out == "stopped\n"
    assert it.it.wait().status == 0


def test_force(space):
    it = Hanging(space, *HANGS).stop_rank(2).hang()
    assert it.force().out == "ended\n"
    line = only_line(it.it.err, "ended by epopctl stop --force, pid ", "rank 0 in MPI_Recv for ", " in 'work', iteration ")
    assert f"rank 2 gives no answer (pid {it.pid(2)} on " in line


def test_force_says_so_as_json(space):
    it = Hanging(space, "0:loop", size=2).hang()
    assert json.loads(it.force("--json").out) == {"ok": True, "code": "done"}


def test_force_in_init(space):
    it = Hanging(space, *HANGS, where="init", size=3).wait_for_hangs()
    it.force()
    only_line(it.it.err, "rank 0 in MPI_Recv", "1, 2 in 'start'")


@pytest.mark.parametrize("stopped", ["rank 0", "all"])
def test_force_with_rank_0_stopped(space, stopped):
    """By SIGSTOP: it goes on, and ends the job in order."""
    it = Hanging(space)
    for place in it.places[:1 if stopped == "rank 0" else None]:
        job.send_signal(place["pid"], signal.SIGSTOP)
    job.send_signal(it.it.pid, signal.SIGSTOP)
    it.force()
    only_line(it.it.err, "ended by epopctl stop --force")


@pytest.mark.parametrize("limit", [(), ("--timeout", "1.5")], ids=["usual limit", "short limit"])
def test_force_with_a_control_plane_that_does_not_answer(space, limit):
    it = Hanging(space, "0:deaf")
    it.hang()
    assert it.force(*limit).out == "ended; it did not end by itself, and was ended by signals\n"


@pytest.mark.skipif(not GROWS, reason="processes cannot join here")
def test_force_in_the_window(space):
    it = Hanging(space, *HANGS, where="window", size=2)
    waiting = space.start_epopctl("resize", "4", "--wait")
    it.wait_for_hangs().force()
    assert waiting.wait().status not in (DONE, TIMEOUT)
    only_line(it.it.err, "rank 0 in MPI_Recv")


@pytest.mark.skipif(not GROWS, reason="processes cannot join here")
def test_force_while_joiners_come(space):
    it = Hanging(space, *HANGS, size=2).hang()
    waiting = space.start_epopctl("resize", "4", "--wait")
    it.wait_until(lambda places: len(places) == 4)
    it.force()
    assert waiting.wait().status not in (DONE, TIMEOUT)


# ---- By other means


def test_stop_says_whom_it_waits_for(space):
    it = Hanging(space, "1:recv", size=2).hang()
    begin = time.monotonic()
    said = space.epopctl("stop")
    assert said.status == DONE and said.out.startswith("stopping; it waits for "), said
    assert "rank 1 in MPI_Recv for " in said.out and said.out.endswith("; epopctl stop --force ends it at once\n"), said
    waiting = space.epopctl("stop", "--wait", "--timeout", "5")
    assert waiting.status == TIMEOUT and "rank 1 in MPI_Recv" in waiting.err, waiting
    it.it.wait_for_line(r"told to stop \(epopctl stop\): it waits for .*rank 1 in MPI_Recv .*; epopctl stop --force ends it at once",
                        stream="err")
    assert time.monotonic() - begin > 9
    it.force()


@pytest.mark.parametrize("whom", ["mpiexec", "rank 0"])
def test_second_sigterm(space, whom):
    it = Hanging(space, *HANGS).stop_rank(2).hang()
    pid = it.it.pid if whom == "mpiexec" else it.pid(0)
    begin = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    it.wait_for_state("stopping")
    job.signal_again(pid, signal.SIGTERM)
    it.check_ended(begin)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_though_a_size_rule_does_not_return(space, number):
    """The coordinator waits for it, and does nothing more."""
    it = Hanging(space, where="rule")
    it.go.on()
    waiting = space.start_epopctl("resize", "1", "--timeout", "60")
    it.it.wait_for_line("^hangs: ")
    begin = time.monotonic()
    os.kill(it.it.pid, signal.SIGTERM)
    job.signal_again(it.it.pid, number)
    it.check_ended(begin)
    only_line(it.it.err, "its coordinator does not answer")
    waiting.wait()


def test_third_sigterm_to_another_rank(space):
    """It leaves two of them to rank 0, which mpiexec sends them, too."""
    it = Hanging(space, *HANGS).stop_rank(2).hang()
    begin = time.monotonic()
    os.kill(it.pid(1), signal.SIGTERM)
    for _ in range(2):
        job.signal_again(it.pid(1), signal.SIGTERM)
    it.check_ended(begin)


def test_block_that_fails(space):
    it = Hanging(space, "0:recv", "1:loop").stop_rank(2).hang()
    begin = time.monotonic()
    it.fail.on()
    it.check_ended(begin)


def test_rank_that_is_killed(space):
    it = Hanging(space, *HANGS).stop_rank(2).hang()
    begin = time.monotonic()
    os.kill(it.pid(3), signal.SIGKILL)
    it.check_ended(begin)


# ---- Executables with the elastic MPI calls


@pytest.fixture(scope="module")
def executable(tmp_path_factory):
    return compile_c(source("adapt_hang"), tmp_path_factory.mktemp("hang") / "hang", *LINKED)


def hanging(space, executable, *last):
    """Rank 0 in MPI_Recv, rank 1 in a loop, rank 2 stopped; rank 3 does what is asked of it."""
    return Hanging(space, "recv", "loop", "loop", *last, executable=executable)


def test_executable_control_case(space, executable):
    Hanging(space, executable=executable)
    assert space.epopctl("stop", "--wait").out == "stopped\n"


def test_force_executable(space, executable):
    it = Hanging(space, "recv", "loop", executable=executable).stop_rank(2).hang()
    it.force()
    only_line(it.it.err, "ended by epopctl stop --force", "rank 0 in MPI_Recv", "rank 2 gives no answer")


@pytest.mark.parametrize("how", ["exit", "kill", "SIGTERM"])
def test_executable_that_ends(space, executable, how):
    it = Hanging(space, "recv", "loop", "none", "fail" if how == "exit" else "loop", executable=executable)
    it.hangs = 0 if how == "exit" else 2 # that may be over before the others have said a word
    it.stop_rank(2)
    begin = time.monotonic()
    it.hang()
    if how == "kill":
        os.kill(it.pid(3), signal.SIGKILL)
    if how == "SIGTERM":
        os.kill(it.it.pid, signal.SIGTERM)
        it.wait_for_state("stopping")
        job.signal_again(it.it.pid, signal.SIGTERM)
    it.check_ended(begin)
