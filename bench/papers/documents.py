"""A paper's results as one JSON document, for epop-report: schema/paper.schema.json."""
from papers import judge, page


def of(paper, origins, rows):
    return {"schema": "epop.paper", "version": 1, "name": paper.name, "title": paper.title, "by": paper.by, "machine": paper.machine,
            "measured": [dict(each) for each in dict.fromkeys(tuple(origin.items()) for origin in map(place, origins.values()))],
            "items": [item_of(item, rows) for item in paper.items]}


def place(origin):
    return {key: origin.get(key, "") for key in ("machine", "mpi", "date")}


def item_of(item, rows):
    ours = page.ours_of(item, rows)
    return {"name": item.name.replace(".", "-"), "of": item.of, "title": item.title, "text": item.text,
            "claims": [claim_of(each) for each in judge(item, ours)],
            "charts": [chart for chart in map(chart_of, item.charts(item.theirs, ours)) if chart["panels"]]}


def finding_of(found):
    return found and {"holds": bool(found.holds), "text": found.text}


def claim_of(judgement):
    why = {"why": judgement.why} if judgement.why else {}
    return {"claim": judgement.claim.text, "paper": finding_of(judgement.theirs), "here": finding_of(judgement.ours), "agrees": judgement.agrees, **why}


def chart_of(chart):
    """Without series that have no points, as where a paper has no figures."""
    panels = [{"title": title, "series": [{"name": name, "points": [list(point) for point in points]} for name, points in series.items() if points]}
              for title, series in chart.panels.items()]
    return {"draw": chart.draw, "x": chart.x, "y": chart.y, "x_unit": chart.x_unit, "unit": chart.unit, "log": chart.log,
            "panels": [panel for panel in panels if panel["series"]]}
