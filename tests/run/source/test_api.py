"""docs/reference/api.md and the man pages of section 3: what docs/api.py writes from the public headers, whole and well-formed;
and no page names what does not exist."""

import re
import subprocess
import sys

import api
import headers
import job
import pages
import pytest

PAGE = job.ROOT / "docs/reference/api.md"
MAN = api.man_pages()
MAN_PAGES = [name for name in MAN if name.endswith("_h.3")]


def of_the_headers():
    found = set()
    for path in headers.PUBLIC:
        found |= headers.declarations(path.read_text()) | headers.macros(path.read_text())
    return found | {"EPOP_API", "EPOP_EXPORT", "EPOP_HOST"}


def of_the_page():
    text = "\n".join(block.text for block in pages.blocks(PAGE) if block.language == "c")
    attributes = set(re.findall(r"^#define (EPOP_(?:API|EXPORT|HOST))\b", text, flags=re.M))
    return headers.declarations(text) | headers.macros(text) | attributes


def functions_in(declarations):
    """Their names: no types and macros."""
    return {re.match(r"[^(]*?(\w+)\(", declaration).group(1) for declaration in declarations
            if re.match(r"(?!typedef)\w+[ *][^(]*\(", declaration)}


def functions():
    """All that the headers declare, whatever marks them."""
    return functions_in(of_the_headers())


def test_the_page_is_what_the_script_writes():
    """/usr/bin/python3 docs/api.py writes it anew."""
    assert PAGE.read_text() == api.page()


def test_declarations_are_those_of_the_headers():
    """Read in another way than the script does."""
    missing, surplus = of_the_headers() - of_the_page(), of_the_page() - of_the_headers()
    assert not missing and not surplus, f"missing: {sorted(missing)}\nsurplus or different: {sorted(surplus)}"


def texts():
    """[(functions of a block, what is said of them)]."""
    for block, text in re.findall(r"^```c\n(.*?)^```\n(.*?)(?=^#|\Z)", PAGE.read_text(), flags=re.M | re.S):
        yield functions_in(headers.declarations(block)), text.strip()


def test_every_function_says_who_calls_it():
    said = {name for names, text in texts() for name in names if re.search(r"\b(?:Local|Collective)\b", text)}
    assert len(functions()) > 100 and functions() - said == set()


def test_no_text_is_of_two_functions():
    """What is said of one is not said again of another."""
    told = [text for names, text in texts() if names]
    assert len(told) > 60 and {text for text in told if told.count(text) > 1} == set()


def test_every_function_can_be_linked_to():
    text = PAGE.read_text()
    anchors = set(re.findall(r'^(?:#### |<a id=")(\w+)', text, flags=re.M))
    assert functions() - anchors == set()


def test_every_header_is_in_the_table():
    rows = dict(re.findall(r"^\| `<epop/(\w+)\.h>` \| .{20,} \| (yes|no) \|$", PAGE.read_text(), flags=re.M))
    assert set(rows) == {path.stem for path in headers.PUBLIC}
    assert {name for name, mpi in rows.items() if mpi == "no"} == {"program", "driver", "policy", "tune", "visibility"}


# ---- Man pages ----

@pytest.mark.parametrize("name", MAN_PAGES)
def test_man_pages_are_well_formed(name):
    result = subprocess.run(["mandoc", "-Tlint"], input=MAN[name], capture_output=True, text=True, timeout=60)
    complaints = [line for line in result.stdout.splitlines() if "referenced manual not found" not in line]
    assert complaints == []


def test_every_header_and_function_has_a_man_page():
    assert set(MAN_PAGES) == {"epop_h.3"} | {f"epop_{path.stem}_h.3" for path in headers.PUBLIC if path.stem != "epop"}
    for name in functions():
        page = re.fullmatch(r"\.so man3/(\w+_h\.3)\n", MAN[f"{name}.3"]).group(1)
        assert re.search(rf"^\.Nm {name}\b", MAN[page], flags=re.M) and re.search(rf"^\.Fo {name}$", MAN[page], flags=re.M)
    assert len(MAN) == len(MAN_PAGES) + len(functions())


def test_the_script_writes_man_pages(tmp_path):
    subprocess.run([sys.executable, "-B", job.ROOT / "docs/api.py", tmp_path / "man3"], check=True, timeout=60)
    assert {path.name: path.read_text() for path in (tmp_path / "man3").iterdir()} == MAN


# ---- Names in other pages ----

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
