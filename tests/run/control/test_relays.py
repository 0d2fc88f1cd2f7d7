"""The processes of a host reach a job on another one by one connection: that of the first of them, their relay."""

import contextlib
import hashlib
import hmac
import json
import os
import re
import signal
import socket
import subprocess

import job
import pages
import pytest
from fake import as_other_user, needs_other_user, start_member
from wire import Connection, hold_session

LIMIT = 20


def member(space, fake, process, host="away"):
    one = start_member(space, fake.address(), process, env={"EPOP_HOST_NAME": host})
    assert one.wait_for_line("^(attached|refused: .*)$")[0].group(1) == "attached"
    fake.sees(f"^attached {process}$")
    return one


def members(space, fake, count, **how):
    """By number. The first one is the relay."""
    return {process: member(space, fake, process, **how) for process in range(1, count + 1)}


def leave(one):
    one.stdin.close()
    result = one.wait()
    assert result.status == 0 and "detached" in result.out, result


def sockets(fake, end):
    """Inodes of established connections to the job over the network: their own end (1), or that of the other one (2)."""
    port = int(fake.address()["uri"].rpartition(":")[2])

    def read():
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [line.split() for line in table][1:]
        return {row[9] for row in rows if row[end] == f"0100007F:{port:04X}" and row[3] == "01"}
    return job.steady(read)


def connections(fake):
    return len(sockets(fake, 1))


def has_one_of(one, inodes):
    directory, found = f"/proc/{one.pid}/fd", []
    for entry in os.listdir(directory):
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            found.append(os.readlink(f"{directory}/{entry}"))
    return any(f"socket:[{inode}]" in found for inode in inodes)


def relays(fake, away):
    """Those that have a connection of their own."""
    inodes = sockets(fake, 2)
    return [process for process, one in away.items() if has_one_of(one, inodes)]


def heard_of(fake, process):
    """What that one has said, by now."""
    return [json.loads(text) for text in re.findall(rf"^message {process} (.*)$", fake.process.out, re.M)]


def ask(fake, process, number, op="question"):
    """Members send back what they hear."""
    fake.tell(f'send {process} {{"op":"{op}","n":{number}}}')


def await_answers(fake, processes, count):
    """Each has said so much, each once, and in the order of the questions."""
    wanted = list(range(count))
    job.wait_for(lambda: all(len(heard_of(fake, process)) >= count for process in processes), LIMIT)
    for process in processes:
        assert [answer["n"] for answer in heard_of(fake, process)] == wanted, process


def test_one_connection_of_a_host(space, fake):
    here = [start_member(space, fake.address(), process) for process in (20, 21)]
    for one in here:
        one.wait_for_line("^attached$")
    assert connections(fake) == 0
    away = members(space, fake, 8)
    assert connections(fake) == 1
    further = member(space, fake, 9, host="further")
    assert connections(fake) == 2
    for process in (1, 8, 9, 20):
        ask(fake, process, 0)
    await_answers(fake, (1, 8, 9, 20), 1)
    fake.tell('all {"op":"question","n":1}')
    await_answers(fake, (1, 8, 9, 20), 2)
    for one in [*reversed(away.values()), further, *here]:
        leave(one)
    assert "lost" not in fake.process.out


@pytest.mark.parametrize("op", ["question", "count", "arrived"])
def test_what_all_say_at_a_time_is_of_each(space, fake, op):
    """Of a kind that the relay puts together (count, arrived), and of one that it does not."""
    away = members(space, fake, 6)
    for number in range(20):
        fake.tell(f'all {{"op":"{op}","n":{number}}}')
    await_answers(fake, away, 20)


def test_how_long_they_have_held_is_the_longest(space, fake):
    """What differs is not put together; but for how long they have held, of which the longest counts."""
    away = members(space, fake, 5)
    fake.tell('all {"op":"other"}')
    for process in (2, 3, 4, 5):
        fake.tell(f'send {process} {{"op":"arrived","count":{process // 4},"held":0.{process}}}')
    job.wait_for(lambda: all(len(heard_of(fake, process)) == 2 for process in (2, 3, 4, 5)), LIMIT)
    last = {process: heard_of(fake, process)[1] for process in (2, 3, 4, 5)}
    assert [last[process]["count"] for process in (2, 3, 4, 5)] == [0, 0, 1, 1]
    assert all(last[process]["held"] >= process / 10 for process in last), last
    for one in away.values():
        leave(one)


