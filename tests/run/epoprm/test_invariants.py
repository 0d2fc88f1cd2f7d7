"""The checker of accounts that the soaks of epoprm and Slurm rely on finds what it is made for, in a journal that has it."""

import pathlib
import re
import sqlite3

import job
import pytest
from soaking import invariants

LAYOUT = job.ROOT / "scheduler/journal/store.c"


def tables():
    """The journal's, from its source: the checker must know what is there."""
    text = LAYOUT.read_text().split("*const tables =")[1].split(";\n\n")[0]
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))


@pytest.fixture()
def journal(tmp_path):
    """Two jobs that ran one after the other on n1, and the first one gave n2 back meanwhile."""
    path = pathlib.Path(tmp_path) / "journal.db"
    book = sqlite3.connect(path)
    book.executescript(tables())
    for node in ("n1", "n2"):
        book.execute("INSERT INTO node(name, host, slots, state, reason, since) VALUES (?, ?, 1, 'up', '', 1)", (node, node))
    for number, begin, end in ((1, 10, 20), (2, 20, 30)):
        book.execute("INSERT INTO job VALUES (?, 'j', 'malleable', '[]', '/', '[]', 'o', 1, 2, 1, 2, 2, 60, 0, 'done', '', 5, ?, ?, 0)",
                     (number, begin, end))
    book.executemany("INSERT INTO stay VALUES (?, ?, ?, ?, ?)", [(1, 10, 15, "n1,n2", 2), (1, 15, 20, "n1", 1), (2, 20, 30, "n1", 1)])
    book.execute("INSERT INTO resize(job, from_nodes, to_nodes, nodes, step, decided, asked, prepared, agreed, committed, settled, outcome,"
                 " reason) VALUES (1, 2, 1, 'n2', 5, 14, 14.1, 14.2, 14.3, 15, 15.1, 'done', '')")
    book.commit()
    yield book, path
    book.close()


def test_a_good_one(journal):
    assert not invariants.of_journal(journal[1], known=[1, 2])


WRONG = {
    "a node for two jobs": ("UPDATE stay SET begin = 19 WHERE job = 2", "node n1 has jobs 1 and 2 from 19.000"),
    "a node that is given before it is settled is held twice": ("INSERT INTO stay VALUES (2, 14, 16, 'n2', 1)", "node n2 has jobs 1 and 2"),
    "a leaked node": ("DROP TRIGGER ended_gets_nothing; INSERT INTO holding VALUES ('n2', 1, 0, 9)", "node n2 is held by job 1"),
    "a node that is down": ("UPDATE node SET state = 'down', reason = 'x' WHERE name = 'n2'", "node n2 is down: x"),
    "a job that was lost": ("UPDATE job SET state = 'failed', status = 9 WHERE number = 2", "job 2 is failed"),
    "a job that hangs": ("UPDATE job SET state = 'adapting', ended = -1 WHERE number = 2", "job 2 is adapting"),
    "a job of which nothing is known": ("DELETE FROM stay WHERE job = 2; DELETE FROM job WHERE number = 2", "job 2 was submitted"),
    "a job that computes on": ("UPDATE stay SET end = -1 WHERE job = 2", "job 2 computes on n1 for ever"),
    "a resize that hangs": ("UPDATE resize SET step = 2, committed = -1, settled = -1, outcome = ''", "is prepared, and nothing goes on"),
    "a resize that was not settled": ("UPDATE resize SET settled = -1", "is done, and was never settled"),
    "steps in another order": ("UPDATE resize SET agreed = 14.15", "its steps are not in their order"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one(journal, name):
    book, path = journal
    change, line = WRONG[name]
    book.executescript(change)
    found = invariants.of_journal(path, known=[1, 2])
    assert any(line in each for each in found), found


def test_a_job_that_was_struck_may_end_in_any_way(journal):
    book, path = journal
    book.executescript("UPDATE job SET state = 'failed', status = 9 WHERE number = 2")
    assert not invariants.of_journal(path, hit=[2])


# ---- Slurm's

GOOD = [(1, "COMPLETED", 10, 20, ["n1", "n2"]), (2, "COMPLETED", 20, 30, ["n1"]), (3, "CANCELLED", 0, 0, [])]
IDLE = {"n1": "idle", "n2": "idle"}


def test_good_accounts():
    assert not invariants.of_slurm(GOOD, IDLE, [], known=[1, 2])


def test_rows_that_slurmctld_left_open():
    ended, runs = (2, "COMPLETED", 20, 30, ["n1"], 11), (2, "RUNNING", 20, 0, ["n1"], 11)
    assert invariants.closed_by([ended], [runs]) == ([ended], [2], [])
    assert invariants.closed_by([], [runs]) == ([], [], [2])  # forgotten
    assert invariants.closed_by([ended[:5] + (15,)], [runs]) == ([ended[:5] + (15,)], [2], [2])  # its number was given out again
    assert invariants.closed_by([runs], [runs])[0] == [runs]  # it does run
    assert invariants.of_slurm([row[:5] for row in invariants.closed_by([], [runs])[0]], IDLE, [], known=[2])  # and is missed


@pytest.mark.parametrize("accounts, nodes, queue, line", [
    ([*GOOD, (4, "COMPLETED", 12, 18, ["n2"])], IDLE, [], "node n2 has jobs 1 and 4"),
    ([*GOOD, (4, "RUNNING", 12, 0, ["n2"])], IDLE, [], "job 4 is RUNNING in the accounts"),
    (GOOD, {"n1": "allocated"}, [], "node n1 is allocated"),
    (GOOD, IDLE, [7], "job 7 is in the queue"),
    (GOOD[1:], IDLE, [], "job 1 is not in the accounts"),
    ([GOOD[0], (2, "NODE_FAIL", 20, 30, ["n1"])], IDLE, [], "job 2 is NODE_FAIL")])
def test_wrong_accounts(accounts, nodes, queue, line):
    found = invariants.of_slurm(accounts, nodes, queue, known=[1, 2])
    assert len(found) == 1 and line in found[0], found
