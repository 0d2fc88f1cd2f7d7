"""Nodes that are taken away: several releases at once, a release during a growth, SIGTERM in joined processes, and when
the processes have ended."""

import contextlib
import json
import os
import re
import signal

import pytest

import hosts
import job
import joining
from executables import LINKED, compile_c, source
from joining import JoinScenario
from scenario import Scenario, Switch

pytestmark = joining.needed

REFUSED = 1
# The other processes of a job are those of n1, where its first launch is.
NODES = ["n1", "n2", "n3", "n4"]


class Net(job.Asks):
    """The ledger on four hosts, of which the first has its first launch."""

    def __init__(self, space):
        self.space = space
        self.net = hosts.Hosts(space, NODES)
        self.running = None

    def start(self, *options, program=None, ranks=1, command=None, env=None):
        launcher = ["-launcher", "ssh", "-launcher-exec", hosts.START, "-hosts", "n1", "-n", ranks]
        words = command or [job.BUILD / "bin/epop", "--backend", "join", *options,
                            *(program or [job.program("ledger"), *joining.ENDLESS])]
        self.running = self.net.start("n1", [job.MPIEXEC, *launcher, *words], env=env, limit=300)
        self.wait_until_running(self.running)
        return self

    def start_sizes(self, rule, *arguments, ranks=1):
        """Its first phase goes on until first is off."""
        first = Switch(self.space, "first").on()
        self.start(program=[job.test_program("scenario_sizes"), f"first-while={first}", *arguments], ranks=ranks,
                   env={"EPOP_TEST_SIZES": rule})
        return first

    def epopctl(self, *words):
        return self.net.epopctl("n1", *words)

    def ask(self, *words):
        return self.net.start("n1", [job.BUILD / "bin/epopctl", *words], limit=job.EPOPCTL_LIMIT)

    def answer(self, *words, status=0):
        result = self.epopctl("resize", *words, "--json")
        assert result.status == status, result
        return json.loads(result.out)

    def wait_for_hosts(self, *names):
        return self.wait_for_status(lambda status: hosts.by_rank(status) == list(names) and status["state"] == "running")

    def wait_for_queued(self, count):
        return self.wait_for_status(lambda status: status.get("queued") == count)

    def grow(self, *names):
        for name in names:
            self.resize("+1", "--hosts", name)

    def pids(self, host):
        return [process["pid"] for process in self.status()["processes"] if process["host"] == host]

    def end(self):
        result = self.stop(self.running)
        assert "WRONG" not in result.out + result.err, result
        return result


def runs(pid):
    """A process that nobody has asked for its status has ended."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    return False


@pytest.fixture(name="net")
def fixture_net(space):
    try:
        yield Net(space)
    except hosts.Unavailable as why:
        pytest.skip(f"no namespaces here: {why}")


# ---- Several at once


def test_releases_of_three_hosts_become_two_adaptations(net):
    """The first is pending in a pause; the two behind it are one."""
    net.start().grow("n2", "n3", "n4")
    assert net.epopctl("pause").status == 0
    first = net.ask("resize", "--release", "n3", "--wait", "--json")
    net.wait_for_status(lambda status: status["adaptations"][-1]["id"] == 4)
    second = net.answer("--release", "n2")
    assert second["code"] == "accepted" and second["queued"] and "adaptation 4" in second["note"], second
    third = net.ask("resize", "--release-ranks", "3", "--wait=vacated", "--json")
    refused = net.epopctl("resize", "+1")
    assert refused.status == REFUSED and "is pending" in refused.err, refused
    again = net.ask("resize", "--release", "n3", "--wait", "--json")
    net.wait_for_queued(3)
    assert net.epopctl("cancel").status == 0 and first.wait().status == REFUSED
    net.wait_for_status(lambda status: status["adaptations"][-1]["id"] == 5)
    assert net.epopctl("resume").status == 0
    ended = [it.wait() for it in (third, again)]
    assert not any(it.status for it in ended), ended
    results = [json.loads(it.out) for it in ended]
    net.wait_for_hosts("n1")
    assert [result["adaptation"] for result in results] == [5, 5] and results[0]["vacated"]
    assert sorted(place["host"] for place in results[0]["left"]) == ["n2", "n3", "n4"]
    assert results[0]["left"][2] == {"rank": 3, "host": "n4"}
    assert not results[0]["joined"]
    net.end()


def test_what_is_queued_is_refused_like_any(net):
    """Rank 0's host, a host without ranks, a rank that there is not."""
    net.start().grow("n2")
    assert net.epopctl("pause").status == 0 and net.epopctl("resize", "--release", "n2").status == 0
    for words, reason in ((("--release", "n1"), "rank 0 cannot leave"), (("--release", "n4"), "no rank runs on n4"),
                          (("--release-ranks", "0"), "rank 0 cannot leave"), (("--release-ranks", "7"), "no rank 7")):
        result = net.epopctl("resize", *words)
        assert result.status == REFUSED and reason in result.err, result
    net.epopctl("resume")
    net.wait_for_hosts("n1")
    net.end()


