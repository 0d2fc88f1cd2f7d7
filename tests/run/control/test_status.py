"""What epopctl status, list and watch say of a real job while it changes, and that all of it is by the schema."""

import json
import re
import struct
import time

import job
from scenario import DONE, NO_JOB, Scenario, Switch, check_status
from schemas import validate


def test_a_quiet_job(space):
    it = Scenario(space, start=2, ranks=3)
    begin = time.time()
    it.wait_until_here()
    status = check_status(it.wait_for_status(lambda status: (status["element"] or {}).get("pc") == 1))
    expected = {"job": it.id, "program": "scenario", "state": "running", "size": 2, "standby": 1, "maximum": 3,
                "backend": "pool", "adaptations": []}
    assert expected.items() <= status.items(), status
    assert status["path"] == job.test_program("scenario_window")
    assert status["processes"][0]["pid"] == it.pid
    assert {"pc": 1, "name": "work", "type": "EP", "visit": 1}.items() <= status["element"].items()
    assert 0 < status["uptime"] < 60 and begin - 1 < status["started"] + status["uptime"] < time.time() + 1
    it.stop()


def test_iteration_and_progress_go_on(space):
    it = Scenario(space, start=1, ranks=1)
    first = it.wait_for_status(lambda status: status["progress"])
    later = it.wait_for_status(lambda status: status["element"]["iteration"] > first["element"]["iteration"]
                               and status["progress"]["iteration"] > first["progress"]["iteration"])
    assert check_status(later)["progress"]["bound"] == 0
    it.stop()


def iteration_in(directory, pid):
    """Of a process of the scenario, without a word to the job."""
    try:
        return struct.unpack("q", (directory / str(pid)).read_bytes())[0]
    except (FileNotFoundError, struct.error):
        return 0


def test_progress_is_of_now(space):
    """Not of when somebody asked last."""
    directory = space.directory / "state"
    directory.mkdir()
    it = Scenario(space, f"state={directory}", start=1, ranks=1)
    for attempt in range(20):
        told = check_status(it.status())["element"]
        goal = (told["iteration"] if told else 0) + 30
        end = time.monotonic() + 20
        while iteration_in(directory, it.pid) < goal and time.monotonic() < end:
            time.sleep(0.01)
        if (it.status()["progress"] or {"iteration": 0})["iteration"] >= goal:
            break  # else the program had no time to come to a probe
    else:
        raise AssertionError(it.status())
    it.stop()


def test_progress_of_a_program_that_comes_to_no_probe(space):
    it = Scenario(space, "work=1500000", start=1, ranks=1)
    old = it.wait_for_status(lambda status: (status["progress"] or {}).get("age", 0) >= 1)
    assert check_status(old)["progress"]["age"] < 60
    rows = dict(line.split("\t") for line in it.done("status").splitlines() if line.count("\t") == 1)
    assert re.fullmatch(r"\d+(, [\d.]+ s ago)?", rows["progress"]), rows
    it.stop()


def test_states(space):
    slow = Switch(space, "slow").on()
    it = Scenario(space, f"join-waits-while={slow}", start=1, ranks=3)
    assert check_status(it.wait_for_state("running"))["standby"] == 2
    it.done("resize", "3")
    it.it.wait_for_line("joining in process")
    status = check_status(it.status())
    assert status["state"] == "preparing" and status["size"] == 1
    assert [process["state"] for process in status["processes"]] == ["running", "joining", "joining"]
    adaptation, = status["adaptations"]
    assert {"id": 1, "from": 1, "to": 3, "state": "preparing", "by": "epopctl"}.items() <= adaptation.items()
    assert list(adaptation["times"]) == ["requested"]
    slow.off()
    adaptation, = check_status(it.wait_for_status(lambda status: status["size"] == 3))["adaptations"]
    assert adaptation["state"] == "committed" and adaptation["stall"] > 0 and adaptation["element"] == "work"
    times = list(adaptation["times"].values())
    assert list(adaptation["times"]) == ["requested", "prepared", "agreed", "committed"] and times == sorted(times)
    it.done("pause")
    assert check_status(it.status())["state"] == "paused"
    it.done("resume")
    it.resize(1)
    assert [a["state"] for a in check_status(it.wait_for_state("running"))["adaptations"]] == ["committed"] * 2
    it.stop()


def test_failed_and_withdrawn(space):
    fault = Switch(space, "fault").on()
    it = Scenario(space, f"join-fails-while={fault}", start=1, ranks=2)
    it.refused("resize", "2", "--wait")
    fault.off()
    it.resize(2)
    failed, committed = check_status(it.status())["adaptations"]
    assert failed["state"] == "failed" and "returned 47" in failed["reason"] and "committed" not in failed["times"]
    assert committed["state"] == "committed" and committed["id"] == 2
    it.stop()


def test_in_text(space):
    it = Scenario(space, "work=1000", start=2, ranks=2)
    it.resize(1)
    rows = [line.split("\t") for line in it.done("status").splitlines()]
    facts = dict(row for row in rows if len(row) == 2)
    assert {"job": it.id, "size": "1", "standby": "1", "maximum": "2", "sizes": "any"}.items() <= facts.items()
    assert facts["program"].endswith("/scenario_window.so") and facts["arguments"] == "work=1000"
    assert ["1", "-", "standby"] in [row[:3] for row in rows]
    assert ["1", "2 -> 1", "committed"] in [row[:3] for row in rows]
    it.stop()


# ---- list


def listed(space):
    found = json.loads(space.epopctl("list", "--json").out)
    return {entry["job"]: entry for entry in found}


def test_several_jobs(space):
    first, second = Scenario(space, start=1, ranks=1), Scenario(space, start=1, ranks=1)
    found = listed(space)
    assert {first.id, second.id} <= set(found) and found[first.id]["state"] == "running"
    result = space.epopctl("status")
    assert result.status != DONE and first.id in result.err and second.id in result.err
    first.stop()
    assert first.id not in listed(space) and second.id in listed(space)
    assert first.ctl("status").status == NO_JOB
    second.stop()


# ---- watch


def test_watch(space):
    it = Scenario(space, start=1, ranks=2)
    it.wait_until_here()
    watch = it.start_ctl("watch", "--json")
    it.wait_until_seen_by(watch)
    it.resize(2)
    it.refused("resize", "9")
    it.done("pause")
    it.done("resume")
    it.resize(1)
    it.stop()
    result = watch.wait()
    assert result.status == DONE, result
    events = [json.loads(line) for line in result.out.splitlines()]
    for event in events:
        validate("control", event, "event")
    while events[0]["event"] == "refused":  # by which it was seen that it hears something
        del events[0]
    assert [event["event"] for event in events] == [
        "requested", "prepared", "agreed", "committed", "refused", "paused", "resumed",
        "requested", "prepared", "agreed", "committed", "stopping", "finished"]
    times = [event["time"] for event in events]
    assert times == sorted(times)
    assert events[4]["reason"].startswith("9 ranks are more")
    assert events[3]["element"] == "work" and events[3]["iteration"] == events[2]["iteration"]


def test_everything_at_once(space):
    """Status, list and watch while the job changes all the time disturb nothing."""
    it = Scenario(space, "rounds=100000", "skew=500", "every=20", "max=2", program="scenario_phases", start=1, ranks=2)
    watch = it.start_ctl("watch")
    for _ in range(15):
        check_status(it.status())
        assert it.id in listed(space)
    _, seen = watch.wait_for_line("committed")
    watch.wait_for_line("committed", start=seen)
    it.done("stop", "--wait")
    result = it.it.wait()
    assert result.status == 0 and not result.err, result
    assert watch.wait().status == DONE
