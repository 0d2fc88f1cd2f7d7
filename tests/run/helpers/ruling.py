"""A daemon of epoprm for tests: requests on its socket, what its journal says, its death and its next life."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import sqlite3

import pytest

import hosts
import job

SHARE = job.BUILD / "tests/policies/share.so"
STEPS = ["decided", "asked", "prepared", "agreed", "committed", "settled"]
# Commands for jobs: mpiexec may die of those that end in their first moments (docs/reference/faults.md).
MOMENT, HOSTNAME = ["sleep", "0.5"], ["sh", "-c", "hostname; sleep 0.5"]
# A policy that does nothing else than start jobs, and move those that can be moved.
MOVES = """#!/usr/bin/python3
import epop_policy
def decide(state, plan):
    for job in state.waiting:
        if job.wanted <= plan.idle: plan.start(job, job.wanted, "it fits")
    for job in state.running:
        if hasattr(job, "moved"): plan.move(job, f"below {job.moved.leaves} leaf switch, saves {job.moved.saves:.2f}")
epop_policy.run(decide)
"""
LIMIT = 60  # seconds for anything that is waited for


def wait_for(what, why=None):
    return job.wait_for(what, LIMIT, why=why)


class Daemon:
    """epoprm start --foreground with these options, in a state directory of its own."""

    def __init__(self, space, *options, policy=SHARE, net=None, env=None):
        self.space, self.net, self.env = space, net, dict(env or {})
        self.options = [*options, "--policy", policy]
        self.directory = pathlib.Path(space.runtime) / "state"
        self.directory.mkdir(mode=0o700, exist_ok=True)
        self.running, self._said = None, []

    # ---- Its life

    def start(self, stop_at=None, ready=True):
        env = {**self.env, "EPOPRM_DIR": self.directory, "EPOPRM_STOP_AT": stop_at}
        command = [job.BUILD / "bin/epoprm", "start", "--foreground", *self.options]
        start = self.space.start if not self.net else lambda *a, **how: self.net.start(self.net.names[0], *a, **how)
        self.running = start(command, env=env, limit=300)
        if ready:
            wait_for(self.answers, why=lambda: f"it does not start: {self.running._report()}")
        return self

    def answers(self):
        assert self.running.running(), self.running.wait()
        with contextlib.suppress(OSError):
            return self.request("about")["ok"]
        return False

    @property
    def pid(self):
        """Of the daemon itself, which nsenter may have become."""
        return self.running.pid

    def wait_stopped(self):
        """Until it has stopped itself at its step."""
        def stopped():
            assert self.running.running(), self.running.wait()
            return job.is_stopped(self.pid)
        wait_for(stopped, why=lambda: f"it did not stop: {self.events()}")

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.running.wait()

    def stop(self, how="jobs"):
        """Ends it, with its jobs."""
        answer = self.request("stop", how=how)
        assert answer["ok"], answer
        result = self.running.wait()
        assert result.status == 0, result

    def close(self):
        """For the end of a test, however that went."""
        if self.running and self.running.running():
            os.kill(self.pid, signal.SIGCONT)
            with contextlib.suppress(Exception):
                self.stop()
        elif self.running:
            with contextlib.suppress(Exception):
                self.start().stop()

    # ---- Its commands

    def request(self, op, **members):
        with self._send(op, members) as connection:
            return json.loads(connection.makefile().readline())

    def say(self, op, **members):
        """A request whose answer may never come."""
        connection = self._send(op, members)
        self._said.append(connection)

    def _send(self, op, members):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(LIMIT)
        connection.connect(str(self.directory / "socket"))
        connection.sendall((json.dumps({"op": op, **members}) + "\n").encode())
        return connection

    def try_submit(self, *argv, how=None, ranks=(1, 1), env=None, **members):
        own = {**self.env, **(env or {})}
        environment = self.space.environment(self.net.environment(own) if self.net else own)
        return (how or self.request)("submit", argv=[str(word) for word in argv], ranks=list(ranks),
                            cwd=str(self.space.directory),
                            environment=[f"{key}={value}" for key, value in environment.items()], **members)

    def submit(self, *argv, **how):
        answer = self.try_submit(*argv, **how)
        assert answer["ok"], answer
        return answer["job"]

    def say_submit(self, *argv, **how):
        """To a daemon that may stop before it answers; the number that the job gets."""
        number = (self.rows("SELECT max(number) AS last FROM job")[0]["last"] or 0) + 1
        self.try_submit(*argv, how=self.say, **how)
        self.wait_event("submitted", number)
        return number

    def jobs(self):
        return {one["job"]: one for one in self.request("queue")["jobs"]}

    def nodes(self):
        return {one["node"]: one for one in self.request("nodes")["nodes"]}

    def wait_job(self, number, condition):
        return wait_for(lambda: (one := self.jobs().get(number)) and condition(one) and one,
                        why=lambda: f"{self.jobs()}\n{self.events()}\n{self.output(number)}")

    def wait_runs(self, number, nodes):
        return self.wait_job(number, lambda one: one["state"] == "running" and one["nodes"] == nodes)

    def output(self, number):
        path = self.directory / f"jobs/{number}/output"
        return path.read_text() if path.exists() else ""

    # ---- Its journal

    def rows(self, query, *values):
        with contextlib.closing(sqlite3.connect(f"file:{self.directory}/journal.db?mode=ro", uri=True, timeout=20)) as file:
            file.row_factory = sqlite3.Row
            return [dict(row) for row in file.execute(query, values)]

    def events(self, number=None, kind=None):
        rows = self.rows("SELECT * FROM event ORDER BY id")
        return [row for row in rows if (number is None or row["job"] == number) and (kind is None or row["kind"] == kind)]

    def wait_event(self, kind, number=None, count=1):
        return wait_for(lambda: (found := self.events(number, kind))[count - 1:] and found,
                        why=lambda: f"no {kind}: {self.events()}")[count - 1]

    def job_row(self, number):
        return self.rows("SELECT * FROM job WHERE number=?", number)[0]

    def wait_end(self, number, state="done"):
        row = wait_for(lambda: (row := self.job_row(number))["ended"] is not None and row["ended"] >= 0 and row,
                       why=lambda: f"job {number} does not end: {self.events()}\n{self.output(number)}")
        assert row["state"] == state, (row, self.events(number), self.output(number))
        return row

    def check(self):
        """What must hold at any time: no node was two jobs' at once, who ended holds nothing, resizes are settled once."""
        ended = [row["number"] for row in self.rows("SELECT number FROM job WHERE state IN ('done', 'failed', 'cancelled')")]
        assert [row for row in self.rows("SELECT * FROM holding") if row["job"] in ended] == []
        assert [row for row in self.rows("SELECT * FROM resize WHERE outcome='' ") if row["job"] in ended] == []
        assert [row for row in self.rows("SELECT * FROM stay WHERE end < 0 OR end IS NULL") if row["job"] in ended] == []
        used = {}
        for stay in self.rows("SELECT * FROM stay"):
            for node in stay["nodes"].split(","):
                used.setdefault(node, []).append((stay["begin"], stay["end"] if (stay["end"] or -1) >= 0 else 1e18, stay["job"]))
        for node, times in used.items():
            times.sort()
            for (_, end, one), (begin, _, other) in zip(times, times[1:]):
                assert begin >= end - 1e-6, f"{node}: of job {one} until {end}, and of {other} from {begin}"
        for row in self.rows("SELECT * FROM resize"):
            times = [row[step] for step in STEPS if row[step] is not None and row[step] >= 0]
            assert times == sorted(times), row


