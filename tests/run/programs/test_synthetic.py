"""programs/synthetic: a job that takes the time it was told, loses nothing of its data and its work in resizes, asks for these itself,
and does what a configuration of Proteo says."""

import csv
import re
import time

import job
import joining
import pytest

SYNTHETIC = job.program("synthetic")
END = r"synthetic: (-?\d+) of (\d+) iterations, (\d+) of (\d+) elements right, (\d+) resizes, (\d+) ranks at the end\n"


def figures(result):
    """Of the last line: iterations done and asked for, elements right and in all, resizes, ranks."""
    assert result.status == 0, result
    match = re.fullmatch(END, result.out)
    assert match, result
    return [int(figure) for figure in match.groups()]


@pytest.mark.parametrize("speedup, ranks, seconds", [
    ("linear", 2, 0.5), ("amdahl:0.5", 1, 1), ("amdahl:0.5", 2, 0.75), ("table:1=1,3=2", 2, 1 / 1.5)])
def test_takes_the_time_that_it_is_told(space, speedup, ranks, seconds):
    begin = time.monotonic()
    result = space.epop(SYNTHETIC, "mib=0.5", "phase=a", "iterations=10", "seconds=0.1", f"speedup={speedup}",
                        "phase=b", "kind=rigid", "seconds=0.3", ranks=ranks)
    assert figures(result) == [11, 11, 65536, 65536, 0, ranks]
    assert time.monotonic() - begin > seconds + 0.3 / ranks


def test_loses_nothing_when_resized(space):
    it = space.start_epop("--start", "1", SYNTHETIC, "mib=2", "phase=a", "iterations=3", "seconds=0.01", "phase=b",
                          "iterations=100000000", "seconds=0.01", "speedup=amdahl:0.1", "mtct=0.2", ranks=3)
    space.wait_for_status(lambda status: (status.get("progress") or {}).get("bound") == 100000000)
    for size in ("3", "1", "2"):
        space.resize(size)
    assert space.epopctl("stop").status == 0
    done, asked, right, elements, resizes, ranks = figures(it.wait())
    assert 3 <= done < asked and right == elements == 262144 and (resizes, ranks) == (3, 2)


def test_a_phase_has_a_range(space):
    it = space.start_epop("--start", "1", SYNTHETIC, "phase=a", "iterations=100000000", "seconds=0.01", "max=2", ranks=3)
    space.wait_for_status(lambda status: (status.get("progress") or {}).get("bound") == 100000000)
    space.resize(3)
    space.wait_for_status(lambda status: status["size"] == 2)
    assert space.epopctl("stop").status == 0
    assert figures(it.wait())[4:] == [1, 2]


@pytest.mark.parametrize("argument", ["seconds=1", "phases=2", "mib=-1"])
def test_bad_argument(space, argument):
    result = space.epop(SYNTHETIC, argument, ranks=1)
    assert result.status != 0 and f"argument '{argument}' is not understood" in result.err, result


def test_bad_argument_of_a_phase(space):
    for argument in ("seconds=x", "speedup=cubic", "speedup=table:1,2", "iterations=-1"):
        result = space.epop(SYNTHETIC, "phase=a", argument, ranks=1)
        assert result.status != 0 and f"argument '{argument}' is not understood" in result.err, result


# ---- Stages, and resizes that it asks for

ROW = re.compile(r"^(?P<phase>\S+) +(?P<ranks>\d+) +(?P<iterations>\d+) +(?P<meanwhile>\d+)  (?P<of>iteration|\d+ \w+) +"
                 r"(?P<mean>[\d.]+) +(?P<median>[\d.]+) +(?P<least>[\d.]+) +(?P<most>[\d.]+)$", flags=re.M)
CHANGE = re.compile(r"^(?P<sizes>\d+ -> \d+) +(?P<joining>\d+) +(?P<asked>\d+|-) +(?P<happened>\d+) +(?P<spawn>[\d.]+|-) +"
                    r"(?P<moved>[\d.]+) +(?P<stood>[\d.]+) +(?P<whole>[\d.]+|-)$", flags=re.M)


def last_figures(result, status=0):
    """As figures(), where a table is before that line."""
    assert result.status == status, result
    return [int(figure) for figure in re.fullmatch(END, result.out[result.out.rindex("synthetic: "):]).groups()]


def rows(result):
    return [match.groupdict() for match in ROW.finditer(result.out)]