def test_a_host_that_has_left_meanwhile(net):
    """Asked for twice: the second one is done, with a note."""
    net.start().grow("n2", "n3")
    assert net.epopctl("pause").status == 0
    first = net.ask("resize", "--release", "n2", "--wait", "--json")
    net.wait_for_status(lambda status: status["adaptations"][-1]["id"] == 3)
    second = net.ask("resize", "--release", "n2", "--wait=vacated", "--json")
    gone = net.ask("resize", "--release", "n3", "--wait", "--json")
    net.wait_for_queued(2)
    gone.kill()
    net.epopctl("resume")
    assert first.wait().status == 0
    answer = json.loads(second.wait().out)
    assert answer["code"] == "done" and "no rank is there any more" in answer["note"] and answer["vacated"], answer
    net.wait_for_hosts("n1")  # a requester that has gone is no reason to stay
    net.end()


def test_stop_while_releases_wait(net):
    net.start().grow("n2", "n3")
    assert net.epopctl("pause").status == 0
    first = net.ask("resize", "--release", "n2", "--wait")
    net.wait_for_status(lambda status: status["adaptations"][-1]["id"] == 3)
    second = net.ask("resize", "--release", "n3", "--wait")
    net.wait_for_queued(1)
    net.end()
    for it in (first, second):
        result = it.wait()
        assert result.status in (REFUSED, 3) and result.err.count("\n") == 1, result


# ---- During a growth


def test_the_host_of_a_growth_is_released(net):
    """While its processes start, it is called off, and the job goes on; another host is none of its business."""
    net.start("--prepare-timeout", "100").grow("n2")
    net.net.cut("n3", silently=True)
    growth = net.ask("resize", "+1", "--hosts", "n3", "--wait")
    net.wait_for_status(lambda status: status["adaptations"][-1]["id"] == 2)
    queued = net.answer("--release", "n2")
    assert queued["queued"], queued
    answer = net.answer("--release", "n3", "--wait")
    assert answer["code"] == "done" and "no rank is there" in answer["note"], answer
    result = growth.wait()
    assert result.status == REFUSED and "n3, where processes were to join, is released" in result.err, result
    net.net.clear("n3")
    net.net.mend("n3")
    net.wait_for_hosts("n1")
    net.grow("n3")
    net.end()


def test_a_prepared_growth_is_called_off(net):
    """In a pause, with its joiners waiting."""
    net.start()
    assert net.epopctl("pause").status == 0
    growth = net.ask("resize", "+1", "--hosts", "n2", "--wait")
    net.wait_for_status(lambda status: status["adaptations"] and status["adaptations"][-1]["state"] == "prepared")
    joiners = net.pids("n2")
    answer = net.answer("--release", "n2", "--wait=vacated")
    assert answer["code"] == "done" and answer["vacated"] and joiners and not any(map(runs, joiners)), answer
    assert growth.wait().status == REFUSED
    net.epopctl("resume")
    net.grow("n2")
    net.end()


