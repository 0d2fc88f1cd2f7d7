"""epop's command line, finding programs, launching, and drivers."""

import json
import os
import re
import shutil
import subprocess

import job
import pytest

SERIAL = job.program("serial")
TRACE = job.test_program("driver_trace")


def expect_usage_error(result, text):
    assert result.status == 2 and result.out == "", result
    assert re.fullmatch(r"epop: [^\n]*\(see epop --help\)\n", result.err), result
    assert text in result.err


# ---- Options ----

USAGE = [
    ([], "no program"),
    (["--quiet"], "no program"),
    (["--bogus", SERIAL], 'unknown option "--bogus"'),
    (["-x", SERIAL], 'unknown option "-x"'),
    (["--format", "json", "--driver", "check", SERIAL], 'unknown option "--format"; options of a driver come after'),
    (["--start"], "--start needs a value: N"),
    (["--start", "0", SERIAL], '--start: "0" is no whole number from 1 on'),
    (["--start=-1", SERIAL], '"-1" is no'),
    (["--start", "2x", SERIAL], '"2x" is no'),
    (["--start", "99999999999", SERIAL], '"99999999999" is no'),
    (["--start", "", SERIAL], '"" is no'),
    (["--prepare-timeout", "soon", SERIAL], '--prepare-timeout: "soon" is no time, as 30, 30s, 10m or 1h'),
    (["--min-interval", "-1", SERIAL], '--min-interval: "-1" is no time'),
    (["--finish-timeout", "nan", SERIAL], '--finish-timeout: "nan" is no time'),
    (["--prep", "inf", SERIAL], '--prepare-timeout: "inf" is no time'),
    (["--prep", "0x10", SERIAL], '--prepare-timeout: "0x10" is no time'),
    (["--driver", "trace", "--trace-buffer", "0x100M", SERIAL], "refuses --trace-buffer 0x100M"),
    (["--driver", "profile", "--checkpoint", "0x1", SERIAL], "refuses --checkpoint 0x1"),
    (["--driver", "nothing", SERIAL], "no driver 'nothing'"),
    (["--driver", "", SERIAL], "no driver ''"),
    (["--driver", "run,run", SERIAL], "'run' is named twice"),
    (["--driver", "check", "--driver", "check", SERIAL], "'check' is named twice"),
    (["--quiet=yes", SERIAL], "--quiet takes no value"),
]


@pytest.mark.parametrize("arguments,text", USAGE, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_usage_error(space, arguments, text):
    expect_usage_error(space.epop(*arguments), text)


def test_one_line_for_a_whole_launch(space):
    expect_usage_error(space.epop("--bogus", SERIAL, ranks=3), "--bogus")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["--driver", "check", SERIAL]], ids=lambda words: words[0])
def test_what_is_printed_has_to_get_there(space, arguments):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run([job.BUILD / "bin/epop", *arguments], stdout=full, stderr=subprocess.PIPE, text=True,
                                env=space.environment(), timeout=60, check=False)
    assert (result.returncode, result.stderr) == (1, "epop: cannot write to the standard output\n")


def test_help(space):
    result = space.epop("--help")
    assert result.status == 0 and result.err == "", result
    for word in ("Usage:", "--start N", "--backend auto|join|pool|spawn", "--driver NAME,...", "--prepare-timeout SECONDS",
                 "--min-interval SECONDS", "--finish-timeout SECONDS", "-q, --quiet", "-v, --verbose", "--version",
                 "-h, --help", "Drivers:", "  run ", "  check ", "Examples:", "Exit status:"):
        assert word in result.out, word
    assert "--format" not in result.out
    assert max(map(len, result.out.splitlines())) <= 120


@pytest.mark.parametrize("order", [["--help", "--driver", "check"], ["--driver", "check", "-h"]], ids=str)
def test_help_of_a_driver(space, order):
    result = space.epop(*order)
    assert result.status == 0 and "--format text|json|dot" in result.out, result


def test_version(space):
    result = space.epop("--version")
    assert result.status == 0, result
    assert re.match(r"epop \d+\.\d+\.\d+ .*\nMPICH \d[^ ]*, device \S+; built with MPICH \d", result.out), result