def changes(result):
    return [match.groupdict() for match in CHANGE.finditer(result.out)]


def iterations(result):
    """In the table: of all sizes together."""
    return sum(int(row["iterations"]) for row in rows(result) if row["of"] == "iteration")


def sizes(result):
    """And which were asked for after how many iterations."""
    return [(change["sizes"], change["asked"]) for change in changes(result)]


def is_in_order(change):
    """The parts of a resize are parts."""
    return (float(change["moved"]) <= float(change["stood"]) <= float(change["whole"]) and
            (change["spawn"] == "-" or float(change["spawn"]) <= float(change["whole"])))


STAGES = [("pi", "seconds=0.002"), ("matrix", "granularity=20"), ("point", "bytes=1000"), ("bcast", "bytes=10"), ("allgatherv", "bytes=1001"),
          ("reduce", "bytes=1"), ("allreduce", "seconds=0.001"), ("bcast", "capped=yes"), ("pi", "capped=yes"), ("sleep", "seconds=0.001")]


def test_stages_and_resizes(space):
    """Every kind of stage at one, an even and an odd number of ranks, in a world that grows and shrinks."""
    stages = [word for kind, more in STAGES for word in (f"stage={kind}", "seconds=0.001", more)]
    result = space.epop("--start", "1", SYNTHETIC, "mib=0.5", "ahead=0.25", "resize=5:3", "resize=10:2", "table=yes", "phase=a", *stages,
                        "iterations=15", ranks=3)
    assert last_figures(result) == [15, 15, 98304, 98304, 2, 2]
    assert sizes(result) == [("1 -> 3", "5"), ("3 -> 2", "10")] and all(map(is_in_order, changes(result))), result
    assert [change["joining"] for change in changes(result)] == ["2", "0"] and changes(result)[1]["spawn"] == "-"
    assert iterations(result) == 15 and result.err == "", result
    expected = [f"{number} {kind}" for number, (kind, _) in enumerate(STAGES)]
    assert [row["of"] for row in rows(result)][:11] == ["iteration", *expected], result
    for row in rows(result):
        assert float(row["least"]) <= float(row["median"]) <= float(row["most"]) and float(row["mean"]) <= float(row["most"]) + 1e-6, result


def test_resizes_in_phases(space):
    """One at once, one to the present size, which the first phase waits for, one that comes in a rigid phase and happens behind it,
    another one to the present size, one behind the last iteration."""
    result = space.epop("--start", "1", SYNTHETIC, "resize=0:2", "resize=4:2", "resize=6:3", "resize=8:3", "resize=12:1", "table=yes", "phase=a",
                        "iterations=5", "seconds=0.01", "phase=b", "kind=rigid", "iterations=3", "seconds=0.01", "phase=c",
                        "iterations=4", "seconds=0.01", ranks=3)
    assert last_figures(result)[:2] == [12, 12] and last_figures(result)[4:] == [3, 1]
    assert sizes(result) == [("1 -> 2", "0"), ("2 -> 3", "6"), ("3 -> 1", "12")], result
    assert [(row["ranks"], row["iterations"]) for row in rows(result) if row["phase"] == "b" and row["of"] == "iteration"] == [("2", "3")]


@pytest.mark.parametrize("speedup, ranks, seconds", [("none", 2, 0.03), ("linear", 2, 0.015)])
def test_weak_and_strong(space, speedup, ranks, seconds):
    """Beside another stage a sleep does not catch up."""
    result = space.epop(SYNTHETIC, "table=yes", "phase=a", "iterations=4", f"speedup={speedup}", "stage=sleep", "seconds=0.03", "stage=bcast",
                        "bytes=1", ranks=ranks)
    assert last_figures(result)[0] == 4 and float(rows(result)[1]["least"]) >= seconds - 1e-6, result


def times_in(path):
    """Of each kind."""
    with path.open() as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    return {what: [float(line["seconds"]) for line in lines if line["what"] == what] for what in {line["what"] for line in lines}}


