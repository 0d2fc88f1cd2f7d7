"""The commands of epoprm: one daemon on this machine, that all of them talk to, and what they say without one."""

import json
import os
import socket
import stat
import subprocess

import job
import pytest
import ruling
from terminal import Terminal
from schemas import validate

EPOPRM = job.BUILD / "bin/epoprm"


class Commands:
    """epoprm in a state directory of its own."""

    def __init__(self, space):
        self.space, self.directory = space, os.path.join(space.runtime, "state")

    def start(self, *words, **how):
        how["env"] = {"EPOPRM_DIR": self.directory, **how.get("env", {})}
        return self.space.start([EPOPRM, *words], **how)

    def __call__(self, *words, **how):
        return self.start(*words, **how).wait()

    def rows(self, *words):
        """The table as a list of dictionaries."""
        result = self(*words)
        assert result.status == 0, result
        titles, *rows = [line.split("\t") for line in result.out.splitlines()]
        return [dict(zip(titles, row, strict=True)) for row in rows]

    def json(self, *words):
        result = self(*words, "--json")
        assert result.status == 0, result
        value = json.loads(result.out)
        validate("epoprm", value)
        return value

    def state(self, number):
        return next(row["STATE"] for row in self.rows("queue", "--all") if row["JOB"] == str(number))

    def submit(self, *words, **how):
        result = self("submit", *words, **how)
        assert result.status == 0, result
        return int(result.out)

    def wait_state(self, number, state):
        ruling.wait_for(lambda: self.state(number) == state, why=lambda: str(self.json("why", str(number))))


@pytest.fixture(name="commands")
def fixture_commands(space):
    """Its daemon is none of the space's children, but has its mark: it is ended with the space."""
    made = Commands(space)
    yield made
    made("stop", "--jobs")


@pytest.fixture(name="ruling_three")
def fixture_ruling_three(commands):
    result = commands("start", "--local", "3")
    assert result.status == 0 and result.out.startswith("epoprm rules 3 nodes of 1 slot (local1, local2, local3)"), result
    return commands


def test_a_queue_of_jobs(ruling_three):
    """Submitted, shown, explained, cancelled; in the directory and with the environment of who submits."""
    commands, directory = ruling_three, ruling_three.space.directory
    output = directory / "said"
    number = commands.submit("--ranks", "2", "--sizes", "even", "--time", "10m", "--name", "told", "-o", "said", "--once", "sh", "-c",
                             "pwd; echo $WORD $PMI_RANK $EPOP_SIZES; exit 3", env={"WORD": "of mine", "PMI_RANK": "7"}, cwd=directory)
    assert number == 1
    commands.wait_state(number, "FAILED")
    assert output.read_text() == f"{directory}\nof mine even\n"
    long = commands.submit("--ranks", "3", "-o", "/dev/null", "--once", "sleep", "1000")
    commands.wait_state(long, "RUNNING")
    waiting = commands.submit("--ranks", "2", "sleep", "1000")
    refused = commands("submit", "--after", f"{long},{number}", "true")
    assert refused.status == 1 and refused.err == f"epoprm: it cannot come after job {number}, which is failed\n", refused
    first, second = commands.rows("queue")
    assert (first["JOB"], first["NAME"], first["NODES"], first["ON"]) == (str(long), "sleep", "3", "local1,local2,local3")
    assert (second["JOB"], second["STATE"], second["RANKS"]) == (str(waiting), "WAITING", "2") and second["WAITS"]
    assert {row["JOB"] for row in commands.rows("nodes")} == {str(long)}
    assert [one["job"] for one in commands.json("queue")] == [long, waiting]
    assert [one["job"] for one in commands.json("queue", "--all")] == [number, long, waiting]
    assert {one["state"] for one in commands.json("nodes")} == {"busy"}
    assert commands.json("why", str(number))["job"]["status"] == 3
    why = commands("why", str(long)).out
    assert why.startswith(f"job {long} (sleep, rigid) is running") and "\tdecision\t" in why and "3 of 3 nodes" in why
    refused = commands("stop")
    assert refused.status == 1 and "--leave" in refused.err
    assert commands("hold", str(waiting), "99").status == 3 and commands.state(waiting) == "HELD"
    assert commands("change", "--priority", "-3", str(waiting)).status == 0
    assert f"job {waiting} (sleep, rigid) is waiting: held by its user\nits priority is -3\n" in commands("why", str(waiting)).out
    assert commands.json("queue")[1]["held"] and [one["event"] for one in commands.json("why", str(waiting))["events"]][-2:] == ["held", "priority"]
    assert commands("release", str(waiting)).status == 0 and commands.state(waiting) == "WAITING"
    for words, said in ((["change", "1"], "change: what? --priority N, --account NAME or --deadline TIME"),
                        (["change", "--account", "a b", "1"], "change: --account: \"a b\" is no name"), (["change", "--deadline", "soon", "1"], "change: --deadline: \"soon\" is no time"),
                        (["change", "--drop-late", "1"], "--drop-late goes with --deadline"),
                        (["change", "--priority", "1e3", "1"], "\"1e3\" is no number from -1000000"),
                        (["submit", "--priority", "", "true"], "submit: --priority: \"\" is no number")):
        refused = commands(*words)
        assert refused.status == 2 and said in refused.err, refused
    early = commands.submit("--hold", "--priority", "1000000", "true")
    assert commands.state(early) == "HELD" and commands.json("why", str(early))["job"]["priority"] == 1000000
    assert commands("cancel", str(early)).status == 0
    assert commands("cancel", str(waiting), "99", str(long)).status == 3
    commands.wait_state(waiting, "CANCELLED")
    commands.wait_state(long, "CANCELLED")
    assert commands("stop").status == 0


