"""The policy gain beside EASY backfilling: the same with rigid jobs alone, never much worse and mostly far better with
malleable ones, on drawn workloads, on one as of the DMR library's articles, and on a real trace."""

import json

import job
import pytest

EPOPSIM = job.BUILD / "bin/epopsim"
NASA = job.ROOT / "scheduler/examples/NASA-iPSC-1993-3.1-cln.swf.gz"
HEAD = {"schema": "epop.workload", "version": 1}
WORSE = 1.02


def loop(seconds, serial, iterations=100):
    return [{"iterations": iterations, "seconds": seconds, "speedup": {"model": "amdahl", "serial": serial}}]


def drawn(seed, interarrival=40, count=300):
    """Jobs of 1 to 32 nodes and of seconds to an hour, on 64 nodes, more than these can do."""
    mix = [{"nodes": nodes, "weight": weight, "kind": "rigid", "scale": [0.3, 3], "phases": loop(seconds * sum(nodes) / 3, 0.02)}
           for weight, nodes in ((4, [1, 2, 4]), (4, [6, 8, 12]), (2, [16, 24, 32])) for seconds in (0.1, 1, 6)]
    return {**HEAD, "machine": {"nodes": 64}, "random": {
        "count": count, "seed": seed, "interarrival": interarrival, "arrival": "poisson", "users": 5, "mix": mix}}


def quick_jobs(count):
    """Conjugate gradients, Jacobi and N-body, which want 32 nodes and speed up so and so."""
    applications = {name: {"kind": "malleable", "min": 1, "max": 32, "sizes": {"powers_of": 2}, "bytes": 1e9, "phases": loop(2, serial, 1000)}
                    for name, serial in (("cg", 0.06), ("jacobi", 0.03), ("nbody", 0.01))}
    return {**HEAD, "machine": {"nodes": 128}, "applications": applications, "random": {
        "count": count, "seed": 1, "interarrival": 5, "arrival": "poisson", "users": 5,
        "mix": [{"application": name, "nodes": 32, "scale": [0.5, 2]} for name in applications]}}


def epopsim(space, workload, *options):
    path = workload
    if isinstance(workload, dict):
        path = space.directory / "workload.json"
        path.write_text(json.dumps(workload))
    result = space.start([EPOPSIM, "--quiet", *options, path]).wait()
    assert result.status == 0 and result.err == "", result
    return result.out


def metrics(space, workload, *options):
    """Of each policy, by their names."""
    lines = [line.split("\t") for line in epopsim(space, workload, "--tsv", *options).splitlines()]
    return {line[0]: {name: float(value) for name, value in zip(lines[0][1:], line[1:])} for line in lines[1:]}


def ratios(space, workload, *options):
    """gain over easy: makespan, bounded slowdown, wait."""
    found = metrics(space, workload, "--policy", "easy,gain", *options)
    return [found["gain"][name] / found["easy"][name] for name in ("makespan", "mean_slowdown", "mean_wait")]


def decisions(space, workload, policy, *options):
    run = json.loads(epopsim(space, workload, "--policy", policy, "--output", "-", *options))["runs"][0]
    return [(each["time"], each["kind"], each["job"], each["to"]) for each in run["decisions"]]


def starts(space, *arguments):
    return sorted(each for each in decisions(space, *arguments) if each[1] == "start")


# ---- With rigid jobs alone ----

@pytest.mark.parametrize("limits", ["1", "5"])
@pytest.mark.parametrize("seed", range(1, 4))
def test_rigid_jobs_start_as_with_easy(space, seed, limits):
    easy = starts(space, drawn(seed), "easy", "--limit-factor", limits)
    assert len(easy) == 300 and starts(space, drawn(seed), "gain", "--limit-factor", limits) == easy


# ---- With some that are malleable ----

@pytest.mark.parametrize("share", ["0.5", "0.75", "1"])
@pytest.mark.parametrize("seed", range(1, 6))
def test_never_worse_than_easy(space, seed, share):
    assert max(ratios(space, drawn(seed), "--malleable", share)) <= WORSE


@pytest.mark.parametrize("how", [["--malleable", "0.25"], ["--moldable", "1"]], ids=lambda how: " ".join(how))
def test_better_where_less_can_be_done(space, how):
    """One trace may have more luck with one policy than with the other: all of them together."""
    found = [ratios(space, drawn(seed), *how) for seed in range(1, 11)]
    assert all(sum(each) / len(found) < 1 for each in zip(*found)), found


@pytest.mark.parametrize("how", [["--malleable", "0.5", "--limit-factor", "5"],
                                 ["--malleable", "1", "--noise", "0.1"], ["--malleable", "1", "--resize-cost", "10,0.1"]],
                         ids=lambda how: " ".join(how))
def test_nor_where_less_is_known_or_resizes_are_dear(space, how):
    assert max(ratios(space, drawn(1), *how)) <= WORSE


@pytest.mark.parametrize("count", [100, 200])
def test_jobs_that_come_quickly_are_done_much_earlier(space, count):
    makespan, slowdown, wait = ratios(space, quick_jobs(count))
    assert makespan <= 0.6 and slowdown <= 0.6 and wait <= 0.6


def test_the_more_are_malleable_the_earlier(space):
    found = [ratios(space, quick_jobs(100), "--malleable", share)[0] for share in ("0", "0.25", "0.5", "0.75", "1")]
    assert found[0] == 1 and found == sorted(found, reverse=True), found


def test_a_real_trace(space):
    makespan, slowdown, wait = ratios(space, NASA, "--jobs", "3000", "--load", "0.9", "--malleable", "1")
    assert makespan <= WORSE and slowdown <= 0.5 and wait <= 0.5


