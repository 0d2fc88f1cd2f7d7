"""--backend join --leave park: processes that leave stand by in launches of which others may run on, cost nothing, and
are taken first when the job grows again; one that dies meanwhile, or while it joins, hurts nobody."""

import os
import pathlib
import signal
import socket
import time

import pytest

import job
import joining
from joining import JoinScenario
from scenario import REFUSED, TIMEOUT, Switch

pytestmark = joining.needed

CYCLES = 50


class Parking(JoinScenario):
    """Two ranks at first."""

    def __init__(self, space, *arguments, options=(), **how):
        super().__init__(space, *arguments, options=("--leave", "park", *options), **how)

    def grow_and_shrink(self):
        """Ranks 0 and 1 run on, the second launch stands by as a whole."""
        self.resize(4)
        self.resize(2)
        return self.pids("standby")

    def mixed(self):
        """Rank 0 alone runs on in the first launch; one of the second one; standby: their numbers' pids."""
        self.resize(4)
        self.resize(2, "--release-ranks", "1,2")
        return self.pids("standby")


def stat_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0])


def settled(space, pids):
    """Descriptors of these and processes of the job, once nothing of them changes any more: connections are closed, and
    epopctl's is missed, a moment after a resize."""
    last, since = None, 0
    while True:
        now = [len(os.listdir(f"/proc/{pid}/fd")) for pid in pids], len(space.processes())
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > 1:
            return now
        time.sleep(0.02)


# ---- Who joins


def test_parked_processes_are_used_again(space):
    it = Parking(space)
    parked = it.grow_and_shrink()
    status = it.status()
    assert status["standby"] == 2 and len(parked) == 2 and status["size"] == 2
    assert it.done("status").count("standby") >= 2
    it.resize(4)
    assert [it.rank_pid(2), it.rank_pid(3)] == parked
    it.stop(ranks=4, windows=3)


def test_parts_of_the_first_and_of_another_launch(space):
    """They come back from two launches, and are one group for their INIT and for the ranks."""
    it = Parking(space)
    parked = it.mixed()
    it.resize(4)
    assert [it.rank_pid(2), it.rank_pid(3)] == parked
    it.resize(1)
    it.resize(4)
    it.stop(ranks=4, windows=5)


def test_new_ones_for_the_rest(space):
    it = Parking(space)
    parked = it.mixed()
    it.resize(6)
    assert [it.rank_pid(rank) for rank in (2, 3)] == parked
    assert not set(parked) & {it.rank_pid(4), it.rank_pid(5)}
    it.resize(1)
    assert it.status()["standby"] == 5
    it.resize(7)
    assert it.status()["standby"] == 0
    it.stop(ranks=7, windows=5)


def test_fewer_than_stand_by(space):
    it = Parking(space)
    it.grow_and_shrink()
    it.resize(3)
    assert it.status()["standby"] == 1
    it.stop(ranks=3, windows=3)


def test_they_are_preferred_only_on_the_hosts_asked_for(space):
    it = Parking(space, options=("--prepare-timeout", space.patience(10)))
    parked = it.grow_and_shrink()
    result = it.ctl("resize", "+1", "--hosts", "no-such-host.invalid", "--wait")
    assert result.status in (REFUSED, TIMEOUT), result
    assert it.pids("standby") == parked
    it.resize("+1", "--hosts", socket.gethostname())
    assert it.rank_pid(2) == parked[0]
    it.stop(ranks=3, windows=3)


def test_leave_exit_is_without(space):
    """The control case: with the same backend they end."""
    it = JoinScenario(space, options=("--leave", "exit"))
    it.resize(4)
    it.resize(2)
    it.wait_for_status(lambda status: len(status["processes"]) == 2)
    it.stop(ranks=2, windows=2)


def test_auto_takes_join(space):
    result = space.epop("--leave", "park", "--verbose", job.program("rigid"), ranks=1)
    assert result.status == 0 and "backend 'join'" in result.err, result


# ---- What they cost


def test_parked_processes_cost_nothing(space):
    """No CPU, no program, and the memory is given back."""
    elements = 8000000
    running = space.start_epop("--backend", "join", "--leave", "park", "--no-pmix", job.program("ledger"), "iterations=100000000",
                               f"elements={elements}", ranks=2)
    it = Parking.__new__(Parking)
    it.space, it.it = space, running
    space.wait_for_status(lambda status: True)
    it.ctl = lambda command, *arguments, **how: space.epopctl(command, *arguments, **how)
    it.resize(4)
    busy = {it.rank_pid(rank): resident(it.rank_pid(rank)) for rank in (1, 2, 3)}
    it.resize(1)
    parked = it.pids("standby")
    assert sorted(parked) == sorted(busy)
    for pid in parked:
        assert "ledger.so" not in pathlib.Path(f"/proc/{pid}/maps").read_text()
        assert resident(pid) < busy[pid] - 0.9 * elements / 4 * 8 / 1024, (resident(pid), busy[pid])
    before = {pid: stat_seconds(pid) for pid in parked}
    time.sleep(2)
    assert all(stat_seconds(pid) - before[pid] <= 0.03 for pid in parked)
    space.stop(running)


