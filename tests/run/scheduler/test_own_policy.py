"""Policies of one's own: those that the documentation shows, and programs that answer questions, well and badly."""

import json
import os

import job
import pages
import pytest
import ruling
from schemas import validate

EPOPSIM = job.BUILD / "bin/epopsim"
IN_C, IN_PYTHON = job.BUILD / "policies/shortest.so", job.ROOT / "programs/policies/shortest.py"


def epopsim(space, *arguments, **how):
    return space.start([EPOPSIM, "-q", *arguments], **how).wait()


def trace(space):
    """Two jobs of 4 nodes, for 100 s each, on 4 nodes."""
    path = space.directory / "trace.swf"
    path.write_text("; MaxProcs: 4\n" + "".join(f"{number} 0 -1 100 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1\n" for number in (1, 2)))
    return path


def policy(space, text, name="own.py"):
    """An executable script of that text."""
    path = space.directory / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def in_python(space, body, head="def decide(state, plan):", tail="epop_policy.run(decide)"):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return policy(space, f'#!/usr/bin/python3\n"""Of a test.\n\nMore."""\nimport epop_policy\n{head}\n{lines}{tail}\n')


def answering(space, *answers):
    """A program that says these lines, whatever it is asked."""
    return policy(space, "#!/bin/sh\n" + "".join(f"read -r question; echo '{answer}'\n" for answer in answers) + "read -r question\n", name="own.sh")


@pytest.mark.parametrize("path, language", [(job.ROOT / "programs/policies/shortest.c", "c"), (IN_PYTHON, "python")], ids=["C", "Python"])
def test_the_page_shows_the_file(path, language):
    shown = [block.text for block in pages.blocks(job.ROOT / "docs/reference/policies.md") if block.language == language]
    assert path.read_text() in shown


# ---- It is as good as one in C ----

@pytest.mark.parametrize("malleable", ["0", "0.5", "1"])
def test_the_one_in_python_decides_as_the_one_in_c(space, malleable):
    drawn = space.directory / "drawn.swf"
    drawn.write_text(space.start([EPOPSIM, "generate", "--nodes", "64", "--jobs", "200", "--load", "0.9"]).wait().out)
    runs = []
    for path in (IN_C, IN_PYTHON):
        result = epopsim(space, "--malleable", malleable, "--policy", path, "-o", "out.json", drawn)
        assert result.status == 0 and result.err == "", result
        runs.append(json.loads((space.directory / "out.json").read_text())["runs"][0])
    assert len(runs[0]["decisions"]) >= 200 and runs[0]["decisions"] == runs[1]["decisions"]


def test_what_it_is_asked_and_answers_is_by_the_schema(space):
    """By a program between the two that writes it down."""
    inner = in_python(space, "if state.waiting and state.waiting[0].wanted <= plan.idle:\n"
                             "    plan.start(state.waiting[0], state.waiting[0].wanted, 'it fits')\n"
                             "    assert state.easy_uses and state.waiting[0].easy_start >= 0 and least == 3 and not fast\n"
                             "elif state.waiting:\n"
                             "    plan.reserve(state.waiting[0], 4, state.now + 100, 'later')\n"
                             "    plan.wake(state.now + 7)\n    plan.wake(state.now + 70)",
                      head="def decide(state, plan, *, least=1, fast=True):", tail="epop_policy.run(decide, help={'least': 'nodes'}, follows_easy=True)")
    outer = policy(space, f"#!/bin/sh\ntee -a asked | {inner} | tee -a answered\n", name="between.sh")
    result = epopsim(space, "--malleable", "1", "--policy", f"{outer},least=3,fast=no", "-o", "out.json", trace(space))
    assert result.status == 0 and result.err == "", result
    asked, answered = ([json.loads(line) for line in (space.directory / name).read_text().splitlines()] for name in ("asked", "answered"))
    for line in asked:
        validate("policy", line, "question")
    for line in answered:
        validate("policy", line, "answer")
    assert [line["op"] for line in asked[:4]] == ["open", "option", "option", "decide"] and len(asked) == len(answered) > 5
    assert answered[0] == {"version": 3, "name": "own", "summary": "Of a test.", "follows_easy": True, "options": [
        {"name": "least", "value": "1", "help": "nodes"}, {"name": "fast", "value": "True", "help": ""}]}
    assert answered[3]["plan"][0] == {"do": "start", "job": 1, "nodes": 4, "reason": "it fits"}
    later = [answer["wake"] - question["state"]["now"] for question, answer in zip(asked, answered) if "wake" in answer]
    assert later and set(later) == {7}, answered


