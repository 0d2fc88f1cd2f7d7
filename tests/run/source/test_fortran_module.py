"""The modules for Fortran have what the public headers have, and the module epop passes arguments as C does."""

import functools
import re

import headers
import job
import pytest

MODULES = job.ROOT / "epop_api/fortran"
MODULE = (MODULES / "epop.f90").read_text()

# Why Fortran does without them.
WITHOUT = {
    "epop_mpi_script": "for interpreters",
    "epop_program_replace_abi": "for a macro",
    "epop_redist_map_print": "prints to a FILE of C, and a loop with print does the same",
    "MPI_Session_dyn_v2a_psetop_nb": "nobody could fill in the caller's array of names later",
    "MPI_Session_dyn_v2a_query_psetop_nb": "the same",
    "MPIX_Session_reinit": "re-initialization is in C alone",
    "MPIX_Spawn_async": "the same",
    "MPIX_Spawn_status": "the same",
    "epop_tunable_at": "for drivers, which are in C",
    "epop_tunable_set": "for drivers, which are in C",
}

TYPES = {"int": "integer(c_int)", "unsigned": "integer(c_int)", "MPI_Datatype": "integer(c_int)", "MPI_Comm": "integer(c_int)",
         "epop_element_type": "integer(c_int)", "epop_scaling": "integer(c_int)", "epop_status_t": "integer(c_int)", "int64_t": "integer(c_int64_t)",
         "size_t": "integer(c_size_t)", "double": "real(c_double)"}


def in_modules():
    text = "\n".join(path.read_text() for path in MODULES.iterdir())
    return {name.lower() for name in re.findall(r"\b(?:subroutine|function) (\w+)", text)}


def named_as_mpi():
    """The elastic MPI calls, those of process sets, and re-initialization."""
    return {name for path in headers.PUBLIC for name in re.findall(r"^int (MPIX?_\w+)\(", path.read_text(), flags=re.M)}


def test_every_public_function_is_there():
    assert len(named_as_mpi()) > 15
    missing = {name for name in headers.functions() | named_as_mpi() if name.lower() not in in_modules()}
    assert missing == set(WITHOUT)


# ---- How arguments are passed: a procedure, by reference, or the type of a value ----


def split(text):
    """At the commas outside of parentheses."""
    return [part for part in re.split(r",(?![^(]*\))", text) if part and part != "void"]


@functools.cache
def in_c():
    """{name: [result, a parameter, ...]}"""
    found = {}
    for declaration in (one for path in headers.PUBLIC for one in headers.declarations(path.read_text())):
        match = re.fullmatch(r"(?:const )?(\w+)( |\*)(epop_\w+)\((.*)\)", declaration)
        if match and match.group(3) in headers.functions():
            result = "type(c_ptr)" if match.group(2) == "*" else passed_in_c(match.group(1))
            found[match.group(3)] = [result, *[passed_in_c(text) for text in split(match.group(4))]]
    return found


def passed_in_c(text):
    if "(*" in text or text.startswith("epop_owner_t"):
        return "procedure"
    if "*" in text or "[" in text:
        return "reference"
    name = text.split()[0]
    return TYPES.get(name, "void" if name == "void" else f"type({name})")


@functools.cache
def in_fortran():
    """The same of the interfaces that have C's names."""
    pattern = r"^ +(?:(\S+) function|subroutine) (epop_\w+)\(([^)]*)\) bind\(C\)\n(.*?)^ +end (?:function|subroutine)"
    found = {}
    for result, name, arguments, body in re.findall(pattern, MODULE.split("! ---- Program.")[1], flags=re.M | re.S):
        kinds = {}
        for attributes, names in re.findall(r"^ +(\S.*?) :: ([^:!\n]*)", body.replace("import ::", ""), flags=re.M):
            kinds |= {re.sub(r"\(.*", "", one.strip()): passed_in_fortran(attributes) for one in split(names)}
        found[name] = [result or "void", *[kinds[one.strip()] for one in split(arguments)]]
    return found


def passed_in_fortran(attributes):
    kind, *others = [one.strip() for one in split(attributes)]
    if kind.startswith("procedure"):
        return "procedure"
    return kind if "value" in others and kind != "type(c_ptr)" else "reference"


def test_the_readers_find_everything():
    """But what other modules have by reference, as MPI's Fortran functions are."""
    assert set(in_c()) == headers.functions()
    assert set(in_fortran()) == headers.functions() - set(WITHOUT) - {
        f"epop_mpi_{name}" for name in ("first_probe", "leave", "probe_fault", "progress", "sizes")}


@pytest.mark.parametrize("name", sorted(in_fortran()))
def test_arguments_are_passed_as_in_c(name):
    assert in_fortran()[name] == in_c()[name]


def test_constants_are_those_of_c():
    text = "\n".join(headers.without_comments(path.read_text()) for path in headers.PUBLIC)
    of_c = {name: int(value.strip("u")) for name, value in re.findall(r"\b(EPOP_\w+)(?: =| +) ?(\d+u?)\b", text)}
    lines = re.findall(r"parameter :: (.*)", re.sub(r"&\n", "", MODULE))
    declared = {name: int(value) for line in lines for name, value in re.findall(r"(EPOP_\w+) = (-?\d+)", line)}
    assert len(declared) == 31 and declared.pop("EPOP_END") == -0x454e44
    assert declared == {name: of_c.get(name) for name in declared}