def test_output(space):
    """Every time is in the file, of which the table has what is in it."""
    path = space.directory / "times.tsv"
    result = space.epop("--start", "2", SYNTHETIC, f"output={path.name}", "table=yes", "resize=4:1", "phase=a", "iterations=9", "stage=pi",
                        "seconds=0.002", "stage=reduce", "bytes=10", ranks=2)
    assert last_figures(result)[0] == 9
    with path.open() as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    of = {what: [line for line in lines if line["what"] == what] for what in {line["what"] for line in lines}}
    assert [line["iteration"] for line in of["iteration"]] == [str(number) for number in range(9)]
    assert len(of["stage"]) == 18 and set(of) == {"iteration", "stage", "redistribution", "standstill", "resize", "all"}
    assert (of["resize"][0]["from"], of["resize"][0]["ranks"]) == ("2", "1") and float(of["all"][0]["seconds"]) > 0
    for row in rows(result):
        what, stage = ("iteration", "-") if row["of"] == "iteration" else ("stage", row["of"].split()[0])
        own = [float(line["seconds"]) for line in of[what] if line["stage"] == stage and line["ranks"] == row["ranks"]]
        assert len(own) == int(row["iterations"]) and abs(sum(own) / len(own) - float(row["mean"])) < 2e-6


@pytest.mark.parametrize("capture", ["max", "mean", "median"])
def test_the_time_of_several_ranks(space, capture):
    """All sleep for as long, and the iterations, which barriers keep apart, take no longer than there was time."""
    result = space.epop(SYNTHETIC, "output=times.tsv", f"capture={capture}", "barriers=yes", "phase=a", "iterations=5", "speedup=none",
                        "stage=sleep", "seconds=0.03", "stage=bcast", "bytes=1", ranks=3)
    assert figures(result)[0] == 5
    lines = times_in(space.directory / "times.tsv")
    assert all(seconds >= 0.03 - 1e-6 for seconds in lines["iteration"]) and sum(lines["iteration"]) <= lines["all"][0], lines


def test_output_that_cannot_be_written(space):
    result = space.epop(SYNTHETIC, "output=no/such/folder", "phase=a", ranks=2)
    assert result.status != 0 and result.err.count("no/such/folder: No such file or directory") == 1, result


def test_a_resize_that_is_refused(space):
    """It waits for it, goes on, and says so in the end."""
    result = space.epop("--backend", "pool", SYNTHETIC, "resize=3:9", "wait=0.1", "table=yes", "phase=a", "iterations=8", "seconds=0.001", ranks=2)
    assert last_figures(result, status=1) == [8, 8, 131072, 131072, 0, 2] and sizes(result) == []
    assert result.err.count("the resize to 9 ranks did not happen (resize=3:9); it goes on with 2; epopctl watch shows why") == 1, result


def test_a_resize_that_the_phase_does_not_accept(space):
    """The next one is."""
    result = space.epop("--start", "2", SYNTHETIC, "resize=1:3", "resize=2:1", "table=yes", "phase=a", "iterations=4", "seconds=0.001",
                        "max=2", ranks=3)
    assert last_figures(result, status=1) == [4, 4, 131072, 131072, 1, 1] and sizes(result) == [("2 -> 1", "2")]
    assert "the resize to 3 ranks did not happen (resize=1:3); it goes on with 2" in result.err, result


def test_a_resize_of_others_in_between(space):
    """What it waits for is asked for again behind it."""
    it = space.start_epop("--backend", "pool", SYNTHETIC, "resize=3:9", "wait=100000", "table=yes", "phase=a", "iterations=4",
                          "seconds=0.001", ranks=2)
    it.wait_for_line("it waits for the resize to 9 ranks, for 100000 s at most", stream="err")
    space.resize(1)
    result = space.stop(it)
    assert last_figures(result) == [4, 4, 131072, 131072, 1, 1] and sizes(result) == [("2 -> 1", "-")], result


def adaptations(space, *arguments, size):
    it = space.start_epop("--start", "1", SYNTHETIC, *arguments, ranks=2)
    status = space.wait_for_status(lambda status: status["size"] == size and status["adaptations"][-1]["state"] == "committed")
    return it, status["adaptations"]


def test_constant_data_moves_ahead(space):
    it, done = adaptations(space, "mib=0", "ahead=1", "resize=3:2", "phase=a", "iterations=100000000", "seconds=0.01", size=2)
    assert done[0]["ahead"] == 524288, done
    assert last_figures(space.stop(it))[2:] == [131072, 131072, 1, 2]


