"""Checkpoints and restarts: whatever the number of ranks, the end is that of a run without interruption, bit for bit."""

import json
import os
import pathlib
import re
import shutil
import time

import checkpoints
import executables
import h5py
import job
import numpy
import pytest
import traces
from saving import SAVED, Held, end, run
from scenario import Scenario, Switch, only_line
from schemas import validate

ASKS = ["--driver", job.test_program("driver_asks")] # or only waits
SLOWLY = "nap=10000" # where the clock asks for checkpoints: time for several, on a busy machine too


def files(directory):
    return sorted(path.name for path in pathlib.Path(directory).iterdir())


@pytest.fixture
def place(space):
    """Where the checkpoints go."""
    directory = space.directory / "saved"
    return directory


def saving(space, place, *arguments, ranks=2, options=(), wait=True):
    """A run that saves once, behind step 20; its end, its arguments, and the file."""
    hold = Switch(space, "hold").on()
    arguments = [f"hold={hold}", *arguments]
    it = space.start_epop("--backend", "pool", "--checkpoint-dir", place, *options, SAVED, *arguments, ranks=ranks)
    it.wait_for_line("held")
    assert space.epopctl("checkpoint").out == "accepted\n"
    hold.off()
    result = it.wait()
    assert result.status == 0 and result.err == "" and len(files(place)) == 1, result
    return end(result), arguments, place / files(place)[0]


def refused(space, *arguments, ranks=2, options=(), program=SAVED, **how):
    """The one line of a job that did not begin."""
    result = space.epop("--backend", "pool", *options, program, *arguments, ranks=ranks, **how)
    assert result.status == 2, result
    lines = [line for line in result.err.splitlines() if line.startswith("epop: ") and "note:" not in line]
    assert len(lines) == 1 and "start:" not in result.out, result
    return lines[0].removeprefix("epop: ")


# ---- Any number of ranks


@pytest.mark.parametrize("before,after", [(1, 3), (3, 1), (4, 4), (2, 3)])
def test_restart_at_another_size(space, place, before, after):
    whole, same, file = saving(space, place, ranks=before)
    again = run(space, *same, ranks=after, options=["--restart", file])
    assert f"start: restarting of {after}" in again.out and end(again) == whole


def test_a_checkpoint_changes_nothing(space, place):
    whole, _, _ = saving(space, place)
    assert end(run(space)) == whole


def test_restart_of_a_restart_and_numbers_go_on(space, place):
    """The second is asked by the clock, as it has the step of the first behind it."""
    whole, same, file = saving(space, place, SLOWLY)
    run(space, *same, ranks=3, options=["--checkpoint-dir", place, "--checkpoint-every", "0.01", "--restart", place])
    found = files(place)
    assert found[0] == file.name and found[1] == file.name.replace("0001", "0002"), found
    assert end(run(space, *same, ranks=1, options=["--restart", place])) == whole


def require_linked(place):
    """Whatever a file needs is there, and read through it as if it were its own; the links of each file."""
    every = []
    for name in files(place):
        every.append(checkpoints.as_json(place / name)["datasets"])
        every[-1] = {dataset["name"]: dataset["file"] for dataset in every[-1] if "file" in dataset}
        with h5py.File(place / name) as file:
            for array, other in every[-1].items():
                with h5py.File(place / other) as earlier:
                    assert (file[array][...] == earlier[array][...]).all() and file[array].size > 0
    return every


def steps_done(path):
    """From the fourth of the values that the program describes as its shape."""
    with h5py.File(path) as file:
        return int(numpy.frombuffer(file.attrs["values/shape"].tobytes(), "=i8")[3])


def test_every_and_keep(space, place):
    """The newest stay, and what has their constant arrays; the restarted job counts the others as its own."""
    options = ["--checkpoint-dir", place, "--checkpoint-every", "0.01s", "--checkpoint-keep", "2"]
    whole = end(run(space, "steps=40", SLOWLY, options=options))
    found = files(place)
    assert 2 <= len(found) <= 4 and not found[-1].endswith("-0001.h5"), found
    require_linked(place)
    left = 2 * 40 - steps_done(place / found[-1])
    assert end(run(space, "steps=40", SLOWLY, ranks=3, options=[*options, "--restart", place / found[-1]])) == whole
    again = files(place)
    assert 2 <= len(again) <= 4 and (set(again) - set(found) or left < 5), (left, found, again)
    assert end(run(space, "steps=40", SLOWLY, ranks=1, options=["--restart", place])) == whole


