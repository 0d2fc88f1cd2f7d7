"""The gateway beside a job: what OpenPMIx's own tools and one of ours (tests/helpers/pmix_tool.c) hear from it, who may
attach, and its life."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import job
import pages
import pytest
from scenario import Scenario

TOOL = job.BUILD / "tests/helpers/pmix_tool"
GATEWAY = job.BUILD / "lib/epop/pmix-gateway"
pytestmark = pytest.mark.skipif(not GATEWAY.is_file(), reason="EPOP was built without OpenPMIx")

SUCCESS, BAD_PARAM, NOT_FOUND, NOT_SUPPORTED, NOT_AVAILABLE, TIMEOUT = 0, -27, -46, -47, -64, -24
CAME_OR_COMMITTED, WENT, SET_DEFINED, SET_DELETED, JOB_END = -3071, -201, -55, -56, -145


def version():
    command = ["pkg-config", "--modversion", "pmix"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(".")[0])


def gateways(space):
    """The pids of the servers, which are children of the processes that watch them."""
    pids = [pid for pid in space.processes() if "pmix-gateway" in space.command_line(pid)]
    return [pid for pid in pids if parent(pid) in pids]


def parent(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def address(directory):
    """The first line of the file; others are for tools."""
    file = directory / "uri"
    return (file.read_text().splitlines() or [""])[0] if file.is_file() else ""


class Tool:
    """One of ours, attached."""

    def __init__(self, space, uri, prefix=(), env=None):
        self.it = space.start([*prefix, TOOL, uri], stdin=subprocess.PIPE, env=env)
        self.seen = 0

    def attached(self, timeout=20):
        self.it.wait_for_line("^attached", timeout=timeout)
        return self

    def send(self, line):
        self.it.stdin.write(line + "\n")
        self.it.stdin.flush()

    def answer(self, timeout=30):
        """Status and values."""
        match, self.seen = self.it.wait_for_line(r"^answer (-?\d+) [A-Z_ -]+(.*)", timeout=timeout, start=self.seen)
        return int(match[1]), match[2].strip()

    def ask(self, line):
        self.send(line)
        return self.answer()

    def event(self, code, pattern=""):
        return self.it.wait_for_line(rf"^event {code} .*{pattern}.*")[0][0]

    def end(self):
        self.it.stdin.close()
        assert self.it.wait().status == 0


class Gateway:
    def __init__(self, space, **how):
        self.space = space
        self.job = Scenario(space, start=2, ranks=3, **how)
        self.directory = pathlib.Path(space.runtime, "epop", self.job.id + ".pmix")
        self.job.wait_until_here()
        self.uri_again()

    def uri_again(self):
        """Of the server that is there now."""
        def read():
            pids = gateways(self.space)
            uri = address(self.directory)
            return uri if pids and f"epop-gateway-{pids[0]}." in uri else None
        self.uri = job.wait_for(read)
        return self.uri

    def tool(self, **how):
        return Tool(self.space, self.uri, **how).attached()

    def run(self, *command, **env):
        return self.space.start(command, env=env).wait()


def split(gateway):
    """The names of two process sets of one process each."""
    client = gateway.space.start([job.BUILD / "tests/helpers/client", gateway.job.id], stdin=subprocess.PIPE)
    client.stdin.write(json.dumps({"op": "psets", "about": "split", "a": "mpi://WORLD", "parts": [1, 1]}) + "\n")
    client.stdin.close()
    return json.loads(client.wait().out.split(" ", 1)[1])["sets"]


@pytest.fixture(name="gateway")
def fixture_gateway(space):
    return Gateway(space)


@pytest.mark.parametrize("says,tried", [
    ("OpenPMIx 4.2.2rc2, repo rev: v4.2.2rc2, PMIx Standard: 4.1", True), ("OpenPMIx 5.0.7 (PMIx Standard: 5.1)", True),
    ("OpenPMIx 7.0rc1, repo rev: v7", False), ("PMIx 1", True)])
def test_a_version_of_openpmix_that_was_not_tried(space, says, tried):
    """Said by verbose jobs alone."""
    env = {"LD_PRELOAD": job.test_program("preload_version"), "EPOP_TEST_PMIX": says}
    words = "" if tried else "epop: note: EPOP's tests were not run with OpenPMIx 7.0, but with 4.2.2, "
    for option, said in (["--verbose"], words), ([], ""):
        result = space.start([GATEWAY, *option, "/nowhere/job-1.json"], env=env).wait()
        assert result.status == 0 and result.err.startswith(said) and bool(result.err) == bool(said), result


def test_a_verbose_job_asks_the_gateway_to_say_so(space):
    env = {"LD_PRELOAD": job.test_program("preload_version"), "EPOP_TEST_PMIX": "OpenPMIx 7.0.0", "EPOP_TEST_VERSION": "4.0.2"}
    it = Scenario(space, start=1, ranks=1, options=["--verbose"], env=env)
    it.it.wait_for_line("^epop: note: EPOP's tests were not run with OpenPMIx 7.0.0, ", stream="err")
    it.done("stop")
    assert it.it.wait().status == 0


# ---- The tools that come with it


def check_pps(gateway, result):
    """Namespaces by that of OpenPMIx 4 and 5, the job's processes by that of 7."""
    name = gateway.job.id
    assert result.status == 0 and re.search(rf"Active nspaces: {name},mpi://WORLD,|Namespace {name} \(2 processes\)",
                                            result.out + result.err), result


