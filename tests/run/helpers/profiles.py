"""Profiles for the tests of epop-report: the schema's example, and others made from it; all of them valid."""

import copy
import json

import job
import schemas

EXAMPLES = job.ROOT / "schema/examples/profile/valid"
HOSTILE = '</script><script>document.title="broken"</script><img src=x onerror=alert(1)>'


def example(name="resized"):
    return json.loads((EXAMPLES / f"{name}.json").read_text())


def checked(profile):
    """A profile that epop itself could have written."""
    return schemas.validate("profile", profile)


def phases(profile):
    return [element for element in profile["elements"] if element["type"] in ("EP", "RP")]


def named(program, phase):
    """These names, in the program, a phase and the reason of a failed resize."""
    profile = example()
    profile["program"]["name"] = program
    phases(profile)[0]["name"] = phase
    for adaptation in profile["adaptations"]:
        adaptation["element"] = phase
        if adaptation["reason"] is not None:
            adaptation["reason"] = phase
    return checked(profile)


def without_resizes():
    """One world size, no adaptation, a single phase."""
    profile = example()
    profile["world"] = profile["world"][:1]
    size = profile["world"][0]["size"]
    profile.update(adaptations=[], refusals=[], efficiency=profile["efficiency"][:1],
                   elements=[profile["elements"][0], phases(profile)[0]])
    profile["program"]["finalizer"] = None
    for element in profile["elements"]:
        element["worlds"] = [world for world in element["worlds"] if world["size"] == size]
    return checked(profile)


def scaled(sizes=(1, 2, 3, 4, 6, 8, 12, 16)):
    """A program of two phases that were seen at many sizes; the first follows Amdahl's law with s = 0.2, p = 0.8."""
    profile = example()
    first, second = phases(profile)[:2]
    template = first["worlds"][0]
    for element, law in ((first, lambda size: 0.2 + 0.8 / size), (second, lambda size: 0.001 + 0.01 / size)):
        element["worlds"] = [world_of(template, size, 40, law(size), law(sizes[0])) for size in sizes]
    profile["efficiency"] = [{key: world[key] for key in ("size", "speedup", "efficiency")} |
                             {"time": world["loop_time"]["mean"]} for world in first["worlds"]]
    return checked(profile)


def world_of(template, size, iterations, time, time_at_least):
    world = copy.deepcopy(template)
    mean = iterations * time
    spread = {"total": mean * size, "mean": mean, "min": mean, "max": mean, "variance": 0}
    world.update(size=size, iterations=iterations, loop_time=spread, mpi_share=0.25, mtct=1 / 3,
                 mpi_time={**{key: value / 4 for key, value in spread.items()}, "variance": 0},
                 iterations_per_second=1 / time, speedup=time_at_least / time, efficiency=time_at_least / time / size)
    return world


def large(elements=300, resizes=300, processes=40):
    """Hundreds of phases and resizes."""
    profile = example()
    phase = phases(profile)[0]
    profile["elements"] = profile["elements"][:1] + [
        {**copy.deepcopy(phase), "pc": pc, "name": f"phase {pc}"} for pc in range(1, elements)]
    profile["program"]["finalizer"] = None
    process = profile["processes"][0]
    profile["processes"] = [{**process, "process": number} for number in range(processes)]
    adaptation = profile["adaptations"][0]
    begin, step = adaptation["times"]["requested"], profile["duration"] / resizes / 2
    profile["adaptations"] = [moved(adaptation, number, begin + number * step, processes) for number in range(1, resizes + 1)]
    profile["world"] = profile["world"][:1] + [
        {"time": it["times"]["committed"], "size": it["to"]} for it in profile["adaptations"]]
    return checked(profile)


def moved(adaptation, number, time, processes):
    """The same adaptation at another time, between other processes."""
    begin = adaptation["times"]["requested"]
    times = {key: value - begin + time for key, value in adaptation["times"].items()}
    pair = {"from": number % processes, "to": (7 * number + 1) % processes, "bytes": 1000 * number}
    return {**copy.deepcopy(adaptation), "id": number, "from": 2 + number % 3, "to": 2 + (number + 1) % 3,
            "times": times, "traffic": [pair] if pair["from"] != pair["to"] else []}


def write(directory, profile, name="prof.json"):
    path = directory / name
    path.write_text(json.dumps(profile, ensure_ascii=False))
    return path
