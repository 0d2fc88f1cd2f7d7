"""docs/internals/papers.md is what bench/papers.py makes of the results that are kept; and what that says of the papers' own figures."""

import json
import sys

import job
import pytest

sys.path.append(str(job.ROOT / "bench"))  # behind the helpers: some of its modules have names of theirs

import keeping  # noqa: E402
import papers  # noqa: E402
from papers import fitting, page, results  # noqa: E402

ALL = [papers.named(name) for name in papers.NAMES]
ITEMS = [(paper, item) for paper in ALL for item in paper.items]
each_item = pytest.mark.parametrize("paper,item", ITEMS, ids=[f"{paper.name} {item.name}" for paper, item in ITEMS])


def run(space, *arguments):
    return space.start([sys.executable, "-B", job.ROOT / "bench/papers.py", *arguments]).wait()


# ---- The page and what is kept ----

def test_the_page_is_what_is_kept(space):
    """bench/papers.py --kept writes it anew."""
    result = run(space, "--kept", "--check")
    assert result.status == 0, result


def test_a_page_that_is_not(space, tmp_path):
    other = tmp_path / "page.md"
    other.write_text(f"# A page\n\n<!-- paper: {ALL[0].name} -->\n\nOutdated.\n\n<!-- end -->\n\nBehind.\n")
    assert run(space, "--kept", "--check", "--page", other).status == 1 and "Outdated" in other.read_text()
    assert run(space, "--kept", "--page", other).status == 0
    assert "Outdated" not in other.read_text() and other.read_text().endswith("<!-- end -->\n\nBehind.\n")
    assert run(space, "--kept", "--check", "--page", other).status == 0


def test_all_papers_are_on_the_page():
    text = page.PAGE.read_text()
    assert all(f"<!-- paper: {name} -->" in text for name in papers.NAMES)


@pytest.mark.parametrize("path", sorted(results.FOLDER.glob("*.jsonl")), ids=lambda path: path.name)
def test_a_file_says_where_it_is_from(path):
    origin, rows = keeping.read_with_origin(path)
    assert {"machine", "mpi", "commit", "date"} <= set(origin) and rows
    name, measurement = path.name.removesuffix(".jsonl").split(".")
    assert measurement in papers.named(name).measurements
    assert all((row["bench"], row["item"]) == (name, measurement) for row in rows)


# ---- The papers ----

@each_item
def test_an_item_can_be_shown(paper, item):
    """Without results, with the paper's own as if they were from here, and its claims hold there."""
    assert set(item.needs) <= set(paper.measurements)
    assert item.title in page.section(item, [])
    assert item.charts(item.theirs, item.theirs) or not item.theirs
    for judgement in papers.judge(item, item.theirs):
        assert judgement.theirs.holds, judgement


@pytest.mark.parametrize("paper", ALL, ids=lambda paper: paper.name)
def test_names_are_used_once(paper):
    names = [item.name for item in paper.items]
    assert len(names) == len(set(names)) and {need for item in paper.items for need in item.needs} == set(paper.measurements)


def test_what_is_said_of_epop_in_the_survey_leads_somewhere():
    """test_docs.py follows the links of the page."""
    heads, rows = papers.named("survey").item("table1").table([], [])
    assert all(len(row) == len(heads) for row in rows) and rows[-1][1] == "**EPOP**"
    assert all("](" in cell for cell in rows[-1][:1] + rows[-1][2:]) and rows[-1][-1] in page.PAGE.read_text()


# ---- Judging ----

ROWS = [{"item": "speed", "ranks": ranks, "seconds": seconds} for ranks, seconds in ((1, 1.0), (2, 2.0), (4, 5.0))]


def item_of(check, theirs=(), **how):
    return papers.Item("one", "Figure 1", "Speed", "How fast it is.", ("speed",), lambda theirs, ours: (["ranks"], [[row["ranks"]] for row in ours]),
                       (papers.Claim("it gets slower", check, **how),), theirs=list(theirs))


def slower(rows):
    return papers.Finding(papers.grows([(row["ranks"], row["seconds"]) for row in rows]), f"{len(rows)} sizes")


def test_what_agrees():
    text = page.section(item_of(slower, ROWS), ROWS)
    assert "| it gets slower | yes: 3 sizes | yes: 3 sizes | yes    |" in text and "Not measured" not in text


def test_what_does_not_agree_has_a_reason():
    faster = [{**row, "seconds": 1 / row["seconds"]} for row in ROWS]
    text = page.section(item_of(slower, ROWS, why="the wind."), faster)
    assert "| **no** |" in text and text.endswith("- it gets slower: the wind.")
    assert page.section(item_of(slower, ROWS), faster).endswith("- it gets slower: the reason is not known.")


def test_what_was_not_measured():
    text = page.section(item_of(slower, ROWS), [{**row, "item": "other"} for row in ROWS])
    assert "Not measured here yet." in text and "| not measured |" in text


def test_what_rows_say_nothing_of():
    assert "| it gets slower | yes: 3 sizes |      | no such case |" in page.section(item_of(lambda rows: slower(rows) if len(rows) > 2 else None, ROWS), ROWS[:2])


def test_a_drawing_without_figures():
    assert "| it gets slower | yes: as snails | yes: 3 sizes | yes    |" in page.section(item_of(slower, said="as snails"), ROWS)
    assert "| it gets slower | yes: says so | yes: 3 sizes | yes    |" in page.section(item_of(slower, said=True), ROWS)


@pytest.mark.parametrize("pairs, is_so", [([(1, 1), (2, 2)], True), ([(2, 2), (1, 1)], True), ([(1, 2), (2, 1)], False), ([(1, 1), (2, 0.95), (3, 4)], True),
                                          ([(1, 1), (2, 0.5), (3, 4)], False), ([(1, 1)], False)])
def test_what_grows(pairs, is_so):
    assert papers.grows(pairs) == is_so


def test_a_fit_finds_what_was_there():
    factors = fitting.fit([((1, x, y), 3 + 2 * x + 0.5 * y) for x in (1, 5, 9) for y in (2, 4)])
    assert all(abs(found - real) < 1e-9 for found, real in zip(factors, (3, 2, 0.5)))
    assert fitting.solve([[1, 1], [2, 2]], [1, 2]) is None


def test_results_are_kept_and_read_again(tmp_path):
    paper = ALL[0]
    first, second = list(paper.measurements)[:2]
    results.keep(paper, first, {"machine": "any"}, [results.line(paper, first, "ch3:sock", {"seconds": 0.123456789, "ranks": 2})], tmp_path)
    origins, rows = results.kept(paper, folder=tmp_path)
    assert origins == {first: {"machine": "any"}} and second not in origins
    assert rows == [{"bench": paper.name, "item": first, "seconds": 0.123457, "ranks": 2, "device": "ch3:sock"}]
    assert len((tmp_path / f"{paper.name}.{first}.jsonl").read_text().splitlines()) == 2 and json.dumps(rows)
