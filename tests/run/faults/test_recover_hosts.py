"""epop --recover on processes that join and on several hosts: one program through growing, shrinking, checkpoint, restart and
recovery; a host that loses its power, and with it its memory."""

import json
import os
import re
import signal
import time

import executables
import hosts
import job
import joining
import pytest

pytestmark = joining.needed

DIED = r"epop: recovered \((\d+) of (\d+)\) on (\d+) ranks? from (.*); lost: (\d+) iterations?, ([\d.]+) s; " \
       r"it stood still for ([\d.]+) s \((.*)\)"
FIVE = job.program("five")


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
    space.wait_until_running(running)
    space.resize(4)
    space.resize(3)
    last = space.wait_for_status(lambda status: is_saved(status) and status["size"] == 3, running=running)
    assert "recoveries" not in last, last
    os.kill(of_rank(last, 2)["pid"], signal.SIGKILL)
    match, _ = running.wait_for_line(DIED, stream="err")
    assert "in memory" in match[4] and space.in_time(float(match[7]), 2), match[0]
    status = space.wait_for_status(lambda status: status["state"] == "running" and "recoveries" in status, running=running)
    assert status["recoveries"][0]["from"] == "memory" and status["recoveries"][0]["size"] == 2, status
    assert re.search(r"^recovered\s+from memory \d+, \d+ iterations lost", space.epopctl("status").out, flags=re.M)
    space.resize(1)
    saved = space.epopctl("checkpoint", "--wait", "--json")
    assert saved.status == 0, saved
    step = json.loads(saved.out)["checkpoint"]["iteration"]  # the status may tell of a later one, in memory
    assert space.epopctl("stop", "--wait").status == 0
    result = running.wait()
    worlds = [(int(size), int(start)) for start, size in re.findall(r"five: from step (\d+) on (\d) ranks", result.err)]
    assert result.status == 0 and [size for size, _ in worlds] == [2, 4, 3, 2, 1], result  # each step looks for all before it
    assert worlds[0] == (2, 0) and worlds[1][1] <= worlds[2][1] and 0 < worlds[3][1] <= worlds[4][1] <= step, result
    again = space.start_epop("--restart", space.directory, FIVE, *steps, ranks=3)
    space.wait_until_running(again)
    result = space.stop(again)
    assert re.search(r"five: from step (\d+) on 3 ranks", result.err)[1] == str(step), result


# ---- Hosts

def start(net, where, *options, ranks=4, program=(FIVE, 5000, 3000)):
    return net.start("n1", [job.BUILD / "bin/epop", "--recover", 2, "--checkpoint-memory", "0.2", "-n", ranks, "--hosts", where,
                            "--launcher", "ssh", "--launcher-exec", hosts.START, *options, *program], limit=100)


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
    net.at(first).wait_for_status(is_saved, running=running)
    off = time.monotonic()
    net.power_off(lost)
    match, _ = running.wait_for_line(DIED, stream="err", timeout=40)
    assert space.in_time(time.monotonic() - off - float(match[7]), 2), match[0]  # found dead
    assert "in memory" in match[4] and int(match[3]) == ranks, match[0]
    result = running.wait()
    assert result.status == 0, result
    for name in {"n1", "n2", "n3"} - {lost}:
        assert left_in_memory(net, name) == "", name


def test_what_is_constant_was_on_the_other_host_too(space, net):
    """From a checkpoint whose parts have it, and their copies, by links to the one before: what is computed is as without a fault."""
    elements, program = 2000, job.test_program("saved")
    few = 8 * (elements + 11 * 13 + 11)  # bytes of what changes
    arguments = (f"n={elements}", "steps=1500")
    alone = space.epop(program, *arguments, "nap=0", ranks=2)
    running = start(net, "n1:2,n2:2", program=(program, *arguments, "nap=1000"))
    net.at("n1").wait_for_status(lambda status: is_saved(status) and status["checkpoint"]["bytes"] == few, running=running)
    net.power_off("n2")
    match, _ = running.wait_for_line(DIED, stream="err", timeout=40)
    assert "in memory" in match[4], match[0]
    result = running.wait()
    ends = [re.search(r"^end: \d ranks, (.*)$", each.out, flags=re.M)[1] for each in (alone, result)]
    assert result.status == 0 and ends[0] == ends[1], (result, alone)


def test_all_ranks_of_a_host_that_has_gone_have_died(space, net):
    """As the first probe says to an executable that goes on without them."""
    program = executables.compile_c(executables.source("probe_fault"), space.directory / "fault", *executables.LINKED)
    running = start(net, "n1:2,n2:2", program=[program])
    net.at("n1").wait_until_running(running)
    net.power_off("n2")
    result = running.wait()
    told = {f"rank {rank}: pending 2, status 4, 2 failed: 2 3" for rank in (0, 1)}
    assert result.status == 0 and {line for line in result.out.splitlines() if "pending 2" in line} == told, result
