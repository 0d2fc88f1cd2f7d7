"""Schedules for the tests of epop-report: small ones by hand, and one as large as a trace; all of them valid."""

import json
import random

import job
import profiles
import schemas

METRICS = schemas.schema("schedule")["$defs"]["metrics"]["required"]


def checked(schedule):
    """A schedule that epopsim itself could have written."""
    return schemas.validate("schedule", schedule)


def nodes(*numbers):
    """0, 1, 2, 5 -> "0-2,5" """
    text, numbers = [], sorted(numbers)
    for number in numbers:
        if text and text[-1][1] == number - 1:
            text[-1][1] = number
        else:
            text.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in text)


def size_of(text):
    return sum(int((part.split("-") * 2)[1]) - int(part.split("-")[0]) + 1 for part in text.split(","))


def work(number, submit, stays, kind="rigid", wanted=None, outcome="done", name=None, user=1):
    """As the simulator writes it; the slowdown is one of its own words."""
    wanted = wanted or (size_of(stays[0][2]) if stays else 1)
    course = {}
    if stays:
        start, end = stays[0][0], stays[-1][1]
        course = {"start": start, "end": end, "wait": start - submit, "slowdown": max(1, (end - submit) / max(end - start, 10))}
    return {"id": number, "name": f"job {number}" if name is None else name, "user": user, "kind": kind, "submit": submit, **course,
            "wanted": wanted, "min": 1, "max": 16, "outcome": outcome, "resizes": max(0, len(stays) - 1), "requeues": 0, "stalled": 0,
            "stays": stays}


def decisions_of(jobs):
    """A start, and a resize for each stay but the first."""
    found = []
    for it in jobs:
        before = 0
        for index, (begin, _, where) in enumerate(it["stays"]):
            size = size_of(where)
            kind = "resize" if index else "start"
            found.append({"time": begin, "kind": kind, "job": it["id"], "from": before, "to": size, "nodes": where,
                          "reason": f"{it['name']} {before} -> {size}: {kind} of stay {index}"})
            before = size
    return sorted(found, key=lambda it: it["time"])


def metrics_of(jobs, machine):
    begun = [it for it in jobs if it["stays"]]
    ends = [it["end"] for it in begun]
    slowdowns = sorted(it["slowdown"] for it in begun)
    held = sum((end - begin) * size_of(where) for it in begun for begin, end, where in it["stays"])
    makespan = max(ends, default=0) - min(it["submit"] for it in jobs)
    known = {"makespan": makespan, "mean_wait": sum(it["wait"] for it in begun) / max(1, len(begun)),
             "max_wait": max((it["wait"] for it in begun), default=0), "mean_slowdown": sum(slowdowns) / max(1, len(slowdowns)),
             "max_slowdown": max(slowdowns, default=0), "utilisation": held / machine / makespan if makespan else 0, "jobs": len(jobs),
             "done": sum(it["outcome"] == "done" for it in jobs), "resizes": sum(it["resizes"] for it in jobs)}
    return {name: known.get(name, 0) for name in METRICS}


def run(policy, jobs, machine, options="", events=(), decisions=None):
    return {"policy": policy, "policy_options": options, "metrics": metrics_of(jobs, machine), "jobs": jobs,
            "decisions": decisions_of(jobs) if decisions is None else decisions, "events": list(events)}


def schedule(runs, machine, name="small", notes=()):
    return {"schema": "epop.schedule", "version": 1, "program": "epopsim 1.2.3",
            "workload": {"name": name, "jobs": len(runs[0]["jobs"]), "notes": list(notes)},
            "machine": {"nodes": machine, "idle_watts": 100, "busy_watts": 300, "power_cap": 0},
            "options": {"seed": 1, "latency": 0.5, "resize_base": 0.01, "resize_per_node": 0, "resize_per_byte": 0, "load": 0.9}, "runs": runs}


def small():
    """Two policies, four jobs on eight nodes: under the second one a job grows, gives back, and another is backfilled."""
    easy = [work(1, 0, [[0, 100, "0-3"]], "malleable"), work(2, 10, [[100, 180, "0-7"]]), work(3, 20, [[20, 60, "4-5"]]),
            work(4, 30, [[180, 240, "0-3"]], "moldable", outcome="failed", user=2)]
    gain = [work(1, 0, [[0, 20, "0-3"], [20, 30, "0-3,6-7"], [30, 90, "0-1"]], "malleable"), work(2, 10, [[90, 170, "0-7"]]),
            work(3, 20, [[20, 60, "4-5"]]), work(4, 30, [[30, 80, "2-3,6-7"]], "moldable", user=2)]
    decisions = decisions_of(gain)
    reserve = {"time": 12, "kind": "reserve", "job": 2, "from": 0, "to": 8, "nodes": "", "at": 100, "reason": "job 2: 8 nodes at 100 s"}
    decisions = sorted([*decisions, reserve], key=lambda it: it["time"])
    return schedule([run("easy", easy, 8, events=[{"time": 200, "text": "node 3 fails"}]), run("gain", gain, 8, "stay=30", decisions=decisions)], 8,
                    notes=["2 jobs have no run time: left out"])


