"""A program that is executed itself says what was meant."""

import platform
import shutil
import subprocess

import job
import pytest

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="elsewhere a program has no entry")

ENTRY = job.BUILD / "lib/epop/entry.o"


def line(path):
    return f"epop: {path} is a program of phases: mpiexec epop {path}\n"


def test_alone(space):
    result = space.start([job.program("heat"), "1000"]).wait()
    assert (result.status, result.out, result.err) == (2, "", line(job.program("heat"))), result


def test_under_a_launcher(space):
    result = space.start([job.MPIEXEC, "-n", "2", job.program("heat"), "1000"]).wait()
    assert result.status != 0 and (result.out + result.err).count(line(job.program("heat"))) == 2, result


def built(space, compiler, options, main=""):
    """Of two files, which are linked with the entry."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    (space.directory / "one.c").write_text(f'int two(void);\n{main}\n__attribute__((visibility("default"))) int one(void) {{ return two(); }}\n')
    (space.directory / "two.c").write_text("int two(void) { return 0; }\n")
    subprocess.run([compiler, *options, "one.c", "two.c", ENTRY, "-o", "built"], cwd=space.directory, check=True, timeout=60)
    return "./built"


HOW = {"plain": [], "lto": ["-O2", "-flto"], "collected": ["-O2", "-ffunction-sections", "-Wl,--gc-sections"], "stripped": ["-Wl,-s"]}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++"])
def test_compilers(space, compiler, how):
    path = built(space, compiler, ["-shared", "-fPIC", *HOW[how]])
    result = space.start([path]).wait()
    assert (result.status, result.out, result.err) == (2, "", line(path)), result


@pytest.mark.parametrize("how", [[], ["-static"], ["-no-pie"], ["-O2", "-flto"]], ids=lambda words: " ".join(words) or "plain")
def test_an_executable_has_its_own(space, how):
    path = built(space, "gcc", how, "int main(void) { return 7 + two(); }")
    assert space.start([path]).wait().status == 7
