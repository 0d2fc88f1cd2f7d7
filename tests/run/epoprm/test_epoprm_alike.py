"""The same policy decides alike on the same program, on real nodes and in the simulator; and it comes to an end with it. The
same in Slurm: tests/run/slurm/test_slurm_adviser.py."""

import alike
import job
import pytest
import ruling

ITERATIONS = 80


@pytest.fixture(name="daemon")
def fixture_daemon(space):
    yield from ruling.ruled(ruling.Daemon(space, "--local", "4", policy=alike.POLICY).start())


def test_a_size_that_was_inefficient_is_not_tried_again(daemon, space, tmp_path):
    """With samples of the last size alone it would go back and forth to its end."""
    number = daemon.submit(job.program("synthetic"), *alike.program(ITERATIONS), ranks=(1, 4))
    daemon.wait_end(number)
    rows = daemon.rows("SELECT * FROM resize WHERE job=? ORDER BY id", number)
    sizes = [4] + [row["to_nodes"] for row in rows]
    assert sizes == alike.simulated(space, tmp_path, ITERATIONS) == alike.SIZES, "\n".join(event["text"] for event in daemon.events(number))
    begins_where_the_first_one_was_efficient(daemon, number)


def begins_where_the_first_one_was_efficient(daemon, first):
    """The same with another argument knows nothing of it."""
    again = daemon.submit(job.program("synthetic"), *alike.program(ITERATIONS), ranks=(1, 4))
    assert daemon.wait_runs(again, 2)
    why = [event["text"] for event in daemon.events(again) if event["kind"] == "decision"]
    assert why[0].startswith(f"2 of the 4 nodes wanted, as with more job {first} of this program had an MTCT above 2"), why
    daemon.request("cancel", job=again)
    daemon.wait_end(again, "cancelled")
    other = daemon.submit(job.program("synthetic"), *alike.program(ITERATIONS + 1), ranks=(1, 4))
    assert daemon.wait_runs(other, 4)