def test_pps(gateway):
    result = gateway.run("pps", PMIX_SYSTEM_TMPDIR=gateway.directory)
    check_pps(gateway, result)


@pytest.mark.skipif(version() != 5, reason="that of OpenPMIx 4.2.2 dies, and that of 7.0rc1 gives up, before it asks")
def test_pquery(gateway):
    result = gateway.run("pquery", "--uri", f"file:{gateway.directory}/uri", "PMIX_QUERY_NAMESPACES")
    assert result.status == 0 and gateway.job.id in result.out + result.err, result


@pytest.mark.skipif(not shutil.which("pctrl"), reason="there is none before OpenPMIx 5")
def test_pctrl(gateway):
    where = ["--uri", f"file:{gateway.directory}/uri", "--targets", gateway.job.id + ":*"]
    result = gateway.run("pctrl", *where, "--pause")
    assert result.status == 0, result
    gateway.job.wait_for_state("paused")
    result = gateway.run("pctrl", *where, "--resume")
    assert result.status == 0, result
    gateway.job.wait_for_state("running")


@pytest.mark.skipif(not shutil.which("palloc"), reason="there is none before OpenPMIx 5")
def test_palloc(gateway):
    gateway.job.resize(1)
    gateway.run("palloc", "--uri", f"file:{gateway.directory}/uri", "--extend", "--nodes", "1")
    assert gateway.job.status()["size"] == 2


def commands(marker):
    [block] = [block for block in pages.blocks(job.ROOT / "docs/reference/pmix.md") if block.marker == marker]
    return block.text


def test_the_page_does_what_it_says(gateway):
    path = f"{job.BUILD}/bin:{os.environ['PATH']}"
    result = gateway.run("sh", "-ec", commands("with a job"), PATH=path)
    check_pps(gateway, result)
    if shutil.which("palloc") and shutil.which("pctrl"):
        gateway.job.resize(1)
        gateway.run("sh", "-c", commands("with a job") + commands("with a job and OpenPMIx 5"), PATH=path)
        gateway.job.wait_for_status(lambda status: status["size"] == 2 and status["state"] == "paused")


