"""Processes that join find what the first ones did: arguments, directory, environment, limits; and cores of their own."""

import os

import pytest

import hosts
import job
import joining

pytestmark = joining.needed

CORES = sorted(os.sched_getaffinity(0))
# Of the launch, of the host that it puts the process on, or the control plane's while it attaches.
LAUNCHERS = ("PMI_", "HYDI_", "MPI_LOCAL", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=", "PMIX_OUTPUT_STDERR_FD=")


def files(folder, status, count):
    """What `count` processes of that status wrote, as lists of lines."""
    found = job.wait_for(lambda: [path for path in sorted(folder.glob(f"{status}.*")) if path.suffix != ".part"],
                         meets=lambda found: len(found) >= count, why=lambda: sorted(folder.iterdir()))
    return [path.read_text().splitlines() for path in found]


def of(lines, word):
    """The values behind a word; without the launcher's variables."""
    values = [line.split(" ", 1)[1] for line in lines if line.startswith(word + " ")]
    return [value for value in values if not value.startswith(LAUNCHERS)]


def grow(space, command, by, folder, ranks=1, asks=None, arguments=()):
    """Starts the job by a command that gets mpiexec's words, and has it grow; (first processes, joiners)."""
    folder.mkdir()
    running = command([job.BUILD / "bin/epop", "--backend", "join", job.test_program("conditions"), folder, "a b", ""])
    first = files(folder, "new", ranks)
    asks = asks or space
    asks.resize(f"+{by}", *arguments)
    joined = files(folder, "joining", by)
    asks.stop(running)
    return first, joined


def assert_same(first, joined):
    assert of(joined, "argument") == of(first, "argument") and len(of(first, "argument")) == 4
    assert of(joined, "directory") == of(first, "directory")
    assert of(joined, "limit") == of(first, "limit")
    assert sorted(of(joined, "variable")) == sorted(of(first, "variable"))


@pytest.mark.parametrize("chosen", ["", "folder/launcher", "launcher"])
def test_the_launcher_is_looked_for_where_the_job_starts(space, tmp_path, chosen):
    """The program goes to another directory. Nothing chosen is the build's own launcher, and not the directory there."""
    script = tmp_path / "folder" / "launcher"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/used\nexec {job.MPIEXEC} \"$@\"\n")
    script.chmod(0o755)
    grow(space, lambda words: space.start([job.MPIEXEC, "-n", "1", *words], cwd=tmp_path, env={
        "EPOP_MPIEXEC": chosen, "PATH": "folder:" + os.environ["PATH"]}), 1, tmp_path / "out")
    assert (tmp_path / "used").exists() == (chosen != "")


def test_same_conditions(space, tmp_path):
    """Limits of this launch; and rank 0 changes directory, environment and a limit before the others are started."""
    def command(words):
        limits = "ulimit -Sn 333; ulimit -Ss 4096; ulimit -Sc 1000; exec \"$@\""
        return space.start(["sh", "-c", limits, "sh", job.MPIEXEC, "-n", "1", *words],
                           env={"A_VARIABLE": "with = and\nlines"})
    (first,), joined = grow(space, command, 2, tmp_path / "found")
    assert "nofile 333 " in " ".join(of(first, "limit")) and "A_VARIABLE=with = and" in of(first, "variable")
    for process in joined:
        assert_same(first, process)


def test_same_conditions_on_another_host(space, tmp_path):
    """Where the launcher starts in another directory, with other limits and hardly any environment."""
    try:
        net = hosts.Hosts(space, ["n1", "n2"])
    except hosts.Unavailable as why:
        pytest.skip(f"no namespaces here: {why}")

    def command(words):
        return net.start("n1", [job.MPIEXEC, "-launcher", "ssh", "-launcher-exec", hosts.START, "-hosts", "n1", "-n", "1",
                                *words])
    (first,), (joined,) = grow(space, command, 1, tmp_path / "found", arguments=("--hosts", "n2"),
                               asks=net.at("n1"))
    assert_same(first, joined)


def cores(lines):
    return [[int(core) for core in of(process, "cores")[0].split()] for process in lines]


several = pytest.mark.skipif(len(CORES) < 2, reason="one core alone")


@several
def test_bound_beside_bound_ranks(space, tmp_path):
    """One core is taken: one joiner gets one of the others."""
    (first,), (joined,) = (cores(part) for part in grow(
        space, lambda words: space.start(["taskset", "-c", CORES[0], job.MPIEXEC, "-n", "1", *words]),
        1, tmp_path / "found"))
    assert first == CORES[:1] and joined == CORES[1:2]


@several
def test_more_than_cores_are_left(space, tmp_path):
    """They share what is left."""
    taken = CORES[:-1]
    _, joined = (cores(part) for part in grow(
        space, lambda words: space.start(["taskset", "-c", ",".join(map(str, taken)), job.MPIEXEC, "-n", "1", *words]),
        2, tmp_path / "found"))
    assert joined == [CORES[-1:]] * 2


@several
def test_no_core_is_left(space, tmp_path):
    """Every rank is bound to its own, and all are taken: joiners are not bound."""
    script = tmp_path / "bind.sh"
    script.write_text("#!/bin/sh\nset -- taskset -c \"$PMI_RANK\" \"$@\"\n[ -z \"$EPOP_JOIN\" ] || shift 3\nexec \"$@\"\n")
    script.chmod(0o755)
    if len(CORES) > 4 or CORES != list(range(len(CORES))):
        pytest.skip("a rank per core would be too many")
    first, (joined,) = (cores(part) for part in grow(
        space, lambda words: space.start([job.MPIEXEC, "-n", len(CORES), script, *words]), 1, tmp_path / "found",
        ranks=len(CORES)))
    assert sorted(first) == [[core] for core in CORES] and joined == CORES


def test_unbound_beside_unbound_ranks(space, tmp_path):
    (first,), (joined,) = (cores(part) for part in grow(
        space, lambda words: space.start([job.MPIEXEC, "-n", "1", *words]), 1, tmp_path / "found"))
    assert first == joined == CORES
