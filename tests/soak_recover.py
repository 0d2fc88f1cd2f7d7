#!/usr/bin/env python3
"""Random kills among random resizes, under epop --recover: every element must be right, and nothing left behind.

    tests/soak_recover.py [--program ledger|gauss|five] [--site here|hosts] [--kills N] [--most RANKS] [--seed S]

Each round resizes the job to a random size, and kills something at a random moment: a rank, mpiexec or a proxy of
Hydra's; with --site hosts (three network namespaces) also a whole host, which comes back later. A job ends after some
rounds, by itself or as it is told to, and must have status 0: ledger and five look at each element in each iteration,
gauss at its residual.
"""

import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import random
import re
import signal
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "run/helpers")]

import hosts  # noqa: E402
import job  # noqa: E402

RECOVERED = r"epop: recovered \((\d+) of \d+\) on \d+ ranks? from (.*); lost: (\d+) iterations?, ([\d.]+) s; " \
            r"it stood still for ([\d.]+) s"
PROGRAMS = {"ledger": [job.program("ledger"), "elements=20000", "iterations=100000000", "work=1000"],
            "five": [job.program("five"), 20000, 100000000],
            "gauss": [job.BUILD / "lib/epop/examples/gauss.so", "--random", 2600, "--block", 4, "--json"]}
ROUNDS = 25  # of a job


class Here:
    """All on this host."""

    victims = ("epop", "epop", "mpiexec.hydra", "hydra_pmi_proxy")

    def __init__(self, space):
        self.space = space

    def start(self, words):
        return self.space.start_epop("-n", 2, *words, limit=100000)

    def ctl(self, *words):
        return self.space.start_epopctl(*words)

    def kill(self, name, rng):
        victims = named(self.space, name)
        if victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(victims), signal.SIGKILL)
        return bool(victims)

    def mend(self):
        """All that a round has broken."""


class Hosts(Here):
    """The supervisor is on n1, and stays; of the two others, where process 0 is on the first that is there, one may go.
    If the job then runs on one host alone, which goes next, there is a file."""

    victims = ("epop", "mpiexec.hydra", "hydra_pmi_proxy", "host", "host")
    names = ("n2", "n3")

    def __init__(self, space):
        super().__init__(space)
        self.net, self.off = hosts.Hosts(space, ["n1", *self.names]), None

    def start(self, words):
        return self.net.start("n1", [job.BUILD / "bin/epop", "-n", 4, "--hosts", "n2:2,n3:2", "--launcher", "ssh",
                                     "--launcher-exec", hosts.START, "--checkpoint-every", 1, "--checkpoint-dir", self.space.directory,
                                     "--checkpoint-keep", 2, *words], limit=100000)

    def ctl(self, *words):
        return self.net.start(self.host(), [job.BUILD / "bin/epopctl", *words], limit=job.EPOPCTL_LIMIT)

    def host(self):
        """Where process 0 is, as the newest job's file says: a job that has one host alone listens to that one only."""
        said = []
        for path in (pathlib.Path(self.space.runtime) / "epop").glob("*.json"):
            with contextlib.suppress(OSError, ValueError):
                said.append((path.stat().st_mtime, json.loads(path.read_text())["host"]))
        there = [host for _, host in sorted(said) if host != self.off]
        return there[-1] if there else next(name for name in self.names if name != self.off)

    def kill(self, name, rng):
        if name != "host":
            return super().kill(name, rng)
        if not self.off:
            self.off = rng.choice(self.names)
            self.net.power_off(self.off)
        return True

    def mend(self):
        if self.off:
            self.net.power_on(self.off)
        self.off = None


