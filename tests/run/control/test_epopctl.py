"""epopctl against a scripted job: arguments, what it prints, and its exit codes."""

import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import time

import job
import pytest
from fake import STATUS, FakeJob, apart
from schemas import validate
from terminal import Terminal

DONE, REFUSED, USAGE, NO_JOB, TIMEOUT = range(5)
COMMANDS = ["list", "status", "resize", "pause", "resume", "stop", "cancel", "watch"]
OK = {"ok": True, "code": "done"}
NO = {"ok": False, "code": "refused", "reason": "because it is a test"}


def rows(text):
    return [line.split("\t") for line in text.splitlines()]


def one_line(text):
    assert text.startswith("epopctl: ") and text.count("\n") == 1, text
    return text


# ---- help and usage


def test_help_names_every_command(space):
    result = space.epopctl("--help")
    assert result.status == DONE and not result.err
    assert all(f"  {command} " in result.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(space, command):
    result = space.epopctl(command, "--help")
    assert result.status == DONE and result.out.startswith(f"Usage: epopctl {command} "), result


def test_version(space):
    result = space.epopctl("--version")
    assert result.status == DONE and result.out.startswith("epopctl ")


def test_no_arguments_is_usage(space):
    result = space.epopctl()
    assert result.status == USAGE and result.err.startswith("Usage:")


@pytest.mark.parametrize("arguments", [
    ["explode"], ["status", "--wait=vacated"], ["list", "--timeout", "1"], ["list", "job"], ["status", "a", "b"], ["resize"], ["resize", "job"],
    ["resize", "job", "many"], ["resize", "--wait"], ["resize", "a", "b", "4"], ["resize", "4", "--timeout"],
    ["resize", "4", "--timeout", "soon"], ["resize", "4", "--timeout", "-1"], ["resize", "4", "--timeout", "0x10"],
    ["resize", "4", "--release-ranks", "1,x"], ["resize", "4", "--release-ranks", ""], ["resize", "4.5"],
    ["resize", "99999999999"], ["pause", "-2"], ["status", "--jason"],
])
def test_wrong_usage(space, arguments):
    result = space.epopctl(*arguments)
    assert result.status == USAGE and not result.out, result
    one_line(result.err)


def test_output_that_cannot_be_written_is_an_error(space):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run([job.BUILD / "bin/epopctl", "--help"], stdout=full, stderr=subprocess.PIPE, text=True,
                                timeout=10, check=False)
    assert result.returncode == REFUSED and "cannot write" in result.stderr


# ---- which job


@pytest.mark.parametrize("arguments", [["status"], ["status", "x"], ["resize", "4"], ["stop", "--wait"], ["watch"]])
def test_no_job(space, arguments):
    result = space.epopctl(*arguments)
    assert result.status == NO_JOB, result
    one_line(result.err)


def test_list_without_jobs(space):
    result = space.epopctl("list")
    assert result.status == DONE and rows(result.out)[0][0] == "JOB" and len(rows(result.out)) == 1
    assert json.loads(space.epopctl("list", "--json").out) == []


@pytest.mark.parametrize("command", [["list"], ["status"], ["status", "fake"]])
def test_waits_for_a_job_that_comes(space, command):
    waiting = space.start_epopctl(*command, "--wait")
    fake = FakeJob(space, "fake-1")
    result = waiting.wait()
    assert result.status == DONE and "running" in result.out and not result.err, result
    fake.end()


@pytest.mark.parametrize("command", [["list"], ["status"], ["status", "fake"]])
def test_waits_in_vain(space, command):
    result = space.epopctl(*command, "--wait", "--timeout", "0.3")
    assert result.status == TIMEOUT and "has come up in time" in one_line(result.err), result


@pytest.mark.parametrize("command", ["list", "status"])
def test_waits_until_all_processes_are_there(space, command):
    """It asks again, and shows what there is when its time is over."""
    fake = FakeJob(space, "fake-1", status={**STATUS, "job": {**STATUS["job"], "state": "starting"}})
    waiting = space.start_epopctl(command, "--wait", "--timeout", "2")
    fake.sees("^request ", start=1)
    result = waiting.wait()
    assert result.status == TIMEOUT and "starting" in result.out, result
    assert len(fake.requests()) > 1
    fake.end()


def test_the_only_job_needs_no_name(space):
    fake = FakeJob(space, "cannon-7")
    assert space.epopctl("status").status == DONE
    assert space.epopctl("status", "cannon-7").status == DONE
    assert space.epopctl("status", "can").status == DONE
    result = space.epopctl("status", "gauss")
    assert result.status == NO_JOB and "gauss" in one_line(result.err)
    fake.end()


def test_several_jobs(space):
    jobs = [FakeJob(space, name) for name in ("cannon-7", "cannon-71", "gauss-8")]
    result = space.epopctl("status")
    assert result.status == USAGE and all(fake.name in one_line(result.err) for fake in jobs), result
    result = space.epopctl("status", "can")
    assert result.status == USAGE and "gauss-8" not in one_line(result.err)
    assert space.epopctl("status", "g").status == DONE
    assert space.epopctl("status", "cannon-7").status == DONE  # whole, though another begins with it
    listed = rows(space.epopctl("list").out)
    assert [row[0] for row in listed] == ["JOB", "cannon-7", "cannon-71", "gauss-8"]
    assert [row[1] for row in listed[1:]] == ["running"] * 3
    as_json = json.loads(space.epopctl("list", "--json").out)
    assert [(status["job"], status["size"]) for status in as_json] == [("cannon-4711", 4)] * 3
    for fake in jobs:
        fake.end()


def test_list_shows_a_job_that_hangs_and_the_others(space):
    hanging, fine = FakeJob(space, "a-1"), FakeJob(space, "b-2")
    hanging.process.signal(signal.SIGSTOP)
    listed = {row[0]: row[1] for row in rows(space.epopctl("list").out)}
    hanging.process.signal(signal.SIGCONT)
    assert listed == {"JOB": "STATE", "a-1": "unreachable", "b-2": "running"}
    hanging.end()
    fine.end()


def test_stale_file_is_removed(space):
    fake = FakeJob(space)
    fake.process.kill()
    assert fake.file.exists()
    result = space.epopctl("status")
    assert result.status == NO_JOB, result
    assert not list(fake.directory.iterdir())  # neither the file nor the socket


def test_reused_pid_is_recognised(space):
    fake = FakeJob(space)
    address = fake.address()
    fake.file.write_text(json.dumps(address | {"start_time": "1"}))
    assert space.epopctl("status").status == NO_JOB
    assert not fake.file.exists()
    fake.end()


def test_file_of_another_host_is_kept(space):
    fake = FakeJob(space)
    address = fake.address()
    fake.end()
    fake.file.write_text(json.dumps(address | {"host": "elsewhere"}))
    assert [row[:2] for row in rows(space.epopctl("list").out)[1:]] == [["fake-1", "unreachable"]]
    result = space.epopctl("status")
    assert result.status == NO_JOB and "elsewhere" in one_line(result.err)
    assert fake.file.exists()


APART = "in another PID namespace"


def test_job_in_another_pid_namespace(space):
    """Its number is another one's here, or nobody's."""
    near, far = FakeJob(space, "near-1"), FakeJob(space, "far-2", prefix=apart())
    validate("control", far.address())
    assert far.address()["pid"] != far.pid and far.address()["namespace"] != near.address().get("namespace"), far.address()
    first = os.readlink("/proc/self/ns/pid") == "pid:[4026531836]"  # these tests may run in a container
    assert ("namespace" in near.address()) != first, near.address()
    for prefix, others in ([], [far]), (apart(), [near, far]):
        listed = space.start([*prefix, job.BUILD / "bin/epopctl", "list"]).wait()
        places = {row[0]: (row[1], APART in row[6]) for row in rows(listed.out)[1:]}
        assert places == {one.name: ("running", one in others) for one in (near, far)}, listed
        as_json = json.loads(space.start([*prefix, job.BUILD / "bin/epopctl", "list", "--json"]).wait().out)
        assert sum("apart" in one for one in as_json) == len(others), as_json
        for one in near, far:
            assert space.start([*prefix, job.BUILD / "bin/epopctl", "status", one.name]).wait().status == DONE
    near.end()
    far.end()


def test_file_of_another_pid_namespace_is_kept(space):
    """Nobody here can know that it is dead; the same of this namespace goes."""
    near, far = FakeJob(space, "near-1"), FakeJob(space, "far-2", prefix=apart())
    left = {far.file, *far.directory.glob("wire.*")} - {near.file} - set(far.directory.glob(f"wire.*.{near.pid}.*"))
    near.process.kill()
    far.process.kill()
    listed = space.epopctl("list")
    assert [(row[0], row[1], APART in row[6]) for row in rows(listed.out)[1:]] == [("far-2", "unreachable", True)], listed
    assert set(far.directory.iterdir()) == left and len(left) == 2, left
    result = space.epopctl("stop", "--force", "far-2", "--timeout", "1")
    assert result.status == TIMEOUT and APART in one_line(result.err), result
    assert set(far.directory.iterdir()) == left


def test_broken_files_do_not_disturb(space):
    fake = FakeJob(space)
    (fake.directory / "broken.json").write_text("{")
    (fake.directory / "empty.json").write_text("")
    (fake.directory / "array.json").write_text("[1]")
    (fake.directory / "link.json").symlink_to("/etc/passwd")
    os.mkfifo(fake.directory / "fifo.json")
    assert [row[0] for row in rows(space.epopctl("list").out)[1:]] == ["fake-1"]
    fake.end()


def test_address_file_is_private_and_goes_at_the_end(space):
    fake = FakeJob(space)
    assert fake.file.stat().st_mode & 0o777 == 0o600
    assert fake.directory.stat().st_mode & 0o777 == 0o700
    validate("control", fake.address())
    fake.end()
    assert not list(fake.directory.iterdir())


# ---- requests and answers


def test_status(space):
    fake = FakeJob(space)
    result = space.epopctl("status")
    told = {row[0]: row[1:] for row in rows(result.out) if row[0]}
    assert told["job"] == ["cannon-4711"] and told["state"] == ["running"] and told["size"] == ["4"]
    assert told["1"][:2] in (["-", "standby"], ["1 -> 4", "committed"])
    as_json = json.loads(space.epopctl("status", "--json").out)
    assert as_json == STATUS["job"]
    fake.end()


@pytest.mark.parametrize("arguments, request_", [
    (["4"], {"size": 4}), (["+2"], {"delta": 2}), (["-2"], {"delta": -2}), (["fake-1", "-2"], {"delta": -2}),
    (["0"], {"size": 0}), (["4", "--wait"], {"size": 4, "wait": True}), (["--wait", "fake", "4"], {"size": 4, "wait": True}),
    (["4", "--hosts", "a,b"], {"size": 4, "add_hosts": "a,b"}), (["4", "--release=c"], {"size": 4, "release_hosts": "c"}),
    (["--release", "c"], {"release_hosts": "c"}), (["--release-ranks", "2,3"], {"release_ranks": [2, 3]}),
    (["--", "fake", "-1"], {"delta": -1}), (["--timeout", "5", "-1"], {"delta": -1}),
])
def test_resize_request(space, arguments, request_):
    fake = FakeJob(space, resize={"ok": True, "code": "accepted", "size": 4, "from": 1, "requested": 4})
    result = space.epopctl("resize", *arguments)
    assert result.status == DONE and result.out == "accepted: 1 -> 4\n", result
    assert fake.requests() == [{"op": "resize"} | request_]
    if request_ != {"size": 0}:
        validate("control", fake.requests()[0])
    fake.end()


def test_resize_tells_the_note(space):
    fake = FakeJob(space, resize={"ok": True, "code": "done", "size": 4, "from": 1, "note": "rounded down from 5 to 4"})
    assert space.epopctl("resize", "5", "--wait").out == "done: 1 -> 4; rounded down from 5 to 4\n"
    fake.end()


@pytest.mark.parametrize("command, done", [("pause", "paused"), ("resume", "resumed"), ("stop", "stopping"),
                                           ("cancel", "cancelled")])
def test_simple_commands(space, command, done):
    fake = FakeJob(space, **{command: OK})
    result = space.epopctl(command)
    assert result.status == DONE and result.out == done + "\n", result
    assert fake.requests() == [{"op": command}]
    fake.end()


def test_note(space):
    fake = FakeJob(space, note=OK)
    assert space.epopctl("note", "fake", "it is so").out == "said\n"
    assert fake.requests() == [{"op": "note", "text": "it is so"}]
    fake.end()
    result = space.epopctl("note")
    assert result.status == USAGE and one_line(result.err) == "epopctl: note: something is missing: note [JOB] TEXT [--timeout SECONDS] (see epopctl note --help)\n"


@pytest.mark.parametrize("arguments", [["resize", "4"], ["pause"], ["resume"], ["stop"], ["cancel"], ["note", "x"], ["stop", "--wait"]])
def test_refused(space, arguments):
    fake = FakeJob(space, **{arguments[0]: NO})
    result = space.epopctl(*arguments)
    assert result.status == REFUSED and not result.out
    assert one_line(result.err) == "epopctl: because it is a test\n"
    fake.end()


def test_answer_of_a_timeout(space):
    fake = FakeJob(space, resize={"ok": False, "code": "timeout", "reason": "joining ranks were not ready"})
    assert space.epopctl("resize", "4", "--wait").status == TIMEOUT
    fake.end()


def test_no_answer_in_time(space):
    fake = FakeJob(space, pause="never")
    begin = time.monotonic()
    result = space.epopctl("pause", "--timeout", "2.5")  # which has to suffice for attaching
    assert result.status == TIMEOUT and time.monotonic() - begin >= 2.5
    assert "within 2.5 s" in one_line(result.err)
    fake.sees("^abandoned$")
    fake.end()


def test_no_answer_in_time_and_how_the_job_is(space):
    fake = FakeJob(space, resize="never")
    result = space.epopctl("resize", "2", "--wait", "--timeout", "2.5")
    first, second = result.err.splitlines()
    assert result.status == TIMEOUT and "within 2.5 s; the job is running, with 4 ranks" in first, result
    assert "its last resize, 4 -> 1, is failed" in first and "may still happen" in second, result
    fake.sees("^abandoned$")
    fake.end()


def test_no_answer_in_time_nor_how_the_job_is(space):
    fake = FakeJob(space, resize="never", status="never")
    result = space.epopctl("resize", "2", "--wait", "--timeout", "2.5")
    assert result.status == TIMEOUT and "nor does the job say how it is" in result.err, result
    fake.end()


def test_job_is_killed_while_a_child_of_it_holds_the_connection(space):
    fake = FakeJob(space, resize="never")
    waiting = space.start_epopctl("resize", "2", "--wait", limit=30)  # it would wait for 60 s
    fake.sees("^request ")
    fake.tell("fork")
    child = int(fake.sees(r"^forked (\d+)$").group(1))
    try:
        os.kill(fake.pid, signal.SIGKILL)  # it alone, not its group
        result = waiting.wait()
    finally:
        os.kill(child, signal.SIGKILL)
    assert result.status == NO_JOB and one_line(result.err) == "epopctl: the job has ended\n", result


def test_stopped_job_times_out(space):
    fake = FakeJob(space)
    fake.process.signal(signal.SIGSTOP)
    result = space.epopctl("status", "--timeout", "0.5")
    fake.process.signal(signal.SIGCONT)
    assert result.status == TIMEOUT, result
    fake.end()


def test_late_answer(space):
    fake = FakeJob(space, resize="never")
    waiting = space.start_epopctl("resize", "2", "--wait")
    fake.sees("^request ")
    fake.tell("answer " + json.dumps({"ok": True, "code": "done", "size": 2, "from": 4}))
    result = waiting.wait()
    assert result.status == DONE and result.out == "done: 4 -> 2\n"
    fake.end()


def test_stop_waits_until_the_job_is_gone(space):
    fake = FakeJob(space, stop={"ok": True, "code": "accepted"})
    waiting = space.start_epopctl("stop", "--wait")
    fake.sees("^request ")
    fake.tell('publish {"event": "finished", "time": 1}')
    fake.end()
    result = waiting.wait()
    assert result.status == DONE and result.out == "stopped\n", result


def test_stop_that_does_not_end_times_out(space):
    fake = FakeJob(space, stop={"ok": True, "code": "accepted"})
    result = space.epopctl("stop", "--wait", "--timeout", "2.5")
    assert result.status == TIMEOUT and "still there" in one_line(result.err)
    fake.end()


@pytest.mark.parametrize("way", ["end", "exit", "kill"])
def test_job_ends_while_a_request_waits(space, way):
    fake = FakeJob(space, resize="never")
    waiting = space.start_epopctl("resize", "2", "--wait")
    fake.sees("^request ")
    if way == "kill":
        fake.process.kill()
    else:
        fake.tell(way)
    result = waiting.wait()
    assert result.status == NO_JOB and one_line(result.err) == "epopctl: the job has ended\n", result


@pytest.mark.parametrize("command", [["status"], ["resize", "2"], ["stop", "--wait"], ["watch"]])
@pytest.mark.parametrize("file_goes", [True, False])
def test_job_ends_at_the_moment_it_is_asked(space, command, file_goes):
    """Its process lives on a little after it stopped listening; a job that is not ending keeps its address file."""
    fake = FakeJob(space)
    address = fake.address()
    fake.end()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.join(space.runtime, "door"))
        server.listen()
        server.settimeout(20)
        uri = f"unix:{address['host']}:{server.getsockname()}"
        start = pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]
        fake.file.write_text(json.dumps(address | {"uri": uri, "pid": os.getpid(), "start_time": start}))
        asking = space.start_epopctl(*command)
        connection, _ = server.accept()
        if file_goes:
            fake.file.unlink()
        connection.close()
    result = asking.wait()
    line = one_line(result.err)
    assert result.status == NO_JOB and ("the job has ended" in line) == file_goes, result
    assert ("cannot attach" in line) != file_goes, result


