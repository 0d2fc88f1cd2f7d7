"""Who may talk to a job: its owner's processes on this host; over a network who knows the token. What others can do
at its doors harms nothing."""

import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import job
import pages
import pytest
from fake import OTHER, FakeJob, as_other_user, listen_to_network, needs_other_user, start_member
from wire import Connection, hold_session, network_of, path_of, proof_of, tool

both = pytest.mark.parametrize("network", [False, True], ids=["unix", "tcp"])


@pytest.fixture
def elsewhere():
    """The helper where another user can run it, and a directory of that user's own. Not where other tests have theirs: each pytest that
    begins closes that to other users."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="epop-other-", dir="/tmp"))
    directory.chmod(0o755)
    helper = shutil.copy(job.BUILD / "tests/helpers/fake_member", directory)
    own = directory / "own"
    own.mkdir()
    os.chown(own, pwd.getpwnam(OTHER).pw_uid, -1)
    yield helper, own
    shutil.rmtree(directory)


def attach(space, address, process=1, prefix=(), helper=None, **how):
    """How an attempt to attach ended: attached, or refused: WHY."""
    member = start_member(space, address, process, prefix=prefix, helper=helper, **how)
    answer = member.wait_for_line("^(attached|refused: .*)$")[0].group(1)
    member.stdin.close()
    member.wait()
    return answer


def by_network(address, **changed):
    """The same job as from another host."""
    return address | {"uri": "tcp:{}:{}".format(*network_of(address))} | changed


def answer_to(address, data, network):
    """What the server says to these bytes until it hangs up, but for the challenge."""
    with Connection(address, network) as connection:
        try: # it may hang up before it has heard all
            connection.socket.sendall(data)
            connection.socket.shutdown(1)
        except OSError:
            pass
        return connection.rest()


# ---- the owner, and others


def test_owner_attaches(space, fake):
    assert attach(space, fake.address()) == "attached"
    fake.sees("^attached 1$")
    assert attach(space, by_network(fake.address()), 2) == "attached"
    fake.sees("^attached 2$")


@needs_other_user
def test_owner_attaches_from_elsewhere(space, fake, elsewhere):
    assert attach(space, fake.address(), helper=elsewhere[0], cwd=elsewhere[1]) == "attached"


@needs_other_user
def test_other_user_without_token_is_refused(space, fake, elsewhere):
    address = by_network(fake.address(), token="0" * 64)
    answer = attach(space, address, prefix=as_other_user(), helper=elsewhere[0], cwd=elsewhere[1])
    assert "the token is not that of this job" in answer
    assert attach(space, fake.address()) == "attached"
    assert "attached" not in fake.process.out.replace("attached 1", "", 1)


@needs_other_user
def test_other_user_at_the_unix_socket_is_refused(space, fake, elsewhere):
    """As the kernel knows him, even if all permissions were open: he is not heard."""
    path = pathlib.Path(path_of(fake.address()))
    script = elsewhere[1] / "connect.py"
    script.write_text(f"import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('{path}')\ns.settimeout(30)\n"
                      "try:\n    s.sendall(b'{\"op\":\"attach\",\"role\":\"tool\"}\\n')\n    print(s.recv(100))\n"
                      "except ConnectionError:\n    print(b'')\n")
    command = ["/usr/bin/python3", str(script)]
    assert "Permission" in space.start([*as_other_user(), *command], cwd=elsewhere[1]).wait().err
    for place in [path, *list(path.parents)[:-1]]:
        if path.stat().st_uid == place.stat().st_uid:
            place.chmod(place.stat().st_mode | 0o077)
    assert space.start([*as_other_user(), *command], cwd=elsewhere[1]).wait().out == "b''\n"
    assert "attached" in space.start(command, cwd=elsewhere[1]).wait().out


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
    assert "the token is not that of this job" in attach(space, by_network(fake.address(), token=token))
    assert attach(space, by_network(fake.address())) == "attached"


def test_recorded_attach_cannot_be_used_again(fake):
    address = fake.address()
    with Connection(address, network=True) as connection:
        mine, challenge = "c" * 64, connection.challenge
        recorded = {"op": "attach", "role": "member", "process": 1, "challenge": mine,
                    "proof": proof_of(address["token"], "client", mine, challenge, "member", 1)}
        connection.send(**recorded)
        assert connection.read()["op"] == "attached"
        connection.send(op="bye")
        assert connection.rest() == b""
    with Connection(address, network=True) as connection:
        assert connection.challenge != challenge
        connection.send(**recorded)
        assert connection.read()["op"] == "refused"


@pytest.mark.parametrize("changed", [{"role": "tool"}, {"role": "lifeline"}, {"process": 2}, {"process": None},
                                     {"challenge": "d" * 64}, {"challenge": None}, {"proof": None}, {"proof": ""}],
                         ids=str)
def test_proof_is_of_one_role_and_number(fake, changed):
    """And the server's own proof is none of a client."""
    address = fake.address()
    with Connection(address, network=True) as connection:
        mine = "c" * 64
        message = {"op": "attach", "role": "member", "process": 1, "challenge": mine,
                   "proof": proof_of(address["token"], "client", mine, connection.challenge, "member", 1)}
        connection.send(**{name: value for name, value in (message | changed).items() if value is not None})
        assert connection.read()["op"] == "refused"
    with Connection(address, network=True) as connection:
        connection.send(**message | {"proof": proof_of(address["token"], "server", mine, connection.challenge,
                                                       "member", 1)})
        assert connection.read()["op"] == "refused"


