"""The four elastic MPI calls: plain executables that are resized, in all usual shapes; and the same calls under epop."""

import re

import job
import joining
import pytest

from executables import LIB, LINKED, PRELOADED, compile_c, compile_cxx, go_through, loop, mpi_libraries, source, start  # noqa: F401

HEAT = job.BUILD / "plain/heat_adapt"


# ---- Executables that grow and shrink -------------------------------------------------------


@joining.needed
@pytest.mark.parametrize("shape", ["start straight", "end straight", "start probe", "end probe", "start loop"])
@pytest.mark.parametrize("when", ["early", "late"])
def test_every_shape(space, loop, shape, when):
    """A resize follows the other at once: new processes are at their first probes then."""
    result = go_through(space, [loop, *shape.split(), when], (3, 4, 2, 3, 1))
    assert result.out.count("a process returns from main") == 4, result


@joining.needed
def test_cxx(space):
    binary = compile_cxx(source("adapt_loop"), space.directory / "loop")
    go_through(space, [binary, "start"], (3, 1, 2))


@joining.needed
def test_preloaded(space):
    """An executable that does not know where the library is, and is linked the wrong way round on top of it."""
    binary = compile_c(source("adapt_loop"), space.directory / "loop", "-Wl,--no-as-needed", *mpi_libraries(),
                       f"-L{LIB}", "-lepop_mpi", f"-Wl,-rpath-link,{LIB}")
    assert space.start([job.MPIEXEC, "-n", 1, binary, "end"]).wait().status == 127
    go_through(space, [binary, "end"], (3, 1), env={"LD_PRELOAD": PRELOADED})


@joining.needed
def test_others_leave_than_the_last(space, loop):
    end = space.directory / "end"
    running = start(space, loop, end, "start", ranks=3)
    space.resize(2, "--release-ranks", "1")
    space.resize(3)
    space.resize(3, "--release-ranks", "1")
    end.touch()
    result = running.wait()
    assert result.status == 0 and "right at the end, 3 processes" in result.out, result


def test_balances(space, loop):
    """MPI_Probe_adapt tells of an adaptation to the same size."""
    end = space.directory / "end"
    running = start(space, loop, end, "start", ranks=3)
    for _ in range(3):
        done = space.epopctl("balance", "--wait")
        assert done.status == 0, done
    if joining.WORKS:
        space.resize(4)
    space.resize(2)
    assert space.epopctl("balance", "--wait").status == 0
    end.touch()
    result = running.wait()
    assert result.status == 0 and "right at the end, 2 processes" in result.out, result


@joining.needed
def test_a_resized_example_computes_what_a_plain_one_does(space):
    rod = (20000, 150000) # cells, steps
    running = start(space, HEAT, *rod)
    for ranks in (3, 1, 2): # while it stands still, so that it does not end before, however fast it is
        assert space.epopctl("pause").status == 0
        assert space.epopctl("resize", ranks).status == 0
        space.wait_for_status(lambda it: it["adaptations"][-1]["state"] == "prepared")
        assert space.epopctl("resume").status == 0
        space.wait_for_status(lambda it, ranks=ranks: it["size"] == ranks)
    resized, plain = running.wait(), space.start([job.MPIEXEC, "-n", 1, HEAT, *rod], limit=300).wait()
    assert resized.status == plain.status == 0, (resized, plain)
    numbers = [re.match(r"(heat [\d.]+, spread [\d.]+ after 150000 steps), (\d) processes\n$", result.out)
               for result in (resized, plain)]
    assert numbers[0].group(1) == numbers[1].group(1) and numbers[0].group(2) == "2", (resized, plain)