# ---- When they have ended


def test_vacated(net):
    """By the pids, and by the event."""
    net.start()
    watch = net.ask("watch", "--json")

    def watches():
        """What happens before it is connected it does not hear of."""
        assert net.epopctl("pause").status == 0 and net.epopctl("resume").status == 0
        return watch.out
    job.wait_for(watches, 30)
    net.resize("+2", "--hosts", "n2,n3")
    pids = net.pids("n2") + net.pids("n3")
    answer = net.answer("--release", "n2,n3", "--wait=vacated")
    assert len(pids) == 2 and answer["vacated"] and not any(map(runs, pids)), answer
    match, _ = watch.wait_for_line(r'\{.*"vacated".*\}')
    assert json.loads(match[0])["host"] in ("n2", "n3")
    assert net.answer("+1", "--hosts", "n4", "--wait=vacated")["vacated"]
    watch.kill()
    net.end()


def test_the_pool_is_vacated_when_processes_stand_by(space):
    """They end with the job alone."""
    it = Scenario(space, start=2, ranks=2)
    answer = json.loads(it.done("resize", "1", "--wait=vacated", "--json"))
    assert answer["vacated"] and [place["rank"] for place in answer["left"]] == [1]
    it.stop(ranks=1, windows=1)


def test_a_growth_is_vacated_at_once(space):
    """Nobody left."""
    it = JoinScenario(space)
    answer = json.loads(it.done("resize", "3", "--wait=vacated", "--json"))
    assert answer["joined"] == [{"rank": 2, "host": os.uname().nodename}] and answer["vacated"]
    it.stop(ranks=3, windows=1)


# ---- SIGTERM