@both
def test_number_that_is_taken_is_refused(space, fake, network):
    address = by_network(fake.address()) if network else fake.address()
    first = start_member(space, address, 3)
    first.wait_for_line("^attached$")
    with Connection(fake.address(), network) as connection:
        answer = connection.attach("member", 3, fake.address()["token"])
        assert answer["op"] == "refused" and "attached already" in answer["reason"] and answer["again"]
    fake.tell('send 3 {"n": 1}')
    fake.sees('^message 3 {"n":1}$')
    first.stdin.close()
    assert first.wait().out == "attached\ndetached\n"
    assert attach(space, address, 3) == "attached"


# ---- the token is told to nobody


def files_with(token, since, root, permission):
    """Those of this file system alone: somebody's /proc may be mounted there."""
    look = ["find", root, "-xdev", "-type", "f", "-newermt", f"@{int(since)}", "-size", "-2048", "-perm", permission,
            "-exec", "grep", "-lFe", token, "{}", "+"]
    done = subprocess.run(look, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300, check=False)
    return done.stdout.splitlines()


def test_token_is_in_no_file_that_others_can_read(space, fake):
    token = fake.address()["token"]
    assert files_with(token, fake.started, space.runtime, "/700") == [str(fake.file)]
    for root in (space.runtime, "/tmp", "/dev/shm"):
        assert files_with(token, fake.started, root, "/077") == []


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


# ---- bytes at the doors


GARBAGE = {
    "nothing": b"",
    "one byte": b"x",
    "half a line": b'{"op":"attach","role":"to',
    "zeros": b"\0" * 4096,
    "ends of lines": b"\n" * 4000,
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "random": os.urandom(100000),
    "an endless line": b" " * 10000000,
    "an endless line that begins well": b'{"op":"attach","role":"' + b"x" * 10000000,
    "deep": b"[" * 4000 + b"\n",
    "no object": b'["attach"]\n',
    "no text": b'{"op":\xff\xfe}\n',
}
REFUSED = {
    "an empty object": b"{}\n",
    "a request": b'{"op":"status","id":1}\n',
    "no name": b'{"op":7}\n',
}


@both
@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_gets_no_answer_and_harms_nothing(space, fake, kind, network):
    assert answer_to(fake.address(), GARBAGE[kind], network) == b""
    assert space.epopctl("status").status == 0


@both
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_attach_is_refused(space, fake, kind, network):
    assert b'"op":"refused"' in answer_to(fake.address(), REFUSED[kind], network)
    assert space.epopctl("status").status == 0


@pytest.mark.parametrize("role, process", [
    ("member", None), ("member", 0), ("member", -1), ("member", 2**31), ("member", 2**31 - 1), ("member", 1e300),
    ("member", "1"), ("member", [1]), ("owner", 1), ("", None), (None, None), (7, None), ({}, None), ("x" * 3000, 1)], ids=str)
def test_strange_names_of_the_owner(space, fake, role, process):
    """A mistake, but no reason to die of, nor to take 16 GB for a table."""
    with Connection(fake.address()) as connection:
        answer = connection.attach(role, process)
        assert answer["op"] == "refused" and answer["reason"] and not answer["again"], answer
    assert attach(space, fake.address()) == "attached"


@pytest.mark.parametrize("line", [b"x\n", b"[]\n", b"\n", b"\0\n", b"[" * 5000 + b"\n", b"x" * 2000000, b'{"op":"status"'],
                         ids=lambda line: repr(line[:20]))
def test_garbage_of_a_tool_ends_its_connection_alone(space, fake, line):
    with tool(fake.address()) as other, tool(fake.address()) as connection:
        try:
            connection.socket.sendall(line)
            connection.socket.shutdown(1)
        except OSError:
            pass
        assert connection.rest() == b""
        assert other.ask(op="status")["ok"]