@pytest.mark.parametrize("how", ["leaves", "aside"])
def test_the_relay_goes_and_nothing_is_lost(space, fake, how):
    """Until one is left, each time while questions and answers are under way."""
    away, asked = members(space, fake, 5), 0
    while len(away) > 1:
        job.wait_for(lambda: len(relays(fake, away)) == 1, LIMIT)
        [relay] = relays(fake, away)
        gone = away.pop(relay)
        for turn in range(60):
            for process in away:
                ask(fake, process, asked + turn)
            if turn == 20 and how == "leaves":
                gone.stdin.close()
            elif turn == 20:
                gone.stdin.write("aside\n")
                gone.stdin.flush()
        asked += 60
        await_answers(fake, away, asked)
        if how == "leaves":
            assert gone.wait().status == 0
    assert "lost" not in fake.process.out and "not attached" not in fake.process.out
    for one in away.values():
        leave(one)


def test_the_relay_dies_and_its_host_with_it(space, fake):
    away = members(space, fake, 4)
    other = member(space, fake, 9, host="further")
    away[1].kill()
    for process in away:
        fake.sees(f"^lost {process}$")
    for process in (2, 3, 4):
        assert away[process].wait().status == 2
    ask(fake, 9, 0)
    await_answers(fake, [9], 1)
    again = member(space, fake, 5)
    ask(fake, 5, 0)
    await_answers(fake, [5], 1)
    leave(again)
    leave(other)


def test_another_one_dies(space, fake):
    away = members(space, fake, 4)
    away[3].kill()
    fake.sees("^lost 3$")
    for process in (1, 2, 4):
        ask(fake, process, 0)
    await_answers(fake, (1, 2, 4), 1)
    assert fake.process.out.count("lost") == 1
    replaced = member(space, fake, 3)
    ask(fake, 3, 0)
    await_answers(fake, [3], 1)
    leave(replaced)


def test_the_relay_is_stopped_for_a_while(space, fake):
    away = members(space, fake, 3)
    away[1].signal(signal.SIGSTOP)
    for number in range(5):
        for process in (2, 3):
            ask(fake, process, number)
    assert not heard_of(fake, 2)
    os.kill(away[1].pid, signal.SIGCONT)
    await_answers(fake, (2, 3), 5)
    assert "lost" not in fake.process.out


def test_all_go_at_the_jobs_end(space, fake):
    away = members(space, fake, 6)
    fake.end()
    for one in away.values():
        assert one.wait().status == 2


def test_the_job_dies(space, fake):
    away = members(space, fake, 6)
    fake.process.kill()
    for one in away.values():
        assert one.wait().status == 2


def test_all_attach_at_once(space, fake):
    """Who is the first is settled among them."""
    away = {process: start_member(space, fake.address(), process, env={"EPOP_HOST_NAME": "away"}) for process in range(1, 25)}
    for one in away.values():
        one.wait_for_line("^attached$")
    fake.tell('all {"op":"question","n":0}')
    await_answers(fake, away, 1)
    assert connections(fake) == 1
    for one in away.values():
        one.stdin.close()
    for one in away.values():
        assert one.wait().status == 0
    assert "lost" not in fake.process.out


# ---- As the page says


PAGE = {block.marker: block.text for block in pages.blocks(job.ROOT / "docs/reference/control.md")}


@pytest.fixture
def by_hand(fake):
    """A relay, of number 65."""
    with Connection(fake.address(), network=True) as connection:
        assert connection.attach("member", 65, fake.address()["token"])["op"] == "attached"
        yield connection


def test_the_session_of_the_page(fake, by_hand):
    lines = PAGE["by hand of a relay"].splitlines()
    hold_session(by_hand, "\n".join(lines[:2]))
    fake.tell('all {"op":"freeze","round":3}')
    hold_session(by_hand, "\n".join(lines[2:]))
    fake.sees('^message 66 {"op":"count","round":3,"count":17,"ended":false}$')
    fake.sees("^lost 66$")
    by_hand.send(op="bye")
    assert by_hand.read() is None
    assert "lost 65" not in fake.process.out