def test_watch_and_drain(ruling_three):
    commands = ruling_three
    people, program = commands.start("watch"), commands.start("watch", "--json")
    people.wait_for_line("^TIME\tJOB\tEVENT\tSTATE\tWHAT$", timeout=ruling.LIMIT)

    def seen():
        """What happens before it is connected a program does not hear of."""
        assert commands("drain", "local2").status == 0 and commands("drain", "local2", "--undo").status == 0
        return program.out
    ruling.wait_for(seen)
    assert commands("drain", "local2").status == 0
    assert [row["STATE"] for row in commands.rows("nodes")] == ["idle", "drain", "idle"]
    assert commands("drain", "local2", "--undo").status == 0
    assert [row["STATE"] for row in commands.rows("nodes")] == ["idle"] * 3
    unknown = commands("drain", "local9")
    assert unknown.status == 3 and "local9" in unknown.err
    number = commands.submit("-o", "/dev/null", "--once", "true")
    people.wait_for_line(rf"\t{number}\tended\tdone\t", timeout=ruling.LIMIT)
    assert commands("stop").status == 0
    assert people.out.count("local2") >= 4
    told, events = people.wait(), [json.loads(line) for line in program.wait().out.splitlines()]
    assert told.status == 0
    for event in events:
        validate("epoprm", event)
    kinds = [event["event"] for event in events if event.get("job") == number]
    assert kinds[:2] == ["submitted", "decision"] and kinds[-1] == "ended"


def test_a_daemon_takes_over_from_the_one_before(ruling_three):
    """Without options it has the same nodes, and the job that runs on."""
    commands = ruling_three
    number = commands.submit("--ranks", "2", "-o", "/dev/null", "--once", "sleep", "1000")
    commands.wait_state(number, "RUNNING")
    assert commands("stop", "--leave").status == 0
    without = commands("queue")
    assert (without.status, without.out) == (3, "") and "epoprm start" in without.err
    assert [one["state"] for one in commands.json("queue", "--all")] == ["running"]
    assert "is running" in commands("why", str(number)).out
    assert commands("start").out.startswith("epoprm rules 3 nodes")
    assert commands.state(number) == "RUNNING"
    second = commands("start")
    assert second.status == 1 and "runs already" in second.err and second.err.count("\n") == 1
    assert commands("stop", "--jobs").status == 0
    assert commands.state(number) == "CANCELLED"