def test_the_page_has_all_keys():
    """And no other."""
    source = "".join((job.ROOT / "gateway" / name).read_text() for name in ("query.c", "request.c"))
    page = (job.ROOT / "docs/reference/pmix.md").read_text()
    table = re.findall(r"\{(PMIX_\w+), \w+\}", source)
    queries = page.split("## Queries")[1].split("## Allocation requests")[0]
    told = re.findall(r"PMIX_\w+", " ".join(re.findall(r"^\| (`PMIX.*?) \|", queries, flags=re.M)))
    assert len(table) > 10 and sorted(table) == sorted(told)
    orders = set(re.findall(r"PMIX_JOB_CTRL_\w+|PMIX_ALLOC_NUM_\w+|PMIX_ALLOC_NODE_LIST", source))
    assert orders == set(re.findall(r"PMIX_JOB_CTRL_\w+|PMIX_ALLOC_NUM_\w+|PMIX_ALLOC_NODE_LIST", page))


# ---- Queries


def test_the_job(gateway):
    tool, name, status = gateway.tool(), gateway.job.id, gateway.job.status()
    host = status["processes"][0]["host"]
    code, text = tool.ask("query namespaces")
    assert code == SUCCESS and text.startswith(f'pmix.qry.ns="{name},'), text
    code, text = tool.ask("query namespace_info")
    assert code == SUCCESS and f'"{name}"' in text and f'"{status["path"]}"' in text and "pmix.job.size=2" in text
    table = " ".join(f"{name}.{it['process']}:{host}:{it['pid']}:5" for it in status["processes"] if it["rank"] >= 0)
    assert tool.ask(f"query proc_table nspace={name}") == (SUCCESS, f"pmix.qry.ptable=[{table}]")
    assert tool.ask(f"query local_proc_table nspace={name}") == (SUCCESS, f"pmix.qry.lptable=[{table}]")
    assert tool.ask(f"query proc_table nspace={name} hostname=elsewhere")[0] == NOT_FOUND
    assert tool.ask("query job_size") == (SUCCESS, "pmix.job.size=2")
    assert tool.ask("query job_size nspace=another")[0] == NOT_FOUND
    assert tool.ask("query node_list") == (SUCCESS, f'pmix.nlist="{host}"')
    assert tool.ask("query queue_list")[0] == NOT_SUPPORTED
    tool.end()


def test_sets(gateway):
    tool, name = gateway.tool(), gateway.job.id
    code, text = tool.ask("query pset_names")
    names = text.split('"')[1].split(",")
    assert code == SUCCESS and "mpi://WORLD" in names
    assert tool.ask("query num_psets") == (SUCCESS, f"pmix.qry.psetnum={len(names)}")
    assert tool.ask("query pset_membership pset_name=mpi://WORLD") == (
        SUCCESS, f"pmix.qry.pmems=[{name}.0 {name}.1]")
    assert tool.ask("query pset_membership pset_name=none")[0] == NOT_FOUND
    assert tool.ask("query pset_membership")[0] == BAD_PARAM
    tool.end()


def test_a_set_is_a_namespace(gateway):
    """Its processes have the job's names in it."""
    tool, name = gateway.tool(), gateway.job.id
    second = split(gateway)[1]
    names = tool.ask("query namespaces")[1].split('"')[1].split(",")
    assert names[0] == name and {"mpi://WORLD", second} <= set(names), names
    assert tool.ask(f"query job_size nspace={second}") == (SUCCESS, "pmix.job.size=1")
    assert tool.ask("query job_size nspace=mpi://WORLD") == (SUCCESS, "pmix.job.size=2")
    code, text = tool.ask(f"query proc_table nspace={second}")
    assert code == SUCCESS and text.startswith(f"pmix.qry.ptable=[{name}.1:") and f"{name}.0" not in text, text
    assert tool.ask(f"control @{second}.* pause")[0] == NOT_SUPPORTED
    assert tool.ask(f"control @{second}.* signal={int(signal.SIGSTOP)}")[0] == SUCCESS
    first, last = (it["pid"] for it in gateway.job.status()["processes"] if it["rank"] >= 0)
    job.wait_for(lambda: job.is_stopped(last))
    assert not job.is_stopped(first)
    assert tool.ask(f"control @{second}.* signal={int(signal.SIGCONT)}")[0] == SUCCESS
    job.wait_for(lambda: not job.is_stopped(last))
    tool.end()


