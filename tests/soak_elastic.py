#!/usr/bin/env python3
"""Faults while jobs come, run, are resized and end, under epoprm or in a real Slurm: no node is leaked or given twice, no job
that was not struck is lost, and nothing is left running. tests/soaking/invariants.py reads the site's own accounts for that.

    tests/soak_elastic.py [--site hosts|local|slurm] [--faults N] [--seconds T] [--seed S]

The seed chooses what is struck; when that is in a resize is also a matter of the machine.
"""

import argparse
import functools
import pathlib
import random
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "run/helpers")]

from soaking import under_epoprm, under_slurm  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", choices=["hosts", "local", "slurm"], default="hosts")
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no more faults after that, however many there were")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # ends its jobs too
    say = functools.partial(print, flush=True)
    if options.site == "hosts":
        soak = under_epoprm.HostsSoak(under_epoprm.HostsManager(), options.seed, say)
    elif options.site == "local":
        soak = under_epoprm.Soak(under_epoprm.Manager(), options.seed, say)
    else:
        soak = under_slurm.Soak(options.seed, say=say)
    try:
        soak.run(options.faults, options.seconds)
    except under_epoprm.Broken as wrong:
        print(f"FAILED, seed {options.seed}: {wrong}", flush=True)
        return 1
    finally:
        soak.close()
    print(f"all right: {len(soak.known)} jobs, {len(soak.hit)} struck, {sum(soak.struck.values())} faults: {soak.struck}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