def test_many_cycles(space):
    """Parts of two launches leave and join, over and over."""
    it = Parking(space, limit=300)
    pids = it.mixed() + [it.pid]
    for _ in range(5):
        it.resize(4)
        it.resize(2)
    memory, used = {pid: resident(pid) for pid in pids}, settled(space, pids)
    for _ in range(CYCLES):
        it.resize(4)
        it.resize(2)
    now = settled(space, pids)
    assert now[1] == used[1]
    for descriptors, before in zip(now[0], used[0]):
        assert descriptors - before < CYCLES // 2, (now, used)  # one that is lost in each cycle; one to the others may still close
    for pid in pids:
        assert resident(pid) - memory[pid] < 1024 + (20 + 2 * space.kept()) * CYCLES, (memory[pid], resident(pid))
    it.stop(ranks=2, windows=2 + 2 * 5 + 2 * CYCLES)


# ---- When one dies


@pytest.mark.parametrize("who", [0, 1])
@pytest.mark.parametrize("state", ["whole launch", "first launch", "with a running one"])
def test_parked_process_is_killed(space, state, who):
    """In the first launch, in one that stands by as a whole, and in one whose others run."""
    it = Parking(space)
    parked = it.grow_and_shrink() if state == "whole launch" else it.mixed()
    dies = parked[who]
    os.kill(dies, signal.SIGKILL)
    it.wait_for_status(lambda status: all(process["pid"] != dies for process in status["processes"]))
    it.resize(4)
    assert it.rank_pid(2) == parked[1 - who]
    it.resize(1)
    result = it.stop(ranks=1, windows=4)
    assert result.err == "", result


@pytest.mark.parametrize("who", [0, 1])
def test_parked_process_is_stopped(space, who):
    it = Parking(space, options=("--prepare-timeout", space.patience(2)))
    parked = it.mixed()
    job.send_signal(parked[who], signal.SIGSTOP)
    result = it.ctl("resize", "4", "--wait")
    assert result.status in (REFUSED, TIMEOUT) and "not ready in time" in result.err, result
    it.wait_for_status(lambda status: all(process["pid"] != parked[who] for process in status["processes"]))
    it.wait_for_status(lambda status: status["standby"] == 1)
    it.resize(4)
    it.stop(ranks=4, windows=3)


def test_init_fails(space):
    """Of one launch: they stand by again."""
    broken = Switch(space, "broken")
    it = Parking(space, f"join-fails-while={broken}")
    parked = it.grow_and_shrink()
    broken.on()
    result = it.ctl("resize", "4", "--wait")
    assert result.status == REFUSED and "INIT" in result.err, result
    broken.off()
    it.wait_for_status(lambda status: status["standby"] == 2)
    it.resize(4)
    assert [it.rank_pid(2), it.rank_pid(3)] == parked
    it.stop(ranks=4, windows=3)


def test_init_fails_in_several_launches(space):
    """They are connected by then, and end."""
    broken = Switch(space, "broken")
    it = Parking(space, f"join-fails-while={broken}")
    it.mixed()
    broken.on()
    result = it.ctl("resize", "5", "--wait")
    assert result.status == REFUSED and "INIT" in result.err, result
    broken.off()
    it.wait_for_status(lambda status: len(status["processes"]) == 2)
    it.resize(5)
    it.stop(ranks=5, windows=3)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("who", [0, 1, 2])
def test_joiner_killed_or_stopped_while_it_waits(space, number, who):
    """One of the first launch, one whose others run, a new one."""
    it = Parking(space)
    it.mixed()
    it.done("pause")
    waiting = it.start_ctl("resize", "5", "--wait")
    it.wait_for_adaptation("prepared")
    job.send_signal(it.pids("joining")[who], number)
    it.done("resume")
    result = waiting.wait()
    assert result.status in (REFUSED, TIMEOUT) and "joining process" in result.err, result
    it.wait_for_status(lambda status: len(status["processes"]) == 2)
    it.resize(5)
    it.stop(ranks=5, windows=3)