# ---- Allocation


def test_resizes_by_number(gateway):
    tool = gateway.tool()
    assert tool.ask("query alloc_status") == (SUCCESS, 'pmix.query.alloc="none"')
    code, text = tool.ask("allocate extend cpus=1 req_id=more")
    assert code == SUCCESS and 'pmix.alloc.id="1"' in text and 'pmix.alloc.reqid="more"' in text and "job.size=3" in text
    assert tool.ask("query job_size") == (SUCCESS, "pmix.job.size=3")
    code, text = tool.ask("query alloc_status req_id=more")
    assert code == SUCCESS and "committed: 2 to 3 ranks (adaptation 1)" in text
    assert tool.ask("query alloc_status alloc_id=1") == (code, text)
    assert tool.ask("query alloc_status req_id=less")[0] == NOT_FOUND
    assert tool.ask("allocate release cpus=2")[0] == SUCCESS and gateway.job.status()["size"] == 1
    assert tool.ask("allocate extend nodes=1")[0] == SUCCESS and gateway.job.status()["size"] == 2
    tool.end()


def test_resizes_that_are_not(gateway):
    """Nothing changes; the job's reason stands in the status of a request that has a name."""
    tool = gateway.tool()
    assert tool.ask("allocate extend cpus=100 req_id=much")[0] == NOT_AVAILABLE
    code, text = tool.ask("query alloc_status req_id=much")
    assert code == SUCCESS and text.startswith('pmix.query.alloc="refused: '), text
    assert tool.ask("allocate release node_names=elsewhere")[0] == NOT_AVAILABLE
    assert tool.ask("allocate release nodes=1")[0] == NOT_AVAILABLE
    assert tool.ask("allocate extend")[0] == BAD_PARAM
    assert tool.ask("allocate extend node_names=pmix:n[1-3]")[0] == NOT_SUPPORTED
    assert tool.ask("allocate new cpus=1")[0] == NOT_SUPPORTED
    assert gateway.job.status()["size"] == 2 and gateway.job.status()["adaptations"] == []
    assert tool.ask("control pause")[0] == SUCCESS
    assert tool.ask("allocate extend cpus=1 timeout=1")[0] == TIMEOUT
    tool.end()


def test_by_names_of_hosts(space):
    """What the job is asked for."""
    from fake import FakeJob
    fake = FakeJob(space, resize={"ok": True, "code": "done", "adaptation": 7, "size": 5,
                                  "joined": [{"rank": 4, "host": "n3"}]})
    space.start([GATEWAY, fake.file]).wait()
    uri = job.wait_for(lambda: address(fake.directory / (fake.name + ".pmix")))
    tool = Tool(space, uri).attached()
    code, text = tool.ask("allocate extend node_names=n3,n4")
    assert code == SUCCESS and 'pmix.alloc.id="7"' in text and 'pmix.alloc.nlist="n3"' in text, text
    tool.ask("allocate release node_names=n3")
    fake.sees('"release_hosts"')
    asked = [request for request in fake.requests() if request["op"] == "resize"]
    assert asked == [{"op": "resize", "wait": True, "add_hosts": "n3,n4", "delta": 2},
                     {"op": "resize", "wait": True, "release_hosts": "n3"}]
    tool.end()
    fake.end()


# ---- Control


def test_control(gateway):
    tool, name = gateway.tool(), gateway.job.id
    assert tool.ask(f"control @{name}.* pause")[0] == SUCCESS
    assert gateway.job.status()["state"] == "paused"
    assert tool.ask("control resume")[0] == SUCCESS
    gateway.job.wait_for_state("running")
    assert tool.ask(f"control @{name}.1 pause")[0] == NOT_SUPPORTED
    assert tool.ask("control @another.* pause")[0] == NOT_FOUND
    assert tool.ask("control restart=1")[0] == NOT_SUPPORTED
    assert tool.ask("control signal=1000")[0] == BAD_PARAM
    assert tool.ask("control terminate")[0] == SUCCESS
    gateway.job.finish()


