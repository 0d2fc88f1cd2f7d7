"""The attendant beside a job: what it starts, asks and tells, and that nothing of the job is left, whoever dies."""

import fcntl
import os
import shutil
import signal

import pytest

import job
import joining
from attending import ATTEND, LIMIT, Attended, Connection, named
from executables import LINKED, compile_c, source
from joining import JoinScenario

pytestmark = joining.needed
LEDGER = job.program("ledger")


@pytest.fixture(name="attended")
def fixture_attended(space):
    return lambda *command, **members: Attended(space, *command, **members)


def ledger(attended, ranks=2, *options):
    """An endless job with a control plane, and a connection that has seen it."""
    it = attended(job.MPIEXEC, "-n", ranks, job.BUILD / "bin/epop", *options, LEDGER, *joining.ENDLESS).start()
    connection = it.connect()
    connection.attached()
    return it, connection


# ---- Commands -------------------------------------------------------------------------------------


def test_a_command_and_its_end(attended):
    it = attended("/bin/sh", "-c", "echo out; echo err >&2; read line || echo nothing; exit 3", environment={"PATH": os.environ["PATH"]})
    it.output.write_text("before\n")
    it.start().hear_end()
    assert it.end() == {"version": 1, "status": 3, "signal": None, "time": it.ended()["time"]}
    assert it.output.read_text() == "before\nout\nerr\nnothing\n"


def test_what_a_command_finds_around_it(attended, space):
    it = attended("/bin/sh", "-c", 'echo "$PWD $EPOP_BATCH_JOB $A"; ps -o pid= -o pgid= -o sid= -p $$', environment={**space.environment(), "A": "b c"})
    assert it.start().hear_end()["status"] == 0
    words, ids = it.output.read_text().splitlines()
    assert words == f"{space.directory} epoprm:17 b c"
    pid, group, session = ids.split()
    assert pid == group != session


def test_a_signal_is_told(attended):
    ended = attended("/bin/sh", "-c", "kill -SEGV $$").start().hear_end()
    assert (ended["status"], ended["signal"]) == (None, signal.SIGSEGV)


@pytest.mark.parametrize("change, reason", [
    ({"argv": ["no-such-program-anywhere"]}, "cannot start 'no-such-program-anywhere': No such file or directory"),
    ({"argv": ["/etc/passwd"]}, "cannot start '/etc/passwd': Permission denied"),
    ({"output": "/no/such/place/out"}, "cannot open the output file /no/such/place/out: No such file or directory"),
    ({"cwd": "/no/such/place"}, "cannot change to the directory /no/such/place: No such file or directory"),
], ids=["program", "permission", "output", "directory"])
def test_what_cannot_begin(attended, change, reason):
    it = attended("true", **change).start()
    ended = it.hear_end()
    assert it.end() == ended and ended["reason"] == reason
    assert ended["status"] == (127 if "anywhere" in reason else 126)


def test_output_into_a_fifo(attended, space):
    """Who reads it has it; its reader is not waited for."""
    fifo = space.directory / "fifo"
    os.mkfifo(fifo)
    unread = attended("echo", "heard", output=str(fifo)).start()
    assert unread.hear_end()["reason"] == f"cannot open the output file {fifo}: nobody reads this FIFO"
    assert unread.end()["status"] == 126
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    for left in ("started", "ended.json"):
        (unread.directory / left).unlink()
    read = unread.start()
    assert read.hear_end()["status"] == 0 and read.end()["status"] == 0
    assert os.read(reader, 100) == b"heard\n"
    os.close(reader)


def test_a_command_that_takes_long_to_begin(attended, space):
    """As on a file system that does not answer: it can be ended all the same. Who opens a file with a lease waits for its
    holder, up to 45 s."""
    shell = space.directory / "shell"
    shutil.copy("/bin/sh", shell)
    with open(shell, "r+b") as file:
        try:
            fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError as why:
            pytest.skip(f"no leases here: {why}")
        it = attended(shell, "-c", "echo began; sleep 1000").start()
        connection = it.connect()
        connection.say({"id": 1, "do": "end", "grace": 0})
        ended = connection.ended()
        assert ended["signal"] == signal.SIGTERM, ended
        it.end()
    assert it.output.read_text() == ""


