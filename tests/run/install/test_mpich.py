"""The MPICH builds that are in the cache can do what EPOP wants of them."""

import pathlib
import subprocess

import job
import pytest

FOLDER = job.ROOT / "mpich"
DEVICES = ["ch3:sock", "ch3:nemesis", "ch4:ofi"]


@pytest.fixture(params=DEVICES)
def mpich(request):
    """The prefix of a cached MPICH."""
    script = f". {FOLDER}/recipe.sh; recipe_choose {request.param}; echo $prefix; recipe_is_there"
    answer = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30, check=False)
    if answer.returncode != 0:
        pytest.skip(f"{request.param} is not in the cache: make mpich MPICH_DEVICE={request.param}")
    return request.param, pathlib.Path(answer.stdout.strip())


def capabilities(space, mpicc, mpiexec):
    """The answers of capabilities.sh, by question."""
    result = space.start([FOLDER / "capabilities.sh"], env={"MPICC": mpicc, "MPIEXEC": mpiexec}, limit=150).wait()
    assert result.status == 0, result
    return dict(line.split(maxsplit=1) for line in result.out.splitlines())


def test_cached_mpich(space, mpich):
    device, prefix = mpich
    found = capabilities(space, prefix / "bin/mpicc", prefix / "bin/mpiexec")
    assert found["library"].endswith(f"device {device}"), found
    assert found["file"] == str(prefix / "lib/libmpich.so.12"), found
    assert found["threads"] == "multiple", found
    for thing in ("spawn", "connect", "files"):
        assert found[thing].startswith("yes, in "), found
    if device == "ch3:sock":
        assert found["waiting"].startswith("sleeps"), found


def test_installed_mpich(space):
    """The control case: what is not there is said, with the reason."""
    found = capabilities(space, "mpicc.mpich", "mpiexec.mpich")
    assert found["files"].startswith("yes"), found
    if "MPICH 4" in found["library"] and found["library"].endswith("ch4:ucx"):
        assert found["spawn"].startswith("no: ") and "ucx" in found["connect"], found


def test_soname(mpich):
    _, prefix = mpich
    dynamic = subprocess.run(["readelf", "-d", prefix / "lib/libmpich.so"], check=True, capture_output=True, text=True)
    assert "soname: [libmpich.so.12]" in dynamic.stdout


def runs_when_compiled_with(space, mpicc):
    """There is one MPI in the process, epop's own."""
    program = space.directory / "ledger.so"
    subprocess.run([mpicc, "-shared", "-fPIC", "-D_GNU_SOURCE", "-I", job.ROOT / "epop_api",
                    job.ROOT / "programs/ledger.c", "-o", program, f"-L{job.BUILD}/lib", "-lepop", "-lm"], check=True)
    result = space.epop(program, "elements=100", "iterations=20", "work=0", ranks=2)
    assert result.status == 0 and result.out.startswith("ledger: 100 elements right"), result


def test_programs_of_a_cached_mpich_run(space, mpich):
    runs_when_compiled_with(space, mpich[1] / "bin/mpicc")


def test_programs_of_the_installed_mpich_run(space):
    runs_when_compiled_with(space, "mpicc.mpich")
