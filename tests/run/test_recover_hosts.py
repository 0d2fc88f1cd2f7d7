"""epop --recover on processes that join and on several hosts: one program through growing, shrinking, checkpoint, restart and
recovery; a host that loses its power, and with it its memory."""

import json
import os
import re
import signal
import time

import hosts
import job
import joining
import pytest

pytestmark = joining.needed

DIED = r"epop: recovered \((\d+) of (\d+)\) on (\d+) ranks? from (.*); lost: (\d+) iterations?, ([\d.]+) s; " \
       r"it stood still for ([\d.]+) s \((.*)\)"
FIVE = job.program("five")


def await_status(ctl, running, condition):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        result = ctl("status", "--json")
        if result.status == 0 and condition(json.loads(result.out)):
            return json.loads(result.out)
        assert running.running(), running.wait()
    raise AssertionError(f"not in time: {result}")


def is_saved(status):
    return status.get("checkpoint", {}).get("level") == "memory"


def of_rank(status, rank):
    return next(process for process in status["processes"] if process["rank"] == rank)


# ---- One set of blocks for five things

def test_five(space):
    """Grows, shrinks, is saved, loses a rank, goes on; is stopped, and restarted at another size; every element is right."""
    steps = [5000, 1000000]
    running = space.start_epop("--recover", 2, "--checkpoint-memory", "0.2", "--checkpoint-dir", space.directory, "-n", 2, FIVE,
                               *steps, limit=100)
    await_status(space.epopctl, running, lambda status: status["state"] == "running")
    assert space.epopctl("resize", "4", "--wait").status == 0
    assert space.epopctl("resize", "3", "--wait").status == 0
    last = await_status(space.epopctl, running, lambda status: is_saved(status) and status["size"] == 3)
    assert "recoveries" not in last, last
    os.kill(of_rank(last, 2)["pid"], signal.SIGKILL)
    match, _ = running.wait_for_line(DIED, stream="err")
    assert "in memory" in match[4] and space.in_time(float(match[7]), 2), match[0]
    status = await_status(space.epopctl, running, lambda status: status["state"] == "running" and "recoveries" in status)
    assert status["recoveries"][0]["from"] == "memory" and status["recoveries"][0]["size"] == 2, status
    assert re.search(r"^recovered\s+from memory \d+, \d+ iterations lost", space.epopctl("status").out, flags=re.M)
    assert space.epopctl("resize", "1", "--wait").status == 0
    saved = space.epopctl("checkpoint", "--wait", "--json")
    assert saved.status == 0, saved
    step = json.loads(saved.out)["checkpoint"]["iteration"]  # the status may tell of a later one, in memory
    assert space.epopctl("stop", "--wait").status == 0
    result = running.wait()
    worlds = [(int(size), int(start)) for start, size in re.findall(r"five: from step (\d+) on (\d) ranks", result.err)]
    assert result.status == 0 and [size for size, _ in worlds] == [2, 4, 3, 2, 1], result  # each step looks for all before it
    assert worlds[0] == (2, 0) and worlds[1][1] <= worlds[2][1] and 0 < worlds[3][1] <= worlds[4][1] <= step, result
    again = space.start_epop("--restart", space.directory, FIVE, *steps, ranks=3)
    await_status(space.epopctl, again, lambda status: status["state"] == "running")
    assert space.epopctl("stop", "--wait").status == 0
    result = again.wait()
    assert result.status == 0 and re.search(r"five: from step (\d+) on 3 ranks", result.err)[1] == str(step), result


# ---- Hosts

def start(net, where, *options, ranks=4):
    return net.start("n1", [job.BUILD / "bin/epop", "--recover", 2, "--checkpoint-memory", "0.2", "-n", ranks, "--hosts", where,
                            "--launcher", "ssh", "--launcher-exec", hosts.START, *options, FIVE, 5000, 3000], limit=100)


def left_in_memory(net, name):
    return net.start(name, ["sh", "-c", "ls -d /dev/shm/epop-* 2>/dev/null; true"]).wait().out


@pytest.mark.parametrize("where, lost, ranks", [
    ("n1:2,n2:2,n3:2", "n2", 4),  # there are spare slots
    ("n1:2,n2:2", "n2", 2),       # there are none
    ("n2:2,n3:2", "n2", 2),       # process 0 was there
])
def test_a_host_loses_its_power(space, net, where, lost, ranks):
    running = start(net, where)
    first = where.split(":")[0]
    await_status(lambda *words: net.epopctl(first, *words), running, is_saved)
    off = time.monotonic()
    net.power_off(lost)
    match, _ = running.wait_for_line(DIED, stream="err", timeout=40)
    assert space.in_time(time.monotonic() - off - float(match[7]), 2), match[0]  # found dead
    assert "in memory" in match[4] and int(match[3]) == ranks, match[0]
    result = running.wait()
    assert result.status == 0, result
    for name in {"n1", "n2", "n3"} - {lost}:
        assert left_in_memory(net, name) == "", name
