"""Writes the pages of docs/ as a small static site, for a browser and without a server:

    /usr/bin/python3 docs/site.py FOLDER CALLS        (make html)

CALLS is the folder of the manual pages that docs/api.py has written of the public functions. README.md becomes FOLDER/index.html. Links between pages lead to pages of the site. Links to other files of the tree lead
to where they lie beside FOLDER, as `make install` puts them. Manual pages are drawn by mandoc. Markdown is Python-Markdown's
(Debian: python3-markdown).
"""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
START = DOCS / "guide/start.md"
FIRST = ["README.md", "CONTRIBUTING.md"]
COMMANDS, CALLS = "docs/man", "docs/man3"  # the latter are made, and no part of the tree; here they are as if they were

STYLE = """
:root { color-scheme: light dark; --text: #1c2024; --soft: #5a646e; --line: #d5dbe1; --link: #0b5cad; --shade: #f4f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #dde3e9; --soft: #9aa6b2; --line: #39424b; --link: #7db7f0; --shade: #22282e; }
  body { background: #171b1f; }
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
.page { display: grid; grid-template-columns: 15rem minmax(0, 1fr); max-width: 75rem; margin: 0 auto; }
nav { padding: 1.5rem 1rem; border-right: 1px solid var(--line); font-size: .9rem; }
nav h2 { margin: 1.2rem 0 .2rem; font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li { margin: .15rem 0; }
nav [aria-current] { font-weight: 600; color: var(--text); text-decoration: none; }
main { padding: 1.5rem 2rem 4rem; max-width: 54rem; }
a { color: var(--link); }
h1, h2, h3, h4 { line-height: 1.25; margin: 1.8em 0 .5em; }
h1 { margin-top: 0; font-size: 1.9rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .88em; background: var(--shade); border-radius: 4px; }
code { padding: .1em .25em; overflow-wrap: anywhere; }
pre { padding: .8rem 1rem; overflow-x: auto; }
pre code { padding: 0; background: none; overflow-wrap: normal; font-size: 1em; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .94em; }
th, td { padding: .35rem .7rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
img { max-width: 100%; height: auto; background: #fff; }
.manual { overflow-x: auto; }
.manual table.head, .manual table.foot { width: 100%; font-size: .85em; }
@media (max-width: 50rem) {
  .page { grid-template-columns: minmax(0, 1fr); }
  nav { order: 2; border-right: 0; border-top: 1px solid var(--line); }
  main { padding: 1rem; }
}
@media print { nav { display: none; } .page { display: block; } }
"""

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - EPOP</title>
<style>{style}</style>
</head>
<body>
<div class="page">
<nav aria-label="Pages">
{navigation}
</nav>
<main>
{body}
</main>
</div>
</body>
</html>
"""


# ---- Which pages there are ------------------------------------------------------------------------

def place_of(name):
    """Where a file of the tree is in the site: "docs/guide/data.md" is "guide/data.html"; None: it is no part of it."""
    if name == "README.md":
        return "index.html"
    if name.endswith(".md") and (name in FIRST or name.startswith("docs/")):
        return name.removeprefix("docs/").removesuffix(".md") + ".html"
    if os.path.dirname(name) in (COMMANDS, CALLS):
        return name.removeprefix("docs/") + ".html"
    return name.removeprefix("docs/") if name.startswith("docs/pictures/") else None


def title_of(name):
    return re.search(r"^# (.*)$", (ROOT / name).read_text(), flags=re.M)[1].replace("`", "")


def names_in(folder):
    """The pages of a folder of docs/, by their titles."""
    return sorted((str(path.relative_to(ROOT)) for path in (DOCS / folder).glob("*.md")), key=lambda name: title_of(name).lower())


def guide():
    """In reading order: that of the list on its first page."""
    listed = re.findall(r"^\d+\. \[[^]]*\]\((\w+\.md)\)", START.read_text(), flags=re.M)
    return [f"docs/guide/{name}" for name in [START.name, *listed]]


def manuals(folder, paths):
    """[(name in the tree, what a link to it says, file)]."""
    return [(f"{folder}/{path.name}", f"{path.stem}({path.suffix[1:]})", path) for path in sorted(paths)]


def sections(calls):
    """[(heading, [(name in the tree, what a link to it says, file)])]."""
    def titled(names):
        return [(name, title_of(name), ROOT / name) for name in names]

    return [
        ("EPOP", [("README.md", "About EPOP", ROOT / "README.md"), *titled(["CONTRIBUTING.md"])]),
        ("Guide", titled(guide())),
        ("Reference", titled(names_in("reference"))),
        ("Examples", titled(names_in("examples"))),
        ("Internals", titled(names_in("internals"))),
        ("Decisions", titled(names_in("internals/decisions"))),
        ("Manual pages", manuals(COMMANDS, (ROOT / COMMANDS).glob("*.1")) + manuals(CALLS, calls.glob("*_h.3"))),
    ]


# ---- A page ------------------------------------------------------------------------------------------

def slug(heading, _):
    """As GitHub makes fragments of headings."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def link(target, name):
    """Where a link of the file `name` leads in the site."""
    path, mark, fragment = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return target
    full = os.path.normpath(os.path.join(os.path.dirname(name), path))
    there = place_of(full) or os.path.join("..", full)
    return os.path.relpath(there, os.path.dirname(place_of(name)) or ".") + mark + fragment


def with_links(text, name):
    return re.sub(r'(href|src|srcset)="([^"]+)"', lambda found: f'{found[1]}="{link(html.unescape(found[2]), name)}"', text)


def body_of_page(name):
    text = markdown.markdown((ROOT / name).read_text(), extensions=["tables", "fenced_code", "sane_lists", "toc"],
                             extension_configs={"toc": {"slugify": slug}})
    text = re.sub(r"<table>.*?</table>", lambda found: f'<div class="table" tabindex="0">{found[0]}</div>', text, flags=re.S)
    return with_links(text.replace("<pre>", '<pre tabindex="0">'), name)


def body_of_manual(path):
    drawn = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", path], check=True, capture_output=True, text=True)
    return f'<div class="manual" tabindex="0">{drawn.stdout}</div>'


def navigation(name, listed):
    lines = []
    for heading, pages in listed:
        lines.append(f"<h2>{heading}</h2>\n<ul>")
        for page, title, _ in pages:
            current = ' aria-current="page"' if page == name else ""
            target = os.path.relpath(place_of(page), os.path.dirname(place_of(name)) or ".")
            lines.append(f'<li><a href="{target}"{current}>{html.escape(title)}</a></li>')
        lines.append("</ul>")
    return "\n".join(lines)


def write(path, title, name, body, listed):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEMPLATE.format(title=html.escape(title), style=STYLE, navigation=navigation(name, listed), body=body))


def main(folder, calls):
    listed = sections(calls)
    shutil.rmtree(folder, ignore_errors=True)
    for _, pages in listed:
        for name, title, source in pages:
            body = body_of_page(name) if source.suffix == ".md" else body_of_manual(source)
            write(folder / place_of(name), title, name, body, listed)
    shutil.copytree(DOCS / "pictures", folder / "pictures")


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
