"""--driver tune: it finds the settings of a program whose speed by setting is known, and goes on with them; --tuned begins with them."""

import json
import os

import job
import pytest
from schemas import validate

PROGRAM = job.test_program("tunable")
WHOLE = ("--within", "100")  # of the phase: here it is not the time that is looked at
ALIKE = ("fixed=1",)  # all widths are as fast,
COARSE = ("--bound", "100")  # twice as fast counts: a busy machine makes iterations of 5 ms last one and a half times as long by chance


def tuned(space):
    return validate("tuned", json.loads((space.directory / "tuned.json").read_text()))


def tune(space, *arguments, options=WHOLE, ranks=2):
    result = space.epop("--driver", "tune", "--tune-output", "tuned.json", *options, PROGRAM, *arguments, ranks=ranks)
    assert result.status == 0, result
    return result, tuned(space)


def settings(found):
    return {each["name"]: each["value"] for each in found["settings"]}


# ---- What it finds


def test_finds_the_setting_that_is_fast(space):
    """Eight times as fast; all ranks have the same in every iteration, which the program looks after."""
    result, found = tune(space, "iterations=200")
    assert settings(found) == {"width": 16} and found["gain"] > 2, result
    assert found["settings"][0]["default"] == 64 and (found["ranks"], found["preferred"]) == (2, None)
    assert (found["program"], found["phase"]) == ("scenario", "work")
    assert "width 16, " in result.out and "tuned: 'work' of scenario is" in result.err, result
    assert "width                    64 -> 16\n" in result.err, result


def test_leaves_a_setting_that_makes_no_difference(space):
    result, found = tune(space, "iterations=60", "nap=20000", *ALIKE, options=(*WHOLE, *COARSE))
    assert settings(found) == {"width": 64} and found["gain"] == 1 and found["runs"] > 0, result
    assert "width 64, " in result.out, result


@pytest.mark.parametrize("within, visits", [(100, 70), (30, 250)])
def test_settings_of_a_visit(space, within, visits):
    """The layout counts from the next visit on, and is tried there; the width in each iteration. With less time for it
    visits go on with the best so far between."""
    result, found = tune(space, "iterations=6", f"visits={visits}", "nap=2000", options=("--within", within))
    assert settings(found) == {"width": 16, "layout": 2}, result
    assert "width 16, layout 2, " in result.out, result


def test_what_is_slow_is_left_soon(space):
    """The other settings take a hundred times as long, which nobody knows before: one iteration shows it. In runs as
    long as the others they took 43 %."""
    result, found = tune(space, "iterations=1500", "nap=2000", "width=16", "slow=100", options=())
    assert settings(found) == {"width": 16} and found["runs"] > 0 and found["share"] < 0.3, result


def test_a_phase_that_does_not_tell_how_far_it_is(space):
    result, found = tune(space, "iterations=200", "tell=0", options=())
    assert settings(found) == {"width": 16}, result


def test_a_phase_that_is_too_short(space):
    result, found = tune(space, "iterations=2", options=())
    assert (settings(found), found["sure"]) == ({"width": 64}, False), result
    assert "width 64, " in result.out, result


def test_finds_the_number_of_ranks(space):
    """Four are four times as fast as one; ranks that come in have the settings of the others."""
    options = ("--start", "1", "--driver", "tune", "--tune-output", "tuned.json", *WHOLE, *COARSE, "--sizes", "1,4")
    result = space.epop(*options, PROGRAM, "iterations=150", "nap=100000", *ALIKE, "scale=1", ranks=4)
    assert result.status == 0, result
    found = tuned(space)
    assert found["ranks"] == 4 and settings(found) == {"width": 64}, result
    assert {speed["ranks"] for speed in found["speeds"]} == {1, 4}, found
    assert "ranks                    4; up to " in result.err, result


def test_weak_scaling_is_fastest_where_most_work_is_done(space):
    """Iterations take as long on one rank, which is the usual number, as on two."""
    result = space.epop("--start", "1", "--driver", "tune", "--tune-output", "tuned.json", *WHOLE, "--sizes", "1,2", job.program("synthetic"),
                        "phase=a", "iterations=150", "seconds=0.02", "speedup=none", ranks=2)
    assert result.status == 0, result
    assert (tuned(space)["ranks"], tuned(space)["preferred"]) == (2, 2), result


def test_a_job_that_could_not_grow_again_is_not_shrunk(space):
    result = space.epop("--backend", "shrink", "--driver", "tune", *WHOLE, "--sizes", "1,2", PROGRAM, "iterations=80", "scale=1",
                        ranks=2)
    assert result.status == 0 and ", 2 ranks\n" in result.out, result
    assert "not larger again: its size is not tuned" in result.err, result


