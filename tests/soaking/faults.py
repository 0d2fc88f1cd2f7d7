"""A soak with faults: resizes, in each of which some process is killed, or stopped, or stopped and continued, while others
ask the job for its state. docs/reference/faults.md says what may come of it: the resize is committed; or called off, with a reason, and
the job goes on at its old size; or the job ends with a line that says why. Then another job is started."""

import collections
import os
import pathlib
import random
import re
import signal
import subprocess
import time

import job
from soaking.clients import Clients
from soaking.run import Failed, Run
from soaking.victims import Victims

LIMIT = 60      # seconds until a resize has an outcome; MPI's own limits and ours follow each other
END_LIMIT = 5   # from a death to the end of the job, where it has to end
UNHURT = 2      # resizes, which show how long one takes here
NO_JOB = 3      # epopctl's exit status
OPTIONS = ("--verbose", "--prepare-timeout", "10")
# Who, what is done to it, how often, and whether the job may end, or has to.
GOES_ON, MAY_END, HAS_TO_END = range(3)
KINDS = {
    ("nobody", "nothing"): (2, GOES_ON),
    ("joiner", "kill"): (4, MAY_END),
    ("joiner", "stop"): (2, MAY_END),
    ("joiner", "pause"): (4, MAY_END),
    ("launcher", "kill"): (3, MAY_END),
    ("launcher", "stop"): (2, GOES_ON),
    ("launcher", "pause"): (3, GOES_ON),
    ("proxy", "kill"): (2, MAY_END),
    ("standby", "kill"): (2, MAY_END),
    ("standby", "stop"): (2, MAY_END),
    ("standby", "pause"): (2, GOES_ON),
    ("rank", "kill"): (1, HAS_TO_END),
    ("rank", "stop"): (2, MAY_END),
    ("rank", "pause"): (4, GOES_ON),
    ("rank 0", "kill"): (1, HAS_TO_END),
    ("rank 0", "pause"): (3, GOES_ON),
    ("epopctl", "kill"): (2, GOES_ON),
    ("epopctl", "pause"): (2, GOES_ON),
}
# A process that is started by the ranks is one of theirs, and what it is started with is theirs, too.
BY_RANKS = {kind: (often, HAS_TO_END if kind == ("joiner", "kill") else may) for kind, (often, may) in KINDS.items()
            if kind[0] not in ("launcher", "proxy", "standby")}
EVENTS = re.compile(r"epop: (requested|prepared|agreed|committed|failed|cancelled|refused|stopping|finished|the backend|backend)\b")
CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "signal 11", "Assertion", "Sanitizer", "WRONG")


class Fault:
    """What is done to whom, and when."""

    def __init__(self, rng, kind, length):
        """length: of the resize, about, from the victim's start."""
        self.victim, self.deed = kind
        self.delay = rng.uniform(0, 0.7 * length)  # from when the victim is there; asking takes its part
        self.length = rng.uniform(0.05, 3)   # of a pause
        self.which = rng.random()
        self.pid = self.since = self.struck = None

    def look(self, victims):
        """Strikes, or lets go, if it is time."""
        now = time.monotonic()
        if self.struck is None:
            self._look_for(victims, now)
        elif self.deed == "pause" and now > self.struck + self.length:
            self.let_go()

    def _look_for(self, victims, now):
        there = victims.find(self.victim)
        if there and self.since is None:
            self.since = now
        if there and now >= self.since + self.delay:
            self.pid, self.struck = there[int(self.which * len(there))], now
            self._signal(signal.SIGKILL if self.deed == "kill" else signal.SIGSTOP)

    def let_go(self):
        if self.pid and self.deed in ("stop", "pause"):
            self._signal(signal.SIGCONT)
            self.pid = None

    def _signal(self, number):
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass

    def __str__(self):
        struck = "which did not come to it" if self.struck is None else f"process {self.pid}, {self.delay:.3f} s after it was there"
        return f"{self.deed} {self.victim} ({struck}{f', for {self.length:.2f} s' if self.deed == 'pause' else ''})"


