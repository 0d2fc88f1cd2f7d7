"""A short piece of tests/soak_elastic.py: faults strike epoprm and its jobs, and its accounts are right afterwards."""

import random
import shutil
import sqlite3

import hosts
import joining
import pytest
from soaking import invariants, under_epoprm

pytestmark = joining.needed


@pytest.fixture(scope="module")
def soaked():
    """After some faults; which ones, and of which seed, is told when a test fails."""
    seed = random.SystemRandom().randrange(1 << 31)
    print(f"seed {seed}")
    try:
        soak = under_epoprm.HostsSoak(under_epoprm.HostsManager(), seed=seed)
    except hosts.Unavailable as why:
        pytest.skip(f"no namespaces here: {why}")
    try:
        soak.crowd, soak.longest_away = 4, 2
        soak.run(faults=8)
        yield soak
    finally:
        soak.close()


def test_nothing_is_lost(soaked):
    assert sum(soaked.struck.values()) == 8 and len(soaked.known) >= 4


def test_what_is_lost_would_be_seen(soaked, tmp_path):
    """The same accounts with one thing changed."""
    wrong = tmp_path / "journal.db"
    for name in ("journal.db", "journal.db-wal"):
        if (soaked.manager.journal.parent / name).exists():
            shutil.copy(soaked.manager.journal.parent / name, tmp_path / name)
    assert not invariants.of_journal(wrong, soaked.hit, soaked.known)
    with sqlite3.connect(wrong) as book:
        book.execute("DROP TRIGGER ended_gets_nothing")
        book.execute("INSERT INTO holding VALUES ((SELECT name FROM node LIMIT 1), (SELECT max(number) FROM job), 0, 9)")
    assert any("is held by job" in line for line in invariants.of_journal(wrong, soaked.hit, soaked.known))