def test_it_sees_accounts_and_deadlines(space):
    inner = in_python(space, "for job in state.waiting:\n"
                             "    if job.wanted <= plan.idle:\n"
                             "        due = getattr(job, 'deadline', 0)\n"
                             "        plan.start(job, job.wanted, f'{job.account} {job.usage:.1f} {due:.0f}')")
    outer = policy(space, f"#!/bin/sh\ntee -a asked | {inner}\n", name="between.sh")
    phases = [{"name": "all", "iterations": 10, "seconds": 40}]
    jobs = [{"nodes": 4, "phases": phases, **more} for more in ({"account": "a"}, {"account": "a", "submit": 1}, {"user": 7, "submit": 2, "deadline": 300})]
    path = space.directory / "jobs.json"
    path.write_text(json.dumps({"schema": "epop.workload", "version": 1, "machine": {"nodes": 4}, "jobs": jobs}))
    result = epopsim(space, "--policy", outer, "--shares", "a=1,7=3", "-o", "out.json", path)
    assert result.status == 0 and result.err == "", result
    [run] = json.loads((space.directory / "out.json").read_text())["runs"]
    assert [each["reason"] for each in run["decisions"]] == ["a 0.0 0", "7 0.0 302", "a 2.0 0"]
    for line in (space.directory / "asked").read_text().splitlines():
        validate("policy", json.loads(line), "question")


def test_a_run_of_it_can_be_replayed(space):
    words = ["--malleable", "0.5", trace(space)]
    assert epopsim(space, "--policy", IN_PYTHON, "-o", "out.json", *words).status == 0
    result = epopsim(space, "--policy", IN_PYTHON, "--replay", "out.json", *words)
    assert result.status == 0, result


def test_what_it_prints_is_no_answer(space):
    result = epopsim(space, "--policy", in_python(space, "print('now', state.now)\nfor job in state.waiting[:plan.idle // 4]: plan.start(job, 4, '')"),
                     trace(space))
    assert result.status == 0 and "now 0" in result.err and "now" not in result.out, result


def test_two_at_once(space):
    result = epopsim(space, "--policy", f"{IN_PYTHON},{IN_PYTHON},easy", "--tsv", trace(space))
    assert result.status == 0 and len(result.out.splitlines()) == 4, result


# ---- It does not begin ----

def refused(result, words, status=2):
    assert result.status == status, result
    assert words in result.err and result.err.splitlines()[-1].startswith("epopsim: policy "), result


def test_a_file_that_is_none(space):
    refused(epopsim(space, "--policy", "./none.py", trace(space)), "policy ./none.py: No such file or directory")


def test_a_file_that_cannot_be_executed(space):
    (space.directory / "own.py").write_text("#!/usr/bin/python3\n")
    refused(epopsim(space, "--policy", "./own.py", trace(space)), "policy ./own.py: Permission denied; a program is executable (chmod +x)")


def test_a_script_of_no_language(space):
    refused(epopsim(space, "--policy", policy(space, "import epop_policy\n"), trace(space)), "Exec format error; a script begins with a line as #!")


def test_one_that_ends_at_once(space):
    refused(epopsim(space, "--policy", policy(space, "#!/bin/sh\nexit 3\n"), trace(space)),
            "own.py: its program ended with status 3, when it was asked what it is")


def test_one_that_is_killed(space):
    refused(epopsim(space, "--policy", policy(space, "#!/bin/sh\nkill -9 $$\n"), trace(space)), "own.py: its program was ended by signal 9")


@pytest.mark.parametrize("answer, words", [("hello", "its answer is no object of JSON: hello"), ("[]", "its answer is no object of JSON: []"),
                                           ("", "its answer is no object of JSON"), ("{}", "it has version 0 of the policy interface"),
                                           ('{"version": 3}', "its table has no name")])
def test_one_that_is_no_policy(space, answer, words):
    refused(epopsim(space, "--policy", answering(space, answer), trace(space)), words)


def test_options_that_it_does_not_take(space):
    own = in_python(space, "pass", head="def decide(state, plan, *, least=1, fast=True, factor=1.5):", tail="epop_policy.run(decide, help={'least': 'nodes'})")
    refused(epopsim(space, "--policy", f"{own},most=1", trace(space)), "it has no option most; it has least, fast, factor")
    refused(epopsim(space, "--policy", f"{own},least=few", trace(space)), "it refuses least=few (nodes; default 1)")
    refused(epopsim(space, "--policy", f"{own},fast=2", trace(space)), "it refuses fast=2")


def test_a_package_of_another_release(space):
    own = policy(space, "#!/usr/bin/python3\nimport epop_policy\nepop_policy.VERSION = 1\nepop_policy.run(lambda state, plan: None)\n")
    result = epopsim(space, "--policy", own, trace(space))
    refused(result, "its program ended with status 1")
    assert "use the package of the same release" in result.err


