"""An attendant that connects a job with an adviser: each shows the other who it is, by a munged of the test's own."""

import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import tempfile

import pytest

import job
import joining
from attending import ATTEND, LIMIT
from schemas import validate

TOOLS = all(shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") for name in ("munged", "munge", "unmunge"))
pytestmark = [joining.needed, pytest.mark.skipif(not TOOLS, reason="no munge here (the packages munge and libmunge-dev)"),
              pytest.mark.skipif(not (job.BUILD / "lib/epop/munge.so").exists(), reason="built without munge.h")]
JOB = 17


def takes(path):
    """Somebody listens at this socket."""
    with socket.socket(socket.AF_UNIX) as one:
        return one.connect_ex(str(path)) == 0


@pytest.fixture(name="munged", scope="module")
def fixture_munged():
    """The path of its socket."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="epop-munge-", dir="/tmp"))  # another user comes here
    place.chmod(0o755)
    (place / "key").write_bytes(secrets.token_bytes(64))
    (place / "key").chmod(0o600)
    command = [shutil.which("munged", path="/usr/sbin:/usr/bin"), "--foreground", "--force", f"--key-file={place}/key", f"--socket={place}/socket",
               f"--pid-file={place}/pid", f"--log-file={place}/log", f"--seed-file={place}/seed"]
    with open(place / "said", "w", encoding="utf-8") as said, \
            subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True) as process:
        job.wait_for(lambda: process.poll() is not None or (place / "socket").exists() and takes(place / "socket"), LIMIT)
        assert process.poll() is None, (place / "said").read_text()
        yield place / "socket"
        process.kill()
    shutil.rmtree(place)


def encode(munged, text, prefix=()):
    return subprocess.run([*prefix, "munge", "--socket", munged, "--string", text], capture_output=True, text=True, check=True, timeout=LIMIT).stdout.strip()


def decode(munged, credential):
    """The text, and whose it is."""
    done = subprocess.run(["unmunge", "--socket", munged], input=credential, capture_output=True, text=True, check=True, timeout=LIMIT)
    head, _, text = done.stdout.partition("\n\n")
    return text, next(int(line.split("(")[1].split(")")[0]) for line in head.splitlines() if line.startswith("UID"))


class Adviser:
    """Its side, by hand: `twist` changes what it says."""

    def __init__(self, munged, port=0):
        self.munged = munged
        self.listens = socket.create_server(("127.0.0.1", port))
        self.listens.settimeout(LIMIT)
        self.port = self.listens.getsockname()[1]
        self.said = None

    def accept(self):
        self.connection, _ = self.listens.accept()
        self.connection.settimeout(LIMIT)
        self.lines = self.connection.makefile("r")
        return self.read()

    def read(self):
        line = self.lines.readline()
        return json.loads(line) if line else None

    def say(self, line):
        self.connection.sendall((json.dumps(line) + "\n").encode())

    def show(self, nonce, port=None, prefix=()):
        """Its credential."""
        self.nonce = secrets.token_hex(16)
        self.credential = encode(self.munged, f"epop-adviser {nonce} 127.0.0.1 {port or self.port}", prefix)
        self.say({"adviser": 1, "nonce": self.nonce, "credential": self.credential})

    def shake(self, **twist):
        """The whole of it; the attendant's hello."""
        first = self.accept()
        assert first == {"attend": 1, "job": JOB, "uid": os.geteuid(), "nonce": first["nonce"]} and len(first["nonce"]) == 32
        self.show(first["nonce"], **twist)
        text, uid = decode(self.munged, self.read()["credential"])
        assert text == f"epop-attend {self.nonce} {JOB}" and uid == os.geteuid()
        self.say({"welcome": True})
        return self.wait_for(lambda line: line.get("event") == "hello")

    def wait_for(self, matches):
        while not matches(line := self.read()):
            assert line, "closed"
        validate("attend", line)
        return line

    def wait_attached(self, hello):
        if not hello["attached"]:
            self.wait_for(lambda line: line.get("event") == "attached")

    def ask(self, number, op):
        self.say({"id": number, "do": "ask", "request": {"op": op}})
        return self.wait_for(lambda line: line.get("id") == number)["answer"]

    def close(self):
        """It dies."""
        self.lines.close()
        self.connection.close()
        self.listens.close()


@pytest.fixture(name="adviser")
def fixture_adviser(munged):
    adviser = Adviser(munged)
    yield adviser
    adviser.listens.close()


def start_job(space):
    running = space.start_epop(job.program("ledger"), *joining.ENDLESS, ranks=2)
    directory = pathlib.Path(space.runtime) / "epop"
    job.wait_for(lambda: list(directory.glob("*.json")), LIMIT)
    return running, next(directory.glob("*.json"))


def start_link(space, adviser, file, **environment):
    return space.start([ATTEND, "link", f"127.0.0.1:{adviser.port}", file], env={"SLURM_JOB_ID": JOB, "EPOP_MUNGE_SOCKET": adviser.munged, **environment})


def test_a_job_and_its_adviser(space, adviser):
    """It asks; dies, and its successor finds what was answered; the job's end is told, and is the attendant's."""
    running, file = start_job(space)
    link = start_link(space, adviser, file)
    hello = adviser.shake()
    adviser.wait_attached(hello)
    first = adviser.ask(1, "status")
    assert first["job"]["size"] == 2
    adviser.close()
    successor = Adviser(adviser.munged, adviser.port)
    hello = successor.shake()
    assert hello["attached"] and hello["asked"] == [{"id": 1, "answer": first}]
    assert space.epopctl("stop").status == 0
    assert successor.wait_for(lambda line: line.get("event") == "ended")["ended"]["status"] is None
    assert link.wait().status == 0 and running.wait().status == 0
    successor.close()


def test_the_adviser_ends_the_job(space, adviser):
    running, file = start_job(space)
    link = start_link(space, adviser, file)
    adviser.wait_attached(adviser.shake())
    adviser.say({"id": 1, "do": "end", "grace": 20})
    adviser.wait_for(lambda line: line.get("event") == "ended")
    assert link.wait().status == 0 and running.wait().status == 0


def refused(space, adviser, shake, reason, **environment):
    """The attendant says why it does not take the adviser, goes on trying, and nothing was asked."""
    running, file = start_job(space)
    link = start_link(space, adviser, file, **environment)
    shake(adviser.accept())
    assert adviser.read() is None
    link.wait_for_line(reason, stream="err")
    adviser.lines.close()
    adviser.connection.close()
    adviser.shake()
    running.signal(2)
    running.wait()
    assert link.wait().status == 0


def test_another_nonce(space, adviser):
    refused(space, adviser, lambda _: adviser.show(secrets.token_hex(16)), "credential is not of this connection")


def test_the_credential_of_another_address(space, adviser):
    """As when somebody in between passes the words on to the real adviser."""
    refused(space, adviser, lambda line: adviser.show(line["nonce"], port=adviser.port - 1), "credential is not of this connection")


def test_no_credential(space, adviser):
    refused(space, adviser, lambda _: adviser.say({"adviser": 1, "nonce": "0" * 32, "credential": "MUNGE:none:"}), "munge does not take the credential")


def test_a_credential_that_was_shown_before(space, adviser):
    def shake(line):
        adviser.credential = encode(adviser.munged, f"epop-adviser {line['nonce']} 127.0.0.1 {adviser.port}")
        decode(adviser.munged, adviser.credential)
        adviser.say({"adviser": 1, "nonce": "0" * 32, "credential": adviser.credential})
    refused(space, adviser, shake, "munge does not take the credential: .*[Rr]eplay")


def test_what_it_refuses(space, adviser):
    refused(space, adviser, lambda _: (adviser.say({"refused": "job 17 is not yours"}), adviser.connection.shutdown(socket.SHUT_WR)),
            "the adviser refuses: job 17 is not yours")


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user, whom root alone can be")
def test_an_adviser_of_another_user(space, adviser):
    """Is trusted by its number alone."""
    nobody = ("setpriv", "--reuid=65534", "--clear-groups")
    refused(space, adviser, lambda line: adviser.show(line["nonce"], prefix=nobody), "the adviser is uid 65534: .* EPOP_ADVISER_UID=65534 trusts it")


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user, whom root alone can be")
def test_an_adviser_that_is_trusted(space, adviser):
    running, file = start_job(space)
    link = start_link(space, adviser, file, EPOP_ADVISER_UID=65534)
    first = adviser.accept()
    adviser.show(first["nonce"], prefix=("setpriv", "--reuid=65534", "--clear-groups"))
    assert adviser.read()["credential"].startswith("MUNGE:")
    adviser.say({"welcome": True})
    adviser.wait_for(lambda line: line.get("event") == "hello")
    running.signal(2)
    running.wait()
    assert link.wait().status == 0


def test_no_munged(space, adviser):
    """One line, and the job goes on."""
    running, file = start_job(space)
    link = start_link(space, adviser, file, EPOP_MUNGE_SOCKET="/no/such/socket")
    first = adviser.accept()
    adviser.show(first["nonce"])
    link.wait_for_line("munge", stream="err")
    assert space.epopctl("stop").status == 0
    assert running.wait().status == 0 and link.wait().status == 0


def test_wrong_words(space):
    for words, told in [(("nowhere", "job.json"), "HOST:PORT"), (("a:1", "job"), "HOST:PORT"), (("a:1", "job.json"), "SLURM_JOB_ID")]:
        result = space.start([ATTEND, "link", *words], env={"SLURM_JOB_ID": None if told[0] == "S" else 1}).wait()
        assert result.status == 2 and told in result.err
