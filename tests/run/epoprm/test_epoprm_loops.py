"""epoprm decides on the loops of a program that says nothing of its phases."""

import executables as plain
import joining
import pytest
import ruling

pytestmark = joining.needed


@pytest.fixture(name="daemon")
def fixture_daemon(space):
    it = ruling.Daemon(space, "--local", "4", policy="ers,firm=0,period=1,worth=1,lower=0.3,upper=0.8")
    yield from ruling.ruled(it.start())


def loops_of(daemon, number, count):
    """Until it was said of so many that the program is in them."""
    def said():
        return [event["text"] for event in daemon.events(number) if "in its loop" in event["text"]]
    ruling.wait_for(lambda: len(said()) >= count, why=lambda: f"{said()}, {daemon.events(number)}")


def test_ers_sees_the_program_go_over_to_another_loop(daemon, space, tmp_path):
    """The first one computes; in the second all wait for one rank, and it should have fewer of them."""
    program = plain.compile_c(plain.source("loops"), tmp_path / "loops", "-g", *plain.LINKED)
    end, second = tmp_path / "end", tmp_path / "second"
    number = daemon.submit(program, end, second, ranks=(1, 4))
    loops_of(daemon, number, 1)
    daemon.wait_runs(number, 4)
    second.touch()
    loops_of(daemon, number, 2)
    daemon.wait_job(number, lambda one: one["state"] == "running" and one["nodes"] < 4)
    end.touch()
    daemon.wait_end(number)
