"""Checkpoints that are written while the ranks go on. A preloaded library is a disk that takes its time: as long as a
file is there nothing gets on it."""

import json
import signal
import subprocess

import checkpoints
import job
import pytest
from saving import SAVED, Held, end, run, waits_for_file
from scenario import Switch, only_line


class Slow(Held):
    """With a disk that can be held up."""

    def __init__(self, space, *options, ranks=2):
        self.disk = Switch(space, "disk")
        env = {"LD_PRELOAD": job.test_program("preload_disk"), "EPOP_TEST_DISK": self.disk}
        super().__init__(space, space.directory / "saved", "steps=30", ranks=ranks, options=["--checkpoint-async", *options], env=env)

    def copied(self):
        """The status when the ranks have copied, and go on."""
        while "writing" not in (status := self.status()):
            pass
        return status

    def files(self):
        return sorted(path.name for path in self.place.iterdir())

    def require_restart(self):
        """From the newest file, once the job is over."""
        assert "start: restarting of 3" in run(self.space, *self.arguments, ranks=3, options=["--restart", self.place]).out


def test_the_ranks_go_on_while_it_is_written(space):
    """--wait and the status say that it is there when it is on disk, and the next one comes then."""
    it = Slow(space)
    it.ctl("checkpoint", "--wait")
    it.disk.on()
    asked = space.start_epopctl("checkpoint", "--wait", "--json")
    status = it.copied()
    assert status["checkpoint"]["number"] == 1 and status["writing"]["number"] == 2
    saved, here = status["writing"]["iteration"], status["element"]["iteration"]
    while it.status()["element"]["iteration"] <= max(saved, here) + 5:
        pass
    assert it.ctl("checkpoint") == "accepted" and "writing" in it.status()
    assert [name[-8:] for name in it.files()] == ["-0001.h5", "pop-part"], it.files()
    it.disk.off()
    made = json.loads(asked.wait().out)["checkpoint"]
    assert made["number"] == 2 and made["behind"] and made["iteration"] == saved and made["stall"] < made["seconds"]
    it.let_go()
    assert [name[-8:] for name in it.files()] == ["-0001.h5", "-0002.h5", "-0003.h5"]
    told = checkpoints.require_sound(made["path"])
    assert told["position"]["iteration"] == saved


def save_at_20(space, name, *options):
    """A run that saves once, where its ranks waited; its end, and what is in the file."""
    hold = Switch(space, "hold").on()
    it = space.start_epop("--backend", "pool", "--checkpoint-dir", space.directory / name, *options, SAVED, f"hold={hold}", ranks=2)
    it.wait_for_line("held")
    space.wait_until_all_are_here()
    assert space.epopctl("checkpoint").status == 0
    hold.off()
    result = it.wait()
    assert result.status == 0, result
    told = checkpoints.require_sound(next((space.directory / name).iterdir()))
    told.pop("time")
    return end(result), told


def test_it_is_the_same_as_one_that_they_wait_for(space):
    """Whatever the ranks have changed since: position, values, and the checksums of all arrays. Two runs may be brought to
    different iterations, as their ranks go on while they are: those that were at the same one are compared."""
    waited, behind, ends = {}, {}, set()
    for run in range(20):
        for name, files, options in (("waited", waited, ()), ("behind", behind, ("--checkpoint-async",))):
            ended, told = save_at_20(space, f"{name}{run}", *options)
            ends.add(ended)
            files[json.dumps(told["position"], sort_keys=True)] = told
        if waited.keys() & behind.keys():
            break
    assert len(ends) == 1, ends
    same = waited.keys() & behind.keys()
    assert same and all(waited[position] == behind[position] for position in same), (waited, behind)


