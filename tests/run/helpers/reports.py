"""epop-report for tests: how it is called, and what holds for all its tables, drawings and pages, be they of a profile or of a
schedule."""

import csv
import io
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import browser as browsers
import job
import pytest

REPORT = job.BUILD / "bin/epop-report"
needed = pytest.mark.skipif(not REPORT.exists(), reason="built without epop-report")  # REPORT=no
SVG = "{http://www.w3.org/2000/svg}"
WIDTHS = [1000, 360]
SCHEMES = ["light", "dark"]

# Of one drawing of a page: what it consists of, and whether any of it lies outside.
DRAWING = """
const place = document.getElementById("chart-" + arguments[0]), svg = place && place.querySelector("svg");
if (!svg) return null;
const frame = svg.getBoundingClientRect();
const shapes = [...svg.querySelectorAll("path, rect, circle, polygon, polyline")].filter((it) => {
    const box = it.getBoundingClientRect();
    return box.width + box.height > 1 && (it.getAttribute("fill") || "none") + (it.getAttribute("stroke") || "none") != "nonenone";
});
const texts = [...svg.querySelectorAll("text")];
const outside = texts.filter((it) => {
    const box = it.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
});
return { width: frame.width, height: frame.height, shapes: shapes.length, texts: texts.map((it) => it.textContent),
         outside: outside.map((it) => it.textContent), colours: [...new Set(shapes.map((it) => it.getAttribute("fill")))] };
"""
TABLE = """
return [...document.querySelectorAll("#" + arguments[0] + " tbody tr")].map((row) => [...row.cells].map((cell) => {
    const data = cell.querySelector("data");
    return data ? data.value : cell.classList.contains("none") ? "" : cell.textContent;
}));
"""
# Points into the first large shape of a colour.
POINT = """
const shape = [...document.querySelectorAll("#chart-" + arguments[0] + " path")].find((it) => it.getAttribute("fill") == arguments[1] &&
    it.getBoundingClientRect().width > 50), box = shape.getBoundingClientRect();
for (const kind of ["mousemove", "mouseover"])
    document.querySelector("#chart-" + arguments[0] + " svg").dispatchEvent(new MouseEvent(kind, { bubbles: true, view: window,
        clientX: box.left + 20, clientY: box.top + 5 }));
return document.getElementById("chart-" + arguments[0]).textContent;
"""


def report(space, *arguments, **how):
    return space.start([REPORT, *arguments], **how).wait()


def check_refused(space, path, words):
    """One line with the file's name, exit status 2, and no page."""
    result = report(space, path, "-o", "out.html")
    assert result.status == 2 and result.out == "" and words in result.err, result
    assert result.err.count("\n") == 1 and str(path) in result.err, result
    assert not (space.directory / "out.html").exists()


# ---- Tables and drawings


def table(space, path, chart):
    """A chart's table: a list of {column: text}."""
    result = report(space, path, "--format", "csv", "--chart", chart)
    assert result.status == 0 and result.err == "", result
    return list(csv.DictReader(io.StringIO(result.out)))


def numbers(rows, *columns):
    return [tuple(float(row[column]) for column in columns) for row in rows]


def draw(space, path):
    """{chart: its drawing's file}"""
    result = report(space, path, "--format", "svg", "-o", "out")
    assert result.status == 0 and result.err == "", result
    return {drawing.stem: drawing for drawing in (space.directory / "out").glob("*.svg")}


def shapes(root, kind):
    return list(root.iter(SVG + kind))


def check_drawings(drawings, charts, least):
    """XML with so many shapes, texts and a title, that refers to nothing outside; a renderer of its own draws something."""
    assert sorted(drawings) == sorted(charts)
    for chart, drawing in drawings.items():
        root = ElementTree.fromstring(drawing.read_bytes())
        assert len(shapes(root, "path")) + len(shapes(root, "rect")) >= least and len(shapes(root, "text")) > 3, chart
        assert root.find(SVG + "title").text and root.find(SVG + "desc").text
        assert root.get("width") == "640" and "NaN" not in drawing.read_text()
        assert not re.search(r'(href|src)="(?!#)', drawing.read_text()), chart
        picture = subprocess.run(["rsvg-convert", drawing], capture_output=True, timeout=60)
        assert picture.returncode == 0 and len(picture.stdout) > 2000, (chart, picture.stderr)


# ---- Pages


def maker(tmp_path_factory, write):
    """A function that makes the page of a name, once; write(folder, name) writes what it is of."""
    made = {}

    def make(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            subprocess.run([REPORT, write(folder, name), "-o", folder / "report.html"], check=True, timeout=browsers.LIMIT)
            made[name] = folder / "report.html"
        return made[name]
    return make


def check_opens(browser, page, width, scheme):
    """No complaint, no request, no sideways scrolling."""
    browser.open(page, width, scheme)
    assert browser.complaints() == []
    own = (page.as_uri(), "chrome:")  # and those of the browser's first, empty page
    assert [url for url in browser.requests() if not url.startswith(own)] == []
    assert browser.run("return document.documentElement.scrollWidth") == width


def check_charts(browser, charts, least):
    """These are drawn, and no other, in so many shapes at least and with all texts inside; the drawings."""
    assert int(browser.run("return document.documentElement.dataset.drawn")) == len(charts)
    drawings = {chart: browser.run(DRAWING, chart) for chart in charts}
    for chart, drawing in drawings.items():
        assert drawing["shapes"] >= least and len(drawing["texts"]) > 3 and drawing["height"] > 60, (chart, drawing)
        assert drawing["outside"] == [], chart
    return drawings


def check_tables(browser, page, path, charts):
    """They have the figures of --format csv, which other tests compare with what they are of."""
    browser.open(page)
    subprocess.run([REPORT, path, "--format", "csv", "-o", page.parent / "tables"], check=True, timeout=browsers.LIMIT)
    for chart in charts:
        with (page.parent / "tables" / f"{chart}.csv").open(newline="") as file:
            _, *rows = csv.reader(file)
        assert browser.run(TABLE, chart) == rows and rows, chart


def check_accessible(browser, page, scheme):
    """By axe-core's rules, with the tables opened."""
    browser.open(page, 360, scheme)
    browser.run("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
    result = browser.axe()
    assert [(it["id"], [node["html"][:120] for node in it["nodes"]]) for it in result["violations"]] == []
    assert len(result["passes"]) > 15
