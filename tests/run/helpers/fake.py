"""A fake job for epopctl (tests/helpers/fake_job.c) and members for it, with canned answers."""

import functools
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import time

import job
import pytest

STATUS = json.loads((job.ROOT / "schema/examples/control/valid/answer-status.json").read_text())


class FakeJob:
    """The control server with the answers given as keywords: a dict, or "never". prefix: a command that starts it."""

    def __init__(self, space, name="fake-1", prefix=(), **answers):
        answers.setdefault("status", STATUS)
        canned = [f"{op}={answer if isinstance(answer, str) else json.dumps(answer)}" for op, answer in answers.items()]
        self.space, self.name, self.started = space, name, time.time()
        self.process = space.start([*prefix, job.BUILD / "tests/helpers/fake_job", name, *canned], stdin=subprocess.PIPE, limit=300)
        self.process.wait_for_line("^ready$")
        self.marks = 0

    @property
    def pid(self):
        return self.process.pid

    @property
    def file(self):
        return self.directory / (self.name + ".json")

    @property
    def directory(self):
        return pathlib.Path(self.space.runtime) / "epop"

    def address(self):
        return json.loads(self.file.read_text())

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def sees(self, pattern, **how):
        return self.process.wait_for_line(pattern, **how)[0]

    def requests(self):
        """All that were answered until now, and one at least: an answer may be here before what is printed ahead of it has been read."""
        self.sees("^request ")
        self.marks += 1
        self.tell(f"mark {self.marks}")
        self.sees(f"^mark {self.marks}$")
        return [json.loads(line.removeprefix("request "))
                for line in self.process.out.splitlines() if line.startswith("request ")]

    def end(self):
        self.tell("end")
        result = self.process.wait()
        assert result.status == 0 and "ended" in result.out, result
        return result


def listen_to_network(space):
    """The jobs that it starts from now on do."""
    environment = space.environment
    space.environment = lambda extra=None: environment({"EPOP_CONTROL_ADDRESS": "127.0.0.1", **(extra or {})})


OTHER = "nobody"
needs_other_user = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root, to act as another user")


def as_other_user():
    entry = pwd.getpwnam(OTHER)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]


@functools.cache
def apart():
    """A command that runs another one with process numbers of its own, as a container does; skips where there is none."""
    own = ["--pid", "--fork", "--kill-child", "--mount-proc"]
    for options in ([], ["--user", "--map-root-user"]):
        if subprocess.run(["unshare", *options, *own, "true"], capture_output=True, check=False).returncode == 0:
            return ["unshare", *options, *own]
    pytest.skip("needs namespaces of process numbers")


def start_member(space, address, process, prefix=(), helper=None, **how):
    """A process that tries to attach; it learns the address on stdin."""
    member = space.start([*prefix, helper or job.BUILD / "tests/helpers/fake_member"], stdin=subprocess.PIPE, **how)
    member.stdin.write(f"{address['uri']} {address['token']} {process}\n")
    member.stdin.flush()
    return member
