"""packaging/debian: packages that are built from the checkout, without a fault that lintian knows, and installed and used."""

import os
import re
import shutil
import subprocess

import job
import pages
import pytest

# In a copy of this system that is written to a folder, as changes over it; what is done there is forgotten. $1 is the folder, $2 that of
# the packages, and the rest a command.
SOMEWHERE_ELSE = """
set -eu
mount -t tmpfs tmpfs "$1"
mkdir "$1/changes" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$1/root"
mount --rbind /dev "$1/root/dev"
mount -t proc proc "$1/root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$1/root/tmp"
cp "$2"/* "$1/root/tmp"
root=$1/root
shift 2
exec chroot "$root" "$@"
"""

USE = """
set -eu
cd /tmp
dpkg -i ./epop_*.deb ./libepop-dev_*.deb ./python3-epop_*.deb ./epop-doc_*.deb >/dev/null
mpicc.mpich -O2 -shared -fPIC pi.c -o pi.so $(pkg-config --cflags --libs epop)
mpiexec.mpich -n 2 epop --start 1 ./pi.so >output &
until epopctl resize 2 --wait; do kill -0 $!; done
epopctl stop --wait
wait $!
tail -n 1 output
man -w epop epop_redist
/usr/bin/python3 -c "import importlib.util; print(importlib.util.find_spec('epop').origin)"
ls /usr/share/doc/epop/html/index.html
dpkg -r epop-doc python3-epop libepop-dev epop >/dev/null
! command -v epop
"""


@pytest.fixture(name="packages", scope="module")
def fixture_packages(tmp_path_factory):
    """Of the last commit of this checkout."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
        pytest.skip("packages are installed by root, in namespaces of its own")
    folder = tmp_path_factory.mktemp("packages")
    subprocess.run([job.ROOT / "packaging/deb.sh", folder], check=True, stdout=subprocess.DEVNULL, timeout=1500,
                   env={**os.environ, "DEB_BUILD_OPTIONS": "noautodbgsym"})  # nobody looks at those here, and they take long to compress
    return folder


def test_lintian_finds_no_error(packages):
    found = subprocess.run(["lintian", "--allow-root", *packages.glob("*.deb")], capture_output=True, text=True, timeout=300, check=False)
    assert [line for line in found.stdout.splitlines() if line.startswith("E:")] == []
    assert re.search("^W: ", found.stdout, flags=re.M), f"has it looked? {found.stdout} {found.stderr}"


def test_installed_and_used(packages, tmp_path):
    """By dpkg: the program of the README is built with them, resized and stopped; and they can be removed."""
    pi, = [block.text for block in pages.blocks(job.ROOT / "README.md") if block.marker == "file: pi.c"]
    shutil.copytree(packages, tmp_path / "packages")
    (tmp_path / "packages/pi.c").write_text(pi)
    (tmp_path / "elsewhere").mkdir()
    result = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", SOMEWHERE_ELSE, "elsewhere", tmp_path / "elsewhere",
                             tmp_path / "packages", "bash", "-c", USE], capture_output=True, text=True, timeout=300, check=False,
                            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"})
    assert result.returncode == 0, result
    assert re.search(r"^done: 1 -> 2\n", result.stdout, flags=re.M) and re.search(r"^[12] ranks: pi is 3.14159\d after", result.stdout, flags=re.M), result
    assert "/usr/lib/python3/dist-packages/epop/__init__.py\n" in result.stdout
    assert "/man1/epop.1" in result.stdout and "/man3/epop_redist" in result.stdout
    assert not (tmp_path / "elsewhere/root").exists() and shutil.which("epopctl") != "/usr/bin/epopctl"
