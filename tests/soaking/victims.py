"""The processes of a job, for those who look for one to do something to."""

import os
import pathlib


def words(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return [b""]


def parent(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


COMMANDS = {"launcher": b"mpiexec", "proxy": b"hydra_pmi_proxy", "joiner": b"epop"} # of those that come by a resize


class Victims:
    """Who is there before a resize, and who comes by it."""

    def __init__(self, space, status):
        self.space = space
        self.ranks = [process["pid"] for process in sorted(status["processes"], key=lambda p: p["rank"] if p["rank"] is not None else -1)
                      if process["rank"] is not None and process["rank"] >= 0]
        self.standby = [process["pid"] for process in status["processes"] if process["state"] == "standby"]
        self.known = set(space.processes())
        self.request = None

    def find(self, who):
        if who == "rank 0":
            return self.ranks[:1]
        if who == "rank":
            return self.ranks[1:]
        if who == "epopctl":
            return [self.request]
        if who == "standby":
            return self.standby
        return self._new(COMMANDS[who]) if who in COMMANDS else []

    def _new(self, name):
        """Those that run that command; of a process and its keeper, the process."""
        pids = [pid for pid in self.space.processes() if pid not in self.known and
                os.path.basename(words(pid)[0]).startswith(name) and b"epopctl" not in words(pid)[0]]
        return sorted(set(pids) - {parent(pid) for pid in pids})