@pytest.mark.parametrize("fault", ["connect:kill:0", "connect:stop:0", "connect:exit:1", "accept:kill:1"])
def test_new_one_dies_among_parked_ones(space, fault):
    """While the joiners are connected with each other (connect), and when the ranks connect to them (accept)."""
    it = Parking(space, options=("--prepare-timeout", space.patience(4)))
    it.mixed()
    it.launcher.preload(fault)
    result = it.ctl("resize", "6", "--wait")
    assert result.status in (REFUSED, TIMEOUT), result
    it.launcher.repair()
    it.wait_for_status(lambda status: len(status["processes"]) - status["standby"] == 2 and
                       not any(process["state"] == "leaving" for process in status["processes"]))
    it.resize(6)
    it.stop(ranks=6, windows=3)


@pytest.mark.parametrize("fault", ["abort", "exit", "kill", "late"])
@pytest.mark.parametrize("how", [(), ("--no-ahead",)], ids=["ahead", "at the gate"])
def test_parked_one_of_the_first_launch_fails_in_connect(space, fault, how):
    """Rank 0 is in its launch, which MPI would end: to MPI some errors of connections are fatal whatever it was told to do
    with them. The last one is the control case."""
    switch = Switch(space, "fails")
    it = Parking(space, options=how, env={"LD_PRELOAD": job.test_program("preload_fault"), "EPOP_TEST_WHILE": switch,
                                          "EPOP_TEST_FAULT": f"accept:{fault}:1"})
    it.resize(1)
    switch.on()
    result = it.ctl("resize", "2", "--wait")
    if fault == "late":
        assert result.status == 0, result
    else:
        assert result.status == REFUSED and "joining process" in result.err, result
    switch.off()
    it.wait_for_status(lambda status: len(status["processes"]) == status["size"])
    it.resize(3)
    it.stop(ranks=3)


@pytest.mark.parametrize("fault", ["abort", "exit"])
def test_parked_one_of_the_first_launch_fails_among_others(space, fault):
    """When it is connected with other joiners."""
    switch = Switch(space, "fails")
    it = Parking(space, env={"LD_PRELOAD": job.test_program("preload_fault"), "EPOP_TEST_WHILE": switch,
                             "EPOP_TEST_FAULT": f"accept:{fault}:1"})
    it.mixed()
    switch.on()
    result = it.ctl("resize", "4", "--wait")
    assert result.status == REFUSED and "joining process" in result.err, result
    switch.off()
    it.wait_for_status(lambda status: len(status["processes"]) == 2)
    it.resize(4)
    it.stop(ranks=4)


def test_new_one_is_only_late_among_parked_ones(space):
    """The control case."""
    it = Parking(space)
    it.mixed()
    it.launcher.preload("connect:late:0")
    it.resize(6)
    it.launcher.repair()
    it.stop(ranks=6, windows=3)


# ---- The end


@pytest.mark.parametrize("rank", range(4))
def test_running_rank_is_killed(space, rank):
    """Behind its keeper, too, that ends the job."""
    it = Parking(space)
    it.resize(6)
    it.resize(4)
    pid = it.rank_pid(rank)
    begin = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    result = it.it.wait()
    left = space._wait_gone(20)
    took = time.monotonic() - begin
    assert result.status != 0 and left == [] and space.in_time(took, 5), f"{took} s, left: {left}\n{result}"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_job_is_ended_from_outside(space, number):
    it = Parking(space)
    it.mixed()
    it.it.signal(number)
    it.it.wait()
    assert space._wait_gone(20) == []


def test_a_keeper_stays_when_its_process_is_stopped_for_a_while(space):
    """It hands on what MPI asks of Hydra, which connecting does."""
    it = Parking(space)
    it.wait_until_here()
    pids = [it.rank_pid(rank) for rank in (0, 1)]
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in pids:
            job.send_signal(pid, number)
    it.resize(4)
    it.resize(1)
    it.stop(ranks=1, windows=2)


def test_a_library_has_threads_as_soon_as_it_is_loaded(space):
    """As UCX has on Debian 13: what they held when a process got its keeper was held for ever, and MPI_Init never came back."""
    it = Parking(space, env={"LD_PRELOAD": job.test_program("preload_held")})
    it.resize(4)
    it.resize(1)
    it.stop(ranks=1, windows=2)


def test_a_keeper_is_killed(space):
    """Its process goes with it."""
    it = Parking(space)
    parked = it.grow_and_shrink()
    status = pathlib.Path(f"/proc/{parked[0]}/status").read_text()
    os.kill(int(status.split("PPid:")[1].split()[0]), signal.SIGKILL)
    joining.wait_for_end_of(parked[0])
    it.wait_for_status(lambda status: status["standby"] == 0)  # Hydra ends the launch, which stands by as a whole
    it.resize(4)
    it.stop(ranks=4, windows=3)