# ---- It decides badly ----

OPENED = '{"version": 3, "name": "own"}'


@pytest.mark.parametrize("answer, words", [
    ("nonsense", "its answer is no object of JSON: nonsense"),
    ("{}", 'its answer has no list "plan"'),
    ('{"plan": [{"do": "kill", "job": 1}]}', 'plan[0] of its answer: "do" is start, resize, move or reserve, not "kill"'),
    ('{"plan": [7]}', 'plan[0] of its answer: "do" is start, resize, move or reserve, not ""'),
    ('{"plan": [{"do": "start", "job": 1, "nodes": 4}]}', "start job 1: no reason is given"),
    ('{"plan": [{"do": "start", "job": 9, "nodes": 4, "reason": ""}]}', "start job 9: there is no such job"),
    ('{"plan": [{"do": "start", "job": 1e300, "nodes": 4, "reason": ""}]}', "start job -1: there is no such job"),
    ('{"plan": [{"do": "start", "job": 1, "nodes": 1.5, "reason": ""}]}', "start job 1 at -1 nodes: it accepts 4"),
    ('{"plan": [{"do": "start", "job": 1, "nodes": 1e300, "reason": ""}]}', "start job 1 at -1 nodes: it accepts 4"),
    ('{"plan": [{"do": "start", "job": 1, "nodes": 1e12, "reason": ""}]}', "start job 1 at 2147483647 nodes: it accepts 4"),
    ('{"plan": [{"do": "reserve", "job": 1, "nodes": 4, "reason": ""}]}', "reserve job 1 at time -1: now is 0.000"),
    ('{"plan": [], "wake": -5}', "wake at time -5: now is 0.000"),
])
def test_an_answer_that_is_no_plan(space, answer, words):
    """The run ends, and the next policy has its turn."""
    result = epopsim(space, "--policy", f"{answering(space, OPENED, answer)},easy", "--tsv", trace(space))
    refused(result, f"at 0.000: {words}", status=1)
    assert result.out.splitlines()[1].startswith("easy\t"), result


def test_an_exception(space):
    result = epopsim(space, "--policy", in_python(space, "state.nothing"), trace(space))
    refused(result, "own.py at 0.000: its program ended with status 1", status=1)
    assert "AttributeError: 'State' object has no attribute 'nothing'" in result.err


@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(1000)"], ids=["computes", "waits"])
def test_one_that_never_answers_is_ended_with_its_host(space, body):
    own = in_python(space, f"import os; open('pid', 'w').write(str(os.getpid()))\n{body}")
    result = epopsim(space, "--patience", "0.3", "--policy", own, trace(space))
    assert result.status == 1 and f"policy {own} does nothing, and does not return, deciding at 0.000\n" in result.err, result
    job.wait_for(lambda: not os.path.exists(f"/proc/{(space.directory / 'pid').read_text()}"), why="it lives on")


# ---- On real nodes ----

@pytest.fixture(name="daemon")
def fixture_daemon(space):
    yield from ruling.ruled(ruling.Daemon(space, "--local", "4", policy=IN_PYTHON).start())


def test_it_rules_real_jobs(daemon):
    number = daemon.submit(job.program("heat"), "1000", "1000000000", ranks=(2, 4))
    assert daemon.wait_runs(number, 4)
    other = daemon.submit("sh", "-c", "sleep 0.5", ranks=(2, 2))
    daemon.wait_end(other)
    assert any("2 nodes are missing for job" in event["text"] for event in daemon.events(number)), daemon.events(number)
    assert any(event["text"].startswith("the shortest: ") for event in daemon.events(other)), daemon.events(other)


def test_one_that_has_ended_is_started_again(space):
    """With its options. Until then the daemon says what is the matter, and nothing starts."""
    own = in_python(space, "import pathlib\n"
                           "if state.waiting and not pathlib.Path(died).exists():\n    pathlib.Path(died).touch()\n    raise SystemExit(3)\n"
                           "for job in state.waiting[:plan.idle]: plan.start(job, job.wanted, 'here it is')",
                    head="def decide(state, plan, *, died=''):")
    for daemon in ruling.ruled(ruling.Daemon(space, "--local", "2", policy=f"{own},died={space.directory}/died").start()):
        number = daemon.submit(*ruling.MOMENT, ranks=(1, 1))
        daemon.wait_end(number)
        assert any(event["text"] == "here it is" for event in daemon.events(number)), daemon.events(number)
        assert any("its program ended" in event["text"] for event in daemon.events()), daemon.events()
