"""docs/reference/api.md: declares what the public headers declare, and nothing else; and names nothing that does not exist."""

import re

import headers
import job
import pages

PAGE = job.ROOT / "docs/reference/api.md"


def of_the_headers():
    found = set()
    for path in headers.PUBLIC:
        found |= headers.declarations(path.read_text()) | headers.macros(path.read_text())
    return found | {"EPOP_API", "EPOP_EXPORT", "EPOP_HOST"}


def of_the_page():
    text = "\n".join(block.text for block in pages.blocks(PAGE) if block.language == "c")
    return headers.declarations(text) | {name for name in re.findall(r"^#define (.*)$", text, flags=re.M)}


def test_declarations_are_those_of_the_headers():
    missing, surplus = of_the_headers() - of_the_page(), of_the_page() - of_the_headers()
    assert not missing and not surplus, f"missing: {sorted(missing)}\nsurplus or different: {sorted(surplus)}"


def test_no_text_is_of_two_functions():
    """Paragraphs that stand behind code, but for those that only point at the one before."""
    texts = [text.strip() for text in re.findall(r"^```c\n.*?^```\n\n(.*?)\n(?:\n|\Z)", PAGE.read_text(), flags=re.M | re.S)]
    told = [text for text in texts if not text.startswith(("The same", "```"))]
    assert len(told) > 60 and {text for text in told if told.count(text) > 1} == set()


DECLARED = re.compile(r"\bEPOP_API\b[^;(]*?\b(\w+)\s*\(")


def test_described_data_names_the_headers():
    """In the heads of its tables."""
    page = (job.ROOT / "docs/reference/data.md").read_text()
    rows = [(header, name) for header, table in
            re.findall(r"^\| what \| function, in `<epop/(\w+\.h)>` \|(.*?)\n\n", page, flags=re.M | re.S)
            for name in re.findall(r"`(epop_describe_\w+)`", table)]
    declared = {(path.name, name) for path in headers.PUBLIC for name in DECLARED.findall(path.read_text())}
    assert len(rows) > 5 and set(rows) <= declared
    assert {name for _, name in rows} == {name for name in headers.functions() if name.startswith("epop_describe_")}


def test_there_are_many():
    assert len(of_the_headers()) > 60


def test_every_name_is_on_the_page():
    words = set(re.findall(r"\w+", PAGE.read_text()))
    assert headers.names() - words == set()


def test_names_that_do_not_exist():
    """In the other pages, too."""
    known = headers.names() | {"epop_api", "epop_add_"} | struct_tags() | info_keys() | fortran_names()
    for page in sorted((job.ROOT / "docs").rglob("*.md")) + [job.ROOT / "README.md"]:
        words = set(re.findall(r"(?<![\w.])(epop_(?!_)\w+)(?![\w./])", page.read_text()))
        assert {word for word in words if word not in known} == set(), page.name


def info_keys():
    """Of an MPI_Info: they stand in the comment on the function that gives it."""
    return set(re.findall(r"epop_\w+", (job.ROOT / "epop_api/epop/mpi_adapt.h").read_text()))


def fortran_names():
    """Of the modules, and what they declare."""
    return {name for path in (job.ROOT / "epop_api/fortran").iterdir() for name in re.findall(r"epop_\w+", path.read_text())}


def struct_tags():
    return {tag for path in headers.PUBLIC for tag in re.findall(r"(?:struct|enum) (\w+) (?:{|\w+;)", path.read_text())}


def test_public_functions_are_commented():
    """Each stands behind a comment, alone or in a group."""
    for path in headers.PUBLIC:
        for match in re.finditer(r"\n\n((?:EPOP_API|EPOP_EXPORT|EPOP_HOST)\b[^\n]*)", path.read_text()):
            raise AssertionError(f"{path.name}: no comment: {match.group(1)}")
