"""Completion in bash, zsh and fish, in an installed tree: what the programs take, and nothing else."""

import re
import subprocess

import job
import pytest
import reports
import shells


@pytest.fixture(params=["bash", "zsh", "fish"])
def shell(request, space, tree):
    (space.directory / "data").mkdir()
    (space.directory / "pi.so").touch()
    return shells.Shell(space, request.param, tree)


def long_options(*command):
    """Of the lines of --help that begin with one."""
    text = subprocess.run([job.BUILD / "bin" / command[0], *command[1:], "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    return set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", text, flags=re.M))


@pytest.mark.parametrize("command", ["epop", "epopsim", pytest.param("epop-report", marks=reports.needed), "epopctl resize", "epopctl break", "epoprm start", "epoprm submit"])
def test_all_options(shell, command):
    expected = long_options(*command.split()) | {"--help"}
    assert len(expected) > 3 and shell.completes(f"{command} --") == expected


@pytest.mark.parametrize("program", ["epopctl", "epoprm"])
def test_all_commands(shell, program):
    text = subprocess.run([job.BUILD / "bin" / program, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    assert shell.completes(f"{program} ") == set(re.findall(r"^  ([a-z]+)  ", text, flags=re.M))


@pytest.mark.parametrize("line, expected", [
    ("epop --backend ", "auto join pool spawn"),
    ("epop --backend=jo", "join"),
    ("epop --start 2 --leave p", "park"),
    ("epop --driver ", "run check profile debug trace tune"),
    ("epop --driver profile,tr", "trace"),
    ("epop --driver debug,trace --trace-l", "--trace-limit"),
    ("epop --driver=check --for", "--format"),
    ("epop --driver check --trace-l", ""),
    ("epop --start ", ""),
    ("epop p", "pi.so"),
    ("epop --checkpoint-dir ", "data"),
    ("epop --recover 3 --hosts n1:4,n2:4 --no-p", "--no-pmix"),
    ("epop pi.so --back", ""),
    ("epop pi.so d", "data"),
    ("epopctl re", "resize resume"),
    ("epopctl resize --wait=", "vacated"),
    ("epopctl list --onc", ""),
    ("epopctl top --onc", "--once"),
    ("epopsim --policy easy,g", "gain"),
    ("epopsim p", "pi.so"),
    ("epoprm report --format ", "html json"),
    ("epoprm start --policy ", "average dmr easy ers gain keeppref min pref"),
    ("epoprm submit --ran", "--ranks"),
    ("epoprm submit pi.so --ran", ""),
    ("epoprm submit --ranks 2 p", "pi.so"),
    pytest.param("epop-report -o ", "data pi.so", marks=reports.needed),
    pytest.param("epop-report --format html --chart ga", "gantt", marks=reports.needed),
])
def test_a_line(shell, line, expected):
    assert shell.completes(line) - {"asked"} == set(expected.split())


def test_names_of_running_jobs(shell, fake):
    assert shell.completes("epopctl status ") == {fake.name}
    assert shell.completes("epopctl resize fa") == {fake.name}
    fake.end()
    assert shell.completes("epopctl status ") == set()


def test_nodes_of_a_daemon(shell, space, tree):
    env = {"EPOPRM_DIR": space.runtime + "/epoprm"}
    start = space.start([tree / "bin/epoprm", "start", "--local", "2"], env=env).wait()
    assert start.status == 0, start
    nodes = space.start([tree / "bin/epoprm", "nodes"], env=env).wait().out.splitlines()[1:]
    found = shell.completes("epoprm drain ", env)
    assert space.start([tree / "bin/epoprm", "stop"], env=env).wait().status == 0
    assert len(nodes) == 2 and found == {row.split()[0] for row in nodes}