def test_somebody_else_resizes(space):
    """The search goes on at that size, with the ranks that are there."""
    it = space.start_epop("--start", "2", "--driver", "tune", "--tune-output", "tuned.json", *WHOLE, PROGRAM, "iterations=400", ranks=4)
    space.wait_for_status(lambda status: (status.get("progress") or {}).get("iteration", 0) > 0)
    for size in (4, 1, 3):
        space.resize(size)
    result = it.wait()
    assert result.status == 0 and ", 3 ranks\n" in result.out and "width 16, " in result.out, result
    assert settings(tuned(space)) == {"width": 16}


@pytest.mark.parametrize("visits, iterations", [(2, 150), (40, 30)])
def test_ranks_come_in_another_phase(space, visits, iterations):
    """When the phase is entered again they know what the others do."""
    it = space.start_epop("--start", "2", "--driver", "tune", "--tune-output", "tuned.json", *WHOLE, PROGRAM, f"iterations={iterations}",
                          f"visits={visits}", "rest=3", "nap=2000", "slow=4", ranks=3)
    space.wait_for_status(lambda status: status["element"] and status["element"]["name"] == "rest")
    space.resize(3)
    result = it.wait()
    assert result.status == 0 and ", 3 ranks\n" in result.out, result
    assert settings(tuned(space))["width"] == 16, result


ELEMENTS = 4  # that are visited again


def wait_for_visit(space, after, name="work"):
    """Until it is in that phase, so many visits of elements having begun; how many."""
    return space.wait_for_status(lambda status: status["element"] and status["element"]["name"] == name and
                                 status["element"]["visit"] > after)["element"]["visit"]


def resize_in_work(space, size, otherwise):
    """In the phase that is tuned; what came into another one is taken back."""
    for _ in range(20):
        space.resize(size)
        last = space.wait_for_status(lambda status: status["adaptations"][-1]["state"] == "committed")["adaptations"][-1]
        assert last["to"] == size, last
        if last["element"] == "work":
            return
        space.resize(otherwise)
    raise AssertionError("it is never in 'work'")


def test_ranks_leave_in_another_phase_and_come_back(space):
    """One that left there comes back there, or in the phase that is tuned: no rank waits for an order that others do not
    hear, then or visits later."""
    it = space.start_epop("--start", "2", "--driver", "tune", "--tune-output", "tuned.json", *WHOLE, PROGRAM, "iterations=10",
                          "visits=1000000", "rest=3", "nap=2000", "slow=2", ranks=5)
    wait_for_visit(space, 0, "rest")
    for size in (1, 3):  # it goes on with three
        space.resize(size)
    visit = wait_for_visit(space, 0)
    resize_in_work(space, 5, otherwise=3)  # one has never been in the other phase
    visit = wait_for_visit(space, visit + 2 * ELEMENTS)
    resize_in_work(space, 2, otherwise=3)
    visit = wait_for_visit(space, visit, "rest")
    space.resize(1)
    space.resize(3)
    wait_for_visit(space, visit + 30 * ELEMENTS)
    assert space.epopctl("stop").status == 0
    result = it.wait()
    assert result.status == 0 and tuned(space)["runs"] > 0, result