@pytest.mark.parametrize("size", [1, 3])
def test_a_resize_while_it_is_written(space, size):
    """Processes that leave park, and write on; those that join have no part in it."""
    it = Slow(space, "--start", "2", ranks=3)
    it.disk.on()
    asked = space.start_epopctl("checkpoint", "--wait", "--json")
    it.copied()
    it.ctl("resize", "--wait", str(size))
    assert "writing" in it.status() and it.status()["size"] == size
    it.disk.off()
    made = json.loads(asked.wait().out)["checkpoint"]
    assert checkpoints.require_sound(made["path"])["size"] == 2
    it.let_go()


def test_the_end_waits_for_it(space):
    it = Slow(space)
    it.disk.on()
    it.ctl("checkpoint")
    it.copied()
    it.switch.touch()
    it.it.wait_for_line("end: ")
    assert "writing" in it.status()
    it.disk.off()
    result = it.it.wait()
    assert result.status == 0 and result.err == "" and it.files()[0].endswith("-0001.h5"), result
    checkpoints.require_sound(it.place / it.files()[0])


def test_a_kill_leaves_the_last_good_one(space):
    it = Slow(space)
    first = json.loads(it.ctl("checkpoint", "--wait", "--json"))["checkpoint"]
    it.disk.on()
    it.ctl("checkpoint")
    pid = it.copied()["processes"][0]["pid"]
    assert len(it.files()) == 2
    subprocess.run(["kill", f"-{signal.SIGKILL.value}", str(pid)], check=True)
    assert it.it.wait().status != 0
    assert checkpoints.require_sound(first["path"])["number"] == 1
    it.disk.off()
    it.switch.touch()
    it.require_restart()


def test_a_full_disk(space):
    """That one rank notices, while it is written: one line, the one before stays, the job goes on, and the next one is
    complete."""
    it = Slow(space)
    first = json.loads(it.ctl("checkpoint", "--wait", "--json"))["checkpoint"]
    full = Switch(space, "disk.full").on()
    text = "-0002.h5' cannot be written: No space left on device"
    assert it.ctl("checkpoint", "--wait", status=1).endswith(text)
    assert it.status()["checkpoint"] == first
    job.wait_for(lambda: [name[-8:] for name in it.files()] == ["-0001.h5"])  # the ranks tidy up when they pass
    full.off()
    assert it.ctl("checkpoint", "--wait").split("\t")[0].endswith("-0002.h5")
    result = it.let_go()
    assert only_line(result.err, "epop: there is no checkpoint: the checkpoint '", text), result


IS_FULL = "there is no checkpoint: the checkpoint '.*' cannot be written: No space left on device"


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("kib", [4, 500])
def test_a_disk_that_stays_full(space, ranks, kib):
    """Where nothing fits, and where one file does: each try ends on all ranks, and what else is asked for is done."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespace can be made here")
    disk = space.directory / "disk"
    disk.mkdir()
    mount = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o size={kib}k none "$0" && exec "$@"', disk]
    it = space.start([*mount, job.MPIEXEC, "-n", ranks, job.BUILD / "bin/epop", "--backend", "pool", "--checkpoint-dir", disk,
                      "--checkpoint-async", "--checkpoint-every", "0.01", job.program("five"), 50000, 1000000])
    start = 0
    for size in 1, ranks:
        for _ in range(5):
            _, start = it.wait_for_line(IS_FULL, stream="err", start=start)
        space.resize(size)
    _, start = it.wait_for_line(IS_FULL, stream="err", start=start)
    space.stop(it)


def test_the_variable(space):
    result = space.epop(SAVED, ranks=1, env={"EPOP_CHECKPOINT_ASYNC": "yes"})
    assert result.status == 2 and "EPOP_CHECKPOINT_ASYNC wants 1 or 0, not 'yes'" in result.err, result
    options, env = waits_for_file(space.directory / "saved", 10)
    result = space.epop("--backend", "pool", *options, "--verbose", SAVED, "ask=10", ranks=2, env={"EPOP_CHECKPOINT_ASYNC": "1", **env})
    assert result.status == 0 and len(list((space.directory / "saved").iterdir())) == 1, result
