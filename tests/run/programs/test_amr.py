"""examples/amr: the same mesh and cells on any ranks, whatever becomes of them meanwhile; what it asks for, and whether it gets it."""

import json
import os
import random
import signal

import job
import joining
import pytest
import ruling
import saving

AMR, RIGID = job.example("amr"), job.BUILD / "plain/amr_rigid"
SMALL = ("--levels", "4", "--steps", "160", "--period", "160")
ENDLESS = ("--levels", "6", "--period", "5120", "--steps", "100000000")
LEVEL, COLUMN, ROW, RANK, MEAN = range(1, 6)


def report(result):
    """What it says at its end."""
    assert result.status == 0, result
    return last_words(result.out)


def last_words(text):
    """One line, beside which a launcher may say something of a rank that was killed. Nothing is lost."""
    (line,) = [line for line in text.splitlines() if line.startswith("{")]
    said = json.loads(line)
    assert abs(said["drift"]) < 1e-13, said
    return said


def rigid(space, *options, ranks=1, **how):
    return report(space.start([job.MPIEXEC, "-n", str(ranks), RIGID, *options], **how).wait())


def same(one, other):
    keys = ("steps", "blocks", "checksum")
    assert [one[key] for key in keys] == [other[key] for key in keys]


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


def log_of(path):
    """A dictionary for each step."""
    head, *lines = rows(path)
    return [dict(zip(head, map(float, line))) for line in lines]


# ---- The solver

@pytest.mark.parametrize("ranks", [2, 5])
def test_mesh_and_cells_do_not_depend_on_the_ranks(space, ranks):
    meshes = [space.directory / name for name in ("one", "elastic", "rigid")]
    options = [(*SMALL, "--each", "20", "--meshes", path) for path in meshes]
    alone = rigid(space, *options[0])
    elastic = report(space.epop(AMR, *options[1], ranks=ranks))
    same(elastic, alone)
    same(rigid(space, *options[2], ranks=ranks), alone)
    one, *others = [rows(path) for path in meshes]
    assert len({row[0] for row in one}) == 8 and {row[RANK] for row in one} == {"0"}
    for other in others:
        assert [row[:RANK] + row[MEAN:] for row in other] == [row[:RANK] + row[MEAN:] for row in one]
        assert {row[RANK] for row in other} == {str(rank) for rank in range(ranks)}


def test_the_mesh_covers_the_square_once_and_follows_the_disc(space):
    path = space.directory / "mesh"
    said = rigid(space, *SMALL, "--each", "160", "--meshes", path)
    leaves = [(int(row[LEVEL]), int(row[COLUMN]), int(row[ROW]), float(row[MEAN])) for row in rows(path)]
    covered = [[0] * 16 for _ in range(16)]
    levels = [[0] * 16 for _ in range(16)]
    for level, x, y, _ in leaves:
        width = 16 >> level
        for i in range(y * width, (y + 1) * width):
            for j in range(x * width, (x + 1) * width):
                covered[i][j] += 1
                levels[i][j] = level
    assert len(leaves) == said["blocks"] and {count for line in covered for count in line} == {1}
    assert all(abs(a - b) <= 1 for line in levels for a, b in zip(line, line[1:]))
    assert all(abs(a - b) <= 1 for line, below in zip(levels, levels[1:]) for a, b in zip(line, below))
    assert {level for level, *_ in leaves} >= {2, 3, 4} and levels[0][0] < 4  # nothing is in that corner
    assert sum(mean * 4.0 ** -level for level, _, _, mean in leaves) == pytest.approx(said["mass"], rel=1e-12)


def test_the_disc_comes_back(space):
    """Wound up and unwound; it was a disc of radius 0.15 around (0.5, 0.75)."""
    path = space.directory / "mesh"
    rigid(space, "--levels", "5", "--steps", "1280", "--period", "1280", "--each", "640", "--meshes", path)
    for step, inside in (("640", False), ("1280", True)):
        found = [row for row in rows(path) if row[0] == step and float(row[MEAN]) > 0.9]
        places = [((int(row[COLUMN]) + 0.5) / 2 ** int(row[LEVEL]), (int(row[ROW]) + 0.5) / 2 ** int(row[LEVEL])) for row in found]
        assert places and all((x - 0.5) ** 2 + (y - 0.75) ** 2 < 0.16 ** 2 for x, y in places) == inside, (step, places)


# ---- Other ranks meanwhile

