"""Clients that ask too much, that come too often, or that do not read: the job serves the others meanwhile, and afterwards.
EPOP_TEST_VISITORS clients come and go, some thousands if that is not set."""

import contextlib
import json
import os
import pathlib
import resource
import socket
import subprocess
import sys
import threading
import time

import job
import pytest
from fake import FakeJob, start_member
from scenario import DONE, NO_JOB, TIMEOUT, Scenario
from wire import Connection, network_of, path_of, tool

VISITORS = int(os.environ.get("EPOP_TEST_VISITORS", "3000"))
TOOLS_MOST = 256
REQUESTS = 12000

# As fast as it can until its input ends. Says when there were a thousand.
FLOOD = """
import os, select, socket, sys
family, address = eval(sys.argv[1])
count = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    for _ in range(50):
        with socket.socket(family) as it:
            it.setblocking(False)
            try:
                it.connect(address)
            except BlockingIOError:
                pass
            count += 1
            if count == 1000:
                print("a thousand", flush=True)
"""


def rss_kb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def send_without_waiting(connection, data):
    """What the socket takes."""
    connection.socket.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while data:
            data = data[connection.socket.send(data):]


# ---- Requests


def test_requests_that_are_never_answered(space):
    """Of each client 32 are read; the rest waits in its own socket."""
    fake = FakeJob(space, pause="never")
    clients = [tool(fake.address()) for _ in range(4)]
    for client in clients:
        send_without_waiting(client, b'{"op":"pause"}\n' * REQUESTS)
    for _ in range(5):
        assert space.epopctl("status").status == DONE
    assert sum(request["op"] == "pause" for request in fake.requests()) == 4 * 32
    member = start_member(space, fake.address(), 1)
    member.wait_for_line("^attached$")
    for client in clients:
        client.close()
    for _ in range(5):
        assert space.epopctl("status").status == DONE
    job.wait_for(lambda: fake.process.out.count("abandoned\n"), meets=lambda count: count == 4 * 32)
    member.stdin.close()
    member.wait()
    fake.end()


