"""--driver profile: sums that are right, for whom they are, and a file for whatever becomes of the job."""

import itertools
import json
import os
import re
import signal
import stat
import time

import job
import pytest
from profiling import UNEVEN, check_measured, element, iterations, partial, parts, profiled, read, wait_for_checkpoint, world
from scenario import Scenario, Switch

# ---- Sums


def test_counts(space):
    result = space.epop(*profiled(space), job.program("double_phase"), ranks=2)
    assert result.status == 0, result
    profile = read(space)
    assert iterations(profile, "first") == {2: 30} and iterations(profile, "second") == {2: 30}
    assert [world(profile, name, 2)["visits"] for name in ("INIT", "first", "second", "again?", "report")] == [1, 3, 3, 3, 1]
    assert (profile["partial"], profile["world"], profile["adaptations"]) == (False, [{"time": 0, "size": 2}], [])
    assert [(one["process"], one["ranks"][0]["rank"]) for one in profile["processes"]] == [(0, 0), (1, 1)]
    assert profile["mpi"].startswith("MPICH ") and profile["program"]["name"] == "double_phase"


SLEEP, MORE, COUNT = 20000, 200000, 10  # microseconds, far above what a busy machine adds to them


def uneven(space, more):
    result = space.epop(*profiled(space), UNEVEN, f"iterations={COUNT}", f"sleep={SLEEP}", f"more={more}", ranks=2)
    assert result.status == 0, result
    return world(read(space), "work", 2)


def test_time_of_a_program_whose_times_are_known(space):
    """Rank 0 sleeps ten times as long; the other one, which may begin a moment later, waits for it in a barrier."""
    work = uneven(space, MORE)
    slept = COUNT * (SLEEP + MORE) * 1e-6
    assert work["iterations"] == COUNT and work["loop_time"]["max"] >= slept
    waited, slow = work["mpi_time"]["max"], work["mpi_time"]["min"]
    assert waited > work["loop_time"]["min"] / 2, work
    assert slow <= work["loop_time"]["max"] - slept, work
    assert work["imbalance"] > 1.5, work
    assert work["mpi"][0]["function"] == "MPI_Barrier" and work["mpi"][0]["calls"] == 2 * COUNT
    assert work["iterations_per_second"] == pytest.approx(COUNT / work["loop_time"]["mean"])


def test_the_same_with_balance(space):
    """The control case: it is not the driver that makes one rank slow."""
    result = space.epop(*profiled(space), UNEVEN, f"iterations={COUNT}", f"sleep={SLEEP + MORE}", ranks=2)
    assert result.status == 0, result
    work = world(read(space), "work", 2)
    assert work["imbalance"] < 1.5 and work["mpi_share"] < 0.5, work


def test_a_balance(space):
    """The program asks for it in its fifth iteration."""
    result = space.epop(*profiled(space), job.test_program("uneven"), "cuts", "120", "300", "40", "0", "5", ranks=3)
    assert result.status == 0, result
    profile = read(space)
    [balance] = profile["adaptations"]
    assert (balance["balance"], balance["state"], balance["from"], balance["to"]) == (True, "committed", 3, 3), balance
    assert balance["imbalance"] > 1.5 and [one["size"] for one in profile["world"]] == [3], balance
    assert f"balance 3 ({balance['imbalance']:.2f})" in result.out + result.err, result


def test_mpi_calls_of_the_driver_and_the_runtime_are_not_the_programs(space):
    result = space.epop(*profiled(space), UNEVEN, "iterations=3", ranks=2)
    assert result.status == 0, result
    assert {(call["function"], call["calls"]) for call in world(read(space), "work", 2)["mpi"]} == {
        ("MPI_Barrier", 6), ("MPI_Comm_rank", 6)}


def test_a_pause_is_no_loop_time(space):
    it = Scenario(space, "sleep=1000", start=2, ranks=2, program="scenario_uneven", options=profiled(space))
    begin = time.monotonic()
    it.done("pause")
    paused = time.monotonic()
    time.sleep(1)  # the time that must not be counted
    pause = time.monotonic() - paused
    it.done("resume")
    it.done("stop")
    assert it.it.wait().status == 0
    profile = read(space)
    assert world(profile, "work", 2)["loop_time"]["max"] <= profile["duration"] - pause, begin


