"""Weak scaling under epoprm: the policy sees the work per second of a real program, and a time left that its size does not change."""

import job
import pytest
import ruling

SECONDS = 2000


@pytest.fixture(name="daemon")
def fixture_daemon(space):
    yield from ruling.ruled(ruling.Daemon(space, "--local", "4", policy="gain,stay=1,stay-costs=1").start())


def submit(daemon, *speedup):
    """Its user wants 2 nodes of 4."""
    return daemon.submit(job.program("synthetic"), "phase=a", f"iterations={SECONDS * 20}", "seconds=0.05", *speedup, ranks=(1, 4), limit=5 * SECONDS,
                         env={"EPOP_SIZES": "any,preferred=2"})


def decided(daemon, number, words):
    ruling.wait_for(lambda: any(words in event["text"] for event in daemon.events(number, "decision")), why=lambda: str(daemon.events(number)))


def left(daemon, number):
    return daemon.wait_job(number, lambda one: one["state"] == "running" and one["left"] < 2 * SECONDS)["left"]


def test_more_nodes_do_more_work(daemon):
    """Until somebody waits."""
    number = submit(daemon, "speedup=none")
    decided(daemon, number, "times the work")
    daemon.wait_runs(number, 4)
    assert any("weak scaling" in event["text"] for event in daemon.events(number)), daemon.events(number)
    assert left(daemon, number) > 0.8 * SECONDS  # twice as many nodes would be half of it
    second = daemon.submit("sleep", "1", ranks=(2, 2), once=True, limit=1000)
    decided(daemon, number, f"it is the turn of job {second}")
    daemon.wait_end(second)
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")


def test_strong_scaling_is_told_from_it(daemon):
    """The control: the same program does the same iterations sooner."""
    number = submit(daemon)
    decided(daemon, number, "times as fast")
    daemon.wait_runs(number, 4)
    daemon.wait_job(number, lambda one: one["state"] == "running" and one["left"] < 0.4 * SECONDS)
    assert not any("weak scaling" in event["text"] for event in daemon.events(number)), daemon.events(number)
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")