def test_a_relay_speaks_for_those_that_it_brought(fake, by_hand):
    """What is of others is of nobody; what makes no sense is its own, for the coordinator to refuse."""
    with Connection(fake.address()) as other:
        assert other.attach("member", 7)["op"] == "attached"
        for processes in ([7], [65], [1000], [], [[7, 0]], [[7]], ["7"], [4194305], [-1], [[66, 4194305]], None, {}):
            by_hand.send(op="of", processes=processes, says={"op": "spoken", "of": str(processes)})
        by_hand.send(op="of", processes=[7], says={"op": "bye"})
        by_hand.send(op="of", processes=[7], says={"op": "moved"})
        by_hand.send(op="misses", process=7)
        by_hand.send(op="brings", process=7)
        refused = by_hand.read()
        assert refused["op"] == "for" and refused["processes"] == [7] and refused["say"]["op"] == "refused", refused
        by_hand.send(op="brings", process=66)
        by_hand.send(op="of", processes=[66, 7], says={"op": "spoken"})
        fake.sees('^message 66 {"op":"spoken"}$')
        ask(fake, 7, 0)
        assert other.read() == {"op": "question", "n": 0}
        assert not re.search('^(message (65|7) {"op":"spoken"|lost)', fake.process.out, re.M), fake.process.out


def test_one_that_moves_and_does_not_come_back_is_not_waited_for_at_the_end(fake, by_hand):
    by_hand.send(op="brings", process=66)
    by_hand.send(op="of", processes=[66], says={"op": "moved"})
    assert [by_hand.read()["say"]["op"] for _ in range(2)] == ["attached", "bye"]
    by_hand.send(op="of", processes=[66], says={"op": "spoken"})
    ask(fake, 66, 0)
    fake.tell("all {\"op\":\"question\"}")
    assert by_hand.read() == {"op": "question"}
    by_hand.send(op="brings", process=66)
    assert [by_hand.read()["say"] for _ in range(3)] == [{"op": "attached"}, {"op": "question", "n": 0}, {"op": "question"}]
    by_hand.send(op="of", processes=[66], says={"op": "moved"})
    assert by_hand.read()["say"]["op"] == "bye"
    assert "spoken" not in fake.process.out
    fake.end()


# ---- At the door of a relay


def name_of(fake, host="away"):
    """Where the relay of that host listens."""
    key = hashlib.blake2b(fake.address()["token"].encode(), digest_size=32).digest()
    return "epop-" + hmac.new(key, f"epop server relay {host} ".encode(), hashlib.sha512).digest()[:32].hex()


def knock(name):
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(LIMIT)
    one.connect("\0" + name)
    return one


@pytest.fixture
def name(space, fake):
    """That of a relay, of process 1."""
    one = member(space, fake, 1)
    yield name_of(fake)
    leave(one)


@pytest.mark.parametrize("line", [b"nonsense\n", b'{"op":"resize"}\n', b'{"op":"attach","role":"tool"}\n', b'{"op":"attach","role":"member","process":-1}\n',
                                  b"[" * 5000])
def test_who_does_not_say_who_he_is_is_not_heard(space, fake, name, line):
    with knock(name) as one:
        one.sendall(line)
        with contextlib.suppress(ConnectionError):
            assert one.recv(100) == b""
    leave(member(space, fake, 2))
    assert connections(fake) == 1 and "lost" not in fake.process.out


def test_who_says_nothing_is_not_waited_for(space, fake, name):
    """Of many the oldest goes at once, the others after five seconds; processes of the job come in all the time."""
    many = [knock(name) for _ in range(520)]
    leave(member(space, fake, 2))
    for one in (many[0], many[-1]):
        assert one.recv(100) == b""
    for one in many:
        one.close()
    assert connections(fake) == 1 and "lost" not in fake.process.out


@needs_other_user
def test_another_user_is_not_heard(space, fake, name):
    script = ("import socket, sys\none = socket.socket(socket.AF_UNIX)\none.settimeout(20)\none.connect('\\0' + sys.argv[1])\n"
              "try:\n    one.sendall(b'{\"op\":\"attach\",\"role\":\"member\",\"process\":2}\\n')\n    print(one.recv(100))\nexcept ConnectionError:\n    print(b'')\n")
    assert space.start([*as_other_user(), "/usr/bin/python3", "-c", script, name], cwd="/").wait().out == "b''\n"
    assert "attached 2" not in fake.process.out


@needs_other_user
def test_another_user_at_that_name_is_not_followed(space, fake):
    """Processes attach by themselves then."""
    script = ("import socket, sys\none = socket.socket(socket.AF_UNIX)\none.bind('\\0' + sys.argv[1])\none.listen()\nprint('ready', flush=True)\n"
              "sys.stdin.read()\n")
    other = space.start([*as_other_user(), "/usr/bin/python3", "-c", script, name_of(fake)],
                        cwd="/", stdin=subprocess.PIPE)
    other.wait_for_line("^ready$")
    away = members(space, fake, 3)
    assert connections(fake) == 3
    for one in away.values():
        leave(one)
    other.stdin.close()
    assert other.wait().status == 0