@joining.needed
def test_a_joining_process_aborts_before_it_is_connected(space, loop):
    """The others run on, and the next resize works. What it printed before is there, each time. (MPICH's own line may be
    lost: mpiexec ends as soon as it hears of an abort.)"""
    times = 10
    end, abort = space.directory / "end", space.directory / "end.abort"
    running = start(space, loop, end, "start")
    abort.touch()
    for _ in range(times):
        refused = space.epopctl("resize", 3, "--wait")
        assert refused.status == 1 and space.status()["size"] == 2, refused
    abort.unlink()
    space.resize(3)
    end.touch()
    result = running.wait()
    if "openmpi" in job.MPIEXEC:  # which may lose what an aborting process printed
        assert result.status == 0 and result.out.endswith("right at the end, 3 processes\n"), result
        return
    assert result.status == 0 and result.out == "aborts (out)\n" * times + "right at the end, 3 processes\n", result
    others = re.sub(r"(?m)^(Abort.* comm 0\): )?application called MPI_Abort\(MPI_COMM_WORLD, 5\) - process 0\n", "", result.err)
    assert others == "aborts (err)\n" * times, result


@joining.needed
@pytest.mark.parametrize("variable", ["LEAVE_WITH", "FORGETS"])
@pytest.mark.parametrize("left_with", [3, 255])
def test_status_of_a_process_that_left_is_its_own(space, loop, left_with, variable):
    """One of the first launch, and one that joined; they return it from main, or call exit() without MPI_Finalize."""
    end = space.directory / "end"
    running = start(space, loop, end, "start", env={variable: left_with})
    space.resize(1)
    space.resize(3)
    space.resize(2)
    end.touch()
    result = running.wait()
    assert result.status == 0 and "right at the end, 2 processes" in result.out and result.err == "", result


@joining.needed
@pytest.mark.parametrize("end_with", [3, 255])
def test_status_of_a_joined_process_of_the_last_world_is_the_jobs(space, loop, end_with):
    end = space.directory / "end"
    running = start(space, loop, end, "start", env={"END_WITH": end_with})
    space.resize(4)
    space.resize(3)
    end.touch()
    result = running.wait()
    assert result.status == end_with and "right at the end, 3 processes" in result.out, result
    assert result.err == (f"epop: note: a launcher of joining processes ended with status {end_with}; so does the "
                          "job\n"), result


@joining.needed
def test_begin_by_a_status_of_the_past(space, loop):
    """A process that joined, and still goes by what MPI_Init_adapt said: an error of its own, which ends the job."""
    running = start(space, loop, space.directory / "end", "start", ranks=1, env={"STALE": 1})
    assert space.epopctl("resize", 2, "--wait").out is not None
    result = running.wait()
    assert result.status != 0 and "epop: MPI_Comm_adapt_begin: no adaptation is pending; call it" in result.err, result


@joining.needed
@pytest.mark.parametrize("arguments, env", [((), {"EPOP_SIZES": "2,4,7,preferred=4,weak"}), (("2,4,7,preferred=4,weak",), {"EPOP_SIZES": "odd"})])
def test_sizes_that_it_accepts(space, sizes, arguments, env):
    """By the environment, or by itself, which counts more. Requests are rounded down."""
    running = start(space, sizes, *arguments, env=env)
    status = space.status()
    rule = status["sizes"]
    assert status["elements"][0]["scaling"] == "weak", status
    assert (rule["text"], rule["preferred"], rule["accepted"]) == ("2, 4 and 7", 4, [2, 4, 7]), rule
    space.epopctl("resize", 6, "--wait")
    assert space.status()["size"] == 4
    refused = space.epopctl("resize", 1, "--wait")
    assert refused.status == 1 and "accepts neither 1 ranks nor any smaller" in refused.err and space.status()["size"] == 4, refused
    space.resize(2)
    assert space.stop(running).out == "begins with 2\n"


# ---- Where no processes can be started, too ------------------------------------------------------


@pytest.fixture(scope="module", name="sizes")
def fixture_sizes(tmp_path_factory):
    return compile_c(source("sizes"), tmp_path_factory.mktemp("sizes") / "sizes", *LINKED)