EXAMPLES = job.ROOT / "schema/examples/schedule/valid"
EIGHT = {  # number: name, kind, wanted, submitted; stays under easy, stays under gain
    1: ("gauss", "malleable", 8, 0, [[0, 120, "0-7"]], [[0, 30, "0-7"], [30, 80, "0-3"], [80, 140, "0-7"]]),
    2: ("cannon", "malleable", 8, 5, [[5, 150, "8-15"]], [[5, 70, "8-15"], [70, 90, "10-15"], [90, 135, "8-15"]]),
    3: ("heat", "malleable", 12, 20, [[150, 230, "4-15"]], [[140, 190, "0-11"], [190, 200, "0-11,14-15"]]),
    4: ("post", "rigid", 4, 30, [[120, 170, "0-3"]], [[30, 80, "4-7"]]),
    5: ("mesh", "moldable", 8, 60, [[230, 270, "4-11"]], [[200, 240, "0-7"]]),
    6: ("test", "rigid", 2, 70, [[120, 140, "4-5"]], [[70, 90, "8-9"]]),
    7: ("fft", "malleable", 4, 80, [[170, 240, "0-3"]], [[135, 190, "12-15"], [190, 205, "12-13"]]),
    8: ("lattice", "rigid", 6, 100, [[240, 290, "0-3,12-13"]], [[205, 255, "8-13"]]),
}


def example():
    """That of docs/reference/report.md, report-two-policies.json among the schema's examples."""
    def jobs(which):
        return [work(number, it[3], it[which], it[1], it[2], name=it[0], user=number % 3) for number, it in EIGHT.items()]
    return schedule([run("easy", jobs(4), 16), run("gain", jobs(5), 16)], 16, name="eight jobs on sixteen nodes")


def single():
    """One policy; a job that never came to run."""
    return schedule([run("easy", [work(1, 0, [[5, 50, "0"]]), work(2, 0, [], outcome="never", wanted=2)], 1)], 1, name="one")


def many(runs=7):
    """As many policies; a job with a large number, at a late time."""
    jobs = [work(1, 0, [[0, 100, "0"]]), work(12345, 1000, [[1234567.5, 1300000, "0"]])]
    return schedule([run(f"policy {number}", jobs if number == 0 else jobs[:1], 1, "with=an option that is long") for number in range(runs)], 1,
                    name="many policies")


def hostile():
    it = small()
    it["workload"]["name"] = it["workload"]["notes"][0] = it["program"] = profiles.HOSTILE
    for entry in it["runs"]:
        entry["policy"] = entry["policy_options"] = profiles.HOSTILE
        entry["events"] = [{"time": 5, "text": profiles.HOSTILE}]
        for each in entry["jobs"]:
            each["name"] = profiles.HOSTILE
        for each in entry["decisions"]:
            each["reason"] = profiles.HOSTILE
    return it


def large(jobs=18239, machine=128, days=92, seed=1):
    """As a real trace: most jobs are short and small; two policies that give them other nodes."""
    return schedule([run(policy, filled(jobs, machine, days * 86400, random.Random(seed), chance), machine)
                     for policy, chance in (("easy", 0), ("gain", 0.5))], machine, name="as large as a trace")


def filled(count, machine, span, chance, resized):
    """One after the other on the nodes that are free first."""
    free, found = [0.0] * machine, []
    for number in range(1, count + 1):
        submit = span * number / count
        size = min(machine, 2 ** chance.choice([0, 0, 0, 1, 2, 3, 4, 5, 5, 6, 7]))
        order = sorted(range(machine), key=lambda node: free[node])[:size]
        begin = max([submit, *(free[node] for node in order)])
        end = begin + min(chance.lognormvariate(5.2, 1.9), 30000) + 1
        stays = [[begin, end, nodes(*order)]]
        if size > 1 and chance.random() < resized:
            middle = (begin + end) / 2
            stays = [[begin, middle, nodes(*order)], [middle, end, nodes(*order[:size // 2])]]
        for node in order:
            free[node] = end
        found.append(work(number, submit, stays, "malleable" if resized else "rigid", user=number % 70))
    return found


def write(directory, value, name="schedule.json"):
    path = directory / name
    path.write_text(json.dumps(value, ensure_ascii=False))
    return path
