"""Process sets and sessions: what they say, what is refused, changes of one set alone, and epopctl psets."""

import json
import os
import random
import re
import shlex
import signal
import subprocess

import pytest

import job
import joining
from executables import LINKED, MPICC, compile_c, compile_threads, source, start, the_world_changes_while_a_communicator_is_made, two_threads_begin_one_job
from schemas import validate

SESSIONS = job.BUILD / "plain/sessions"

SAID = """clock: goes on
names: mpi://WORLD mpi://SELF mpi://app/psets_calls
mpi://WORLD: 3 0 0 True True True False -
mpi://app/psets_calls: 3 0 0 True True True False -
mpi://WORLD: 3 processes, sum of ranks 3
mpi://SELF: 1 processes, sum of ranks 0
barrier: success
barrier of no set: argument
known keys: False True True
a key that nobody sets: argument
mpi://app/psets_calls/rest: 2 0 0 False False False False 16
mpi://app/psets_calls/rest: 3 1 0 False True False False 16
nothing left: argument
no such set: argument
the runtime's name: argument
a priority: argument
too many: null
union of three: 3
difference of three: 1
intersection of three: none
dictionary: 42
group of no set: argument
info of no set: argument
no session: session
accept nothing: else
elastic MPI besides: other
MPI_Init besides: other
spawn another program: spawn
spawn with arguments: spawn
initialized: no
names: mpi://WORLD mpi://SELF mpi://app/psets_calls mpi://app/psets_calls/1 mpi://app/psets_calls/rest mpi://app/psets_calls/3 mpi://app/psets_calls/6 mpi://app/psets_calls/7
mpi://app/psets_calls: 3 processes, sum of ranks 3
mpi://WORLD: 3 processes, sum of ranks 3
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    return compile_c(source("psets_calls"), tmp_path_factory.mktemp("calls") / "psets_calls", *LINKED)


def test_what_the_calls_say(space, calls):
    """With every MPI library: attributes, names whose indices stay, operations, dictionaries, and errors with a line each."""
    result = space.start([job.MPIEXEC, "-n", 3, calls]).wait()
    assert result.status == 0 and result.out == SAID, result
    assert len(result.err.splitlines()) == 16 and all(line.startswith("epop: MPI") for line in result.err.splitlines()), result
    assert "mpi_ps_sched_priority is not for a program to say: its user does, by epoprm submit --priority" in result.err, result


def test_sessions_without_a_job(space, calls):
    """Behind a plain MPI_Init they are MPI's own."""
    result = space.start([job.MPIEXEC, "-n", 2, calls, "world"]).wait()
    assert result.status == 0 and result.out == "change without a job: other\nclock: goes on\n", result


def test_a_job_that_never_changes(space):
    result = space.start([job.MPIEXEC, "-n", 2, SESSIONS, 50, 10000]).wait()
    assert result.status == 0 and result.out == "2083 of 10000 points inside after 50 steps, 2 processes\n", result
    assert result.err == "", result


@joining.needed
def test_the_example_is_resized_and_stopped(space):
    running = start(space, SESSIONS, 100000000, 10000, limit=100)
    for size in (4, 1, 3):
        space.resize(size)
    result = space.stop(running)
    assert result.err == "", result


def test_exit_with_a_session(space, calls):
    """A program that forgets to finalize one, as those that forget MPI_Finalize."""
    result = space.start([job.MPIEXEC, "-n", 2, compile_c(source("psets_forgets"), space.directory / "forgets", *LINKED)]).wait()
    assert result.status == 1, result
    assert re.fullmatch(r"epop: rank \d called exit\(0\), or returned from main, before MPI_Session_finalize\n", result.err), result


# ---- Threads


@pytest.fixture(scope="module")
def threads(tmp_path_factory):
    return compile_threads(tmp_path_factory.mktemp("threads"))


def test_two_threads_begin_one_job(space, threads):
    two_threads_begin_one_job(space, threads)


def test_the_thread_that_began_the_job_has_ended(space, threads):
    """What is told of its calls was its own, and has gone with it."""
    go_on = space.directory / "go-on"
    running = space.start([job.MPIEXEC, "-n", 2, threads, "both", go_on])
    _, line = running.wait_for_line("both have ended")
    running.wait_for_line("both have ended", start=line)
    result = space.epopctl("where")
    assert result.status == 0, result
    go_on.touch()
    result = running.wait()
    assert result.status == 0 and result.err == "" and "second: 2 processes" in result.out, result


@joining.needed
def test_the_world_changes_while_a_communicator_is_made(space, threads):
    """It is made by those of the start, in the new one: nobody looks at the old one when that is gone."""
    the_world_changes_while_a_communicator_is_made(space, threads)


# ---- Changes of one set