def test_restart(space):
    """Saved after some iterations, with a resize still to come."""
    words = [SYNTHETIC, "ahead=0.1", "resize=40:2", "table=yes", "phase=a", "iterations=45", "seconds=0.001"]
    asks = {"EPOP_TEST_AT": "4", "EPOP_TEST_FILE": str(space.directory / "saved/*-0001.h5")}
    options = ["--start", "1", "--checkpoint-dir", "saved", "--driver", job.test_program("driver_asks")]
    assert last_figures(space.epop(*options, *words, ranks=2, env=asks))[4:] == [1, 2]
    result = space.epop("--restart", "saved", "--start", "1", *words, ranks=2)
    assert last_figures(result) == [45, 45, 144179, 144179, 1, 2] and sizes(result) == [("1 -> 2", "40")], result


def test_bad_arguments_of_stages_and_resizes(space):
    for argument in ("stage=dance", "bytes=-1", "bytes=3000000000", "granularity=0", "capped=maybe", "resize=1", "resize=-1:2", "resize=1:0",
                     "ahead=-1", "wait=soon", "table=maybe", "output=", "capture=min", "barriers=maybe"):
        result = space.epop(SYNTHETIC, "phase=a", argument, ranks=1)
        assert result.status != 0 and f"argument '{argument}' is not understood" in result.err, result
    result = space.epop(SYNTHETIC, "resize=3:2", "resize=1:3", "phase=a", ranks=1)
    assert result.status != 0 and "argument 'resize=1:3' is not understood" in result.err, result
    result = space.epop(SYNTHETIC, "resize=3:2", "phase=a", "iterations=2", ranks=1)
    assert result.status != 0 and "resize=3:2 comes after the last of 2 iterations" in result.err, result


# ---- Configurations of Proteo

GENERAL = """[general]
Total_Resizes=2
Total_Stages=4
Granularity=1000
SDR=1000.0
ADR=80000.25
Rigid=1
Capture_Method=2
; end [general]
[stage0]
Stage_Type=0
Stage_Bytes=0
Stage_Time=0.004
;end [stage0]
[stage1]
Stage_Type=3
Stage_Bytes=0
Stage_Time_Capped=1
Stage_Time=0.002
[stage2]
Stage_Type=6
Stage_Bytes=8
Stage_Time=0
[stage3]
Stage_Type=4
Stage_Bytes=33176
Stage_Time=0
"""
RESIZES = """[resize0]
Iters=4
Procs=2
FactorS=0.5
Dist=compact
Redistribution_Method=0
Redistribution_Strategy=1
Spawn_Method=0
Spawn_Strategy=1
;end [resize0]
[resize1]
Iters=6
Procs=3
FactorS=0.33
Dist=compact
Redistribution_Method=1
Redistribution_Strategy=1
Spawn_Method=0
Spawn_Strategy=1
;end [resize1]
[resize2]
Iters=5
Procs=1
FactorS=1
Dist=spread
Redistribution_Method=0
Redistribution_Strategy=2
Spawn_Method=1
Spawn_Strategy=1,2
"""
TOLD = [("resize1", "Spawn_Method", "Spawn_Method=0 in [resize1]: the job's options decide, for all its resizes; this is epop --backend spawn "
                                    "--spawn-method baseline"),
        ("resize1", "Spawn_Strategy", "Spawn_Strategy in [resize1]: the job's options decide, for all its resizes; this is epop --backend spawn "
                                      "--spawn-strategy plain --spawn-async"),
        ("resize2", "Dist", "Dist=spread in [resize2]: ranks are where the job's launch and options put them"),
        ("resize2", "Redistribution_Method", "Redistribution_Method=0 in [resize2]: data moves by point-to-point messages, which is 1"),
        ("resize2", "Redistribution_Strategy", "Redistribution_Strategy in [resize2]: data of ADR is moved by a thread, which is 1"),
        ("resize2", "Spawn_Method", "Spawn_Method in [resize2]: the job spawns in one way for all its resizes, as for [resize1]"),
        ("resize2", "Spawn_Strategy", "Spawn_Strategy in [resize2]: the job spawns in one way for all its resizes, as for [resize1]")]


def line_of(text, section, key=None):
    """Its number in the file; without a key that of the section."""
    lines = text.splitlines()
    start = lines.index(f"[{section}]")
    return start + 1 + (next(number for number, line in enumerate(lines[start:]) if line.startswith(f"{key}=")) if key else 0)


def lines_about(text, told=TOLD):
    """What it says of the file."""
    return sorted((line_of(text, section, key), line) for section, key, line in told)