def test_requests_without_end_to_a_running_job(space):
    """48,000 of four clients that read no answer: others are answered, and it is resized, meanwhile and afterwards."""
    it = Scenario(space, start=1, ranks=2)
    it.wait_until_here()  # before it is not running, but starting
    address = json.loads(next(pathlib.Path(space.runtime).rglob(f"{it.id}.json")).read_text())
    clients = [tool(address) for _ in range(4)]

    def send(client):
        with contextlib.suppress(OSError):  # it is closed at the end, or dropped
            client.socket.sendall(b'{"op":"status"}\n' * REQUESTS)
    threads = [threading.Thread(target=send, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    for size in (2, 1, 2):
        assert it.status()["state"] == "running"
        it.resize(size)
    for client in clients:
        client.socket.shutdown(socket.SHUT_RDWR)
        client.close()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert it.status()["size"] == 2
    it.resize(1)
    it.stop(ranks=1, windows=4)


# ---- Connections


@pytest.mark.parametrize("network", [False, True], ids=["unix", "tcp"])
def test_connections_that_come_and_go_at_once(space, network):
    environment = space.environment
    if network:
        space.environment = lambda extra=None: environment({"EPOP_CONTROL_ADDRESS": "127.0.0.1", **(extra or {})})
    fake = FakeJob(space)
    path = path_of(fake.address())
    where = ((int(socket.AF_INET), network_of(fake.address())) if network else (int(socket.AF_UNIX), os.path.basename(path)))
    flood = space.start([sys.executable, "-c", FLOOD, repr(where)], stdin=subprocess.PIPE, cwd=os.path.dirname(path), limit=300)
    for _ in range(20):
        assert space.epopctl("status").status == DONE
    member = start_member(space, fake.address(), 1)
    member.wait_for_line("^attached$")
    flood.wait_for_line("^a thousand$")
    flood.stdin.close()
    assert flood.wait().status == 0
    assert space.epopctl("status").status == DONE
    member.stdin.close()
    member.wait()
    fake.end()


def test_more_tools_than_there_is_room_for(space):
    """They wait, and members do not."""
    fake = FakeJob(space)
    tools = [tool(fake.address()) for _ in range(TOOLS_MOST)]
    result = space.epopctl("status", "--timeout", "5")  # in which it has to hear that
    assert result.status == TIMEOUT and "too many clients are attached" in result.err, result
    member = start_member(space, fake.address(), 1)
    member.wait_for_line("^attached$")
    assert all(one.ask(op="status")["ok"] for one in tools)
    waiting = space.start_epopctl("status")
    tools.pop().close()
    assert waiting.wait().status == DONE
    for one in tools:
        one.close()
    assert space.epopctl("status").status == DONE
    member.stdin.close()
    member.wait()
    fake.end()


def test_no_descriptors_left(space):
    """Those who say nothing are sent away in time; the job does not turn in circles meanwhile."""
    fake = FakeJob(space)
    resource.prlimit(fake.pid, resource.RLIMIT_NOFILE, (60, 60))
    silent = [Connection(fake.address()) for _ in range(100)]
    begin = time.monotonic()
    assert space.epopctl("status", "--timeout", "30", limit=60).status == DONE
    ticks = pathlib.Path(f"/proc/{fake.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    assert sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK") < 0.5 + 0.2 * (time.monotonic() - begin)
    for connection in silent:
        connection.close()
    assert space.epopctl("status").status == DONE
    fake.end()


# ---- Those that do not read


def test_one_that_never_reads_is_dropped(space):
    """With a line; one that reads gets all."""
    fake = FakeJob(space)
    deaf, reader = tool(fake.address()), tool(fake.address())
    assert deaf.ask(op="watch")["ok"] and reader.ask(op="watch")["ok"]
    heard = []
    thread = threading.Thread(target=lambda: heard.extend(line for line in reader.file))
    thread.start()
    text, count = "x" * 3900, 0
    while "dropped" not in fake.process.err and count < 40000:
        for _ in range(500):
            fake.process.stdin.write(f'publish {{"event":"told","time":1,"reason":"{text}"}}\n')
        fake.process.stdin.flush()
        count += 500
    assert "epop: a client is dropped: it does not read what it is sent\n" in fake.process.err
    assert count * len(text) > 16 << 20  # one that is slow for a while is not meant
    assert space.epopctl("status").status == DONE
    deaf.close()
    fake.end()
    thread.join(20)
    events = [line for line in heard if b'"told"' in line]
    assert len(events) == count and json.loads(heard[-1]) == {"op": "bye"}
    assert fake.process.err.count("\n") == 1


# ---- What is left of them


def test_nothing_is_left_of_those_that_came_and_went(space):
    it = Scenario(space, start=1, ranks=2, limit=600, options=["--no-pmix"]) # whose gateway comes after a second

    def visit(count):
        result = space.start([job.BUILD / "tests/helpers/visitors", str(count), it.id], limit=500).wait(500)
        assert result.status == 0 and result.out == "done\n", result
    visit(500)
    memory, files = rss_kb(it.pid), len(os.listdir(f"/proc/{it.pid}/fd"))
    visit(VISITORS)
    # That of the last one is closed a moment after it has gone.
    job.wait_for(lambda: len(os.listdir(f"/proc/{it.pid}/fd")), meets=lambda count: count <= files)
    assert rss_kb(it.pid) < memory + 512, (memory, rss_kb(it.pid))
    it.stop(ranks=1, windows=0)


def test_no_job_is_no_job(space):
    """The control for all of these: whoever asks what is not there is told so."""
    assert space.epopctl("status").status == NO_JOB
    assert space.start([job.BUILD / "tests/helpers/visitors", "1", "nobody"]).wait().status == 1
