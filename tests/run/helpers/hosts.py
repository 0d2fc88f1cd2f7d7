"""Several hosts on this one: a network namespace each, on one bridge, with a host name of its own.

Each is held by a process of the test's Space: when that ends, nothing of the host is left. No name is put anywhere
in the system: the hosts file is seen inside the namespaces alone.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time

import job

START = job.ROOT / "tests/hosts/start.sh"
SSH = job.ROOT / "tests/hosts/ssh.sh"  # which is not told that a host has gone silently
HOLD = 'hostname "$1" && mount --bind "$2" /etc/hosts && mount -t tmpfs tmpfs /dev/shm && ip link set lo up && echo ready && exec cat'


class Unavailable(Exception):
    """Namespaces cannot be made here; why."""


class At(job.Asks):
    """One of the hosts, and the job that epopctl finds there."""

    def __init__(self, net, name):
        self.net, self.name = net, name

    def epopctl(self, *words, **how):
        return self.net.epopctl(self.name, *words, **how)

    def by_rank(self):
        return by_rank(self.status())


def by_rank(status):
    """The hosts of ranks 0, 1, ..."""
    ranks = sorted((process["rank"], process["host"]) for process in status["processes"])
    return [host for rank, host in ranks if rank >= 0]


class Hosts:
    """Hosts of these names, which reach each other. clocks: {name: seconds that its monotonic clock is ahead}."""

    def __init__(self, space, names, clocks=None):
        if not shutil.which("ip"):
            raise Unavailable("there is no command 'ip'")
        self.space, self.names, self.clocks = space, names, clocks or {}
        self.directory = space.directory / "hosts"
        self.directory.mkdir()
        (self.directory / "table").write_text("127.0.0.1 localhost\n" + "".join(
            f"{self._address(name)} {name}\n" for name in names))
        self._pids = {name: self._hold(name) for name in ("switch", *names)}
        self._in("switch", "ip link add br0 type bridge")
        self._in("switch", "ip link set br0 up")
        for name in names:
            self._wire(name)

    def environment(self, extra=None):
        """For commands on these hosts."""
        return {"EPOP_TEST_HOSTS": self.directory, **(extra or {})}

    def start(self, name, command, env=None, **how):
        """Starts a command on a host, in the space's directory."""
        return self.space.start(self.command(name, command), env=self.environment(env), **how)

    def command(self, name, command):
        """What to run for that, with this environment."""
        return [*self._enter(name), "sh", "-c", 'cd "$0" && exec "$@"', self.space.directory, *command]

    def epopctl(self, name, *arguments, limit=job.EPOPCTL_LIMIT):
        return self.start(name, [job.BUILD / "bin/epopctl", *arguments], limit=limit).wait()

    def at(self, name):
        """That one, and a job there."""
        return At(self, name)

    def cut(self, name, silently=False):
        """Pulls its cable. Silently: the host thinks that it reaches the first one, and waits for answers."""
        if silently:
            self._in(name, f"ip neighbour replace {self._address(self.names[0])} lladdr 02:00:00:00:00:01 dev eth0")
        self._in("switch", f"ip link set port-{name} down")

    def mend(self, name):
        self._in("switch", f"ip link set port-{name} up")
        self._in(name, "ip neighbour flush nud permanent")

    def clear(self, name):
        """Ends all that runs on a host, as its power switch would: what tries to reach another one does so for minutes."""
        for pid in self._there(name):
            with contextlib.suppress(OSError):  # it has ended by now
                os.kill(pid, signal.SIGKILL)

    def power_off(self, name, silently=False):
        """Nothing runs there any more, and nothing can be started. Silently: nobody is told that connections to it have ended,
        as its cable is pulled first."""
        (self.directory / name).rename(self.directory / f"{name}.off")
        if silently:
            (self.directory / f"{name}.silent").touch()
            self.cut(name)
        end = time.monotonic() + 20
        while self._there(name) or not self._forgets(name):
            assert time.monotonic() < end, f"{name} does not end: {self._there(name)}"
            self.clear(name)
        self._in(name, "mount -t tmpfs tmpfs /dev/shm")
        if not silently:
            self.cut(name)

    def power_on(self, name):
        self.mend(name)
        (self.directory / f"{name}.silent").unlink(missing_ok=True)
        (self.directory / f"{name}.off").rename(self.directory / name)

    def holders(self):
        """Processes that are the hosts themselves."""
        return list(self._pids.values())

    def _forgets(self, name):
        """Its memory is gone; not while a process has it that was being started when the switch was pressed."""
        return subprocess.run([*self._enter(name), "umount", "/dev/shm"], capture_output=True, timeout=20, check=False).returncode == 0

    def _there(self, name):
        """What runs on it."""
        there, found = os.readlink(f"/proc/{self._pids[name]}/ns/net"), []
        for pid in self.space.processes():
            with contextlib.suppress(OSError):
                if pid != self._pids[name] and os.readlink(f"/proc/{pid}/ns/net") == there:
                    found.append(pid)
        return found

    def _address(self, name):
        return f"10.213.0.{self.names.index(name) + 1}"

    def _hold(self, name):
        clock = ["--time", "--monotonic", self.clocks[name]] if name in self.clocks else []
        holder = self.space.start(["unshare", "--net", "--uts", "--mount", *clock, "sh", "-c", HOLD, "sh", name,
                                   self.directory / "table"], stdin=subprocess.PIPE, limit=600)
        try:
            holder.wait_for_line("ready", timeout=60)
        except job.TimeLimit as failure:
            if "in time" in str(failure).splitlines()[0]:  # it is slow, which is no reason to leave a test out
                raise
            raise Unavailable(str(failure).strip().splitlines()[-1]) from failure
        (self.directory / name).write_text(f"{holder.pid}\n")
        return holder.pid

    def _enter(self, name):
        return ["nsenter", "-t", str(self._pids[name]), "-n", "-u", "-m", "-T"]

    def _in(self, name, command):
        done = subprocess.run([*self._enter(name), *command.split()], capture_output=True, text=True, timeout=20,
                              check=False)
        if done.returncode:
            raise Unavailable(f"{command}: {done.stderr.strip()}")

    def _wire(self, name):
        self._in("switch", f"ip link add port-{name} type veth peer name eth0 netns {self._pids[name]}")
        self._in("switch", f"ip link set port-{name} master br0 up")
        self._in(name, f"ip address add {self._address(name)}/24 dev eth0")
        self._in(name, "ip link set eth0 up")
