"""--driver debug: who breaks the contract is named in one line; who keeps to it, is not disturbed."""

import json
import os
import re
import signal
import time

import job
import pytest
from scenario import Scenario, Switch, assert_named

SAME = "it must be the same on every rank"


def run(space, name, *arguments, ranks=3, options=(), **how):
    """A program of tests/programs/ under the debug driver, to its end."""
    return space.epop("--driver", "debug", *options, job.test_program(name), *arguments, ranks=ranks, **how)


def assert_clean(result):
    assert result.status == 0 and result.err == "", result


# ---- Ranks that go different ways


ANSWERS = {
    "loop": ["wrong_answers: element 1 'work' (EP), iteration 3, rank 1 of 3: its loop condition answers stop; "
             "but ranks 0 and 2: its loop condition answers go on"],
    "rigid": ["element 3 'report' (RP), iteration 1, rank 1 of 3: its loop condition answers stop; but ranks 0 and 2: "],
    "branch": ["element 2 'again' (BRANCH), iteration 0, rank 1 of 3: its branch goes to element 3 'report'; "
               "but ranks 0 and 2: its branch goes to element 1 'work'"],
}


@pytest.mark.parametrize("way", ANSWERS)
def test_answers_that_differ(space, way):
    assert_named(run(space, "wrong_answers", way), *ANSWERS[way], SAME)


def test_an_element_more(space):
    result = run(space, "wrong_answers", env={"EPOP_TEST_FAULT": "element"})
    assert_named(result, "wrong_answers: element 1 'work' (EP), iteration 0, rank 1 of 3: it enters 'more' (RP) of 5 "
                 "elements; but ranks 0 and 2: it enters 'work' (EP) of 4 elements", SAME)


def test_answers_that_do_not_differ(space):
    assert_clean(run(space, "wrong_answers", "right"))


def test_two_ranks(space):
    """Nobody is in the majority: rank 0 is taken at its word."""
    assert_named(run(space, "wrong_answers", "loop", ranks=2), "rank 1 of 2: its loop condition answers stop; but rank 0: ")


def test_a_rank_that_does_not_come(space):
    """Rank 1 hangs in its own way only after it has said what it does; the others are told of in time."""
    result = run(space, "scenario_breach", "way=end")
    assert_named(result, "scenario: element 1 'first' (EP), iteration 9, rank 1 of 3: its loop condition answers stop; "
                 "but ranks 0 and 2: its loop condition answers go on", SAME)


# ---- Ranks that call other collective operations


BCAST, SUM = "its exec block calls MPI_Bcast of 16 bytes with the root 0", "its exec block calls MPI_Allreduce of 8 bytes with MPI_SUM"
CALLS = {
    "other": ("its exec block calls MPI_Barrier", BCAST),
    "root": ("its exec block calls MPI_Bcast of 16 bytes with the root 1", BCAST),
    "count": ("its exec block calls MPI_Bcast of 24 bytes with the root 0", BCAST),
    "type": ("its exec block calls MPI_Bcast of 8 bytes with the root 0", BCAST),
    "started": ("its exec block calls MPI_Ibcast of 16 bytes with the root 1", "its exec block calls MPI_Ibcast of 16 bytes with the root 0"),
    "op": ("its exec block calls MPI_Allreduce of 8 bytes with MPI_MAX", SUM),
    "more": ("its exec block calls MPI_Barrier", "its exec block calls MPI_Comm_split"),
}


@pytest.mark.parametrize("way", CALLS)
def test_collective_operations_that_differ(space, way):
    """Where ranks would wait for each other for ever, too."""
    its, theirs = CALLS[way]
    assert_named(run(space, "wrong_collectives", way), f"wrong_collectives: element 1 'work' (RP), iteration 3, rank 1 of 3: {its}; "
                 f"but ranks 0 and 2: {theirs}", SAME)


def test_collective_operations_of_some_ranks(space):
    assert_clean(run(space, "wrong_collectives", "right"))


# ---- Ranks that cannot wait for each other


def test_ranks_that_run_apart(space):
    """Rank 0 sends in its iterations what rank 1 needs in earlier ones: nothing may wait for all ranks for good."""
    assert_clean(run(space, "apart", "3", ranks=2))


