"""deps.sh: installs what is missing, and where it cannot, says what. apt-get and the like are scripts of the test here."""

import shutil

import job
import pytest

LOGGED = '#!/bin/sh\necho "{name} $*" >>"$LOG"\n'


@pytest.fixture(name="deps")
def fixture_deps(space):
    """Runs deps.sh as a user on a machine with these commands, where the package `here` is installed."""
    def run(*packages, uid=0, **commands):
        machine, log = space.directory / "machine", space.directory / "log"
        shutil.rmtree(machine, ignore_errors=True)
        machine.mkdir()
        log.write_text("")
        for name in ("sh", "grep", "env"):
            (machine / name).symlink_to(shutil.which(name))
        commands["id"] = f"#!/bin/sh\necho {uid}\n"
        commands["dpkg_query"] = '#!/bin/sh\n[ "$4" = here ] && echo install ok installed\n'
        for name, text in commands.items():
            script = machine / name.replace("_", "-")
            script.write_text(text.format(name=script.name))
            script.chmod(0o755)
        result = space.start([job.ROOT / "deps.sh", *packages], env={"PATH": machine, "LOG": log}).wait()
        return result, log.read_text().splitlines()
    return run


def test_nothing_is_missing(deps):
    result, log = deps("here")
    assert (result.status, result.out, result.err, log) == (0, "", "", []), result


def test_root_installs_what_is_missing(deps):
    result, (update, install) = deps("here", "this", "that", apt_get=LOGGED)
    assert result.status == 0 and result.out == "installing: this that\n", result
    assert update.endswith(" update") and " install " in install and install.endswith(" this that"), install


def test_a_user_installs_by_sudo(deps):
    result, log = deps("this", uid=1000, apt_get=LOGGED, sudo=LOGGED + 'exec "$@"\n')
    assert result.status == 0 and [line.split()[0] for line in log] == ["sudo", "apt-get"] * 2, (result, log)


def test_lists_that_cannot_be_renewed_may_do(deps):
    result, log = deps("this", apt_get=LOGGED + 'case "$*" in *update) exit 100;; esac\n')
    assert result.status == 0 and len(log) == 2, (result, log)


@pytest.mark.parametrize("uid,commands,reason", [
    (1000, {"apt_get": LOGGED}, "this needs root, and there is no sudo"),
    (0, {}, "there is no apt-get"),
    (0, {"apt_get": "#!/bin/sh\nexit 100\n"}, "apt-get could not install everything"),
    (1000, {"apt_get": LOGGED, "sudo": "#!/bin/sh\nexit 1\n"}, "apt-get could not install everything"),
], ids=["no sudo", "no apt-get", "apt-get fails", "sudo refuses"])
def test_what_cannot_be_is_said(deps, uid, commands, reason):
    result, _ = deps("here", "this", "that", uid=uid, **commands)
    assert result.status == 1 and result.err == (
        f"epop: {reason}; install these Debian packages, or what they are called here:\n"
        "epop:   this: this\nepop:   that: that\n"), result


def test_what_a_package_gives_is_said(deps):
    result, _ = deps("libcjson-dev", "mpich")
    assert result.status == 1 and result.err.splitlines()[1:] == [
        "epop:   libcjson-dev: cJSON", "epop:   mpich: MPICH, its launcher: MPIEXEC names another"], result


def test_what_can_be_left_out_is_no_failure(deps):
    result, _ = deps("libpmix-dev", "here")
    assert result.status == 0 and result.err == (
        "epop: there is no apt-get; left out is what these Debian packages, or what they are called here, give:\n"
        "epop:   libpmix-dev: OpenPMIx, for what its tools ask of a job\n"), result
    result, _ = deps("libpmix-dev", "this")
    assert result.status == 1 and result.err.count("\n") == 4, result


@pytest.mark.parametrize("package, commands", [
    ("libcjson-dev", {"pkg_config": '#!/bin/sh\n[ "$*" = "--exists libcjson" ]\n'}),
    ("libhdf5-dev", {"pkg_config": '#!/bin/sh\n[ "$*" = "--exists hdf5" ]\n'}),
    ("libmpich-dev", {"mpicc.mpich": LOGGED}),
], ids=["library", "library of another name", "command"])
def test_what_is_there_without_its_package_is_not_missing(deps, package, commands):
    result, _ = deps(package, **commands)
    assert (result.status, result.out, result.err) == (0, "", ""), result