def test_a_program_without_mpi(space):
    result = space.epop(*profiled(space), job.program("serial"))
    assert result.status == 0, result
    profile = read(space)
    assert (profile["backend"], profile["mpi"], profile["partial"]) == (None, None, False)
    assert iterations(profile, "improve")[1] > 1 and profile["efficiency"][0]["efficiency"] == 1


# ---- Loops in an element


def loops_of(profile, size, name="work"):
    """{where a loop begins: the loop}"""
    return {loop["head"]["mpi"]: loop for loop in world(profile, name, size)["loops"]}


def line_of(mark):
    source = (job.ROOT / "tests/programs/inner_loops.c").read_text().splitlines()
    return f"inner_loops.c:{next(number for number, line in enumerate(source, 1) if f'/* {mark} */' in line)}"


def test_loops_in_a_phase(space):
    """An iteration has 3 turns of a loop, and in each 5 of another; the last turn of each has no end that is measured."""
    result = space.epop(*profiled(space), job.test_program("inner_loops"), "iterations=7", "sleep=500", ranks=2)
    assert result.status == 0, result
    loops = loops_of(read(space), 2)
    assert set(loops) == {"MPI_Allreduce", "MPI_Barrier"}
    outer, inner = loops["MPI_Allreduce"], loops["MPI_Barrier"]
    assert (outer["iterations"], inner["iterations"]) == (7 * 2, 7 * 3 * 4)
    assert (outer["ranks"], inner["ranks"]) == (2, 2)
    assert "within" not in outer and inner["within"] == outer["number"]
    assert outer["tail"]["mpi"] == "MPI_Barrier"
    assert inner["loop_time"]["min"] >= 7 * 3 * 4 * 500e-6
    assert outer["loop_time"]["min"] >= 7 * 2 * 5 * 500e-6
    assert (outer["head"]["line"], inner["head"]["line"]) == (line_of("OUTER"), line_of("INNER"))
    outer_name = f"{line_of('OUTER')}-{line_of('INNER').split(':')[1]}"
    assert re.search(rf"\n +{outer_name} +loop +2 +14 .*\n +{line_of('INNER')} +loop +2 +84 ", result.err), result.err


def test_loops_at_several_sizes(space):
    it = Scenario(space, "sleep=100", start=1, ranks=2, program="inner_loops", options=profiled(space))
    it.wait_for_status(lambda status: (status["element"] or {}).get("iteration", 0) > 1)
    it.resize(2)
    resized = it.status()["adaptations"][-1]["iteration"]
    it.wait_for_status(lambda status: status["element"]["iteration"] > resized + 1)
    it.done("stop")
    assert it.it.wait().status == 0
    profile = read(space)
    for size in (1, 2):
        made, loops = world(profile, "work", size)["iterations"], loops_of(profile, size)
        assert {mpi: loop["number"] for mpi, loop in loops.items()} == {
            mpi: loop["number"] for mpi, loop in loops_of(profile, 2).items()}
        assert {mpi: loop["iterations"] for mpi, loop in loops.items()} == {
            "MPI_Allreduce": made * 2, "MPI_Barrier": made * 12}
        assert {loop["ranks"] for loop in loops.values()} == {size}


def test_no_loops(space):
    result = space.epop(*profiled(space), UNEVEN, "iterations=10", ranks=2)
    assert result.status == 0, result
    assert all("loops" not in each for one in read(space)["elements"] for each in one["worlds"])


# ---- Resizes


def resized(space, *sizes, program="scenario_uneven", start=2, ranks=4, arguments=("sleep=1000",)):
    """Resized to these sizes and stopped; the profile, and how many iterations it made in all."""
    it = Scenario(space, *arguments, start=start, ranks=ranks, program=program, options=profiled(space))
    it.wait_for_status(lambda status: (status["element"] or {}).get("iteration", 0) > 0)
    for size in sizes:
        it.resize(size)
    it.done("stop")
    result = it.it.wait()
    assert result.status == 0, result
    profile = read(space)
    check_measured(profile, result.out)
    return profile, int(re.search(r"end: .* (\d+) iterations", result.out)[1])