def test_a_launch_that_is_none(attended):
    it = attended("true")
    (it.directory / "launch.json").write_text("{")
    it.start().hear_end()
    result = it.it.wait(LIMIT)
    assert "launch.json is no launch of version 1" in result.err
    assert "launch.json" in it.ended()["reason"]


def test_wrong_words(space):
    for words in [(), ("run",), ("link", "x"), ("walk", "x")]:
        result = space.start([ATTEND, *words]).wait()
        assert result.status == 2 and "usage: attend" in result.err
    result = space.start([ATTEND, "run", "/no/such/job"]).wait()
    assert result.status == 1 and "/no/such/job" in result.err


def test_a_second_one_goes_at_once(attended, space):
    it = attended("sleep", "1000").start()
    connection = it.connect()
    second = space.start([ATTEND, "run", it.directory]).wait()
    assert second.status == 0 and not second.err
    connection.say({"id": 1, "do": "end", "grace": 0})
    assert connection.ended()["signal"] == signal.SIGTERM
    it.end()
    third = space.start([ATTEND, "run", it.directory]).wait()
    assert third.status == 0 and len(it.output.read_text()) == 0


# ---- Asking ---------------------------------------------------------------------------------------


def test_asks_and_watches(attended):
    """Two requests are in flight at a time, and the quick one does not wait for the other, which has no end in a pause."""
    it, connection = ledger(attended)
    connection.ask(6, "pause")
    assert connection.answer(6)["ok"]
    connection.ask(1, "resize", size=4, wait=True)
    connection.ask(2, "status")
    assert connection.answer(2)["job"]["batch"] == "epoprm:17"
    assert not [line for line in connection.seen if line.get("id") == 1]
    connection.ask(7, "resume")
    assert connection.answer(1)["ok"]
    connection.wait_for(lambda line: line.get("what", {}).get("event") == "committed")
    connection.ask(3, "measure")
    assert connection.answer(3)["ok"]
    connection.ask(4, "resize", size=0)
    assert connection.answer(4)["code"] == "refused"
    connection.say({"id": 5, "do": "end", "grace": LIMIT})
    assert connection.answer(5)["ok"]
    assert connection.ended()["status"] == 0
    it.end()
    assert "right in" in it.output.read_text()


def committed(connection):
    return [line for line in connection.seen if line.get("what", {}).get("event") == "committed"]


def test_each_id_once(attended):
    """Asked again by the same daemon, by its successor, after the answer: one resize."""
    it, connection = ledger(attended)
    for _ in range(3):
        connection.ask(7, "resize", delta=1, wait=True)
    first = connection.answer(7)
    connection.close()
    other = it.connect()
    assert {"id": 7, "answer": first} in other.hello["asked"]
    other.ask(7, "resize", delta=1, wait=True)
    assert other.answer(7) == first
    other.ask(8, "status")
    assert other.answer(8)["job"]["size"] == 3
    other.say({"do": "forget", "ids": [7, 99]})
    other.ask(7, "resize", delta=1, wait=True)
    other.wait_for(lambda line: line.get("id") == 7 and line["answer"] != first)
    third = it.connect()
    assert sorted(one["id"] for one in third.hello["asked"]) == [7, 8]
    third.say({"id": 9, "do": "end"})
    assert other.ended() == third.ended() == it.end()


def test_a_daemon_that_dies_with_a_resize_under_way(attended):
    """The answer comes to whoever is connected then; nothing is asked twice."""
    it, connection = ledger(attended)
    connection.ask(1, "resize", size=3, wait=True)
    connection.close()
    other = it.connect()
    other.ask(1, "resize", size=3, wait=True)
    known = [one["answer"] for one in other.hello["asked"] if one["id"] == 1 and one["answer"]]
    assert (known or [other.answer(1)])[0]["ok"]
    other.ask(2, "status")
    assert len(other.answer(2)["job"]["adaptations"]) == 1
    other.say({"id": 3, "do": "end"})
    other.ended()
    it.end()


