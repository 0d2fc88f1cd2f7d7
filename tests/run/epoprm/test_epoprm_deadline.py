"""epoprm: deadlines of jobs: how they are said, who comes first, who is given up, and what is shown."""

import datetime
import json
import time

import job
import pytest
import ruling
from schemas import validate

EPOPRM = job.BUILD / "bin/epoprm"
fixture_daemon = ruling.on_local_nodes(2, started=True)


def command(daemon, *words, status=0):
    result = daemon.space.start([EPOPRM, *words], env={"EPOPRM_DIR": daemon.directory}).wait()
    assert result.status == status, result
    return result.err if status else result.out


def occupied(daemon, **more):
    """A job has all nodes until the file is there: the file, the job."""
    path = daemon.space.directory / "go-on"
    whole = daemon.submit("sh", "-c", f"until [ -e {path} ]; do sleep 0.1; done", ranks=(2, 2), **more)
    daemon.wait_runs(whole, 2)
    return path, whole


def submitted(daemon, *words):
    """The deadline that the daemon knows of a job that is submitted so; seconds from now."""
    number = int(command(daemon, "submit", "--hold", *words, "--", "true"))
    return daemon.jobs()[number]["deadline"] - time.time()


@pytest.mark.parametrize("text, seconds", [
    ("+90", 90), ("+90m", 5400), ("+1d", 86400), ("now+2hours", 7200), ("now+1minute", 60), ("now+3days", 3 * 86400), ("now+1week", 7 * 86400)])
def test_a_time_from_now_on(daemon, text, seconds):
    assert submitted(daemon, "--deadline", text) == pytest.approx(seconds, abs=30)


def test_a_time_of_day_and_a_date(daemon):
    """The time comes today or tomorrow."""
    now = datetime.datetime.now()
    for hours in (-2, 3):
        then = now + datetime.timedelta(hours=hours)
        wait = (then.replace(second=0, microsecond=0) - now).total_seconds()
        ahead = wait if wait > 0 and then.date() == now.date() else wait + 86400 if wait < 0 and then.date() == now.date() else None
        if ahead is not None:
            assert submitted(daemon, "--deadline", then.strftime("%H:%M")) == pytest.approx(ahead, abs=30)
    day = (now + datetime.timedelta(days=40)).replace(microsecond=0)
    for form in ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"):
        text = day.strftime(form)
        assert submitted(daemon, "--deadline", text) == pytest.approx(datetime.datetime.fromisoformat(text).timestamp() - time.time(), abs=30)


@pytest.mark.parametrize("words, status, said", [
    (["--deadline", "soon"], 2, '--deadline: "soon" is no time: 18:30'),
    (["--deadline", "25:00"], 2, "is no time"),
    (["--deadline", "+2x"], 2, "is no time"),
    (["--deadline", "now-1hour"], 2, "is no time"),
    (["--drop-late"], 2, "--drop-late goes with --deadline"),
    (["--deadline", "2001-01-01"], 1, "its deadline is over since"),
    (["--deadline", "+10m", "--time", "1h", "--drop-late"], 1, "no end is possible before its deadline, which is in 600 s: it may take 3600 s"),
])
def test_what_makes_no_sense(daemon, words, status, said):
    assert said in command(daemon, "submit", *words, "--", "true", status=status)


def test_who_has_to_start_first_comes_first(daemon):
    """Also under the next daemon; the report says who was in time."""
    path, whole = occupied(daemon)
    now = time.time()
    plain, late, soon = (daemon.submit(*ruling.MOMENT, ranks=(2, 2), limit=60, **more)
                         for more in ({}, {"deadline": now + 5000}, {"deadline": now + 500}))
    assert daemon.jobs()[soon]["deadline"] == pytest.approx(now + 500, abs=0.01) and "deadline" not in daemon.jobs()[plain]
    validate("epoprm", json.loads(command(daemon, "queue", "--json")))
    assert "its deadline is " in command(daemon, "why", str(late))
    daemon.kill()
    daemon.start()
    path.touch()
    ended = {number: daemon.wait_end(number) for number in (plain, late, soon)}
    assert sorted(ended, key=lambda number: ended[number]["started"]) == [soon, late, plain]
    assert ": it ended " in command(daemon, "why", str(soon)) and " before\n" in command(daemon, "why", str(soon))
    record = json.loads(command(daemon, "report", "-o", "-", "--format", "json"))
    validate("schedule", record)
    [run] = record["runs"]
    assert (run["metrics"]["deadlines"], run["metrics"]["missed"]) == (2, 0)
    assert {one["id"]: "late" in one and one["late"] < 0 for one in run["jobs"]} == {whole: False, plain: False, late: True, soon: True}