def sets(space):
    answer = space.epopctl("psets", "--json")
    assert answer.status == 0, answer
    return {entry["name"]: entry for entry in json.loads(answer.out)}


@joining.needed
def test_one_set_changes_and_the_other_is_not_asked(space):
    """Half of the processes call nothing that the change could wait for. What the runtime cares for follows."""
    binary = compile_c(source("psets_bound"), space.directory / "psets_bound", *LINKED)
    end = space.directory / "end"
    running = start(space, binary, end, ranks=4)
    running.wait_for_line("moving 2")
    running.wait_for_line("still 2")
    moving = "mpi://app/psets_bound/moving"
    space.resize("+1", "--pset", moving)
    running.wait_for_line("moving 3")
    space.resize(1, "--pset", moving)
    running.wait_for_line("moving 1")
    found = sets(space)
    assert found[moving]["processes"] == [2] and (found[moving]["version"], found[moving]["epoch"]) == (2, 2), found
    assert found["mpi://app/psets_bound/still"]["version"] == 0, found
    assert found["mpi://app/psets_bound"]["processes"] == found["mpi://WORLD"]["processes"] == [0, 1, 2], found
    refused = space.epopctl("resize", 1, "--pset", moving + "s")
    assert refused.status == 1 and "there is no process set" in refused.err, refused
    none = space.epopctl("resize", 0, "--pset", moving)
    assert none.status == 1 and "0 processes are no process set" in none.err, none
    end.touch()
    result = running.wait()
    assert result.status == 0 and result.err == "", result
    assert sorted(re.findall("at the end (.)", result.out)) == ["1", "2"], result


@joining.needed
def test_both_sets_accept_what_takes_processes_of_both(space):
    """Whoever is first goes on, and asks again; only when both have accepted anybody leaves."""
    binary = compile_c(source("psets_bound"), space.directory / "psets_bound", *LINKED)
    end = space.directory / "end"
    running = start(space, binary, end, "both", ranks=4)
    running.wait_for_line("moving 2")
    running.wait_for_line("still 2")
    space.resize(2, "--release-ranks", "1,3")
    running.wait_for_line("moving 1")
    running.wait_for_line("still 1")
    end.touch()
    result = running.wait()
    assert result.status == 0 and result.err == "" and result.out.count("at the end 1") == 2, result


# ---- Programs that ask for changes themselves


def successors_program(space):
    """Its source is as it is for the mpi.h that has the calls."""
    binary = space.directory / "psets_grow"
    words = shlex.split(subprocess.run([*MPICC, "-show"], capture_output=True, text=True, check=True).stdout)[1:]
    subprocess.run(["g++", "-Wall", "-DMPICH_SKIP_MPICXX", f"-I{job.ROOT / 'epop_api'}", "-include", "epop/mpi_psets.h",
                        job.ROOT / "tests/plain/psets_grow.cpp", "-o", binary, *LINKED, *words], check=True, timeout=60)
    return binary


def sizes_after(size, wishes):
    for wish in wishes:
        size += {"G": 2, "S": -1, "R": 0}[wish]
        yield size


@joining.needed
@pytest.mark.parametrize("how", ["-", "nb", "away"])
@pytest.mark.parametrize("wishes", ["GSR", "GG", "SG", "RG", "GSGGS"])
def test_a_program_of_the_successors_interface(space, how, wishes):
    """It grows, shrinks, and replaces processes, as often as it likes: what comes of a change is its next one's set."""
    result = space.start([job.MPIEXEC, "-n", 2, successors_program(space), how, wishes]).wait()
    assert result.status == 0 and result.err == "", result
    sizes = enumerate(sizes_after(2, wishes), start=1)
    assert result.out == "".join(f"{size} processes after change {number}\n" for number, size in sizes), result


@joining.needed
def test_random_changes_of_the_successors_interface(space):
    binary, draw = successors_program(space), random.Random(14)
    for _ in range(int(os.environ.get("EPOP_TEST_SEQUENCES", "4"))):
        wishes = ""
        while len(wishes) < 6:
            *_, size = [2, *sizes_after(2, wishes)]
            wishes += draw.choice([wish for wish in "GSR" if 2 <= size + {"G": 2, "S": -1, "R": 0}[wish] <= 7])
        result = space.start([job.MPIEXEC, "-n", 2, binary, "-", wishes]).wait()
        assert result.status == 0 and result.err == "", f"{wishes}\n{result}"
        assert result.out.count("processes after change") == 6, f"{wishes}\n{result}"
        assert f"{size} processes after change 5\n" in result.out, f"{wishes}\n{result}"


# ---- Their edges


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    return compile_c(source("psets_offer"), tmp_path_factory.mktemp("edges") / "psets_offer", *LINKED)


