"""The man pages: well-formed, and with the same options and variables as the programs."""

import re
import subprocess

import job
import pytest
import reports

PAGES = job.ROOT / "docs/man"
NAMES = ["epop", "epopctl", "epopsim", "epoprm", "epop-report"]
BUILT = [pytest.param(name, marks=reports.needed) if name == "epop-report" else name for name in NAMES]
COMMANDS = ["list", "top", "status", "where", "psets", "measure", "loops", "resize", "balance", "pause", "resume", "stop", "checkpoint", "cancel", "note",
            "watch", "break", "step", "continue"]


def page(name):
    return (PAGES / f"{name}.1").read_text()


def options_of_page(name):
    """{long options}, {short ones}: mdoc writes --start as Fl -start."""
    words = re.findall(r"\bFl ([^\n]*)", page(name))
    long = {word for line in words for word in re.findall(r"(?<![\w-])-([a-z][\w-]*)", line)}
    short = {letter for line in words for letter in re.findall(r"^([a-z])\b", line)}
    return long, short


def options_of_help(text):
    return set(re.findall(r"(?<![\w-])--([a-z][\w-]*)", text)), set(re.findall(r"(?<![\w-])-([a-z])\b", text))
RM_COMMANDS = ["start", "submit", "queue", "nodes", "why", "cancel", "hold", "release", "requeue", "change", "drain", "watch", "report", "stop"]


@pytest.mark.parametrize("name", NAMES)
def test_well_formed(name):
    result = subprocess.run(["mandoc", "-Tlint", PAGES / f"{name}.1"], capture_output=True, text=True, timeout=60)
    complaints = [line for line in result.stdout.splitlines() if "referenced manual not found" not in line]
    assert complaints == []


@pytest.mark.parametrize("name", NAMES)
def test_sections(name):
    sections = re.findall(r"^\.Sh (.*)$", page(name), flags=re.M)
    assert sections[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"]
    for section in ("ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
        assert section in sections, section


def test_options_of_epop(space):
    """In --help and in the page: those of the built-in drivers, too."""
    text = space.epop("--help", "--driver", "run,check,profile,debug,trace,tune").out
    long, short = options_of_help(text.replace("mpiexec -n", ""))
    assert long and short == {"q", "v", "h", "n"}
    assert options_of_page("epop") == (long, short | {"n"})


def test_options_of_epopctl(space):
    texts = [space.epopctl(command, "--help").out for command in COMMANDS]
    long, short = options_of_help("\n".join([space.epopctl("--help").out, *texts]))
    page_long, page_short = options_of_page("epopctl")
    assert long and page_long - long == set() and long - page_long == set()
    assert page_short <= short | {"h"}


@reports.needed
def test_options_of_epop_report(space):
    text = space.start([job.BUILD / "bin/epop-report", "--help"]).wait().out
    own = re.sub(r"`epop .*?`", "", text)
    assert own != text and options_of_page("epop-report") == options_of_help(own)


def test_options_of_epopsim(space):
    text = space.start([job.BUILD / "bin/epopsim", "--help"]).wait().out
    assert options_of_page("epopsim") == options_of_help(text)


def help_of_epoprm(space, *words):
    return space.start([job.BUILD / "bin/epoprm", *words, "--help"]).wait().out


def test_options_of_epoprm(space):
    texts = [help_of_epoprm(space, command) for command in RM_COMMANDS]
    long, short = options_of_help("\n".join([help_of_epoprm(space), *texts]).replace("epopsim --list-policies", ""))
    page_long, page_short = options_of_page("epoprm")
    assert long and page_long - {"help"} == long - {"help"} and short == page_short == {"o", "h"}


def test_commands_of_epoprm(space):
    listed = re.findall(r"^  ([a-z]+)  ", help_of_epoprm(space), flags=re.M)
    assert listed == RM_COMMANDS
    assert set(RM_COMMANDS) <= set(re.findall(r"^\.It Cm (\w+)$", page("epoprm"), flags=re.M))


def test_commands_of_epopctl(space):
    listed = re.findall(r"^  ([a-z]+)  ", space.epopctl("--help").out, flags=re.M)
    assert listed == COMMANDS
    assert set(COMMANDS) <= set(re.findall(r"^\.It Cm (\w+)$", page("epopctl"), flags=re.M))


@pytest.mark.parametrize("name", BUILT)
def test_exit_statuses(space, name):
    help_text = space.start([job.BUILD / "bin" / name, "--help"]).wait().out
    said = set(re.findall(r"\b(\d)  ?[a-z]", help_text[help_text.index("Exit status"):]))
    section = re.search(r"\.Sh EXIT STATUS\n(.*?)\n\.Sh", page(name), flags=re.S).group(1)
    assert said and set(re.findall(r"^\.It (\d)$", section, flags=re.M)) == said


def test_variables():
    """Every variable of ours that the sources read stands in a page, and the other way round."""
    read = set()
    for folder in ("driver", "runtime"):
        for path in (job.ROOT / folder).rglob("*.c"):
            read |= set(re.findall(r'getenv\("((?:EPOP|XDG)_\w+)"\)', path.read_text()))
        for path in (job.ROOT / folder).rglob("*.sh"):
            read |= set(re.findall(r"\$\{(EPOP_\w+)", path.read_text()))
    documented = {word for name in ("epop", "epopctl") for line in re.findall(r"^\.It Ev (.*)$", page(name), flags=re.M)
                  for word in re.findall(r"(?:EPOP|XDG)_\w+", line)}
    assert read and read == documented


@pytest.mark.parametrize("name", NAMES)
def test_examples_name_what_there_is(name):
    for words in re.findall(r"^\.Dl (?:\$ )?(.*)$", page(name), flags=re.M):
        for option in re.findall(r"(?<!\S)--([\w-]+)", words):
            assert option in set().union(*(options_of_page(other)[0] for other in NAMES)), words