def test_a_deadline_is_changed(daemon):
    """Of jobs that wait, which changes their order, also under the next daemon, and of one that runs."""
    path, whole = occupied(daemon)
    now = time.time()
    first, second, third = (daemon.submit(*ruling.MOMENT, ranks=(2, 2), limit=60, **more)
                            for more in ({"deadline": now + 5000}, {}, {"deadline": now + 500}))
    held = daemon.submit(*ruling.MOMENT, ranks=(2, 2), held=True)
    command(daemon, "change", "--deadline", "none", str(third))
    command(daemon, "change", "--deadline", "+20m", "--drop-late", str(second), str(held))
    command(daemon, "change", "--deadline", "+1h", str(whole))
    jobs = daemon.jobs()
    assert "deadline" not in jobs[third] and jobs[second]["drop_late"] and "drop_late" not in jobs[whole], jobs
    assert [jobs[number]["deadline"] for number in (whole, second, held)] == pytest.approx([now + 3600, now + 1200, now + 1200], abs=30)
    assert [row["text"] for row in daemon.events(third, "changed")] == ["it has no deadline"]
    validate("epoprm", json.loads(command(daemon, "why", "--json", str(second))))
    daemon.kill()
    daemon.start()
    for number, one in daemon.jobs().items():
        assert one.get("deadline") == jobs[number].get("deadline") and one.get("drop_late") == jobs[number].get("drop_late")
    for words, said in ((["2001-01-01"], "its deadline is over since"), (["+30s", "--drop-late"], "no end is possible before its deadline")):
        assert said in command(daemon, "change", "--deadline", *words, str(second), status=1)
    assert daemon.jobs()[second]["deadline"] == jobs[second]["deadline"]
    path.touch()
    ended = {number: daemon.wait_end(number) for number in (first, second, third)}
    assert sorted(ended, key=lambda number: ended[number]["started"]) == [second, first, third]
    command(daemon, "change", "--deadline", "+20m", str(whole), status=3)
    daemon.request("cancel", job=held)


def test_one_that_runs_is_given_up_by_its_new_deadline(daemon):
    number = daemon.submit("sleep", "1000", ranks=(2, 2))
    daemon.wait_runs(number, 2)
    command(daemon, "change", "--deadline", "+5", "--drop-late", str(number))
    assert daemon.wait_end(number, "failed")["reason"] == "deadline: it was to have ended by now"


def test_who_is_late_is_given_up(daemon):
    """One that waits, as soon as its time limit says so; one that runs, when its deadline is over; and none that did not ask for it."""
    path, whole = occupied(daemon, deadline=time.time() + 2)
    early = daemon.submit("true", ranks=(2, 2), limit=100, deadline=time.time() + 110, drop_late=True)
    row = daemon.wait_end(early, "cancelled")
    assert row["reason"] == "deadline: no end is possible before it any more" and row["ended"] < row["submitted"] + 60
    assert daemon.jobs()[whole]["state"] == "running"
    path.touch()
    daemon.wait_end(whole)
    path.unlink()
    _, runs = occupied(daemon, deadline=time.time() + 8, drop_late=True)
    row = daemon.wait_end(runs, "failed")
    assert row["reason"] == "deadline: it was to have ended by now"
    said = command(daemon, "why", str(runs))
    assert ": it ended " in said and " after\n" in said
