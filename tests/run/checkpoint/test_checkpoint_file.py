"""The file of a checkpoint: others read it, a kill at any moment leaves the last good one, and what cannot be written or
read is one line."""

import random
import shutil
import socket
import subprocess
import time

import checkpoints
import h5py
import job
import jsonschema
import numpy
import pytest
import saving
from schemas import validate

WRITER = job.BUILD / "tests/helpers/checkpoint_writer"


def run(space, ranks, *arguments, **options):
    return space.start([job.MPIEXEC, "-n", str(ranks), str(WRITER), *map(str, arguments)], **options).wait()


@pytest.fixture
def state(space):
    """A good file of 256 KiB, number 3."""
    result = run(space, 3, "write", space.directory / "state.h5", 3, 256)
    assert result.status == 0 and result.out == "number 1\nnumber 2\nnumber 3\n", result
    return space.directory / "state.h5"


def read(space, path, ranks=2):
    """What the ranks say, each once."""
    result = run(space, ranks, "read", path)
    said = set(result.out.splitlines())
    if result.status == 0:
        return said.pop()
    lines = {line.partition(": ")[2] for line in said}
    assert len(said) == ranks and len(lines) == 1, result
    return lines.pop()


# ---- Others read it ----

def test_h5py_reads_it(state):
    with h5py.File(state) as file:
        u = file["group/u"]
        assert u.dtype == "<f8" and u.shape == (256 * 128,) and (u[...] == 3).all()
        assert file.attrs["iteration"] == 3 and file.attrs["size"] == 3
        assert numpy.frombuffer(file.attrs["values/step"].tobytes(), "<i4")[0] == 3


def test_h5dump_reads_it(state):
    out = subprocess.run(["h5dump", "-d", "/group/u", "-c", "2", state], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "H5T_IEEE_F64LE" in out and "(0): 3, 3" in out and '"float64"' in out, out


def test_as_json_it_is_valid(state):
    told = checkpoints.require_sound(state)
    validate("checkpoint", told)
    assert told["values"] == {"step": 4} and told["position"] == {"pc": 1, "visit": 1, "iteration": 3}
    assert [(d["name"], d["type"], d["extent"]) for d in told["datasets"]] == [("group/u", "float64", [32768])]
    with pytest.raises(jsonschema.ValidationError):
        validate("checkpoint", dict(told, format=2))


def test_the_file_of_a_job_is_as_the_schema_says(space):
    """Of a program whose data is described, with arrays that are constant."""
    options, env = saving.waits_for_file(space.directory / "saved", 20)
    result = space.epop("--backend", "pool", *options, saving.SAVED, "ask=20", "steps=40", ranks=2, env=env)
    files = list((space.directory / "saved").iterdir())
    assert result.status == 0 and len(files) == 1, result
    told = checkpoints.require_sound(files[0])
    validate("checkpoint", told)
    assert told["program"] == "saved" and told["arguments"] == ["ask=20", "steps=40"] and told["size"] == 2
    assert told["values"].keys() == {"shape"} and {"u", "k", "m"} <= {dataset["name"] for dataset in told["datasets"]}


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_any_number_of_ranks_reads_it(space, state, ranks):
    assert read(space, state, ranks) == "good 3"


def test_written_behind(space):
    path = space.directory / "state.h5"
    assert run(space, 2, "behind", path, 4, 300).out == "".join(f"number {i}\n" for i in range(1, 5))
    assert checkpoints.require_sound(path)["number"] == 4 and read(space, path) == "good 4"


def test_a_link_to_an_earlier_file(space, state):
    later = state.with_name("later.h5")
    assert run(space, 2, "link", later, "state.h5").out == ""
    with h5py.File(later) as file, h5py.File(state) as earlier:
        assert (file["group/u"][...] == 3).all() and file["group/u"].shape == earlier["group/u"].shape
    told = checkpoints.as_json(later)
    validate("checkpoint", told)
    checksum = checkpoints.as_json(state)["datasets"][0]["checksum"]
    assert told["datasets"] == [{"name": "group/u", "file": "state.h5", "checksum": checksum}]
    state.unlink()
    assert "needs 'state.h5' for 'group/u', and that cannot be read: No such file or directory" in read(space, later)
    assert "'group/u' is to come from 'state.h5', and that cannot be read" in refusals(run(space, 2, "link", later, "state.h5"), 2, 1)


# ---- Damage ----

def change(path, **attributes):
    with h5py.File(path, "r+") as file:
        file.attrs.update(attributes)


def remove(name):
    def damage(path):
        with h5py.File(path, "r+") as file:
            del file.attrs[name]
    return damage


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 0x10]))


