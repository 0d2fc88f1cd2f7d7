"""What the tests of the join backend share: a job under it, and a launcher that can be spoilt."""

import pathlib

import job
from scenario import Scenario


class Launcher:
    """An mpiexec for joining processes that does one thing wrong as long as it is told to."""

    def __init__(self, space):
        self.fault = space.directory / "launcher-fault"
        self.script = space.directory / "mpiexec"
        self.script.write_text(f"#!/bin/sh\nif [ -e {self.fault} ]; then . {self.fault}; fi\n"
                               f"exec {job.MPIEXEC} \"$@\"\n")
        self.script.chmod(0o755)

    def spoil(self, line):
        """This line of shell runs first."""
        self.fault.write_text(line + "\n")

    def preload(self, fault):
        """Its processes get tests/programs/preload_fault.c, with that fault."""
        library = job.test_program("preload_fault")
        self.spoil(f'set -- -genv LD_PRELOAD {library} -genv EPOP_TEST_FAULT {fault} "$@"')

    def repair(self):
        self.fault.unlink()


class JoinScenario(Scenario):
    """A scenario of two ranks under the join backend."""

    def __init__(self, space, *arguments, options=(), env=None, **how):
        self.launcher = Launcher(space)
        super().__init__(space, *arguments, start=2, ranks=2, options=("--backend", "join", *options),
                         env={"EPOP_MPIEXEC": self.launcher.script, **(env or {})}, **how)

    def finish(self, ranks=None, windows=None, iterations=None):
        """As Scenario's; of launches that were ended nothing is seen in the output."""
        result = self.it.wait()
        for words in ("mpiexec@", "BAD TERMINATION", "YOUR APPLICATION", "FAQ page", "====="):
            assert words not in result.out + result.err, result
        assert result.status == 0 and "WRONG" not in result.err and "epop: " not in result.err, result
        self.check_counts(result, ranks, windows, iterations)
        return result

    def pids(self, state):
        """Of the processes in that state, by number."""
        return [process["pid"] for process in self.status()["processes"] if process["state"] == state]

    def rank_pid(self, rank):
        return next(process["pid"] for process in self.status()["processes"] if process["rank"] == rank)

    def size(self):
        return self.status()["size"]

    def wait_for_adaptation(self, state):
        return self.wait_for_status(lambda status: status["adaptations"] and
                                    status["adaptations"][-1]["state"] == state)

    @staticmethod
    def launcher_of(pid):
        """The mpiexec above a process."""
        while pid > 1:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            pid = int(status.split("PPid:")[1].split()[0])
            if b"mpiexec" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]:
                return pid
        raise AssertionError("no mpiexec above it")