@joining.needed
def test_resize_me_when_you_want(space, edges):
    """A size that others choose, within what the program takes; it is found when it is chosen, and not before."""
    end = space.directory / "end"
    running = start(space, edges, "offer", end)
    job.wait_for(lambda: "3" == sets(space)["mpi://WORLD"]["sched"].get("mpi_ps_sched_num_procs_max"))
    assert space.status()["hints"] == {"min": 2, "max": 3, "preferred": 3}
    assert re.search(r"sets ask\W+at least 2, at most 3, preferably 3\n", space.epopctl("status").out)
    many = space.epopctl("resize", 4)
    assert many.status == 1 and "takes 3 processes or fewer in mpi://WORLD, not 4 (mpi_num_procs_max)" in many.err, many
    few = space.epopctl("resize", 1)
    assert few.status == 1 and "takes 2 processes or more in mpi://WORLD, not 1 (mpi_num_procs_min)" in few.err, few
    for size in (3, 2):
        space.resize(size)
        running.wait_for_line(f"{size} processes")
    end.touch()
    result = running.wait()
    assert result.status == 0 and result.err == "", result
    assert result.out == "3 processes\n2 processes\ncalled off: yes\nthe offer: nothing\n", result


@joining.needed
def test_it_ends_while_it_grows(space, edges):
    """The growth is called off."""
    result = space.start([job.MPIEXEC, "-n", 2, edges, "ends"]).wait()
    assert result.status == 0 and result.out == "asked for 2 sets\n" and result.err == "", result


def a_process_keeps_its_session(space, edges):
    running = space.start([job.MPIEXEC, "-n", 3, edges, "keeps"])
    running.wait_for_line("2 processes")

    def pids(key, value):
        return [process["pid"] for process in space.status()["processes"] if process[key] == value]

    job.wait_for(lambda: pids("state", "leaving"))  # a rank may say that it has come through before the job knows
    return running, pids("state", "leaving")[0], pids("rank", 0)[0]


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_told_to_end_while_a_taken_process_keeps_its_session(space, edges, twice):
    """In the time that is said, or at once for the second time."""
    running, taken, first = a_process_keeps_its_session(space, edges)
    os.kill(first, signal.SIGTERM)
    line = rf"process 2 \(pid {taken} on \S+\), which a change takes, has not finalized its sessions"
    job.wait_for(lambda: re.search(rf"told to stop \(SIGTERM\): {line}; without that the job ends in 10 s\n", running.err))
    if twice:
        os.kill(first, signal.SIGTERM)
    result = running.wait()
    ends = "told to end for a second time" if twice else f"{line}: the job, which was told to stop, ends\n"
    assert result.status != 0 and re.search(ends, result.err), result
    joining.wait_for_end_of(taken)


@pytest.mark.parametrize("how", [(), ("--force",)], ids=["stop", "force"])
def test_stopped_while_a_taken_process_keeps_its_session(space, edges, how):
    running, taken, _ = a_process_keeps_its_session(space, edges)
    assert space.epopctl("stop", *how).status == 0
    result = running.wait()
    assert result.status != 0 and ("ended by epopctl stop --force" if how else "the job, which was told to stop, ends") in result.err, result
    joining.wait_for_end_of(taken)


# ---- Tools, and programs of other kinds


def test_sets_of_a_program_under_epop(space):
    """They know nothing of sets: the runtime cares for all of theirs."""
    running = space.start_epop("--backend", "pool", "--start", 1, job.program("ledger"), *joining.ENDLESS, ranks=2)
    space.wait_until_running(running)
    assert sets(space)["mpi://app/ledger"]["processes"] == [0]
    space.resize(2)
    found = sets(space)
    for entry in found.values():
        validate("control", entry, "pset")
    assert found["mpi://app/ledger"]["processes"] == found["mpi://WORLD"]["processes"] == [0, 1], found
    assert found["mpi://rte/ledger/rc/1-add"]["processes"] == [1] and found["mpi://rte/ledger/rc/1-add"]["delta"], found
    table = space.epopctl("psets").out.splitlines()
    assert table[0].split("\t") == ["SET", "SIZE", "VERSION", "EPOCH", "ACTIVE", "PROCESSES"], table
    assert "mpi://app/ledger\t2\t1\t0\tno\t0,1" in table, table
    space.stop(running)


def test_a_program_under_epop_does_not_change_by_a_session(space):
    result = space.epop("--backend", "pool", job.test_program("wrong_sets"), "asks", ranks=2)
    assert result.status == 0 and result.out.count("refused") == 2, result
    assert result.err.count("epop: MPI_Session_dyn_v2a_psetop: this program adapts by its blocks or by MPI_Probe_adapt") == 2, result
