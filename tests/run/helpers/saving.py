"""Runs of the test program saved, which has checkpoints."""

import json
import re

import job

SAVED = job.test_program("saved")


def waits_for_file(directory, step):
    """Options and environment of a job that asks for a file in that step, and goes on slowly until it is there."""
    return ["--driver", job.test_program("driver_asks"), "--checkpoint-dir", directory], {
        "EPOP_TEST_WAITS": 1, "EPOP_TEST_AT": step, "EPOP_TEST_FILE": directory / "*-0001.h5"}


def run(space, *arguments, ranks=2, options=(), program=SAVED, **how):
    """A whole run."""
    result = space.epop("--backend", "pool", *options, program, *arguments, ranks=ranks, **how)
    assert result.status == 0, result
    return result


def end(result):
    """All of its data at the end, summed up."""
    return re.search(r"^end: \d+ ranks, (.*)$", result.out, flags=re.M)[1]


class Held:
    """A job that runs until it is let go."""

    def __init__(self, space, place, *arguments, ranks=2, options=(), **how):
        self.space, self.place, self.switch = space, place, space.directory / "go"
        self.arguments = [f"until={self.switch}", *arguments]
        self.it = space.start_epop("--backend", "pool", "--checkpoint-dir", place, *options, SAVED, *self.arguments, ranks=ranks, **how)
        self.it.wait_for_line("start: ")
        space.wait_until_all_are_here()

    def ctl(self, *words, status=0):
        result = self.space.epopctl(*words)
        assert result.status == status, result
        return result.out.rstrip("\n") if not status else result.err.removeprefix("epopctl: ").rstrip("\n")

    def status(self):
        return json.loads(self.ctl("status", "--json"))

    def let_go(self):
        self.switch.touch()
        result = self.it.wait()
        assert result.status == 0, result
        return result
