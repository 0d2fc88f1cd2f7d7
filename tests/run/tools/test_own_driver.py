"""The driver that the documentation shows, as a user would have it: alone, and beside built-in ones."""

import re

import job
import pages
import pytest

DRIVER = job.BUILD / "drivers/iterations.so"


def lines_of(space, process):
    head, *lines = (space.directory / f"run.log.{process}").read_text().splitlines()
    assert head.startswith("# ")
    return [line.split() for line in lines]


def test_the_page_shows_the_file():
    shown = [block.text for block in pages.blocks(job.ROOT / "docs/reference/drivers.md") if block.language == "c"]
    assert (job.ROOT / "programs/drivers/iterations.c").read_text() in shown


@pytest.mark.parametrize("names", [f"{DRIVER}", f"run,{DRIVER}", f"profile,{DRIVER}", f"{DRIVER},profile"],
                         ids=["alone", "after run", "after profile", "before profile"])
def test_every_iteration_is_logged(space, names):
    """On each rank, whatever other driver is there."""
    options = ["--output", "profile.json"] if "profile" in names else []
    result = space.epop("--driver", names, *options, "--log", "run.log", job.test_program("deadlock"), "iterations=20",
                        ranks=2)
    assert result.status == 0, result
    for rank in (0, 1):
        lines = lines_of(space, rank)
        assert [line[:3] for line in lines] == [["exchange", str(number), f"{rank}/2"] for number in range(20)]
        assert all(re.fullmatch(r"\d+\.\d{6}", line[3]) for line in lines)
    assert (space.directory / "profile.json").exists() == bool(options)


def test_a_value_that_it_refuses(space):
    result = space.epop("--driver", DRIVER, "--log", "", job.program("serial"))
    assert result.status == 2 and "the driver 'iterations' refuses --log" in result.err, result