def test_keep_without_constant_arrays(space, place):
    """Behind each complete one there are as many as are to stay, and no more; so it is at the end."""
    it = space.start_epop("--backend", "pool", "--checkpoint-dir", place, "--checkpoint-keep", "2", job.program("five"), 1000, 1000000, ranks=2)
    space.wait_until_all_are_here()
    for number in range(1, 6):
        assert space.epopctl("checkpoint", "--wait").status == 0
        left = [f"-{left:04}.h5" for left in range(max(1, number - 1), number + 1)]
        assert [name[-8:] for name in files(place)] == left, number
    space.stop(it)
    assert len(files(place)) == 2


def test_constant_arrays_are_linked(space, place):
    """Of three files in one visit the first alone has k; the next two say where it is."""
    options = ["--checkpoint-dir", place, "--checkpoint-every", "0.01"]
    whole = end(run(space, "steps=80", "turns=1", SLOWLY, options=options))
    found = files(place)
    assert len(found) > 2 and [bool(links) for links in require_linked(place)] == [False] + [True] * (len(found) - 1)
    first, last = place / found[0], place / found[-1]
    assert end(run(space, "steps=80", "turns=1", SLOWLY, ranks=3, options=["--restart", last])) == whole
    first.unlink()
    assert first.name in refused(space, "steps=80", "turns=1", SLOWLY, options=["--restart", last])


def test_restart_then_resize(space, place):
    """The first run has no room for it."""
    whole, same, file = saving(space, place)
    asks = {"EPOP_TEST_AT": 5, "EPOP_TEST_SIZE": 3}
    again = run(space, *same, ranks=3, options=["--start", "1", "--restart", file, *ASKS], env=asks)
    assert "start: restarting of 1" in again.out and "end: 3 ranks" in again.out and end(again) == whole


def test_a_checkpoint_comes_before_a_resize(space, place):
    """Both are there when the ranks come together: what is saved is of the size before."""
    hold = Switch(space, "hold").on()
    it = space.start_epop("--backend", "pool", "--start", "2", "--no-ahead-data", "--checkpoint-dir", place, "--verbose", SAVED,
                          f"hold={hold}", ranks=3)
    it.wait_for_line("held")
    assert space.epopctl("resize", "3").status == 0
    it.wait_for_line("epop: prepared", stream="err")
    assert space.epopctl("checkpoint").status == 0
    hold.off()
    result = it.wait()
    assert result.status == 0 and "end: 3 ranks" in result.out, result
    assert result.err.index("epop: checkpointed at 'work'") < result.err.index("epop: agreed"), result
    assert end(run(space, f"hold={hold}", ranks=1, options=["--restart", place])) == end(result)


def test_the_program_asks(space, place):
    """From all ranks, for one."""
    asks = {"EPOP_TEST_AT": 0, "EPOP_TEST_FILE": place / "*-0001.h5"}
    whole = end(run(space, "ask=0", options=["--checkpoint-dir", place, *ASKS], env={**asks, "EPOP_TEST_WAITS": 1}))
    assert len(files(place)) == 1
    assert end(run(space, "ask=0", ranks=3, options=["--restart", place])) == whole


# ---- By epopctl


def test_epopctl_waits_for_the_file(space, place):
    it = Held(space, place)
    path, size, seconds, stall, element, iteration = it.ctl("checkpoint", "--wait").split("\t")
    assert files(place) == [pathlib.Path(path).name] and int(size) > 97 * 8
    assert 0 < float(seconds) <= float(stall) < 20 and element == "work" and int(iteration) > 0
    answer = json.loads(it.ctl("checkpoint", "--wait", "--json"))["checkpoint"]
    assert answer["number"] == 2 and answer["path"].endswith("-0002.h5")
    status = it.status()
    assert status["checkpoint"] == answer and "restarted" not in status
    assert it.ctl("checkpoint") == "accepted"
    it.let_go()


