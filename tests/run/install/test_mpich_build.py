"""mpich/build.sh, on an archive with a package of the name mpich that is built in a moment."""

import fcntl
import hashlib
import pathlib
import re
import subprocess

import job
import pytest

BUILD_SCRIPT = job.ROOT / "mpich/build.sh"

CONFIGURE = """#!/bin/bash
commands=mpiexec
for option; do
    case $option in
    --prefix=*) prefix=${option#*=} ;;
    --enable-fortran=all) commands+=" mpif90" ;;
    --enable-cxx) commands+=" mpicxx" ;;
    esac
done
echo configured >>"$HISTORY"
cat >Makefile <<END
all:
\techo compiled >>$HISTORY
\ttest -e $HISTORY.works
install:
\tmkdir -p \\$(DESTDIR)$prefix/bin \\$(DESTDIR)$prefix/lib
\tgcc -shared -Wl,-soname,${SONAME:-libmpich.so.12} -x c /dev/null -o \\$(DESTDIR)$prefix/lib/libmpich.so
\tprintf '#!/bin/sh\\nexit 0\\n' >\\$(DESTDIR)$prefix/bin/mpicc
\tfor command in $commands; do cp \\$(DESTDIR)$prefix/bin/mpicc \\$(DESTDIR)$prefix/bin/\\$\\$command; done
\tchmod +x \\$(DESTDIR)$prefix/bin/*
END
"""


class Archive:
    """A package archive with a source package mpich, version 0.1, that apt is told to use."""

    def __init__(self, directory, options):
        self.path = directory / "archive"
        source = directory / "mpich-0.1"
        self.path.mkdir()
        for folder in ("debian", "test/mpi"):
            (source / folder).mkdir(parents=True)
        (source / "configure").write_text(CONFIGURE)
        (source / "configure").chmod(0o755)
        tar = self.path / "mpich_0.1.tar.xz"
        subprocess.run(["tar", "-C", directory, "-cJf", tar, source.name], check=True)
        description = "Format: 3.0 (native)\nVersion: 0.1\nMaintainer: nobody <n@example.org>\nArchitecture: any\n"
        dsc = self.path / "mpich_0.1.dsc"
        dsc.write_text(f"{description}Source: mpich\nFiles:\n{self.entry(tar, 'md5')}"
                       f"Checksums-Sha256:\n{self.entry(tar, 'sha256')}")
        (self.path / "Sources").write_text(f"Package: mpich\nDirectory: .\n{description}"
                                           f"Files:\n{self.entry(dsc, 'md5')}{self.entry(tar, 'md5')}"
                                           f"Checksums-Sha256:\n{self.entry(dsc, 'sha256')}{self.entry(tar, 'sha256')}")
        (self.path / "Release").write_text(f"SHA256:\n{self.entry(self.path / 'Sources', 'sha256')}")
        (directory / "apt/parts").mkdir(parents=True)
        self.configuration = directory / "apt/apt.conf"
        self.configuration.write_text(f'Dir::Etc::sourcelist "{directory}/apt/sources.list";\n'
                                      f'Dir::Etc::sourceparts "{directory}/apt/parts";\n')
        (directory / "apt/sources.list").write_text(f"# none but\ndeb {options} file:{self.path} ./\n")

    @staticmethod
    def entry(path, algorithm):
        content = path.read_bytes()
        return f" {hashlib.new(algorithm, content).hexdigest()} {len(content)} {path.name}\n"


class Cache:
    """A cache, and an archive from which MPICH 0.1 is built into it."""

    def __init__(self, space, directory, options="[trusted=yes]"):
        self.space, self.path, self.history = space, directory / "cache", directory / "history"
        self.archive = Archive(directory, options)
        self.environment = {"EPOP_CACHE": self.path, "MPICH_VERSION": "0.1", "HISTORY": self.history,
                            "APT_CONFIG": self.archive.configuration}
        self.prefix = self.path / "mpich-0.1-ch3-sock"

    def works(self):
        pathlib.Path(f"{self.history}.works").touch()

    def start(self, **environment):
        return self.space.start([BUILD_SCRIPT], env={**self.environment, **environment})

    def build(self, **environment):
        return self.start(**environment).wait()


