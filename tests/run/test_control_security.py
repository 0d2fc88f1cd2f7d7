"""Who may talk to a job: its owner, with the token. What others can do at the port harms nothing."""

import errno
import os
import pwd
import shutil
import socket
import stat
import struct
import subprocess

import job
import pytest
from fake import FakeJob, start_member

OTHER = "nobody"


def can_switch_user():
    return os.geteuid() == 0 and shutil.which("setpriv") is not None


needs_other_user = pytest.mark.skipif(not can_switch_user(), reason="needs root, to act as another user")


def as_other_user():
    entry = pwd.getpwnam(OTHER)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]


@pytest.fixture
def fake(space):
    it = FakeJob(space)
    yield it
    if it.process.running():
        it.end()


@pytest.fixture
def elsewhere(tmp_path_factory):
    """The helper where another user can run it, and a directory of that user's own."""
    directory = tmp_path_factory.mktemp("other")
    for path in [directory, *list(directory.parents)[:2]]:
        path.chmod(path.stat().st_mode | 0o055)
    helper = shutil.copy(job.BUILD / "tests/helpers/fake_member", directory)
    own = directory / "own"
    own.mkdir()
    os.chown(own, pwd.getpwnam(OTHER).pw_uid, -1)
    return helper, own


def attach(space, address, process=1, prefix=(), helper=None, **how):
    """How an attempt to attach ended: attached, or refused: WHY."""
    member = start_member(space, address, process, prefix=prefix, helper=helper, **how)
    answer = member.wait_for_line("^(attached|refused: .*)$")[0].group(1)
    member.stdin.close()
    member.wait()
    return answer


def port_of(address):
    return int(address["uri"].rsplit(":", 1)[1])


def connect(address):
    return socket.create_connection(("127.0.0.1", port_of(address)), timeout=30)


def frame(body, length=None):
    """A first message as PMIx tools send it: index, tag, length, padding."""
    return struct.pack("iIII", 0, 0, len(body) if length is None else length, 0) + body


def handshake(namespace, uid=os.geteuid()):
    """What stands in it: security module, credential, kind of process, uid, gid, name, version, formats."""
    gid = os.getegid()
    credential = struct.pack("II", uid, gid)
    return (b"native\0" + struct.pack("!I", len(credential)) + credential + b"\x04" +
            struct.pack("!II", uid, gid) + namespace.encode() + b"\0" +
            struct.pack("!I", 0) + b"4.2.2\0v41\0\x01hash\0")


def answer_to(address, data):
    """What the server says to these bytes; nothing when it hangs up."""
    with connect(address) as connection:
        try: # it may hang up before it has heard all
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(64)
        except OSError as error:
            if error.errno not in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN):
                raise
            return b""


# ---- the owner, and others


def test_owner_attaches(space, fake):
    assert attach(space, fake.address()) == "attached"
    fake.sees("^attached 1$")


@needs_other_user
def test_owner_attaches_from_elsewhere(space, fake, elsewhere):
    assert attach(space, fake.address(), helper=elsewhere[0], cwd=elsewhere[1]) == "attached"


@needs_other_user
def test_other_user_without_token_is_refused(space, fake, elsewhere):
    address = fake.address() | {"token": "0" * 64}
    answer = attach(space, address, prefix=as_other_user(), helper=elsewhere[0], cwd=elsewhere[1])
    assert answer.startswith("refused")
    assert attach(space, fake.address()) == "attached"
    assert "attached" not in fake.process.out.replace("attached 1", "", 1)


@needs_other_user
def test_other_user_who_claims_the_owners_uid_is_refused(space, fake, elsewhere):
    """The uid in PMIx's handshake is whatever the tool writes there."""
    helper = elsewhere[1] / "claim.py"
    token = "0" * 64
    message = frame(handshake(f"epop-{token}-m1.0", uid=os.geteuid()))
    helper.write_text(f"import socket\ns = socket.create_connection(('127.0.0.1', {port_of(fake.address())}))\n"
                      f"s.sendall({message!r})\ns.settimeout(30)\nprint(len(s.recv(64)))\n")
    result = space.start([*as_other_user(), "/usr/bin/python3", str(helper)], cwd=elsewhere[1]).wait()
    assert result.status == 0 and result.out == "0\n", result


@needs_other_user
def test_other_user_cannot_read_the_address(space, fake):
    public = [str(path) for path in (fake.file, fake.directory) if path.exists()]
    os.chmod(space.runtime, 0o755)  # as if /run/user/UID were open: our own directory has to hold
    for path in public:
        command = [*as_other_user(), "cat" if path.endswith(".json") else "ls", path]
        assert subprocess.run(command, capture_output=True, check=False, timeout=10).returncode != 0