class Soak:
    """One job after the other, until there were so many resizes."""

    def __init__(self, directory, program, options, most):
        self.directory, self.program, self.options, self.most = directory, program, options, most
        self.rng = random.Random(options.seed)
        self.kinds = KINDS if options.backend == "join" else BY_RANKS
        self.parks = "park" in options.options
        self.outcomes = collections.Counter()
        self.length = {True: 0.3, False: 0.05}  # of growing and shrinking in which nothing is done, about
        self.run = self.space = None
        self.jobs = 0

    def start(self):
        self.space = job.Space(self.directory)
        self.before = files()
        self.run = Run(self.space, self.program, self.options.backend, [*OPTIONS, *self.options.options.split()], self.most)
        self.clients = Clients(self.space, self.rng)
        self.jobs += 1

    def resize(self, number):
        if self.run is None:
            self.start()
        elif self.run.near_its_end():
            self.end_well()
            self.start()
        kinds, weights = zip(*((kind, often) for kind, (often, _) in self.kinds.items()
                               if self.options.only in (None, f"{kind[1]} {kind[0]}") and (self.parks or kind[0] != "standby")))
        size, named = self.run.choose(self.rng)
        kind = self.rng.choices(kinds, weights)[0] if number > UNHURT else ("nobody", "nothing")
        fault = Fault(self.rng, kind, self.length[self.grows(size, named)])
        what = f"resize {number}, {self.run.size} -> {size} {' '.join(named)}: {fault.deed} {fault.victim}"
        try:
            outcome = self.perform(fault, size, named)
        except (Failed, AssertionError) as failure:
            raise Failed(f"{what}: {fault}\n{failure}\n{self.run.report()}") from None
        if self.options.verbose:
            print(f"  {what}: {outcome}", flush=True)
        self.outcomes[(fault.victim, fault.deed), outcome] += 1

    def grows(self, size, named):
        return size > self.run.size - (len(named[1].split(",")) if named else 0)

    def perform(self, fault, size, named):
        """One resize with its fault, up to a job that goes on, or none. The outcome."""
        victims = Victims(self.space, self.run.status())
        self.run.tools += 1
        begin = time.monotonic()
        request = self.space.start_epopctl("resize", str(size), "--wait", *named, limit=10 * LIMIT)
        victims.request = request.pid
        grows, outcome = self.grows(size, named), None
        while outcome is None:
            fault.look(victims)
            self.clients.step()
            outcome = self.look_for_outcome(fault, request, size)
            if time.monotonic() > begin + LIMIT + (fault.length if fault.deed == "pause" else 0):
                raise Failed(f"no outcome after {LIMIT} s\n{self.look_closely(request)}")
            time.sleep(0.005)
        fault.let_go()
        if fault.struck is None and fault.victim != "nobody" and outcome != "ended":
            outcome += ", too early"
        if outcome.startswith("committed") and fault.struck is None:
            first = fault.victim == "nobody" and self.run.resizes < UNHURT
            weight = 1 if first else 0.2
            self.length[grows] += weight * (time.monotonic() - begin - self.length[grows])
        try:
            return self.settle(fault, outcome, size)
        except (Failed, AssertionError) as failure:
            raise Failed(f"{outcome}\n{request.wait()}\n{failure}") from None

    def look_for_outcome(self, fault, request, size):
        """None: not yet."""
        if not self.run.it.running():
            return "ended"
        if request.running():
            return None
        result = request.wait()
        if result.status == 0:
            return "committed"
        if result.status == -signal.SIGKILL and fault.victim == "epopctl":
            return self.carried_out(size)
        if result.status == NO_JOB or "the program has ended" in result.err or "the job is ending" in result.err:
            return "ended"
        if not result.err.strip():
            raise Failed(f"no reason: {result}")
        return "called off"

    def carried_out(self, size):
        """The request's, whose epopctl was killed. It may not have come so far as to ask."""
        status = self.run.status()
        if not status or pending(status):
            return None
        return "committed" if status["size"] == size else "called off"

    def settle(self, fault, outcome, size):
        """Is that an outcome that may be? And is the job as it says?"""
        may = self.kinds[fault.victim, fault.deed][1] if fault.struck else GOES_ON
        killed = fault.struck and fault.deed == "kill" and fault.victim != "epopctl"
        if outcome != "ended" and killed and (may == HAS_TO_END or outcome == "committed"):
            outcome = self.wait_for_end(fault, outcome)
        if outcome == "ended":
            return self.check_end(fault, may)
        status = self.status()
        if not status: # with the program, after that
            return self.check_end(fault, may)
        if outcome == "called off" and fault.deed == "stop" and status["size"] == size:
            outcome = "committed late"  # who waited was told whom it waited for
        wanted = size if outcome.startswith("committed") else self.run.size
        if status["size"] != wanted:
            raise Failed(f"{outcome}, but {status['size']} ranks and not {wanted}")
        if outcome.startswith("committed"):
            self.run.count(size)
        return outcome

    def status(self):
        """None when the job has ended."""
        end = time.monotonic() + 20
        while self.run.it.running():
            status = self.run.status()
            if status and not pending(status):
                return status
            if time.monotonic() > end:
                raise Failed("the job does not answer any more")
        return None

    def wait_for_end(self, fault, outcome):
        """Of a job that missed a process; one that had left it already is not missed."""
        while self.run.it.running() and self.space.in_time(time.monotonic() - fault.struck, END_LIMIT):
            time.sleep(0.005)
        if not self.run.it.running():
            return "ended"
        status = self.status()
        ranks = [process["pid"] for process in status["processes"] if process["rank"] >= 0] if status else []
        if outcome != "committed" or fault.pid in ranks:
            raise Failed(f"the job goes on {END_LIMIT} s after a process of it was killed")
        return "committed" if status else "ended"

    def check_end(self, fault, may):
        result = self.run.it.wait(LIMIT)
        took = time.monotonic() - fault.struck if fault.struck else 0
        by_itself = result.status == 0 and self.run.is_right(result, counted=False)
        if may == GOES_ON and not by_itself:
            raise Failed(f"the job ended\n{result}")
        if any(text in result.out + result.err for text in CRASHES):
            raise Failed(f"a crash\n{result}")
        silent = not by_itself and fault.victim != "rank 0" and not said(result.err)
        if silent and (fault.deed != "kill" or result.status == 0):
            raise Failed(f"the job ended without a word\n{result}")
        if fault.deed == "kill" and not self.space.in_time(took, END_LIMIT + 2):
            raise Failed(f"the job ended only {took:.1f} s after that\n{result}")
        self.check_nothing_left()
        return "program over" if by_itself else "ended by MPI" if silent else "ended"

    def end_well(self):
        self.clients.close()
        self.run.finish(counted=False)
        self.check_nothing_left()

    def check_nothing_left(self):
        self.clients.close()
        self.space.epopctl("list")  # removes the files of a process 0 that was killed
        end = time.monotonic() + 20
        while (left := self.left()) and time.monotonic() < end:
            time.sleep(0.05)
        if left:
            raise Failed(f"left behind: {[describe(one) for one in left]}")
        self.space.close()
        self.run = None

    def left(self):
        runtime = [str(path) for path in pathlib.Path(self.space.runtime).rglob("*") if not path.is_dir()]
        return self.space.processes() + runtime + sorted(files() - self.before)

    def look_closely(self, request):
        """At a job that does nothing."""
        text = ""
        for pid in [victim for victim in self.space.processes() if runs_code_of_ours(victim)]:
            done = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"], capture_output=True,
                                  text=True, timeout=60, check=False)
            text += f"--- process {pid}{', which asks' if pid == request.pid else ''}\n{done.stdout[-6000:]}\n"
        return f"--- status\n{self.run.ctl('status', '--json').out}\n--- where\n{self.run.ctl('where').out}\n{text}"

    def table(self):
        names = sorted({outcome for _, outcome in self.outcomes})
        print(f"  {'fault':20}" + "".join(f"{name:>24}" for name in names))
        for kind in self.kinds:
            counts = [self.outcomes[kind, name] for name in names]
            if any(counts):
                print(f"  {kind[1] + ' ' + kind[0]:20}" + "".join(f"{count or '':>24}" for count in counts))


