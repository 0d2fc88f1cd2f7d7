"""The documentation: its code compiles and runs, its commands give what it says, its links lead somewhere."""

import re
import shutil
import subprocess

import job
import pages
import pytest
import reports

ALL = [job.ROOT / "README.md", job.ROOT / "CONTRIBUTING.md", *sorted((job.ROOT / "docs").rglob("*.md"))]
EXECUTED = ["README.md", "docs/guide/start.md", "docs/guide/data.md", "docs/guide/fortran.md", "docs/guide/cxx.md", "docs/guide/libraries.md",
            "docs/guide/running.md", "docs/guide/measuring.md", "docs/reference/debug.md", "docs/reference/drivers.md", "docs/reference/elastic_mpi.md",
            "docs/reference/policies.md", "docs/reference/synthetic.md", "docs/reference/tune.md"]


@pytest.mark.parametrize("page", EXECUTED)
def test_page_does_what_it_says(space, tree, page):
    text = "".join(block.text for block in pages.blocks(job.ROOT / page))
    if not reports.REPORT.exists() and re.search(r"^(epop-report|epoprm report) ", text, flags=re.M):
        pytest.skip("built without epop-report")
    pages.Runner(space, tree).run(job.ROOT / page)


def test_the_parts_on_redistribution_compile(space, tree):
    """All C on the page, as one file."""
    page = job.ROOT / "docs/reference/data.md"
    code = "".join(block.text for block in pages.blocks(page) if block.language == "c")
    assert code.count("epop_redist") > 5
    pages.Runner(space, tree).do(pages.Block(page, 1, "compiles", "c", code))


def test_the_tutorial_does_what_it_says(space, tree):
    """The elastic program is programs/heat.c, and computes what the plain one does: after resizes, at whatever step it was stopped."""
    runner = pages.Runner(space, tree)
    runner.run(job.ROOT / "docs/guide/tutorial.md")
    assert (space.directory / "heat.c").read_text() == (job.ROOT / "programs/heat.c").read_text()
    heat, steps = re.findall(r"heat ([\d.]+) after (\d+) steps", runner.transcript)[-1]
    plain = runner.shell(["mpiexec.mpich", "-n", "1", "./heat_mpi", "1000", steps])
    assert abs(float(re.search(r"heat ([\d.]+) ", plain.out).group(1)) - float(heat)) < 2e-6, plain


def test_the_page_on_executables_does_what_it_says(space, tree):
    """What it shows of cg_adapt.c is compared in test_cg.py."""
    pages.Runner(space, tree).run(job.ROOT / "docs/guide/executables.md")


def test_the_page_on_sessions_does_what_it_says(space, tree):
    """With its first program."""
    shutil.copy(job.ROOT / "programs/plain/sessions.c", space.directory)
    pages.Runner(space, tree).run(job.ROOT / "docs/guide/sessions.md")


def test_the_guide_to_checkpoints_does_what_it_says(space, tree):
    """The second job goes on from the file that the first one has saved."""
    runner = pages.Runner(space, tree)
    runner.run(job.ROOT / "docs/guide/checkpoint.md")
    saved, = re.findall(r"^/\S+/saved/(five-\d+-0001\.h5)\t", runner.transcript, flags=re.M)
    assert re.search(rf"^restarted\s+1, saved/{saved}, at steps, iteration \d+$", runner.transcript, flags=re.M), runner.transcript


def test_a_wrong_output_would_be_found():
    block = pages.Block(job.ROOT / "README.md", 1, "run", "text", "heat 1.5 after 12345 steps\n")
    pages.expect(block, "x\nheat  1.5 after 77 steps\n")
    for wrong in ("heat 1.6 after 77 steps", "heat 1.5 after some steps", ""):
        with pytest.raises(AssertionError):
            pages.expect(block, wrong)


def anchors(page):
    """The fragments that GitHub makes of a page's headings, and those that the page names."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
    named = set(re.findall(r'^<a id="([\w-]+)"></a>$', text, flags=re.M))
    return named | {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page):
    """Targets of the page that are not there."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", text):
        path, _, anchor = (target[0] or target[1]).partition("#")
        if path.startswith(("http:", "https:")):
            continue
        file = (page.parent / path) if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield f"{page.name}: {path}#{anchor}"


@pytest.mark.parametrize("page", ALL, ids=lambda path: path.stem)
def test_links_lead_somewhere(page):
    assert list(dead_links(page)) == []


def test_links_of_the_installed_pages(tree):
    """But for those to sources of EPOP itself."""
    pages_there = [tree / "share/doc/epop" / page.relative_to(job.ROOT) for page in ALL]
    assert [link for page in pages_there for link in dead_links(page) if not re.search(r": (\.\./)+(tests|scheduler)/", link)] == []


