"""How far a program is: the bar on a terminal, epopctl watch and top, and the estimate of the time left."""

import json
import os
import re
import signal

import job
import pytest
from scenario import DONE, Scenario
from terminal import Terminal

BAR = r"\x1b\[(\d+);1H\x1b\[2K(scenario  \d+ ranks? \[=*>? *\] +\d+ %  (\d+)/(\d+)  [^\x1b]*)\x1b8"
GIVEN_BACK = "\x1b7\x1b[r\x1b["


def command(*arguments, options=(), program="progress", ranks=2):
    return [job.MPIEXEC, "-n", ranks, job.BUILD / "bin/epop", *options, job.test_program(program), *arguments]


def bars(text):
    return [(int(row), line, int(done)) for row, line, done, _ in re.findall(BAR, text)]


# ---- The bar


def test_bar_on_a_terminal(space):
    """In the last row, as wide as the terminal, beside whole lines of the program, and gone at the end."""
    it = Terminal(space, command("iterations=500", "work=20000", "lines=10"))
    it.wait_for(lambda text: len(bars(text)) >= 2)
    it.resize(30, 70)
    it.wait_for(lambda text: any(row == 30 for row, _, _ in bars(text)))
    status, text = it.wait()
    assert status == 0, text
    seen = bars(text)
    assert {(row, len(line)) for row, line, _ in seen} <= {(24, 99), (30, 69)}
    done = [count for _, _, count in seen]
    assert done == sorted(done) and done[-1] > done[0] and " left" in seen[-1][1]
    plain = re.sub(r"\x1b[78]|\x1b\[[\d;]*[A-Za-z]", "", re.sub(BAR, "", text))
    lines = [line for line in plain.split("\r\n") if "line" in line]
    assert lines == [f"line {number} of the program" for number in range(1, 51)]
    assert text.count(GIVEN_BACK) == 1 and not bars(text.split(GIVEN_BACK)[1]), text
    assert not re.search(r"\x1b\[[\d;]*m", text), "colours"


@pytest.mark.parametrize("why", ["quiet", "dumb", "no bound", "no callback"])
def test_no_bar(space, why):
    """The terminal is left alone."""
    options = ("--quiet",) if why == "quiet" else ()
    env = {"TERM": "dumb"} if why == "dumb" else None
    arguments = {"no bound": ("iterations=-1",), "no callback": ("how=none", "iterations=700")}
    it = Terminal(space, command(*arguments.get(why, ("iterations=300", "work=4000")), options=options,
                                 program="deadlock" if why == "no callback" else "progress"), env=env)
    status, text = it.wait()
    assert status == 0 and "\x1b" not in text, text


def test_no_bar_when_piped(space):
    result = space.epop(job.test_program("progress"), "iterations=300", "work=4000", ranks=2, env={"TERM": "xterm"})
    assert result.status == 0 and "\x1b" not in result.out + result.err, result


def test_terminal_is_given_back_by_a_job_that_is_killed(space):
    it = Terminal(space, command("iterations=100000"))
    text = it.wait_for(bars)
    pid = int(re.search(r"rank 0 of 2 in process (\d+)", text)[1])
    os.kill(pid, signal.SIGKILL)
    it.wait_for(lambda text: GIVEN_BACK in text)
    assert it.wait()[0] != 0


# ---- The estimate


def rate(it, seconds=1.5):
    """As it is measured from outside, and the status at the end."""
    first = it.status()
    last = it.wait_for_status(lambda status: status["uptime"] > first["uptime"] + seconds)
    done = [status["progress"]["iteration"] for status in (first, last)]
    return (done[1] - done[0]) / (last["uptime"] - first["uptime"]), last


def check_left(it):
    measured, status = rate(it)
    progress = status["progress"]
    expected = (progress["bound"] - progress["iteration"]) / measured
    assert 0.4 * expected < progress["left"] < 2.5 * expected, (expected, status)
    return measured


def test_estimate_after_a_resize(space):
    """Of a program whose iterations take 80 ms divided by its ranks; the old rate would be off by four."""
    it = Scenario(space, "iterations=1000000", "work=80000", program="progress", start=1, ranks=4)
    it.wait_for_status(lambda status: (status["progress"] or {}).get("left"))
    slow = check_left(it)
    it.resize(4)
    it.wait_for_status(lambda status: status["size"] == 4)
    fast = check_left(it)
    assert fast > 2 * slow
    it.done("stop", "--wait")


# ---- watch and top


def test_watch_on_a_terminal(space):
    it = Scenario(space, "iterations=1000000", "work=20000", program="progress", start=1, ranks=2)
    it.wait_until_here()
    watch = Terminal(space, [job.BUILD / "bin/epopctl", "watch", it.id], columns=120)
    live = rf"\r\x1b\[K({it.id}  running  1 rank  \[>? *\] 0 %  left [^-].*  MTCT -  last resize -)"
    line = re.search(live, watch.wait_for(lambda text: re.search(live, text)))[1]
    assert len(line) < 120
    it.resize(2)
    watch.wait_for(lambda text: re.search(r"committed .*1 -> 2", text) and "2 ranks" in text
                   and "last resize 1 -> 2" in text)
    it.done("stop", "--wait")
    status, text = watch.wait()
    assert status == DONE and text.endswith("the job has ended\r\n") and "epopctl:" not in text, text


def test_mpi_share(space):
    """Under the driver that measures it: rank 0 waits in a barrier for rank 1, which naps; or nobody waits."""
    it = Scenario(space, "how=none", "nap=20000", "sleeper=1", program="deadlock", start=2, ranks=2,
                  options=("--driver", "profile"))
    assert it.wait_for_status(lambda status: status.get("mpi_share", 0) > 0.5)["mpi_share"] <= 1
    assert float(space.epopctl("top").out.splitlines()[1].split("\t")[6]) > 0.4
    it.done("stop", "--wait")
    alone = Scenario(space, "iterations=1000000", program="progress", start=1, ranks=1, options=("--driver", "profile"))
    assert alone.wait_for_status(lambda status: "mpi_share" in status)["mpi_share"] < 0.2
    alone.done("stop", "--wait")


def test_top(space):
    it = Scenario(space, "iterations=1000000", "work=20000", program="progress", start=1, ranks=2)
    it.wait_for_status(lambda status: (status["progress"] or {}).get("left"))
    result = space.epopctl("top")
    head, row = [line.split("\t") for line in result.out.splitlines()]
    found = dict(zip(head, row, strict=True))
    assert {"JOB": it.id, "STATE": "running", "SIZE": "1", "DONE": "0 %", "RESIZE": "-", "ELEMENT": "work"}.items() <= found.items()
    assert found["LEFT"] != "-"
    found, = json.loads(space.epopctl("top", "--json").out)
    assert found["job"] == it.id and found["progress"]["bound"] == 1000000
    once = Terminal(space, [job.BUILD / "bin/epopctl", "top", "--once"])
    assert once.wait()[0] == DONE and it.id in once.text and "\x1b" not in once.text
    again = Terminal(space, [job.BUILD / "bin/epopctl", "top"])
    again.wait_for(lambda text: text.count("\x1b[H\x1b[J") >= 3 and text.count(it.id) >= 2)
    again.process.send_signal(signal.SIGINT)
    assert again.wait()[0] == -signal.SIGINT
    it.done("stop", "--wait")
