"""Jobs of benchmarks: one that prints results by itself, and one that is resized from outside, by epopctl."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time


def end_at_sigterm():
    """A command that is told to end ends what it started, as after an exception; Python would leave that behind."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def results_in(text):
    """The JSON lines among those of a text."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def printed(mpiexec, ranks, *command, limit=300):
    """The JSON lines that `command` prints on `ranks` ranks."""
    words = [str(mpiexec), "-n", str(ranks), *map(str, command)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) as process:
        try:
            text = process.communicate(timeout=limit)[0]
        except BaseException:
            process.terminate()  # not killed, as mpiexec ends its ranks then
            raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return results_in(text)


class Job:
    """Starts the command, and waits until the job runs. It sees no other job, and none sees it."""

    def __init__(self, build, command):
        self.epopctl = build / "bin/epopctl"
        self.directory = tempfile.TemporaryDirectory()
        self.environment = dict(os.environ, EPOP_RUNTIME_DIR=self.directory.name)
        self.process = subprocess.Popen(list(map(str, command)), env=self.environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 60
        while self.status().get("state") != "running":
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.end()
                raise RuntimeError(f"the job did not start: {command}")

    def ctl(self, *arguments):
        return subprocess.run([str(self.epopctl), *map(str, arguments)], env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=False)

    def status(self):
        done = self.ctl("status", "--json")
        return {} if done.returncode else json.loads(done.stdout)

    def adapt(self, size):
        """What the job tells of this resize."""
        if self.ctl("resize", size, "--wait").returncode:
            raise RuntimeError(f"no resize to {size}")
        return self.status()["adaptations"][-1]

    def resize(self, size):
        """(seconds that ranks stood still, seconds from the request to the commit)"""
        last = self.adapt(size)
        return last["stall"], last["times"]["committed"] - last["times"]["requested"]

    def end(self):
        self.ctl("stop", "--wait")
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.directory.cleanup()
