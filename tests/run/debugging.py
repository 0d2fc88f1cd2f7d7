"""What the tests of the debug driver share."""

import job
from scenario import only_line


def run(space, name, *arguments, ranks=3, options=(), **how):
    """A program of tests/programs/ under the debug driver, to its end."""
    return space.epop("--driver", "debug", *options, job.test_program(name), *arguments, ranks=ranks, **how)


def assert_named(result, *parts):
    """The job ended with one line that has these parts."""
    assert result.status == 1, result
    only_line(result.err, *parts)


def assert_clean(result):
    assert result.status == 0 and result.err == "", result