@needs_other_user
def test_other_user_sees_no_job(space, fake):
    assert fake.file.exists()
    env = space.environment({"XDG_RUNTIME_DIR": None})
    result = subprocess.run([*as_other_user(), "/bin/sh", "-c", "id -u"], capture_output=True, env=env, check=False)
    assert result.stdout.decode().strip() != str(os.geteuid())
    copied = shutil.copy(job.BUILD / "bin/epopctl", "/tmp/epopctl-" + space.marker)
    try:
        os.chmod(copied, 0o755)
        result = subprocess.run([*as_other_user(), copied, "list"], capture_output=True, env=env, check=False,
                                timeout=20, text=True)
    finally:
        os.unlink(copied)
    assert result.returncode == 0 and "fake-1" not in result.stdout, result


@pytest.mark.parametrize("token", ["0" * 64, "f" * 63, "x", "-"])
def test_wrong_token_is_refused(space, fake, token):
    assert attach(space, fake.address() | {"token": token}).startswith("refused")
    assert attach(space, fake.address()) == "attached"


def test_number_that_is_taken_is_refused(space, fake):
    first = start_member(space, fake.address(), 3)
    first.wait_for_line("^attached$")
    assert attach(space, fake.address(), 3).startswith("refused")
    fake.tell('send 3 {"n": 1}')
    fake.sees('^message 3 {"n":1}$')
    first.stdin.close()
    assert first.wait().out == "attached\ndetached\n"
    assert attach(space, fake.address(), 3) == "attached"


# ---- the token is told to nobody


def test_token_is_in_no_file_that_others_can_read(space, fake):
    token = fake.address()["token"].encode()
    roots = [space.runtime, "/tmp", "/dev/shm"]
    for root in roots:
        for path, _, names in os.walk(root):
            for name in names:
                file = os.path.join(path, name)
                try:
                    status = os.lstat(file)
                    if not stat.S_ISREG(status.st_mode) or status.st_size > 1 << 20 or status.st_mtime < fake.started:
                        continue
                    with open(file, "rb") as stream:
                        if token in stream.read():
                            assert status.st_mode & 0o077 == 0, file
                except (FileNotFoundError, PermissionError):
                    pass  # gone by now, or another user's own


def test_token_is_on_no_command_line(space, fake):
    token = fake.address()["token"].encode()
    member = start_member(space, fake.address(), 1)
    member.wait_for_line("^attached$")
    watch = space.start_epopctl("watch")
    for pid in space.processes():
        with open(f"/proc/{pid}/cmdline", "rb") as line, open(f"/proc/{pid}/environ", "rb") as environment:
            assert token not in line.read() and token not in environment.read()
    watch.kill()
    member.stdin.close()
    member.wait()


@pytest.mark.parametrize("spoil", ["open", "link", "file"])
def test_directory_that_is_not_ours_alone_is_refused(space, spoil):
    directory = os.path.join(space.runtime, "epop")
    if spoil == "open":
        os.mkdir(directory, 0o755)
        os.chmod(directory, 0o755)
    elif spoil == "link":
        os.mkdir(directory + "-elsewhere", 0o700)
        os.symlink(directory + "-elsewhere", directory)
    else:
        open(directory, "w", encoding="utf-8").close()
    result = space.start([job.BUILD / "tests/helpers/fake_job", "x"]).wait()
    assert result.status == 1 and directory in result.err and result.err.count("\n") == 1, result


@needs_other_user
def test_directory_of_another_user_is_refused(space):
    directory = os.path.join(space.runtime, "epop")
    os.mkdir(directory, 0o700)
    os.chown(directory, pwd.getpwnam(OTHER).pw_uid, -1)
    result = space.start([job.BUILD / "tests/helpers/fake_job", "x"]).wait()
    assert result.status == 1 and "belongs to user" in result.err, result


# ---- bytes at the port