@pytest.mark.parametrize("command", [["resize", "2", "--wait"], ["pause"], ["watch"]])
def test_killed_epopctl_harms_nothing(space, command):
    fake = FakeJob(space, resize="never", pause="never")
    waiting = space.start_epopctl(*command)
    if command == ["watch"]:
        # Its subscription is not reported: an event that it prints shows that it has one.
        while "refused" not in waiting.out:
            fake.tell('publish {"event": "refused", "time": 1, "reason": "x"}')
            time.sleep(0.02)
    else:
        fake.sees("^request ")
    waiting.kill()
    if command != ["watch"]:
        fake.sees("^abandoned$")
    fake.tell('publish {"event": "resumed", "time": 1}')
    assert space.epopctl("status").status == DONE
    fake.end()


def test_killed_at_any_moment(space):
    fake = FakeJob(space, pause="never")
    for delay in range(40):
        caller = space.start_epopctl("pause")
        time.sleep(delay * 0.0015)
        caller.kill()
    assert space.epopctl("status").status == DONE
    fake.end()


# ---- watch


EVENTS = [
    {"event": "requested", "time": 1000.0, "adaptation": 1, "from": 4, "to": 1},
    {"event": "agreed", "time": 1000.002, "adaptation": 1, "from": 4, "to": 1, "pc": 1, "element": "multiply", "iteration": 5},
    {"event": "committed", "time": 1000.0125, "adaptation": 1, "from": 4, "to": 1, "pc": 1, "element": "multiply", "iteration": 5},
    {"event": "refused", "time": 1001.0, "reason": "no"},
]


