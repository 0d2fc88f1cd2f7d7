"""A job that is resized in a soak, and the programs for it."""

import json
import os
import pathlib
import time

import job

PROGRAMS = {
    "ledger": lambda: [job.program("ledger"), "iterations=1000000000", "elements=20000", "work=300", "skew=1500"],
    "gauss": lambda: [job.example("gauss"), "--random", "4000", "--block", "2", "--json"],
    "cannon": lambda: [job.example("cannon"), "--random", "300,40000,300", "--panel", "2", "--verify", "--json"],
}
# Those that end: in which phase they are resized, and what must be small at the end.
PHASE = {"gauss": "eliminate", "cannon": "multiply"}
RESIDUAL = {"gauss": lambda result: result["scaled_residual"] < 16, "cannon": lambda result: result["residual"] <= 1}


class Failed(Exception):
    """The soak found something."""


def resident_kb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


class Run:
    """One job at a time, of a program and a backend; one that ends is started again."""

    def __init__(self, space, program, backend, options, most):
        self.space, self.program, self.backend, self.options, self.most = space, program, backend, options, most
        self.parks = backend == "pool" or "park" in " ".join(options)
        self.replaces = "baseline" in " ".join(options)
        self.ended = self.tools = 0
        self.start()

    def ctl(self, *arguments, limit=30):
        self.tools += 1
        return self.space.epopctl(*arguments, limit=limit)

    def start(self):
        lent = self.backend == "pool"
        self.it = self.space.start_epop("--backend", self.backend, *self.options, *(["--start", "1"] if lent else []),
                                        *PROGRAMS[self.program](), ranks=self.most if lent else 1,
                                        limit=100000)
        self.resizes, self.size, self.peak = 0, 1, 1
        self.wait_until_computing()

    def status(self):
        """None when no job is there."""
        result = self.ctl("status", "--json")
        return json.loads(result.out) if result.status == 0 else None

    def wait_until_computing(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.it.running():
            status = self.status()
            if status and status["element"] and status["element"]["type"] == "EP" and all(
                    process["pid"] for process in status["processes"]):
                return
        raise Failed(f"the job does not start\n{self.report()}")

    def report(self):
        return f"--- stdout\n{self.it.out}--- stderr\n{self.it.err}"

    def near_its_end(self):
        """Gauss eliminates faster and faster: the last part leaves no time for a resize."""
        if self.program not in PHASE:
            return False
        status = self.status()
        progress = status and status["progress"]
        return not status or not status["element"] or status["element"]["name"] != PHASE[self.program] or (
            progress and progress["iteration"] > 0.8 * progress["bound"])

    def resize(self, rng):
        """One, wherever the program is then."""
        while True:
            if self.near_its_end():
                self.finish()
                self.start()
            size, named = self.choose(rng)
            result = self.ask_for(size, named)
            if result.status == 0:
                break
            if not self.came_too_late(result):
                raise Failed(f"{self.size} -> {size} {named}: {result}\n{self.report()}")
        self.count(size, len(named[1].split(",")) if named else 0)

    def count(self, size, leaving=0):
        """That resize, and the processes that were started for it."""
        if self.replaces:
            self.tools += size
        elif self.parks:
            self.tools += max(0, size - self.peak) if self.backend != "pool" else 0
        else:
            self.tools += max(0, size - (self.size - leaving))
        self.peak = max(self.peak, size)
        self.size = size
        self.resizes += 1

    def ask_for(self, size, named):
        """A job that hangs is looked at before it is ended."""
        try:
            return self.ctl("resize", str(size), "--wait", *named, limit=60)
        except job.TimeLimit as limit:
            text = json.dumps(self.status())
            raise Failed(f"{self.size} -> {size} {named}: {limit}--- status\n{text}\n{self.report()}") from None

    def came_too_late(self, result):
        """The program had left the phase by then: no failure, another run is asked."""
        late = ("has ended", "is ending", "no job is running")
        if self.program not in PHASE or not any(text in result.err for text in late):
            return False
        self.finish()
        self.start()
        return True

    def choose(self, rng):
        """Another size; at times ranks are named that leave, and others may join in the same adaptation."""
        if self.program == "cannon":
            return rng.choice([n * n for n in range(1, self.most) if n * n <= self.most and n * n != self.size]), []
        if self.size < 3 or rng.random() < 0.7:
            return rng.choice([n for n in range(1, self.most + 1) if n != self.size]), []
        leaving = rng.sample(range(1, self.size), rng.randint(1, self.size // 2))
        staying = self.size - len(leaving)
        # Those that park cannot join in the same adaptation: in the pool it is refused, else the job would have more
        # processes at times than ever before, which looks like growth.
        most = self.most - len(leaving) if self.parks else self.most
        return rng.randint(staying, max(staying, most)), ["--release-ranks", ",".join(map(str, leaving))]

    def finish(self, counted=True):
        """A good end, and right numbers."""
        if self.program == "ledger":
            self.ctl("stop", "--wait")
        result = self.it.wait(120)
        if result.status != 0 or not self.is_right(result, counted):
            raise Failed(f"{result}")
        end = time.monotonic() + 20
        while self.space.processes() and time.monotonic() < end:
            time.sleep(0.05)
        if self.space.processes():
            raise Failed(f"left at the end: {self.space.processes()}\n{result}")
        self.ended += 1

    def is_right(self, result, counted=True):
        """counted: all its resizes are known."""
        if self.program == "ledger":
            return "elements right" in result.out and (not counted or f"{self.resizes} resizes" in result.out)
        lines = [line for line in result.out.splitlines() if line.startswith("{")]
        return bool(lines) and RESIDUAL[self.program](json.loads(lines[-1])) and (
            not counted or json.loads(lines[-1])["resizes"] == self.resizes)

    def present(self):
        """Processes that run the program, or are about to go."""
        return sum(process["state"] != "hosting" for process in self.status()["processes"])

    def measure(self):
        """What may not grow, of rank 0 and of the job at the present size."""
        zero = self.status()["processes"][0]["pid"]
        return {"rss": resident_kb(zero), "fds": len(os.listdir(f"/proc/{zero}/fd")),
                "processes": len(self.space.processes())}