def test_the_record_of_what_happened(ruling_three):
    """Jobs that are done, that failed, run and wait, as epop-report takes them."""
    commands = ruling_three
    done = commands.submit("-o", "/dev/null", "--once", "true")
    commands.wait_state(done, "DONE")
    failed = commands.submit("-o", "/dev/null", "--once", "false")
    commands.wait_state(failed, "FAILED")
    runs = commands.submit("--ranks", "3", "-o", "/dev/null", "--once", "sleep", "1000")
    commands.wait_state(runs, "RUNNING")
    waits = commands.submit("sleep", "1000")
    record = json.loads(commands("report", "-o", "-", "--format", "json").out)
    validate("schedule", record)
    run, = record["runs"]
    jobs = {one["id"]: one for one in run["jobs"]}
    assert {number: one["outcome"] for number, one in jobs.items()} == {done: "done", failed: "failed", runs: "running", waits: "waiting"}
    assert jobs[runs]["stays"][0][2] == "0-2" and jobs[waits]["stays"] == []
    assert {(one["kind"], one["job"]) for one in run["decisions"]} >= {("start", done), ("start", failed), ("start", runs)}
    assert all(one["reason"] for one in run["decisions"])
    assert (run["metrics"]["jobs"], run["metrics"]["done"]) == (4, 1) and 0 < run["metrics"]["utilisation"] <= 1
    report = job.BUILD / "bin/epop-report"
    if report.exists():
        page = commands.space.directory / "page.html"
        result = commands("report", "-o", str(page))
        assert result.status == 0, result
        assert "epoprm" in page.read_text() and "Nodes over time" in page.read_text()


def test_a_job_that_was_backfilled(ruling_three):
    commands = ruling_three
    first = commands.submit("--ranks", "2", "--time", "10m", "-o", "/dev/null", "--once", "sleep", "1000")
    commands.wait_state(first, "RUNNING")
    commands.submit("--ranks", "3", "--time", "10m", "-o", "/dev/null", "--once", "true")
    small = commands.submit("--ranks", "1", "--time", "10s", "-o", "/dev/null", "--once", "true")
    commands.wait_state(small, "DONE")
    run, = json.loads(commands("report", "-o", "-", "--format", "json").out)["runs"]
    assert run["metrics"]["backfilled"] == 1


def test_a_table_for_people(ruling_three):
    commands = ruling_three
    commands.submit("--ranks", "2-3", "-o", "/dev/null", "--once", "--name", "with a\nbreak", "sleep", "1000")
    shown = Terminal(commands.space, [EPOPRM, "queue"], env={"EPOPRM_DIR": commands.directory})
    status, text = shown.wait()
    assert status == 0 and "\t" not in text and "with a break" in text and text.startswith("JOB  NAME")


# ---- What is wrong ----

WITHOUT_A_DAEMON = [["submit", "true"], ["queue"], ["nodes"], ["cancel", "1"], ["drain", "n1"], ["watch"], ["stop"], ["why", "1"],
                    ["queue", "--all"], ["report", "-o", "-"]]


@pytest.mark.parametrize("words", WITHOUT_A_DAEMON, ids=" ".join)
def test_without_a_daemon(space, words):
    result = Commands(space)(*words)
    assert (result.status, result.out) == (3, "") and result.err.startswith("epoprm: ") and result.err.count("\n") == 1, result