# ---- What resizes cost ----

def test_resizes_die_out_as_they_cost_more(space):
    found = [metrics(space, quick_jobs(100), "--policy", "gain", "--resize-cost", cost)["gain"]["resizes"]
             for cost in ("0.01", "10", "100", "3000")]
    assert found == sorted(found, reverse=True) and found[0] > 100 and found[-1] == 0, found


@pytest.mark.parametrize("cost", ["0.1", "10", "300"])
def test_a_trace_without_a_queue_stays_without(space, cost):
    """At its own load nobody waits: jobs must not grow into nodes that those which come then wait for."""
    assert ratios(space, NASA, "--malleable", "1", "--resize-cost", cost)[1] <= WORSE


# ---- Phases ----

def phased(kind, wanted, *phases, submit=0, **more):
    return {"submit": submit, "kind": kind, "nodes": wanted, "phases": list(phases), **more}


def workload(nodes, *jobs):
    return {**HEAD, "machine": {"nodes": nodes}, "jobs": [{"id": i + 1, **each} for i, each in enumerate(jobs)]}


ONE_THAT_CANNOT_GROW = workload(
    64, phased("rigid", 60, {"seconds": 6000}),
    phased("malleable", 48, {"kind": "rigid", "seconds": 4800}, submit=1, min=1),
    *(phased("rigid", 64, {"seconds": 640}, submit=1) for _ in range(6)))
ONE_THAT_WANTS_FEWER = workload(
    2, phased("rigid", 1, {"seconds": 2000}),
    phased("malleable", 1, {"name": "wide", "seconds": 5, "min": 2}, {"seconds": 5}, submit=1, min=1, max=2))
DEAR_TO_GIVE_BACK = workload(
    4, phased("malleable", 4, {"name": "a", "iterations": 100, "seconds": 0.8},
              {"name": "b", "iterations": 100, "seconds": 0.1, "max": 2}, min=1),
    phased("rigid", 1, {"seconds": 20}, submit=15))


@pytest.mark.parametrize("case, options", [(ONE_THAT_CANNOT_GROW, []), (ONE_THAT_WANTS_FEWER, []),
                                           (DEAR_TO_GIVE_BACK, ["--resize-cost", "100"])],
                         ids=["cannot grow", "wants fewer", "dear to give back"])
def test_phases_are_no_reason_to_be_slower(space, case, options):
    found = metrics(space, case, "--policy", "easy,gain", *options)
    for name in ("makespan", "mean_wait", "mean_slowdown"):
        assert found["gain"][name] <= WORSE * found["easy"][name], (name, found)


def test_a_rigid_job_with_a_phase_that_takes_fewer(space):
    case = workload(4, phased("rigid", 4, {"seconds": 400}),
                    phased("malleable", 4, {"name": "serial", "seconds": 10, "min": 1, "max": 2}, {"seconds": 100},
                           submit=1, min=1, max=4), phased("rigid", 2, {"seconds": 100}, submit=2))
    assert starts(space, case, "gain", "--malleable", "0") == starts(space, case, "easy", "--malleable", "0")


# ---- Always the same ----

def test_the_same_again(space):
    options = ["--malleable", "0.7"]
    record = space.directory / "record.json"
    epopsim(space, drawn(1), "--policy", "gain", "--output", record, *options)
    epopsim(space, drawn(1), "--policy", "gain", "--replay", record, *options)


# ---- Weak scaling ----

WEAK = {"iterations": 1000, "seconds": 1, "scaling": "weak"}


def test_weak_scaling_takes_what_nobody_wants(space):
    """More nodes than it wants are used, and do not end it sooner; the control has as much to do on any number of nodes."""
    alone = workload(64, phased("malleable", 8, WEAK, min=1, max=64))
    found = metrics(space, alone, "--policy", "easy,gain")
    assert found["easy"]["makespan"] == 1000 and 1000 < found["gain"]["makespan"] < 1002, found
    assert found["easy"]["utilisation"] == 0.125 and found["gain"]["utilisation"] > 0.97 and found["gain"]["efficiency"] > 0.99, found
    strong = workload(64, phased("malleable", 8, {"iterations": 1000, "seconds": 8}, min=1, max=64))
    assert metrics(space, strong, "--policy", "gain")["gain"]["makespan"] < 200


def test_weak_scaling_gives_it_back(space):
    """To jobs that come: down to the nodes that its user wants."""
    jobs = workload(64, phased("malleable", 8, WEAK, min=1, max=64), phased("rigid", 56, {"seconds": 56 * 200}, submit=100))
    found = decisions(space, jobs, "gain")
    assert [each[1:] for each in found if each[0] >= 100][:2] == [("resize", 1, 8), ("start", 2, 56)], found
    assert metrics(space, jobs, "--policy", "gain")["gain"]["max_wait"] < 1


@pytest.mark.parametrize("policy", ["gain", "gain,firm=0", "ers"])
def test_weak_scaling_grows_for_nobody_who_waits(space, policy):
    """The second waits for the whole machine. The control would be over sooner for it."""
    for scaling, most in (("weak", 8), ("strong", 64)):
        jobs = workload(64, phased("malleable", 8, {**WEAK, "scaling": scaling}, min=1, max=64),
                        phased("rigid", 64, {"seconds": 64 * 200}, submit=1))
        sizes = [each[3] for each in decisions(space, jobs, policy) if each[2] == 1]
        assert max(sizes) == 8 if most == 8 else max(sizes) > 8, (policy, scaling, sizes)