def configured(space, text, *options, ranks, start=2, **how):
    (space.directory / "two.ini").write_text(text)
    at = ("--start", str(start)) if start else ()
    return space.epop(*options, *at, SYNTHETIC, "config=two.ini", ranks=ranks, **how)


def require_done(result, joining_ranks):
    assert last_figures(result) == [15, 15, 10125, 10125, 2, 1]
    assert sizes(result) == [("2 -> 3", "4"), ("3 -> 1", "10")] and iterations(result) == 15, result
    assert [change["joining"] for change in changes(result)] == joining_ranks and all(map(is_in_order, changes(result))), result


def told(result):
    """The lines about the file."""
    return sorted((int(number), text) for number, text in re.findall(r"^two.ini:(\d+): (.*)$", result.err, flags=re.M))


def test_a_configuration(space):
    """Each line once, by rank 0."""
    result = configured(space, GENERAL + RESIZES, ranks=3)
    require_done(result, ["1", "0"])
    assert told(result) == lines_about(GENERAL + RESIZES), result
    assert [row["of"] for row in rows(result)][:5] == ["iteration", "0 pi", "1 bcast", "2 allreduce", "3 allgatherv"], result


@joining.needed
@pytest.mark.parametrize("options, joins", [(joining.JOIN, ["1", "0"]), (joining.SPAWN, ["1", "0"]), (joining.BASELINE, ["3", "1"]),
                                            (joining.BASELINE + joining.ASYNC + joining.SINGLE, ["3", "1"])],
                         ids=["join", "merge", "baseline", "baseline-async-single"])
def test_a_configuration_where_processes_are_started(space, options, joins):
    """Those of rank 0, too: what it knew of times has gone with it to the next one."""
    result = configured(space, GENERAL + RESIZES, *options, ranks=2, start=None)
    require_done(result, joins)
    assert told(result) == lines_about(GENERAL + RESIZES), result


def test_data_of_adr_that_moves_in_the_window(space):
    """By the strategy that is none; with the other one it comes ahead."""
    text = GENERAL + RESIZES.replace("Redistribution_Strategy=1", "Redistribution_Strategy=0").replace("Iters=6", "Iters=100000000")
    (space.directory / "two.ini").write_text(text)
    it = space.start_epop("--start", "2", SYNTHETIC, "config=two.ini", ranks=3)
    status = space.wait_for_status(lambda status: status["size"] == 3 and status["adaptations"][-1]["state"] == "committed")
    assert "ahead" not in status["adaptations"][0] and status["adaptations"][0]["bytes"] > 20000, status
    space.stop(it)


PHASES = """[general]
Total_Resizes=1
Total_Phases=2
SDR=0
ADR=0
[phase0]
Total_Iters=4
Total_Stages=4
[phase0.stage0]
Stage_Type=1
Granularity=20
Stage_Time=0.002
Stage_Bytes=0
[phase0.stage1]
Stage_Type=3
Stage_Bytes=100
Stage_Time=0
Stage_Identifier=1
[phase0.stage2]
Stage_Type=4
Stage_Bytes=0
Stage_Time=0
Stage_Identifier=1
[phase0.stage3]
Stage_Type=9
Stage_Bytes=100
Stage_Time=0
[phase1]
Total_Iters=5
Total_Stages=1
[phase1.stage0]
Stage_Type=8
Stage_Bytes=16
Stage_Time=0
[resize0]
Iters=2
Procs=1
[resize1]
Iters=7
Procs=2
FactorS=1
"""


def test_a_configuration_with_phases(space):
    result = configured(space, PHASES, ranks=2, start=1)
    assert last_figures(result) == [9, 9, 0, 0, 1, 2] and sizes(result) == [("1 -> 2", "2")]
    later = [("phase0.stage1", "Stage_Type", "Stage_Type=3 in [phase0.stage1]: the exchange is complete before the next stage"),
             ("phase0.stage2", "Stage_Type",
              "Stage_Type=4 in [phase0.stage2]: there is nothing to wait for, as exchanges are complete at once"),
             ("phase0.stage3", "Stage_Type", "Stage_Type=9 in [phase0.stage3]: nothing is written")]
    assert told(result) == lines_about(PHASES, later), result
    named = [(row["phase"], row["of"]) for row in rows(result) if row["phase"] == "phase0"][:5]
    assert [of for _, of in named] == ["iteration", "0 matrix", "1 point", "2 nothing", "3 nothing"], result