@pytest.mark.parametrize("rule, ranks, said", [
    ("power-of-two", 3, "sizes does not accept 3 ranks, but powers of two; start it with -n 2"),
    ("4-", 2, "sizes does not accept 2 ranks, but any size, at least 4; start it with a larger number"),
    ("4-,square", 2, "sizes does not accept 2 ranks, but squares, at least 4; start it with a larger number"),
    ("primes", 2, "EPOP_SIZES is 'primes', which is no size rule: of any, even, odd, square, power-of-two or multiple:N one, "
                  "numbers and ranges as 2,4,8 or 4-64, preferred=N, and weak or weak-work, separated by commas"),
    ("2,4,preferred=3", 2, "EPOP_SIZES is '2,4,preferred=3', which does not accept the number that it prefers")])
def test_sizes_that_it_does_not_accept(space, sizes, rule, ranks, said):
    result = space.start([job.MPIEXEC, "-n", ranks, sizes], env={"EPOP_SIZES": rule}).wait()
    assert result.status == 1 and result.out == "" and result.err == f"epop: {said}\n", result


def test_a_rule_of_its_own_that_is_none(space, sizes):
    result = space.start([job.MPIEXEC, "-n", 1, sizes, "2;4"]).wait()
    assert result.status == 3 and result.out == "", result
    assert result.err.startswith("epop: epop_mpi_sizes: the rule is '2;4', which is no size rule: of any, even"), result


def test_a_script(space):
    """Of an interpreter: the job is called by its name, and a stop is not the end of the process."""
    running = start(space, compile_c(source("script"), space.directory / "interpreter", *LINKED))
    status = space.status()
    assert re.fullmatch(r"simulation-\d+", status["job"]) and status["program"] == "simulation", status
    result = space.stop(running)
    assert result.out == "it goes on to its end\n" * 2 and result.err == "", result


def test_a_script_is_named_before_the_job_begins(space):
    running = start(space, compile_c(source("script"), space.directory / "interpreter", *LINKED), "late", ranks=1)
    result = space.stop(running)
    assert result.out == "it goes on to its end\n" and result.err == "epop: epop_mpi_script: it was called after MPI_Init_adapt\n", result


def test_shrink(space, loop):
    """By every MPI library under Hydra: leaving processes end for real while the other goes on."""
    end = space.directory / "end"
    running = start(space, loop, end)
    pids = [process["pid"] for process in space.status()["processes"]]
    space.resize(1)
    running.wait_for_line("a process returns from main")
    assert [process["pid"] for process in space.status()["processes"]] == pids[:1]
    end.touch()
    result = running.wait()
    assert result.status == 0 and "right at the end, 1 processes" in result.out and "WRONG" not in result.out, result


@pytest.mark.parametrize("variable", ["LEAVE_WITH", "FORGETS"])
def test_status_after_a_shrink(space, loop, variable):
    """A process of the first launch left: as without a status."""
    end = space.directory / "end"
    running = start(space, loop, end, env={variable: 3})
    space.resize(1)
    end.touch()
    result = running.wait()
    assert result.status == 0 and "right at the end, 1 processes" in result.out and result.err == "", result


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("variable, what", {"EXIT_RANK": "called exit(0), or returned from main, before MPI_Finalize",
                                            "ABORT_RANK": "called MPI_Abort with code 0"}.items())
def test_exit_while_the_job_runs(space, loop, variable, what, rank):
    result = space.start([job.MPIEXEC, "-n", 2, loop, space.directory / "end"], env={variable: rank}).wait()
    assert result.status == 1 and result.err == f"epop: rank {rank} {what}\n", result


@pytest.mark.parametrize("rank", [0, 1])
def test_quick_exit_while_the_job_runs(space, loop, rank):
    result = space.start([job.MPIEXEC, "-n", 2, loop, space.directory / "end"], env={"QUIT_RANK": rank}).wait()
    assert result.status != 0 and f"epop: rank {rank} called _exit(0) before MPI_Finalize\n" in result.err, result


def test_growth_is_refused_with_the_reason(space, loop):
    if joining.WORKS:
        pytest.skip("this MPI can connect processes")
    running = start(space, loop, space.directory / "end", ranks=1)
    refused = space.epopctl("resize", "2", "--wait")
    assert refused.status == 1 and "cannot connect processes at run time" in refused.err, refused
    (space.directory / "end").touch()
    assert running.wait().status == 0


