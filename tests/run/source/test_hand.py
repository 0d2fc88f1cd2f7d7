"""One hand: what CONTRIBUTING.md says under Style of truth values, typedefs and blank lines."""

import re

import job
import pytest

FOLDERS = ["runtime", "driver", "epopctl", "gateway", "scheduler", "terminal"]

# Comments and literals: what stands in them is no code. Lines are kept, so that a fault has its number.
NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", flags=re.S)


def code(text):
    return NO_CODE.sub(lambda found: "x" + "\n" * found.group().count("\n"), text)


def compared_with_null(text):
    return [found.start() for found in re.finditer(r"[!=]=\s*NULL\b|\bNULL\s*[!=]=", text)]


def end_of_call(text, at):
    """Behind the parenthesis that closes the one at `at`."""
    depth = 0
    for here in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[here], 0)
        if depth == 0:
            return here + 1
    return len(text)


def strings_compared_with_zero(text):
    calls = [(call.start(), end_of_call(text, call.end() - 1)) for call in re.finditer(r"\bstrn?cmp\(", text)]
    return [start for start, end in calls if re.match(r"\s*[!=]=\s*0\b", text[end:])]


def typedefs_of_the_library(text):
    named = r"^typedef\b[^;{]*(?:\{[^}]*\})?[^;]*?\b\w+_t\b\)?(?:\([^;]*\))?(?:\[[^]]*\])?;"
    return [found.start() for found in re.finditer(named, text, flags=re.M)]


def blank_lines_in_functions(text):
    bodies = re.finditer(r"^\{\n.*?^\}", text, flags=re.S | re.M)
    return [body.start() + blank.end() for body in bodies for blank in re.finditer(r"\n(?=[ \t]*\n)", body.group())]


def waits_by_the_wall_clock(text):
    """Which may be set while somebody waits; what takes a clock says which one."""
    return [found.start() for found in re.finditer(r"\b(?:pthread|sem|mtx|cnd)_\w*timed\w*\(|(?:wait|lock|join\w*)\([^;]*\bCLOCK_REALTIME\b", text)]


RULES = [compared_with_null, strings_compared_with_zero, typedefs_of_the_library, blank_lines_in_functions, waits_by_the_wall_clock]

BAD = {
    compared_with_null: ["if (p != NULL)", "return NULL == p;"],
    strings_compared_with_zero: ["if (strcmp(a(b), c) == 0)", "x = strncmp(a, b,\n    2) != 0;"],
    typedefs_of_the_library: [
        "typedef int name_t;",
        "typedef struct a {\n    int b;\n} a_t;",
        "typedef int (*call_t)(int a);",
    ],
    blank_lines_in_functions: ["void f(void)\n{\n    a();\n\n    b();\n}\n"],
    waits_by_the_wall_clock: ["while (!pthread_cond_timedwait(&c, &l, &until))", "sem_timedwait(&s, &until);",
                              "pthread_cond_clockwait(&c, &l,\n    CLOCK_REALTIME, &until);"],
}
GOOD = [
    "if (!p && !strcmp(a, b))\n    p = NULL;",
    "a = strcmp(x, y) < 0;",
    "typedef int (*call_fn)(size_t a);",
    "typedef struct a {\n    size_t b;\n} a;",
    "void f(void)\n{\n    a();\n}\n\nvoid g(void)\n{\n}\n",
    "struct a {\n    int b;\n\n    int c;\n};\n",
    "pthread_cond_clockwait(&c, &l, CLOCK_MONOTONIC, &until);",
    "clock_gettime(CLOCK_REALTIME, &now);",
    'puts("a != NULL"); /* strcmp(a, b) == 0\n\n */',
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_rule_finds_what_it_is_for(rule):
    assert all(rule(code(text)) for text in BAD[rule])
    assert [text for text in GOOD if rule(code(text))] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("folder", FOLDERS)
def test_one_hand(folder, rule):
    wrong, seen = [], 0
    for path in sorted(path for path in (job.ROOT / folder).rglob("*") if path.suffix in (".c", ".h")):
        text = code(path.read_text())
        wrong += [f"{path.relative_to(job.ROOT)}:{text.count(chr(10), 0, at) + 1}" for at in rule(text)]
        seen += 1
    assert seen > 0 and wrong == []


def test_files_for_sock_are_run_there():
    """Those with a test that does not run without processes that join are in the list of tests/all.sh, which looks for them by name."""
    script = (job.ROOT / "tests/all.sh").read_text()
    listed = set(re.sub(r"#.*", "", re.search(r"^on_sock=\((.*?)^\)", script, flags=re.S | re.M).group(1)).split())
    files = list((job.ROOT / "tests/run").rglob("test_*.py"))
    marks = re.compile(r"\bjoining\.(needed|each_)|^from (joining|slurm) import .*\b(needed|each_)", flags=re.M)
    wanted = {path.stem.removeprefix("test_") for path in files if marks.search(path.read_text())}
    assert len(wanted) > 50 and not wanted - listed, wanted - listed
    assert sorted(path.name for path in files) == sorted({path.name for path in files})