BUSY = {"ok": False, "code": "busy", "reason": "too many"}
WRONG = [
    ([], "Usage"), (["dance"], "unknown command"), (["quue"], "queue?"), (["queue", "--alll"], "--all?"),
    (["queue", "--ranks", "1"], "unknown option"), (["queue", "more"], "one argument too many"),
    (["submit"], "missing"), (["submit", "--ranks"], "needs a value"), (["submit", "--ranks", "4-1", "true"], "MIN-MAX"),
    (["submit", "--ranks", "none", "true"], "MIN-MAX"), (["submit", "--nodes", "0", "true"], "MIN-MAX"),
    (["submit", "--time", "soon", "true"], "90s"), (["submit", "--time", "1w", "true"], "90s"),
    (["submit", "--time", "0x10", "true"], "90s"), (["submit", "--time", "infinity", "true"], "90s"),
    (["submit", "--sizes", "primes", "true"], "\"primes\" is no size rule: of any, even"), (["submit", "--sizes", "2,4,preferred=3", "true"], "does not accept"),
    (["submit", "--after", "1,x", "true"], "\"x\" is no job's number"), (["submit", "--after", "", "true"], "no job's number"),
    (["why", "heat"], "no job's number"),
    (["cancel", "0"], "no job's number"), (["start", "--local", "0"], "--local"), (["start", "--local", "x"], "--local"),
    (["start", "--hosts", "a", "--local", "1"], "not both"), (["stop", "--jobs", "--leave"], "not both"),
    (["report"], "-o FILE"), (["report", "-o", "x", "--format", "pdf"], "html or json"), (["queue", "--json=yes"], "takes no value"),
]


def test_who_finds_no_place_comes_again(space):
    """A daemon that has let go of it, for others, before it could ask."""
    commands = Commands(space)
    os.mkdir(commands.directory, 0o700)
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.settimeout(60)
        daemon.bind(os.path.join(commands.directory, "socket"))
        daemon.listen()
        asking = commands.start("nodes")
        for answer in (BUSY, BUSY, {"ok": True, "nodes": []}):
            validate("epoprm", answer)
            client = daemon.accept()[0]
            client.sendall((json.dumps(answer) + "\n").encode())
            client.close()
        result = asking.wait()
    assert result.status == 0 and not result.err, result