def start_watch(space, fake, *arguments):
    """epopctl watch with its subscription in place, and the number of lines it has printed until then."""
    watch = space.start_epopctl("watch", *arguments)
    end = time.monotonic() + 30
    while "resumed" not in watch.out and time.monotonic() < end:
        fake.tell('publish {"event": "resumed", "time": 1}')
        time.sleep(0.02)
    fake.tell('publish {"event": "paused", "time": 2}')
    return watch, watch.wait_for_line("paused")[1]


def test_newcomers_while_the_job_cannot_take_them_in(space):
    """The server is held up for seconds, with newcomers behind it: they are served when it goes on."""
    fake = FakeJob(space, where='hold:3500:{"ok":true,"where":{"processes":[]}}', resize={"ok": True, "code": "done", "size": 3})
    holding = space.start_epopctl("where")
    fake.sees("^request ")
    newcomers = [space.start_epopctl("resize", "+1", "--wait", "--timeout", "20") for _ in range(4)]
    assert holding.wait().status == DONE
    assert {newcomer.wait().status for newcomer in newcomers} == {DONE}
    assert space.epopctl("resize", "+1", "--wait").status == DONE
    fake.end()


def test_watch(space):
    fake = FakeJob(space)
    watch, seen = start_watch(space, fake)
    for event in EVENTS:
        fake.tell("publish " + json.dumps(event))
    fake.end()
    result = watch.wait()
    assert result.status == DONE, result
    told = rows(result.out)[seen:]
    assert [row[1] for row in told] == ["requested", "agreed", "committed", "refused"]
    assert told[1] == ["1000.002000", "agreed", "1", "4", "1", "multiply", "5", "2.0", ""]
    assert told[2][7] == "12.5" and told[3][8] == "no"