def test_nonsense_is_refused(attended):
    it = attended("sleep", "1000").start()
    connection = it.connect()
    for line, reason in [(b"{\n", "no line of JSON"), (b"[1]\n", "no line of JSON"), ({"do": "dance"}, "ask, end or forget"),
                         ({"id": 0, "do": "ask", "request": {"op": "status"}}, "number above 0")]:
        connection.seen.clear()
        connection.say(line)
        assert reason in connection.event("refused")["reason"]
    connection.ask(1, "status")
    assert connection.answer(1) == {"ok": False, "code": "refused", "reason": "the job has no control plane, or none yet"}
    connection.say({"id": 2, "do": "ask", "request": {}})
    assert connection.answer(2)["code"] == "refused"
    connection.say({"id": 3, "do": "end", "grace": 0})
    connection.ended()
    it.end()


def test_a_line_without_end_ends_the_connection(attended):
    it = attended("sleep", "1000").start()
    connection, other = it.connect(), it.connect()
    with pytest.raises(OSError):
        while True:
            connection.say(b"x" * 65536)
    other.say({"id": 1, "do": "end", "grace": 0})
    other.ended()
    it.end()


def test_a_job_that_does_not_answer(attended):
    """Its process is stopped: the request has its time limit, and the end comes by signals."""
    it, connection = ledger(attended)
    connection.ask(1, "status")
    pid = connection.answer(1)["job"]["processes"][0]["pid"]
    job.send_signal(pid, signal.SIGSTOP)
    connection.ask(2, "status", timeout=0.3)
    assert connection.answer(2) == {"ok": False, "code": "timeout", "reason": "the job did not answer within 0.3 s"}
    connection.say({"id": 3, "do": "end", "grace": 0.2})
    connection.ended()
    it.end()
    assert not it.others()


def test_a_rank_that_hangs_is_forced(attended, space):
    """The job takes a stop, and does not come to it."""
    go, fail = space.directory / "go", space.directory / "fail"
    it = attended(job.MPIEXEC, "-n", 2, job.BUILD / "bin/epop", job.test_program("hangs"), f"go={go}", f"fail={fail}", "rank=0:recv", "rank=1:loop").start()
    connection = it.connect()
    connection.attached()
    go.touch()
    job.wait_for(lambda: it.output.read_text().count("hangs: ") == 2, LIMIT)
    connection.say({"id": 1, "do": "end", "grace": 0.5})
    assert connection.ended()["status"]
    it.end()
    assert "its resource manager" in it.output.read_text()


def test_an_executable_that_goes_on(attended, space):
    """Its control plane goes with MPI_Finalize, which is told; its end is that of its process."""
    first, second = space.directory / "first", space.directory / "second"
    it = attended(job.MPIEXEC, "-n", 2, compile_c(source("adapt_after"), space.directory / "after", *LINKED), first, second).start()
    connection = it.connect()
    connection.attached()
    first.touch()
    connection.event("detached")
    connection.ask(1, "status")
    assert connection.answer(1)["code"] == "refused"
    other = it.connect()
    assert (other.hello["state"], other.hello["attached"]) == ("running", False)
    second.touch()
    assert connection.ended()["status"] == 0
    it.end()


# ---- Ends -----------------------------------------------------------------------------------------


def test_signals_where_there_is_no_control_plane(attended):
    it = attended("/bin/sh", "-c", "trap 'echo told' TERM; echo ready; while :; do sleep 0.05; done").start()
    connection = it.connect()
    job.wait_for(lambda: "ready" in it.output.read_text(), LIMIT)
    connection.say({"id": 1, "do": "end", "grace": 1000})
    job.wait_for(lambda: "told" in it.output.read_text(), LIMIT)
    connection.say({"id": 2, "do": "end", "grace": 0.5})
    assert connection.ended()["signal"] == signal.SIGKILL
    it.end()


def test_what_a_command_leaves_is_ended(attended):
    """In sessions of their own, deaf to SIGTERM, stopped: it is all gone when the end is told."""
    it = attended("/bin/sh", "-c", "setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & setsid sh -c 'kill -STOP $$' & sleep 1000 & exit 4")
    assert it.start().hear_end()["status"] == 4
    assert not it.others()
    it.end()