@pytest.mark.parametrize("text,said", [
    ("MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7 12:34:45 CDT 2022\nMPICH Device:       ch3:sock\n", "MPICH 4.0.2, device ch3:sock"),
    ("MPICH Version:\t4.0.2\nMPICH Release date:\t", "MPICH 4.0.2, device unknown"),
    ("Open MPI v6.0.0rc2, package: Debian OpenMPI\nmore", "Open MPI 6.0.0rc2, device unknown"),
    ("Another MPI, version 3\nmore", "Another MPI, version 3, device unknown"),
    ("", ", device unknown")])
def test_what_the_mpi_library_says_of_itself(space, text, said):
    """With what is between key and value, and of a library that is not MPICH."""
    result = space.epop("--version", env={"LD_PRELOAD": job.test_program("preload_version"), "EPOP_TEST_LIBRARY": text})
    assert result.status == 0 and re.search(rf"\n{re.escape(said)}; built with MPICH \d\S*\n$", result.out), result


@pytest.mark.parametrize("version,tried", [("4.0.2", True), ("4.0.20", False), ("4.1.2", False), ("6.0.0rc1", False)])
def test_a_version_of_mpich_that_was_not_tried(space, version, tried):
    """Said where somebody asks, and in no other job."""
    env = {"LD_PRELOAD": job.test_program("preload_version"), "EPOP_TEST_VERSION": version}
    words = f"EPOP's tests were not run with MPICH {version}, but with 4.0.2, "
    assert (words in space.epop("--version", env=env).out) == (not tried)
    for verbose in (True, False):
        result = space.epop(*["--verbose"] * verbose, job.program("rigid"), ranks=2, env=env)
        assert result.status == 0 and result.err.count(f"epop: note: {words}") == (verbose and not tried), result


def test_arguments_of_the_program_are_untouched(space):
    program = job.test_program("arguments")
    words = ["--help", "-x", "--", "a b", ""]
    result = space.epop("--quiet", program, *words)
    assert result.status == 0, result
    assert result.out.splitlines() == [f"{i}={word}" for i, word in enumerate([program, *words])]


def test_double_dash_ends_the_options(space):
    result = space.epop("--quiet", "--", job.test_program("arguments"), "--version")
    assert result.out.splitlines()[1:] == ["1=--version"], result


# ---- Finding the program ----

def test_bare_name_in_the_current_directory(space):
    shutil.copy(SERIAL, space.directory / "mine.so")
    assert "square root of 9 is 3 " in space.epop("mine.so", "9").out


@pytest.mark.parametrize("name", ["serial", "serial.so"])
def test_bare_name_of_an_installed_program(space, name):
    assert "square root of 16 is 4 " in space.epop(name, "16").out


def test_the_current_directory_comes_first(space):
    shutil.copy(job.test_program("arguments"), space.directory / "serial.so")
    assert space.epop("serial.so").out.startswith("0=")


def test_a_library_of_the_system_is_not_found_by_a_bare_name(space):
    result = space.epop("libm.so.6")
    assert result.status == 2 and "no such file here" in result.err, result


def test_a_link_to_epop_finds_the_installed_programs(space):
    (space.directory / "link").symlink_to(job.BUILD / "bin/epop")
    assert space.epop("serial", epop=space.directory / "link").status == 0


# ---- Launching ----

def test_a_program_without_mpi_starts_nothing(space):
    result = space.epop(SERIAL, "2", env={"EPOP_MPIEXEC": "/nowhere/mpiexec"})
    assert result.status == 0 and result.err == "", result
    assert result.out.startswith("the square root of 2 is 1.4142135623730")


def test_a_program_without_mpi_never_initializes_it(space):
    """MPI would complain about this device if it were initialized."""
    assert space.epop(SERIAL, env={"MPIR_CVAR_CH4_NETMOD": "nonsense"}).status == 0


def test_a_program_without_mpi_under_a_launcher(space):
    result = space.epop(SERIAL, "4", ranks=3)
    assert result.status == 0 and result.out.count("square root of 4 is 2") == 3, result
    assert result.err.count("does not use MPI") == 1, result
    assert space.epop("--quiet", SERIAL, "4", ranks=2).err == ""


def test_a_program_with_mpi_is_started_again_under_mpiexec(space):
    result = space.epop("rigid", "1000")
    assert result.status == 0 and result.out.startswith("pi is about 3.14159"), result
    assert result.err == f"epop: started without a launcher: running under '{job.MPIEXEC} -n 1'\n", result


