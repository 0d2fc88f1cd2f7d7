"""Processes for tests: epop with or without mpiexec, and epopctl, with a hard time limit each.

Everything that a Space starts carries a marker in its environment; when the space is closed, whatever
still carries it is ended, and that something was left fails the test.
"""

import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid

import sanitizers

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = (ROOT / os.environ.get("EPOP_BUILD", "build")).resolve()
MPIEXEC = os.environ.get("MPIEXEC", "mpiexec.mpich")
MARKER = "EPOP_TEST_SPACE"


def program(name):
    """A program of programs/."""
    return str(BUILD / "lib/epop/programs" / (name + ".so"))


def example(name):
    """A program of examples/."""
    return str(BUILD / "lib/epop/examples" / (name + ".so"))


def test_program(name):
    """A program of tests/programs/."""
    return str(BUILD / "tests/programs" / (name + ".so"))


test_program.__test__ = False


STILL = set("TtZX")  # stopped, or at its end


def thread_states(pid):
    """The letters of proc(5) for its threads; ProcessLookupError: it has gone."""
    states = set()
    for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # a thread that has ended meanwhile
            states.add(stat.read_text().rsplit(")", 1)[1].split()[0])
    if not states:
        raise ProcessLookupError(f"process {pid} has gone")
    return states


def is_stopped(pid):
    """All of it, not the first thread alone."""
    states = thread_states(pid)
    return "T" in states and states <= STILL


def wait_until_still(pid):
    """After SIGSTOP, which the kernel carries out at each thread's next turn, not at once."""
    wait_for(lambda: thread_states(pid) <= STILL, 10, pause=0.001, why=lambda: f"process {pid} goes on 10 s after SIGSTOP")