def test_every_page_can_be_found():
    """From the README, directly or by way of the others."""
    seen, open_pages = set(), [job.ROOT / "README.md"]
    while open_pages:
        page = open_pages.pop()
        seen.add(page)
        for path in re.findall(r"\]\(([^)#]+)", page.read_text()):
            file = (page.parent / path).resolve()
            if file.suffix == ".md" and file.exists() and file not in seen:
                open_pages.append(file)
    assert set(ALL) - seen == set()


def test_the_readme_shows_the_tree():
    """Every folder at the top."""
    tree = re.search(r"```text\n(epop_api/.*?)```", (job.ROOT / "README.md").read_text(), flags=re.S).group(1)
    listing = subprocess.run(["git", "-c", f"safe.directory={job.ROOT}", "ls-files"], cwd=job.ROOT, capture_output=True, text=True,
                             check=False)
    if listing.returncode != 0:
        pytest.skip(f"this is no checkout: {listing.stderr}")
    files = listing.stdout.split()
    folders = {name.split("/")[0] + "/" for name in files if "/" in name and not name.startswith(".")}
    assert folders == set(re.findall(r"(?:^|  )([a-z_]+/)", tree, flags=re.M))


def texts_of_the_sources():
    """The string literals of what prints messages, adjacent ones joined, with ... for what is filled in."""
    found = []
    for folder in ("driver", "epopctl", "runtime", "epop_api", "interpose", "scheduler"):
        for path in (job.ROOT / folder).rglob("*.c"):
            found += re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', path.read_text())
    joined = [re.sub(r'"\s*"', "", text)[1:-1] for text in found]
    return [re.sub(r"%[-+0-9.*]*(?:ll|l|z)?[a-zA-Z]", "...", text) for text in joined]


def parts_of(text):
    """What stands between the fillings, without the marks beside them."""
    return [part for part in (part.strip(" :;,'") for part in text.split("...")) if len(part) > 4]


def is_printed(message, sources):
    """A literal of the sources has all parts of the message, or the message has all parts of a literal."""
    parts = parts_of(message)
    return any(all(part in source for part in parts) for source in sources) or \
        any(len("".join(parts_of(source))) > 9 and all(part in message for part in parts_of(source)) for source in sources)


def test_messages_are_those_of_the_sources():
    """What the tables of messages.md quote is printed somewhere."""
    sources = texts_of_the_sources()
    quoted = re.findall(r"^\| `([^`]+)`", (job.ROOT / "docs/reference/messages.md").read_text(), flags=re.M)
    assert len(quoted) > 30
    assert [text for text in quoted if not is_printed(text, sources)] == []
    assert not is_printed("the ... has no feathers; buy some", sources)


FILES = r"`((?:runtime|driver|scheduler|epopctl|interpose|epop_api|tests|mpich|report|schema|programs|examples|demo)/[\w./-]+\.\w+)`"


def test_files_that_are_named_are_there():
    """In the pages for those who read the source; NAME stands for one of the reader's."""
    named = {name for page in [*(job.ROOT / "docs").rglob("*.md"), job.ROOT / "CONTRIBUTING.md", job.ROOT / "README.md"]
             for name in re.findall(FILES, page.read_text())}
    assert len(named) > 30
    assert [name for name in sorted(named) if "NAME" not in name and not (job.ROOT / name).exists()] == []


PATH = r"(?<![\w./-])((?:runtime|driver|scheduler|epopctl|interpose|epop_api|tests|report|programs|examples)/[\w./-]*\w\.(?:c|h|py|sh))\b"


def is_there(name):
    """Also as a file that the build makes."""
    return "NAME" in name or (job.ROOT / name).exists() or (job.BUILD / name).exists()


def paths_of_comments(path):
    text = path.read_text()
    comments = re.findall(r"/\*.*?\*/", text, flags=re.S) if path.suffix in (".c", ".h") else [text]
    return {name for comment in comments for name in re.findall(PATH, comment)}


def test_files_that_comments_name_are_there():
    """By their whole path, in the comments of C, and anywhere in scripts and tests; without the quotes of a page, too."""
    folders = ["runtime", "driver", "scheduler", "epopctl", "interpose", "epop_api", "programs", "examples", "tests"]
    sources = [path for folder in folders for path in (job.ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".py", ".sh")]
    pages_too = [path for path in ALL if path.is_file()]
    named = {(path.relative_to(job.ROOT), name) for path in [*sources, *pages_too] for name in paths_of_comments(path)}
    assert len(named) > 100
    assert sorted(f"{path}: {name}" for path, name in named if not is_there(name)) == []
    assert not is_there("runtime/base/" + "feathers.h")