def tell(pid):
    """It may have left by now, with another one that was told before."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


def told(net, host):
    for pid in net.pids(host):
        tell(pid)


def test_sigterm_in_a_joined_process(net):
    """All joined ranks of its host leave, the job goes on, and what is told twice is told once."""
    net.start()
    net.resize("+2", "--hosts", "n2")
    net.grow("n3")
    pids = net.pids("n2")
    for _ in range(2):
        tell(pids[0])
    net.wait_for_hosts("n1", "n3")
    for pid in pids:
        joining.wait_for_end_of(pid)
    result = net.end()
    assert len(re.findall("n2 was told to end .SIGTERM.; ranks 1,2 leave", result.err)) == 1, result


def in_phase(name):
    return lambda status: status["element"] and status["element"]["name"] == name


def test_sigterm_in_a_rigid_phase(net):
    """It leaves in the next elastic one."""
    second = Switch(net.space, "second").on()
    first = net.start_sizes("rigid second", f"second-while={second}")
    net.grow("n2")
    first.off()
    net.wait_for_status(in_phase("second"))
    told(net, "n2")
    net.running.wait_for_line("n2 was told to end", stream="err")
    assert hosts.by_rank(net.wait_for_status(in_phase("second"))) == ["n1", "n2"]
    second.off()
    net.wait_for_hosts("n1")
    net.end()


def test_sigterm_where_the_phase_needs_the_rank(net):
    """One line says so; the next phase lets it go. Other resizes work meanwhile."""
    first = net.start_sizes("two first", ranks=2)
    net.grow("n2")
    net.resize("--release-ranks", "1")
    told(net, "n2")
    net.running.wait_for_line("cannot leave yet: the program accepts neither 1 ranks", stream="err")
    assert hosts.by_rank(net.status()) == ["n1", "n2"]
    net.grow("n3")
    net.wait_for_hosts("n1", "n3")
    first.off()
    net.wait_for_status(in_phase("second"))
    told(net, "n3")
    net.wait_for_hosts("n1")
    result = net.end()
    assert result.err.count("cannot leave yet") == 1, result


def test_sigterm_where_more_have_to_leave(net):
    """Down to the next size that the phase accepts."""
    net.start_sizes("odd first")
    net.resize("+2", "--hosts", "n2,n3")
    told(net, "n2")
    net.wait_for_hosts("n1")
    net.end()


def test_a_handler_of_the_program_stays(net):
    net.start_sizes("any", "own-sigterm=1")
    net.grow("n2")
    told(net, "n2")
    net.running.wait_for_line("its own handler")
    net.grow("n3")
    assert hosts.by_rank(net.status()) == ["n1", "n2", "n3"]
    assert "told to end" not in net.end().err


def test_sigterm_in_an_executable(net, tmp_path):
    """Its processes end in commit."""
    end = net.space.directory / "end"
    binary = compile_c(source("adapt_loop"), tmp_path / "loop", *LINKED)
    net.start(command=[binary, end], env={"EPOP_LEAVE": "commit"})
    net.resize("+2", "--hosts", "n2,n3")
    pids = net.pids("n2")
    told(net, "n2")
    net.wait_for_hosts("n1", "n3")
    for pid in pids:
        joining.wait_for_end_of(pid)
    assert net.answer("--release", "n3", "--wait=vacated")["vacated"]
    end.touch()
    result = net.running.wait()
    assert result.status == 0 and "WRONG" not in result.out, result


@pytest.mark.parametrize("times", [1, 4])
def test_sigterm_in_a_pause_and_behind_a_growth(net, times):
    """The growth onto another host comes first."""
    net.start().grow("n2")
    assert net.epopctl("pause").status == 0
    growth = net.ask("resize", "+1", "--hosts", "n3", "--wait")
    net.wait_for_status(lambda status: status["adaptations"][-1]["state"] == "prepared")
    for _ in range(times):
        told(net, "n2")
    net.epopctl("resume")
    assert growth.wait().status == 0
    net.wait_for_hosts("n1", "n3")
    net.end()


def test_sigterm_in_a_joiner(net):
    """Its growth is called off."""
    net.start()
    assert net.epopctl("pause").status == 0
    growth = net.ask("resize", "+1", "--hosts", "n2", "--wait")
    net.wait_for_status(lambda status: status["adaptations"] and status["adaptations"][-1]["state"] == "prepared")
    pids = net.pids("n2")
    told(net, "n2")
    result = growth.wait()
    assert result.status == REFUSED and "n2, where processes were to join, was told to end" in result.err, result
    for pid in pids:
        joining.wait_for_end_of(pid)
    net.epopctl("resume")
    net.grow("n2")
    net.end()


def test_sigterm_where_processes_stand_by(net):
    """They end, and so do those that are ranks there; the host can be taken again."""
    net.start("--leave", "park")
    net.resize("+2", "--hosts", "n2")
    net.resize("--release-ranks", "2")
    pids = net.pids("n2")
    told(net, "n2")
    for pid in pids:
        joining.wait_for_end_of(pid)
    net.wait_for_hosts("n1")
    net.grow("n2")
    assert not set(pids) & set(net.pids("n2"))
    net.end()


def test_a_dead_process_among_queued_releases(net):
    """It is a rank until it has left: that ends the job, with its name, as always."""
    net.start().grow("n2", "n3")
    assert net.epopctl("pause").status == 0
    first = net.ask("resize", "--release", "n2", "--wait")
    net.wait_for_status(lambda status: status["adaptations"][-1]["id"] == 3)
    second = net.ask("resize", "--release", "n3", "--wait")
    net.wait_for_queued(1)
    os.kill(net.pids("n3")[0], signal.SIGKILL)
    result = net.running.wait()
    assert result.status != 0 and "on n3) is gone" in result.err, result
    assert first.wait().status and second.wait().status
