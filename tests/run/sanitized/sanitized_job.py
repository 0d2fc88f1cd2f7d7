"""Whole jobs of a build with the address and undefined-behaviour sanitizers, for what the coordinator, the pool and the
control plane do in them; a simulation, and a daemon of epoprm. Space.close looks for reports. Any file of the other folders runs like this, too."""

import signal

import job
import ruling
from scenario import Scenario, Switch


def test_resized_paused_and_asked(space):
    it = Scenario(space, "memory=1", start=1, ranks=3)
    it.wait_until_here()
    assert it.resize(3) == "done: 1 -> 3"
    it.done("where")
    it.done("pause")
    it.done("resume")
    assert it.resize(2, "--release-ranks", "1") == "done: 3 -> 2"
    assert it.resize(1) == "done: 2 -> 1"
    it.refused("resize", "4")
    it.stop(ranks=1, windows=3)


def test_told_to_end_while_a_resize_is_prepared(space):
    """What was prepared is dropped in the midst of looking at what is due."""
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=3)
    it.wait_until_here()
    waiting = it.start_ctl("resize", "3", "--wait")
    it.it.wait_for_line("joining in process")
    it.it.signal(signal.SIGTERM)
    assert waiting.wait().err == "epopctl: the job was told to stop\n"
    slow.off()
    it.finish(ranks=1, windows=0)


def test_a_good_end_of_its_own(space):
    it = Scenario(space, "iterations=50", "windows=1", "ask=10:2:0", start=1, ranks=3)
    it.finish(ranks=2, windows=1)


def test_a_simulation(space):
    for policy in ("easy", "ers", "gain"):
        result = space.start([job.BUILD / "bin/epopsim", "--verbose", "--policy", policy, job.ROOT / "scheduler/examples/three-cannon.json"]).wait()
        assert result.status == 0 and policy in result.out and "workload" in result.err, result


def test_jobs_of_epoprm(space):
    daemon = ruling.Daemon(space, "--local", "2", policy="easy").start()
    try:
        first = daemon.submit("sh", "-c", "exit 3", once=True)
        second = daemon.submit("sleep", "1000", once=True)
        assert daemon.wait_end(first, "failed")["status"] == 3
        daemon.wait_runs(second, 1)
        assert daemon.request("cancel", job=second)["ok"]
        daemon.wait_end(second, "cancelled")
        assert not daemon.request("cancel", job=7)["ok"]
    finally:
        daemon.close()