def test_what_is_left_out(space):
    """Sections beyond the totals, and keys and sections that nobody knows; and a comment behind a value."""
    text = GENERAL + RESIZES + "[resize3]\nIters=1\n[stage4]\nStage_Type=0\n[other]\nx=1\n"
    text = text.replace("SDR=1000.0", "SDR=1000.0 ; bytes").replace("Capture_Method=2", "Datasize=3")
    result = configured(space, text, ranks=3)
    require_done(result, ["1", "0"])
    left_out = [("general", "Datasize", "Datasize in [general]: there is no such key here; it is left out"),
                ("resize3", None, "[resize3] is left out, as Total_Resizes says"),
                ("stage4", None, "[stage4] is left out, as Total_Stages says"),
                ("other", None, "[other]: it means nothing here, and is left out")]
    assert told(result) == lines_about(text, TOLD + left_out), result


def wrong(text, section, key, message):
    """A file, and the line about it."""
    return text, f"two.ini:{line_of(text, section, key)}: {message}"


WRONG = {
    "no section": ("x=1\n" + GENERAL + RESIZES, "two.ini:1: 'x=1' stands before the first [section]"),
    "no number": wrong(GENERAL.replace("Total_Stages=4", "Total_Stages=four") + RESIZES, "general", "Total_Stages",
                       "Total_Stages=four: it is a number from 1 to 64"),
    "a number and more": wrong(GENERAL.replace("Rigid=1", "Rigid=1x") + RESIZES, "general", "Rigid",
                               "Rigid=1x: it is a number from 0 to 1"),
    "out of range": wrong(GENERAL.replace("Stage_Type=6", "Stage_Type=11") + RESIZES, "stage2", "Stage_Type",
                          "Stage_Type=11: it is a number from 0 to 10"),
    "no line": ("hello\n" + GENERAL + RESIZES, "two.ini:1: 'hello' is neither [section] nor key=value"),
    "no bracket": ("[resize\n" + GENERAL + RESIZES, "two.ini:1: a section is a name in brackets, as in [stage0]"),
    "twice": (GENERAL.replace("Rigid=1", "SDR=2") + RESIZES, "two.ini:7: SDR stands in [general] already, in line 5"),
    "no place": wrong(GENERAL + RESIZES.replace("spread", "wide"), "resize2", "Dist", "Dist=wide: it is compact or spread"),
    "no list": wrong(GENERAL + RESIZES.replace("1,2", "1,9"), "resize2", "Spawn_Strategy",
                     "Spawn_Strategy=1,9: it is a list of numbers from 0 to 5"),
    "no stage": (GENERAL.replace("Total_Stages=4", "Total_Stages=5") + RESIZES,
                 "two.ini: there is no section [stage4], though Total_Stages says so"),
    "no resize": (GENERAL.replace("Total_Resizes=2", "Total_Resizes=3") + RESIZES,
                  "two.ini: there is no section [resize3], and there is one more than Total_Resizes says"),
    "no key": wrong(GENERAL + RESIZES.replace("Procs=3\n", ""), "resize1", None, "[resize1] has no Procs"),
    "no granularity": wrong(GENERAL.replace("Granularity=1000\n", "") + RESIZES, "stage0", None, "[stage0] has no Granularity"),
    "nothing": ("", "two.ini: there is no section [general]"),
    "more iterations": (PHASES.replace("Iters=2", "Iters=10"), "two.ini: the phases have 9 iterations, and the last resize comes after 10"),
    "other ranks": (GENERAL + RESIZES.replace("Procs=2", "Procs=1"),
                    "synthetic: [resize0] has Procs=1, and the job starts with 2 ranks: epop --start 1"),
}


@pytest.mark.parametrize("text, line", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_configuration(space, text, line):
    """It says so once, and nothing is run."""
    result = configured(space, text, ranks=2)
    assert result.status != 0 and result.err.splitlines().count(line) == 1 and result.out == "", result


def test_a_configuration_that_is_not_there(space):
    result = space.epop(SYNTHETIC, "config=none.ini", ranks=2)
    assert result.status != 0 and result.err.splitlines().count("none.ini: No such file or directory") == 1, result
    result = space.epop(SYNTHETIC, "config=none.ini", "phase=a", ranks=2)
    assert result.status != 0 and "argument 'phase=a' is not understood beside config=" in result.err, result
