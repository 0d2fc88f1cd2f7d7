"""make ABI=yes: a build with MPI's standard interface, where there is a header of it, and what is said where there is none."""

import os
import subprocess

import job

COMPILER = job.ROOT / "mpich/mpicc-abi"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("MPI_ABI", "MAKEFLAGS", "MPICC", "MPIEXEC", "BUILD")}


def run(*command, **variables):
    return subprocess.run(command, cwd=job.ROOT, env={**ENVIRONMENT, **variables}, capture_output=True, text=True, timeout=120, check=False)


def without_header(tmp_path):
    """A compiler of a machine that has none."""
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho no-such-machine\n")
    compiler.chmod(0o755)
    return {"CC": str(compiler), "MPI_ABI": str(tmp_path / "nothing")}


def test_without_a_header_one_line_says_so(tmp_path):
    done = run("make", "--no-print-directory", "ABI=yes", "all", **without_header(tmp_path))
    lines = done.stderr.splitlines()
    assert done.returncode == 2 and done.stdout == "" and len(lines) == 1, done
    assert "ABI=yes: there is no mpi.h of MPI's standard interface here: install one" in lines[0], done


def test_another_build_does_not_want_it(tmp_path):
    done = run("make", "--no-print-directory", "-n", "help", **without_header(tmp_path))
    assert done.returncode == 0 and done.stderr == "", done


def test_the_compiler_takes_a_prefix(tmp_path):
    header = tmp_path / "include/mpi.h"
    header.parent.mkdir()
    header.write_text("typedef struct MPI_ABI_Comm *MPI_Comm;\nint PMPI_Init(void);\n")
    shown = run(COMPILER, "-show", CC="gcc", MPI_ABI=str(tmp_path))
    assert shown.returncode == 0 and shown.stdout == f"gcc -I{header.parent} -L{tmp_path}/lib -lmpi_abi\n", shown
    (tmp_path / "one.c").write_text("#include <mpi.h>\nint main(void) { return PMPI_Init(); }\n")
    compiled = run(COMPILER, "-c", str(tmp_path / "one.c"), "-o", str(tmp_path / "one.o"), CC="gcc", MPI_ABI=str(tmp_path))
    assert compiled.returncode == 0 and compiled.stderr == "", compiled
    linked = run(COMPILER, str(tmp_path / "one.o"), "-o", str(tmp_path / "one"), CC="gcc", MPI_ABI=str(tmp_path))
    there = run("gcc", "-x", "c", "-shared", "-fPIC", "/dev/null", "-lmpi_abi", "-o", str(tmp_path / "none")).returncode == 0
    assert linked.returncode == (0 if there else 1) and (there or "-lmpi_abi" in linked.stderr), linked


def test_a_header_of_one_library_alone_is_not_taken(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include/mpi.h").write_text("typedef int MPI_Comm;\n")
    shown = run(COMPILER, "-show", **{**without_header(tmp_path), "MPI_ABI": str(tmp_path)})
    assert shown.returncode == 1 and shown.stdout == "" and "there is no mpi.h" in shown.stderr, shown