def test_ranks_that_run_apart_and_differ(space):
    assert_named(run(space, "apart", "3", "wrong", ranks=2), "rank 1 of 2: its loop condition answers stop", SAME)


def shared(pid):
    """What it shares with other ranks for roll calls: pieces of memory."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return maps.read().count("/memfd:epop-muster ")


def wait_until_ranks_share(it, size):
    """Each has the memory of the present world, and who is no rank none."""
    def ends_meet(status):
        pieces = [(process["rank"] >= 0, shared(process["pid"])) for process in status["processes"]]
        return status["size"] == size and all(count == is_rank for is_rank, count in pieces)
    it.wait_for_status(ends_meet)


def test_ranks_share_memory(space):
    it = Scenario(space, start=2, ranks=4, options=["--driver", "debug"])
    it.wait_until_here()
    wait_until_ranks_share(it, 2)
    for size in (4, 1, 3):
        it.resize(size)
        wait_until_ranks_share(it, size)
    it.stop(ranks=3, windows=3)


def test_a_rank_that_stands_still_for_a_while(space):
    """The other one goes on without it; when it has come, they are compared as before, and a window is no other than ever."""
    directory = space.directory / "state"
    directory.mkdir()
    it = Scenario(space, f"state={directory}", start=2, ranks=3, options=["--driver", "debug"])
    it.wait_for_status(lambda status: status["element"]["iteration"] > 6)
    pids = {process["rank"]: process["pid"] for process in it.status()["processes"]}

    def done(rank):
        return int.from_bytes((directory / str(pids[rank])).read_bytes(), "little")

    os.kill(pids[1], signal.SIGSTOP)
    at = done(1)
    job.wait_for(lambda: done(0), job.LIMIT, lambda count: count > at + 5, pause=0.01)
    assert done(1) <= at + 1
    os.kill(pids[1], signal.SIGCONT)
    job.wait_for(lambda: done(1), job.LIMIT, lambda count: count > at + 20, pause=0.01)
    it.resize(3)
    it.stop(ranks=3, windows=1)


def test_a_rank_that_dies(space):
    """While the others wait for it."""
    die = Switch(space, "die")
    it = Scenario(space, f"die=kill:1:{die}", start=3, ranks=3, options=["--driver", "debug"])
    it.wait_for_status(lambda status: status["element"]["iteration"] > 6)
    die.on()
    assert it.it.wait().status != 0


# ---- What no block may change


POINTERS = {
    "data": ["wrong_pointer: element 1 'work' (RP), iteration 3, rank 1 of 2: its exec block replaced the data pointer ("],
    "element": ["element 1 'other' (RP), iteration 4, rank 1 of 2: its loop condition changed the program's array"],
}


@pytest.mark.parametrize("way", POINTERS)
def test_what_a_block_may_not_change(space, way):
    assert_named(run(space, "wrong_pointer", way, ranks=2), *POINTERS[way])


def test_a_pointer_that_is_left_alone(space):
    assert_clean(run(space, "wrong_pointer", "right", ranks=2))


# ---- --warn


def test_warn_goes_on(space):
    result = run(space, "wrong_pointer", "data", ranks=2, options=["--warn"])
    assert result.status == 0, result
    lines = result.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("epop: warning: wrong_pointer: element 1 'work' (RP), iteration 3, "), result


def test_warn_of_answers(space):
    """They are not compared any more, and the job ends as it would without the driver: here ranks do not talk."""
    it = Scenario(space, "way=loop", program="scenario_breach", start=2, ranks=2,
                  options=["--driver", "debug", "--warn"])
    it.it.wait_for_line("epop: warning: scenario: element 1 'first' ", stream="err")
    it.it.wait_for_line("rank 1 did ten")
    it.start_ctl("stop")
    result = it.it.wait()
    assert result.err.count("warning: ") == 1 and "the ranks went different ways" in result.err, result


# ---- A program that runs alone


def test_alone(space):
    assert_clean(space.epop("--driver", "debug", job.program("serial"), "2"))


# ---- Programs that are right


@pytest.mark.parametrize("arguments", [["rigid", "1000"], ["double_phase", "1", "3", "2"], ["branches"]],
                         ids=lambda a: a[0])
def test_programs_run_clean(space, arguments):
    result = space.epop("--driver", "debug", job.program(arguments[0]), *arguments[1:], ranks=3)
    assert_clean(result)
    assert re.search(r"right|about|root", result.out), result


def test_resizes_run_clean(space):
    it = Scenario(space, start=2, ranks=4, options=["--driver", "debug"])
    for size in (4, 1, 3, 2, 4):
        it.resize(size)
    it.stop(ranks=4, windows=5)


def test_phases_that_resize_themselves_run_clean(space):
    it = Scenario(space, "rounds=60", "skew=500", "every=10", "max=3", program="scenario_phases", start=2, ranks=3,
                  options=["--driver", "debug"])
    it.finish(iterations=60)


# ---- The window


WINDOWS = {
    "begin": "rank 1 of 2: its adapt block returned without calling epop_adapt_begin",
    "commit": "rank 1 of 2: its adapt block returned without calling epop_adapt_commit",
    "before": "its adapt block calls MPI_Barrier with the communicator 'before' of a window that is over; "
              "epop_adapt_commit freed it",
    "all": "its adapt block calls MPI_Barrier with the communicator 'all' of a window that is over",
    "stale": "its exec block calls MPI_Allreduce with the communicator 'before' of a window that is over",
    "free": "its adapt block frees the communicator 'all' of the window, which belongs to EPOP",
    "derived": "before the old world goes, one of the communicators that came from it is still there, made by "
               "MPI_Comm_dup (its exec block of element 1, iteration 1)",
    "request": "before the old world goes, one of the requests that came from it is still there, made by MPI_Irecv "
               "(its exec block of element 1, iteration 1)",
    "leaver": "its adapt block calls MPI_Barrier behind epop_adapt_commit, but this rank leaves",
    "held": "this rank leaves with 1 datatypes that INIT of element 0 made by MPI_Type_contiguous",
}


@pytest.mark.parametrize("way", WINDOWS)
def test_a_window_that_is_misused(space, way):
    result = run(space, "wrong_window", way, options=["--start", "2"])
    assert_named(result, "wrong_window: element 1 'work' (EP), iteration ", WINDOWS[way])


@pytest.mark.parametrize("way", ["right", "cached"])
def test_a_window_that_is_used_right(space, way):
    assert_clean(run(space, "wrong_window", way, options=["--start", "2"]))


# ---- Leaks


KINDS = {"communicators": "MPI_Comm_dup", "requests": "MPI_Irecv", "datatypes": "MPI_Type_vector",
         "groups": "MPI_Comm_group", "operations": "MPI_Op_create", "windows": "MPI_Win_create", "infos": "MPI_Info_create"}


@pytest.mark.parametrize("kind", KINDS)
def test_leaks(space, kind):
    result = run(space, "wrong_leaks", kind, "6", ranks=2)
    assert_named(result, "wrong_leaks: element 1 'work' (RP), iteration 0, rank ", " of 2: its exec block leaks ",
                 f"{kind}: 6 are left at the end, of 6 of its runs, the first by {KINDS[kind]}")


def test_a_leak_is_told_of_before_the_end(space):
    result = run(space, "wrong_leaks", "datatypes", "100000", ranks=2)
    assert_named(result, "iteration 249, ", "its exec block leaks datatypes: in 250 runs on end it left more of them behind; "
                 "250 are there, the first by MPI_Type_vector in iteration 0")


@pytest.mark.parametrize("way", ["kept", "right"])
def test_no_leaks(space, way):
    assert_clean(run(space, "wrong_leaks", way, "300", ranks=2))


SETS = {
    "group": ["before the old world goes, one of the groups that came from it is still there, made by MPI_Group_from_session_pset "
              "of the process set mpi://WORLD"],
    "comm": ["before the old world goes, one of the communicators that came from it is still there, made by "
             "MPI_Comm_create_from_group of the process set mpi://WORLD"],
    "session": ["this rank leaves with 1 sessions that INIT of element 0 made by MPI_Session_init"],
}


@pytest.mark.parametrize("way", SETS)
def test_what_is_of_a_process_set_that_is_gone(space, way):
    assert_named(run(space, "wrong_sets", way), "wrong_sets: element 1 'work' (EP), iteration ", *SETS[way])


def test_process_sets_that_are_right(space):
    assert_clean(run(space, "wrong_sets", "right"))


# ---- Redistributions


REDISTRIBUTIONS = {
    "short": ["rank 1 of 2: epop_redist: this rank's block has room for ", " bytes, but by the distribution it has 1200"],
    "count": ["rank 1 of 3: it calls epop_redist (the kind of distribution 0, the count 601, ", "but ranks 0 and (joining) 0: ",
              "it calls epop_redist (the kind of distribution 0, the count 600, ", SAME],
    "order": ["rank 1 of 3: it calls epop_redist_rows (", "; but ranks 0 and (joining) 0: it calls epop_redist (", SAME],
    "missing": ["rank 1 of 3: it calls epop_redist_replicated (", "but ranks 0 and (joining) 0: it calls epop_redist_rows ("],
    "replica": ["epop_redist_replicated: the ranks that stay do not all have the same data, so neither have those that join"],
}


@pytest.mark.parametrize("way", REDISTRIBUTIONS)
def test_a_redistribution_that_is_wrong(space, way):
    result = run(space, "wrong_redist", way, options=["--start", "2"])
    assert_named(result, "wrong_redist: element 1 'work' (EP), iteration ", *REDISTRIBUTIONS[way])


def test_a_redistribution_that_is_right(space):
    assert_clean(run(space, "wrong_redist", "right", options=["--start", "2"]))


@pytest.mark.parametrize("way", ["right", "short", "count"])
def test_redistributions_between_the_elastic_mpi_calls(space, way):
    result = run(space, "wrong_redist", way, "mpi", options=["--start", "2"])
    if way == "right":
        assert_clean(result)
    else:
        assert_named(result, "wrong_redist: element 1 'work' (EP), iteration ", *REDISTRIBUTIONS[way])


def test_elements_that_do_not_arrive(space):
    """A message is changed on its way."""
    fault = {"LD_PRELOAD": job.test_program("preload_fault"), "EPOP_TEST_FAULT": "redistribution"}
    result = run(space, "wrong_redist", "right", options=["--start", "2"], env=fault)
    assert_named(result, "wrong_redist: element 1 'work' (EP), iteration ", "rank 0 of 2: epop_redist lost, doubled or changed "
                 "elements: 600 before it with the checksum ", ", 600 after it with ")


# ---- The large programs


LARGE = {
    "gauss": ["--break", "eliminate:5", job.example("gauss"), "--random", "300", "--block", "2", "--json"],
    "cannon": ["--break", "multiply:5", job.example("cannon"), "--random", "64,400,48", "--panel", "2", "--verify", "--json"],
    "ledger": ["--break", "ledger:5", job.program("ledger"), "iterations=60", "work=100", "elements=1000"],
}


def wait_until_prepared(space):
    """What is constant is listed in a probe, so the ranks go on step by step."""
    end = time.monotonic() + 20
    while space.status()["adaptations"][-1]["state"] == "preparing":
        assert time.monotonic() < end
        assert space.epopctl("step").status == 0


@pytest.mark.parametrize("name", LARGE)
def test_examples_run_clean_through_resizes(space, name):
    """From 1 to 4, by steps, and back."""
    it = space.start_epop("--start", "1", "--driver", "debug", *LARGE[name], ranks=4)
    it.wait_for_line("epop: stopped before ", stream="err")
    assert space.epopctl("resize", "4").status == 0
    wait_until_prepared(space)
    for _ in range(10):
        assert space.epopctl("step").status == 0
        if space.status()["size"] == 4:
            break
    for command in (["resize", "1"], ["continue"]):
        result = space.epopctl(*command)
        assert result.status == 0, result
    result = it.wait()
    assert result.status == 0, result
    assert all(line.startswith(("epop: stopped", "epop:   rank ")) for line in result.err.splitlines()), result
    assert "right" in result.out if name == "ledger" else json.loads(result.out)["resizes"] == 2, result
