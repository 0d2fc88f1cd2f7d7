"""What the tests of the backends that start processes share."""

import os
import pathlib
import select
import subprocess

import pytest

import hosts
import job
import sanitizers
from scenario import Scenario

# The ledger's arguments for a run that lasts until it is stopped.
ENDLESS = ("iterations=100000000", "work=500", "elements=10000")

JOIN = ("--backend", "join")
SPAWN = ("--backend", "spawn")
BASELINE = (*SPAWN, "--spawn-method", "baseline")
SINGLE, ASYNC = ("--spawn-strategy", "single"), ("--spawn-async",)


def _alternatives(name, method):
    return {name: method, f"{name}-single": method + SINGLE, f"{name}-async": method + ASYNC,
            f"{name}-single-async": method + SINGLE + ASYNC}


MERGING = _alternatives("merge", SPAWN)         # ranks stay
REPLACING = _alternatives("baseline", BASELINE) # all ranks are replaced


def _each(backends):
    return pytest.mark.parametrize("backend", backends.values(), ids=backends.keys())


each_replacing, each_spawning = _each(REPLACING), _each({**MERGING, **REPLACING})
each_merging, each_backend = _each({"join": JOIN, **MERGING}), _each({"join": JOIN, **MERGING, **REPLACING})


def _can_join():
    """Tried, as --backend auto does."""
    done = subprocess.run([job.MPIEXEC, "-n", "1", str(job.BUILD / "bin/epop"), "--backend", "join",
                           job.program("rigid")], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, **sanitizers.options()})
    return done.returncode == 0, done.stderr


WORKS, _why = _can_join()
if not WORKS and os.environ.get("EPOP_JOINS"):  # tests/all.sh: a stage that skipped everything would count as passed
    raise RuntimeError(f"join has to work in this stage: {_why.strip()}")
needed = pytest.mark.skipif(not WORKS, reason=f"no join here: {_why.strip()}")


def needed_by(item):
    """Whether the test `item` is one that does not run without processes that join."""
    return any(mark == needed.mark for mark in item.iter_markers("skipif"))


def wait_for_end_of(pid, limit=30):
    """Waits until the process has ended, even if nobody has asked for its exit status yet."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], limit)[0], f"{pid} still runs"
    finally:
        os.close(descriptor)


# ---- A running ledger, and epopctl

def start(space, *arguments, backend=JOIN, ranks=2, options=(), env=None, limit=300):
    running = space.start_epop(*backend, *options, job.program("ledger"), *arguments, ranks=ranks,
                               limit=limit, env=env)
    space.wait_until_running()
    return running


def start_at(host, *options, launch=None, ranks=2, env=None, by_environment=False):
    """On that host (hosts.At), or on those of the launch, by a launcher that Hydra hears of on its command line or from the environment."""
    launcher = ["-launcher", "ssh", "-launcher-exec", hosts.START]
    if by_environment:
        launcher, env = [], {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": hosts.START, **(env or {})}
    running = host.net.start(host.name, [job.MPIEXEC, *launcher, "-hosts", ",".join(launch or [host.name]), "-n", ranks,
                                         job.BUILD / "bin/epop", *JOIN, *options, job.program("ledger"), *ENDLESS], env=env, limit=300)
    host.wait_until_running()
    return running


def end(asks, running):
    """asks: a Space, or hosts.At."""
    result = asks.stop(running)
    assert "right in" in result.out, result
    return result


# ---- A scenario under the join backend, and a launcher that can be spoilt

class Launcher:
    """An mpiexec for joining processes that does one thing wrong as long as it is told to."""

    def __init__(self, space):
        self.fault = space.directory / "launcher-fault"
        self.script = space.directory / "mpiexec"
        self.script.write_text(f"#!/bin/sh\nif [ -e {self.fault} ]; then . {self.fault}; fi\n"
                               f"exec {job.MPIEXEC} \"$@\"\n")
        self.script.chmod(0o755)

    def spoil(self, line):
        """This line of shell runs first."""
        self.fault.write_text(line + "\n")

    def preload(self, fault):
        """Its processes get tests/programs/preload_fault.c, with that fault."""
        library = job.test_program("preload_fault")
        self.spoil(f'set -- -genv LD_PRELOAD {library} -genv EPOP_TEST_FAULT {fault} "$@"')

    def repair(self):
        self.fault.unlink()


class JoinScenario(Scenario):
    """A scenario of two ranks under the join backend."""

    def __init__(self, space, *arguments, options=(), env=None, **how):
        self.launcher = Launcher(space)
        super().__init__(space, *arguments, start=2, ranks=2, options=("--backend", "join", *options),
                         env={"EPOP_MPIEXEC": self.launcher.script, **(env or {})}, **how)

    def finish(self, ranks=None, windows=None, iterations=None):
        """As Scenario's; of launches that were ended nothing is seen in the output."""
        result = self.it.wait()
        for words in ("mpiexec@", "BAD TERMINATION", "YOUR APPLICATION", "FAQ page", "====="):
            assert words not in result.out + result.err, result
        assert result.status == 0 and "WRONG" not in result.err and "epop: " not in result.err, result
        self.check_counts(result, ranks, windows, iterations)
        return result

    def pids(self, state):
        """Of the processes in that state, by number."""
        return [process["pid"] for process in self.status()["processes"] if process["state"] == state]

    def rank_pid(self, rank):
        return next(process["pid"] for process in self.status()["processes"] if process["rank"] == rank)

    def size(self):
        return self.status()["size"]

    def wait_for_adaptation(self, state):
        return self.wait_for_status(lambda status: status["adaptations"] and
                                    status["adaptations"][-1]["state"] == state)

    @staticmethod
    def launcher_of(pid):
        """The mpiexec above a process."""
        while pid > 1:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            pid = int(status.split("PPid:")[1].split()[0])
            if b"mpiexec" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]:
                return pid
        raise AssertionError("no mpiexec above it")