def test_mpiexec_is_killed(attended):
    it, connection = ledger(attended, 2)
    connection.ask(1, "resize", size=3, wait=True)
    assert connection.answer(1)["ok"]
    connection.ask(2, "status")
    os.kill(JoinScenario.launcher_of(connection.answer(2)["job"]["processes"][0]["pid"]), signal.SIGKILL)
    assert connection.ended()["signal"] == signal.SIGKILL
    assert not it.others()
    it.end()


WHY = "mpiexec cannot start processes on other hosts: its 'false' ended with status 1"


@pytest.mark.parametrize("program", [["hostname"], [job.BUILD / "bin/epop", job.program("rigid")]], ids=["rigid", "epop"])
def test_a_host_that_cannot_be_reached(space, attended, program):
    """What reaches hosts for mpiexec has failed: before MPICH 5 it would wait for ever."""
    it = attended(job.MPIEXEC, "-launcher", "ssh", "-launcher-exec", "false", "-hosts", "192.0.2.1", "-n", "1", *program).start()
    ended = it.hear_end()
    noticed = None if space.mpi().startswith("MPICH 4") else WHY  # by mpiexec itself, without a reason
    assert ended.get("reason", noticed) == WHY, ended
    assert it.end()["signal"] or ended["status"], ended


def test_a_rigid_mpi_program_ends(attended):
    it = attended(job.MPIEXEC, "-n", 2, "sleep", "1000").start()
    connection = it.connect()
    job.wait_for(lambda: len(named(it.others(), "sleep")) == 2, LIMIT)
    connection.say({"id": 1, "do": "end", "grace": 20})
    connection.ended()
    assert not it.others()
    it.end()


def heard(it):
    """Nobody listens, at a socket that may be the old one's, before the guard is through; nor after a while."""
    try:
        connection = Connection(it.directory)
    except OSError:
        return None
    return connection.hello["ended"] or connection.ended()


def lost(it):
    """The next attendant of the directory ends what is left, and says so to who comes."""
    it.start()
    job.wait_for(lambda: heard(it) or not it.it.running(), LIMIT)
    ended = it.end()
    assert ended["lost"] and ended["status"] is None and not it.others()
    job.wait_for(lambda: not it.space.processes(), LIMIT)


@pytest.mark.parametrize("who", ["attendant", "attendant and guard"])
def test_the_attendant_is_killed(attended, who):
    it, _ = ledger(attended)
    guard = it.guard()
    if "guard" in who:
        job.send_signal(it.it.pid, signal.SIGSTOP)
        os.kill(guard, signal.SIGKILL)
    os.kill(it.it.pid, signal.SIGKILL)
    it.it.wait(LIMIT)
    lost(it)


def test_the_guard_is_killed(attended):
    it, connection = ledger(attended)
    os.kill(it.guard(), signal.SIGKILL)
    assert connection.ended()["lost"]
    assert not it.others()
    it.end()


def test_nobody_starts_it_again(attended):
    """The guard ends the job, and writes how it ended."""
    it, _ = ledger(attended)
    os.kill(it.it.pid, signal.SIGKILL)
    it.it.wait(LIMIT)
    job.wait_for(lambda: not it.space.processes(), LIMIT)
    assert it.ended()["lost"]


def test_it_is_told_to_go(attended):
    """SIGTERM to the attendant, as at a shutdown: the job ends in order."""
    it, connection = ledger(attended)
    os.kill(it.it.pid, signal.SIGTERM)
    assert connection.ended()["status"] == 0
    it.end()


def test_it_outlives_who_started_it(attended, space):
    """A kill of the whole process group does not reach it."""
    it = attended("sleep", "1000")
    parent = space.start(["/bin/sh", "-c", f"'{ATTEND}' run '{it.directory}' >/dev/null 2>&1 & wait"])
    connection = it.connect()
    os.killpg(parent.pid, signal.SIGKILL)
    parent.wait()
    connection.ask(1, "status")
    assert connection.answer(1)["code"] == "refused"
    connection.say({"id": 2, "do": "end", "grace": 1})
    assert connection.ended()["signal"] == signal.SIGTERM
    job.wait_for(lambda: not space.processes(), LIMIT)
