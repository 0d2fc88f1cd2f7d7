"""docs/internals/scheduling.md has the tables that bench/studies.py prints."""

import re

import job
import pytest

PAGE = job.ROOT / "docs/internals/scheduling.md"
STUDIES = re.findall(r"^<!-- study: (\w+) -->$", PAGE.read_text(), flags=re.M)


def table_of(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def on_the_page(study):
    behind = PAGE.read_text().split(f"<!-- study: {study} -->\n", 1)[1]
    return re.match(r"\n*((?:\|.*\n)+)", behind).group(1)


def test_all_studies_are_on_the_page(space):
    result = space.start(["/usr/bin/python3", job.ROOT / "bench/studies.py", "none"]).wait()
    assert result.status == 1 and result.err.strip().endswith("but " + ", ".join(STUDIES)), result


@pytest.mark.parametrize("study", STUDIES)
def test_the_page_has_what_the_study_gives(space, study):
    result = space.start(["/usr/bin/python3", job.ROOT / "bench/studies.py", study], limit=900).wait()
    assert result.status == 0, result
    assert table_of(on_the_page(study)) == table_of(result.out)
