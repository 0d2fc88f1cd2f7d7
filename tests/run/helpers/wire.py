"""A job's connections by hand, as docs/reference/control.md describes them: JSON objects, one a line."""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import socket
import subprocess

import job
from schemas import validate


def path_of(address):
    """Of the Unix socket."""
    return address["uri"].split(";")[0].split(":", 2)[2]


def network_of(address):
    """(host, port); None: the job listens on its Unix socket alone."""
    _, found, network = address["uri"].partition(";tcp:")
    return (network.split(":")[0], int(network.split(":")[1])) if found else None


def proof_of(token, end, client, server, role, process):
    key = hashlib.blake2b(token.encode(), digest_size=32).digest()
    text = f"epop {end} {client} {server} attach {role} {process}"
    return hmac.new(key, text.encode(), hashlib.sha512).digest()[:32].hex()


class Connection:
    """Over TCP it has read the challenge."""

    def __init__(self, address, network=False, timeout=30):
        if network:
            self.socket = socket.create_connection(network_of(address), timeout=timeout)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            here = os.open(os.path.dirname(path_of(address)), os.O_PATH)  # an address holds 107 bytes of a path
            try:
                self.socket.connect(f"/proc/self/fd/{here}/{os.path.basename(path_of(address))}")
            finally:
                os.close(here)
        self.file = self.socket.makefile("rb")
        self.asked = 0
        self.challenge = self.read()["challenge"] if network else None

    def __enter__(self):
        return self

    def __exit__(self, *how):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, **message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def read(self):
        """None: it is closed."""
        try:
            line = self.file.readline()
        except ConnectionError:
            return None
        return json.loads(line) if line else None

    def rest(self):
        """All that comes until it is closed."""
        with contextlib.suppress(ConnectionError):
            return self.file.read()
        return b""

    def attach(self, role="tool", process=None, token=None):
        """The answer."""
        message = {"op": "attach", "role": role} | ({} if process is None else {"process": process})
        if self.challenge:
            mine = secrets.token_hex(32)
            number = -1 if process is None else process
            message |= {"challenge": mine, "proof": proof_of(token, "client", mine, self.challenge, role, number)}
        self.send(**message)
        answer = self.read()
        if self.challenge and answer and answer["op"] == "attached":
            assert answer["proof"] == proof_of(token, "server", mine, self.challenge, role, number)
        return answer

    def ask(self, **request):
        """The answer, without its number; events that come before are dropped."""
        self.asked += 1
        self.send(id=self.asked, **request)
        while True:
            answer = self.read()
            if answer is None or answer.pop("id", None) == self.asked:
                return answer


def tool(address, **how):
    """An attached one."""
    connection = Connection(address, **how)
    assert connection.attach(token=address["token"])["op"] == "attached"
    return connection


def hold_session(connection, text):
    """Lines that begin with > are sent, those with < are what comes; ... is any rest."""
    for line in text.splitlines():
        if not line.endswith("..."):
            validate("control", {name: value for name, value in json.loads(line[2:]).items() if name != "id"})
        if line[0] == ">":
            connection.socket.sendall(line[2:].encode() + b"\n")
        else:
            came = connection.file.readline().decode()
            assert came.startswith(line[2:].removesuffix("...")) and (line.endswith("...") or came == line[2:] + "\n")


class Client:
    """One that stays attached and has many requests at a time: tests/helpers/client.c."""

    def __init__(self, it):
        self.it = it.space.start([job.BUILD / "tests/helpers/client", it.id], stdin=subprocess.PIPE, limit=300)
        self.count = self.seen = 0
        self.ask(op="watch")

    def send(self, **request):
        """Its number."""
        self.it.stdin.write(json.dumps(request) + "\n")
        self.it.stdin.flush()
        self.count += 1
        return self.count

    def answer(self, number, timeout=20):
        match, _ = self.it.wait_for_line(rf"^{number} (\{{.*\}})$", timeout=timeout, start=self.seen)
        return json.loads(match[1])

    def ask(self, **request):
        return self.answer(self.send(**request))

    def event(self, name):
        match, _ = self.it.wait_for_line(rf'^event (\{{"event":"{name}".*\}})$')
        return json.loads(match[1])

    def has_answered(self, number):
        return any(line.startswith(f"{number} ") for line in self.it.out.splitlines())