def test_control_variables_of_mpi(space):
    result, found = tune(space, "iterations=60", options=(*WHOLE, "--cvar", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=0,1,2"))
    assert set(settings(found)) == {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "width"}, result
    assert {each["kind"] for each in found["settings"]} == {"cvar", "tunable"}


def test_ends_with_the_job_that_is_stopped(space):
    it = space.start_epop("--driver", "tune", "--tune-output", "tuned.json", *WHOLE, PROGRAM, "iterations=100000000", ranks=2)
    space.wait_for_status(lambda status: (status.get("progress") or {}).get("iteration", 0) > 20)
    assert space.epopctl("stop").status == 0
    assert it.wait().status == 0
    tuned(space)


def test_a_program_without_mpi(space):
    result = space.epop("--driver", "tune", job.program("serial"))
    assert result.status == 2 and "the program has no elastic phase: name one with --phase" in result.err, result


# ---- Examples


def test_cannon_is_right_meanwhile(space):
    result = space.epop("--driver", "tune", "--tune-output", "tuned.json", *WHOLE, "--run", "0.001", job.example("cannon"), "--random", "300",
                        "--repeat", "60", "--verify", ranks=1, limit=240)
    assert result.status == 0, result
    assert set(settings(tuned(space))) == {"slice", "panel"}


def test_gauss_is_right_meanwhile(space):
    """It checks its residual itself."""
    result = space.epop("--driver", "tune", "--tune-output", "tuned.json", *WHOLE, "--run", "0.001", "--threads", "1,2",
                        job.example("gauss"), "--random", "900", "--block", "48", "--json", ranks=3)
    assert result.status == 0 and json.loads(result.out)["scaled_residual"] < 16, result
    assert set(settings(tuned(space))) == {"width", "threads"}


# ---- --tuned


def test_begins_with_what_was_found(space):
    found = json.loads((job.ROOT / "schema/examples/tuned/valid/sizes.json").read_text())
    found |= {"program": "scenario", "phase": "work", "settings": [{"kind": "tunable", "name": "width", "value": 16, "default": 64}]}
    (space.directory / "found.json").write_text(json.dumps(found))
    it = space.start_epop("--tuned", "found.json", PROGRAM, "iterations=100000000", ranks=2)
    status = space.wait_for_status(lambda status: (status.get("progress") or {}).get("iteration", 0) > 0)
    assert status["sizes"]["preferred"] == 4, status
    work = next(element for element in status["elements"] if element["name"] == "work")
    assert {speed["size"] for speed in work["speeds"]} >= {1, 4}, status
    assert space.epopctl("stop").status == 0
    assert it.wait().status == 0
    result = space.epop("--tuned", "found.json", PROGRAM, "iterations=5", ranks=2)
    assert "width 16, layout 1, 5 iterations so" in result.out, result


def test_what_cannot_be_set_is_told(space):
    found = json.loads((job.ROOT / "schema/examples/tuned/valid/sizes.json").read_text())
    found |= {"program": "scenario", "settings": [{"kind": "cvar", "name": "MPIR_CVAR_NO_SUCH", "value": 1, "default": 0},
                                                  {"kind": "tunable", "name": "width", "value": 4711, "default": 64}]}
    (space.directory / "found.json").write_text(json.dumps(found))
    result = space.epop("--tuned", "found.json", PROGRAM, "iterations=5", ranks=2)
    assert result.status == 0 and "width 64, layout 1, 5 iterations so" in result.out, result
    assert result.err.count("note: --tuned: cvar MPIR_CVAR_NO_SUCH cannot be set here") == 1, result


# ---- What is refused


@pytest.mark.parametrize("options, text", [
    (("--phase", "no such"), "no phase 'no such' that loops"),
    (("--phase", "begin"), "no phase 'begin' that loops"),
    (("--cvar", "MPIR_CVAR_NO_SUCH=1,2"), "no control variable MPIR_CVAR_NO_SUCH"),
    (("--cvar", "MPIR_CVAR_NO_SUCH"), "is not NAME=VALUE,..."),
    (("--cvar", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=a,b"), "'a,b' is no list of numbers"),
    (("--threads", "1,2"), "neither OpenMP nor a BLAS with threads"),
    (("--sizes", "4-1"), "'4-1' is no list of numbers"),
    (("--sizes", "0"), "of the sizes 0 the phase accepts none"),
    (("--within", "0"), "refuses --within"),
    (("--bound", "x"), "refuses --bound"),
    (("--run", "-1"), "refuses --run"),
    (("--efficiency", "101"), "refuses --efficiency"),
    (("--tune-output", "no/such/directory/file"), "no/such/directory/file"),
])
def test_refuses(space, options, text):
    result = space.epop("--driver", "tune", *options, PROGRAM, ranks=2)
    assert result.status == 2 and result.err.count("epop: ") == 1 and text in result.err, result


@pytest.mark.parametrize("text, why", [(None, "cannot read 'found.json': No such file"), ("", "no result of the driver 'tune'"),
                                       ("{}", "no result of the driver 'tune'"), ("[", "no result of the driver 'tune'"),
                                       ('{"tuned": 1, "program": "scenario", "phase": "work", "settings": [{"kind": "tunable"}]}',
                                        "no result of the driver 'tune'"),
                                       ('{"tuned": 1, "program": "gauss", "phase": "eliminate"}', "of the program 'gauss'")])
def test_refuses_a_file(space, text, why):
    if text is not None:
        (space.directory / "found.json").write_text(text)
    result = space.epop("--tuned", "found.json", PROGRAM, ranks=2)
    assert result.status == 2 and result.err.count("epop: ") == 1 and why in result.err, result


def test_a_pipe_is_not_waited_for(space):
    os.mkfifo(space.directory / "found.json")
    result = space.epop("--tuned", "found.json", PROGRAM, ranks=2)
    assert result.status == 2 and "cannot read 'found.json': it is no regular file" in result.err, result


# ---- A driver of one's own


def test_a_driver_of_ones_own_tunes(space):
    result = space.epop("--driver", job.test_program("driver_tunes"), PROGRAM, "iterations=12", "nap=1000", ranks=2)
    assert result.status == 0 and result.out.count("width from 8 to 64: 0, and 201; now 16; it is the only one\n") == 2, result
    assert "width 16, layout 1, 7 iterations so, 2 ranks" in result.out, result