FOREIGN = {"the launcher of Open MPI": ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
           "srun, without PMI,": ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID")}


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("command", [[str(job.BUILD / "bin/epop"), job.program("ledger")], [str(job.BUILD / "plain/heat_adapt")]], ids=["epop", "executable"])
@pytest.mark.parametrize("name", FOREIGN)
def test_under_a_launcher_that_mpich_does_not_know(space, name, command, rank):
    size_name, rank_name = FOREIGN[name]
    result = space.start(command, env={size_name: "3", rank_name: str(rank)}).wait()
    line = f"epop: {name} started 3 processes, which to MPICH are as many jobs of one rank; start them with '{job.MPIEXEC}'\n"
    assert result.status in (1, 2) and result.out == "" and result.err == ("" if rank else line), result


@pytest.mark.parametrize("name", FOREIGN)
def test_alone_under_a_launcher_that_mpich_does_not_know(space, name):
    size_name, rank_name = FOREIGN[name]
    result = space.start([str(job.BUILD / "bin/epop"), "--quiet", job.program("rigid")], env={size_name: "1", rank_name: "0"}).wait()
    assert result.status == 0 and result.err == "", result


def test_the_relaunch_keeps_options_arguments_and_status(space):
    result = space.epop("--quiet", "rigid.so", "-5")
    assert result.status == 1 and "'start' (INIT)" in result.err, result
    assert "launcher" not in result.err


def test_chosen_launcher(space):
    script = space.directory / "launcher"
    script.write_text("#!/bin/sh\necho with: \"$@\"\nexec " + job.MPIEXEC + ' "$@"\n')
    script.chmod(0o755)
    result = space.epop("rigid", "1000", env={"EPOP_MPIEXEC": script})
    assert result.status == 0, result
    assert f"with: -n 1 {job.BUILD / 'bin/epop'} rigid 1000\n" in result.out


@pytest.mark.parametrize("launcher", ["nowhere-mpiexec", "/nowhere/mpiexec", "/tmp", "/etc/passwd"])
def test_missing_launcher(space, launcher):
    result = space.epop("rigid", env={"EPOP_MPIEXEC": launcher})
    assert result.status == 2, result
    assert result.err == f"epop: the program uses MPI and the launcher '{launcher}' is not found; " \
                         "set EPOP_MPIEXEC to it\n"


def test_a_launcher_that_is_none_does_not_loop(space):
    script = space.directory / "launcher"
    script.write_text("#!/bin/sh\nshift 2\nexec \"$@\"\n")
    script.chmod(0o755)
    result = space.epop("rigid", env={"EPOP_MPIEXEC": script})
    assert result.status == 2 and "is it the launcher of MPI?" in result.err, result


def test_program_with_mpi_in_a_library(space):
    """The program refers to no MPI function, its library does."""
    source = space.directory / "helper.c"
    source.write_text("int PMPI_Barrier(int); int help(void); int help(void) { return PMPI_Barrier(0); }\n")
    helper, program = space.directory / "libhelper.so", space.directory / "program.so"
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", helper, "-Wl,-soname,libhelper.so"], check=True)
    source.write_text('#include <epop/program.h>\nint help(void); int call(void); int call(void) { return help(); }\n'
                      "static int init(int *c, char ***v, void **d) { return 0; }\n"
                      'epop_program_t *get_program(void) { epop_program_t *p = epop_program_create("p");\n'
                      'epop_add_init(p, "start", init); return p; }\n')
    subprocess.run(["gcc", "-shared", "-fPIC", f"-I{job.ROOT / 'epop_api'}", source, "-o", program, helper,
                    "-Wl,-rpath,$ORIGIN"], check=True)
    result = space.epop("./program.so")
    assert result.status == 0 and "started without a launcher" in result.err, result


# ---- Drivers ----

def test_own_driver_sees_the_walk(space):
    result = space.epop("--driver", TRACE, "--word", "note", job.test_program("faults"))
    assert result.status == 0, result
    assert result.out.splitlines() == [
        "trace open", "note loaded faults",
        "note element_enter pc 0 visit 0 iteration 0", "note element_leave pc 0 visit 0 iteration 0",
        "note element_enter pc 1 visit 1 iteration 0",
        *[line for i in range(3) for line in (f"note iteration_begin pc 1 visit 1 iteration {i}",
                                              f"note iteration_end pc 1 visit 1 iteration {i}")],
        "note element_leave pc 1 visit 1 iteration 3",
        "note element_enter pc 2 visit 2 iteration 0", "note element_leave pc 2 visit 2 iteration 0",
        "note element_enter pc 3 visit 3 iteration 0", "note iteration_begin pc 3 visit 3 iteration 0",
        "3 iterations", "note iteration_end pc 3 visit 3 iteration 0", "note element_leave pc 3 visit 3 iteration 1",
        "note finished pc 4 visit 3 iteration 1", "note close"]


def test_own_driver_is_told_of_a_failure(space):
    result = space.epop("--driver", TRACE, job.test_program("faults"), env={"EPOP_TEST_FAULT": "exec"})
    assert result.status == 1, result
    assert result.out.splitlines()[-3:] == ["trace failed pc 1 visit 1 iteration 2", "trace error 203", "trace close"]


def test_own_driver_needs_no_walk(space):
    result = space.epop("--driver", TRACE, job.test_program("explosive"), env={"EPOP_TEST_FAULT": "done"})
    assert result.status == 0 and result.out.splitlines()[-1] == "trace close", result
    assert "boom" not in result.out


def test_several_drivers(space):
    """The one that never walks decides."""
    result = space.epop("--driver", f"{TRACE},check", "--format", "json", "--word", "note", SERIAL)
    lines = result.out.splitlines()
    assert result.status == 0 and lines[:2] == ["trace open", "note loaded serial"], result
    assert lines[-1] == "note close" and json.loads("\n".join(lines[2:-1]))["name"] == "serial"


def test_help_of_an_own_driver(space):
    result = space.epop("--driver", TRACE, "--help")
    assert result.status == 0 and "--word TEXT" in result.out and "prints every hook" not in result.err, result


@pytest.mark.parametrize("fault,text", [
    ("driver-abi", "version 44 of the driver interface, but this epop has version 3"),
    ("driver-short", "struct_size is 16"),
    ("driver-no-name", "its table has no name"),
    ("driver-null", "epop_get_driver returned NULL"),
    ("open", "driver 'trace': cannot be opened: error 206"),
])
def test_driver_that_is_refused(space, fault, text):
    result = space.epop("--driver", TRACE, SERIAL, env={"EPOP_TEST_FAULT": fault})
    assert result.status == 2 and text in result.err and "square root" not in result.out, result
    assert len(result.err.splitlines()) == 1


def test_driver_that_refuses_the_program(space):
    result = space.epop("--driver", TRACE, SERIAL, env={"EPOP_TEST_FAULT": "loaded"})
    assert result.status == 2 and "square root" not in result.out, result
    assert result.err.startswith("epop: the driver 'trace' refuses the program: error 51 "), result
    assert len(result.err.splitlines()) == 1 and result.out.splitlines()[-1] == "trace close"


@pytest.mark.parametrize("fault,status,lines", [("loaded", 2, 1), ("done", 0, 0)])
def test_driver_that_ends_a_job_before_it_starts(space, fault, status, lines):
    result = space.epop("--driver", TRACE, "rigid", "1000", ranks=2, env={"EPOP_TEST_FAULT": fault})
    assert result.status == status and "pi is" not in result.out, result
    assert len(result.err.splitlines()) == lines and result.out.count("trace close") == 2, result


def test_driver_that_refuses_an_option(space):
    expect = "epop: the driver 'trace' refuses --word bad; it takes TEXT (see epop --help)\n"
    assert space.epop("--driver", TRACE, "--word", "bad", SERIAL).err == expect


@pytest.mark.parametrize("path,text", [("./missing.so", "cannot be read: No such file"),
                                       (SERIAL, "has no function epop_get_driver"),
                                       ("/bin/true", "is an executable")])
def test_file_that_is_no_driver(space, path, text):
    result = space.epop("--driver", path, SERIAL)
    assert result.status == 2 and text in result.err, result


# ---- The installed tree ----

def test_runs_from_another_place_without_environment(space):
    """bin/ and lib/ side by side are all that it needs."""
    place = space.directory / "opt"
    for folder in ("bin", "lib"):
        shutil.copytree(job.BUILD / folder, place / folder, symlinks=True)
    environment = {key: None for key in os.environ if key.startswith("LD_")}
    assert space.epop("serial", epop=place / "bin/epop", env=environment).status == 0
    result = space.epop("--driver", "check", "branches", epop=place / "bin/epop", env=environment)
    assert result.status == 0 and "8 elements" in result.out, result
