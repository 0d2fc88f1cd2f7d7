#!/usr/bin/env python3
"""A real Slurm on this one machine: slurmctld on a host "head", slurmd on n1, n2, ..., each in namespaces of its own.

    tests/slurm/cluster.py [--nodes N] [--select cons_tres|linear] [--accounting] [--defaults] [--conf LINE]...

brings one up by hand, says how to get onto its hosts, and ends it at Ctrl-C. For tests see tests/run/helpers/slurm.py. A host has a
name, an address, processes, a /tmp and a /dev/shm of its own; homes, the EPOP tree and its MPICH are the same on all. Nothing
outside of the namespaces is changed, and all ends with the process that made it, however that ends. Needs root.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PACKAGES = ("munged", "slurmctld", "slurmd", "squeue", "ip", "nsenter", "setpriv")
USERS = {"alice": 20001, "bob": 20002}

# In a host's namespaces: its first process, which reaps what others leave. All there ends with it.
HOLD = """
set -e
hostname "$1"
for file in hosts passwd group; do mount --bind "$2/etc/$file" "/etc/$file"; done
for what in epop mpich; do [ ! -e "$2/$what.from" ] || mount --bind "$(cat "$2/$what.from")" "$2/$what"; done
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t tmpfs -o mode=1777 shm /dev/shm
ip link set lo up
echo ready
exec bash -c 'while :; do sleep 1000 & wait; done'
"""

CONF = """
ClusterName=epop
SlurmctldHost=head(10.214.0.254)
SlurmUser=slurm
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge/socket
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin={task}
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/{select}
SchedulerType=sched/backfill
PriorityType=priority/basic
StateSaveLocation={dir}/ctld
SlurmctldPidFile={dir}/pid/slurmctld
SlurmctldLogFile={dir}/log/slurmctld
SlurmdSpoolDir={dir}/spool/%n
SlurmdPidFile={dir}/pid/slurmd.%n
SlurmdLogFile={dir}/log/slurmd.%n
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=300
KillWait=30
MessageTimeout=5
InactiveLimit=0
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=main Nodes=n[1-{nodes}] Default=YES PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP
PartitionName=elastic Nodes=n[1-{nodes}] PriorityTier=1 GraceTime=20 PreemptMode=CANCEL MaxTime=INFINITE State=UP
"""
QUICK = "SchedulerParameters=batch_sched_delay=0,bf_interval=1"  # the defaults are 3 and 30 s
ACCOUNTING = """
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=17816
AccountingStoragePass={dir}/munge/socket
AccountingStoreFlags=job_comment
"""
DATABASE = """
AuthType=auth/munge
AuthInfo=socket={dir}/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=17816
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=17806
StorageUser=root
StorageLoc=slurm
LogFile={dir}/log/slurmdbd
PidFile={dir}/pid/slurmdbd
"""


class Unavailable(Exception):
    """Such a cluster cannot be made here; why."""


class Cluster:
    """epop, mpich: the tree of EPOP and the MPI of it, seen as .epop and .mpich on all hosts; without, that MPI is the system's MPICH.
    lines: of slurm.conf, instead of those of the same key that are there."""

    def __init__(self, epop=None, mpich=None, nodes=4, cpus=4, select="cons_tres", task="task/none", accounting=False,
                 quick=True, lines=()):
        missing = [name for name in PACKAGES if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")]
        if missing:
            raise Unavailable(f"{', '.join(missing)}: not installed")
        if os.geteuid():
            raise Unavailable("namespaces with several users need root")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="epop-slurm-", dir="/var/tmp"))
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        self.epop, self.mpich = self.directory / "epop", self.directory / "mpich"
        self._holders, self._tasks = {}, []
        try:
            self._lay_out(epop, mpich)
            for host in ("head", *self.nodes):
                self._hold(host)
            self._wire()
            self._configure(select, task, accounting, quick, cpus, lines)
            self._serve(accounting)
        except BaseException:
            self.close()
            raise

    # ---- For tests

    def command(self, host, command, user="alice", env=None, cwd=None):
        """The words that run a command on a host as this user ("root": as that), and the environment for them."""
        uid = USERS.get(user, 0)
        home = self.directory / "home" / user if uid else self.directory
        drop = ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"] if uid else []
        environment = {"PATH": f"{self.epop}/bin:{self.mpich}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "USER": user,
                       "LOGNAME": user, "HOME": str(home), "LANG": "C.UTF-8", **self.variables(), **(env or {})}
        words = [*self._enter(host), *drop, "env", "-C", str(cwd or home), "-i",
                 *(f"{key}={value}" for key, value in environment.items() if value is not None)]
        return [*words, *map(str, command)]

    def variables(self):
        """What a job needs to find Slurm, EPOP and MPI."""
        return {"SLURM_CONF": self.directory / "slurm.conf", "EPOP_MUNGE_SOCKET": self.directory / "munge/socket",
                "LD_LIBRARY_PATH": self.mpich / "lib", "EPOP_MPIEXEC": self.mpich / "bin/mpiexec",
                "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

    def run(self, host, *command, user="alice", env=None, cwd=None, limit=120, check=True, stdin=None):
        """Runs it to its end; subprocess.CompletedProcess with text."""
        done = subprocess.run(self.command(host, command, user, env, cwd), capture_output=True, text=True, timeout=limit,
                              check=False, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL)
        assert not check or done.returncode == 0, f"{host}: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
        return done

    def start(self, host, *command, user="alice", env=None, cwd=None, **how):
        """Starts it; a subprocess.Popen, whose end is the cluster's affair at the latest."""
        task = subprocess.Popen(self.command(host, command, user, env, cwd), stdin=subprocess.DEVNULL, text=True, **how)
        self._tasks.append(task)
        return task

    def sbatch(self, script, *options, user="alice", env=None):
        """Submits a script's text; the job's number. Its output is in the home, slurm-N.out."""
        done = self.run("head", "sbatch", "--parsable", *options, user=user, env=env, stdin="#!/bin/bash\n" + script)
        return int(done.stdout.strip().split(";")[0])

    def output(self, number, user="alice"):
        path = self.directory / "home" / user / f"slurm-{number}.out"
        return path.read_text() if path.exists() else ""

    def jobs(self, *options):
        """squeue: {number: (name, state, node list, partition, reason, comment)}."""
        text = self.run("head", "squeue", "-h", "-o", "%A|%T|%N|%P|%r|%k|%j", *options).stdout
        rows = (row.rstrip("\n").split("|", 6) for row in re.split(r"^(?=\d+\|)", text, flags=re.M) if row)  # a name may have lines
        return {int(number): (name, *others) for number, *others, name in rows}

    def state(self, number):
        """Of a job, also for a while after its end."""
        row = self.run("head", "scontrol", "-o", "show", "job", str(number)).stdout
        return dict(word.split("=", 1) for word in row.split() if "=" in word)["JobState"]

    def node_states(self, check=True):
        rows = self.run("head", "sinfo", "-h", "-N", "-o", "%N|%T", "-p", "main", check=check).stdout.splitlines()
        return dict(line.split("|") for line in rows)

    def wait(self, condition, limit=180, what="it"):
        """For what comes by itself, and nobody tells of. What the condition said last."""
        end = time.monotonic() + limit
        while not (value := condition()):
            assert time.monotonic() < end, f"{what}: not in time\n{self.run('head', 'squeue').stdout}{self.run('head', 'sinfo', '-N').stdout}"
            time.sleep(0.02)
        return value

    def wait_for_state(self, number, *states):
        return self.wait(lambda: self.state(number) in states, what=f"job {number} {states}")

    def clear(self):
        """No job is left, no process of a user is on a node, and all nodes are idle. What a process there submits on its way out
        goes, too."""
        cancelled = set()
        def is_clear():
            busy = any(self.users_pids(node) for node in self.nodes)
            jobs = set(self.jobs())
            if jobs - cancelled:
                self.run("head", "scancel", "--quiet", *(jobs - cancelled), user="root", check=False)
                cancelled.update(jobs)
            return not busy and not jobs and set(self.node_states().values()) == {"idle"}
        self.wait(is_clear, what="an empty cluster")

    def pids(self, host):
        """All processes of a host, by their numbers here: {pid: command line}."""
        space = os.readlink(f"/proc/{self._holders[host][1]}/ns/pid")
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "ns/pid") == space:
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:
                continue  # it has ended
        return found

    def users_pids(self, host):
        """Those of alice and bob."""
        def owner(pid):
            try:
                return os.stat(f"/proc/{pid}").st_uid
            except OSError:
                return None
        return {pid: text for pid, text in self.pids(host).items() if owner(pid) in USERS.values()}

    def kill_daemon(self, name):
        """kill -9 of "slurmctld" on the head, or "slurmd.n2"."""
        host = "head" if name == "slurmctld" else name.split(".")[1]
        pid = (self.directory / "pid" / name).read_text().strip()
        self.run(host, "kill", "-9", pid, user="root")

    def start_daemon(self, name):
        host, daemon = ("head", ["slurmctld"]) if name == "slurmctld" else (name.split(".")[1], ["slurmd", "-N", name.split(".")[1]])
        self.run(host, "setsid", *daemon, user="root")

    def kill_host(self, name):
        """Its power goes: nothing of it runs on, and nothing answers."""
        os.kill(self._holders[name][1], signal.SIGKILL)
        self._holders[name][0].wait()

    def start_host(self, name):
        """It is there again, with slurmd."""
        self._hold(name)
        self._wire_node(name)
        self.start_daemon(f"slurmd.{name}")

    def close(self):
        """Ends all of it."""
        for host in (*self.nodes, "head"):
            if host in self._holders:
                self._holders.pop(host)[0].kill()  # of unshare, which takes its child with it
        for task in self._tasks:
            task.kill()
            task.wait()
        self._end_leftovers()
        shutil.rmtree(self.directory, ignore_errors=True)

    # ---- Making it

    def _lay_out(self, epop, mpich):
        self.directory.chmod(0o755)
        for name in ("etc", "munge", "ctld", "log", "spool", "pid", "home", "epop", "mpich", "db"):
            (self.directory / name).mkdir(mode=0o755)
        for what, where in (("epop", epop), ("mpich", mpich)):
            if where:
                (self.directory / f"{what}.from").write_text(str(where))
        if not mpich:  # its own `mpiexec` can be another MPI's, and a link would not do, as Hydra looks for its proxy beside
            (self.mpich / "bin").mkdir()
            (self.mpich / "bin/mpiexec").write_text('#!/bin/sh\nexec mpiexec.mpich "$@"\n')
            (self.mpich / "bin/mpiexec").chmod(0o755)
        addresses = "".join(f"10.214.0.{i + 1} {name}\n" for i, name in enumerate(self.nodes))
        etc = self.directory / "etc"
        (etc / "hosts").write_text(f"127.0.0.1 localhost\n10.214.0.254 head\n{addresses}")
        users = "".join(f"{name}:x:{uid}:{uid}::{self.directory}/home/{name}:/bin/bash\n" for name, uid in USERS.items())
        (etc / "passwd").write_text(pathlib.Path("/etc/passwd").read_text() + users)
        (etc / "group").write_text(pathlib.Path("/etc/group").read_text() + "".join(f"{name}:x:{uid}:\n" for name, uid in USERS.items()))
        for name, uid in USERS.items():
            (self.directory / "home" / name).mkdir(mode=0o700)
            os.chown(self.directory / "home" / name, uid, uid)
        (self.directory / "munge/key").write_bytes(os.urandom(128))
        (self.directory / "munge/key").chmod(0o400)
        for name in ("ctld", "pid", "log"):
            shutil.chown(self.directory / name, "slurm")

    def _hold(self, host):
        """A host's namespaces. Not in our session, so that no terminal ends it; and it ends with us."""
        holder = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--uts", "--net", "--pid", "--fork", "--mount-proc",
             "--kill-child", "sh", "-c", HOLD, "sh", host, self.directory],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        line = holder.stdout.readline()
        if line != "ready\n":
            holder.kill()
            raise Unavailable(f"namespaces cannot be made here: {line.strip()} {holder.stdout.read().strip()}")
        child = pathlib.Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().split()[0]
        self._holders[host] = (holder, int(child))

    def _enter(self, host):
        return ["nsenter", "-t", str(self._holders[host][1]), "-m", "-u", "-n", "-p"]

    def _in(self, host, *command, limit=120):
        done = subprocess.run([*self._enter(host), *map(str, command)], capture_output=True, text=True, timeout=limit, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, **{k: str(v) for k, v in self.variables().items()}})
        if done.returncode:
            raise Unavailable(f"{host}: {' '.join(map(str, command))}: {(done.stderr + done.stdout).strip()[-500:]}")
        return done.stdout

    def _wire(self):
        self._in("head", "sh", "-c", "ip link add br0 type bridge && ip address add 10.214.0.254/24 dev br0 && ip link set br0 up")
        for node in self.nodes:
            self._wire_node(node)

    def _wire_node(self, node):
        address = self.nodes.index(node) + 1
        subprocess.run(["nsenter", "-t", str(self._holders["head"][1]), "-n", "sh", "-c",
                        f"ip link delete port-{node} 2>/dev/null; ip link add port-{node} type veth peer name eth0 netns "
                        f"{self._holders[node][1]} && ip link set port-{node} master br0 up"], check=True, timeout=30)
        self._in(node, "sh", "-c", f"ip address add 10.214.0.{address}/24 dev eth0 && ip link set eth0 up")

    def _configure(self, select, task, accounting, quick, cpus, lines):
        text = CONF.format(dir=self.directory, select=select, task=task, nodes=len(self.nodes))
        text += "SelectTypeParameters=CR_Core\n" if select != "linear" else ""
        text += QUICK + "\n" if quick else ""
        text += ACCOUNTING.format(dir=self.directory) if accounting else "AccountingStorageType=accounting_storage/none\n"
        for i, node in enumerate(self.nodes):
            text += (f"NodeName={node} NodeAddr=10.214.0.{i + 1} CPUs={cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={cpus} "
                     "ThreadsPerCore=1 RealMemory=4000\n")
        for line in lines:
            key = line.split(" ")[0] if line.startswith(("PartitionName", "NodeName")) else line.split("=")[0] + "="
            text = "".join(row for row in text.splitlines(True) if not row.startswith(key)) + line + "\n"
        (self.directory / "slurm.conf").write_text(text)
        (self.directory / "cgroup.conf").write_text("ConstrainCores=yes\nCgroupAutomount=no\n")
        (self.directory / "slurmdbd.conf").write_text(DATABASE.format(dir=self.directory))
        (self.directory / "slurmdbd.conf").chmod(0o600)
        shutil.chown(self.directory / "slurmdbd.conf", "slurm")

    def _serve(self, accounting):
        munge = self.directory / "munge"
        self._in("head", "setsid", "munged", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket",
                 f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        if accounting:
            self._account()
        self._in("head", "setsid", "slurmctld", "-c")
        for node in self.nodes:
            (self.directory / "spool" / node).mkdir()
            self._in(node, "setsid", "slurmd", "-N", node)
        # Slurm's commands give up after MessageTimeout, by when slurmctld may not have come up.
        self.wait(lambda: list(self.node_states(check=False).values()).count("idle") == len(self.nodes), what="idle nodes")

    def _account(self):
        """slurmdbd with a database that loses nothing worth keeping."""
        db = self.directory / "db"
        share = next(path for path in map(pathlib.Path, ("/usr/share/mariadb", "/usr/share/mysql")) if path.is_dir())  # the latter before MariaDB 11
        command = ["mariadbd", "--no-defaults", "--user=root", f"--datadir={db}", f"--tmpdir={self.directory}", f"--lc-messages-dir={share}",
                   "--skip-log-bin", "--innodb-log-file-size=8M", "--innodb-buffer-pool-size=64M",
                   "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync"]
        tables = "create database mysql;\nuse mysql;\n" + (share / f"{share.name}_system_tables.sql").read_text()
        subprocess.run([*self._enter("head"), *command, "--bootstrap"], input=tables, text=True, capture_output=True, check=True, timeout=180)
        socket = self.directory / "db.socket"
        self._tasks.append(subprocess.Popen(
            [*self._enter("head"), *command, f"--socket={socket}", "--port=17806", "--bind-address=127.0.0.1", "--skip-grant-tables"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(self.directory / "log/mariadbd", "w"), start_new_session=True))
        self.wait_file("log/mariadbd", "ready for connections")
        self._in("head", "setsid", "slurmdbd")
        end = time.monotonic() + 180
        log = self.directory / "log/slurmdbd"
        while self.run("head", "sacctmgr", "-i", "add", "cluster", "epop", user="root", check=False).returncode:
            said = log.read_text() if log.exists() else ""
            if "fatal:" in said:  # that of Debian 13 cannot read what its own MariaDB 11.8.9 answers
                raise Unavailable(f"slurmdbd: {said.strip()[-500:]}")
            assert time.monotonic() < end, said
        self.run("head", "sacctmgr", "-i", "add", "account", "test", user="root")
        for user in (*USERS, "root"):
            self.run("head", "sacctmgr", "-i", "add", "user", user, "account=test", user="root")

    def wait_file(self, name, text, limit=180):
        end = time.monotonic() + limit
        while text not in (self.directory / name).read_text():
            assert time.monotonic() < end, (self.directory / name).read_text()[-2000:]
            time.sleep(0.02)

    def _end_leftovers(self):
        """What was started in a host's namespaces from here ends with the host's first process; this waits for that."""
        end = time.monotonic() + 60
        while time.monotonic() < end and any(str(self.directory) in text for text in self._commands()):
            time.sleep(0.02)

    @staticmethod
    def _commands():
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    yield (entry / "cmdline").read_bytes().decode(errors="replace")
                except OSError:
                    continue


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--select", choices=("cons_tres", "linear"), default="cons_tres")
    parser.add_argument("--accounting", action="store_true", help="with slurmdbd")
    parser.add_argument("--defaults", action="store_true", help="Slurm's own scheduler parameters, which take seconds")
    parser.add_argument("--conf", action="append", default=[], metavar="LINE", help="of slurm.conf")
    parser.add_argument("--epop", metavar="TREE", help="a built or installed EPOP")
    parser.add_argument("--mpich", metavar="PREFIX")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin = time.monotonic()
    try:
        cluster = Cluster(given.epop and pathlib.Path(given.epop).resolve(), given.mpich and pathlib.Path(given.mpich).resolve(),
                          nodes=given.nodes, select=given.select, accounting=given.accounting, quick=not given.defaults, lines=given.conf)
    except Unavailable as why:
        sys.exit(f"cluster.py: {why}")
    try:
        print(f"up after {time.monotonic() - begin:.1f} s in {cluster.directory}; Ctrl-C ends it. On a host, as a user:", flush=True)
        for host in ("head", *cluster.nodes):
            print(f"  {' '.join(cluster.command(host, ['bash'])[:16])} ... bash", flush=True)
        signal.pause()
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