def test_a_signal(gateway):
    tool, name = gateway.tool(), gateway.job.id
    pid = next(process["pid"] for process in gateway.job.status()["processes"] if process["process"] == 1)
    assert tool.ask(f"control @{name}.1 signal={int(signal.SIGSTOP)}")[0] == SUCCESS
    job.wait_for(lambda: job.is_stopped(pid))
    assert tool.ask(f"control @{name}.1 signal={int(signal.SIGCONT)}")[0] == SUCCESS
    job.wait_for(lambda: not job.is_stopped(pid))
    assert tool.ask(f"control @{name}.77 signal=18")[0] == NOT_SUPPORTED
    tool.end()


def test_it_is_killed(gateway):
    tool = gateway.tool()
    tool.send("control kill")
    result = gateway.job.it.wait()
    assert result.failed and "a PMIx tool" in result.err, result


# ---- Events


def test_events(gateway):
    tool, name = gateway.tool(), gateway.job.id
    tool.ask("query job_size")
    gateway.job.resize(3)
    assert f'pmix.alloc.id="1" pmix.job.size=3' in tool.event(CAME_OR_COMMITTED, '"committed"')
    assert f"pmix.evproc={name}.2 " in tool.event(CAME_OR_COMMITTED, '"came"')
    tool.event(SET_DEFINED, f'"mpi://WORLD" pmix.pset.mems=.{name}.0 {name}.1 {name}.2.')
    gateway.job.resize(1)
    for process in (1, 2):
        tool.event(WENT, f"pmix.evproc={name}.{process} ")
    gateway.job.done("stop")
    tool.event(JOB_END)


def test_a_set_that_is_defined_between_resizes(gateway):
    tool, name = gateway.tool(), gateway.job.id
    tool.ask("query job_size")
    split(gateway)
    tool.event(SET_DEFINED, f"pmix.pset.mems=.{name}.1.$")
    tool.end()


# ---- Who may attach

AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
LIAR = [*AS_NOBODY, "unshare", "--user", "--map-root-user"]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


def possible(prefix):
    return subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode == 0


@as_root
@pytest.mark.parametrize("prefix", [AS_NOBODY, LIAR], ids=["says who it is", "says that it is us"])
def test_another_user_gets_nothing(gateway, tmp_path, prefix):
    if not possible(prefix):
        pytest.skip("not on this machine")
    copied = shutil.copy(TOOL, gateway.space.runtime + "/tool")
    os.chmod(gateway.space.runtime, 0o755)
    stranger = gateway.space.start([*prefix, copied, gateway.uri], stdin=subprocess.PIPE, cwd="/",
                                   env={"TMPDIR": "/tmp", "HOME": "/"})
    with pytest.raises(job.TimeLimit):
        stranger.wait_for_line("^attached", timeout=4)
    if stranger.running():
        stranger.kill()
    gateway.uri_again() # a server that cannot refuse makes room for another one
    tool = gateway.tool()
    assert tool.ask("query job_size") == (SUCCESS, "pmix.job.size=2")
    tool.end()


def test_nobody_else_reads_the_address(gateway):
    directory = pathlib.Path(gateway.space.runtime, "epop")
    assert directory.stat().st_mode & 0o77 == 0 and gateway.directory.resolve().parent == directory
    assert (gateway.directory / "uri").stat().st_mode & 0o77 == 0


def test_it_listens_on_loopback_alone(gateway):
    port = f"{int(gateway.uri.rsplit(':', 1)[1]):04X}"

    def read():
        lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()
        return [line.split()[1] for line in lines if line.split()[3] == "0A" and line.split()[1].endswith(port)]
    assert job.steady(read) == [f"0100007F:{port}"] and port not in [
        line.split()[1][-4:] for line in pathlib.Path("/proc/net/tcp6").read_text().splitlines()]


# ---- Its life


