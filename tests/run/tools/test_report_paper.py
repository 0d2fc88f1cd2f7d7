"""epop-report on a paper's evaluation: what it refuses, its tables and drawings, its page in a real browser; and that the papers of
bench/papers.py can be shown so."""

import json
import sys

import job
import pytest
from reports import SCHEMES, WIDTHS, check_accessible, check_charts, check_drawings, check_opens, check_refused, check_tables, draw, maker, needed, report, table
from schemas import validate

sys.path.append(str(job.ROOT / "bench"))  # behind the helpers: some of its modules have names of theirs

import papers  # noqa: E402
from papers import documents  # noqa: E402

pytestmark = needed
EXAMPLES = job.ROOT / "schema/examples/paper"
EXAMPLE = EXAMPLES / "valid/all-charts.json"
CHARTS = ["agreement", "table1", "figure12-1", "figure12-1-2", "figure14-7", "figure8"]


# ---- On the command line ----

@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("invalid/*.json")), ids=lambda path: path.stem)
def test_what_the_schema_refuses(space, path):
    check_refused(space, path, "is no" if path.stem in ("newer", "no-items", "item-with-a-dot", "other-schema") else "has a ")


def test_it_has_no_trace(space):
    result = report(space, EXAMPLE, EXAMPLE)
    assert result.status == 2 and "is one file too many: a paper has no trace" in result.err, result


def test_what_agrees(space):
    rows = table(space, EXAMPLE, "agreement")
    assert [(row["claim"], row["paper"], row["here"], row["agrees"]) for row in rows] == [
        ("merge is the fastest way", "yes: 2 of 2", "yes: 2 of 2", "yes"), ("baseline takes twice as long", "yes: says so", "no: up to 1.3 times", "no"),
        ("it grows with the ranks", "yes: 1.1 to 1.9 s", "", "")]
    assert [row["why_not"] for row in rows] == ["", "processes start one after the other here.", ""]


def test_values(space):
    rows = table(space, EXAMPLE, "table1")
    assert rows[0] == {"panel": "in the paper", "series": "baseline", "change": "10 -> 20", "time_s": "1.286"} and len(rows) == 8
    rows = table(space, EXAMPLE, "figure14-7")
    assert rows[1] == {"panel": "Phase 1", "series": "gauss", "time_s": "60", "nodes": "8"} and len(rows) == 24
    assert table(space, EXAMPLE, "figure8")[2] == {"panel": "in the paper", "series": "best", "to": "1", "from": "10", "what": "BSa"}


def test_charts_have_names(space):
    result = report(space, EXAMPLE, "--format", "csv", "--chart", "table7")
    assert result.status == 2 and "table7 is none of the charts of a paper" in result.err, result


def test_drawings(space):
    drawings = draw(space, EXAMPLE)
    check_drawings(drawings, CHARTS, 4)
    assert "in the paper" in drawings["table1"].read_text() and ">BSa</text>" in drawings["figure8"].read_text()


def test_without_measurements(space):
    """There is nothing but claims, and of these nothing is known."""
    path = EXAMPLES / "valid/not-measured.json"
    assert [row["agrees"] for row in table(space, path, "agreement")] == [""]
    assert report(space, path, "-o", "page.html").status == 0
    assert "Nothing was measured yet that tells of a claim." in (space.directory / "page.html").read_text()


# ---- The papers that there are ----

@pytest.mark.parametrize("name", papers.NAMES)
def test_a_paper_before_it_is_measured(space, name):
    paper = papers.named(name)
    document = documents.of(paper, {}, [])
    validate("paper", document)
    path = space.directory / "paper.json"
    path.write_text(json.dumps(document))
    assert len(table(space, path, "agreement")) == sum(len(item.claims) for item in paper.items)
    assert report(space, path, "-o", "page.html").status == 0


# ---- In a browser ----

@pytest.fixture(scope="module")
def page(tmp_path_factory):
    def write(folder, name):
        path = folder / "paper.json"
        path.write_text((EXAMPLES / f"valid/{name}.json").read_text())
        return path
    return maker(tmp_path_factory, write)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_page(browser, page, width, scheme):
    check_opens(browser, page("all-charts"), width, scheme)
    for chart, drawing in check_charts(browser, CHARTS, least=4).items():
        assert width - 150 < drawing["width"] <= width, (chart, drawing["width"])


def test_tables(browser, page):
    check_tables(browser, page("all-charts"), EXAMPLE, CHARTS)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_accessible(browser, page, scheme):
    check_accessible(browser, page("all-charts"), scheme)