def flip_data(path):
    with h5py.File(path) as file:
        at = file["group/u"].id.get_offset()
    flip(path, at + 100003)


def other_values(path):
    with h5py.File(path, "r+") as file:
        values = file.attrs["values"]
        values[-1] ^= 1
        file.attrs.modify("values", values)


def foreign(path):
    with h5py.File(path, "w") as file:
        file["u"] = numpy.zeros(5)


DAMAGE = {
    "foreign": (foreign, "is an HDF5 file, but no checkpoint of EPOP"),
    "format": (lambda path: change(path, format=2), "has format 2 of checkpoints, this EPOP reads format 1"),
    "order": (lambda path: change(path, byte_order=numpy.bytes_("big")), "was written on a machine of the other byte order"),
    "text": (lambda path: path.write_text("no checkpoint\n"), "is no HDF5 file, or damaged at its beginning"),
    "empty": (lambda path: path.write_bytes(b""), "is no HDF5 file, or damaged at its beginning"),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-70000]), "is damaged: truncated file"),
    "data": (flip_data, "is damaged: 'group/u' is not what was written (checksum)"),
    "head": (remove("iteration"), "is damaged: its head is not complete"),
    "values": (other_values, "is damaged: its head is not complete, or its values are not what was written"),
    "missing": (lambda path: path.unlink(), "cannot be read: No such file or directory"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named(space, state, name):
    damage, words = DAMAGE[name]
    damage(state)
    said = read(space, state)
    assert said.startswith(f"the checkpoint '{state}' ") and words in said, said


def test_a_bit_anywhere_is_found_or_does_no_harm(space, state):
    """Each in a copy of its own; what opens has the right content, as the reader looks at every element."""
    length, refused = state.stat().st_size, 0
    for place in [*range(0, 96, 12), *random.Random(7).sample(range(96, 4096), 4), length // 2]:
        copy = state.with_name("copy.h5")
        shutil.copy(state, copy)
        flip(copy, place)
        said = read(space, copy, ranks=1)
        assert said == "good 3" or said.startswith("the checkpoint '"), said
        refused += said != "good 3"
    assert refused >= 5


# ---- Kills ----

def kill_while_writing(command, delay):
    """Waits for the first line, and that long. The last number that was told."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) as writer:
        try:
            told = [writer.stdout.readline()]
            time.sleep(delay)
        finally:
            writer.kill()
            told += writer.stdout.read().splitlines()
    return max(int(line.split()[1]) for line in told if line.startswith("number "))


@pytest.mark.parametrize("mode, kills", [("write", 70), ("behind", 30)])
def test_a_kill_at_any_moment_leaves_the_last_good_one(space, mode, kills):
    """One rank, so that a hundred are soon done; the moments are random, and so are the places in the file."""
    path, moments = space.directory / "state.h5", random.Random(mode)
    left = 0
    for _ in range(kills):
        told = kill_while_writing([WRITER, mode, path, "100000", "512"], moments.uniform(0, 0.01))
        number = checkpoints.require_sound(path)["number"]
        assert number in (told, told + 1), (number, told)
        left += len(list(space.directory.glob("*.epop-part")))
    assert left > 0  # some were hit while they wrote
    assert run(space, 1, "write", path, 1, 8).status == 0
    assert list(space.directory.glob("*.epop-part")) == [] and read(space, path) == "good 1"


def test_a_part_of_another_host_is_left_alone(space):
    """Whether it is locked there cannot be told where locks are each host's own; one of this host without a lock goes."""
    host = socket.gethostname()
    others = [f"a-1-0001.h5@other.{host}.epop-part", "b-1-0001.h5@elsewhere.epop-part", "c-1-0001.h5.epop-part"]
    for name in [*others, f"d-1-0001.h5@{host}.epop-part"]:
        (space.directory / name).write_text("")
    assert run(space, 2, "write", space.directory / "state.h5", 1, 8).status == 0
    assert sorted(path.name for path in space.directory.iterdir()) == [*others, "state.h5"]


def test_a_part_that_is_being_written_is_left_alone(space):
    """Of two jobs in the same directory none takes the other's for one that was left."""
    first, second = (space.directory / f"{name}.h5" for name in "ab")
    one = space.start([job.MPIEXEC, "-n", "1", str(WRITER), "write", str(first), "30", "400"])
    other = run(space, 1, "write", second, 30, 400)
    assert other.status == 0 and other.out.endswith("number 30\n"), other
    result = one.wait()
    assert result.status == 0 and result.out.endswith("number 30\n"), result


# ---- What cannot be written ----

def refusals(result, ranks, count):
    """One text, which each rank has for each try."""
    lines = [line.partition(": ") for line in result.out.splitlines() if line.startswith("rank ")]
    assert result.status == 0 and len(lines) == ranks * count and len({text for _, _, text in lines}) == 1, result
    return lines[0][2]


@pytest.mark.parametrize("mode", ["write", "behind"])
def test_a_file_that_may_not_be_so_long(space, state, mode):
    """Of the limit no signal ends the program, and the room is there again."""
    text = refusals(run(space, 2, mode, state, 3, 256, 100), 2, 3)
    assert text == f"the checkpoint '{state}' cannot be written: File too large"
    assert list(space.directory.iterdir()) == [state] and read(space, state) == "good 3"


FULL = """
set -e
mount -t tmpfs -o size=600k none "$1"
"$2" -n 2 "$3" write "$1/state.h5" 1 100
"$2" -n 2 "$3" "$4" "$1/state.h5" 2 1000
ls "$1"
"$2" -n 2 "$3" read "$1/state.h5"
"$2" -n 2 "$3" write "$1/state.h5" 1 200
"""


@pytest.mark.parametrize("mode", ["write", "behind"])
def test_a_full_disk(space, mode):
    """A file system of its own, 600 KiB large: the one that is there stays, and a smaller one fits afterwards."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespace can be made here")
    disk = space.directory / "disk"
    disk.mkdir()
    result = space.start(["unshare", "--mount", "sh", "-c", FULL, "sh", disk, job.MPIEXEC, WRITER, mode]).wait()
    text = f"the checkpoint '{disk}/state.h5' cannot be written: No space left on device"
    lines = result.out.splitlines()
    assert result.status == 0 and sorted(lines[1:5]) == 2 * [f"rank 0: {text}"] + 2 * [f"rank 1: {text}"], result
    assert lines[0] == "number 1" and lines[5:] == ["state.h5", "good 1", "number 1"], result


@pytest.mark.parametrize("path, words", [("no/such.h5", "No such file or directory"), ("file/state.h5", "Not a directory"),
                                         (".", "that is a directory")])
def test_a_directory_that_is_none(space, path, words):
    (space.directory / "file").write_text("")
    text = refusals(run(space, 2, "write", space.directory / path, 2, 8), 2, 2)
    assert text.startswith("the checkpoint '") and text.endswith(f"cannot be written: {words}"), text


def test_without_the_module_it_says_what_to_install(space):
    writer = space.directory / "tree/tests/helpers/checkpoint_writer"
    writer.parent.mkdir(parents=True)
    shutil.copy(WRITER, writer)
    result = space.start([job.MPIEXEC, "-n", "2", str(writer), "write", str(space.directory / "state.h5"), "1", "8"]).wait()
    assert "this EPOP was built without HDF5" in refusals(result, 2, 1) and "install libhdf5-dev" in result.out
    assert not list(space.directory.glob("state*"))