# ---- Fixtures, which a file of tests gives names of its own: fixture_daemon = ruling.on_local_nodes(3)


def ruled(daemon):
    """What a fixture does around a test."""
    yield daemon
    daemon.close()
    daemon.check()


def on_local_nodes(count, started=False):
    """The fixture `daemon`, on so many nodes that are made of this machine."""
    @pytest.fixture(name="daemon")
    def fixture(space):
        daemon = Daemon(space, "--local", str(count))
        yield from ruled(daemon.start() if started else daemon)
    return fixture


def by_options():
    """The fixture `rule`, which starts daemons with the options that it is given."""
    @pytest.fixture(name="rule")
    def fixture(space):
        made = []

        def rule(*options, **how):
            made.append(Daemon(space, *options, **how))
            return made[-1].start()
        yield rule
        for daemon in made:
            daemon.close()
    return fixture


def daemon_on(net, *options, launcher=hosts.START, slots=None, **how):
    """On these hosts, with a slot of each where `slots` does not say how many."""
    names = ",".join(f"{name}:{(slots or {}).get(name, 1)}" for name in net.names)
    return Daemon(net.space, "--hosts", names, "--launcher", "ssh", "--launcher-exec", launcher, *options, net=net, **how)


def wait_ranks(net, expected, at="n1"):
    """Until the hosts of the ranks of the only job whose rank 0 is there are these, in their order."""
    def ranks():
        status = net.at(at).status()
        return hosts.by_rank(status) if status else []
    wait_for(lambda: ranks() == expected, why=lambda: f"{ranks()}, not {expected}")


def on_hosts(*names):
    """The fixtures `net`, hosts of these names, and `daemon`, which has started on a slot of each."""
    @pytest.fixture(name="net")
    def fixture_net(space):
        try:
            yield hosts.Hosts(space, names)
        except hosts.Unavailable as why:
            pytest.skip(f"no namespaces here: {why}")

    @pytest.fixture(name="daemon")
    def fixture_daemon(net):
        yield from ruled(daemon_on(net).start())
    return fixture_net, fixture_daemon
