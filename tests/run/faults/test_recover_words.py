"""What a job and epop --recover say to each other, with one of the two played by hand; and who is heard."""

import contextlib
import hashlib
import hmac
import json
import os
import pathlib
import re
import secrets
import socket
import stat
import sys
import textwrap

import job
import joining
import pytest
from schemas import validate

RIGHT = "100 iterations, sum 4950"
LIMIT = 30

# ---- The job by hand: a launcher that starts nothing

HEAD = '''
import hashlib, hmac, json, os, secrets, socket, sys
uri, token = os.environ["EPOP_SUPERVISOR"].split()
parts = dict(part.split(":", 1) for part in uri.split(";"))
start = int(os.environ.get("EPOP_RECOVERIES", "0"))

def connect(kind):
    if kind == "unix":
        one = socket.socket(socket.AF_UNIX)
        one.connect(parts["unix"].split(":", 1)[1])
        return one
    host, port = parts["tcp"].split(":")
    return socket.create_connection((host, int(port)))

def code(token, end, own, other, about):
    key = hashlib.blake2b(token.encode(), digest_size=32).digest()
    return hmac.new(key, f"epop {end} {own} {other} {about}".encode(), "sha512").hexdigest()[:64]

def first(kind, line, prove=code):
    one = connect(kind)
    one.settimeout(20)
    lines = one.makefile("r")
    if kind == "tcp":
        other, own = json.loads(lines.readline())["challenge"], secrets.token_hex(32)
        line = {**line, "challenge": own, "proof": prove(token, "client", own, other, line["op"])}
    one.sendall((json.dumps(line) + "\\n").encode())
    try:
        answer = lines.readline()
    except ConnectionResetError:
        answer = ""
    if answer and kind == "tcp":
        assert json.loads(answer)["proof"] == code(token, "server", own, other, line["op"])
    return one, json.loads(answer)["op"] if answer else None

def begin(kind):
    one, answer = first(kind, {"op": "begins", "pid": os.getpid(), "host": "n1"})
    assert answer == "heard", answer
    return one
'''


