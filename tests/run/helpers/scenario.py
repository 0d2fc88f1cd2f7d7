"""A running scenario program (tests/programs/scenario_*.c), and epopctl for that job alone: other tests may run jobs of
the same user at the same time."""

import json
import os
import pathlib

import job
from schemas import validate

DONE, REFUSED, USAGE, NO_JOB, TIMEOUT = range(5)


class Scenario:
    def __init__(self, space, *arguments, start, ranks, program="scenario_window", options=(), env=None,
                 limit=300):
        path = program if os.sep in str(program) else job.test_program(program)
        self.space = space
        self.it = space.start_epop("--start", start, "--backend", "pool", *options, path, *arguments, ranks=ranks, limit=limit,
                                   env=env)
        match, _ = self.it.wait_for_line(r"init new rank 0 of .* in process (\d+)")
        self.pid = int(match[1])
        self.id = f"scenario-{self.pid}"

    # ---- epopctl

    def ctl(self, command, *arguments, **how):
        return self.space.epopctl(command, self.id, *arguments, **how)

    def start_ctl(self, command, *arguments, **how):
        return self.space.start_epopctl(command, self.id, *arguments, **how)

    def done(self, command, *arguments):
        """What epopctl prints when it does what it was told."""
        result = self.ctl(command, *arguments)
        assert result.status == DONE, f"{result}\n{self.it.out}{self.it.err}"
        return result.out.rstrip("\n")

    def refused(self, command, *arguments):
        """The reason."""
        result = self.ctl(command, *arguments)
        assert result.status == REFUSED and result.err.count("\n") == 1, result
        return result.err.removeprefix("epopctl: ").rstrip("\n")

    def resize(self, size, *arguments):
        return self.done("resize", str(size), "--wait", *arguments)

    def status(self):
        return json.loads(self.done("status", "--json"))

    def wait_for_status(self, condition, limit=job.LIMIT):
        """The first status that meets the condition."""
        return job.wait_for(self.status, limit, condition, pause=0)

    def wait_for_state(self, state):
        return self.wait_for_status(lambda status: status["state"] == state)

    def wait_until_here(self):
        """Until all processes have attached."""
        return self.wait_for_status(lambda status: all(process["pid"] for process in status["processes"]))

    def process(self, pid):
        return next(process for process in self.status()["processes"] if process["pid"] == pid)

    def wait_until_seen_by(self, watch):
        """Until `epopctl watch` hears something: what happens before it is connected it does not hear of."""
        while not watch.out:
            assert watch.running(), watch.wait()
            self.refused("resize", "0")

    # ---- Its end

    def finish(self, ranks=None, windows=None, iterations=None):
        """Waits for the good end, and checks what was counted up to then."""
        result = self.it.wait()
        assert result.status == 0 and result.err == "", result
        self.check_counts(result, ranks, windows, iterations)
        return result

    def check_counts(self, result, ranks, windows, iterations):
        match, _ = self.it.wait_for_line(r"^end: (\d+) ranks, (\d+) windows, (\d+) iterations")
        counted = [int(group) for group in match.groups()]
        for expected, found in zip((ranks, windows, iterations), counted):
            assert expected in (None, found), result

    def stop(self, **counts):
        """Stops it; then as finish."""
        self.done("stop")
        return self.finish(**counts)


def check_status(status):
    """It is by the schema, and each rank is in one process; the status."""
    validate("control", status, "status")
    states = [process["state"] for process in status["processes"]]
    ranks = sorted(process["rank"] for process in status["processes"] if process["rank"] >= 0)
    assert ranks == list(range(status["size"])), status
    assert len(states) == status["maximum"] and states.count("standby") == status["standby"], status
    return status


class Switch:
    """A file that scenario programs look for."""

    def __init__(self, space, name):
        self.path = pathlib.Path(space.directory) / name

    def on(self):
        self.path.touch()
        return self

    def off(self):
        self.path.unlink()
        return self

    def __str__(self):
        return str(self.path)


# ---- Looking at processes


def cpu_seconds(pid):
    """Used so far, user and system."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"no VmRSS of process {pid}")


def only_line(text, *parts):
    """There is one line of epop, it has all these parts, and it is returned; notes and the launcher's own lines do not
    count."""
    lines = [line for line in text.splitlines() if line.startswith("epop: ") and not line.startswith("epop: note:")]
    assert len(lines) == 1, text
    for part in parts:
        assert part in lines[0], f"'{part}' is not in: {lines[0]}"
    return lines[0]


def assert_named(result, *parts):
    """The job failed, with one line of epop that has all these parts."""
    assert result.status == 1, result
    only_line(result.err, *parts)
