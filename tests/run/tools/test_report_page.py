"""The page of epop-report in a real browser: it draws, its tables have the figures, it asks for nothing, it is accessible."""

import base64
import os
import subprocess

import browser as browsers
import job
import profiles
import pytest
from reports import DRAWING, POINT, REPORT, SCHEMES, WIDTHS, check_accessible, check_charts, check_opens, check_tables, maker, needed

pytestmark = needed
DRAWN = ["world", "resizes", "phases", "loops", "functions", "scaling", "efficiency", "graph", "traffic", "timeline"]
ALL = [*DRAWN[:7], "fit", *DRAWN[7:]]
PROFILES = {
    "resized": profiles.example, "partial": lambda: profiles.example("partial"), "serial": lambda: profiles.example("serial"),
    "plain": profiles.without_resizes, "scaled": profiles.scaled, "large": profiles.large,
    "hostile": lambda: profiles.named(profiles.HOSTILE, profiles.HOSTILE),
    "foreign": lambda: profiles.named("W\u00e4rme \u6f22\u5b57 \U0001f525", "\u0440\u0435\u043b\u0430\u043a\u0441 & <b>"),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Makes the page of one of PROFILES, once."""
    return maker(tmp_path_factory, lambda folder, name: profiles.write(folder, PROFILES[name]()))


def drawn(browser):
    return [name for name in DRAWN if browser.run(DRAWING, name)]


# ---- It draws ----

@pytest.mark.parametrize("name,width,scheme", [
    *[(name, width, scheme) for name in ("resized", "scaled") for width in WIDTHS for scheme in SCHEMES],
    *[(name, 360, "light") for name in PROFILES if name not in ("resized", "scaled")],
])
def test_page(browser, page, name, width, scheme):
    check_opens(browser, page(name), width, scheme)
    for chart, drawing in check_charts(browser, drawn(browser), least=5).items():
        assert width - 150 < drawing["width"] <= width, (chart, drawing["width"])
    assert len(browser.picture()) > 20000


@pytest.mark.parametrize("name,missing", [
    ("resized", []), ("scaled", []), ("large", []),
    ("plain", ["resizes", "efficiency", "traffic"]), ("serial", ["resizes", "loops", "functions", "efficiency", "traffic"]),
])
def test_every_chart_is_drawn_or_says_why_not(browser, page, name, missing):
    browser.open(page(name))
    assert drawn(browser) == [chart for chart in DRAWN if chart not in missing]
    for chart in missing:
        assert len(browser.run("return document.querySelector('#' + arguments[0] + ' .empty').textContent", chart)) > 20


def test_as_many_marks_as_figures(browser, page):
    """A mark for every point, cell and resize; the drawings' colours say which shapes are the data."""
    profile = PROFILES["resized"]()
    browser.open(page("resized"))
    count = """return [...document.querySelectorAll("#chart-" + arguments[0] + " path")].filter((it) =>
        arguments[1].includes((it.getAttribute("fill") || "").toLowerCase()) && it.getBoundingClientRect().width > 0).length"""
    ramp = """return [...document.querySelectorAll("#chart-traffic path")].filter((it) => it.getAttribute("stroke") == "#c9d0d8" &&
        it.getAttribute("fill") != "none").length"""
    pairs = {(it["from"], it["to"]) for adaptation in profile["adaptations"] for it in adaptation["traffic"]}
    assert browser.run(ramp) == len(pairs)
    done = [it for it in profile["adaptations"] if it["state"] == "committed"]
    assert browser.run(count, "world", ["#b3261e"]) == len(profile["adaptations"]) - len(done) + len(profile["refusals"]) > 1
    assert browser.run(count, "world", ["#d55e00"]) == len(done)
    spans = sum(len(process["ranks"]) for process in profile["processes"])
    assert browser.run("""return document.querySelectorAll("#chart-timeline path[fill-opacity='0.25']").length""") == spans


def test_schemes_and_widths_change_the_drawings(browser, page):
    """Also after the page was loaded."""
    browser.open(page("resized"))
    light = browser.run(DRAWING, "phases")
    browser.prefer("dark")
    browser.settle()
    dark = browser.run(DRAWING, "phases")
    assert "#0072b2" in light["colours"] and "#0072b2" not in dark["colours"] and "#56b4e9" in dark["colours"]
    browser.resize(360)
    browser.settle()
    assert browser.run(DRAWING, "phases")["width"] < 360


def test_a_tooltip_shows_a_name_as_text(browser, page):
    browser.open(page("hostile"))
    assert profiles.HOSTILE in browser.run(POINT, "phases", "#0072b2") and browser.complaints() == []


def test_a_timeline_of_a_trace(browser, tmp_path):
    """Of a real job: bars of phases and resizes in as many colours as the legend has, and the MPI share."""
    command = [job.BUILD / "bin/epop", "--start", "1", "--driver", "profile,trace", "--output", "prof.json", "--trace-output",
               "trace.json", job.program("ledger"), "elements=1000", "iterations=600", "work=2000", "resize=150", "max=2"]
    environment = {**os.environ, "EPOP_RUNTIME_DIR": str(tmp_path / "run")}
    subprocess.run([job.MPIEXEC, "-n", "2", *command], cwd=tmp_path, env=environment, check=True, timeout=browsers.LIMIT, capture_output=True)
    subprocess.run([REPORT, "prof.json", "trace.json", "-o", "page.html"], cwd=tmp_path, check=True, timeout=browsers.LIMIT)
    for width, scheme in ((1000, "light"), (360, "dark")):
        browser.open(tmp_path / "page.html", width, scheme)
        drawing = browser.run(DRAWING, "timeline")
        assert browser.complaints() == [] and drawing["outside"] == [] and drawing["shapes"] > 12, drawing
        assert {"MPI share", "resize"} <= set(drawing["texts"]), drawing
        assert ("#d55e00" if scheme == "light" else "#f0883e") in drawing["colours"], drawing
        assert browser.run("return document.documentElement.scrollWidth") == width


# ---- Names are only text ----

def test_hostile_names_do_nothing(browser, page):
    browser.open(page("hostile"))
    assert browser.run("return document.title") == f"{profiles.HOSTILE}: EPOP report"
    assert browser.run("return document.querySelector('h1').textContent") == profiles.HOSTILE
    assert browser.run("return document.querySelectorAll('img, iframe, object, link[rel=stylesheet]').length") == 0
    assert browser.run("return document.querySelectorAll('script').length") == 2


def test_partial_is_said(browser, page):
    browser.open(page("partial"))
    said = browser.run("return document.querySelector('.partial').textContent")
    assert said.startswith("Partial.") and PROFILES["partial"]()["reason"] in said
    browser.open(page("resized"))
    assert browser.run("return document.querySelector('.partial')") is None


# ---- Tables ----

@pytest.mark.parametrize("name", ["resized", "scaled", "foreign", "hostile"])
def test_tables_have_all_figures(browser, page, name):
    check_tables(browser, page(name), page(name).parent / "prof.json", ALL)
    for chart in ALL:
        assert len(browser.run("return document.querySelector('#' + arguments[0] + ' thead th[scope=col]') && "
                               "document.querySelector('#' + arguments[0] + ' caption').textContent", chart)) > 5


def test_long_tables_say_what_is_left_out(browser, page):
    browser.open(page("large"))
    rows = browser.run("return document.querySelectorAll('#phases tbody tr').length")
    note = browser.run("return [...document.querySelectorAll('#phases .note')].map((it) => it.textContent).join()")
    total = sum(len(element["worlds"]) for element in PROFILES["large"]()["elements"])
    assert rows == min(total, 1000) and ("left out" in note) == (total > 1000)


# ---- Accessible ----

@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["resized", "partial", "plain"])
def test_accessible(browser, page, name, scheme):
    """And what axe-core's rules do not know: a heading, a table and a label per chart."""
    check_accessible(browser, page(name), scheme)
    for chart in drawn(browser):
        label = browser.run("return document.getElementById('chart-' + arguments[0]).getAttribute('aria-label')", chart)
        heading = browser.run("return document.querySelector('#' + arguments[0] + ' h2').textContent", chart)
        assert heading in label and browser.run("return document.querySelector('#' + arguments[0] + ' table') != null", chart)


# ---- The tests can fail ----

def test_complaints_and_requests_are_seen(browser, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text("<!DOCTYPE html><img src='http://127.0.0.1:9/x.png'><script>console.error('broken')</script>")
    browser.open(path)
    assert any("broken" in line for line in browser.complaints())
    assert "http://127.0.0.1:9/x.png" in browser.requests()


def test_what_is_not_accessible_is_seen(browser, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text("<!DOCTYPE html><html lang='en'><title>x</title><main><h1>x</h1><div role='img'></div>"
                    "<p style='color:#ccc;background:#fff'>pale</p></main>")
    browser.open(path)
    assert {"role-img-alt", "color-contrast"} <= {it["id"] for it in browser.axe()["violations"]}


def test_pictures_differ(browser, page):
    """A screenshot is one of the page, not of nothing."""
    taken = set()
    for scheme in SCHEMES:
        browser.open(page("resized"), 360, scheme)
        taken.add(base64.b64decode(browser.picture()))
    assert len(taken) == 2 and all(picture.startswith(b"\x89PNG") for picture in taken)
