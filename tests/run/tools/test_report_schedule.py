"""epop-report of a schedule: what it refuses, that tables have the schedule's figures, that drawings and pages are whole."""

import csv
import json
import re
import xml.etree.ElementTree as ElementTree

import browser as browsers
import job
import profiles
import pytest
import schedules
from reports import (DRAWING, POINT, SCHEMES, TABLE, WIDTHS, check_accessible, check_charts, check_drawings, check_opens, check_refused,
                     check_tables, draw, maker, needed, numbers, report, shapes, table)

pytestmark = needed
DRAWN = ["gantt", "queue", "utilisation", "slowdown"]
ALL = ["metrics", *DRAWN, "decisions"]
SCHEDULES = {"small": schedules.small, "example": schedules.example, "single": schedules.single, "hostile": schedules.hostile, "many": schedules.many, "large": schedules.large}
MOST_BYTES = 3 << 20


# ---- What it refuses: one line with the place, exit status 2 ----

def changed(*path, to):
    """The small schedule with that member changed, or left out."""
    value = schedules.small()
    place = value
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return value


STAYS = ("runs", 0, "jobs", 2, "stays")
BAD = {
    "version": (["version"], 2, "version 2"),
    "no-version": (["version"], None, "/version must be a number"),
    "no-machine": (["machine"], None, "/machine must be an object"),
    "no-nodes": (["machine", "nodes"], 0, "/nodes must be a whole number from 1"),
    "no-workload": (["workload"], [], "/workload must be an object"),
    "no-runs": (["runs"], [], "/runs must have one run"),
    "runs": (["runs"], {}, "/runs must be a list"),
    "policy": (["runs", 1, "policy"], 7, "/runs/1/policy must be a text"),
    "metric": (["runs", 0, "metrics", "makespan"], "long", "/runs/0/metrics/makespan must be a number"),
    "jobs": (["runs", 1, "jobs"], None, "/runs/1/jobs must be a list"),
    "job": (["runs", 1, "jobs", 2], "job", "/runs/1/jobs/2/id must be a number"),
    "twice": (["runs", 1, "jobs", 2, "id"], 1, "/runs/1/jobs has two jobs of the same id"),
    "kind": (["runs", 0, "jobs", 1, "kind"], "elastic", "/runs/0/jobs/1/kind must be one of rigid moldable"),
    "submit": (["runs", 0, "jobs", 1, "submit"], "now", "/runs/0/jobs/1/submit must be a number"),
    "wanted": (["runs", 0, "jobs", 1, "wanted"], 1.5, "/runs/0/jobs/1/wanted must be a whole number"),
    "slowdown": (["runs", 0, "jobs", 1, "slowdown"], "big", "/runs/0/jobs/1/slowdown must be a number"),
    "stays": ([*STAYS], None, "/runs/0/jobs/2/stays must be a list"),
    "stay": ([*STAYS, 0], [20, 60], "/runs/0/jobs/2/stays/0 must be [begin, end, nodes]"),
    "backwards": ([*STAYS, 0, 1], 10, "/runs/0/jobs/2/stays/0"),
    "beyond": ([*STAYS, 0, 2], "4-8", "/runs/0/jobs/2/stays/0"),
    "unsorted": ([*STAYS, 0, 2], "5,4", "/runs/0/jobs/2/stays/0"),
    "no-range": ([*STAYS, 0, 2], "4-", "/runs/0/jobs/2/stays/0"),
    "trailing": ([*STAYS, 0, 2], "4x", "/runs/0/jobs/2/stays/0"),
    "nothing": ([*STAYS, 0, 2], "", "/runs/0/jobs/2/stays/0"),
    "early": ([*STAYS, 0, 0], 1, "/runs/0/jobs/2/stays/0 begins before the job is submitted"),
    "overlap": (["runs", 1, "jobs", 0, "stays", 1, 0], 10, "/runs/1/jobs/0/stays/1"),
    "fast": (["runs", 0, "jobs", 1, "slowdown"], 0.5, "/runs/0/jobs/1/slowdown must be 1 at least"),
    "endless": (["runs", 0, "jobs", 1, "end"], None, "/runs/0/jobs/1/end must be a number"),
    "no-place": (["runs", 0, "decisions", 1, "to"], 0, "/runs/0/decisions/1/to must be a whole number from 1"),
    "hole": (["runs", 0, "decisions", 1, "nodes"], "3,1", "/runs/0/decisions/1/nodes must be nodes in order"),
    "timeless": (["runs", 1, "decisions", 1, "at"], None, "/runs/1/decisions/1/at must be a number"),
    "decision": (["runs", 0, "decisions", 1, "kind"], "stop", "/runs/0/decisions/1/kind must be one of start"),
    "order": (["runs", 0, "decisions", 1, "time"], -1, "/runs/0/decisions/1/time is before"),
    "nobody": (["runs", 0, "decisions", 1, "job"], 99, "/runs/0/decisions/1/job is none of the jobs"),
    "event": (["runs", 0, "events", 0, "text"], None, "/runs/0/events/0/text must be a text"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_schedules(space, name):
    where, to, words = BAD[name]
    path = schedules.write(space.directory, changed(*where, to=to))
    check_refused(space, path, words)


# A page of these is as good as any; whether a record is whole is for the schema.
TOLERATED = ["cpu-time", "metric-missing", "rate-zero", "start-with-a-time-ahead"]


@pytest.mark.parametrize("path", sorted((job.ROOT / "schema/examples/schedule").glob("*/*.json")), ids=lambda path: path.stem)
def test_examples_of_the_schema(space, path):
    result = report(space, path, "-o", "out.html")
    good = path.parent.name == "valid" or path.stem in TOLERATED
    assert result.status == (0 if good else 2) and result.err.count("\n") == (0 if good else 1), result


def test_wrong_usage(space):
    path = schedules.write(space.directory, schedules.small())
    other = profiles.write(space.directory, profiles.example())
    result = report(space, path, other)
    assert result.status == 2 and "prof.json is one file too many" in result.err and result.err.count("\n") == 1, result
    for file, chart in ((path, "world"), (other, "gantt")):
        result = report(space, file, "--format", "csv", "--chart", chart)
        assert result.status == 2 and f"{chart} is none of the charts of a" in result.err, result


def test_help_names_the_charts(space):
    listed = re.search(r"Of a schedule: (.*)\.", report(space, "--help").out).group(1)
    assert re.sub(r" \(.*?\)", "", listed).split(", ") == ALL


def test_a_symbolic_link_stays_one(space):
    path = schedules.write(space.directory, schedules.small())
    target, link = space.directory / "real.html", space.directory / "link.html"
    target.write_text("old")
    link.symlink_to("real.html")
    result = report(space, path, "-o", "link.html")
    assert result.status == 0 and link.is_symlink() and target.read_text().startswith("<!DOCTYPE html>"), result


# ---- Tables: the schedule's figures ----

@pytest.fixture
def small(space):
    value = schedules.small()
    return value, schedules.write(space.directory, value)


def test_table_of_metrics(space, small):
    value, path = small
    first, second = (run["metrics"] for run in value["runs"])
    rows = {row["metric"]: row for row in table(space, path, "metrics")}
    for name, title, unit in (("makespan", "makespan", "s"), ("mean_slowdown", "mean bounded slowdown", ""), ("utilisation", "utilisation", "%")):
        row = rows[title]
        assert (float(row["easy"]), float(row["gain"]), row["unit"]) == (first[name], second[name], unit)
        assert float(row["gain_easy"]) == pytest.approx(second[name] / first[name])
    assert rows["resizes"]["gain_easy"] == ""  # there is no ratio to 0
    assert "energy" not in rows


def test_runs_of_one_policy_are_told_apart(space):
    value = schedules.small()
    for entry in value["runs"]:
        entry["policy"] = "gain"
    assert {"gain", "gain_stay_30"} <= set(table(space, schedules.write(space.directory, value), "metrics")[0])
    value["runs"][0]["policy_options"] = "stay=30"
    rows = table(space, schedules.write(space.directory, value), "queue")
    assert {row["policy"] for row in rows} == {"gain,stay=30 #1", "gain,stay=30 #2"}


def test_table_of_the_gantt_chart(space, small):
    value, path = small
    rows = table(space, path, "gantt")
    expected = {(run["policy"], it["id"], begin, end, schedules.size_of(where), where)
                for run in value["runs"] for it in run["jobs"] for begin, end, where in it["stays"]}
    stays = [row for row in rows if row["kind"] != "event"]
    assert {(row["policy"], int(row["job"]), float(row["begin_s"]), float(row["end_s"]), int(row["size"]), row["nodes"])
            for row in stays} == expected and len(stays) == len(expected)
    assert [(row["policy"], float(row["begin_s"]), row["reason"]) for row in rows if row["kind"] == "event"] == [("easy", 200, "node 3 fails")]
    assert [row["outcome"] for row in stays if row["policy"] == "gain" and row["job"] == "1"] == ["", "", "done"]


def test_a_stay_has_the_reason_of_the_decision_that_led_to_it(space):
    """Also when the resize took a while, and when one before it was refused; a reservation leads to none."""
    value = schedules.small()
    run = value["runs"][1]
    decisions = [("start", 0, 4, "begins"), ("reserve", 1, 6, "later"), ("resize", 5, 6, "refused"), ("resize", 15, 6, "grows"),
                 ("resize", 28, 2, "gives back")]
    run["decisions"] = [{"time": time, "kind": kind, "job": 1, "from": 0, "to": to, "nodes": "", "reason": reason,
                         **({"at": 50} if kind == "reserve" else {})} for kind, time, to, reason in decisions]
    rows = table(space, schedules.write(space.directory, value), "gantt")
    assert [row["reason"] for row in rows if row["policy"] == "gain" and row["job"] == "1"] == ["begins", "grows", "gives back"]
    assert [row["reason"] for row in rows if row["policy"] == "gain" and row["job"] == "2"] == [""]


def test_table_of_the_queue(space, small):
    """Steps that are computed by hand: jobs 2 and 4 of easy wait for 8 and 4 nodes."""
    rows = table(space, small[1], "queue")
    easy = numbers([row for row in rows if row["policy"] == "easy"], "time_s", "waiting_jobs", "nodes_asked_for")
    assert easy == [(10, 1, 8), (30, 2, 12), (100, 1, 4), (180, 0, 0)]
    gain = numbers([row for row in rows if row["policy"] == "gain"], "time_s", "waiting_jobs", "nodes_asked_for")
    assert gain == [(10, 1, 8), (90, 0, 0)]


def test_a_job_that_was_put_back_waits_again(space):
    value = schedules.schedule([schedules.run("easy", [schedules.work(1, 0, [[5, 10, "0"], [30, 40, "0"]]),
                                                       schedules.work(2, 20, [], outcome="never", wanted=2)], 2)], 2)
    rows = table(space, schedules.write(space.directory, value), "queue")
    assert numbers(rows, "time_s", "waiting_jobs", "nodes_asked_for") == \
        [(0, 1, 1), (5, 0, 0), (10, 1, 1), (20, 2, 3), (30, 1, 2), (40, 0, 0)]


def test_table_of_the_utilisation(space, small):
    rows = [row for row in table(space, small[1], "utilisation") if row["policy"] == "gain"]
    assert numbers(rows, "time_s", "running_jobs", "nodes_held") == \
        [(0, 1, 4), (20, 2, 8), (30, 3, 8), (60, 2, 6), (80, 1, 2), (90, 1, 8), (170, 0, 0)]


def test_table_of_slowdowns(space, small):
    """Those that fared worst first, with the share of the jobs that did not fare worse."""
    value, path = small
    rows = table(space, path, "slowdown")
    for entry in value["runs"]:
        own = [row for row in rows if row["policy"] == entry["policy"]]
        assert [float(row["slowdown"]) for row in own] == sorted((it["slowdown"] for it in entry["jobs"]), reverse=True)
        assert [float(row["share"]) for row in own] == [1, 0.75, 0.5, 0.25]
        assert {int(row["job"]): (float(row["wait_s"]), row["kind"], row["outcome"]) for row in own} == \
            {it["id"]: (it["wait"], it["kind"], it["outcome"]) for it in entry["jobs"]}


def test_table_of_decisions(space, small):
    value, path = small
    rows = table(space, path, "decisions")
    assert [(row["policy"], float(row["time_s"]), row["kind"], int(row["job"]), int(row["to"]), row["nodes"], row["reason"]) for row in rows] == \
        [(run["policy"], it["time"], it["kind"], it["job"], it["to"], it["nodes"], it["reason"]) for run in value["runs"] for it in run["decisions"]]
    assert [row["at_s"] for row in rows if row["kind"] == "reserve"] == ["100"]


def test_a_job_that_never_ran(space):
    path = schedules.write(space.directory, schedules.single())
    never = table(space, path, "slowdown")[1]
    assert (never["job"], never["slowdown"], never["share"], never["outcome"]) == ("2", "", "", "never")


# ---- A schedule as large as a real trace ----

@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    value = schedules.large()
    return value, schedules.write(folder, value)


def test_tables_of_a_large_schedule_have_everything(space, large):
    value, path = large
    result = report(space, path, "--format", "csv", "-o", "tables", limit=browsers.LIMIT)
    assert result.status == 0, result

    def rows(name):
        with (space.directory / "tables" / f"{name}.csv").open(newline="") as file:
            return list(csv.DictReader(file))
    assert len(rows("decisions")) == sum(len(run["decisions"]) for run in value["runs"])
    stays = rows("gantt")
    assert len(stays) == sum(len(it["stays"]) for run in value["runs"] for it in run["jobs"])
    assert len(rows("slowdown")) == sum(len(run["jobs"]) for run in value["runs"])
    held = [row for row in rows("utilisation") if row["policy"] == "easy"]
    area = sum(float(one["nodes_held"]) * (float(next_one["time_s"]) - float(one["time_s"])) for one, next_one in zip(held, held[1:]))
    assert area == pytest.approx(value["runs"][0]["metrics"]["utilisation"] * 128 * value["runs"][0]["metrics"]["makespan"], rel=1e-6)


def test_a_page_of_a_large_schedule_is_small_and_says_what_is_left_out(space, large, browser):
    value, path = large
    result = report(space, path, "-o", "page.html", limit=browsers.LIMIT)
    page = space.directory / "page.html"
    assert result.status == 0 and page.stat().st_size < MOST_BYTES, page.stat().st_size
    browser.open(page)
    assert browser.complaints() == []
    for chart in DRAWN:
        assert browser.run(DRAWING, chart)["outside"] == [], chart
    assert browser.run(DRAWING, "gantt")["shapes"] < 4000
    assert "merged into grey areas" in browser.run("return document.querySelector('#gantt .lead').textContent")
    assert "#8a95a1" in browser.run(DRAWING, "gantt")["colours"]
    decisions = sum(len(run["decisions"]) for run in value["runs"])
    left = browser.run("return document.querySelector('#decisions .note').textContent")
    rows = browser.run("return document.querySelectorAll('#decisions tbody tr').length")
    assert rows > 1000 and re.sub(r"\D", "", left.split("more")[0]) == str(decisions - rows), left
    held = browser.run(TABLE, "utilisation")
    assert all(0 <= float(row[3]) <= 128 for row in held) and len(held) == 500


def test_the_sentence_on_slowdown_has_the_figures_of_all_jobs(space):
    """The curve of a page has a point for some of the jobs only."""
    value = schedules.large(jobs=3000)
    slowdowns = sorted(it["slowdown"] for it in value["runs"][1]["jobs"])
    value["runs"][1]["metrics"]["p95_slowdown"] = 4321.5
    report(space, schedules.write(space.directory, value), "-o", "page.html", limit=browsers.LIMIT)
    said = re.search(r"gain: half of the jobs have a slowdown of at most ([\d.]+), 95 % of at most ([\d.]+)", (space.directory / "page.html").read_text())
    assert float(said.group(1)) == pytest.approx(slowdowns[1499], rel=0.006) and float(said.group(2)) == pytest.approx(4321.5, rel=0.006), said


# ---- Drawings ----

@pytest.mark.parametrize("name", ["small", "example", "single", "hostile"])
def test_drawings_are_whole(space, name):
    check_drawings(draw(space, schedules.write(space.directory, SCHEDULES[name]())), DRAWN, least=4)


def boxes(root):
    """(left, top, width, height) of what is filled as a job is: by their opacity."""
    found = []
    for path in shapes(root, "path"):
        if path.get("fill-opacity") not in ("0.62", "0.36"):
            continue
        for box in re.findall(r"M([-\d.]+) ([-\d.]+)l([\d.]+) 0l0 ([\d.]+)", path.get("d") or ""):
            found.append(tuple(map(float, box)))
        for left, top, right, bottom in re.findall(r"M([-\d.]+) ([-\d.]+)L([\d.]+) [\d.]+L[\d.]+ ([\d.]+)L", path.get("d") or ""):
            found.append((float(left), float(top), float(right) - float(left), float(bottom) - float(top)))
    return found


def test_boxes_are_as_large_as_their_figures(space, small):
    value, path = small
    result = report(space, path, "--format", "svg", "--chart", "gantt", "--width", "1000")
    drawn = boxes(ElementTree.fromstring(result.out))
    ranges = [(begin, end, *map(int, (part.split("-") * 2)[:2])) for run in value["runs"] for it in run["jobs"]
              for begin, end, where in it["stays"] for part in where.split(",")]
    assert len(drawn) == len(ranges)
    scale = (1000 - 44 - 16) / 240
    assert sorted(width for _, _, width, _ in drawn) == pytest.approx(sorted((end - begin) * scale for begin, end, _, _ in ranges), abs=1)
    height = 14 * 8 / 8
    assert sorted(it[3] for it in drawn) == pytest.approx(sorted((last - first + 1) * height for _, _, first, last in ranges), abs=1.5)


# ---- The page ----

@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Makes the page of one of SCHEDULES, once."""
    return maker(tmp_path_factory, lambda folder, name: schedules.write(folder, SCHEDULES[name]()))


@pytest.mark.parametrize("name,width,scheme", [
    *[("small", width, scheme) for width in WIDTHS for scheme in SCHEMES], ("single", 360, "light"), ("hostile", 360, "light")])
def test_page(browser, page, name, width, scheme):
    check_opens(browser, page(name), width, scheme)
    check_charts(browser, DRAWN, least=3)


@pytest.mark.parametrize("name", ["small", "hostile"])
def test_tables_have_all_figures(browser, page, name):
    check_tables(browser, page(name), page(name).parent / "schedule.json", ALL)


def test_hostile_names_do_nothing(browser, page):
    browser.open(page("hostile"))
    assert browser.run("return document.title") == f"{profiles.HOSTILE}: EPOP report"
    assert browser.run("return document.querySelectorAll('img, iframe, object').length") == 0
    assert browser.run("return document.querySelectorAll('script').length") == 2


def test_a_box_tells_its_job_and_its_reason(browser, page):
    browser.open(page("small"))
    shown = browser.run(POINT, "gantt", "#00795a")  # job 2: the third colour
    assert "job 2: job 2" in shown and "rigid, 8 nodes: 0-7" in shown and "job 2 0 -> 8: start of stay 0" in shown, shown
    assert browser.complaints() == []
    browser.open(page("hostile"))
    assert profiles.HOSTILE in browser.run(POINT, "gantt", "#00795a") and browser.complaints() == []


FILTER = """
const place = document.querySelector("#decisions .filter"), [search, ...selects] = place.querySelectorAll("input, select");
[search, ...selects].forEach((it, index) => { it.value = arguments[index]; it.dispatchEvent(new Event("input")); });
return [[...document.querySelectorAll("#decisions tbody tr")].filter((row) => row.offsetHeight > 0).map((row) => row.textContent),
        place.querySelector("output").textContent];
"""


def test_decisions_can_be_searched(browser, page):
    browser.open(page("small"))
    rows, said = browser.run(FILTER, "", "", "")
    assert len(rows) == 11 and said == "11 of 11"
    rows, said = browser.run(FILTER, "JOB 2", "gain", "")
    assert len(rows) == 2 and said == "2 of 11" and all("job 2" in row and row.startswith("gain") for row in rows), rows
    rows, said = browser.run(FILTER, "", "", "resize")
    assert len(rows) == 2 and all("resize" in row for row in rows), rows
    rows, said = browser.run(FILTER, "no such words", "", "")
    assert rows == [] and said == "0 of 11"


def test_numbers_are_found_as_they_are_written(browser, page):
    """Not as the page groups their digits; a job's number is not grouped at all."""
    browser.open(page("many"))
    rows, _ = browser.run(FILTER, "job 12345", "", "")
    assert len(rows) == 1 and "12345job 12345" in rows[0], rows
    rows, _ = browser.run(FILTER, "1234567.5", "", "")
    assert len(rows) == 1 and "1\u202f234\u202f567.5" in rows[0], rows


# ---- What the simulator writes ----

def simulate(space, *arguments):
    result = space.start([job.BUILD / "bin/epopsim", "--quiet", *arguments, "-o", "simulated.json"]).wait()
    assert result.status == 0, result
    path = space.directory / "simulated.json"
    return schedules.checked(json.loads(path.read_text())), path


def test_a_page_of_simulated_runs(space, browser):
    """All policies there are, with jobs that are resized, on the schema's example of a random workload."""
    value, path = simulate(space, "--malleable", "0.8", job.ROOT / "schema/examples/workload/valid/random.json")
    assert len(value["runs"]) > 1
    assert report(space, path, "-o", "page.html").status == 0
    browser.open(space.directory / "page.html")
    assert browser.complaints() == []
    for chart in DRAWN:
        assert browser.run(DRAWING, chart)["outside"] == [], chart
    rows = {row["metric"]: row for row in table(space, path, "metrics")}
    for run in value["runs"]:
        assert float(rows["makespan"][run["policy"]]) == run["metrics"]["makespan"]
    reasons = {it["reason"] for run in value["runs"] for it in run["decisions"]}
    assert {row["reason"] for row in table(space, path, "gantt")} <= reasons | {""}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_accessible(browser, page, scheme):
    check_accessible(browser, page("small"), scheme)


def test_the_page_says_where_it_comes_from(browser, page):
    browser.open(page("small"))
    assert "a schedule of epopsim 1.2.3" in browser.run("return document.querySelector('footer').textContent")
    facts = browser.run("return document.querySelector('.facts').textContent")
    assert "easy, gain" in facts and "load0.9" in facts and "latency500\u00a0ms" in facts and "0\u00a0s/byte" in facts
    assert "2 jobs have no run time: left out" in browser.run("return document.querySelector('.notes').textContent")


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_schedules_of_these_tests_are_valid(name):
    schedules.checked(SCHEDULES[name]())


def test_accounts_and_deadlines(space):
    """What accounts with shares have used, and who stands in the place of the user."""
    value, path = simulate(space, "--policy", "easy,gain", "--shares", "physics=2,*=1", job.ROOT / "schema/examples/workload/valid/wishes.json")
    rows = {row["metric"]: row for row in table(space, path, "metrics")}
    assert rows["jobs with a deadline"]["easy"] == "2" and rows["jobs that missed it"]["gain"] == "0"
    by = {one["account"]: one for one in value["runs"][1]["accounts"]}
    for account, share in (("physics", 2), ("chemistry-2", 1)):
        assert float(rows[f"usage of {account} over its share of {share}"]["gain"]) == by[account]["usage"]
        assert float(rows[f"mean wait of {account}"]["gain"]) == by[account]["mean_wait"]
    assert {row["user"] for row in table(space, path, "slowdown")} == set(by)