def pending(status):
    return any(adaptation["state"] in ("preparing", "prepared", "window") for adaptation in status["adaptations"])


def said(text):
    """By EPOP, of the end: what --verbose tells does not count."""
    return [line for line in text.splitlines() if line.startswith("epop: ") and not EVENTS.match(line)]


def runs_code_of_ours(pid):
    try:
        return "epop" in pathlib.Path(f"/proc/{pid}/comm").read_text() and "keeper" not in pathlib.Path(
            f"/proc/{pid}/comm").read_text()
    except OSError:
        return False


def describe(left):
    """A file, or a process with its command and what it waits in."""
    if not isinstance(left, int):
        return left
    try:
        place = pathlib.Path(f"/proc/{left}")
        stacks = subprocess.run(["gdb", "-p", str(left), "-batch", "-ex", "thread apply all bt 12"], capture_output=True, text=True,
                                timeout=60, check=False).stdout[-6000:]
        return f"{left}: {(place / 'cmdline').read_bytes().replace(bytes(1), b' ').decode()}\n{(place / 'status').read_text()}\n{stacks}"
    except OSError:
        return str(left)


def files():
    """In the places that all users share, such as EPOP and MPICH make them; but not those that someone uses."""
    names = {str(path) for pattern in ("mpich*", "sem.*") for place in ("/tmp", "/dev/shm")
             for path in pathlib.Path(place).glob(pattern)}
    return names - in_use() if names else names


def in_use():
    used = set()
    for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
        try:
            used |= {line.split(maxsplit=5)[5].rstrip("\n") for line in maps.read_text().splitlines() if " /dev/shm/" in line}
        except OSError:
            pass
    return used


def soak(directory, program, options, most):
    begin = time.monotonic()
    print(f"{program}, {options.backend}: {options.resizes} resizes with faults between 1 and {most} ranks, seed {options.seed}",
          flush=True)
    it = Soak(directory, program, options, most)
    try:
        for number in range(1, options.resizes + 1):
            it.resize(number)
        if it.run:
            it.end_well()
    finally:
        it.table()
        if it.space:
            it.space.close()
    print(f"  {options.resizes} resizes in {time.monotonic() - begin:.0f} s, {it.jobs} jobs", flush=True)
