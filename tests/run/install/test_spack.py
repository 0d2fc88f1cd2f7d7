"""packaging/spack: what the recipe tells make, and whether it knows of all that EPOP needs. Spack itself is not there: its words are
this test's."""

import runpy
import subprocess
import sys
import types

import job
import pytest

RECIPE = job.ROOT / "packaging/spack/spack_repo/epop/packages/epop/package.py"
# What Spack calls the packages of make deps; those for the pages as HTML are left out, and what comes with a compiler.
CALLED = {"gcc": "c", "binutils": "c", "libc6-dev": "c", "pkg-config": "pkgconfig", "python3": "python", "mpich": "mpich", "libmpich-dev": "mpich",
          "libcjson-dev": "cjson", "libevent-dev": "libevent", "libsodium-dev": "libsodium", "libpmix-dev": "pmix", "libdw-dev": "elfutils",
          "zlib1g-dev": "zlib-api", "libsqlite3-dev": "sqlite", "libhdf5-dev": "hdf5", "libopenblas-dev": "openblas"}
LEFT_OUT = {"mandoc", "python3-markdown"}
PARTS = {"hdf5": "hdf5.so", "pmix": "pmix-gateway", "munge": "munge.so", "slurm": "slurm.so"}


class Spec:
    """epop with these variants; each package that it is asked for is in /spack."""

    def __init__(self, *variants):
        self.variants = variants
        self.prefix = types.SimpleNamespace(bin="/spack/bin")
        self.mpicc = "mpicc.mpich"
        self.command = types.SimpleNamespace(path=sys.executable)

    def __getitem__(self, name):
        return self

    def satisfies(self, condition):
        return condition.removeprefix("+") in self.variants


@pytest.fixture(name="recipe")
def fixture_recipe(monkeypatch, tmp_path):
    """The class, what it depends on, and the output of the makes that it calls, which only say what they would do."""
    depends, said = [], []

    def make(*words):
        command = ["make", "-n", f"BUILD={tmp_path / 'build'}", *words]
        said.append(subprocess.run(command, cwd=job.ROOT, check=True, capture_output=True, text=True, timeout=120).stdout)

    package = types.ModuleType("spack.package")
    package.version = package.variant = lambda *words, **how: None
    package.depends_on = lambda what, **how: depends.append(what)
    package.join_path = lambda *parts: "/".join(parts)
    package.make = make
    makefile = types.ModuleType("spack_repo.builtin.build_systems.makefile")
    makefile.MakefilePackage = object
    for module in (package, makefile):
        parts = module.__name__.split(".")
        for i in range(1, len(parts)):
            monkeypatch.setitem(sys.modules, ".".join(parts[:i]), types.ModuleType(".".join(parts[:i])))
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return runpy.run_path(str(RECIPE))["Epop"], depends, said


def test_it_depends_on_what_make_deps_installs(recipe):
    _, depends, _ = recipe
    names = {what.split("@")[0].split("~")[0].split("+")[0] for what in depends}
    listed, = [line.split(":=")[1].split() for line in (job.ROOT / "Makefile").read_text().splitlines() if line.startswith("PACKAGES ")]
    assert {CALLED[package] for package in listed if package not in LEFT_OUT} <= names


def test_it_takes_this_checkout(recipe):
    assert recipe[0].git == str(job.ROOT)


@pytest.mark.parametrize("variants", [(), ("hdf5",), ("hdf5", "fortran", "pmix", "munge", "slurm")])
def test_what_make_is_told(recipe, tmp_path, variants):
    """It builds the parts that are asked for and no others, and installs into the prefix."""
    kind, _, said = recipe
    epop = kind()
    epop.spec, epop.prefix = Spec(*variants), tmp_path / "prefix"
    epop.build(epop.spec, epop.prefix)
    epop.install(epop.spec, epop.prefix)
    built, installed = said
    for part, file in PARTS.items():
        assert (f"/lib/epop/{file}" in built) == (part in variants), (part, built[-2000:])
    assert f'"{tmp_path}/prefix/bin"' in installed and "epop-report" not in installed
    assert ("epop.mod" in built) == ("fortran" in variants)