def test_watch_json(space):
    fake = FakeJob(space)
    watch, seen = start_watch(space, fake, "--json")
    for event in EVENTS:
        fake.tell("publish " + json.dumps(event))
    fake.end()
    assert [json.loads(line) for line in watch.wait().out.splitlines()[seen:]] == EVENTS


def test_watch_a_job_that_is_killed(space):
    fake = FakeJob(space)
    watch, _ = start_watch(space, fake)
    fake.process.kill()
    assert watch.wait().status == DONE


def test_watch_whose_reader_has_gone(space):
    """As in `epopctl watch | head -1`: it ends with the next event, not with the job."""
    fake = FakeJob(space)
    reader, writer = os.pipe()
    watch = subprocess.Popen([job.BUILD / "bin/epopctl", "watch"], stdout=writer, env=space.environment())
    os.close(writer)
    try:
        while not select.select([reader], [], [], 0.05)[0]:
            assert watch.poll() is None
            fake.tell('publish {"event": "resumed", "time": 1}')
        os.close(reader)
        fake.tell("publish " + json.dumps(EVENTS[3]))
        assert watch.wait(20) == REFUSED
    finally:
        watch.kill()
    fake.end()


def test_two_watchers_and_a_request(space):
    fake = FakeJob(space)
    watches = [start_watch(space, fake) for _ in range(2)]
    fake.tell("publish " + json.dumps(EVENTS[3]))
    assert space.epopctl("status").status == DONE
    for watch, seen in watches:
        assert watch.wait_for_line("refused", start=seen)
    fake.end()


# ---- a terminal


def test_table_on_a_terminal(space):
    fake = FakeJob(space)
    status, text = Terminal(space, [job.BUILD / "bin/epopctl", "list"]).wait()
    assert status == DONE and "\t" not in text and "\033" not in text
    header, line = text.splitlines()
    assert header.index("STATE") == line.index("running")
    fake.end()