@pytest.mark.parametrize("words, line", WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_wrong_usage(space, words, line):
    result = Commands(space)(*words)
    assert (result.status, result.out) == (2, "") and line in result.err, result
    assert not words or result.err.count("\n") == 1


def test_programs_that_cannot_be_started(space):
    commands, script = Commands(space), space.directory / "script"
    script.write_text("true\n")
    for words, line in ((["./missing"], "No such file"), (["./script"], "chmod +x"), (["no-such-command"], "./no-such-command"),
                        (["missing.so"], "No such file"), (["."], "no such command"), (["./"], "no file")):
        result = commands("submit", *words, cwd=space.directory)
        assert result.status == 1 and line in result.err and result.err.count("\n") == 1, result


def test_output_that_a_job_could_not_write(space):
    (space.directory / "taken").mkdir()
    commands = Commands(space)
    for words, line in ((["-o", "missing/out"], "missing/out: cannot be written: No such file"), (["-o", "taken"], "Is a directory"),
                        (["-o", "taken/"], "Is a directory")):
        result = commands("submit", *words, "true", cwd=space.directory)
        assert result.status == 1 and line in result.err and result.err.count("\n") == 1, result


def test_output_into_a_fifo_that_nobody_reads(ruling_three):
    """The job fails at once, and its node is free."""
    fifo = ruling_three.space.directory / "fifo"
    os.mkfifo(fifo)
    number = ruling_three.submit("-o", fifo, "--once", "--", "true")
    ruling_three.wait_state(number, "FAILED")
    assert "nobody reads this FIFO" in ruling_three("why", str(number)).out
    ruling.wait_for(lambda: all(node["STATE"] == "idle" for node in ruling_three.rows("nodes")), why=lambda: str(ruling_three.rows("nodes")))


def test_a_policy_of_ones_own_beside_the_caller(commands):
    result = commands("start", "--local", "1", "--policy", "./share.so", cwd=ruling.SHARE.parent)
    assert result.status == 0, result
    assert commands("stop").status == 0
    assert commands("start").status == 0  # the same one, from elsewhere


def test_all_jobs_are_there_beside_those_that_run(ruling_three):
    for _ in range(4):
        number = ruling_three.submit("--once", "true")
    ruling_three.wait_state(number, "DONE")
    for _ in range(3):
        ruling_three.submit("--once", "sleep", "600")
    ruling.wait_for(lambda: [row["STATE"] for row in ruling_three.rows("queue", "--all")] == ["DONE"] * 4 + ["RUNNING"] * 3,
                    why=lambda: str(ruling_three.rows("queue", "--all")))
    assert [row["JOB"] for row in ruling_three.rows("queue", "--all")] == [str(i) for i in range(1, 8)]


def test_the_record_after_a_daemon_with_other_nodes(commands):
    """What ran on nodes that are not there any more has no stay, and the record is still valid."""
    for nodes in (["--local", "2"], ["--hosts", "localhost:1"]):
        assert commands("start", *nodes).status == 0
        number = commands.submit("--once", "true")
        commands.wait_state(number, "DONE")
        assert commands("stop").status == 0
    result = commands("report", "--format", "json", "-o", "-")
    assert result.status == 0, result
    record = json.loads(result.out)
    validate("schedule", record)
    assert [len(job["stays"]) for job in record["runs"][0]["jobs"]] == [0, 1]
    assert all(nodes for job in record["runs"][0]["jobs"] for _, _, nodes in job["stays"])


def test_names_are_one_line_of_text(ruling_three):
    """Whatever they are given as: tables, and JSON, which is UTF-8, have them."""
    for given, name in (("a\tb\nc\x1b[1m", "a b c [1m"), ("\udcffä", "?ä"), ("", "true")):
        number = ruling_three.submit("--once", "--name", given, "true")
        assert ruling_three.json("why", str(number))["job"]["name"] == name
    ruling_three.wait_state(number, "DONE")


def test_places_for_its_state(space):
    """Below the home; not where others may write, and not in a relative one."""
    made = space.directory / "home"
    made.mkdir()
    commands = Commands(space)
    away = {"EPOPRM_DIR": None, "XDG_STATE_HOME": None, "HOME": str(made)}
    assert str(made / ".local/state/epop/epoprm") in commands("queue", env=away).err
    open_to_all = space.directory / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    result = commands("start", "--local", "1", env={"EPOPRM_DIR": str(open_to_all)})
    assert result.status == 1 and "chmod 700" in result.err, result
    assert commands("start", "--local", "1", env={"EPOPRM_DIR": "here"}).status == 1


def test_a_start_where_no_process_comes_up(commands, space):
    """In an allocation of Slurm whose srun never answers."""
    srun = space.directory / "srun"
    srun.write_text("#!/bin/sh\nexec sleep 1000\n")
    srun.chmod(0o755)
    slurm = {"SLURM_JOB_ID": "17", "SLURM_JOB_NODELIST": "n1", "SLURM_JOB_CPUS_PER_NODE": "2", "PATH": f"{space.directory}:{os.environ['PATH']}"}
    result = commands("start", env=slurm, limit=60)
    assert result.status == 1 and result.err.count("\n") == 1, result
    assert result.err.startswith("epoprm: start: no job could run here: mpiexec starts no process ("), result
    assert "`epop --capabilities`" in result.err, result


def test_output_that_cannot_be_written(space):
    with open("/dev/full", "w", encoding="ascii") as full:
        ended = subprocess.run([EPOPRM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert ended.returncode == 1 and "standard output" in ended.stderr


def test_what_it_keeps_is_the_users_alone(ruling_three):
    for path in (ruling_three.directory, *(os.path.join(ruling_three.directory, name) for name in ("journal.db", "socket", "log"))):
        assert stat.S_IMODE(os.stat(path).st_mode) & 0o077 == 0, path
