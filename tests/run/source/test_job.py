"""The launch helper itself: that its limits and its check for leftovers can fail."""

import signal
import subprocess
import sys

import job
import pytest


def test_status_and_output(space):
    result = space.start(["/bin/sh", "-c", "echo one; echo two >&2; exit 7"]).wait()
    assert (result.status, result.out, result.err) == (7, "one\n", "two\n")


def test_wait_for_line_reads_on_from_a_line(space):
    it = space.start(["/bin/sh", "-c", "echo a1; echo a2; cat"], stdin=subprocess.PIPE)
    match, following = it.wait_for_line(r"a(\d)")
    assert match[1] == "1"
    match, _ = it.wait_for_line(r"a(\d)", start=following)
    assert match[1] == "2"
    it.kill()


def test_wait_for_line_fails_when_the_command_ends(space):
    it = space.start(["/bin/echo", "other"])
    with pytest.raises(job.TimeLimit, match="ended without"):
        it.wait_for_line("never")


def test_time_limit(space):
    it = space.start(["/bin/sleep", "30"], limit=0.2)
    with pytest.raises(job.TimeLimit, match="time limit"):
        it.wait()
    assert not it.running()


def test_a_process_in_another_session_is_found_and_ended(tmp_path):
    other = job.Space(tmp_path)
    other._wait_gone = lambda timeout: other.processes()  # as if it had been waited for
    child = "import subprocess, sys; print(subprocess.Popen(['/bin/sleep', '30'], start_new_session=True," \
            " stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)"
    assert other.start([sys.executable, "-c", child]).wait().status == 0
    with pytest.raises(AssertionError, match="left running.*sleep"):
        other.close()
    del other._wait_gone
    assert other._wait_gone(5) == []


def test_a_signal_reaches_the_command(space):
    it = space.start(["/bin/sleep", "30"])
    it.signal(signal.SIGTERM)
    assert it.wait().status == -signal.SIGTERM
