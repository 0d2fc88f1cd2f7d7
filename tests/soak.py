#!/usr/bin/env python3
"""Random resizes of running jobs, for a long time: `ledger`, which checks every element in every iteration, `gauss` and
`cannon`, whose residual is checked at the end of each run. Nothing may grow: memory, descriptors, processes.

    tests/soak.py [--resizes N] [--most RANKS] [--seed S] [--backend join|pool|spawn] [--options "OPTIONS of epop"]
                  [--program ledger|gauss|cannon] [--faults [--only FAULT] [--verbose]]

Ledger's job is one for all resizes. 40 times it is brought back to one rank and measured. Over the second half of these
measurements rank 0's memory over the number of tools that have attached, joining processes and epopctls, is fitted by a line,
whose slope has to be below RSS_KB_PER_TOOL; descriptors of rank 0 and processes of the job may not be more at the end than
in the middle. Of gauss, which ends and is started again, no
process may be left after each end.

--faults: in each resize a process is killed, or stopped for good, or stopped for a while, at a random moment, while others
ask the job for its state. tests/soaking/faults.py has what is done how often, and what may come of it. The seed chooses the
faults; when they strike is also a matter of the machine.
"""

import argparse
import pathlib
import random
import signal
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "run/helpers")]

from soaking import faults, growth  # noqa: E402
from soaking.run import PROGRAMS, Failed  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resizes", type=int, default=1000)
    parser.add_argument("--most", type=int, help="ranks; 16, for the pool 3")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--backend", default="join", choices=["join", "pool", "spawn"])
    parser.add_argument("--options", default="", metavar="OPTIONS", help="of epop: --leave park, or those of the backend spawn")
    parser.add_argument("--program", choices=sorted(PROGRAMS))
    parser.add_argument("--faults", action="store_true", help="in each resize; with the backends join and spawn")
    parser.add_argument("--only", metavar="FAULT", help="with --faults: such as 'pause rank'")
    parser.add_argument("--verbose", action="store_true", help="with --faults: a line for each resize")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # ends its jobs too
    most = options.most or (3 if options.backend == "pool" else 16)
    for program in [options.program] if options.program else ("ledger", "gauss"):
        with tempfile.TemporaryDirectory(prefix="epop-soak-") as directory:
            try:
                (faults if options.faults else growth).soak(directory, program, options, most)
            except (Failed, AssertionError) as failure:
                print(f"FAILED, seed {options.seed}: {failure}", flush=True)
                return 1
    print("all right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
