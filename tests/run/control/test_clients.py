"""A client that stays attached, as a resource manager's: many requests at a time, for long, and what is left of it when
it goes."""

import os

from scenario import Scenario, resident_mb
from wire import Client


def test_requests_at_a_time(space):
    """While a resize is waited for, all others are answered."""
    it = Scenario(space, start=1, ranks=3)
    client = Client(it)
    assert client.ask(op="pause")["ok"]
    resize = client.send(op="resize", size=3, wait=True)
    for _ in range(3):
        numbers = {op: client.send(op=op) for op in ("status", "measure", "where")}
        answers = {op: client.answer(number) for op, number in numbers.items()}
        assert all(answer["ok"] for answer in answers.values()), answers
    assert client.ask(op="resize", size=2)["code"] == "refused"
    assert not client.has_answered(resize)
    client.event("prepared")
    assert client.ask(op="resume")["ok"]
    answer = client.answer(resize)
    assert answer["code"] == "done" and [place["rank"] for place in answer["joined"]] == [1, 2], answer
    client.it.stdin.close()
    assert client.it.wait().status == 0
    it.stop(ranks=3, windows=1)


def test_nothing_grows(space):
    """Hundreds of requests and resizes of one client: the job's memory and descriptors stay as they are."""
    it = Scenario(space, "work=2000", start=1, ranks=2, limit=300, options=["--no-pmix"]) # whose gateway comes after a second
    client = Client(it)

    def round_of(count):
        for _ in range(count):
            numbers = [client.send(op=op) for op in ("status", "measure", "where") for _ in range(5)]
            numbers.append(client.send(op="resize", size=2, wait="vacated"))
            answers = [client.answer(number) for number in numbers]
            answers.append(client.ask(op="resize", release_ranks=[1], wait="vacated"))
            assert all(answer["ok"] for answer in answers) and answers[-1]["vacated"], client.it.out[-6000:]
            client.seen = len(client.it.out.splitlines())
    round_of(15)
    memory, files = resident_mb(it.pid), len(os.listdir(f"/proc/{it.pid}/fd"))
    round_of(40)
    assert len(os.listdir(f"/proc/{it.pid}/fd")) == files
    assert resident_mb(it.pid) < memory + 3, (memory, resident_mb(it.pid))
    client.it.stdin.close()
    assert client.it.wait().status == 0
    it.stop(ranks=1, windows=110)


def test_it_is_killed_with_requests_open(space):
    it = Scenario(space, start=1, ranks=2)
    it.done("pause")
    for _ in range(3):
        client = Client(it)
        client.send(op="resize", size=2, wait=True)
        client.send(op="measure")
        client.answer(client.send(op="status"))
        client.it.kill()
        it.done("cancel")
    it.done("resume")
    it.resize(2)
    it.stop(ranks=2, windows=1)
