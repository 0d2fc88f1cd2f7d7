"""Attendants for tests: started beside a command, and asked over their socket."""

import json
import pathlib
import socket

import job
from schemas import validate

ATTEND = job.BUILD / "lib/epop/attend"
LIMIT = 60


class Connection:
    """Lines with an attendant, all of which must agree with the schema."""

    def __init__(self, directory):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(LIMIT)
        self._socket.connect(str(directory / "socket"))
        self._lines = self._socket.makefile("r")
        self.seen = []
        self.hello = self.read()
        if not self.hello:
            raise ConnectionError("it went before it said anything")

    def read(self):
        """The next line; None: it is closed."""
        line = self._lines.readline()
        if not line:
            return None
        self.seen.append(validate("attend", json.loads(line)))
        return self.seen[-1]

    def wait_for(self, matches):
        """The first line that it is said of, among those before, too."""
        for line in self.seen:
            if matches(line):
                return line
        while not matches(line := self.read()):
            assert line, f"closed; {self.seen}"
        return line

    def event(self, name):
        return self.wait_for(lambda line: line.get("event") == name)

    def attached(self):
        return self.hello["attached"] or self.event("attached")

    def say(self, line):
        self._socket.sendall(line if isinstance(line, bytes) else (json.dumps(line) + "\n").encode())

    def ask(self, number, op, timeout=30, **members):
        if op == "resize":
            members["scheduler"] = True  # the jobs are epoprm's, and heed nobody else
        self.say({"id": number, "do": "ask", "request": {"op": op, **members}, "timeout": timeout})

    def answer(self, number):
        return self.wait_for(lambda line: line.get("id") == number)["answer"]

    def ended(self):
        return self.event("ended")["ended"]

    def close(self):
        self._lines.close()
        self._socket.close()


class Attended:
    """A job's directory with its launch.json, and its attendants."""

    def __init__(self, space, *command, **members):
        self.space = space
        self.directory = pathlib.Path(space.runtime) / "job"
        self.directory.mkdir(mode=0o700)
        self.output = self.directory / "output"
        launch = {"version": 1, "argv": [str(word) for word in command], "cwd": str(space.directory), "environment": space.environment(),
                  "output": str(self.output), "batch": "epoprm:17", **members}
        (self.directory / "launch.json").write_text(json.dumps(validate("attend", launch)))
        self.it = None

    def start(self, **how):
        self.it = self.space.start([ATTEND, "run", self.directory], **how)
        return self

    def connect(self):
        job.wait_for((self.directory / "socket").exists, LIMIT)
        return Connection(self.directory)

    def hear_end(self):
        """How it ended, as it is told; who comes when the attendant has gone, which it does in time, has the file."""
        job.wait_for(lambda: (self.directory / "socket").exists() or not self.it.running(), LIMIT)
        try:
            connection = Connection(self.directory)
        except OSError:
            return self.end()
        return connection.hello["ended"] or connection.ended()

    def end(self):
        """How it ended, by the file, which is there when the attendant is gone."""
        result = self.it.wait(LIMIT)
        assert result.status == 0 and not result.err, result
        return self.ended()

    def ended(self):
        return validate("attend", json.loads((self.directory / "ended.json").read_text()))

    def guard(self):
        return json.loads((self.directory / "started").read_text())["pid"]

    def others(self):
        """Processes of the job: all but the attendant and its guard."""
        return [pid for pid in self.space.processes() if f"EPOP_ATTENDED={self.directory}".encode() in environment_of(pid)]


def environment_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def named(pids, name):
    """Those whose program is called so."""
    found = []
    for pid in pids:
        try:
            found += [pid] if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name else []
        except OSError:
            pass
    return found
