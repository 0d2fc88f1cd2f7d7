"""What a program says of its progress is the time that its job has left: in the queue, and for who waits."""

import time

import pytest

import job
import ruling

LIMIT = 5000  # seconds
# 100 s on one rank. Every synthetic program has a finalizer.
ONE = ["phase=only", "iterations=2000", "seconds=0.05", "speedup=none"]
LATER = [*ONE, "phase=later", "kind=rigid", "iterations=10"]


@pytest.fixture(name="daemon")
def fixture_daemon(space):
    yield from ruling.ruled(ruling.Daemon(space, "--local", "2", policy="easy").start())


@pytest.mark.parametrize("ranks", [(1, 2), (2, 2)], ids=["malleable", "rigid"])
@pytest.mark.parametrize("phases", [ONE, LATER], ids=["finalizer", "later phase"])
def test_progress_counts(daemon, phases, ranks):
    number = daemon.submit(job.program("synthetic"), *phases, ranks=ranks, limit=LIMIT)
    daemon.wait_job(number, lambda one: one["state"] == "running" and one["left"] < LIMIT / 2)
    waits = daemon.submit("sleep", "1", ranks=(2, 2), limit=LIMIT, once=True)
    promised = daemon.wait_job(waits, lambda one: one.get("reserved"))["reserved"] - time.time()
    assert promised < LIMIT / 2, (promised, daemon.jobs())
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")


def test_an_executable_says_it_by_a_call(daemon):
    number = daemon.submit(job.BUILD / "plain/heat_adapt", "10", "20000000", ranks=(2, 2), limit=1000 * LIMIT)
    daemon.wait_job(number, lambda one: one["state"] == "running" and one["left"] < 500 * LIMIT)
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")


def test_it_runs_no_longer_than_its_limit(daemon):
    number = daemon.submit(job.program("synthetic"), *ONE, ranks=(2, 2), limit=60)
    seen = daemon.wait_job(number, lambda one: one["state"] == "running" and one.get("left"))
    assert seen["left"] <= 60, seen
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")