def test_status_and_watch_of_a_restart(space, place):
    it = Held(space, place)
    made = json.loads(it.ctl("checkpoint", "--wait", "--json"))["checkpoint"]
    whole = end(it.let_go())
    it.switch.unlink()
    again = Held(space, place, ranks=3, options=["--restart", made["path"]])
    watch = space.start_epopctl("watch", "--json")
    status = again.status()
    assert status["restarted"] == {"from": made["path"], "number": 1, "pc": 1, "element": "work", "iteration": made["iteration"]}
    assert status["element"]["iteration"] >= made["iteration"] and "checkpoint" not in status
    assert f"restarted\t1, {made['path']}, at work, iteration {made['iteration']}" in again.ctl("status")
    again.ctl("checkpoint", "--wait")
    event, _ = watch.wait_for_line('"checkpointed"')
    assert json.loads(event.string)["checkpoint"]["number"] == 2
    again.let_go()
    assert watch.wait().status == 0 and whole


def test_in_a_pause(space, place):
    it = Held(space, place)
    it.ctl("pause")
    where = it.status()["element"]["iteration"]
    made = json.loads(it.ctl("checkpoint", "--wait", "--json"))["checkpoint"]
    assert made["iteration"] == where and it.status()["state"] == "paused"
    it.ctl("resume")
    it.let_go()


def test_before_a_stop(space, place):
    it = Held(space, place)
    it.ctl("pause")
    assert it.ctl("checkpoint") == "accepted"
    it.ctl("stop")
    assert it.it.wait().status == 0 and len(files(place)) == 1


# ---- Where it is told


def test_profile_and_trace(space, place):
    profile, trace = space.directory / "profile.json", space.directory / "trace.json"
    asks = {"EPOP_TEST_AT": 10, "EPOP_TEST_FILE": place / "*-0001.h5"}
    result = run(space, options=["--checkpoint-dir", place, "--driver", f"profile,trace,{ASKS[1]}", "--output", profile,
                                 "--trace-output", trace], env=asks)
    (file,) = files(place)
    told = json.loads(profile.read_text())
    validate("profile", told)
    (made,) = told["checkpoints"]
    assert (made["number"], made["level"], made["path"], made["element"]) == (1, "file", str(place / file), "work")
    assert made["iteration"] > 10 and made["bytes"] > 97 * 8 and 0 < made["seconds"] <= made["stall"] < made["time"] <= told["duration"]
    assert re.search(r"^checkpoint  kept in  element +iteration", result.err, flags=re.M), result
    (slice_,) = traces.Trace(trace).check().slices("checkpoint")
    assert slice_["name"] == "checkpoint 1" and slice_["args"]["iteration"] == made["iteration"], slice_
    assert abs(slice_["dur"] - made["seconds"] * 1e6) < 2


# ---- Executables

HEAT = job.BUILD / "plain/heat_adapt"


def heat(space, *arguments, ranks, status=0, **env):
    result = space.start([job.MPIEXEC, "-n", ranks, HEAT, *arguments], env=env).wait()
    assert result.status == status, result
    return result


def test_an_executable(space, place):
    """By the environment; the digits are those of a run without interruption, at any number of processes."""
    waits = {"LD_PRELOAD": ASKS[1], "EPOP_TEST_WAITS": 1, "EPOP_TEST_AT": 10, "EPOP_TEST_FILE": place / "*-0002.h5"}
    whole = heat(space, "500", "60", ranks=2, EPOP_CHECKPOINT_EVERY="0.02", EPOP_CHECKPOINT_DIR=place, EPOP_CHECKPOINT_KEEP=1, **waits)
    assert len(files(place)) == 1  # nothing is constant, so the newest alone
    digits = re.search("heat .* steps", whole.out)[0]
    for ranks in 1, 3:
        assert digits in heat(space, "500", "60", ranks=ranks, EPOP_RESTART=place).out
    found = heat(space, "500", "61", ranks=2, status=2, EPOP_RESTART=place)
    only_line(found.err, "argument 2 is '61' here, '60' in the file; --new-arguments, or EPOP_NEW_ARGUMENTS=1, goes on with those here")
    longer = re.search("heat .* after 80 steps", heat(space, "500", "80", ranks=2).out)[0]
    assert longer in heat(space, "500", "80", ranks=2, EPOP_RESTART=place, EPOP_NEW_ARGUMENTS=1).out