GARBAGE = {
    "nothing": b"",
    "one byte": b"x",
    "half a header": b"x" * 8,
    "zeros": b"\0" * 4096,
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "random": os.urandom(100000),
    "endless length": frame(b"", 0xffffffff),
    "no length": frame(b"", 0),
    "long length, short text": frame(b"short", 100000),
    "credential longer than the message": frame(b"native\0" + struct.pack("!I", 0x7fffffff) + b"x" * 10),
    "no end of text": frame(b"n" * 100),
    "plain client": frame(b"native\0" + struct.pack("!I", 0) + b"\0" + b"epop\0" + struct.pack("!I", 0) + b"4.2.2\0"),
    "tool without a name": frame(b"native\0" + struct.pack("!I", 0) + b"\x03" + struct.pack("!II", 0, 0) + b"4.2.2\0"),
    "unknown kind": frame(b"native\0" + struct.pack("!I", 0) + b"\x63"),
    "wrong token": frame(handshake("epop-" + "0" * 64 + "-m1.0")),
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_gets_no_answer_and_harms_nothing(space, fake, kind):
    assert answer_to(fake.address(), GARBAGE[kind]) == b""
    assert space.epopctl("status").status == 0


def test_silent_connections_hold_up_nobody(space, fake):
    silent = [connect(fake.address()) for _ in range(5)]
    assert attach(space, fake.address()) == "attached"
    for connection in silent:
        connection.close()


def test_flood_of_connections(space, fake):
    flood = []
    try:
        for _ in range(500):
            flood.append(connect(fake.address()))
        assert space.epopctl("status").status == 0
    finally:
        for connection in flood:
            connection.close()
    assert len(os.listdir(f"/proc/{fake.pid}/fd")) < 100


@pytest.mark.parametrize("name", ["x1.0", "m0.0", "m-1.0", "m99999999999.0", "m1", "", "m1.0/../x"])
def test_strange_names_with_the_right_token(space, fake, name):
    """Only the owner can get so far: a mistake, but no reason to die of."""
    answer_to(fake.address(), frame(handshake(f"epop-{fake.address()['token']}-{name}")))
    assert attach(space, fake.address()) == "attached"


def test_mistaken_tools_hold_up_nobody(space, fake):
    """A handover that comes to nothing ends at once: thirty that each took the two seconds of its limit would be a minute."""
    mistaken = frame(handshake(f"epop-{fake.address()['token']}-m0.0"))
    before = len(os.listdir(f"/proc/{fake.pid}/fd"))
    connections = [connect(fake.address()) for _ in range(30)]
    for connection in connections:
        connection.sendall(mistaken)
    assert attach(space, fake.address()) == "attached"
    for connection in connections:
        connection.close()
    assert len(os.listdir(f"/proc/{fake.pid}/fd")) < before + 15 # PMIx may yet have the one that was attached


def test_tools_that_leave_at_once(space, fake):
    answers = 0
    for count in range(200):
        with connect(fake.address()) as connection:
            connection.sendall(frame(handshake(f"epop-{fake.address()['token']}-c1.{count}")))
            if count % 2:
                answers += connection.recv(4) == bytes(4)
    assert answers == 100  # they would have been let in
    assert space.epopctl("status").status == 0


def test_tool_that_fails_in_the_middle(space, fake):
    """With the token, but a credential that PMIx does not take: PMIx hangs up after we have let it in."""
    token = fake.address()["token"]
    bad = handshake(f"epop-{token}-m1.0").replace(struct.pack("II", os.geteuid(), os.getegid()), b"\xff" * 8, 1)
    with connect(fake.address()) as connection:
        connection.sendall(frame(bad))
        assert connection.recv(4) == bytes(4)
    assert attach(space, fake.address(), 1) == "attached"


# ---- an outer PMIx launcher


def test_variables_of_an_outer_launcher(space):
    outer = {"PMIX_NAMESPACE": "slurm.1.0", "PMIX_RANK": "0", "PMIX_SERVER_URI41": "slurm.0;tcp4://127.0.0.1:1",
             "PMIX_SERVER_URI4": "slurm.0;tcp4://127.0.0.1:1", "PMIX_SERVER_TMPDIR": "/nonexistent",
             "PMIX_SECURITY_MODE": "munge,native", "PMIX_GDS_MODULE": "ds21,ds12,hash", "PMIX_HOSTNAME": "far"}
    environment = space.environment
    space.environment = lambda extra=None: environment({**outer, **(extra or {})})
    fake = FakeJob(space)
    assert attach(space, fake.address()) == "attached"
    assert space.epopctl("status").status == 0
    fake.end()


# ---- where it listens


def test_loopback_only(fake):
    assert "tcp4://127.0.0.1:" in fake.address()["uri"]


def test_chosen_address(space):
    environment = space.environment
    space.environment = lambda extra=None: environment({"EPOP_CONTROL_ADDRESS": "127.0.0.2", **(extra or {})})
    fake = FakeJob(space)
    assert "tcp4://127.0.0.2:" in fake.address()["uri"]
    assert attach(space, fake.address()) == "attached"
    assert space.epopctl("status").status == 0
    fake.end()


@pytest.mark.parametrize("address, reason", [("example", "Invalid argument"), ("192.0.2.1", "Cannot assign requested address")])
def test_address_that_cannot_be(space, address, reason):
    result = space.start([job.BUILD / "tests/helpers/fake_job", "x"], env={"EPOP_CONTROL_ADDRESS": address}).wait()
    assert result.status == 1 and reason in result.err, result