def test_stop(space, loop):
    running = start(space, loop, space.directory / "end")
    result = space.stop(running)
    assert result.out == result.err == "", result


def test_nothing_is_asked_of_it(space, loop):
    (space.directory / "end").touch()
    result = space.start([job.MPIEXEC, "-n", 2, loop, space.directory / "end"]).wait()
    assert result.status == 0 and result.out == "right at the end, 2 processes\n" and result.err == "", result


def test_without_a_launcher(space, loop):
    (space.directory / "end").touch()
    result = space.start([loop, space.directory / "end"]).wait()
    assert result.status == 0 and result.out == "right at the end, 1 processes\n", result


def test_its_progress_is_told(space):
    start(space, HEAT, 1000, 10**12)
    status = space.wait_for_status(lambda it: it["progress"] and it["progress"]["bound"] and "seconds" in it["next"])
    assert status["progress"]["bound"] == 10**12 and status["next"]["type"] == "END", status
    assert 10**12 - status["next"]["iterations"] == status["progress"]["iteration"] > 0, status
    assert space.epopctl("stop").status == 0


# ---- What is wrong is said -----------------------------------------------------------------------


def test_wrong_order_of_linking(space):
    binary = compile_c(source("adapt_loop"), space.directory / "loop", "-Wl,--no-as-needed", *mpi_libraries(), *LINKED)
    result = space.start([job.MPIEXEC, "-n", 2, binary, "end"]).wait()
    assert result.status == 1 and result.err.count("epop: MPI_Init_adapt: MPI's functions are found in") == 1, result
    assert "put -lepop_mpi before MPI's libraries" in result.err


def test_calls_in_the_wrong_place(space):
    binary = compile_c(source("adapt_wrong"), space.directory / "wrong", *LINKED)
    result = space.start([job.MPIEXEC, "-n", 1, binary]).wait()
    assert result.status == 0 and result.out.splitlines() == [
        "probe before init: other", "begin before init: other", "init: success", "init again: other",
        "probe without a status: argument", "probe: success", "begin without an adaptation: other",
        "begin without a place: argument", "commit without begin: other",
        "described without a description: other", "description without a block: argument", "description: success",
        "described without an adaptation: other",
        "progress before the begin: argument", "progress behind the end: argument", "progress: success", "pending 0, status 4",
        "probe after the end: other"], result
    assert result.err.count("epop: MPI_") == 9 and result.err.count("epop: epop_mpi_") == 4, result


def test_redistribution_where_no_window_is_open(space):
    """Of a window that was closed, the communicators are gone: MPI would end the job with a line about a handle."""
    running = start(space, compile_c(source("adapt_shut"), space.directory / "shut", *LINKED))
    space.epopctl("resize", 1)
    result = running.wait()
    assert result.status == 0 and sorted(result.out) == sorted("all refused\n" * 2), result  # both ranks at once
    assert result.err.count("epop: epop_redist_replicated: no window is open; call it between begin and commit") == 6
    assert result.err.count("epop: MPI_Comm_adapt_begin: a window is open already; commit it before") == 2, result


# ---- In a program under epop -----------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["pool", pytest.param("join", marks=joining.needed)])
def test_program_under_epop(space, backend):
    """Rank 1 leaves and joins again; MPI_Finalize of the program is not that of the process."""
    options = ["--start", "1"] if backend == "pool" else []
    running = space.start_epop("--backend", backend, *options, job.program("elastic_mpi"), 100000000, ranks=2)
    space.wait_until_running(running)
    for size in (2, 1, 2) if backend == "pool" else (1, 2):
        space.resize(size)
    result = space.stop(running)
    assert re.fullmatch(r"\d+ turns, at the end on 2 ranks\n", result.out), result


def test_program_under_epop_that_is_left_alone(space):
    result = space.epop(job.program("elastic_mpi"), 10, ranks=2)
    assert result.status == 0 and result.out == "10 turns, at the end on 2 ranks\n" and result.err == "", result