@pytest.mark.parametrize("number", ["1e999", "-1e999", '"x"', "null", "[]", "12345678901234567890"])
def test_strange_numbers_of_requests(fake, number):
    """The answer is a line of JSON all the same."""
    with tool(fake.address()) as connection:
        connection.socket.sendall(f'{{"op":"status","id":{number}}}\n'.encode())
        answer = connection.read()
        assert answer["ok"] and isinstance(answer["id"], (int, float))
        assert connection.ask(op="status")["ok"]


@both
def test_silent_connections_hold_up_nobody_and_are_dropped(space, fake, network):
    silent = [Connection(fake.address(), network) for _ in range(5)]
    silent[0].socket.sendall(b'{"op":"attach"')
    assert attach(space, by_network(fake.address()) if network else fake.address()) == "attached"
    for connection in silent:  # five seconds after they came
        assert connection.rest() == b""
        connection.close()


@both
def test_flood_of_connections(space, fake, network):
    flood = []
    try:
        for _ in range(700):
            flood.append(Connection(fake.address(), network))
            assert len(os.listdir(f"/proc/{fake.pid}/fd")) < (200 if network else 600)
        assert space.epopctl("status").status == 0
        assert attach(space, by_network(fake.address()) if network else fake.address()) == "attached"
    finally:
        for connection in flood:
            connection.close()


def test_strangers_of_the_network_take_no_place_of_the_owners(space, fake):
    """Those of this host are not even asked for the token."""
    flood = [Connection(fake.address(), network=True) for _ in range(128)]
    mine = [Connection(fake.address()) for _ in range(100)]
    for connection in mine:
        assert connection.attach()["op"] == "attached"
        connection.close()
    for connection in flood:
        connection.close()


def test_tools_that_leave_at_once(space, fake):
    for count in range(200):
        with tool(fake.address()) as connection:
            if count % 2:
                connection.send(op="status")
    assert space.epopctl("status").status == 0


# ---- as the page says


PAGE = {block.marker: block.text for block in pages.blocks(job.ROOT / "docs/reference/control.md")}


def test_sessions_of_the_page(space):
    listen_to_network(space)
    fake = FakeJob(space, resize={"ok": False, "code": "refused", "reason": "a resize is pending"})
    with Connection(fake.address()) as connection:
        hold_session(connection, PAGE["by hand"])
        assert connection.rest() == b""
    made = {}
    exec(PAGE["the proof"], made)
    with Connection(fake.address(), network=True) as connection:
        mine, token = "c" * 64, fake.address()["token"]
        assert made["proof"](token, "client", mine, "s", "tool", -1) == proof_of(token, "client", mine, "s", "tool", -1)
        text = PAGE["by hand over the network"]
        for end in ("client", "server"):
            text = text.replace(f"PROOF OF THE {end.upper()}", made["proof"](token, end, mine, connection.challenge, "tool", -1))
        first, rest = text.replace("CLIENT", mine).replace("SERVER", connection.challenge).split("\n", 1)
        assert json.loads(first[2:]) == {"op": "challenge", "challenge": connection.challenge}
        hold_session(connection, rest)
        assert connection.ask(op="status")["ok"]
    fake.end()


# ---- where it listens


def ports_of(pid):
    """Where a process waits for TCP connections."""
    sockets = {os.readlink(path) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir()}

    def read():
        tables = [line.split() for table in ("tcp", "tcp6")
                  for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]]
        return [words[1] for words in tables if words[3] == "0A" and f"socket:[{words[9]}]" in sockets]
    return job.steady(read)


def test_unix_socket_alone(space):
    fake = FakeJob(space)
    path = pathlib.Path(path_of(fake.address()))
    assert network_of(fake.address()) is None and ports_of(fake.pid) == []
    assert path.is_socket() and path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    fake.end()
    assert not path.exists()


def test_chosen_address(space):
    environment = space.environment
    space.environment = lambda extra=None: environment({"EPOP_CONTROL_ADDRESS": "127.0.0.2", **(extra or {})})
    fake = FakeJob(space)
    assert network_of(fake.address())[0] == "127.0.0.2" and len(ports_of(fake.pid)) == 1
    assert attach(space, by_network(fake.address())) == "attached"
    assert space.epopctl("status").status == 0
    fake.end()


@pytest.mark.parametrize("address, reason", [("example", "is no address"), ("192.0.2.1", "Cannot assign requested address")])
def test_address_that_cannot_be(space, address, reason):
    result = space.start([job.BUILD / "tests/helpers/fake_job", "x"], env={"EPOP_CONTROL_ADDRESS": address}).wait()
    assert result.status == 1 and reason in result.err and result.err.count("\n") == 1, result
    assert not any(path.is_socket() for path in pathlib.Path(space.runtime).rglob("*"))