def test_an_executable_that_describes_nothing(space, place):
    loop = executables.compile_c(executables.source("adapt_loop"), space.directory / "loop", *executables.LINKED)
    it = executables.start(space, loop)
    result = space.epopctl("checkpoint", "--wait")
    assert result.status == 1 and "epop_mpi_describe" in result.err, result
    assert space.epopctl("stop").status == 0
    assert it.wait().status == 0


# ---- What is refused


MAY_BE = "; --new-arguments, or EPOP_NEW_ARGUMENTS=1, goes on with those here"


def test_other_arguments(space, place):
    _, same, file = saving(space, place, "steps=40")
    assert refused(space, same[0], "steps=41", options=["--restart", file]) == (
        f"{file}: argument 2 is 'steps=41' here, 'steps=40' in the file" + MAY_BE)
    assert refused(space, same[0], options=["--restart", file]) == (
        f"{file}: argument 2 is missing here, 'steps=40' in the file" + MAY_BE)


@pytest.mark.parametrize("by", [["--new-arguments"], []], ids=["option", "variable"])
def test_a_run_goes_on_longer(space, place, by):
    """As if it had been started with these arguments."""
    _, same, file = saving(space, place, "steps=40")
    env = {} if by else {"EPOP_NEW_ARGUMENTS": "1"}
    longer = [same[0], "steps=60"]
    again = run(space, *longer, ranks=3, options=["--restart", file, *by], env=env)
    assert end(again) == end(run(space, *longer))


def test_a_run_goes_on_longer_as_the_program_allows(space, place):
    _, same, file = saving(space, place, "steps=40")
    again = run(space, *same, "more=20", ranks=3, options=["--restart", file])
    assert end(again) == end(run(space, same[0], "steps=60"))
    assert refused(space, same[0], "steps=41", "more=20", options=["--restart", file]) == (
        f"{file}: argument 2 is 'steps=41' here, 'steps=40' in the file" + MAY_BE)


def test_new_arguments_go_with_a_restart(space):
    result = space.epop("--new-arguments", SAVED)
    assert result.status == 2 and "--new-arguments goes with --restart" in result.err, result


def test_new_arguments_that_are_neither_yes_nor_no(space):
    result = space.epop(SAVED, ranks=1, env={"EPOP_NEW_ARGUMENTS": "maybe"})
    assert result.status == 2 and "EPOP_NEW_ARGUMENTS wants 1 or 0, not 'maybe'" in result.err, result


def test_another_program(space, place):
    _, same, file = saving(space, place)
    described = job.test_program("described")
    assert refused(space, *same, program=described, options=["--restart", file]) == (
        f"{file}: it is a checkpoint of the program 'saved', not of 'described'")
    assert refused(space, *same, program=described, options=["--restart", place]) == (
        f"{place}: there is no checkpoint of the program 'described' in it")


@pytest.mark.parametrize("fault,text", [
    ("more", "'more' is described here, and is not in the file"),
    ("less", "'table' is in the file, and is not described here"),
    ("kind", "'table' is described as array here, replicated in the file")])
def test_other_data(space, place, fault, text):
    _, same, file = saving(space, place)
    result = space.epop("--backend", "pool", "--restart", file, SAVED, *same, ranks=2, env={"EPOP_TEST_FAULT": fault})
    assert result.status == 2 and only_line(result.err, f"{file}: {text}"), result


def test_a_size_that_the_phase_does_not_accept(space, place):
    _, same, file = saving(space, place)
    assert refused(space, *same, ranks=5, options=["--restart", file]) == (
        "element 1 'work', with which saved goes on, does not accept 5 ranks; it accepts any size, at most 4")


