"""What the process sets of a job ask for together is what epoprm lets it have."""

import executables as plain
import job
import joining
import pytest
import ruling

pytestmark = joining.needed


@pytest.fixture(name="daemon")
def fixture_daemon(space):
    """Its policy gives each job what it wants."""
    yield from ruling.ruled(ruling.Daemon(space, "--local", "4", policy=job.BUILD / "tests/policies/wanted.so").start())


def test_a_job_gets_what_its_process_sets_ask_for(daemon, tmp_path):
    """It starts with all that its user allows, and offers to be resized to 2 or 3 processes, rather 3."""
    program = plain.compile_c(plain.source("psets_offer"), tmp_path / "psets_offer", *plain.LINKED)
    end = tmp_path / "end"
    number = daemon.submit(program, "offer", end, ranks=(1, 4), limit=1000)
    daemon.wait_runs(number, 3)
    asked = "its process sets ask for 2 to 3 ranks, rather 3"
    ruling.wait_for(lambda: any(event["text"] == asked for event in daemon.events(number)), why=lambda: str(daemon.events(number)))
    assert not daemon.events(number, "refused") and "3 processes" in daemon.output(number), daemon.events(number)
    end.touch()
    daemon.wait_end(number)
