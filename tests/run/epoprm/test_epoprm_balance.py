"""Before a policy decides on a job by what is measured of it, the job balances, where it says that this may help."""

import re

import job
import pytest
import ruling

UNEVEN = job.test_program("uneven")
# A quarter of 120 elements costs ten times as much as the others: in even blocks the first of 4 ranks has 300 of 390 units.
HELPED = ("cuts", "120", "300")
# The first of four elements has 10 of 13 units, however they are dealt out.
NOT_HELPED = ("cuts", "4", "9000")
ENDLESS = "100000000"  # iterations


def ruled_by(policy):
    @pytest.fixture
    def fixture(space):
        yield from ruling.ruled(ruling.Daemon(space, "--local", "4", policy=policy).start())
    return fixture


ers = ruled_by("ers,firm=0,period=1,worth=1,lower=0.3,upper=0.8")
gain = ruled_by("gain,firm=0,stay=1,stay-costs=1,marginal=0.3")


def outcomes(daemon, number):
    """The imbalance before and after each balance."""
    texts = [event["text"] for event in daemon.events(number, "running")]
    return [tuple(map(float, found.groups())) for text in texts
            if (found := re.fullmatch(r"balanced: imbalance (\d+\.\d\d) -> (\d+\.\d\d)", text))]


def nodes_of(daemon, number):
    """How many it had, one after the other."""
    return [stay["nodes"].count(",") + 1 for stay in daemon.rows("SELECT * FROM stay WHERE job=? ORDER BY begin", number)]


def check_balanced_first(daemon, number, nodes):
    said = [event["text"] for event in daemon.events(number, "running")]
    assert any(re.fullmatch(rf"balances first: imbalance \d\.\d\d at {nodes} nodes", text) for text in said), said


def check_not_resized_before(daemon, number):
    """Before its first balance has come to an end; what is measured later, and decided by that, is as other processes let it be."""
    events = daemon.events(number)
    balanced = next(place for place, event in enumerate(events) if event["text"].startswith("balanced: "))
    resizes = [event for event in events[:balanced] if event["from_nodes"] and event["from_nodes"] != event["to_nodes"]]
    assert resizes == [], events


def test_ers_keeps_a_job_that_is_balanced_first(ers):
    """What is measured of it in the beginning would have it shrink."""
    number = ers.submit(UNEVEN, *HELPED, "300", ranks=(1, 4))
    ers.wait_end(number)
    check_balanced_first(ers, number, 4)
    before, after = outcomes(ers, number)[0]
    assert before > 2 > after, outcomes(ers, number)
    check_not_resized_before(ers, number)


def test_ers_shrinks_a_job_that_a_balance_does_not_help(ers):
    number = ers.submit(UNEVEN, *NOT_HELPED, ENDLESS, ranks=(1, 4))
    ers.wait_job(number, lambda one: one["state"] == "running" and one["nodes"] < 4)
    before, after = outcomes(ers, number)[0]
    assert min(before, after) > 2, outcomes(ers, number)


def has_helped(before, after):
    return after - 1 <= 2 / 3 * (before - 1)


def given_up(found):
    """Two in a row have not helped: from here on what is measured counts."""
    return any(not has_helped(*one) and not has_helped(*next) for one, next in zip(found, found[1:]))


def begin_beside(daemon, end, *words, until):
    """On two nodes, as another job has the others, which ends when that is so of its balances: from here on it may grow."""
    other = daemon.submit("sh", "-c", f"while [ ! -e {end} ]; do sleep 0.1; done", ranks=(2, 2))
    daemon.wait_runs(other, 2)
    number = daemon.submit(UNEVEN, *words, ranks=(2, 4))
    daemon.wait_runs(number, 2)
    ruling.wait_for(lambda: until(outcomes(daemon, number)), why=lambda: daemon.events(number))
    end.touch()
    daemon.wait_end(other)
    return number


def test_gain_has_a_job_grow_that_is_balanced_first(gain, tmp_path):
    number = begin_beside(gain, tmp_path / "end", *HELPED, ENDLESS, until=bool)
    check_balanced_first(gain, number, 2)
    gain.wait_runs(number, 4)


def test_gain_does_not_where_a_balance_has_not_helped(gain, tmp_path):
    number = begin_beside(gain, tmp_path / "end", *NOT_HELPED, "400", until=given_up)
    gain.wait_end(number)
    assert nodes_of(gain, number) == [2], gain.events(number)
