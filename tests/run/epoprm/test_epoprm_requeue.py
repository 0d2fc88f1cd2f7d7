"""epoprm: jobs that are saved and put back into the queue, by their user or for one with a higher priority, and go on from there."""

import h5py
import pytest

import job
import joining
import ruling

pytestmark = joining.needed
FIVE = job.program("five")
fixture_daemon = ruling.on_local_nodes(3)


def steps_of(daemon, number):
    """At which its starts began."""
    return [int(line.split()[3]) for line in daemon.output(number).splitlines() if line.startswith("five: from step")]


def wait_step(daemon, number, count=1):
    """So many starts are under way."""
    return ruling.wait_for(lambda: len(steps := steps_of(daemon, number)) >= count and steps, why=lambda: str(daemon.events(number)))


def check_goes_on(daemon, number):
    """From the iteration that was saved last."""
    steps = wait_step(daemon, number, 2)
    with h5py.File(daemon.events(number, "saved")[-1]["text"]) as file:
        assert steps[-1] == file.attrs["iteration"], daemon.output(number)


def start_five(daemon, ranks=(2, 2), **more):
    """It looks in each step whether its data is right, and fails when it is not."""
    return daemon.submit(FIVE, 1000, 100000000, ranks=ranks, **more)


def test_a_job_is_saved_and_goes_on(daemon):
    """Held meanwhile, and its nodes are free; at another size, as its nodes are others' now."""
    daemon.start()
    number = start_five(daemon, ranks=(1, 3))
    daemon.wait_runs(number, 3)
    ruling.wait_for(lambda: daemon.request("requeue", job=number, held=True)["ok"])  # it can be asked only when it is known
    assert daemon.request("requeue", job=number)["ok"]
    waits = daemon.wait_job(number, lambda one: one["state"] == "waiting")
    assert (waits["held"], waits["reason"], waits["nodes"]) == (True, "held by its user", 0)
    assert all(node["state"] == "idle" for node in daemon.nodes().values())
    answer = daemon.request("requeue", job=number)
    assert answer["reason"] == f"job {number} waits already", answer
    saved = daemon.events(number, "saved")[0]["text"]
    assert saved.endswith(".h5") and daemon.events(number, "requeued")[0]["text"] == "put back into the queue by its user"
    other = daemon.submit("sleep", "1000", ranks=(1, 1))
    daemon.wait_runs(other, 1)
    assert daemon.request("hold", job=number, undo=True)["ok"]
    daemon.wait_runs(number, 2)
    check_goes_on(daemon, number)
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")


def test_what_cannot_be_saved(daemon):
    """It runs on, and says why."""
    daemon.start()
    plain = daemon.submit("sleep", "1000", ranks=(1, 1))
    daemon.wait_runs(plain, 1)
    answer = daemon.request("requeue", job=plain)
    assert answer["code"] == "refused" and "is no EPOP program, or has just begun" in answer["reason"], answer
    assert daemon.request("requeue", job=99)["code"] == "unknown"
    bare = daemon.submit(job.test_program("scenario_sleeper"), "iterations=1000000", ranks=(1, 1))
    ruling.wait_for(lambda: daemon.request("requeue", job=bare)["ok"])
    assert daemon.wait_event("failed", bare)["text"].startswith("it is not saved, and runs on: ")
    assert daemon.jobs()[bare]["state"] == "running"


@pytest.mark.parametrize("step", ["saved", "ending"])
def test_the_daemon_dies_meanwhile(daemon, step):
    daemon.start()
    number = start_five(daemon)
    daemon.wait_runs(number, 2)
    daemon.stop("leave")
    daemon.start(stop_at=step)
    ruling.wait_for(lambda: daemon.request("requeue", job=number)["ok"])
    daemon.wait_stopped()
    daemon.kill()
    daemon.check()
    daemon.start()
    check_goes_on(daemon, number)
    daemon.wait_runs(number, 2)
    assert len(daemon.events(number, "requeued")) == 1
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")


def test_one_with_a_higher_priority_gets_room(daemon):
    """As few make room as are needed, those of least priority, and not for an equal; they come back behind it."""
    daemon.options += ["--preempt-after", "1"]
    daemon.start()
    least, more, most = (start_five(daemon, ranks=(1, 1), priority=priority) for priority in (-2, -1, 3))
    for number in (least, more, most):
        wait_step(daemon, number)
    equal = daemon.submit(*ruling.MOMENT, ranks=(1, 1), priority=-2)
    urgent = daemon.submit("sleep", "1000", ranks=(2, 2))
    daemon.wait_runs(urgent, 2)
    for number in (least, more):
        assert daemon.events(number, "requeued")[0]["text"] == f"it makes room for job {urgent}, with priority 0"
    jobs = daemon.jobs()
    assert [jobs[number]["state"] for number in (least, more, most, equal)] == ["waiting", "waiting", "running", "waiting"]
    daemon.request("cancel", job=urgent)
    daemon.wait_runs(more, 1)
    daemon.wait_runs(least, 1)  # which came before its equal
    for number in (least, more):
        check_goes_on(daemon, number)
    daemon.request("cancel", job=most)
    daemon.wait_end(equal)
    assert not daemon.events(most, "saving")