@pytest.fixture
def cache(space, tmp_path):
    return Cache(space, tmp_path)


def test_unknown_device(space):
    result = space.start([BUILD_SCRIPT, "ch3:pigeon"]).wait()
    assert result.status == 1 and "unknown device 'ch3:pigeon'; there are ch3:sock" in result.err, result


def test_a_failed_build_goes_on_where_it_stopped(cache):
    result = cache.build()
    assert result.status == 1 and "'compile' failed after" in result.err and "test -e" in result.err, result
    assert not cache.prefix.exists()
    cache.works()
    result = cache.build()
    assert result.status == 0 and result.out.endswith(f"mpich 0.1, ch3:sock: {cache.prefix}\n"), result
    assert cache.history.read_text().split() == ["configured", "compiled", "compiled"]
    assert re.search(r"^  compile +\d+ s$", result.out, re.MULTILINE), result
    assert list((cache.path / "build").iterdir()) == []


def test_what_is_there_is_not_built_again(cache):
    cache.works()
    assert cache.build().status == 0
    before = cache.history.read_text()
    result = cache.build()
    assert result.status == 0 and result.out == f"mpich 0.1, ch3:sock: {cache.prefix}\n", result
    assert cache.history.read_text() == before


def test_languages_are_added_and_stay(cache):
    """The installation is built anew for one that it does not have, with those that it has."""
    cache.works()
    plain = {"mpicc", "mpiexec"}
    for languages, commands, builds in (("", plain, 1), ("fortran", plain | {"mpif90"}, 2), ("", plain | {"mpif90"}, 2),
                                        ("c++", plain | {"mpif90", "mpicxx"}, 3), ("c++ fortran", None, 3)):
        result = cache.build(MPICH_LANGUAGES=languages)
        assert result.status == 0, result
        there = {path.name for path in (cache.prefix / "bin").iterdir()}
        assert commands in (None, there) and cache.history.read_text().count("configured") == builds, languages


def test_an_unknown_language(cache):
    result = cache.build(MPICH_LANGUAGES="fortran cobol")
    assert result.status == 1 and "unknown language 'cobol' in MPICH_LANGUAGES; there are fortran and c++" in result.err


def test_a_library_with_another_soname_is_not_taken(cache):
    cache.works()
    result = cache.build(SONAME="libmpi.so.12")
    assert result.status == 1 and "'check' failed" in result.err, result
    assert not (cache.prefix / "recipe").exists()


def test_one_build_at_a_time(cache):
    cache.works()
    cache.path.mkdir()
    with open(cache.path / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build = cache.start()
        build.wait_for_line("another build is running, waiting for it")
        assert not cache.history.exists()
    assert build.wait().status == 0
    assert cache.history.read_text().split() == ["configured", "compiled"]


def test_an_archive_without_a_signature_is_refused(space, tmp_path):
    cache = Cache(space, tmp_path, options="")
    cache.works()
    result = cache.build()
    assert result.status == 1 and "is not signed" in result.err and "'index' failed" in result.err, result
    assert not cache.history.exists()


def test_a_changed_package_is_refused(cache):
    cache.works()
    tar = cache.archive.path / "mpich_0.1.tar.xz"
    tar.write_bytes(tar.read_bytes()[::-1])
    result = cache.build()
    assert result.status == 1 and "'download' failed" in result.err, result
    assert not cache.history.exists()


def test_sources_in_the_newer_format(cache):
    cache.works()
    directory = cache.archive.configuration.parent
    (directory / "sources.list").write_text("")
    (directory / "parts/own.sources").write_text(f"Types: deb\nURIs: file:{cache.archive.path}\nSuites: ./\nTrusted: yes\n")
    result = cache.build()
    assert result.status == 0, result
