"""The tuning driver: whole jobs with the settings that a program has, with the search in them, and with what was found from the
start. A job's time is that of its mpiexec, with all that belongs to it."""
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

CASES = {
    "gauss, as it is": (2, (), ("gauss", "--random", 8000, "--json")),
    "gauss, panels too narrow": (2, (), ("gauss", "--random", 8000, "--width", 8, "--json")),
    "gauss, nothing to gain": (2, ("--cvar", "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM=0,1,2"), ("gauss", "--random", 8000, "--block", 8, "--json")),
    "cannon, as it is": (1, (), ("cannon", "--random", 1024, "--repeat", 100, "--json")),
    "cannon, panels too narrow": (1, (), ("cannon", "--random", 1024, "--repeat", 100, "--panel", 16, "--json")),
    "cannon, 1 or 4 ranks": (4, ("--start", 1, "--sizes", "1,4"), ("cannon", "--random", 2048, "--repeat", 40, "--json")),
}


def run(build, mpiexec, ranks, options, program):
    """Seconds of the job."""
    name, *arguments = program
    begin = time.monotonic()
    subprocess.run([str(mpiexec), "-n", str(ranks), str(build / "bin/epop"), "--quiet", *map(str, options),
                    str(build / "lib/epop/examples" / f"{name}.so"), *map(str, arguments)], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, timeout=600, env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
    return time.monotonic() - begin


def split(options):
    """epop's own, and those of the driver."""
    own = options[:2] if "--start" in options else ()
    return own, options[len(own):]


def chosen(found):
    """What it changed, in words."""
    changes = [f"{each['name']} {each['default']} -> {each['value']}" for each in found["settings"] if each["value"] != each["default"]]
    if len(found["speeds"]) > 1:
        changes.append(f"ranks {found['ranks']}")
    return ", ".join(changes) or "nothing"


def bench_case(build, mpiexec, case, rounds, note, quick):
    ranks, options, program = CASES[case]
    if quick:
        program = [512 if argument in (8000, 1024, 2048) else 20 if argument == 100 else argument for argument in program]
    own, tuning = split(options)
    found, seen = None, []
    with tempfile.TemporaryDirectory(dir=build / "bench") as directory:
        file = pathlib.Path(directory) / "tuned.json"
        for _ in range(rounds):
            plain = run(build, mpiexec, ranks, own, program)
            tuned = run(build, mpiexec, ranks, (*own, "--driver", "tune", *tuning, "--tune-output", file), program)
            found = json.loads(file.read_text())
            again = run(build, mpiexec, ranks, (*own, "--tuned", file), program)
            seen.append((plain, tuned, again, found))
    middle = sorted(seen, key=lambda each: each[1] / each[0])[len(seen) // 2]
    note(bench="tune", case=case, ranks=ranks, plain_s=statistics.median(each[0] for each in seen),
         tuned_s=statistics.median(each[1] for each in seen), again_s=statistics.median(each[2] for each in seen),
         ratio=statistics.median(each[1] / each[0] for each in seen), again_ratio=statistics.median(each[2] / each[0] for each in seen),
         share=statistics.median(each[3]["share"] for each in seen), most_share=max(each[3]["share"] for each in seen),
         runs=middle[3]["runs"], found=chosen(middle[3]), sure=sum(each[3]["sure"] for each in seen), rounds=rounds)


def bench(build, mpiexec, quick, note):
    for case in CASES:
        bench_case(build, mpiexec, case, 1 if quick else 3, note, quick)