def resized(space, count, most, *options, ranks):
    """So many resizes and no less, to sizes by chance, while the mesh changes; the result is that of one rank."""
    chance, size = random.Random(count), 1
    running = space.start_epop(*options, AMR, *ENDLESS, ranks=ranks, limit=300)
    space.wait_until_running(running)
    for _ in range(count):
        size = chance.choice([other for other in range(1, most + 1) if other != size])
        space.resize(size)
    said = report(space.stop(running))
    assert said["resizes"] == count and said["ranks"] == size, said
    same(said, rigid(space, *ENDLESS, "--steps", said["steps"], limit=300))


def test_two_hundred_resizes(space):
    resized(space, 200, 3, "--backend", "pool", "--start", "1", ranks=3)


@joining.needed
def test_resizes_by_processes_that_join(space):
    resized(space, 20, 4, *joining.JOIN, ranks=1)


def test_balances(space):
    """Dealt out by what the ranks have computed, and by the program when a mesh has become uneven."""
    running = space.start_epop("--quiet", AMR, *ENDLESS, "--balance", "1.1", ranks=3, limit=120)
    space.wait_until_running(running)
    for _ in range(2):
        assert space.epopctl("balance", "--wait").status == 0
    said = report(space.stop(running))
    assert said["balances"] == 2 and said["resizes"] == 0 and said["deals"] > 0, said
    same(said, rigid(space, *ENDLESS, "--steps", said["steps"], limit=300))


# ---- What it asks for

def asks(space, start, wanted, *arguments, ranks, options=("--backend", "pool")):
    """It asks for that size, and then goes on to its end."""
    log = space.directory / "log"
    first = ("--start", start) if ranks > 1 else ()
    running = space.start_slowly(*options, *first, AMR, *SMALL, *arguments, "--log", log, ranks=ranks)
    space.wait_for_status(lambda status: status["size"] == wanted, running=running)
    space.go_on()
    said = report(running.wait())
    same(said, rigid(space, *SMALL))
    steps = log_of(log)
    assert [step["step"] for step in steps] == list(range(1, 161))
    assert steps[0]["ranks"] == start and steps[0]["asked"] == steps[-1]["ranks"] == wanted and said["resizes"] == 1


@pytest.mark.parametrize("start, blocks, wanted", [(1, 40, 3), (3, 200, 1)])
def test_it_asks_for_ranks_and_gives_them_back(space, start, blocks, wanted):
    """82 blocks at first. Of 40 a rank is to have 30, that is three ranks; of 200 one rank is to have all."""
    asks(space, start, wanted, "--blocks", blocks, ranks=3)


@joining.needed
def test_ranks_that_it_asks_for_join(space):
    asks(space, 1, 3, "--blocks", 40, ranks=1, options=joining.JOIN)


def test_a_mesh_that_changes_asks_again(space):
    """Wound up it has twice as many blocks as unwound."""
    running = space.start_epop("--start", "1", AMR, "--levels", "4", "--steps", "100000000", "--period", "1200", "--blocks", "70", ranks=3, limit=120)
    by_itself = space.wait_for_status(lambda status: {one["to"] > one["from"] for one in done(status)} == {True, False}, running=running)
    assert {one["by"] for one in done(by_itself)} == {"program"}
    report(space.stop(running))


def done(status):
    return [one for one in status["adaptations"] if one["state"] == "committed"]


@pytest.mark.parametrize("most, ranks", [((), 1), (("--most", "2"), 2)])
def test_more_than_there_are(space, most, ranks):
    """It is content with what it has, and with less than it would like if it is told how many there are."""
    log = space.directory / "log"
    running = space.start_slowly("--start", "1", AMR, *SMALL, "--blocks", "40", *most, "--log", log, ranks=2)
    space.wait_for_status(lambda status: status["size"] == ranks, running=running)
    space.go_on()
    said = report(running.wait())
    assert said["ranks"] == ranks and log_of(log)[-1]["asked"] == (2 if most else 3)
    same(said, rigid(space, *SMALL))


# ---- epoprm

@pytest.fixture(name="daemon")
def fixture_daemon(space):
    yield from ruling.ruled(ruling.Daemon(space, "--local", "3", policy="gain,stay=1").start())


def ended(daemon, number):
    """Cancelled, it still says what there is."""
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")
    return last_words(daemon.output(number))


def granted(space, daemon, number, size):
    """It gets what it asks for, because it asks."""
    ruling.wait_for(lambda: any(f"the program asks for {size}" in event["text"] for event in daemon.events(number, "decision")),
                    why=lambda: str(daemon.events(number)))
    daemon.wait_runs(number, size)
    assert daemon.job_row(number)["kind"] == "evolving"
    said = ended(daemon, number)
    assert said["ranks"] == size and said["resizes"] == 1, said
    same(said, rigid(space, *ENDLESS, "--steps", said["steps"], limit=300))