def parent(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def signal_again(pid, number):
    """As another request to end than the one before: within a second they are one."""
    time.sleep(1.1)
    os.kill(pid, number)


def send_signal(pid, number):
    """os.kill, which for SIGSTOP comes back when the process stands still."""
    os.kill(pid, number)
    if number == signal.SIGSTOP:
        wait_until_still(pid)


class TimeLimit(AssertionError):
    """A process did not do in time what the test waited for."""


LIMIT = 60  # seconds for a command and for what is waited for, which on a busy machine may take ten times as long as else
EPOPCTL_LIMIT = LIMIT + 20  # it waits for a minute itself, and then says how the job is


def wait_for(look, limit=LIMIT, meets=bool, running=None, why=None, pause=0.01):
    """What look() gives as soon as it meets the condition. running: what must not end meanwhile; why(): what is said when it does not
    come in time, instead of what was seen last; pause: 0 where what is waited for does not last."""
    end = time.monotonic() + limit
    while not meets(seen := look()):
        assert not running or running.running(), running.wait(1)
        if time.monotonic() > end:
            raise TimeLimit(f"not in time: {why() if why else seen}")
        time.sleep(pause)
    return seen


def steady(read):
    """What read() gives twice. The kernel's tables of connections are read in pieces, while they change: a row may be there twice, or be
    missed."""
    before, now = None, read()
    while before != now:
        before, now = now, read()
    return now


BOX = re.compile(r"^-{74}\n.*?^-{74}\n|^\d+ more process(?:es)? ha(?:s|ve) sent help message .*\n|^Set the PMIX_AGGREGATE_HELP .*\n", re.M | re.S)


def without_boxes(text):
    """Without what Open MPI's launcher adds about a job that did not end well, and cannot be told to leave out."""
    return BOX.sub("", text) if "openmpi" in MPIEXEC else text


class Result:
    """How a command ended."""

    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err

    @property
    def failed(self):
        """A proxy of Hydra's that fails itself reports no status, and mpiexec takes that for 0 (docs/reference/faults.md)."""
        return self.status != 0 or "demux engine error" in self.err

    def __repr__(self):
        return f"{' '.join(self.command)}\nexit status {self.status}\n--- stdout\n{self.out}--- stderr\n{self.err}"


class Job:
    """A running command. Its output is collected by threads, so that it never blocks on a full pipe."""

    def __init__(self, command, environment, directory, limit, stdin):
        self.command = [str(part) for part in command]
        self.deadline = time.monotonic() + limit
        self._news = threading.Condition()
        self._lines = {"out": [], "err": []}
        self._open = 2
        self._process = subprocess.Popen(
            self.command, env=environment, cwd=directory, stdin=stdin, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        for name in ("out", "err"):
            stream = getattr(self._process, "std" + name)
            threading.Thread(target=self._collect, args=(stream, name), daemon=True).start()

    @property
    def pid(self):
        return self._process.pid

    @property
    def stdin(self):
        return self._process.stdin

    @property
    def out(self):
        with self._news:
            return "".join(self._lines["out"])

    @property
    def err(self):
        with self._news:
            return without_boxes("".join(self._lines["err"]))

    def wait_for_line(self, pattern, timeout=LIMIT, stream="out", start=0):
        """The match of the first line from number `start` on that has the pattern; (match, number of the next line)."""
        seen = start
        end = min(time.monotonic() + timeout, self.deadline)
        with self._news:
            while True:
                lines = self._lines[stream]
                while seen < len(lines):
                    match = re.search(pattern, lines[seen])
                    seen += 1
                    if match:
                        return match, seen
                left = end - time.monotonic()
                if left <= 0 or self._open == 0:
                    why = "no such line in time" if self._open else "the command ended without such a line"
                    raise TimeLimit(f"{why}: {pattern}\n{self._report()}")
                self._news.wait(left)

    def wait(self, timeout=None):
        """Waits for the end, until the job's own limit at most, and returns its Result."""
        end = self.deadline if timeout is None else min(time.monotonic() + timeout, self.deadline)
        try:
            status = self._process.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            report = self._report()
            self.kill()
            raise TimeLimit(f"still running at its time limit\n{report}") from None
        with self._news:
            # A process that outlives the command may hold its pipes: that is for the space to find.
            self._news.wait_for(lambda: self._open == 0, 10)
        return Result(self.command, status, self.out, self.err)

    def running(self):
        return self._process.poll() is None

    def signal(self, number):
        """To the command alone (the launcher), as a user's kill would."""
        self._process.send_signal(number)
        if number == signal.SIGSTOP:
            wait_until_still(self.pid)

    def kill(self):
        """Ends the command's process group at once."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()

    def _collect(self, stream, name):
        with stream:
            for line in stream:
                with self._news:
                    self._lines[name].append(line)
                    self._news.notify_all()
        with self._news:
            self._open -= 1
            self._news.notify_all()

    def _report(self):
        return repr(Result(self.command, self._process.poll(), "".join(self._lines["out"]),
                           "".join(self._lines["err"])))


class Asks:
    """Has epopctl(), and the one job that it finds is asked and told."""

    def status(self):
        """None: no job answers."""
        result = self.epopctl("status", "--json")
        return json.loads(result.out) if result.status == 0 else None

    def wait_for_status(self, condition, limit=LIMIT, running=None):
        """The first status that meets the condition; running: what must not end meanwhile."""
        answer = wait_for(lambda: self.epopctl("status", "--json"), limit,
                          lambda answer: answer.status == 0 and condition(json.loads(answer.out)), running, pause=0)
        return json.loads(answer.out)

    def wait_until_running(self, running=None):
        return self.wait_for_status(lambda status: status["state"] == "running", running=running)

    def wait_until_all_are_here(self):
        """All processes have attached."""
        return self.wait_for_status(lambda status: all(process["pid"] for process in status["processes"]))

    def resize(self, *words, status=0):
        """Waits for its outcome, which is that one."""
        result = self.epopctl("resize", "--wait", *words)
        assert result.status == status, result
        return result

    def stop(self, running, status=0):
        """Stops the job of that command; the Result, which has that status."""
        stopped = self.epopctl("stop", "--wait")
        assert stopped.status == 0, stopped
        result = running.wait()
        assert result.status == status, result
        return result


class Space(Asks):
    """What one test starts: a private runtime directory, a marker, and the processes."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.marker = uuid.uuid4().hex
        # Not below the test's own directory: paths of sockets are limited to some 100 characters.
        self.runtime = tempfile.mkdtemp(prefix="epop-test-")
        self._reports = pathlib.Path(tempfile.mkdtemp(prefix="epop-test-reports-"))
        self._jobs = []

    def environment(self, extra=None):
        environment = dict(os.environ)
        environment.pop("EPOP_RUNTIME_DIR", None)
        environment.update(sanitizers.options(self._reports))
        environment.update({"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
                            "XDG_RUNTIME_DIR": self.runtime, MARKER: self.marker})
        if "XDG_RUNTIME_DIR" not in (extra or {}):  # only this test's jobs, not those in /tmp/epop-UID too
            environment["EPOP_RUNTIME_DIR"] = self.runtime + "/epop"
        environment.update(extra or {})
        return {key: str(value) for key, value in environment.items() if value is not None}

    def start(self, command, env=None, limit=LIMIT, cwd=None, stdin=subprocess.DEVNULL):
        """Starts any command; env adds variables, None removes one."""
        job = Job(command, self.environment(env), cwd or self.directory, limit, stdin)
        self._jobs.append(job)
        return job

    def start_epop(self, *arguments, ranks=None, epop=BUILD / "bin/epop", **how):
        """Starts epop with these arguments, under `mpiexec -n ranks` unless ranks is None."""
        launcher = [] if ranks is None else [MPIEXEC, "-n", str(ranks)]
        return self.start([*launcher, epop, *arguments], **how)

    def start_slowly(self, *arguments, env=None, **how):
        """As start_epop: from its second iteration on the program's take longer and longer, until go_on()."""
        slow = {"EPOP_TEST_AT": "1", "EPOP_TEST_WAITS": "1", "EPOP_TEST_FILE": str(self.directory / "go-on")}
        return self.start_epop("--driver", test_program("driver_asks"), *arguments, env={**slow, **(env or {})}, **how)

    def go_on(self):
        (self.directory / "go-on").touch()

    def epop(self, *arguments, **how):
        """Runs epop to its end; the Result."""
        return self.start_epop(*arguments, **how).wait()

    def start_epopctl(self, *arguments, limit=EPOPCTL_LIMIT, **how):
        return self.start([BUILD / "bin/epopctl", *arguments], limit=limit, **how)

    def epopctl(self, *arguments, **how):
        """Runs epopctl to its end; the Result."""
        return self.start_epopctl(*arguments, **how).wait()

    def mpi(self):
        """The MPI library, as "MPICH 4.0.2, device ch3:sock; built with MPICH 4.0.2"."""
        return self.epop("--version").out.splitlines()[1]

    def kept(self):
        """KiB of memory that MPI may keep in a process of each one that has left: MPICH 5 over ch4:ucx some 90."""
        return 133 if re.match(r"MPICH 5\.\S+, device ch4:ucx", self.mpi()) else 0

    def slowed(self, seconds):
        """So many seconds on a machine that has time for us. One that has much else to do gets as many more as all takes
        longer there: fifteen times what a job that does nothing takes."""
        begin = time.monotonic()
        result = self.epop(program("rigid"), ranks=2)
        assert result.status == 0, result
        return max(seconds, 15 * (time.monotonic() - begin))

    def patience(self, seconds):
        """The same for a time limit of a job's: no more than 25, as the command that waits for it has a limit, too."""
        return max(seconds, min(25, self.slowed(seconds)))

    def in_time(self, took, limit):
        """Did it take less than that many seconds?"""
        return took < limit or took < self.slowed(limit)

    def said(self):
        """The last words of all commands that had something to say, but for what epopctl printed."""
        reports = [job._report() for job in self._jobs if (job.out or job.err) and not job.command[0].endswith("/epopctl")]
        return "\n".join(report if len(report) < 5000 else f"{report[:1000]}\n[...]\n{report[-4000:]}" for report in reports[-10:])

    def processes(self):
        """The pids of all living processes that this space started, directly or not."""
        return [int(entry.name) for entry in pathlib.Path("/proc").iterdir()
                if entry.name.isdigit() and self._is_ours(entry)]

    def kill_left(self):
        """Ends what still runs; some of it may end by itself just now."""
        for pid in self.processes():
            self._end(pid)

    def close(self):
        """Ends everything. Fails when something that nobody waits for was still running, or a sanitizer has found something."""
        for job in self._jobs:
            if job.running():
                job.kill()
        left = self._wait_gone(20)
        names = [self.command_line(pid) for pid in left]
        for pid in left:
            self._end(pid)
        found = sanitizers.reports(self._reports)
        for directory in (self._reports, self.runtime):
            shutil.rmtree(directory, ignore_errors=True)
        assert not found, "\n".join(found)
        assert not left, f"left running: {names}"

    def _is_ours(self, entry):
        try:
            if f"{MARKER}={self.marker}".encode() not in (entry / "environ").read_bytes().split(b"\0"):
                return False
            return (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def _wait_gone(self, timeout):
        """Waits until no process of the space is left; those that are, at the end."""
        end = time.monotonic() + timeout
        while True:
            left = self.processes()
            if not left or time.monotonic() >= end:
                return left
            self._wait_for_exit(left[0], end - time.monotonic())

    @staticmethod
    def _wait_for_exit(pid, timeout):
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            select.select([descriptor], [], [], timeout)
        finally:
            os.close(descriptor)

    @staticmethod
    def _end(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    @staticmethod
    def command_line(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return f"(pid {pid}, gone)"
