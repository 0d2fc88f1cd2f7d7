"""What the tests of the profile driver share: its options, and a profile that agrees with its schema and with itself."""

import json

import job
import pytest
from schemas import validate

UNEVEN = job.test_program("scenario_uneven")


def profiled(space, *more):
    return ("--driver", "profile", "--output", space.directory / "prof.json", *more)


def read(space):
    """The profile, checked."""
    profile = validate("profile", json.loads((space.directory / "prof.json").read_text()))
    check(profile)
    return profile


def partial(space):
    profile = read(space)
    assert profile["partial"]
    return profile


def check(profile):
    """What holds in every profile: sums agree, and nobody was in elements for longer than the job took."""
    busy = {}
    for element in profile["elements"]:
        assert [world["size"] for world in element["worlds"]] == sorted({world["size"] for world in element["worlds"]})
        for world in element["worlds"]:
            loop, mpi = world["loop_time"], world["mpi_time"]
            assert loop["min"] <= loop["mean"] * 1.000001 and loop["mean"] <= loop["max"] * 1.000001
            assert mpi["max"] <= loop["max"] * 1.000001 and mpi["total"] <= loop["total"]
            assert world["mpi_share"] == pytest.approx(mpi["total"] / loop["total"])
            compute = loop["total"] - mpi["total"]
            assert world["mtct"] == (pytest.approx(mpi["total"] / compute) if compute > 0 else None)
            assert sum(call["time"] for call in world["mpi"]) == pytest.approx(mpi["total"])
            busy[world["size"]] = busy.get(world["size"], 0) + loop["min"]  # the longest may be of other ranks, and overlap
    assert sum(busy.values()) <= profile["duration"]
    whole = not profile["partial"] or profile["reason"].startswith("stopped")  # all processes have told what they moved
    for adaptation in profile["adaptations"]:
        if adaptation["bytes"] and adaptation["state"] == "committed" and whole:
            moved = sum(one["bytes"] for one in adaptation["traffic"])
            assert adaptation["bytes"] == {"sent": moved, "received": moved, "least": moved}


def element(profile, name):
    return next(one for one in profile["elements"] if one["name"] == name)


def world(profile, name, size):
    return next(one for one in element(profile, name)["worlds"] if one["size"] == size)


def iterations(profile, name):
    """{size: iterations}"""
    return {one["size"]: one["iterations"] for one in element(profile, name)["worlds"]}


def check_measured(profile, out):
    """Against what scenario_uneven measured itself, on the other side of the same calls."""
    told = {}  # {size: {rank: [iterations, seconds, seconds in MPI]}}
    for line in out.splitlines():
        if line.startswith("measured "):
            size, rank, *values = line.split()[1:]
            sums = told.setdefault(int(size), {}).setdefault(int(rank), [0, 0, 0])
            sums[:] = [one + float(more) for one, more in zip(sums, values)]
    for size, made in iterations(profile, "work").items():
        work, ranks = world(profile, "work", size), told[size]
        assert sorted(ranks) == list(range(size)) and {count for count, *_ in ranks.values()} == {made}, (size, made, told)
        loops = [loop for _, loop, _ in ranks.values()]
        for key, own in (("total", sum(loops)), ("mean", sum(loops) / size), ("min", min(loops)), ("max", max(loops))):
            assert work["loop_time"][key] >= own * 0.99, (size, key, told)
        assert work["mpi_time"]["total"] <= sum(mpi for *_, mpi in ranks.values()) * 1.01, (size, told)
        assert {(call["function"], call["calls"]) for call in work["mpi"] if made} == {
            (name, size * made) for name in ("MPI_Barrier", "MPI_Comm_rank") if made}


def parts(profile):
    """{process: [(rank, size)]}"""
    return {one["process"]: [(part["rank"], part["size"]) for part in one["ranks"]] for one in profile["processes"]}


def wait_for_checkpoint(space, condition):
    """Until the file, which is partial, meets the condition."""
    job.wait_for(lambda: (space.directory / "prof.json").exists() and condition(partial(space)), 30)
