"""Two hosts on this machine for benchmarks between them: network namespaces, which root can make. What one sends to the other
goes through the kernel's TCP and a bridge, and both share the machine's cores."""
import contextlib
import pathlib
import subprocess
import sys
import tempfile

from jobs import results_in

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = ("n1", "n2")


@contextlib.contextmanager
def two_hosts():
    """A function that gives the JSON lines which a command prints on so many ranks, the first half of them on one host; nothing
    where no hosts can be made."""
    sys.path.insert(0, str(ROOT / "tests/run/helpers"))
    import hosts  # not needed by the other benchmarks
    import job
    with tempfile.TemporaryDirectory() as directory:
        space = job.Space(directory)
        try:
            net = hosts.Hosts(space, NAMES)
        except hosts.Unavailable as why:
            print(f"   no hosts: {why}", file=sys.stderr)
            net = None
        launcher = ["-launcher", "ssh", "-launcher-exec", hosts.START]

        def printed(mpiexec, ranks, *command, limit=300):
            done = net.start(NAMES[0], [mpiexec, *launcher, "-hosts", ",".join(NAMES), "-ppn", str(ranks // 2), "-n", str(ranks),
                                        *command], limit=limit).wait()
            if done.status:
                raise subprocess.CalledProcessError(done.status, list(map(str, done.command)))
            return results_in(done.out)
        try:
            yield printed if net else None
        finally:
            space.close()
