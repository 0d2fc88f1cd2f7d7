"""epoprm with an MPI that cannot add processes: a job's processes are all there from the start, and stand by in turn."""

import pytest

import job
import joining
import ruling

pytestmark = pytest.mark.skipif(joining.WORKS, reason="this MPI can add processes: test_epoprm.py")


def test_one_gives_way_to_another_in_the_pool(space):
    daemon = ruling.Daemon(space, "--local", "2").start()
    try:
        first = daemon.submit(job.program("ledger"), *joining.ENDLESS, ranks=(1, 2))
        daemon.wait_runs(first, 2)
        second = daemon.submit(*ruling.MOMENT, ranks=(1, 1))
        daemon.wait_end(second)
        daemon.wait_event("settled", first, 2)
        daemon.wait_runs(first, 2)
        daemon.request("cancel", job=first)
        daemon.wait_end(first, "cancelled")
        assert "2 resizes" in daemon.output(first) and "right in" in daemon.output(first)
    finally:
        daemon.close()
    daemon.check()


def test_in_a_home_where_nothing_is_yet(space):
    """As on a fresh machine: no directory of its state is there, and no variable says where they are to be."""
    home = space.directory / "home"
    home.mkdir()
    nowhere = {"HOME": home, "EPOPRM_DIR": None, "EPOP_RUNTIME_DIR": None, "XDG_RUNTIME_DIR": None, "XDG_STATE_HOME": None}

    def epoprm(*words):
        result = space.start([job.BUILD / "bin/epoprm", *words], env=nowhere).wait()
        assert result.status == 0, result
        return result.out
    epoprm("start", "--local", "2")
    try:
        number = int(epoprm("submit", "--ranks", "1-2", "--", job.program("rigid")))
        ruling.wait_for(lambda: epoprm("queue").count("\n") == 1)
        assert "DONE" in epoprm("queue", "--all"), (home / f".local/state/epop/epoprm/jobs/{number}/output").read_text()
    finally:
        epoprm("stop", "--jobs")