def holding_two_nodes(daemon):
    number = daemon.submit("sleep", "1000", ranks=(2, 2))
    daemon.wait_runs(number, 2)
    return number


def test_epoprm_grants_ranks_when_there_are_some(space, daemon):
    other = holding_two_nodes(daemon)
    number = daemon.submit(AMR, *ENDLESS, "--blocks", "40", "--most", "3", ranks=(1, 3))
    ruling.wait_for(lambda: any(event["text"] == "it asks for 3 nodes" for event in daemon.events(number, "running")),
                    why=lambda: str(daemon.events(number)))
    assert daemon.jobs()[number]["nodes"] == 1
    daemon.request("cancel", job=other)
    granted(space, daemon, number, 3)


def test_epoprm_hears_as_much_of_a_wish_as_the_job_may_have(daemon):
    """The mesh wants more than three ranks, and it may have two."""
    number = daemon.submit(AMR, *ENDLESS, "--blocks", "20", ranks=(1, 2))
    ruling.wait_for(lambda: any(event["text"] == "it asks for 2 nodes" for event in daemon.events(number, "running")),
                    why=lambda: str(daemon.events(number)))
    daemon.request("cancel", job=number)
    daemon.wait_end(number, "cancelled")


def test_epoprm_takes_what_is_given_back(space, daemon):
    granted(space, daemon, daemon.submit(AMR, *ENDLESS, "--blocks", "2000", ranks=(1, 3)), 1)


def test_what_epoprm_cannot_grant(space, daemon):
    """Another job has the nodes."""
    other, log = holding_two_nodes(daemon), space.directory / "log"
    number = daemon.submit(AMR, *SMALL, "--blocks", "40", "--log", log, ranks=(1, 3))
    daemon.wait_end(number)
    said = last_words(daemon.output(number))
    assert said["ranks"] == 1 and said["resizes"] == 0 and log_of(log)[-1]["asked"] == 3
    same(said, rigid(space, *SMALL))
    daemon.request("cancel", job=other)
    daemon.wait_end(other, "cancelled")


# ---- Checkpoints

@pytest.mark.parametrize("before, after", [(3, 1), (1, 3), (2, 2)])
def test_restart(space, before, after):
    place = space.directory / "saved"
    options, env = saving.waits_for_file(place, 70)
    env.pop("EPOP_TEST_WAITS")
    first = report(space.epop(*options, AMR, *SMALL, ranks=before, env=env))
    (file,) = place.iterdir()
    again = report(space.epop("--restart", file, AMR, *SMALL, ranks=after))
    same(first, rigid(space, *SMALL))
    same(again, first)


def test_recovery(space):
    """A rank is killed behind a checkpoint, and the run has the same end."""
    place = space.directory / "saved"
    running = space.start_epop("--recover", "1", "-n", "2", "--checkpoint-dir", place, AMR, *ENDLESS, limit=120)
    space.wait_until_running(running)
    assert space.epopctl("checkpoint", "--wait").status == 0
    pids = [process["pid"] for process in space.status()["processes"]]
    os.kill(pids[1], signal.SIGKILL)
    space.wait_for_status(lambda status: status["processes"][0]["pid"] not in (0, None, pids[0]) and status["state"] == "running", running=running)
    said = report(space.stop(running))
    assert "epop: recovered (1 of 1)" in running.err, running.err
    same(said, rigid(space, *ENDLESS, "--steps", said["steps"], limit=300))


# ---- What is refused

@pytest.mark.parametrize("options, reason", [
    (("--levels", "13"), "--levels: '13' is no whole number from 1 to 12"),
    (("--steps", "1.5"), "--steps: '1.5' is no whole number"),
    (("--refine", "x"), "--refine: 'x' is no number"),
    (("--log",), "--log needs a value"),
    (("--bogus",), "unknown option '--bogus'"),
    (("--log", "/nonexistent/log"), "/nonexistent/log: cannot be written"),
    (("--meshes", "/nonexistent/mesh", "--each", "1"), "/nonexistent/mesh: cannot be written"),
])
def test_bad_options(space, options, reason):
    for name, running in (("amr", space.start_epop(AMR, *options, ranks=2)),
                          ("amr_rigid", space.start([job.MPIEXEC, "-n", "2", RIGID, *options]))):
        result = running.wait()
        lines = [line for line in result.err.splitlines() if line.startswith(("amr: ", "amr_rigid: "))]
        assert result.status != 0 and len(lines) == 1 and reason in lines[0], (name, result)


def test_help(space):
    for result in space.epop(AMR, "--help", ranks=2), space.start([job.MPIEXEC, "-n", "2", RIGID, "--help"]).wait():
        assert result.status == 0 and result.out.count("--levels") == 1 and result.err == "", result