def test_resizes_and_those_who_left(space):
    profile, made = resized(space, 4, 1, 2)
    assert [one["size"] for one in profile["world"]] == [2, 4, 1, 2]
    assert sum(iterations(profile, "work").values()) == made and set(iterations(profile, "work")) == {1, 2, 4}
    assert [(a["from"], a["to"], a["state"], a["element"], a["by"]) for a in profile["adaptations"]] == [
        (2, 4, "committed", "work", "epopctl"), (4, 1, "committed", "work", "epopctl"),
        (1, 2, "committed", "work", "epopctl")]
    assert parts(profile) == {0: [(0, 2), (0, 4), (0, 1), (0, 2)], 1: [(1, 2), (1, 4), (1, 2)], 2: [(2, 4)], 3: [(3, 4)]}
    assert world(profile, "work", 2)["visits"] == 1 and world(profile, "work", 4)["visits"] == 0
    assert world(profile, "start", 2)["visits"] == 1 and len(element(profile, "start")["worlds"]) == 1


def test_an_adaptation_in_order(space):
    profile, _ = resized(space, 3, 2, arguments=("sleep=1000", "adapt=30000"))
    expand, shrink = profile["adaptations"]
    for one in (expand, shrink):
        times = one["times"]
        order = [times[name] for name in ("requested", "prepared", "agreed", "opened", "committed")]
        assert order == sorted(order) and order[-1] <= profile["duration"]
        assert one["adapt_time"]["min"] >= 0.03 and 0.03 <= one["stall"] <= times["committed"] - times["requested"]
        assert one["mpi_time"]["max"] <= one["adapt_time"]["max"] and one["mpi_time"]["total"] > 0
    assert expand["init_time"] > 0 and shrink["init_time"] is None
    assert expand["bytes"]["sent"] == 8 and expand["traffic"][0]["to"] == 2 and shrink["bytes"]["sent"] == 0


def test_bytes(space):
    """That they are the least is checked in every profile."""
    it = space.start_epop("--start", "1", *profiled(space), job.program("ledger"), "elements=1000", "iterations=1000000",
                          "dist=block", ranks=3)
    space.wait_until_all_are_here()
    for size in (2, 3, 1):
        space.resize(size)
    assert space.epopctl("stop").status == 0 and it.wait().status == 0
    first, _, last = read(space)["adaptations"]
    assert first["traffic"] == [{"from": 0, "to": 1, "bytes": 500 * 8}]
    assert [(one["from"], one["to"]) for one in last["traffic"]] == [(1, 0), (2, 0)] and last["bytes"]["sent"] == 666 * 8


