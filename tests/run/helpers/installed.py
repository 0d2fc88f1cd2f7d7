"""An installed tree for tests, made by `make install`."""

import os
import subprocess

import job


def install(*variables):
    """Into where the variables (PREFIX=..., DESTDIR=...) say, from the tree that this test run has built."""
    subprocess.run(["make", "--no-print-directory", "install", f"BUILD={os.path.relpath(job.BUILD, job.ROOT)}",
                    *variables], cwd=job.ROOT, check=True, timeout=300, stdout=subprocess.DEVNULL)


def pkg_config(tree, *arguments, package="epop"):
    """What pkg-config says of the package in this tree."""
    return subprocess.run(["pkg-config", *arguments, package], capture_output=True, text=True, check=True, timeout=60,
                          env={"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": f"{tree}/lib/pkgconfig"}).stdout
