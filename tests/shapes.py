#!/usr/bin/env python3
"""Elastic MPI programs with loops of random shapes, each resized some times: is there a shape that EPOP takes for another?

    tests/shapes.py [--resizes N] [--seed S] [--each N] [--seeds N] [--keep-going]

A shape (tests/plain/shapes/shape.h) is drawn from a seed. The program asks for resizes itself, of random sizes, some at once
after a commit; in each window its processes have to be at the same step of the same iteration, and at the end it has to
have done what one process would. The first shape is that of --seed, the others those of the numbers that follow.

A shape that fails is printed in words, with the command that repeats it. Shapes are drawn alike everywhere; when a resize
comes is also a matter of the machine.
"""

import argparse
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "run/helpers"))

import job  # noqa: E402

SOURCES = sorted((HERE / "plain/shapes").glob("*.c"))
SECONDS_WITHOUT_A_LINE = 60  # a resize takes 0.05, and seconds where much else runs; who hangs does so for ever


class Failed(Exception):
    """A shape, and what came of it."""


def build(directory):
    lib, binary = job.BUILD / "lib", pathlib.Path(directory) / "shapes"
    command = shlex.split(os.environ.get("MPICC") or "mpicc.mpich")
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overflow"]
    subprocess.run([*command, *flags, f"-I{HERE.parent / 'epop_api'}", *SOURCES, "-o", binary, f"-L{lib}", "-lepop_mpi", "-lepop",
                    f"-Wl,-rpath,{lib}"], check=True, timeout=60)
    return binary


def describe(binary, seed, resizes):
    """In words, and the command that repeats it."""
    words = subprocess.run([binary, str(seed)], capture_output=True, text=True, check=True, timeout=10).stdout
    how = " ".join(f"{name}={os.environ[name]}" for name in ("EPOP_BUILD", "MPIEXEC", "MPICC") if name in os.environ)
    return f"seed {seed}: {how} tests/shapes.py --seed {seed} --seeds 1 --each {resizes}\n{words}"


def see_to_its_end(space, running):
    """Until it has ended, or hangs: then says where."""
    seen, since = "", time.monotonic()
    while running.running():
        time.sleep(0.01)
        if running.out != seen:
            seen, since = running.out, time.monotonic()
        elif time.monotonic() - since > SECONDS_WITHOUT_A_LINE:
            where = space.epopctl("where")
            running.kill()
            raise Failed(f"it hangs\n{running.out}{running.err}{where}")
    return running.wait()


def run(space, binary, seed, resizes, env=None):
    """One shape; Failed says what it is."""
    running = space.start([job.MPIEXEC, "-n", 1 + seed % 2, binary, seed, resizes], limit=600, env=env)
    try:
        result = see_to_its_end(space, running)
        if result.status != 0 or result.err or f"right: {resizes} resizes" not in result.out:
            raise Failed(result)
    except Failed as failure:
        raise Failed(f"{describe(binary, seed, resizes)}{failure}") from None


def run_many(directory, seeds, each, keep_going=False):
    """The resizes made, and the failures."""
    binary, made, failures = build(directory), 0, []
    for seed in seeds:
        space = job.Space(directory)
        try:
            run(space, binary, seed, each)
            made += each
        except Failed as failure:
            failures.append(failure)
            print(f"FAILED {failure}", flush=True)
        finally:
            space.close()
        if failures and not keep_going:
            break
    return made, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resizes", type=int, default=1000)
    parser.add_argument("--each", type=int, default=10, help="of one shape")
    parser.add_argument("--seeds", type=int, help="how many shapes, instead of --resizes")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--keep-going", action="store_true", help="after a failure")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # ends its jobs too
    shapes = options.seeds or -(-options.resizes // options.each)
    print(f"{shapes} shapes from seed {options.seed} on, {options.each} resizes each", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="epop-shapes-") as directory:
        made, failures = run_many(directory, range(options.seed, options.seed + shapes), options.each, options.keep_going)
    print(f"{made} resizes in {time.monotonic() - begin:.0f} s, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