def unheld():
    """Memory of supervisors that are gone: others on this machine may run such jobs, too."""
    found = set()
    for path in pathlib.Path("/dev/shm").glob("epop-[0-9]*"):
        try:
            with open(path / "in-use", "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                found.add(path)
        except FileNotFoundError:
            found |= {path} if path.exists() else set()
        except BlockingIOError:
            pass
    return found


def left_unheld(there):
    """What stays so: another job's supervisor may just be starting, or the next one has not yet removed what it left."""
    end = time.monotonic() + 20
    while (left := unheld() - there) and time.monotonic() < end:
        time.sleep(0.1)
    return left


def named(space, name):
    """Ranks alone of those that are called epop."""
    found = []
    for pid in space.processes():
        with contextlib.suppress(OSError):
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name and (name != "epop" or b"PMI_RANK=" in environment):
                found.append(pid)
    return found


def wait_for(condition, running, limit=120):
    """False: it has ended before."""
    end = time.monotonic() + limit
    while not condition():
        if not running.running():
            return False
        assert time.monotonic() < end, f"it does not go on\n{running.out}\n{running.err}"
        time.sleep(0.02)
    return True


def recoveries(running):
    return re.findall(RECOVERED, running.err)


def one_round(site, running, options, rng, sums):
    """One resize and one kill; False: the job has ended."""
    if not wait_for(lambda: site.ctl("status").wait().status == 0, running):
        return False
    resize = site.ctl("resize", str(rng.randint(1, options.most)), "--wait")
    if rng.random() < 0.8:
        resize.wait()
    time.sleep(rng.random() * 0.5)
    before, began = len(recoveries(running)), time.monotonic()
    what = rng.choice(site.victims)
    if site.kill(what, rng):
        sums["killed"][what] = sums["killed"].get(what, 0) + 1
    # A launcher of processes that have joined is nothing that the job needs, nor is a host on which none of them is.
    with contextlib.suppress(AssertionError):
        if wait_for(lambda: len(recoveries(running)) > before, running, limit=8 if what == "host" else 3):
            noticed = time.monotonic() - float(recoveries(running)[-1][4]) - began
            sums["noticed"].setdefault(what, []).append(max(noticed, 0))
    sums["resized"] += resize.wait().status == 0
    return running.running()


def is_late(options, result):
    """The kill came when the program had ended, and its processes not yet, which the status says: its result is lost, or
    there already and right."""
    lost, killed = "residual" not in result.out, f"ended with status {signal.SIGKILL:d}; so does the job" in result.err
    return options.program == "gauss" and result.status != 0 and (lost or killed) and "gauss:" not in result.err


def one_job(site, options, rng, sums):
    running = site.start(["--recover", 2 * ROUNDS, "--checkpoint-memory", "0.2", "--quiet", *PROGRAMS[options.program]])
    for _ in range(ROUNDS):
        if sum(sums["killed"].values()) >= options.kills or not one_round(site, running, options, rng, sums):
            break
        site.mend()
    if options.program != "gauss":
        wait_for(lambda: site.ctl("stop", "--wait").wait().status == 0, running)
    result = running.wait(120)
    sums["late"] += is_late(options, result)
    assert result.status == 0 or is_late(options, result), result
    site.mend()
    sums["recovered"] += recoveries(running)
    sums["jobs"] += 1


def soak(site, options):
    rng, sums = random.Random(options.seed), {"killed": {}, "resized": 0, "noticed": {}, "recovered": [], "jobs": 0, "late": 0}
    while sum(sums["killed"].values()) < options.kills:
        one_job(site, options, rng, sums)
    return sums


def seconds(values):
    return f"{statistics.median(values):.2f} s, at most {max(values):.2f} s"


def tell(options, sums, left):
    stood = [float(one[4]) for one in sums["recovered"]] or [0.0]
    noticed = "; ".join(f"{what} noticed after {seconds(values)}" for what, values in sorted(sums["noticed"].items()))
    memory, file = (sum(where in one[1] for one in sums["recovered"]) for where in ("memory", "file"))
    print(f"{options.program} {options.site} seed {options.seed}: {sums['jobs']} jobs ({sums['late']} killed when they had ended), killed {sums['killed']}, {sums['resized']} resizes; "
          f"{len(sums['recovered'])} recoveries, {memory} from memory, {file} from a file; stood still for {seconds(stood)}; "
          f"{noticed}; left: {left or 'nothing'}; {'FAILED' if left else 'all right'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", choices=PROGRAMS, default="ledger")
    parser.add_argument("--site", choices=("here", "hosts"), default="here")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--most", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # then what it has started is ended, too
    with tempfile.TemporaryDirectory(prefix="epop-soak-") as directory:
        space = job.Space(directory)
        there = unheld()
        try:
            site = (Hosts if options.site == "hosts" else Here)(space)
            sums = soak(site, options)
        except hosts.Unavailable as why:
            print(f"no namespaces here: {why}", flush=True)
            return 1
        except (AssertionError, job.TimeLimit) as failure:
            print(f"FAILED, {options}: {failure}", flush=True)
            return 1
        finally:
            space.close()
    left = left_unheld(there)
    tell(options, sums, left)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