def in_blocks(i, size):
    """Of 1000 elements; the first ranks have one more than the others."""
    ends = itertools.accumulate(1000 // size + (rank < 1000 % size) for rank in range(size))
    return next(rank for rank, end in enumerate(ends) if i < end)


OWNERS = {"block": in_blocks, "cyclic": lambda i, size: i % size, "block-cyclic": lambda i, size: i // 3 % size}


@pytest.mark.parametrize("dist", OWNERS)
def test_the_least_bytes(space, dist):
    """Counted here element by element: those whose process is another one afterwards."""
    it = space.start_epop("--start", "1", *profiled(space), job.program("ledger"), "elements=1000", "iterations=1000000",
                          f"dist={dist}", ranks=4)
    space.wait_until_all_are_here()
    sizes = [1, 3, 2, 4]
    for size in sizes[1:]:
        space.resize(size)
    assert space.epopctl("stop").status == 0 and it.wait().status == 0
    profile = read(space)
    process = {part: number for number, played in parts(profile).items() for part in played}  # {(rank, size): process}
    for adaptation, before, after in zip(profile["adaptations"], sizes, sizes[1:]):
        pairs = [(process[OWNERS[dist](i, before), before], process[OWNERS[dist](i, after), after]) for i in range(1000)]
        moved = 8 * sum(source != target for source, target in pairs)
        assert adaptation["bytes"] == {"sent": moved, "received": moved, "least": moved}, (before, after)
        told = {(one["from"], one["to"]): one["bytes"] for one in adaptation["traffic"]}
        assert told == {pair: 8 * pairs.count(pair) for pair in set(pairs) if pair[0] != pair[1]}


def test_refusals_and_failed_adaptations(space):
    fails = Switch(space, "fails").on()
    it = Scenario(space, f"join-fails-while={fails}", start=1, ranks=2, options=profiled(space, "--quiet"))
    it.wait_until_here()
    it.refused("resize", "3")
    assert it.ctl("resize", "2", "--wait").status != 0
    it.stop()
    profile = read(space)
    assert [one["reason"] for one in profile["refusals"]] == ["3 ranks are more than the 2 processes of this launch"]
    failed, = profile["adaptations"]
    assert failed["state"] == "failed" and "could not start" in failed["reason"]
    assert failed["pc"] is failed["bytes"] is failed["times"]["committed"] is None


def test_efficiency(space):
    profile, _ = resized(space, 1, 4, start=2)
    sizes = [one["size"] for one in profile["efficiency"]]
    assert sizes == [1, 2, 4]
    first = world(profile, "work", 1)["iterations_per_second"]
    for one in profile["efficiency"]:
        work = world(profile, "work", one["size"])
        assert work["speedup"] == pytest.approx(work["iterations_per_second"] / first)
        assert work["efficiency"] == pytest.approx(work["speedup"] / one["size"])
        assert one["speedup"] == pytest.approx(work["speedup"])  # it is the only phase that all sizes have seen
        assert one["efficiency"] == pytest.approx(work["efficiency"])


# ---- Jobs that do not come to their end


@pytest.mark.parametrize("rank", [0, 1])
def test_a_block_that_fails(space, rank):
    result = space.epop(*profiled(space), job.test_program("mpi_faults"), ranks=2,
                        env={"EPOP_TEST_FAULT": "exec", "EPOP_TEST_RANK": rank})
    assert result.status == 1
    profile = partial(space)
    assert "its exec block returned" in profile["reason"] and len(profile["processes"]) == 2
    assert f"epop: {profile['reason']}\n" in result.err and "profile of " in result.err
    assert world(profile, "work", 2)["iterations"] == 2
    if rank == 0:  # the other one hangs in it
        assert "MPI_Barrier" in {call["function"] for call in world(profile, "work", 2)["mpi"]}


def test_a_failing_program_without_mpi(space):
    result = space.epop(*profiled(space), job.test_program("faults"), env={"EPOP_TEST_FAULT": "exec"})
    assert result.status == 1 and "its exec block returned" in partial(space)["reason"]


@pytest.mark.parametrize("rank", [0, 1])
def test_a_crash(space, rank):
    result = space.epop(*profiled(space), job.test_program("crash"), "where=exec", f"rank={rank}", "at=3", ranks=2)
    assert result.status != 0, result
    profile = partial(space)
    assert "SIGSEGV" in profile["reason"] and f"rank {rank} of 2" in profile["reason"]
    assert world(profile, "work", 2)["iterations"] >= 3 and "profile of " in result.err
    assert 0 in parts(profile) and (rank == 0 or parts(profile)[1] == [(1, 2)])


def test_mpi_abort(space):
    result = space.epop(*profiled(space), job.test_program("abort"), "7", ranks=2)
    assert result.status == 7 and partial(space)["reason"] == "rank 1 called MPI_Abort with code 7"


def test_stop(space):
    it = Scenario(space, start=2, ranks=2, options=profiled(space, "--quiet"))
    it.stop()
    assert partial(space)["reason"] == "stopped by epopctl stop"


@pytest.mark.parametrize("name, reason", [("SIGTERM", "stopped by SIGTERM"), ("SIGINT", "interrupted (SIGINT)")])
def test_signals(space, name, reason):
    it = Scenario(space, start=2, ranks=2, options=profiled(space))
    os.kill(it.pid, getattr(signal, name))
    it.it.wait()
    assert partial(space)["reason"] == reason


def test_a_kill_leaves_the_last_checkpoint(space):
    die = Switch(space, "die")
    it = Scenario(space, f"die=kill:1:{die}", start=3, ranks=3, options=profiled(space, "--checkpoint", "0.1"))
    it.resize(2)
    wait_for_checkpoint(space, lambda profile: iterations(profile, "work").get(2))
    die.on()
    assert it.it.wait().status != 0
    profile = partial(space)
    assert "running" in profile["reason"] or "is gone" in profile["reason"]
    assert set(iterations(profile, "work")) == {2, 3} and iterations(profile, "work")[2] > 0
    assert len(profile["processes"]) == 3


def test_no_checkpoint_before_there_is_something_to_tell(space):
    """The first ones are due before any process has come to INIT."""
    it = space.start_epop(*profiled(space, "--quiet", "--checkpoint", "0.0001"), job.test_program("scenario_window"), ranks=2)
    wait_for_checkpoint(space, lambda profile: profile["processes"])
    assert space.epopctl("stop").status == 0 and it.wait().status == 0


# ---- Where it goes


def test_the_table_is_ruled_and_does_not_disturb_the_output(space):
    plain = space.epop(job.program("rigid"), "1000", ranks=2)
    result = space.epop("--driver", "profile", job.program("rigid"), "1000", ranks=2)
    assert result.status == 0 and result.out == plain.out
    lines = result.err.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("pc  element"))
    rows = [line for line in lines[head + 1:] if line.strip()]
    assert len({len(line.rstrip()) for line in [lines[head], *rows]}) == 1 and len(rows) == 4
    assert "\033" not in result.err


def test_quiet(space):
    result = space.epop(*profiled(space, "--quiet"), job.program("rigid"), "1000", ranks=2)
    assert result.status == 0 and result.err == "" and not read(space)["partial"]


@pytest.mark.parametrize("path", ["no/such/folder/prof.json", "", "."])
def test_what_cannot_be_written_is_said_before_anything_runs(space, path):
    result = space.epop("--driver", "profile", "--output", path, job.program("rigid"), "1000", ranks=2)
    assert result.status == 2 and result.out == "" and result.err.count("\n") == 1, result
    assert "profile" in result.err


def test_the_file_is_replaced_as_a_whole_and_has_the_usual_rights(space):
    path = space.directory / "prof.json"
    path.write_text("old")
    old = path.stat().st_ino
    assert space.epop(*profiled(space), job.program("serial")).status == 0
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_ino != old and stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    assert [one.name for one in space.directory.iterdir()] == ["prof.json"]


def test_a_link_and_a_device_stay_what_they_are(space):
    (space.directory / "prof.json").touch()
    (space.directory / "link").symlink_to(space.directory / "prof.json")
    result = space.epop("--driver", "profile", "--output", space.directory / "link", job.program("serial"))
    assert result.status == 0 and (space.directory / "link").is_symlink() and not read(space)["partial"]
    result = space.epop("--driver", "profile", "--quiet", "--output", "/dev/stdout", job.program("serial"))
    value, _ = json.JSONDecoder().raw_decode(result.out[result.out.index("{"):])
    assert value["schema"] == "epop.profile"


@pytest.mark.parametrize("seconds", ["-1", "x", ""])
def test_wrong_checkpoints(space, seconds):
    result = space.epop("--driver", "profile", "--checkpoint", seconds, job.program("serial"))
    assert result.status == 2 and result.err.count("\n") == 1 and "--checkpoint" in result.err, result


def test_beside_another_driver(space):
    both = f"profile,{job.test_program('driver_records')}"
    result = space.epop("--driver", both, "--output", space.directory / "prof.json", "--records",
                        space.directory / "records", job.program("rigid"), "1000", ranks=2)
    assert result.status == 0, result
    assert not read(space)["partial"] and (space.directory / "records").read_text().count("record") == 2


def test_speedup_with_weak_scaling(space):
    """Of the work per second, not of iterations."""
    result = space.epop(*profiled(space), "--start", "1", job.test_program("cxx_data"), "2", ranks=2, env={"CXX_DATA": "places"})
    assert result.status == 0, result
    profile = read(space)
    one, two = world(profile, "work", 1), world(profile, "work", 2)
    assert element(profile, "work")["scaling"] == "weak-work"
    assert two["speedup"] == pytest.approx(2 * two["iterations_per_second"] / one["iterations_per_second"]), (one, two)
    assert two["efficiency"] == pytest.approx(two["speedup"] / 2)
