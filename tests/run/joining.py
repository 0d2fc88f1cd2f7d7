"""What the tests of the backends that start processes share."""

import os
import select
import subprocess

import pytest

import hosts
import job
import sanitizers

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
needed = pytest.mark.skipif(not WORKS, reason=f"no join here: {_why.strip()}")


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

def start(space, *arguments, backend=JOIN, ranks=2, options=(), env=None, limit=120):
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
                                         job.BUILD / "bin/epop", *JOIN, *options, job.program("ledger"), *ENDLESS], env=env, limit=120)
    host.wait_until_running()
    return running


def end(asks, running):
    """asks: a Space, or hosts.At."""
    result = asks.stop(running)
    assert "right in" in result.out, result
    return result