def launcher(space, body):
    """A path for EPOP_MPIEXEC; each start leaves a line in the file `starts`."""
    path = space.directory / "launcher"
    path.write_text(f"#!{sys.executable}\n{HEAD}\nopen({str(space.directory / 'starts')!r}, 'a').write('x\\n')\n{textwrap.dedent(body)}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"EPOP_MPIEXEC": path}


def recover(space, body, *options, times=2):
    result = space.start_epop("--recover", times, *options, job.program("ledger"), env=launcher(space, body), limit=60).wait()
    return result, len((space.directory / "starts").read_text().split())


NETWORK = ("--hosts", "localhost:4")  # it listens to other hosts, too
BOTH = pytest.mark.parametrize("kind, options", [("unix", ()), ("tcp", NETWORK)])


@BOTH
def test_a_job_that_ends(space, kind, options):
    result, starts = recover(space, f"chief = begin({kind!r})\nassert first({kind!r}, {{'op': 'ended', 'status': 0}})[1] == 'heard'", *options)
    assert result.status == 0 and starts == 1, result


@BOTH
def test_a_job_that_dies_once(space, kind, options):
    """It hears which recoveries there were."""
    result, starts = recover(space, f"""
        chief = begin({kind!r})
        if start:
            chief.sendall(b'{{"op":"runs","from":"beginning","number":0,"time":0}}\\n')
            answer = json.loads(chief.makefile("r").readline())
            assert answer["op"] == "recoveries" and len(answer["recoveries"]) == 1 and answer["recoveries"][0]["iterations"] == 7, answer
            first({kind!r}, {{"op": "ended", "status": 0}})
        else:
            chief.sendall(b'{{"op":"at","count":7,"size":1,"pc":0,"iteration":7}}\\n')
            first({kind!r}, {{"op": "fault", "status": 1, "text": "process 1 is gone"}})
            sys.exit(1)
    """, *options)
    assert result.status == 0 and starts == 2 and "lost: 7 iterations" in result.err and "process 1 is gone" in result.err, result


STARTS = 'first({kind!r}, {{"op": "starts"}})\n'


@pytest.mark.parametrize("body, status", [
    (STARTS + "sys.exit(255)", None), (STARTS + "sys.exit(0)", 0),                   # it was about to begin, and may have nothing to say
    ("sys.exit(9)", None), ("sys.exit(139)", None), ("os.kill(os.getpid(), 9)", None),  # killed on the way
    ("sys.exit(255)", None),                                                            # Hydra has lost it while it was started
    ("sys.exit(3)", 3),                                                                 # ended by itself
])
@BOTH
def test_the_end_of_one_that_has_not_begun(space, kind, options, body, status):
    """Status None: it is started again, and ends well."""
    again = f"""
        if start:
            chief = begin({kind!r})
            chief.sendall(b'{{"op":"runs","from":"beginning","number":0,"time":0}}\\n')
            first({kind!r}, {{"op": "ended", "status": 0}})
            sys.exit(0)
    """
    result, starts = recover(space, textwrap.dedent(again) + body.format(kind=kind), *options)
    assert (result.status, starts) == ((status, 1) if status is not None else (0, 2)), result
    assert ("recovered (1 of 2)" in result.err and "from the beginning" in result.err) == (status is None), result


@BOTH
@pytest.mark.parametrize("count", [16, 200])
def test_silent_connections(space, kind, options, count):
    """They neither keep a job from beginning, nor what it says at its end from being heard."""
    result, starts = recover(space, f"""
        silent = [connect({kind!r}) for _ in range({count})]
        chief = begin({kind!r})
        silent += [connect({kind!r}) for _ in range({count})]
        assert first({kind!r}, {{"op": "ended", "status": 0}})[1] == "heard"
    """, *options)
    assert result.status == 0 and starts == 1, result


@BOTH
def test_half_a_line_and_nonsense(space, kind, options):
    result, starts = recover(space, f"""
        half, nonsense, endless, empty = [connect({kind!r}) for _ in range(4)]
        half.sendall(b'{{"op":"ended"')
        nonsense.sendall(b"hello\\n[1]\\n")
        empty.sendall(b'{{}}\\n')
        try:
            endless.sendall(b"x" * (1 << 20))
        except OSError:
            pass
        chief = begin({kind!r})
        for line in (b'{{"op":"at"}}\\n', b'{{"op":"saved","number":"x"}}\\n', b'{{"op":"runs","from":17}}\\n', b'{{"op":"dances"}}\\n'):
            chief.sendall(line)
        assert first({kind!r}, {{"op": "ended", "status": 0}})[1] == "heard"
    """, *options)
    assert result.status == 0 and starts == 1, result


@pytest.mark.parametrize("prove", [
    "lambda token, *rest: '0' * 64",
    "lambda token, *rest: code('0' * 64, *rest)",
    "lambda token, end, own, other, about: code(token, end, own, '0' * 64, about)",  # of another connection
    "lambda token, end, own, other, about: code(token, end, own, other, 'begins')",  # of another line
    "lambda token, end, own, other, about: code(token, 'server', own, other, about)",
])
def test_who_does_not_know_the_token(space, prove):
    """Is not believed that the job has ended well."""
    result, starts = recover(space, f"""
        chief = begin("tcp")
        if start:
            sys.exit(0 if first("tcp", {{"op": "ended", "status": 0}})[1] else 1)
        assert first("tcp", {{"op": "ended", "status": 0}}, {prove})[1] is None
    """, *NETWORK)
    assert result.status == 0 and starts == 2, result


def test_what_is_left_of_the_last_start(space):
    """Its address leads nowhere."""
    result, starts = recover(space, f"""
        left = {str(space.directory / "left")!r}
        if not start:
            open(left, "w").write(json.dumps([parts, token]))
            begin("unix")
            sys.exit(1)
        now = parts, token
        parts, token = json.load(open(left))
        assert parts["unix"] != now[0]["unix"] and not os.path.exists(parts["unix"].split(":", 1)[1])
        parts["tcp"] = now[0]["tcp"]
        begin_now = first("tcp", {{"op": "ended", "status": 0}})
        assert begin_now[1] is None
        parts, token = now
        chief = begin("unix")
        first("unix", {{"op": "ended", "status": 0}})
    """, *NETWORK)
    assert result.status == 0 and starts == 2, result


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user, whom root alone can be")
def test_another_user(space):
    result, starts = recover(space, """
        path = parts["unix"].split(":", 1)[1]
        assert os.stat(path).st_mode & 0o077 == 0 and os.stat(os.path.dirname(path)).st_mode & 0o077 == 0
        child = os.fork()
        if not child:
            os.setgroups([]), os.setgid(65534), os.setuid(65534)
            try:
                connect("unix")
            except PermissionError:
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        chief = begin("unix")
        first("unix", {"op": "ended", "status": 0})
    """)
    assert result.status == 0 and starts == 1, result


@joining.needed
@pytest.mark.parametrize("kind, options", [("unix", ()), ("tcp", NETWORK)])
def test_a_true_job_among_silent_connections(space, kind, options):
    """Sixteen that say nothing are there before it begins, and until it has ended."""
    body = f"""
        silent = [connect({kind!r}) for _ in range(16)]
        for one in silent:
            one.set_inheritable(True)
        if {kind!r} == "tcp":
            os.environ["EPOP_SUPERVISOR"] = f"tcp:{{parts['tcp']}} {{token}}"
        os.execvp({job.MPIEXEC!r}, [{job.MPIEXEC!r}, *sys.argv[1:]])
    """
    running = space.start_epop("--recover", 2, "-n", 2, *options, job.test_program("dies"), env=launcher(space, body), limit=60)
    result = running.wait()
    assert result.status == 0 and RIGHT in result.out and "recovered" not in result.err, result
    assert len((space.directory / "starts").read_text().split()) == 1


# ---- The supervisor by hand

class Supervisor:
    """Hears what a job says."""

    def __init__(self, space, network):
        self.token, self.network, self.lines = secrets.token_hex(32), network, []
        if network:
            self.listens = socket.create_server(("127.0.0.1", 0))
            uri = f"tcp:127.0.0.1:{self.listens.getsockname()[1]}"
        else:
            self.listens = socket.socket(socket.AF_UNIX)
            self.listens.bind(str(space.directory / "supervisor"))
            self.listens.listen()
            uri = f"unix:{socket.gethostname()}:{space.directory / 'supervisor'}"
        self.listens.settimeout(LIMIT)
        self.environment = {"EPOP_SUPERVISOR": f"{uri} {self.token}", "EPOP_RECOVERIES": "1"}

    def code(self, end, own, other, about):
        key = hashlib.blake2b(self.token.encode(), digest_size=32).digest()
        return hmac.new(key, f"epop {end} {own} {other} {about}".encode(), "sha512").hexdigest()[:64]

    def read(self, lines):
        text = lines.readline()
        assert self.token not in text
        line = json.loads(text) if text else None
        if line:
            self.lines.append(validate("supervisor", line))
        return line

    def accept(self, honest=True):
        """The first line of who comes, and the connection."""
        one, _ = self.listens.accept()
        one.settimeout(LIMIT)
        other, lines, answer = secrets.token_hex(32), one.makefile("r"), {"op": "heard"}
        if self.network:
            self.say(one, {"op": "challenge", "challenge": other})
        line = self.read(lines)
        if self.network:
            assert line["proof"] == self.code("client", line["challenge"], other, line["op"])
            answer["proof"] = self.code("server", line["challenge"], other, line["op"]) if honest else "0" * 64
        self.say(one, answer)
        return one, lines, line

    def accept_start(self):
        """Of who says that it is there, before MPI comes up, and nothing else."""
        one, lines, line = self.accept()
        assert line["op"] == "starts" and not self.read(lines), line
        one.close()

    @staticmethod
    def say(one, line):
        one.sendall((json.dumps(validate("supervisor", line)) + "\n").encode())


RECOVERY = {"time": 1790000000, "reason": "a test", "from": "beginning", "number": 0, "size": 2, "iterations": 7, "lost": 0.5, "seconds": 0.25}


@joining.needed
@pytest.mark.parametrize("network", [False, True])
def test_what_a_job_says(space, network):
    """All of it is by the schema, and over a network the token does not travel."""
    supervisor = Supervisor(space, network)
    running = space.start_epop(job.test_program("dies"), ranks=2, env=supervisor.environment, limit=60)
    supervisor.accept_start()
    one, lines, line = supervisor.accept()
    assert line["op"] == "begins" and line["host"] == socket.gethostname()
    while (line := supervisor.read(lines))["op"] != "runs":
        assert line["op"] in ("at", "world")
    assert line["from"] == "beginning"
    supervisor.say(one, {"op": "recoveries", "recoveries": [RECOVERY]})
    end, _, line = supervisor.accept()
    assert line["op"] == "ended" and line["status"] == 0
    while supervisor.read(lines):
        pass
    one.close(), end.close()
    result = running.wait()
    assert result.status == 0 and RIGHT in result.out, result
    assert {line["op"] for line in supervisor.lines} >= {"begins", "world", "runs", "ended"}
    assert [line["hosts"] for line in supervisor.lines if line["op"] == "world"] == [f"{socket.gethostname()}:2"]


@joining.needed
@pytest.mark.parametrize("network", [False, True])
def test_how_it_ends_badly(space, network):
    supervisor = Supervisor(space, network)
    running = space.start_epop(job.test_program("dies"), "how=exit", "rank=1", ranks=2, env={**supervisor.environment, "EPOP_RECOVERIES": None}, limit=60)
    supervisor.accept_start()
    one, _, _ = supervisor.accept()
    end, _, line = supervisor.accept()
    assert line["op"] in ("failed", "fault") and line["status"] != 0 and line["text"], line
    one.close(), end.close()
    assert running.wait().failed


@joining.needed
def test_an_impostor_at_its_address(space):
    supervisor = Supervisor(space, True)
    running = space.start_epop(job.test_program("dies"), ranks=2, env=supervisor.environment, limit=60)
    one, _, _ = supervisor.accept(honest=False)
    result = running.wait()
    one.close()
    assert result.failed and "does not answer" in result.err, result


@joining.needed
def test_the_sockets_of_a_supervisor_that_was_killed(space):
    """Go when somebody looks for jobs."""
    running = space.start_epop("--recover", 2, "-n", 1, job.test_program("dies"), "iterations=1000000", limit=60)
    directory = pathlib.Path(space.runtime) / "epop"
    found = job.wait_for(lambda: [path for path in directory.glob("wire.*") if re.search(r"\.\d+\.\d+(\.[0-9a-f]{8})?\.1$", path.name)], LIMIT, running=running)
    running.wait_for_line("init new rank 0")
    running.signal(9)
    running.wait()
    job.wait_for(lambda: not space.processes(), LIMIT)
    with contextlib.suppress(FileNotFoundError):
        space.epopctl("list")
    assert not found[0].exists()