def test_damaged_files(space, place):
    """Of a directory an older one is taken."""
    whole, same, file = saving(space, place)
    cut = place / file.name.replace("0001", "0007")
    cut.write_bytes(file.read_bytes()[:1000])
    assert str(cut) in refused(space, *same, options=["--restart", cut])
    again = run(space, *same, options=["--restart", place])
    assert "an older one is looked for" in again.err and end(again) == whole
    assert "No such file" in refused(space, *same, options=["--restart", place / "none.h5"])


OUT = "is damaged: its '{}' is out of range"
HEADS = [
    ({"pc": 99}, "it goes on at element 99, which is not there"), ({"pc": 0}, "it goes on at element 0, which is no elastic phase"),
    ({"pc": -1}, OUT.format("pc")), ({"pc": 2**32 + 1}, OUT.format("pc")), ({"pc": 1.5}, "is damaged: its head is not complete"),
    ({"iteration": 2**63 - 1}, OUT.format("iteration")), ({"iteration": numpy.uint64(2**64 - 1)}, OUT.format("iteration")),
    ({"number": 2**63 - 1}, OUT.format("number")),
]


def test_heads_that_cannot_be(space, place):
    """Numbers that the program, or any checkpoint, does not have: one line, status 2, on all ranks; the control comes first."""
    whole, same, file = saving(space, place)
    assert end(run(space, *same, options=["--restart", file])) == whole
    crafted = place / "crafted-0001.h5"
    for attributes, text in HEADS:
        shutil.copy(file, crafted)
        with h5py.File(crafted, "r+") as it:
            it.attrs.update(attributes)
        assert text in refused(space, *same, ranks=3, options=["--restart", crafted]), attributes


def test_what_is_no_file(space, place):
    """A FIFO, which nobody ever writes to, is refused, and passed over in a directory."""
    whole, same, file = saving(space, place)
    fifo = place / file.name.replace("0001", "0002")
    os.mkfifo(fifo)
    for path in fifo, "/dev/zero":
        assert refused(space, *same, options=["--restart", path]) == f"the checkpoint '{path}' cannot be read: it is no regular file"
    assert end(run(space, *same, options=["--checkpoint-dir", place, "--restart", place])) == whole


def nest(group):
    for _ in range(3000):
        group = group.create_group("g")


def spread(group):
    for number in range(100001):
        group[f"l{number}"] = h5py.SoftLink("/u")


@pytest.mark.parametrize("groups", [nest, spread])
def test_more_groups_than_any_of_ours(space, place, groups):
    """Looking at all of them, each by its whole path, takes the longer the more there are."""
    _, same, file = saving(space, place)
    with h5py.File(file, "r+") as it:
        groups(it)
    begin = time.monotonic()
    text = refused(space, *same, options=["--restart", file])
    assert "is damaged: it has more, or deeper, groups than any of ours" in text
    assert space.in_time(time.monotonic() - begin, 5)


def test_without_hdf5(space, place):
    """One line, also where a directory has several files."""
    _, same, file = saving(space, place)
    shutil.copy(file, place / file.name.replace("0001", "0002"))
    (space.directory / "tree/lib").mkdir(parents=True)
    (space.directory / "tree/bin").mkdir()
    shutil.copy(job.BUILD / "lib/libepop.so.0", space.directory / "tree/lib")
    epop = shutil.copy(job.BUILD / "bin/epop", space.directory / "tree/bin")
    start = [job.MPIEXEC, "-n", 2, epop, "--backend", "pool"]
    text = "epop: this EPOP was built without HDF5 (lib/epop/hdf5.so is missing): install libhdf5-dev, or what it is called here, and build again"
    for restart in place, file:
        result = space.start([*start, "--restart", restart, SAVED, *same]).wait()
        assert result.status == 2 and only_line(result.err) == text and "note:" not in result.err, result


def test_a_program_without_a_describe_block(space, place):
    window = job.test_program("scenario_window")
    line = "scenario has no describe block, so there is nothing to"
    assert refused(space, program=window, options=["--checkpoint-every", "1"]) == f"{line} save"
    assert refused(space, program=window, options=["--restart", place]) == f"{line} restart"
    it = Scenario(space, start=2, ranks=2)
    assert it.refused("checkpoint") == f"{line} save"
    it.stop(ranks=2)