def test_it_dies_and_comes_back(gateway):
    """Three times a minute: then no more."""
    for _ in range(3):
        [pid] = gateways(gateway.space)
        os.kill(pid, signal.SIGKILL)
        job.wait_for(lambda: gateways(gateway.space) not in ([], [pid]))
        gateway.uri_again()
        tool = gateway.tool()
        answer = tool.ask("query job_size")
        assert answer == (SUCCESS, "pmix.job.size=2"), f"{answer} of {gateway.uri}, and now there is {gateways(gateway.space)}"
        tool.end()
    [pid] = gateways(gateway.space)
    os.kill(pid, signal.SIGKILL)
    job.wait_for(lambda: pid not in gateways(gateway.space))
    with contextlib.suppress(job.TimeLimit):
        job.wait_for(lambda: gateways(gateway.space), limit=3)
        assert gateway.job.status()["uptime"] > 60  # it was not the fourth time in a minute
    gateway.job.resize(3)
    gateway.job.stop(ranks=3, windows=1)


def test_what_is_asked_before_it_knows_the_job(gateway):
    """It was refused as unreachable, once in some hundred times when it had just come back."""
    rank = next(process["pid"] for process in gateway.job.status()["processes"] if process["rank"] == 0)
    [pid] = gateways(gateway.space)
    job.send_signal(rank, signal.SIGSTOP)  # the job does not answer it
    os.kill(pid, signal.SIGKILL)
    job.wait_for(lambda: gateways(gateway.space) not in ([], [pid]))
    gateway.uri_again()
    tool = gateway.tool()
    tool.send("query job_size")
    with pytest.raises(job.TimeLimit):
        tool.answer(timeout=1)
    os.kill(rank, signal.SIGCONT)
    assert tool.answer() == (SUCCESS, "pmix.job.size=2")
    tool.end()
    gateway.job.stop(ranks=2, windows=0)


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_it_ends_with_the_job(gateway, end):
    if end == "stop":
        gateway.job.stop()
    else:
        os.kill(gateway.job.pid, signal.SIGKILL)
        gateway.job.it.wait()
    directory = gateway.directory.resolve() if gateway.directory.exists() else None
    job.wait_for(lambda: not [pid for pid in gateway.space.processes() if "pmix-gateway" in gateway.space.command_line(pid)])
    assert not gateway.directory.is_symlink() and not (directory and directory.exists())


def test_one_that_is_killed_leaves_nothing_for_long(gateway):
    """Who looks for jobs removes what shows the way to it, once the job's own file is gone."""
    def left():
        return [pid for pid in gateway.space.processes() if "pmix-gateway" in gateway.space.command_line(pid)]
    for pid in left():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    job.wait_for(lambda: not left())
    gateway.space.epopctl("list")
    assert gateway.directory.is_symlink()
    gateway.job.stop()
    assert gateway.directory.is_symlink()
    gateway.space.epopctl("list")
    assert not gateway.directory.is_symlink()


def test_it_has_nothing_of_the_job(gateway):
    """No output of it, and no connection but its own."""
    outputs = {os.readlink(f"/proc/{gateway.job.pid}/fd/{fd}") for fd in (1, 2)}
    for pid in [pid for pid in gateway.space.processes() if "pmix-gateway" in gateway.space.command_line(pid)]:
        held = set()
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                held.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
        assert not held & outputs, held
        assert parent(pid) != gateway.job.pid
    gateway.job.stop()


def test_without_it(space):
    it = Scenario(space, start=2, ranks=2, options=["--no-pmix"])
    it.wait_until_here()
    it.stop()
    assert gateways(space) == [] and not list(pathlib.Path(space.runtime, "epop").glob("*.pmix"))


def test_programs_are_not_linked_with_it():
    for name in ("lib/libepop.so.0", "bin/epop", "bin/epopctl"):
        needed = subprocess.run(["objdump", "-p", job.BUILD / name], capture_output=True, text=True, check=True).stdout
        assert "libpmix" not in needed, name
