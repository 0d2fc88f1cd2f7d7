"""The pages as a site (docs/site.py): all are there, every link leads somewhere, and a browser shows them on any screen."""

import html.parser
import pathlib
import re

import job
import pytest

PAGES = [path for folder in ("guide", "reference", "examples", "internals", "internals/decisions") for path in (job.ROOT / "docs" / folder).glob("*.md")]
SHOWN = ["index.html", "guide/data.html", "reference/api.html", "reference/messages.html", "man/epop.1.html", "internals/performance.html"]


@pytest.fixture(name="site", scope="module")
def fixture_site(tree):
    return tree / "share/doc/epop/html"


class Reader(html.parser.HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.open = [], set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.links += [attributes[name] for name in ("href", "src", "srcset") if name in attributes]
        if "id" in attributes:
            self.ids.add(attributes["id"])


def pages_of(site):
    return {path: Reader(path) for path in site.rglob("*.html")}


def test_every_page_is_there(site):
    assert len(PAGES) > 35
    assert [page for page in PAGES if not (site / page.relative_to(job.ROOT / "docs")).with_suffix(".html").is_file()] == []
    assert (site / "index.html").is_file() and (site / "CONTRIBUTING.html").is_file()
    assert {path.name for path in (site / "man").iterdir()} == {path.name + ".html" for path in (job.ROOT / "docs/man").glob("*.1")}
    assert (site / "man3/epop_redist_h.3.html").is_file()


def test_every_link_leads_somewhere(site):
    """But for those to sources of EPOP itself, which are not installed."""
    pages, dead = pages_of(site), []
    for path, page in pages.items():
        for link in page.links:
            target, _, fragment = link.partition("#")
            file = pathlib.Path(path.parent / target).resolve() if target else path
            if re.match(r"[a-z]+:", link) or re.match(r"(\.\./)+(tests|scheduler|runtime|driver|bench)/", target):
                continue
            if not file.exists() or (fragment and file in pages and fragment not in pages[file].ids):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert dead == []


def test_every_page_is_in_the_navigation(site):
    start = Reader(site / "guide/start.html")
    listed = {(site / "guide" / link.partition("#")[0]).resolve() for link in start.links}
    assert [path for path in site.rglob("*.html") if path.resolve() not in listed] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("name", SHOWN)
def test_a_browser_shows_it(browser, site, name, width, scheme):
    """Without a complaint, from its own files alone, no wider than the screen, and accessible."""
    browser.open(site / name, width, scheme)
    assert browser.complaints() == []
    own = (site.resolve().as_uri(), "chrome:")  # and those of the browser's first, empty page
    assert [url for url in browser.requests() if not url.startswith(own)] == []
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert [(it["id"], it["nodes"][0]["html"]) for it in browser.axe()["violations"] if it["impact"] in ("serious", "critical")] == []
