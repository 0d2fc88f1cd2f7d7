"""What the MPI in use declares and exports: the prototypes of its profiling interface, read off its own headers."""

import collections
import os
import re
import shlex
import subprocess
import tempfile

# name: without the P; parameters: (text of the declaration, name, type without the name)
Function = collections.namedtuple("Function", "result name parameters")
Parameter = collections.namedtuple("Parameter", "text name type")

QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "unsigned", "signed", "struct", "enum", "union"}
BUILT_IN = {"void", "char", "short", "int", "long", "float", "double", "_Bool"}


class NotUnderstood(Exception):
    """The header holds something that this reader does not know."""


def run(command, text):
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "LC_ALL": "C"})


def preprocess(compiler):
    """(the text of mpi.h with everything that it includes, the paths of these files)"""
    done = run([*compiler, "-E", "-x", "c", "-"], "#include <mpi.h>\n")
    if done.returncode:
        raise NotUnderstood(f"{shlex.join(compiler)} cannot preprocess mpi.h: {done.stderr.strip()}")
    files = sorted(set(re.findall(r'^# \d+ "(/[^"]+)"', done.stdout, flags=re.M)))
    return re.sub(r"^#.*$", "", done.stdout, flags=re.M), files


def without_attributes(text):
    """Drops every __attribute__((...)), whatever parentheses are in it."""
    kept, place = [], 0
    for match in re.finditer(r"__attribute__\s*", text):
        if match.start() < place:
            continue
        kept.append(text[place:match.start()])
        depth, place = 0, match.end()
        while place == match.end() or depth:
            depth += {"(": 1, ")": -1}.get(text[place], 0)
            place += 1
    return "".join(kept) + text[place:]


def split_parameters(text):
    """At the commas outside of parentheses."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in [*parts, text[start:]]]


def parse_parameter(text, number):
    """A declaration as mpi.h has them; one without a name gets one."""
    match = re.fullmatch(r"([\w\s*]*?)(\w+)?\s*((?:\[\w*\]\s*)*)", text)
    if not match:
        raise NotUnderstood(f"the parameter '{text}'")
    before, name, brackets = match.group(1).strip(), match.group(2), match.group(3).replace(" ", "")
    has_type = "*" in before or any(word not in QUALIFIERS for word in before.split())
    if name is None or name in QUALIFIERS | BUILT_IN or not has_type:
        before, name = f"{before} {name or ''}".strip(), f"argument{number}"
    space = "" if before.endswith("*") else " "
    return Parameter(f"{before}{space}{name}{brackets}", name, f"{before}{brackets}")


def parse_function(result, name, parameters):
    texts = split_parameters(" ".join(parameters.split()))
    if texts == ["void"] or texts == [""]:
        texts = []
    parsed = [Parameter("...", "...", "...") if text == "..." else parse_parameter(text, number)
              for number, text in enumerate(texts)]
    return Function(result, name, parsed)


def parse(text):
    """Every function PMPI_... or PMPIX_... that a preprocessed text declares, once, in its order."""
    functions = {}
    text = re.sub(r"\bextern\b", " ", without_attributes(text))
    pattern = r"(?:^|[;}])\s*([A-Za-z_][\w\s*]*?)\bP(MPIX?_\w+)\s*\(([^;{]*)\)\s*(?=;)"
    for result, name, parameters in re.findall(pattern, text):
        functions.setdefault(name, parse_function(" ".join(result.split()), name, parameters))
    return list(functions.values())


def missing_in_library(compiler, functions):
    """Those of the header that the library which the compiler links with does not define (Fortran's converters)."""
    source = "".join(f"int P{f.name}(void);\n" for f in functions)
    source += "void (*const all[])(void) = {" + ", ".join(f"(void (*)(void))P{f.name}" for f in functions) + "};\n"
    source += "int main(void) { return all[0] == 0; }\n"
    with tempfile.TemporaryDirectory() as directory:
        done = run([*compiler, "-w", "-x", "c", "-", "-o", directory + "/all"], source)
    missing = set(re.findall(r"undefined (?:reference to|symbol:?) [`'\"]?P(MPIX?_\w+)", done.stderr))
    if done.returncode and not missing:
        raise NotUnderstood(f"{shlex.join(compiler)} cannot link with the MPI library: {done.stderr.strip()[:500]}")
    return missing
